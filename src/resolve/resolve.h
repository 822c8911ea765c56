#ifndef RESOLVE_H
#define RESOLVE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/list.h"
#include "cuda/cuda.h"
#include "facts/facts.h"
#include "python/python.h"
#include "recipe/recipe.h"
#include "solve/solve.h"

/*
 * Resolves a recipe with the knowledge base to one stack, or explains why there is none.
 *
 * The recipe and the knowledge become variables and constraints for the solver. What the recipe
 * pins stays as it is; the solver selects the rest. The stack is a plain translation of that
 * answer, and final: no later stage evaluates a marker or selects a version.
 */

/* --- the solution: the selection, or the proof that no selection is possible --- */

/* Everything that has versions and constrains others is a variable of the solver, identified by a
 * key. */
enum variable_kind {
	VARIABLE_TORCH,     /* "torch": releases */
	VARIABLE_BUILD,     /* "torch build": "cu121", "cpu" */
	VARIABLE_INDEX,     /* "torch index": "pypi", where the recipe says so */
	VARIABLE_BASE,      /* "base": the image in the recipe, or another one */
	VARIABLE_CUDA,      /* "cuda": releases of the toolkit with nvcc */
	VARIABLE_OS,        /* "os": "ubuntu22.04" */
	VARIABLE_PYTHON,    /* "python": series */
	VARIABLE_MACHINE,   /* "machine": "x86_64" */
	VARIABLE_GPU,       /* "gpu 8.0": one candidate, its compute capability */
	VARIABLE_DRIVER,    /* "driver": one candidate, as written */
	VARIABLE_EXTENSION, /* "mamba-ssm": releases */
	VARIABLE_SOURCE, /* "mamba-ssm source": where its code comes from: git, sdist, release, url */
	VARIABLE_GCC,    /* "gcc": the system's, or the one that env: names */
	VARIABLE_GLIBC,   /* "glibc": of the system */
	VARIABLE_STD,     /* "c++": the standard that torch's headers need: "17" */
	VARIABLE_PACKAGE, /* "numpy", "triton", "setuptools": an ordinary package */
	VARIABLE_KINDS
};

/* The oldest series that stackbuild selects by itself: 3.10 ended in October 2026. */
#define PYTHON_OLDEST "3.11"

struct candidate {
	const char *text;        /* "2.2.2", "cu121"; in sentences and fixes */
	const struct version *v; /* for releases and series; otherwise NULL */
	/* The entry in the knowledge base: struct torch_release, cuda_toolkit, os_release or
	 * extension_release, by the kind of the variable; of Python, python_version(); or NULL. */
	const void *entry;
	const struct package_release
		*published; /* its release on the package index; NULL: unknown */
	bool known; /* false: the recipe names it, and the knowledge base does not list it */
};

struct solver_variable {
	enum variable_kind kind;
	const char *key;   /* unique; see enum variable_kind */
	const char *label; /* in sentences: "torch", "CUDA", "Python" */
	unsigned rank;     /* the solver decides the lowest rank first */
	struct candidate *c;
	size_t n;
};

/* The strength of a constraint. */
enum strength {
	STRENGTH_ERROR,      /* a stack that violates it does not work */
	STRENGTH_WARNING,    /* a stack that violates it may still work, or the rule is inferred */
	STRENGTH_PREFERENCE, /* orders unpinned variables; never reported */
	STRENGTH_SECONDARY,  /* the same, after torch and the extensions are selected */
};

struct query;
struct workspace;

/* A row of rows.def, or a rule of the knowledge. */
struct constraint_kind {
	const char *name;
	enum variable_kind when;
	enum strength strength;
	enum code code; /* code of a conflict in which this row has the highest priority */
	unsigned priority;
	void (*add)(struct query *q, struct workspace *w); /* NULL: a rule of the knowledge */
	bool once;                                         /* one call for all candidates */
};

