#ifndef PLAN_H
#define PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/list.h"
#include "resolve/resolve.h"

/*
 * In what order: a stack as steps.  One list of steps with two readings: a chain (the
 * order of the list), and a graph of stages made from `inputs`.  Commands are data;
 * whoever writes them quotes them.  Pure: the same stack gives the same plan.
 */

enum step_kind {
	STEP_BASE, /* FROM */
	STEP_APT,
	STEP_PYTHON,
	STEP_TORCH,      /* torch and its with:, from its own index; with CUDA from wheels */
	STEP_BUILD_DEPS, /* what a build without isolation must find */
	STEP_PACKAGES,   /* ordinary requirements; several steps if extra indexes serve some */
	STEP_EXTENSION,
	STEP_CHECK, /* installed = planned; smoke.cu compiles */
	STEP_APP,
	STEP_KINDS
};

/* Which of an extension's commands run in its own stage, and which in the final one. */
enum phase { PHASE_FETCH, PHASE_BUILD, PHASE_INSTALL };

/*
 * A secret is a file that is there while the command runs.  That of an index is a netrc
 * (machine HOST login USER password TOKEN), which pip reads where NETRC points to.
 */
enum mount_kind { MOUNT_CACHE, MOUNT_SECRET };

struct mount {
	enum mount_kind kind;
	const char *id;     /* "pip", "apt", or the secret's name */
	const char *target; /* "/root/.cache/pip", "/run/secrets/PIP_TOKEN" */
	bool locked;        /* sharing=locked: apt's folders */
};
struct mounts LIST(struct mount);

struct variable {
	const char *name, *value;
	bool verbatim; /* a recipe's value, as in struct word */
};
struct variables LIST(struct variable);

/*
 * One process: argv, what is added to its environment, where it runs.  Words may
 * hold these places, and only these, which the target replaces by its own folders:
 *   {src}    where an extension's source lies       {wheels} where its wheel is put
 *   {share}  /opt/stackbuild: helpers, the plan     {python} the environment's interpreter
 *   {venv}   the environment that packages go to    {prefix} a Python that is not the OS's
 *   {work}   a scratch folder, empty at first       {app}    /app: where app: is copied to
 * A literal "{" in a recipe's value is kept apart: word.verbatim.
 *
 * What targets count on: STEP_PYTHON leaves a virtual environment at {venv}; every pip
 * call is `{python} -m pip ...`; PHASE_FETCH leaves a source in {src}, PHASE_BUILD one
 * wheel in {wheels}, and PHASE_INSTALL takes it from there by name (--no-index
 * --find-links {wheels}: there are no globs); a step's files are written before its
 * commands run and stay for the steps after it.
 */
struct word {
	const char *s;
	bool verbatim; /* a recipe's value: never searched for places */
};
struct words LIST(struct word);

struct command {
	enum phase phase;
	struct words argv;
	struct variables env;
	struct mounts mounts;
	const char *cwd;     /* or NULL */
	const char *comment; /* why, for the reader of the file; or NULL */
	bool jobs; /* MAX_JOBS may be given from outside: the recipe does not say how many */
	/* What goes before argv: it chooses how many compilers run, and no result hangs on it. */
	struct words launcher;
};
struct commands LIST(struct command);

/* A file that a step writes before its commands run: smoke.cu, probe.py, plan.json. */
struct step_file {
	const char *path;     /* "{share}/smoke.cu" */
	const char *template; /* name in templates/, or NULL */
	const char *text;     /* if there is no template */
	bool program;         /* it can be executed */
};
struct step_files LIST(struct step_file);

struct step {
	const char *id; /* "torch", "causal-conv1d": unique, [a-z0-9-]+ */
	enum step_kind kind;
	const char *stage;      /* "stack", "ext-causal-conv1d", "final" */
	struct names needs;     /* ids: every edge that the chain respects, policy included */
	struct names inputs;    /* ids: what its result depends on; a part of needs' closure */
	const char *why;        /* why it stands where it stands */
	struct names why_needs; /* why each of needs is needed, beside it */
	const char *
		key; /* 64 hex digits: sha256 of all that decides its result, inputs' keys included */
	const char *own;    /* the same without inputs' keys: what it is by itself */
	double change_rate; /* changes a day */
	double cost_s;
	const char *cost_source;
	struct span at; /* the recipe's line that made it */

