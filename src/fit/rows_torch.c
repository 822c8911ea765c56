#include "work.h"

/* torch: which builds a release has, which Pythons. */

void
fit_row_torch_build(struct fit_ask *q)
{
	const struct fit_candidate *c = &fit_at(q->w, q->thing)->c[q->candidate];
	const struct torch_release *t = c->entry;
	unsigned build = fit_slot(q->w, FIT_BUILD, "torch build");
	struct names tags = { 0 };
	struct buf list = BUF(q->w->a);

	if (!t || t->nvariants < 2) /* PyPI's alone: the list is then not known to be whole */
		return;
	for (size_t i = 0; i < t->nvariants; i++) {
		list_push(q->w->a, &tags, t->variants[i].tag);
		buf_printf(&list, "%s%s", i ? ", " : "", t->variants[i].tag);
	}
	fit_needs(q, build, fit_named(q->w, build, &tags, false), t->source,
		  "torch %s was published as %s, and as nothing else", t->version, buf_text(&list));
}

void
fit_row_torch_python(struct fit_ask *q)
{
	const struct fit_candidate *c = &fit_at(q->w, q->thing)->c[q->candidate];
	const struct torch_release *t = c->entry;
	unsigned python = fit_slot(q->w, FIT_PYTHON, "python");

	if (!t || !t->pythons.n)
		return;
	fit_allows(q, python, fit_named(q->w, python, &t->pythons, false), t->source,
		   "torch %s has wheels for Python %s to %s", t->version, t->pythons.at[0],
		   t->pythons.at[t->pythons.n - 1]);
}
