#ifndef PLAN_H
#define PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/list.h"
#include "lock/lock.h"
#include "matrix.h"
#include "resolve/resolve.h"

/*
 * Turns a stack into ordered steps. Targets use the list of steps in two ways: as a chain in this
 * order, or as a graph of stages made from `inputs`. A step holds typed operations; each target
 * translates them. Pure: the same stack gives the same plan.
 */

enum step_kind {
	STEP_BASE, /* FROM */
	STEP_APT,
	STEP_PYTHON,
	STEP_TORCH,      /* torch and its `with`, from its own index; CUDA from wheels, too */
	STEP_BUILD_DEPS, /* the build requirements, because build isolation is off */
	STEP_PACKAGES,   /* ordinary requirements; several steps if extra indexes serve some */
	STEP_EXTENSION,
	STEP_CHECK, /* compares installed packages with the plan; compiles smoke.cu */
	STEP_APP,
	STEP_KINDS
};

/*
 * One action of a step. Each target writes the kinds in its own form: a call of Modal, a COPY, or
 * shell commands. For all targets, operation_commands() returns the shell commands; no other code
 * builds an argv.
 */
enum operation_kind {
	OP_SYSTEM,       /* install packages of the operating system */
	OP_PYTHON,       /* make the environment {venv} with a Python */
	OP_PACKAGES,     /* install Python packages */
	OP_FETCH,        /* fetch an extension: its source to {src}, a prebuilt wheel to {wheels} */
	OP_COMPILE,      /* compile {src} to one wheel in {wheels} */
	OP_WHEEL,        /* install the wheel in {wheels} */
	OP_FILE,         /* write a file, for this step and later ones */
	OP_KEEP,         /* write {share}/base.txt: the base image's versions, for pip */
	OP_LINKS,        /* link CUDA libraries of wheels to the names that linkers search */
	OP_SMOKE,        /* compile {share}/smoke.cu to {share}/smoke */
	OP_PROBE,        /* compare the installed packages with {share}/plan.json */
	OP_REQUIREMENTS, /* install the requirements of the application */
	OP_APPLICATION,  /* copy the application to {app} and set its command */
	OPERATION_KINDS
};

enum package_archive { ARCHIVE_DISTRIBUTION, ARCHIVE_DNF, ARCHIVE_NVIDIA, ARCHIVE_DEADSNAKES };

/* The index that pip uses for one call. */
struct pip_index {
	const char *url;    /* NULL: the default index */
	const char *secret; /* name of the secret with its netrc; or NULL */
};

/* An environment variable. */
struct variable {
	const char *name, *value;
	bool verbatim; /* a value from the recipe, as in struct word */
};
struct variables LIST(struct variable);

struct operation {
	enum operation_kind kind;
	const char *why;            /* comment in a rendered file; or NULL */
	const struct settings *env; /* of the recipe: pip reads its PIP_* */
	union {
		struct {
			enum package_archive archive;
			struct names packages;
			/* Time of the distribution's snapshot archive, "20261120T000000Z"; or NULL. */
			const char *snapshot;
			const char
				*keyring; /* ARCHIVE_NVIDIA: URL of the package with its source */
		} system;
		struct {
			/* URL and digest of a build, or the uv that installs it; NULL: use the
			 * interpreter. */
			const struct python_build *build;
			const char *interpreter; /* an installed Python: "python3.11" */
			bool system; /* the environment sees the packages of that Python */
		} python;
		struct {
			struct names requirements;
			/* {share}/requirements-torch.txt: a file of the lock that replaces the
			 * requirements; each line has a version and digests. Or NULL. */
			const char *file;
			struct pip_index index;
			bool constrained; /* under {share}/constraints.txt */
			bool no_deps;     /* omits dependencies, which a later operation installs */
		} packages;
		struct {
			const struct stack_extension *extension; /* has source, url, ref, sha256 */
			bool commit;                             /* ref is a commit, not a tag */
			bool locked;                             /* the commit comes from a lock */
			struct pip_index index; /* index of an sdist or wheel without url */
			struct variables env;   /* for an sdist: pip runs its setup.py */
		} fetch;
		struct {
			const struct stack_extension *extension;
			struct variables env;
			const char *nvcc_archs; /* nvcc-arch replaces nvcc: "80 90a"; or NULL */
			bool jobs_open; /* the builder may set MAX_JOBS: the recipe does not */
			unsigned memory_mib,
				threads; /* memory of a compile job; threads of one nvcc (0: 1) */
			size_t archs;    /* architectures that nvcc compiles for */
			struct names beside; /* "NAME=MIB": extensions that compile in parallel */
		} compile;
		struct {
			const struct stack_extension *extension;
		} wheel;
		struct {
			const char *path; /* "{share}/smoke.cu" */
			/* The name of a file next to the rendered one; NULL: the target writes it
			 * inline. */
			const char *helper;
			const char *text; /* NULL: the helper's text in templates/ */
			bool program;     /* mode 0755, otherwise 0644 */
		} file;
		struct {
			const char *torch;       /* version of torch, "2.4.0a0" */
			const char *constraints; /* a file of the image, or NULL */
		} keep;
		struct {
			const char *cuda_home;
		} links;
		struct {
			const char *nvcc;   /* same as plan.nvcc */
			struct names flags; /* "-std=c++14", "-gencode", "arch=..." */
		} smoke;
		struct {
			struct names
				files; /* the file and those that it includes, relative to {app} */
			const struct texts
				*locals; /* what their lines name below {app}, for pip to build */
			struct pip_index index;
			struct names secrets; /* secrets of the recipe */
			bool constrained;     /* also under {share}/constraints.txt */
		} requirements;
		struct {
			const struct texts *files, *command, *entrypoint;
		} application;
	};
};
struct operations LIST(struct operation);

