/*
 * libFuzzer: the reader of TOML.
 *
 * Properties: a document is read, or one error has the place and the reason; every place is in the
 * text; the same text gives the same answer.
 */
#include "fuzz.h"

#include "base/toml.h"

static size_t
check_node(const struct node *n, const struct source *src)
{
	const char *line;
	size_t size, all = 1;

	must(n->at.src == src && source_line(src, n->at.line, &line, &size), "a place in the text");
	if (n->kind == NODE_SCALAR) {
		must(strlen(n->s) == n->n, "a text without NUL");
		return 1;
	}
	for (size_t i = 0; i < n->n; i++)
		all += check_node(n->kind == NODE_MAP ? n->pairs[i].value : n->items[i], src);
	return all;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new();
	struct source src = { "fuzz", arena_copy(a, (const char *)data, size), size };
	struct diags ds, again;
	const struct node *root, *same;

	ds = DIAGS(ds, a);
	again = DIAGS(again, a);
	root = toml_read(a, &ds, &src, TOML_LIMITS(src.size));
	must((root != NULL) == !ds.errors && ds.errors <= 1, "a document, or one error");
	same = toml_read(a, &again, &src, TOML_LIMITS(src.size));
	must((same != NULL) == (root != NULL), "the same again");
	if (root && size < 2000)
		must(check_node(root, &src) == check_node(same, &src), "the same values");
	arena_free(a);
	return 0;
}
