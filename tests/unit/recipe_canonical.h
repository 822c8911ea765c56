#ifndef RECIPE_CANONICAL_H
#define RECIPE_CANONICAL_H

#include "base/buf.h"
#include "recipe/keys.h"
#include "recipe/read.h"
#include "recipe/recipe.h"

/* The canonical recipe, of which `digest` is the digest: its sections, one after the other. */
static inline const char *
recipe_canonical(struct arena *a, const struct recipe *r)
{
	struct names order = canonical_order(a);
	struct buf b = BUF(a);

	buf_putc(&b, '{');
	for (size_t i = 0; i < order.n; i++) {
		const char *json = canonical_section(a, key_child(&key_root, order.at[i]), r);

		if (json)
			buf_printf(&b, "%s%s", b.n > 1 ? ", " : "", json);
	}
	buf_putc(&b, '}');
	return buf_text(&b);
}

#endif
