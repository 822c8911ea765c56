#ifndef SPECIFIER_TEXT_H
#define SPECIFIER_TEXT_H

#include <string.h>

#include "python/internal.h"

/*
 * specifiers_match for a text that need not be a version: an empty set accepts it, and so does a
 * matching ===, which compares the text unchanged, without its case.
 */
static inline bool
specifiers_match_text(struct arena *a, const struct specifiers *s, const char *text)
{
	const struct version *v = version_parse(a, text);
	const char *lower = arena_lower(a, text);

	list_each (c, s)
		if (c->op == OP_ARBITRARY ? strcmp(c->asked, lower) != 0 :
					    !v || !clause_match(c, v))
			return false;
	return true;
}

#endif
