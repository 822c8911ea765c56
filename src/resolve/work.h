#ifndef RESOLVE_WORK_H
#define RESOLVE_WORK_H

#include "base/str.h"
#include "resolve.h"
#include "solution.h"

/*
 * One run of resolve(), for the files of resolve/.  Each part decides what its name says, in
 * the order of this list: a later one may look at what an earlier one decided.
 */
struct work {
	struct arena *a;
	struct diags *ds;
	const struct facts *f;
	const struct recipe *r;
	struct stack *s;
	const struct solution *solution; /* what goes with what, and what is left open chosen */
	bool *stays;     /* by extension asked for: false where its marker says no */
	unsigned errors; /* of earlier stages and cells */
};

void resolve_image(struct work *w);      /* what the base's name says; CUDA as asked */
void resolve_torch(struct work *w);      /* version, build, index, pairs, numpy */
void resolve_base(struct work *w);       /* CUDA, the image, where the toolkit comes from */
void resolve_python(struct work *w);     /* series and origin */
void resolve_archs(struct work *w);      /* what kernels are compiled for */
void resolve_extensions(struct work *w); /* versions, sources, environment, order */
void resolve_packages(struct work *w);   /* build requirements, ordinary ones, constraints */
void resolve_apt(struct work *w);        /* the operating system's packages, both stages */

void resolve_check(struct work *w); /* what checks.def judges, at the end */

/* --- choices --- */

struct choice choice_given(struct text t, const char *reason);
struct choice choice_made(const char *value, const char *reason, const char *source);

/* --- versions --- */

/* <0, 0, >0; texts that are no version sort before all that are. */
int version_order(struct arena *a, const char *x, const char *y);
/* True if `version` is one of `spec`; *known (may be NULL) false if either cannot be read. */
bool version_in(struct arena *a, const char *version, const char *spec, bool *known);

/* Of the platform, as Python names it: "x86_64". */
const char *resolve_machine(const struct work *w);

/*
 * resolve_image_near -- an image that exists, in place of one that does not: of the same
 * release and flavour, with cuDNN as it is named there, on the same system if it has one.
 *
 *   in   cudnn: with cuDNN
 *   out  its name; NULL: none is known
 */
const char *resolve_image_near(const struct work *w, const struct image_name *n, bool cudnn);

/* The image of the second stage when the recipe names none. */
struct choice resolve_runtime_base(const struct work *w);

/*
 * resolve_release -- for an extension without a version: the release that the solver took.
 *
 *   errors  a warning SB0231 that says which; NULL: none that the recipe allows is known
 */
const struct extension_release *resolve_release(struct work *w, const struct recipe_extension *e,
						const struct extension *known);

/*
 * resolve_ref -- the same for an extension from its own repository, of which no tag is named.
 *
 *   errors  SB0117, with the tag that goes with the rest as a fix
 */
const struct extension_release *resolve_ref(struct work *w, const struct recipe_extension *e,
					    const struct extension *known);

/* True if a variable of that name is for compile steps too: CC, MAX_JOBS, ... */
bool resolve_steers_compilers(const char *name);

/* The version decided for a package by its normalised name (torch, triton, ...), or NULL. */
const char *resolve_version_of(const struct work *w, const char *name);

/* True if the stack compiles anything: an extension whose source is not a wheel. */
bool resolve_compiles(const struct work *w);

#endif
