#include "work.h"

/* What the knowledge says must fit between two packages, whoever brings them. */

/* The thing that a pairing speaks of; -1: it is not in this stack and is not to be brought. */
static int
thing_of(struct fit_work *w, const char *name, bool bring)
{
	int at = fit_find(w, name);

	if (at >= 0 || !bring)
		return at;
	if (!strcmp(name, "torch"))
		return (int)fit_slot(w, FIT_TORCH, name);
	if (!strcmp(name, "python"))
		return (int)fit_slot(w, FIT_PYTHON, name);
	if (!strcmp(name, "cuda"))
		return (int)fit_slot(w, FIT_CUDA, name);
	return (int)fit_slot(w, facts_extension(w->f, name) ? FIT_EXTENSION : FIT_PACKAGE, name);
}

/*
 * Asked of the thing on the left.  Where the other is there only later, its own row finds
 * nothing: so what need not be there is made known as a thing, not as a need.
 */
static void
pairs(struct fit_ask *q)
{
	struct fit_work *w = q->w;
	const char *key = fit_at(w, q->thing)->key;
	size_t n;
	const struct pairing *all = facts_pairings(w->f, &n);

	for (size_t i = 0; i < n; i++) {
		const struct pairing *p = &all[i];
		solve_word *these;
		int other;

		if (strcmp(p->name, key) != 0)
			continue;
		these = fit_in(w, q->thing, p->spec);
		other = thing_of(w, p->other, true);
		if (p->optional)
			fit_allows_if(q, these, (unsigned)other,
				      fit_in(w, (unsigned)other, p->needs), p->source,
				      "%s %s needs %s %s: %s", p->name, p->spec, p->other, p->needs,
				      p->why);
		else
			fit_needs_if(q, these, (unsigned)other,
				     fit_in(w, (unsigned)other, p->needs), p->source,
				     "%s %s needs %s %s: %s", p->name, p->spec, p->other, p->needs,
				     p->why);
	}
}

void
fit_row_pairs_torch(struct fit_ask *q)
{
	pairs(q);
}

void
fit_row_pairs_extension(struct fit_ask *q)
{
	pairs(q);
}

void
fit_row_pairs_package(struct fit_ask *q)
{
	pairs(q);
}
