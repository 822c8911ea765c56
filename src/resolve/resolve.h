#ifndef RESOLVE_H
#define RESOLVE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/list.h"
#include "facts/facts.h"
#include "recipe/recipe.h"
#include "solution.h"

/*
 * What exists: the recipe completed from the knowledge.  One value for everything
 * that later stages need, each with the reason and the source.  What is pinned stays
 * as pinned; what is left open is what resolve_solve() selected.
 */

/* A decision: the value, why it, where the claim comes from, where it was asked for. */
struct choice {
	const char *value;  /* NULL: none */
	const char *reason; /* a phrase: "the recipe pins it", "newest with a cu121 build" */
	const char *source; /* or NULL */
	struct span at;     /* the recipe's line, or line 0 */
	bool given;         /* by the recipe, not by us */
};
struct choices LIST(struct choice);

/* A requirement that pip is given. */
struct stack_package {
	const char *requirement; /* as the recipe writes it, extras and marker verbatim; or ours */
	const char *key;         /* normalised name */
	const char *index;       /* URL of the extra index that alone serves it, or NULL */
	const char *index_secret;
	const char *reason, *source;
	struct span at;
	bool given;
	bool left_out; /* it has a marker that is not known to hold for the stack's Python */
};
struct stack_packages LIST(struct stack_package);

/* Where an extension's code comes from. */
enum source_kind {
	SOURCE_GIT,     /* url, ref (a tag or 40 hex digits) */
	SOURCE_SDIST,   /* from the package index, name==version */
	SOURCE_ARCHIVE, /* an sdist by url and sha256 */
	SOURCE_WHEEL,   /* a wheel by url and sha256: nothing is compiled */
};

struct stack_extension {
	const struct recipe_extension *asked;
	const char *name; /* normalised: names the step and the stage */
	const char *
		requirement; /* what constraints and the check hold: "causal-conv1d==1.4.0" or name */
	const char *version; /* or NULL: not known before the build */
	enum source_kind source;
	const char *url, *ref, *sha256;
	const char *source_reason; /* "its sdist has no CUDA source" */
	bool submodules;
	const char *subdirectory;                /* of a git checkout, or NULL */
	const struct extension *known;           /* NULL: nobody knows it */
	const struct extension_release *release; /* NULL: that release is not known */
	const struct extension_release *build;   /* release, or what holds for all; NULL: nothing */
	struct settings
		env; /* its compile step: force-build TRUE, arch variables, the recipe's own */
	const char *arch_flags; /* "honoured", "ignored" or "not known": TORCH_CUDA_ARCH_LIST */
	const char *nvcc_env;   /* names nvcc-arch to its build, "PYTORCH_NVCC"; NULL: not used */
	struct names imports;
	struct names after;       /* names of extensions of this stack that it needs first */
	unsigned mem_mib_per_job; /* 0: not known */
	const char *fact_source;
	struct span at;
};
struct stack_extensions LIST(struct stack_extension);

struct stack {
	const struct recipe *recipe;
	const struct facts *facts;
	const struct solution *solution; /* what the solver found */

	struct choice base; /* image as written, or chosen */
	struct image_name image;
	const struct os_release *os;        /* NULL: not known */
	struct choice cuda;                 /* "12.1.0"; value NULL: no CUDA (cpu) or not known */
	enum cuda_from cuda_from;           /* never CUDA_AUTO when cuda.value */
	const struct cuda_toolkit *toolkit; /* NULL: not known */
	struct choice python;         /* series, "3.11"; NULL only when the base's own is unknown */
	enum python_from python_from; /* never PYTHON_AUTO */
	const struct python_build *python_build; /* of PYTHON_STANDALONE and PYTHON_UV */

	struct choice torch;                       /* version; value NULL: no torch */
	struct choice torch_index;                 /* URL; value NULL: the default index ("pypi") */
	const char *torch_tag;                     /* "cu121", "cpu", or NULL: not known */
	const struct torch_release *torch_release; /* NULL: not known */
	const struct torch_variant *torch_variant; /* NULL: not known */
	struct stack_packages torch_packages;      /* torch itself, then its with: list */
	struct choice cuda_wheels; /* "cuda-toolkit[nvcc,...]==13.0.2" of CUDA_WHEELS, or NULL */

	struct choices archs;  /* "8.0" ...; empty: not known, or no CUDA */
	const char *arch_list; /* "8.0;8.9", "" when archs is empty; +PTX where asked for */
	struct choices apt;    /* packages of the build, sorted */
	struct stack_packages build_deps; /* setuptools, wheel, packaging, ninja, ... */
	struct stack_packages packages;   /* ordinary: the recipe's, then what extensions need */
	struct choice numpy; /* requirement that holds everywhere, "numpy<2"; NULL: free */
	/* What no pip call may move, as lines of a constraints file: torch, its with: and numpy
	 * from the torch step on; build requirements and packages from the packages step on;
	 * extensions as well once they are there, for the application. */
	struct names torch_constraints, package_constraints, constraints;
	struct stack_extensions extensions; /* in compile order */
	const char *cc, *cxx;               /* of compile steps: gcc and g++, or the recipe's */
	struct choice user;                 /* final stage; NULL: root */
	struct choice runtime_base;         /* NULL: no second stage */
	struct choices runtime_apt;         /* what it needs: gcc and headers if triton compiles */
	const char *platform;               /* "linux/amd64" */
	bool compiles; /* an extension is compiled: not all of them are wheels */
	bool locked;   /* every pin has a hash */
};

struct resolve_options {
	bool verbose; /* a conflict is told with its derivation */
	/* What cannot live together is planned as asked, and told as warnings (diag_force); what
	 * no plan can be made of stays an error. */
	bool force;
};

/*
 * resolve -- complete one cell of a recipe.
 *
 *   in      o: NULL for none of them
 *   errors  SB02xx, NULL; what is not known is a warning and is passed through
 *   memory  lives in a; borrows from recipe and facts
 */
const struct stack *resolve(struct arena *a, struct diags *ds, const struct facts *f,
			    const struct recipe *r, const struct resolve_options *o);

/* --- the research rules of the knowledge, with the diagnostics that report each --- */

/* Adds docs/rules.md to out. */
void research_markdown(struct arena *a, const struct facts *f, struct buf *out);
/* Adds one rule to out, for `stackbuild explain R008`; false: there is none of that id. */
bool research_text(struct arena *a, const struct facts *f, const char *id, struct buf *out);
/* Adds the rules that a diagnostic reports to out, a line each, or nothing. */
void research_of_code(struct arena *a, const struct facts *f, const char *code, struct buf *out);

#endif