/*
 * The file beside the wheel of own code, in the format of sha256sum: the wheel, then the files outside of
 * its directory that the compilers read (docs/own-code.md).
 */
#define PLAN_BUILT "built.txt"

/* --- operations as shell commands --- */

/*
 * A secret is a file that exists only while the command runs. The secret of an index is a netrc
 * (machine HOST login USER password TOKEN), which pip finds with NETRC.
 */
enum mount_kind { MOUNT_CACHE, MOUNT_SECRET };

struct mount {
	enum mount_kind kind;
	const char *id;     /* "pip", "apt", or the secret's name */
	const char *target; /* "/root/.cache/pip", "/run/secrets/PIP_TOKEN" */
	bool locked;        /* sharing=locked: apt's directories */
};
struct mounts LIST(struct mount);

/*
 * A word may contain these places, which the target replaces with its own directories:
 *   {src}    source of an extension                 {wheels} directory of its wheel
 *   {share}  /opt/stackbuild: helpers, the plan     {python} the environment's interpreter
 *   {venv} the environment for packages    {prefix} a Python that is not the OS's
 *   {work}   a scratch directory, empty at first    {app} /app: the copied application
 * A "{" in a value of the recipe is not a place: word.verbatim.
 */
struct word {
	const char *s;
	bool verbatim; /* a value from the recipe, without places */
};
struct words LIST(struct word);

/* A process to run. */
struct command {
	struct words argv;
	struct variables env;
	struct mounts mounts;
	const char *input;   /* one line for its standard input; or NULL */
	const char *cwd;     /* or NULL */
	const char *comment; /* comment in the rendered file; or NULL */
	bool work;           /* it uses {work} */
	bool jobs;           /* the builder may set MAX_JOBS: the recipe does not */
	/* Words before argv that set the number of compilers, and do not affect the result. */
	struct words launcher;
};
struct commands LIST(struct command);

/*
 * operation_commands -- returns the processes that carry out an operation, in order.
 *
 *   out     none for OP_FILE and OP_APPLICATION: targets write them themselves
 *   memory  lives in a; borrows from op
 */
struct commands operation_commands(struct arena *a, const struct operation *op);

/* Adds the names of the secrets that an operation needs, each once. */
void operation_secrets(struct arena *a, const struct operation *op, struct names *out);

struct step;
/* Returns the operation of that kind; NULL: the step has none. */
const struct operation *step_operation(const struct step *st, enum operation_kind kind);

struct step {
	const char *id; /* "torch", "causal-conv1d": unique, [a-z0-9-]+ */
	enum step_kind kind;
	const char *stage;      /* "stack", "ext-causal-conv1d", "final" */
	struct names needs;     /* ids of all steps that must come before it, including policy */
	struct names inputs;    /* ids of the steps that affect its result */
	const char *why;        /* reason for its place in the order */
	struct names why_needs; /* reason for each of needs */
	const char *key;        /* 64 hex digits: sha256 of everything that decides its result */
	const char *own;        /* key without the keys of its inputs */
	double change_rate;     /* changes per day */
	double cost_s;          /* an estimate, or measured on this host; 0: unknown */
	double guess_s;       /* cost_s, or a guess if it is unknown; for the order, not printed */
	double cost_cores;    /* the cores that an estimate is for; 0: more cores do not help */
	unsigned useful_jobs; /* more compile jobs do not help; 0: unknown */
	bool measured;        /* cost_s was measured on this host */
	const char *cost_source;
	struct span at; /* its line in the recipe */

	/* Its operations as data, for targets with their own calls (Modal). */
	struct stack_packages packages; /* TORCH, BUILD_DEPS, PACKAGES: requirements in order */
	const char *index;              /* URL of their index; NULL: the default one */
	/* TORCH: packages before and after it, from the default index; or NULL. */
	const char *numpy, *cuda_wheels;
	const struct stack_extension *extension; /* STEP_EXTENSION */
	struct operations operations;
};

/* A machine that compiles extensions. All zero: as in knowledge/costs.yaml. */
struct compile_machine {
	unsigned cpus;
	unsigned jobs; /* compile jobs, of --jobs or MAX_JOBS; 0: as cpus and mib allow */
	size_t mib;    /* memory; 0: not a limit */
};

