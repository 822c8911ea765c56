#include "rows_help.h"

/* What single packages ask of the CUDA of torch's build. */

/* setup.py stops where nvcc is of another series than the CUDA of torch's build. */
void
constraint_same_cuda_series(struct query *q)
{
	struct workspace *w = q->w;
	const struct extension *e = w->variables.at[q->variable]->entry;
	unsigned build = variable_get(w, VARIABLE_BUILD, "torch build");
	unsigned cuda = variable_get(w, VARIABLE_CUDA, "cuda");
	const struct solver_variable *b = variable_at(w, build), *at = variable_at(w, cuda);

	for (size_t i = 0; e && e->same_cuda_series && i < b->n; i++) {
		const char *series = cuda_of_tag(w->a, b->c[i].text);
		solve_word *other = set_none(w, cuda);
		struct terms t = { 0 };

		for (size_t k = 0; series && k < at->n; k++)
			if (strcmp(version_series(w->a, at->c[k].text), series) != 0)
				solve_set_add(other, k);
		terms_add(&t, q->variable, set_all(w, q->variable));
		if (!series || !terms_add_compiled(&t, q))
			continue;
		terms_add(&t, build, set_one(w, build, i));
		terms_add(&t, cuda, other);
		add_conflict(q, t.at, t.n, e->source,
			     "%s compiles only with the very CUDA of torch's build: CUDA %s for %s",
			     e->name, series, b->c[i].text);
	}
}

/* Releases whose wheel brings no library for the CUDA of torch's build. */
void
constraint_no_library(struct query *q)
{
	struct workspace *w = q->w;
	const struct extension *e = w->variables.at[q->variable]->entry;
	unsigned build = variable_get(w, VARIABLE_BUILD, "torch build");
	const struct solver_variable *b = variable_at(w, build), *own = variable_at(w, q->variable);
	size_t n;
	const struct no_library *all = e ? facts_no_library(w->f, w->a, e, &n) : NULL;

	for (size_t i = 0; e && i < n; i++) {
		const struct specifiers *spec = specifiers_parse(w->a, all[i].spec);
		solve_word *these = set_none(w, q->variable), *lack = set_none(w, build);
		struct names named = { 0 };
		struct terms t = { 0 };
		int asked;

		for (size_t k = 0; k < own->n; k++)
			if (own->c[k].v && specifiers_match(spec, own->c[k].v, PRE_YES))
				solve_set_add(these, k);
		for (size_t k = 0; k < b->n; k++) {
			const char *series = cuda_of_tag(w->a, b->c[k].text);

			for (size_t j = 0; series && j < all[i].cuda.n; j++)
				if (!strcmp(series, all[i].cuda.at[j])) {
					solve_set_add(lack, k);
					list_push(w->a, &named, series);
				}
		}
		if (!solve_set_count(these, own->n) || !solve_set_count(lack, b->n))
			continue;
		terms_add(&t, q->variable, these);
		terms_add(&t, build, lack);
		asked = requested(w, q->variable);
		add_conflict(q, t.at, t.n, all[i].source, "%s %s carries no library for CUDA %s",
			     e->name,
			     asked >= 0 && solve_set_has(these, (size_t)asked) ?
				     own->c[asked].text :
				     spec_label(w->a, all[i].spec),
			     names_words(w->a, &named, "and"));
	}
}
