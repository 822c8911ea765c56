/*
 * Calls the reader of index pages, for tests/suites/refresh: pages on standard input, each as
 * "TYPE URL SIZE\n" and the bytes; prints a line of JSON for each: its files, or the error.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "fetch/index_internal.h"

static void
print_page(struct arena *a, const char *type, const char *url, const char *text, size_t n)
{
	struct index_page page = { 0 };
	struct buf out = BUF(a);
	struct json j = json_flat_to(&out);
	const char *why;

	if (!page_parse(a, type, url, text, n, &page, &why)) {
		json_put(&j, "{'why': %s}", why);
	} else {
		json_put(&j, "{'files': [");
		for (size_t i = 0; i < page.files.n; i++) {
			const struct index_file *f = &page.files.at[i];

			json_put(&j,
				 "{'name': %s, 'url': %s, 'sha256': %s, 'metadata': %b, "
				 "'metadata_sha256': %s, 'requires_python': %s, 'yanked': %s}",
				 f->name, f->url, f->sha256, f->metadata, f->metadata_sha256,
				 f->requires_python, f->yanked);
		}
		json_put(&j, "]}");
	}
	printf("%s\n", buf_text(&out));
}

int
main(void)
{
	char type[200], url[2000];
	size_t n;

	while (scanf("%199s %1999s %zu", type, url, &n) == 3 && getchar() == '\n') {
		struct arena *a = arena_new();
		char *text = arena_alloc(a, n + 1, 1);

		if (fread(text, 1, n, stdin) != n)
			return 1;
		print_page(a, type, url, text, n);
		arena_free(a);
	}
	return 0;
}
