#include "internal.h"

/* Versions and lists as a reader who never saw a wheel's metadata would say them. */

/* One clause of a specifier: its operator and its version. */
struct clause {
	const char *op, *version;
};
struct clauses LIST(struct clause);

static struct clauses
clauses_of(struct arena *a, const char *spec)
{
	struct clauses all = { 0 };

	while (*spec) {
		size_t n, op;

		spec += strspn(spec, ", ");
		n = strcspn(spec, ",");
		op = strspn(spec, "<>=!~");
		if (n) {
			size_t skip = op + strspn(spec + op, " "), end = n;

			while (end > skip && spec[end - 1] == ' ')
				end--;
			list_push(a, &all,
				  (struct clause){ arena_copy(a, spec, op),
						   arena_copy(a, spec + skip, end - skip) });
		}
		spec += n;
	}
	return all;
}

static const struct clause *
with(const struct clauses *all, const char *op)
{
	for (size_t i = 0; i < all->n; i++)
		if (!strcmp(all->at[i].op, op))
			return &all->at[i];
	return NULL;
}

const char *
spec_label(struct arena *a, const char *spec)
{
	struct clauses all = clauses_of(a, spec);
	const struct clause *from = with(&all, ">="), *to = with(&all, "<="),
			    *below = with(&all, "<"), *not = with(&all, "!="),
			    *is = with(&all, "==");

	if (all.n == 1 && is)
		return is->version;
	if (all.n == 1 && from)
		return arena_printf(a, "%s or newer", from->version);
	if (all.n == 1 && to)
		return arena_printf(a, "%s or older", to->version);
	if (all.n == 1 && below)
		return arena_printf(a, "below %s", below->version);
	if (all.n == 2 && from && to)
		return arena_printf(a, "%s to %s", from->version, to->version);
	if (all.n == 2 && from && below)
		return arena_printf(a, "%s or newer, but below %s", from->version, below->version);
	if (all.n == 2 && below && not )
		return arena_printf(a, "below %s, but not %s", below->version, not ->version);
	return spec;
}