/* A constraint of a stack, with its sentence. */
struct constraint {
	const struct constraint_kind *kind;
	const char *sentence; /* "torch 2.2.2 was made for numpy 1", no full stop */
	const char *source;   /* or NULL */
	const char *needs;    /* what its last term's package must be, ">=0.4"; or NULL */
	unsigned variable;    /* the variable whose row added it */
	bool off;             /* dropped in favour of a stronger one */
};

/* A requirement of the recipe on one variable, at one place. */
enum request_kind {
	REQUEST_NEED, /* accepts any candidate */
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
	REQUEST_VERSION,     /* version of an extension */
	REQUEST_REF,
	REQUEST_FROM,
	REQUEST_URL,
};

struct request {
	enum request_kind kind;
	unsigned variable;
	struct span at;                               /* line 0: it has no place */
	const char *text;                             /* as written: "2.2.2", "numpy<2" */
	const char *note;                             /* "torch is pinned here" */
	const struct recipe_extension *extension;     /* for REQUEST_VERSION to REQUEST_URL */
	const struct recipe_requirement *requirement; /* for REQUEST_REQUIREMENT */
	const char *sentence;                         /* "the recipe requires torch 2.2.2" */
	bool application; /* a REQUEST_REQUIREMENT of a file in app.requirements */
};

struct conflict {
	enum code code;
	enum strength strength; /* STRENGTH_ERROR or STRENGTH_WARNING */
	struct solve_conflict found;
};
struct conflicts LIST(struct conflict);

/* A rule of severity warning or note that applies to the selected stack. */
struct finding {
	const struct rule *rule;
	const char *sentence, *help; /* help may be NULL */
	/* The places of its values in the recipe; empty if the finding depends only on the
	 * selection. */
	struct finding_places LIST(struct finding_place {
		struct span at;
		const char *note; /* or NULL */
	}) at;
};
struct findings LIST(struct finding);

/* A rule that was not checked, because the value of a condition is unknown. */
struct rule_open {
	const char *rule;
	const struct rule_condition *condition;
};
struct rules_open LIST(struct rule_open);

struct solution {
	const struct facts *facts;
	const struct recipe *recipe;
	const struct solver_variable *const *variables;
	size_t nvariables;
	const struct request *requests;
	const struct solve_pin *solver_pins; /* requests as the solver sees them */
	size_t nrequests;
	/* The index of the selected candidate for each variable; -1: the stack does not have the
	 * variable. After errors, the selection without the requests that a conflict names. */
	const int *chosen;
	size_t nchosen;
	struct conflicts errors, warnings;
	bool gave_up; /* the budget was used up: there may be more conflicts */
	struct findings findings;
	struct rules_open rules_open;
	unsigned facts_used;
	struct workspace *work;
};

/*
 * Solves one cell of a recipe, without a report: see solution_report().
 *
 *   in      steps: the budget of each call of the solver (0: the default)
 *   out     never NULL
 *   memory  lives in a; borrows from f and r
 */
const struct solution *resolve_solve(struct arena *a, const struct facts *f, const struct recipe *r,
				     unsigned steps);

/* Returns the selected candidate of a variable; NULL: the stack does not have it. */
const struct candidate *solution_selected(const struct solution *solution, const char *key);
/* Returns the variable of a key, or NULL. */
const struct solver_variable *solution_variable(const struct solution *solution, const char *key);

struct constraints LIST(const struct constraint *);
/* Returns the constraints of other variables of the stack on this one; demands: those of this
 * variable, as selected, on others. */
struct constraints solution_limits(const struct solution *solution, const char *key, bool demands);

/* A candidate of a variable, under the recipe's requirements on other variables. */
struct alternative {
	const struct candidate *c;
	bool chosen;
	bool asked; /* the recipe allows it */
	bool can;   /* it is compatible with the stack */
	const struct constraint
		*why; /* the reason if it is not; NULL: it is, or only the recipe excludes it */
};
struct alternatives LIST(struct alternative);
/* Returns every candidate, the preferred one first; empty: no such variable.  Runs the solver for each. */
struct alternatives solution_alternatives(const struct solution *solution, const char *key);