	/* What it does, as data for targets that have calls of their own (Modal). */
	struct names apt;               /* STEP_APT: packages, sorted */
	struct stack_packages packages; /* TORCH, BUILD_DEPS, PACKAGES: requirements in order */
	const char *index;              /* URL for all of them, or NULL: the default index */
	const char *index_secret;       /* name of the secret with its credentials, or NULL */
	/* TORCH: what goes before and after its packages, from the default index; or NULL. */
	const char *numpy, *cuda_wheels;
	bool no_deps; /* PACKAGES from an extra index: a later step brings what they need */
	const struct stack_extension *extension; /* STEP_EXTENSION */
	struct step_files files;
	struct commands commands;
};

struct plan {
	const struct stack *stack;
	const char *name;         /* the stack's */
	const struct step *steps; /* the chain, in order */
	size_t n;
	double expected_cost_s; /* sum of change_rate x (its cost and that of every later step) */
	double by_rate_cost_s;  /* the same if ordered by change rate alone; for comparison */
	bool order_exact;       /* false: another order may cost less; order_note says so */
	const char *order_note; /* or NULL */
	size_t measured;        /* steps whose cost_s was measured on this host */
	const char *nvcc;       /* "nvcc", "{share}/cuda/bin/nvcc"; NULL: the stack has none */
	const char *cuda_home;  /* "{share}/cuda" if it must be said; or NULL */
	/*
	 * What goes into the image, in lines; templates/probe.py reads it:
	 *   {"stack": "x", "python": "3.11" or null, "import_timeout_s": 60,
	 *    "modules": [what must import], "steps": [{"id", "kind", "key"}],
	 *    "pins": [{"name": "numpy", "specifier": "<2" or "", "step": "packages"}],
	 *    "verify": {"archs", "torch", "numpy", "nvcc", "extensions"}: see templates/verify}
	 * One pin for each requirement whose marker holds, extensions included; no env
	 * values and no commands.  Nothing that changes more often than the stack (the
	 * recipe's digest, the application): an edit of those would rebuild the check.
	 */
	const char *json;
};

/*
 * plan_make -- the steps of a stack in the order in which they are done.
 *
 *   out     for every need, the needed step comes first; equal stacks give equal bytes
 *   errors  SB03xx, NULL: extensions that need each other in a circle
 *   memory  lives in a; borrows from the stack
 */
const struct plan *plan_make(struct arena *a, struct diags *ds, const struct stack *s);

/*
 * plan_measured -- the plan with what its steps took when they were built here.
 *
 *   in      record: build.json of an earlier build (docs/build.md); its path is the source
 *   out     the same plan in the same order, so the same files: of steps whose key, or else own,
 *           the record has, cost_s and cost_source are its figures.  What cannot be read is no
 *           record: the plan itself.
 *   memory  lives in a; borrows from p and record
 */
const struct plan *plan_measured(struct arena *a, const struct plan *p,
				 const struct source *record);

const struct step *plan_step(const struct plan *p, const char *id);

/* How `stackbuild plan` shows it: the numbered table; JSON; graphs. */
void plan_text(const struct plan *p, const char *explain,
	       struct buf *out); /* explain: a step id or NULL */
/* cells: the names of all cells, for the "cells" key. */
void plan_json(const struct plan *p, struct names cells, struct buf *out);
void plan_dot(const struct plan *p, struct buf *out);
void plan_mermaid(const struct plan *p, struct buf *out);

/* What changes from one plan to another, which layers rebuild, about how many minutes. */
void plan_diff(const struct plan *before, const struct plan *after, const char *before_name,
	       struct buf *out, bool as_json);

/* --- the order, as a problem of its own --- */

struct job {
	const char *id;
	double change_rate, cost_s;
	const size_t *needs; /* indexes */
	size_t nneeds;
};

/*
 * order_jobs -- finds the order with the least expected rebuild cost,
 * sum over jobs of change_rate x (its own cost_s + that of every later job).
 *
 *   in      jobs[0..n), needs without a circle
 *   out     order[0..n): indexes; of equally good orders the one closest to the order given.
 *           *exact: true up to 20 jobs: no order is better. With more, a greedy order.
 *   errors  false: a circle (order is then not filled)
 *   source  the problem is 1|prec|sum wC; dynamic programming over down-sets: Lawler 1978
 */
bool order_jobs(const struct job *jobs, size_t n, size_t *order, bool *exact);

/* Returns the cost of an order by that formula. */
double order_cost(const struct job *jobs, const size_t *order, size_t n);

/* Returns the cost of the order that always continues with the job that changes least. */
double order_cost_by_rate(const struct job *jobs, size_t n);

#endif
