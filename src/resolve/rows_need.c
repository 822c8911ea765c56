#include "rows_help.h"

/* What single packages ask of the CUDA of torch's build. */

/* setup.py stops where nvcc is of another series than the CUDA of torch's build. */
void
fit_row_same_cuda_series(struct fit_ask *q)
{
	struct fit_work *w = q->w;
	const struct extension *e = w->slots.at[q->thing]->entry;
	unsigned build = fit_slot(w, FIT_BUILD, "torch build");
	unsigned cuda = fit_slot(w, FIT_CUDA, "cuda");
	const struct fit_thing *b = fit_at(w, build), *at = fit_at(w, cuda);

	for (size_t i = 0; e && e->same_cuda_series && i < b->n; i++) {
		const char *series = cuda_of_tag(w->a, b->c[i].text);
		solve_word *other = fit_none(w, cuda);
		struct fit_terms t = { 0 };

		for (size_t k = 0; series && k < at->n; k++)
			if (strcmp(version_series(w->a, at->c[k].text), series) != 0)
				solve_set_add(other, k);
		fit_and(&t, q->thing, fit_all(w, q->thing));
		if (!series || !fit_and_compiled(&t, q))
			continue;
		fit_and(&t, build, fit_one(w, build, i));
		fit_and(&t, cuda, other);
		fit_clash(q, t.at, t.n, e->source,
			  "%s compiles only with the very CUDA of torch's build: CUDA %s for %s",
			  e->name, series, b->c[i].text);
	}
}

/* Releases whose wheel brings no library for the CUDA of torch's build. */
void
fit_row_no_library(struct fit_ask *q)
{
	struct fit_work *w = q->w;
	const struct extension *e = w->slots.at[q->thing]->entry;
	unsigned build = fit_slot(w, FIT_BUILD, "torch build");
	const struct fit_thing *b = fit_at(w, build), *own = fit_at(w, q->thing);
	size_t n;
	const struct no_library *all = e ? facts_no_library(w->f, w->a, e, &n) : NULL;

	for (size_t i = 0; e && i < n; i++) {
		const struct specifiers *spec = specifiers_parse(w->a, all[i].spec);
		solve_word *these = fit_none(w, q->thing), *lack = fit_none(w, build);
		struct names named = { 0 };
		struct fit_terms t = { 0 };
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
		fit_and(&t, q->thing, these);
		fit_and(&t, build, lack);
		asked = fit_asked_for(w, q->thing);
		fit_clash(q, t.at, t.n, all[i].source, "%s %s carries no library for CUDA %s",
			  e->name,
			  asked >= 0 && solve_set_has(these, (size_t)asked) ?
				  own->c[asked].text :
				  fit_spec_words(w->a, all[i].spec),
			  names_words(w->a, &named, "and"));
	}
}
