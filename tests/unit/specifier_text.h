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
	size_t n = strlen(text);
	const struct version *v = version_of(a, text, n);
	const char *lower = unicode_lower_of(a, text, n);

	if (s->unusable)
		return false;
	for (size_t i = 0; i < s->n; i++)
		if (!clause_match_text(&s->at[i], v, lower))
			return false;
	return true;
}

#endif
