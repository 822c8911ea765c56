/* check: is the recipe right, and do its parts exist? */
#include "pipeline.h"
#include "render/render.h"
#include "verbs.h"

/* "torch 2.2.2 (cu121), python 3.11, causal-conv1d 1.4.0 for sm_80, sm_89" */
static void
summary(struct buf *out, const struct stack *s)
{
	const char *sep = "";

	if (s->torch.value) {
		buf_printf(out, "torch %s", s->torch.value);
		if (s->torch_tag)
			buf_printf(out, " (%s)", s->torch_tag);
		sep = ", ";
	}
	if (s->python.value) {
		buf_printf(out, "%spython %s", sep, s->python.value);
		sep = ", ";
	}
	for (size_t i = 0; i < s->extensions.n; i++) {
		const struct stack_extension *e = &s->extensions.at[i];

		buf_printf(out, "%s%s%s%s", sep, e->name, e->version ? " " : "",
			   e->version ? e->version : "");
		sep = ", ";
	}
	for (size_t i = 0; i < s->archs.n && s->extensions.n; i++) {
		buf_puts(out, i ? ", sm_" : " for sm_");
		for (const char *c = s->archs.at[i].value; *c; c++)
			if (*c != '.')
				buf_putc(out, *c);
	}
}

/*
 *   recipes/torch222-cu121.yaml: fine. torch 2.2.2 (cu121), python 3.11, ...
 *   recipes/matrix.yaml: fine. 6 cells
 *     judged: its form, and whether each part exists; ...
 *
 * Every cell is planned, so that all that is wrong with any of them is said.
 */
const char *
check_recipe(struct run *r, struct diags *ds, const struct recipe_options *ro, recipe_open *open,
	     void *ctx)
{
	unsigned before = ds->errors;
	const struct recipes *rs = pipeline_load(r->a, ds, r->facts, ro, open, ctx);
	struct buf line = BUF(r->a);

	buf_printf(&line, "%s: fine. ", ro->path);
	for (size_t i = 0; rs && i < rs->n; i++) {
		struct arena *scratch = arena_new();
		const struct plan *p = pipeline_plan(scratch, ds, r->facts, rs->at[i], NULL);

		if (p)
			render_judge(scratch, ds, p);
		if (p && rs->n == 1)
			summary(&line, p->stack);
		arena_free(scratch);
	}
	if (rs && rs->n > 1)
		buf_printf(&line, "%zu cells", rs->n);
	return rs && ds->errors == before ? buf_text(&line) : NULL;
}

int
verb_check(struct run *r)
{
	bool fine = false;

	if (r->o->fix)
		return check_fix(r);
	if (r->o->dry_run)
		return usage_error("--dry-run goes with --fix: it shows what --fix would change");
	for (size_t i = 0; i < r->o->args.n; i++) {
		struct recipe_options ro = recipe_options_of(r->o, r->o->args.at[i]);
		const char *line = check_recipe(r, &r->ds, &ro, NULL, NULL);

		fine |= line != NULL;
		if (line)
			buf_printf(&r->out, "%s\n", line);
	}
	/* Nobody must take "fine" for more than it is. */
	if (fine)
		buf_puts(&r->out,
			 "  judged: its form, and whether each part exists; not yet whether all "
			 "versions fit each other\n");
	return EXIT_DONE;
}
