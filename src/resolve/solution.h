#ifndef RESOLVE_SOLUTION_H
#define RESOLVE_SOLUTION_H

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
 * What the solver answers: the recipe and the knowledge as variables, candidates, pins and facts
 * for the solver; its answer as choices, or as conflicts and the nearest stack that works.
 *
 * A variable is whatever has versions and limits others: torch, its build, the CUDA toolkit,
 * the base image, its system, Python, each GPU, the driver, extensions and where their code
 * comes from, and the ordinary packages that something is known of.
 */
enum variable_kind {
	VARIABLE_TORCH,     /* "torch": releases */
	VARIABLE_BUILD,     /* "torch build": "cu121", "cpu" */
	VARIABLE_INDEX,     /* "torch index": "pypi", where the recipe says so */
	VARIABLE_BASE,      /* "base": the image as written, or another */
	VARIABLE_CUDA,      /* "cuda": releases of the toolkit that compiles */
	VARIABLE_OS,        /* "os": "ubuntu22.04" */
	VARIABLE_PYTHON,    /* "python": series */
	VARIABLE_MACHINE,   /* "machine": "x86_64" */
	VARIABLE_GPU,       /* "gpu 8.0": one candidate, its compute capability */
	VARIABLE_DRIVER,    /* "driver": one candidate, as written */
	VARIABLE_EXTENSION, /* "mamba-ssm": releases */
	VARIABLE_SOURCE, /* "mamba-ssm source": where its code comes from: git, sdist, release, url */
	VARIABLE_GCC,    /* "gcc": the system's, or the one that env: names */
	VARIABLE_GLIBC,   /* "glibc": of the system */
	VARIABLE_STD,     /* "c++": what torch's headers need: "17" */
	VARIABLE_PACKAGE, /* "numpy", "triton", "setuptools": an ordinary package */
	VARIABLE_KINDS
};

/* The oldest series that is chosen without being asked for: 3.10 ended in October 2026. */
#define PYTHON_OLDEST "3.11"

struct candidate {
	const char *text;        /* "2.2.2", "cu121"; what sentences and fixes say */
	const struct version *v; /* of releases and series; else NULL */
	/* What is known of it: struct torch_release, cuda_toolkit, os_release,
	 * extension_release by kind; NULL: nothing, or nothing of that kind. */
	const void *entry;
	bool known; /* false: it was asked for, and the knowledge does not have it */
};

struct solver_variable {
	enum variable_kind kind;
	const char *key;   /* unique, as above */
	const char *label; /* in sentences: "torch", "CUDA", "Python" */
	const struct candidate *c;
	size_t n;
};

/* How strong a fact is. */
enum strength {
	STRENGTH_ERROR,      /* broken: an error */
	STRENGTH_WARNING,    /* inferred, or it only may fail: a warning */
	STRENGTH_PREFERENCE, /* guides what the recipe leaves open; nobody is told */
	STRENGTH_SECONDARY, /* the same, for what is left once torch and the extensions are chosen */
};

/* One row of rows.def: a kind of fact. */
struct constraint_kind {
	const char *name;
	enum variable_kind when;
	enum strength strength;
	enum code code;    /* of the conflict in which it is the fact that tells most */
	unsigned priority; /* of several facts in a conflict the highest gives the code */
	const char *rules; /* "R008 R016": research rules that it covers; or "" */
};

/* The `why` of a solve_fact. */
struct constraint {
	const struct constraint_kind *kind;
	const char *sentence; /* "torch 2.2.2 was made for numpy 1", no full stop */
	const char *source;   /* or NULL */
	unsigned variable;    /* that it was asked of */
	bool off;
};

/* What the recipe asks for, at one place. */
enum request_kind {
	REQUEST_NEED, /* the variable must be there; nothing to change but to leave it out */
	REQUEST_TORCH,
	REQUEST_INDEX,
	REQUEST_BASE,
	REQUEST_CUDA,
	REQUEST_PYTHON,
	REQUEST_MACHINE,
	REQUEST_GPU,
	REQUEST_DRIVER,
	REQUEST_COMPILER,    /* CC, CXX or CUDAHOSTCXX of env: */
	REQUEST_REQUIREMENT, /* an item of packages: or torch.with: */
	REQUEST_VERSION,     /* of an extension */
	REQUEST_REF,
	REQUEST_FROM,
	REQUEST_URL,
};

