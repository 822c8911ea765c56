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
 * recipe -> resolve -> plan.  What a verb needs beyond that (rendering, printing) is
 * the verb's own.  Both functions hold that whoever fails has said why.
 */

/*
 * pipeline_load -- the cells of a recipe.
 *
 *   in      open, ctx: where the files come from; NULL: the file system
 *   errors  SB01xx, NULL
 *   memory  lives in a
 */
const struct recipes *pipeline_load(struct arena *a, struct diags *ds, const struct facts *f,
				    const struct recipe_options *o, recipe_open *open, void *ctx);

/*
 * pipeline_plan -- one cell, down to its plan.
 *
 *   errors  SB02xx, SB03xx, NULL
 *   memory  lives in a: an arena of the caller's for one cell, or the run's
 */
const struct plan *pipeline_plan(struct arena *a, struct diags *ds, const struct facts *f,
				 const struct recipe *cell, const struct resolve_options *o);

#endif
