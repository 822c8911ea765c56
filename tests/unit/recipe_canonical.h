#ifndef RECIPE_CANONICAL_H
#define RECIPE_CANONICAL_H

#include "recipe/load.h"

/* Returns the canonical recipe, whose digest is `digest`. */
static inline const char *
canonical_of(struct arena *a, const struct recipe *r)
{
	struct buf b = BUF(a);

	recipe_canonical(r, &b);
	return buf_text(&b);
}

#endif