struct request {
	enum request_kind kind;
	unsigned variable;
	struct span at;   /* line 0: it follows from the recipe as a whole */
	const char *text; /* as written: "2.2.2", "numpy<2" */
	const char *note; /* "torch is pinned here" */
	const struct recipe_extension *extension;     /* of REQUEST_VERSION to REQUEST_URL */
	const struct recipe_requirement *requirement; /* of REQUEST_REQUIREMENT */
	/* What it asks for, in a sentence: "the recipe asks for torch 2.2.2" */
	const char *sentence;
};

struct conflict {
	enum code code;
	enum strength strength; /* STRENGTH_ERROR or STRENGTH_WARNING */
	const struct solve_conflict *found;
};
struct conflicts LIST(struct conflict);

/* A rule of severity warning or note that holds for the chosen stack. */
struct finding {
	const struct rule *rule;
	const char *sentence, *help; /* help: or NULL */
	/* The places of its values in the recipe; none: it follows from what was chosen. */
	struct finding_places LIST(struct finding_place {
		struct span at;
		const char *note; /* or NULL */
	}) at;
};
struct findings LIST(struct finding);

struct solution {
	const struct facts *facts;
	const struct recipe *recipe;
	const struct solver_variable *variables;
	size_t nvariables;
	const struct request *requests;
	const struct solve_pin *solver_pins; /* requests as the solver sees them */
	size_t nrequests;
	/* What is chosen, by variable: its candidate, or -1: not there.  Where there are errors: of
	 * the rest, without the pins that are named in one. */
	const int *chosen;
	size_t nchosen;
	struct conflicts errors, warnings;
	bool gave_up;          /* the budget ended: nothing more is claimed than what is there */
	struct names unjudged; /* asked for, and nothing is known of them */
	struct findings findings;
	struct names rules_open; /* rules that were not checked: a value is not known */
	unsigned facts_used;
	struct workspace *work;
};

/*
 * resolve_solve -- everything that the recipe leaves open, chosen; or why that cannot be.
 *
 *   out     never NULL; conflicts are in it, not yet told
 *   memory  lives in a; borrows from f and r
 */
const struct solution *resolve_solve(struct arena *a, const struct facts *f,
				     const struct recipe *r);
/* The same with a budget of that many steps for a call of the solver; 0: the usual one. */
const struct solution *resolve_solve_within(struct arena *a, const struct facts *f,
					    const struct recipe *r, unsigned steps);

/* What was chosen for a variable by its key; NULL: it is not there. */
const struct candidate *solution_selected(const struct solution *solution, const char *key);
/* The variable of a key, or NULL. */
const struct solver_variable *solution_variable(const struct solution *solution, const char *key);

/* Facts, each with its sentence. */
struct constraints LIST(const struct constraint *);
/* What limits a variable in the stack that was chosen: facts about the others that are there. */
struct constraints solution_limits(const struct solution *solution, const char *key);
/* What a variable, as chosen, asks of others. */
struct constraints solution_demands(const struct solution *solution, const char *key);

/* One candidate of a variable, beside all that the recipe asks for of other variables. */
struct alternative {
	const struct candidate *c;
	bool chosen;
	bool asked; /* what the recipe asks for of the variable itself allows it */
	bool can;
	const struct constraint *why; /* what stands against it; NULL also if pins alone do */
};
struct alternatives LIST(struct alternative);
/* Every candidate, most wanted first; none: no such variable.  A solver run for each. */
struct alternatives solution_alternatives(const struct solution *solution, const char *key);

/*
 * What stands between a candidate of a variable and torch and the extensions as they were
 * chosen; NULL: nothing that is known, or what the recipe asks for alone.
 */
const struct constraint *solution_obstacle(const struct solution *solution, const char *key,
					   size_t candidate);

/*
 * solution_report -- tell the conflicts, each once: the chain of facts, the places in the recipe,
 * the nearest stacks that work and what they cost, as fixes.
 *
 *   errors  SB024x and the codes of rows.def
 */
void solution_report(struct diags *ds, const struct solution *solution, bool verbose);

/* Every row of the table, for docs/rules.md. */
const struct constraint_kind *constraint_kinds(size_t *n);

#endif
