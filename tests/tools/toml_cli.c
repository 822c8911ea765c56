/*
 * Calls the reader of TOML, for tests/suites/toml: documents on standard input, each as "SIZE\n"
 * and the bytes; prints a line of JSON for each.  A plain value is {"plain": TEXT}; an invalid
 * document is {"error": TEXT, "line": N}.
 */
#include <stdio.h>

#include "base/json.h"
#include "base/toml.h"

static void
put(struct json *j, const char *key, const struct node *n)
{
	if (n->kind == NODE_SCALAR && n->plain) {
		json_map(j, key);
		json_text(j, "plain", n->s);
		json_end(j);
	} else if (n->kind == NODE_SCALAR) {
		json_text(j, key, n->s);
	} else {
		n->kind == NODE_MAP ? json_map(j, key) : json_list(j, key);
		for (size_t i = 0; i < n->n; i++)
			put(j, n->kind == NODE_MAP ? n->pairs[i].key : NULL,
			    n->kind == NODE_MAP ? n->pairs[i].value : n->items[i]);
		json_end(j);
	}
}

int
main(void)
{
	size_t n;

	while (scanf("%zu", &n) == 1 && getchar() == '\n') {
		struct arena *a = arena_new();
		char *text = arena_alloc(a, n + 1, 1);
		struct source src = { "document", text, n };
		struct diags ds;
		struct buf out = BUF(a);
		struct json j = json_flat_to(&out);
		const struct node *root;

		if (fread(text, 1, n, stdin) != n)
			return 1;
		ds = DIAGS(ds, a);
		root = toml_read(a, &ds, &src,
				 (struct yaml_limits){ 200 * 1000, JSON_DEPTH_MAX - 4 });
		if (root)
			put(&j, NULL, root);
		else
			json_put(&j, "{'error': %s, 'line': %d}", ds.head->text,
				 (int)ds.head->at.line);
		printf("%s\n", buf_text(&out));
		arena_free(a);
	}
	return 0;
}
