#include "load.h"

/*
 * Writes the reference of docs/recipe.md: one row for each key, in the order of the table.
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
	case KEY_MODAL_GPUS:
	case KEY_EXTENDS: return "text or list";
	case KEY_WORD:
		words = names_split(a, k->more, '|');
		return arena_printf(a, "`%s`", names_join(a, &words, "`, `"));
	case KEY_MAP: return key_short_list(k) ? "list or map" : k->more ? "text or map" : "map";
	case KEY_ARGUMENTS: return argument_short(a, k) ? "number or map" : "map";
	case KEY_SETTINGS:
	case KEY_BUCKETS: return "map";
	case KEY_CELLS: return "list";
	default: return k->first.item ? "list" : "map";
	}
}

static void
write_row(struct arena *a, const struct facts *f, const struct key *k, struct buf *out)
{
	struct names below = { 0 };

	buf_printf(out, "| `%s` | %s | %s%s", k->path, takes(a, k), k->doc,
		   k->required ? " Required." : "");
	if (*k->example)
		buf_printf(out, " E.g. `%s`", k->example);
	buf_puts(out, " |\n");
	if (k->type == KEY_BUCKETS)
		k = bucket_key(a, k, "PATH");
	if (k->type == KEY_ARGUMENTS)
		below = argument_names(f, a, k);
	for (size_t i = 0; i < below.n; i++)
		write_row(a, f, argument_key(f, a, k, below.at[i]), out);
}

void
recipe_reference(struct arena *a, const struct facts *f, struct buf *out)
{
	size_t n;
	const struct key *all = keys_all(&n);

	buf_puts(out, "| Key | Takes | |\n| --- | --- | --- |\n");
	for (const struct key *k = all; k < all + n; k++)
		write_row(a, f, k, out);
}