/* Returns why a candidate is not compatible with the selected torch and extensions; NULL: no reason
 * is known, or only the recipe excludes it. */
const struct constraint *solution_obstacle(const struct solution *solution, const char *key,
					   size_t candidate);

/*
 * Reports each conflict once: the constraints, the places in the recipe, and the closest stacks that
 * work, with their cost, as fixes.  verbose: the whole derivation.
 *
 *   errors  SB024x and the codes of rows.def
 */
void solution_report(struct diags *ds, const struct solution *solution, bool verbose);

/* --- upgrades --- */

struct upgrade_how {
	/* The names that may change: "torch" (with its companions), "cuda", "python", extensions
	 * and packages (normalised). Empty: everything except Python and the major version of
	 * CUDA. */
	const struct names *only;
	struct names excluded; /* releases to avoid: "torch 2.13.0" */
};

struct upgrade {
	struct edit *edits;    /* edits of the recipe; NULL: nothing changes */
	struct names replaced; /* the text of the pinned versions that change */
	/* The reason for a limit: "torch 2.13.0" is not "2.14.0", because ... */
	struct upgrade_limits LIST(struct upgrade_limit {
		const char *now;
		const char *newer;
		const char *why; /* no full stop */
	}) limits;
};

/* Returns the release selected for the pin at a place, as "mamba-ssm 2.3.1"; or NULL. */
const char *resolve_release_at(const struct solution *solution, struct span at);

/* Returns the names that upgrade_how.only may have: those that the recipe pins. */
struct names resolve_upgradable(const struct solution *solution);

/*
 * Selects the newest stack within the constraints of a recipe. It changes only exact pins, and
 * never to an older, withdrawn or pre-release version; ranges, GPUs and the operating system stay.
 * Packages and extensions keep their major version unless `only` names them. Base, index and CUDA
 * stay if they suit the selected torch.
 *
 *   in      solution: without errors
 *   out     false: the solver gave up
 *   memory  lives in the arena of the solution
 */
bool resolve_upgrade(const struct solution *solution, const struct upgrade_how *how,
		     struct upgrade *out);

/* --- the stack --- */

/* A decision: its value and its reason, the source of the reason, and its place in the recipe. */
struct choice {
	const char *value;  /* NULL: none */
	const char *reason; /* a phrase: "the recipe pins it", "newest with a cu121 build" */
	const char *source; /* or NULL */
	struct span at;     /* in the recipe, or line 0 */
	bool given;         /* the recipe pins it */
};
struct choices LIST(struct choice);

/* A requirement for pip. */
struct stack_package {
	const char *requirement; /* text of the recipe with extras and marker, or a generated one */
	const char *key;         /* normalised name */
	const char *index;       /* URL of the only index that serves it, an extra one; or NULL */
	const char *index_secret;
	const char *reason, *source;
	struct span at;
	bool given;
	bool left_out; /* it has a marker that may be false for the stack's Python */
};
struct stack_packages LIST(struct stack_package);

/* The way to check a part that the knowledge base does not cover. */
enum checked_by {
	BY_NOTHING,
	BY_METADATA,    /* the metadata of packages on their index */
	BY_TORCH_INDEX, /* the index of torch, which has that build */
	BY_REGISTRY,    /* the registry of an image, which has that tag */
	BY_SOURCE, /* the answer to a question of check --online, which its host did not give */
};

/* How well a part of a stack is known. */
enum coverage {
	COVERAGE_READ,    /* somebody read it at its source */
	COVERAGE_PARTIAL, /* hints, or the releases before and after it: they may exclude a stack, and
			   * never confirm one */
	COVERAGE_UNKNOWN,
};
enum part_kind {
	PART_BASE,
	PART_CUDA,
	PART_PYTHON,
	PART_TORCH,
	PART_INDEX,
	PART_EXTENSION,
	PART_PACKAGE,
	PART_FILE, /* a file with requirements of the application */
	PART_RULE, /* a rule or finding of the knowledge base */
};
/* Where a part was read. */
enum part_basis { BASIS_FACTS, BASIS_UV, BASIS_REGISTRY };
extern const char *const coverage_words[], *const part_words[], *const basis_words[];

