#ifndef FIT_H
#define FIT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/list.h"
#include "cuda/cuda.h"
#include "facts/facts.h"
#include "python/python.h"
#include "recipe/recipe.h"
#include "solve/solve.h"

/*
 * What fits together: the recipe and the knowledge as things, candidates, pins and facts
 * for the solver; its answer as choices, or as conflicts and the nearest stack that works.
 *
 * A thing is whatever has versions and limits others: torch, its build, the CUDA toolkit,
 * the base image, its system, Python, each GPU, the driver, extensions and where their code
 * comes from, and the ordinary packages that something is known of.
 */
enum fit_kind {
	FIT_TORCH,     /* "torch": releases */
	FIT_BUILD,     /* "torch build": "cu121", "cpu" */
	FIT_INDEX,     /* "torch index": "pypi", where the recipe says so */
	FIT_BASE,      /* "base": the image as written, or another */
	FIT_CUDA,      /* "cuda": releases of the toolkit that compiles */
	FIT_OS,        /* "os": "ubuntu22.04" */
	FIT_PYTHON,    /* "python": series */
	FIT_MACHINE,   /* "machine": "x86_64" */
	FIT_GPU,       /* "gpu 8.0": one candidate, its compute capability */
	FIT_DRIVER,    /* "driver": one candidate, as written */
	FIT_EXTENSION, /* "mamba-ssm": releases */
	FIT_SOURCE,    /* "mamba-ssm source": where its code comes from: git, sdist, release, url */
	FIT_PACKAGE,   /* "numpy", "triton", "setuptools": an ordinary package */
	FIT_KINDS
};

/* The oldest series that is chosen without being asked for: 3.10 ended in October 2026. */
#define PYTHON_OLDEST "3.11"

struct fit_candidate {
	const char *text;        /* "2.2.2", "cu121"; what sentences and fixes say */
	const struct version *v; /* of releases and series; else NULL */
	/* What is known of it: struct torch_release, cuda_toolkit, os_release,
	 * extension_release by kind; NULL: nothing, or nothing of that kind. */
	const void *entry;
	bool known; /* false: it was asked for, and the knowledge does not have it */
};

struct fit_thing {
	enum fit_kind kind;
	const char *key;   /* unique, as above */
	const char *label; /* in sentences: "torch", "CUDA", "Python" */
	const struct fit_candidate *c;
	size_t n;
};

/* How strong a fact is. */
enum fit_strength {
	FIT_HARD,   /* broken: an error */
	FIT_WARN,   /* inferred, or it only may fail: a warning */
	FIT_PREFER, /* guides what the recipe leaves open; nobody is told */
	FIT_TASTE,  /* the same, for what is left once torch and the extensions are chosen */
};

/* One row of rows.def: a kind of fact. */
struct fit_row {
	const char *name;
	enum fit_kind when;
	enum fit_strength strength;
	enum code code;    /* of the conflict in which it is the fact that tells most */
	unsigned telling;  /* of several facts in a conflict the highest gives the code */
	const char *rules; /* "R008 R016": research rules that it covers; or "" */
};

/* The `why` of a solve_fact. */
struct fit_fact {
	const struct fit_row *row;
	const char *sentence; /* "torch 2.2.2 was made for numpy 1", no full stop */
	const char *source;   /* or NULL */
	unsigned thing;       /* that it was asked of */
	bool off;
};

/* What the recipe asks for, at one place. */
enum fit_pin_kind {
	PIN_NEED, /* the thing must be there; nothing to change but to leave it out */
	PIN_TORCH,
	PIN_INDEX,
	PIN_BASE,
	PIN_CUDA,
	PIN_PYTHON,
	PIN_MACHINE,
	PIN_GPU,
	PIN_DRIVER,
	PIN_REQUIREMENT, /* an item of packages: or torch.with: */
	PIN_VERSION,     /* of an extension */
	PIN_REF,
	PIN_FROM,
	PIN_URL,
};

struct fit_pin {
	enum fit_pin_kind kind;
	unsigned thing;
	struct span at;   /* line 0: it follows from the recipe as a whole */
	const char *text; /* as written: "2.2.2", "numpy<2" */
	const char *note; /* "torch is pinned here" */
	const struct recipe_extension *extension;     /* of PIN_VERSION to PIN_URL */
	const struct recipe_requirement *requirement; /* of PIN_REQUIREMENT */
	/* What it asks for, in a sentence: "the recipe asks for torch 2.2.2" */
	const char *sentence;
};

struct fit_conflict {
	enum code code;
	enum fit_strength strength; /* FIT_HARD or FIT_WARN */
	const struct solve_conflict *found;
};
struct fit_conflicts LIST(struct fit_conflict);

struct fit {
	const struct facts *facts;
	const struct recipe *recipe;
	const struct fit_thing *things;
	size_t nthings;
	const struct fit_pin *pins;
	const struct solve_pin *solve_pins; /* pins as the solver sees them */
	size_t npins;
	/* What is chosen, by thing: its candidate, or -1: not there.  Where there are errors: of
	 * the rest, without the pins that are named in one. */
	const int *chosen;
	size_t nchosen;
	struct fit_conflicts errors, warnings;
	bool gave_up;          /* the budget ended: nothing more is claimed than what is there */
	struct names unjudged; /* asked for, and nothing is known of them */
	unsigned facts_used;
	struct fit_work *work;
};

/*
 * fit_solve -- everything that the recipe leaves open, chosen; or why that cannot be.
 *
 *   out     never NULL; conflicts are in it, not yet told
 *   memory  lives in a; borrows from f and r
 */
const struct fit *fit_solve(struct arena *a, const struct facts *f, const struct recipe *r);
/* The same with a budget of that many steps for a call of the solver; 0: the usual one. */
const struct fit *fit_solve_within(struct arena *a, const struct facts *f, const struct recipe *r,
				   unsigned steps);

/* What was chosen for a thing by its key; NULL: it is not there. */
const struct fit_candidate *fit_chosen(const struct fit *fit, const char *key);
/* The thing of a key, or NULL. */
const struct fit_thing *fit_thing(const struct fit *fit, const char *key);

/* Facts, each with its sentence. */
struct fit_facts LIST(const struct fit_fact *);
/* What limits a thing in the stack that was chosen: facts about the others that are there. */
struct fit_facts fit_limits(const struct fit *fit, const char *key);
/* What a thing, as chosen, asks of others. */
struct fit_facts fit_demands(const struct fit *fit, const char *key);

/* One candidate of a thing, beside all that the recipe asks for of other things. */
struct fit_other {
	const struct fit_candidate *c;
	bool chosen;
	bool asked; /* what the recipe asks for of the thing itself allows it */
	bool can;
	const struct fit_fact *why; /* what stands against it; NULL also if pins alone do */
};
struct fit_others LIST(struct fit_other);
/* Every candidate, most wanted first; none: no such thing.  A solver run for each. */
struct fit_others fit_others(const struct fit *fit, const char *key);

/*
 * What stands between a candidate of a thing and torch and the extensions as they were
 * chosen; NULL: nothing that is known, or what the recipe asks for alone.
 */
const struct fit_fact *fit_against(const struct fit *fit, const char *key, size_t candidate);

/*
 * fit_report -- tell the conflicts, each once: the chain of facts, the places in the recipe,
 * the nearest stacks that work and what they cost, as fixes.
 *
 *   errors  SB024x and the codes of rows.def
 */
void fit_report(struct diags *ds, const struct fit *fit, bool verbose);

/* Every row of the table, for docs/rules.md. */
const struct fit_row *fit_rows(size_t *n);

#endif
