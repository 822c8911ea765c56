#ifndef VERBS_H
#define VERBS_H

#include "base/buf.h"
#include "base/diag.h"
#include "facts/facts.h"
#include "options.h"
#include "program.h"
#include "recipe/recipe.h"

/* Inside the program: one run of one verb, and what every verb needs at hand. */
enum { EXIT_DONE = 0, EXIT_DIAGNOSED = 1, EXIT_USAGE = 2 };

struct run {
	struct arena *a;
	struct diags ds;
	const struct options *o;
	const struct world *world;
	const struct facts *facts; /* of verbs that take --knowledge */
	struct buf out;            /* standard output, written once at the end */
};

/* Each returns the exit status; an error in ds makes it EXIT_DIAGNOSED in any case. */
#define VERB(name, ...) int verb_##name(struct run *r);
#include "verbs.def"
#undef VERB

/* What the command line adds to a recipe file. */
struct recipe_options recipe_options_of(const struct options *o, const char *path);

/*
 * check_recipe -- one recipe, down to the plan of every cell.
 *
 *   in   open, ctx: as of pipeline_load
 *   out  the line that says that it is fine, without a line end; NULL if it is not
 */
const char *check_recipe(struct run *r, struct diags *ds, const struct recipe_options *ro,
			 recipe_open *open, void *ctx);

/* check --fix, of all the files named. */
int check_fix(struct run *r);

/* "torch 2.2.2 (cu121), python 3.11, causal-conv1d 1.4.0 for sm_80, sm_89" */
struct stack;
const char *stack_summary(struct arena *a, const struct stack *s);

/* One line on standard error; returns EXIT_USAGE. */
int usage_error(const char *why);

#endif