/* A part of a stack, with its reason: "vllm 0.33.0", "not in the knowledge base". */
struct stack_part {
	const char *what, *why;
	const char *date;   /* the day on which it was read, "2026-11-23"; NULL: unknown */
	const char *source; /* in the knowledge base, or NULL */
	/* Small, because a recipe may have 20,000 parts. */
	enum part_kind kind : 8;
	enum coverage coverage : 8;
	enum checked_by by : 8;    /* what would read it */
	enum part_basis basis : 8; /* unless it is COVERAGE_UNKNOWN */
	bool indirect;             /* a package that only other packages require */
};
struct stack_parts LIST(struct stack_part);
/* Returns the number of parts that were not read; by: only those, or NULL. */
size_t stack_open(const struct stack_parts *all, const enum checked_by *by);

/* The source of an extension's code. */
enum source_kind {
	SOURCE_GIT,     /* url, ref (a tag or 40 hex digits) */
	SOURCE_SDIST,   /* from the package index, name==version */
	SOURCE_ARCHIVE, /* an sdist by url and sha256 */
	SOURCE_WHEEL,   /* a wheel, by url and sha256 or of an index; not compiled */
	SOURCE_PATH,    /* own code: path, relative to the recipe's directory */
};

struct stack_extension {
	const struct recipe_extension *asked;
	const char *name;        /* normalised; the step and the stage have this name */
	const char *requirement; /* for constraints and the check: "causal-conv1d==1.4.0" or name */
	const char *version;     /* or NULL: unknown before the build */
	enum source_kind source;
	const char *url, *ref,
		*sha256; /* url NULL for a wheel: a wheel of an index, name==version */
	const struct recipe_index *index; /* the only index that serves it, an extra one; or NULL */
	const char *commit;               /* commit of ref, after `build` resolved it; or NULL */
	const char *source_reason;        /* "its sdist has no CUDA source" */
	bool submodules;
	const char *path; /* own code: a clean path, "csrc" or "."; or NULL */
	/* Own code, after `build` read it: the digest of its files, and the files outside of them that its
	 * last compile read. */
	const char *tree;
	struct names outside;
	const char *subdirectory;      /* directory below a git checkout or path, or NULL */
	const struct extension *known; /* NULL: unknown */
	const struct extension_release *release; /* NULL: that release is unknown */
	const struct extension_release
		*build; /* release, or the facts about all releases; or NULL */
	struct settings
		env; /* variables of its compile step: force-build TRUE, architectures, those of the recipe */
	const char *
		arch_flags; /* "honoured", "ignored" or "not known": its use of TORCH_CUDA_ARCH_LIST */
	const char
		*nvcc_env; /* variable that sets nvcc-arch as its nvcc, "PYTORCH_NVCC"; or NULL */
	struct names imports;
	struct names after;       /* names of extensions of this stack that it needs first */
	unsigned mem_mib_per_job; /* 0: unknown */
	const char *fact_source;
	struct span at;
};
struct stack_extensions LIST(struct stack_extension);

/* Returns whether its source is a directory, a git checkout or own code, and not an archive. */
static inline bool
is_tree(const struct stack_extension *e)
{
	return e->source == SOURCE_GIT || e->source == SOURCE_PATH;
}

struct stack {
	const struct recipe *recipe;
	const struct facts *facts;
	const struct solution *solution; /* the solver's result */

