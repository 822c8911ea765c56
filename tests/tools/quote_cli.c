/*
 * Quotes texts, line by line, for tests/suites/quote:
 *
 *     {"quoting":"sh","language":0,"text":"it's"}    {"ok":true,"text":"\"it's\""}
 *
 * and {"ok":false,"why"} for a text that the place cannot contain.  language: as in quote.h.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "render/quote.h"

static char *
answer(struct arena *a, const json_t *line)
{
	struct buf b = BUF(a);
	enum quoting q = quoting_named(str_of(json_string_value(json_object_get(line, "quoting"))));
	enum language l = (enum language)json_integer_value(json_object_get(line, "language"));
	const char *why = NULL;
	bool ok = quote(&b, q, l, json_string_value(json_object_get(line, "text")), &why);
	json_t *said =
		json_pack("{s:b,s:s}", "ok", ok, ok ? "text" : "why", ok ? buf_text(&b) : why);
	char *text = json_dumps(said, JSON_COMPACT);

	json_decref(said);
	return text;
}

int
main(void)
{
	struct arena *a = arena_new();
	char *text = NULL;
	size_t cap = 0;
	ssize_t n;

	while ((n = getline(&text, &cap, stdin)) > 0) {
		json_t *line = json_loadb(text, (size_t)n, 0, NULL);
		char *said = answer(a, line);

		puts(said);
		free(said);
		json_decref(line);
	}
	free(text);
	arena_free(a);
	return fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}
