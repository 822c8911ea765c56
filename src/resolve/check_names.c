#include "internal.h"

/* Names that differ by one letter from a name in the knowledge base: perhaps misspelled. */

enum { SHORTEST = 5 }; /* in characters: too many shorter names are similar */

/* cupy-cuda11x and cupy-cuda12x, flash-attn-3 and -4 */
static bool
differ_in_digits(const char *x, const char *y)
{
	for (;; x++, y++) {
		x += strspn(x, "0123456789");
		y += strspn(y, "0123456789");
		if (*x != *y)
			return false;
		if (!*x)
			return true;
	}
}

/* Returns true if the names differ by one added, missing or changed letter, or by two swapped
 * neighbours. */
static bool
is_one_off(const char *x, const char *y)
{
	size_t n = strlen(x), m = strlen(y), from = 0, end = 0;

	if (n + 1 < m || m + 1 < n)
		return false;
	while (x[from] && x[from] == y[from])
		from++;
	while (end < n - from && end < m - from && x[n - 1 - end] == y[m - 1 - end])
		end++;
	n -= from + end;
	m -= from + end;
	return (n <= 1 && m <= 1) ||
	       (n == 2 && m == 2 && x[from] == y[from + 1] && x[from + 1] == y[from]);
}

const char *
name_meant(struct workspace *w, const char *key)
{
	static const char *const torch[] = { "torch", "torchvision", "torchaudio" };
	const struct names lists[] = { { (const char **)(uintptr_t)torch, 3, 3 },
				       facts_extension_names(w->f),
				       facts_package_names(w->f) };

	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		for (size_t k = 0; k < lists[i].n; k++) {
			const char *known = lists[i].at[k];
			/* A change of one letter leaves one of the first two characters in place,
			 * or moves it by one. */
			bool may = known[0] == key[0] || known[0] == key[1] || known[1] == key[0] ||
				   known[1] == key[1];

			if (may && strlen(known) >= SHORTEST && is_one_off(key, known) &&
			    !differ_in_digits(key, known))
				return known;
		}
	return NULL;
}

static void
check_name(struct workspace *w, const struct recipe_requirement *q)
{
	const struct requirement *req = q->req;
	const char *meant, *text;
	struct diag *d;

	if (req->url || !strcmp(req->key, "torch") || is_tracked(w, req->key) ||
	    facts_package_independent(w->f, req->key) || !(meant = name_meant(w, req->key)) ||
	    !marker_holds(w, req->marker))
		return;
	d = diag_at(w->ds, W_NAME_NEAR, q->text.at, "`%s` may be a misspelling of `%s`", req->name,
		    meant);
	diag_why(d, "the knowledge base has a package `%s`, but no package `%s`", meant, req->name);
	text = arena_printf(w->a, "%s%s", meant, q->text.s + strlen(req->name));
	fix_scalar(w, d, q->text.at, text, "did you mean `%s`?", meant);
}

void
check_names(struct workspace *w)
{
	for (size_t i = 0; i < w->r->packages.n; i++)
		check_name(w, &w->r->packages.at[i]);
	for (size_t i = 0; i < w->r->torch.with.n; i++)
		check_name(w, &w->r->torch.with.at[i]);
}