	struct choice base; /* image as written, or chosen */
	struct image_name image;
	const struct os_release *os;        /* NULL: unknown */
	struct choice cuda;                 /* "12.1.0"; value NULL: no CUDA (cpu) or unknown */
	enum cuda_from cuda_from;           /* never CUDA_AUTO when cuda.value */
	const struct cuda_toolkit *toolkit; /* NULL: unknown */
	struct choice python; /* series, "3.11"; NULL only if the base's own Python is unknown */
	enum python_from python_from;            /* never PYTHON_AUTO */
	const struct python_build *python_build; /* the build for PYTHON_STANDALONE and PYTHON_UV */

	struct choice torch;    /* version; value NULL: no torch */
	const char *torch_base; /* version of the base image's torch, "2.4.0a0"; NULL: not used */
	struct choice torch_index;                 /* URL; value NULL: the default index ("pypi") */
	const char *torch_tag;                     /* "cu121", "cpu", or NULL: unknown */
	const struct torch_release *torch_release; /* NULL: unknown */
	const struct torch_variant *torch_variant; /* NULL: unknown */
	/* torch itself, its with: list, and the companions that `packages` or a package requires. */
	struct stack_packages torch_packages;
	struct choice cuda_wheels; /* "cuda-toolkit[nvcc,...]==13.0.2" of CUDA_WHEELS, or NULL */

	struct choices archs;             /* "8.0" ...; empty: unknown, or no CUDA */
	const char *arch_list;            /* "8.0;8.9", "" if archs is empty; +PTX if requested */
	struct choices apt;               /* packages of the build, sorted */
	struct stack_packages build_deps; /* setuptools, wheel, packaging, ninja, ... */
	struct stack_packages
		packages;    /* ordinary packages: the recipe's, then requirements of extensions */
	struct choice numpy; /* numpy requirement for all steps, "numpy<2"; NULL: none */
	/* Versions that no call of pip may change, as lines of a constraints file. The torch step
	 * and later ones have torch, its `with` and numpy; the packages step and later ones also
	 * have build requirements and packages; the application has the extensions, too. */
	struct names torch_constraints, package_constraints, constraints;
	/* Lines of package_constraints that exclude other builds of packages that belong to torch, which
	 * no known requirement needs: "torchvision==0.20.1+cu118". */
	struct names guards;
	/* Lines of package_constraints with the selected releases of packages that the recipe leaves
	 * open, "einops==0.8.1". A lock does without them, because the resolver reads METADATA. */
	struct names selected;
	struct stack_extensions extensions; /* in compile order */
	const char *cc, *cxx;       /* compilers of compile steps: gcc and g++, or the recipe's */
	struct choice user;         /* final stage; NULL: root */
	struct choice runtime_base; /* NULL: no second stage */
	const char *snapshot;       /* time of the archive that apt uses; or NULL */
	bool dnf, runtime_dnf;      /* dnf (not apt) installs the system packages of each stage */
	struct choices runtime_apt; /* its system packages: gcc and headers if triton compiles */
	const char *platform;       /* "linux/amd64" */
	bool compiles;              /* the stack compiles at least one extension */
	bool locked;                /* every pin has a hash */
	struct stack_parts parts;   /* compatible only if each one was read */
	size_t unlisted; /* packages that others require and of which no release is known */
};

/*
 * Returns the URL of the project's own wheel of an extension for this torch, CUDA, Python, C++ ABI
 * and machine; NULL if none is known, or if the stack already installs a wheel.
 */
const char *stack_prebuilt(struct arena *a, const struct stack *s, const struct stack_extension *x);

struct resolve_options {
	bool verbose; /* report conflicts with their derivation */
	/*
	 * Report conflicts as warnings (diag_force) and plan the recipe's own stack; errors that
	 * prevent a plan stay errors.
	 */
	bool force;
};

/*
 * Resolves one cell of a recipe.
 *
 *   in      o: NULL for the defaults
 *   out     the stack; NULL: at least one error was added
 *   errors  SB02xx; for anything unknown, a warning
 *   memory  lives in a; borrows from r and f
 */
const struct stack *resolve(struct arena *a, struct diags *ds, const struct facts *f,
			    const struct recipe *r, const struct resolve_options *o);

#endif