struct plan {
	const struct stack *stack;
	const struct lock *lock;  /* lock of its packages; or NULL */
	const char *name;         /* name of the stack */
	const struct step *steps; /* the chain, in order */
	size_t n;
	double expected_cost_s; /* sum of change_rate x (its cost and that of every later step) */
	double by_rate_cost_s;  /* expected cost of an order by change rate only, for comparison */
	bool order_exact;       /* false: another order may cost less */
	size_t measured;        /* steps whose cost_s was measured on this host */
	struct compile_machine machine; /* the machine that the estimates are for */
	const char *nvcc;      /* "nvcc", "{share}/cuda/bin/nvcc"; NULL: the stack has no nvcc */
	const char *cuda_home; /* "{share}/cuda" if CUDA_HOME must be set; or NULL */
	/*
	 * The plan inside the image, in lines; templates/probe.py reads it:
	 *   {"stack": "x", "python": "3.11" or null, "import_timeout_s": 60,
	 *    "modules": [modules that must import], "steps": [{"id", "kind", "key"}],
	 *    "pins": [{"name": "numpy", "specifier": "<2" or "", "step": "packages"}],
	 *    "lock": {"packages": [{"name", "version", "marker"}]}: with a lock, all of it
	 *    "verify": {"archs", "torch", "numpy", "nvcc", "extensions"}: see templates/verify}
	 * One pin for each requirement whose marker is true, extensions included; no env
	 * values and no commands. It contains nothing that changes more often than the stack (the
	 * recipe's digest, the application), because such an edit would rebuild the check.
	 */
	const char *json;
};

/*
 * plan_make -- returns the steps of a stack in the order in which they run.
 *
 *   in      l: the lock of its packages, which lock_apply has applied to s; or NULL
 *   out     for every need, the needed step comes first; equal stacks give equal bytes
 *   errors  SB03xx, NULL: extensions that need each other in a cycle
 *   memory  lives in a; borrows from the stack
 */
const struct plan *plan_make(struct arena *a, struct diags *ds, const struct stack *s,
			     const struct lock *l);

/* Returns the same plan without a lock, keys and plan.json, which `check` does not need. */
const struct plan *plan_outline(struct arena *a, struct diags *ds, const struct stack *s);

/*
 * plan_measured -- returns the plan with the times of its steps from an earlier build.
 *
 *   in      record: build.json of an earlier build (docs/build.md); its path is the source
 *   out     the same plan in the same order, which renders the same files. A step whose key or own
 *           key is in the record gets its cost_s and cost_source. For an unreadable record, the
 *           plan itself.
 *   memory  lives in a; borrows from p and record
 */
const struct plan *plan_measured(struct arena *a, const struct plan *p,
				 const struct source *record);

/*
 * Returns how long a compile may take on that machine, in seconds. templates/compile.py runs as
 * many jobs as the cores and the memory allow. cores: number of cores for cost_s; 0: cost_s does
 * not depend on them. useful_jobs: more jobs do not help; 0: unknown. memory_mib: memory of a job.
 */
double compile_estimate(const struct compile_machine *m, double cost_s, double cores,
			unsigned useful_jobs, unsigned memory_mib);

/*
 * plan_on_machine -- returns the plan with estimates for a machine.
 *
 *   out     the same plan in the same order; measured times stay
 *   memory  lives in a; borrows from p
 */
const struct plan *plan_on_machine(struct arena *a, const struct plan *p,
				   const struct compile_machine *m);

const struct step *plan_step(const struct plan *p, const char *id);

/* Returns the names of the secrets that commands of the plan read, each once. */
struct names plan_secrets(struct arena *a, const struct plan *p);

/* Writes the numbered table of `stackbuild plan`; explain: only this step, with all details; or NULL. */
void plan_text(const struct plan *p, const char *explain, struct buf *out);
/* Writes the plan as JSON; cells: the names of all cells, for the "cells" key. */
void plan_json(const struct plan *p, struct names cells, struct buf *out);
void plan_dot(const struct plan *p, struct buf *out);
void plan_mermaid(const struct plan *p, struct buf *out);

/* Writes the changes from one plan to another: layers that rebuild, and the time. before_name NULL:
 * no title. */
void plan_diff(const struct plan *before, const struct plan *after, const char *before_name,
	       struct buf *out, bool as_json);

/* --- the order, as a separate problem --- */

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
 *   in      jobs[0..n), needs without a cycle
 *   out     order[0..n): indexes; of equally good orders, the one closest to the given order.
 *           *exact: no order is better; true up to 20 jobs. For more jobs, a greedy order.
 *   errors false: a cycle (order is then not filled)
 *   source  the problem is 1|prec|sum wC; dynamic programming over down-sets: Lawler 1978
 */
bool order_jobs(const struct job *jobs, size_t n, size_t *order, bool *exact);

/* Returns the cost of an order by that formula. */
double order_cost(const struct job *jobs, const size_t *order, size_t n);

/* Returns the cost of the order in which the job that changes least always comes next. */
double order_cost_by_rate(const struct job *jobs, size_t n);

/* Returns "5:40" for a measured time, otherwise "about 5:40"; "unknown" for 0. */
const char *plan_cost_text(struct arena *a, double seconds, bool measured);

#endif
