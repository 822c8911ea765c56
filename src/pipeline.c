#include "pipeline.h"

bool
pipeline_run(struct arena *a, struct diags *ds, const struct facts *f,
	     const struct recipe_options *o, recipe_open *open, void *ctx, struct pipeline *out)
{
	unsigned errors = ds->errors;
	const struct recipes *rs =
		open ? recipes_load_from(a, ds, f, o, open, ctx) : recipes_load(a, ds, f, o);
	const struct stack **stacks;
	const struct plan **plans;

	if (!rs) {
		if (ds->errors == errors)
			BUG("the recipe was refused without a reason");
		return false;
	}
	stacks = arena_array_of(a, const struct stack *, rs->n);
	plans = arena_array_of(a, const struct plan *, rs->n);
	for (size_t i = 0; i < rs->n; i++) {
		unsigned before = ds->errors;

		stacks[i] = resolve(a, ds, f, rs->at[i]);
		plans[i] = stacks[i] ? plan_make(a, ds, stacks[i]) : NULL;
		if (!plans[i] && ds->errors == before)
			BUG("a cell was refused without a reason");
	}
	*out = (struct pipeline){ rs, stacks, plans, rs->n };
	return ds->errors == errors;
}
