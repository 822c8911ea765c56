#include "pipeline.h"

const struct recipes *
pipeline_load(struct arena *a, struct diags *ds, const struct facts *f,
	      const struct recipe_options *o, recipe_open *open, void *ctx)
{
	unsigned before = ds->errors;
	const struct recipes *rs =
		open ? recipes_load_from(a, ds, f, o, open, ctx) : recipes_load(a, ds, f, o);

	if (!rs && ds->errors == before)
		BUG("a recipe was refused without a reason");
	return rs;
}

const struct plan *
pipeline_plan(struct arena *a, struct diags *ds, const struct facts *f, const struct recipe *cell,
	      const struct resolve_options *o)
{
	unsigned before = ds->errors;
	const struct stack *s = resolve(a, ds, f, cell, o);
	const struct plan *p = s ? plan_make(a, ds, s) : NULL;

	if (!p && ds->errors == before)
		BUG("a cell was refused without a reason");
	return p;
}
