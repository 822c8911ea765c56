#include <string.h>

#include "load.h"

/*
 * The README's reference: one row a key, in the order of the table.
 *
 *     | Key | Takes | |
 *     | --- | --- | --- |
 *     | `torch` | text or map | PyTorch. ... E.g. `2.2.2` |
 */
static const char *
takes(struct arena *a, const struct key *k)
{
	struct names words;

	switch (k->type) {
	case KEY_TEXT: return "text";
	case KEY_NUMBER: return "number";
	case KEY_BOOL: return "true or false";
	case KEY_TEXTS:
	case KEY_REQUIREMENTS:
	case KEY_GPUS:
	case KEY_EXTENSIONS:
	case KEY_INDEXES:
	case KEY_CELLS: return "list";
	case KEY_MODAL_GPUS:
	case KEY_EXTENDS: return "text or list";
	case KEY_MAP: return k->more ? "text or map" : "map";
	case KEY_SETTINGS:
	case KEY_VARIANTS:
	case KEY_MATRIX: return "map";
	case KEY_WORD: break;
	}
	words = names_split(a, k->more, '|');
	return arena_printf(a, "`%s`", names_join(a, &words, "`, `"));
}

void
recipe_reference(struct arena *a, struct buf *out)
{
	size_t n;
	const struct key *all = keys_all(&n);

	buf_puts(out, "| Key | Takes | |\n| --- | --- | --- |\n");
	for (size_t i = 0; i < n; i++)
		buf_printf(out, "| `%s` | %s | %s%s E.g. `%s` |\n", all[i].path, takes(a, &all[i]),
			   all[i].doc, all[i].required ? " Required." : "", all[i].example);
}
