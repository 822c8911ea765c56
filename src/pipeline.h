#ifndef PIPELINE_H
#define PIPELINE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/diag.h"
#include "facts/facts.h"
#include "plan/plan.h"
#include "recipe/recipe.h"
#include "resolve/resolve.h"

/*
 * recipe -> resolve -> plan, for every cell of a recipe.  What a verb needs beyond
 * that (rendering, printing) is the verb's own.
 */
struct pipeline {
	const struct recipes *recipes;
	const struct stack *const *stacks; /* one a cell */
	const struct plan *const *plans;   /* one a cell */
	size_t n;
};

/*
 * pipeline_run -- a recipe, down to its plans.
 *
 *   in      open, ctx: where the files come from; NULL: the file system
 *   errors  SB01xx, SB02xx, SB03xx, false: every cell's are reported
 *   memory  lives in a
 */
bool pipeline_run(struct arena *a, struct diags *ds, const struct facts *f,
		  const struct recipe_options *o, recipe_open *open, void *ctx,
		  struct pipeline *out);

#endif
