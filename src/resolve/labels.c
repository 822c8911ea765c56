#include "internal.h"

/* What a specifier is to a reader who never saw a wheel's metadata: before, between and behind. */
static const struct {
	const char *first, *second; /* operators of its clauses; "": there is one clause */
	const char *before, *after; /* the version of the first */
} forms[] = {
	{ "==", "", "", "" },
	{ ">=", "", "", " or newer" },
	{ "<=", "", "", " or older" },
	{ "<", "", "below ", "" },
	{ ">=", "<=", "", " to " },
	{ ">=", "<", "", " or newer, but below " },
	{ "<", "!=", "below ", ", but not " },
};

/* The version of the clause that has an operator, trimmed; NULL: none has it. */
static const char *
version_with(struct arena *a, const struct names *clauses, const char *op)
{
	for (size_t i = 0; *op && i < clauses->n; i++) {
		const char *s = clauses->at[i] + strspn(clauses->at[i], " ");
		size_t n = strspn(s, "<>=!~");

		if (str_is((struct str){ s, n }, op)) {
			s += n + strspn(s + n, " ");
			return arena_copy(a, s, strcspn(s, " "));
		}
	}
	return *op ? NULL : "";
}

const char *
spec_label(struct arena *a, const char *spec)
{
	struct names clauses = names_split(a, spec, ',');

	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		const char *first = version_with(a, &clauses, forms[i].first);
		const char *second = version_with(a, &clauses, forms[i].second);

		if (first && second && clauses.n == (*second ? 2 : 1))
			return arena_printf(a, "%s%s%s%s", forms[i].before, first, forms[i].after,
					    second);
	}
	return spec;
}
