/* check: is the recipe right, and do its parts exist? */
#include "pipeline.h"
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
static void
check_recipe(struct run *r, const char *path)
{
	struct recipe_options ro = recipe_options_of(r->o, path);
	const struct recipes *rs = pipeline_load(r->a, &r->ds, r->facts, &ro, NULL, NULL);
	unsigned before = r->ds.errors;
	struct buf line = BUF(r->a);

	for (size_t i = 0; rs && i < rs->n; i++) {
		struct arena *scratch = arena_new();
		const struct plan *p = pipeline_plan(scratch, &r->ds, r->facts, rs->at[i], NULL);

		if (p && rs->n == 1)
			summary(&line, p->stack);
		arena_free(scratch);
	}
	if (!rs || r->ds.errors != before)
		return;
	if (rs->n > 1)
		buf_printf(&line, "%zu cells", rs->n);
	buf_printf(&r->out, "%s: fine. %s\n", path, buf_text(&line));
}

int
verb_check(struct run *r)
{
	size_t before = r->out.n;

	for (size_t i = 0; i < r->o->args.n; i++)
		check_recipe(r, r->o->args.at[i]);
	/* Nobody must take "fine" for more than it is. */
	if (r->out.n > before)
		buf_puts(&r->out,
			 "  judged: its form, and whether each part exists; not yet whether all "
			 "versions fit each other\n");
	return EXIT_DONE;
}
