/*
 * libFuzzer: the template language and its quoting.
 *
 * The first byte ("0" to "3") selects the language of the file; then follow a text that is
 * used as a value, a NUL, and the template.  Properties: every rejection has a
 * reason; an accepted template is filled in, or the value is rejected; and a quoted
 * text is one word of sh with that text.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "render/template.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct shape item_shape[] = {
	{ "name", VALUE_TEXT, "", NULL },
	{ "here", VALUE_FLAG, "", NULL },
	{ "plain", VALUE_LIST, "", NULL },
	{ 0 },
};

static const struct shape shape[] = {
	{ "text", VALUE_TEXT, "", NULL },
	{ "gone", VALUE_TEXT, "", NULL },
	{ "code", VALUE_CODE, "", NULL },
	{ "yes", VALUE_FLAG, "", NULL },
	{ "no", VALUE_FLAG, "", NULL },
	{ "items", VALUE_LIST, "", item_shape },
	{ "others", VALUE_LIST, "", item_shape },
	{ "none", VALUE_LIST, "", item_shape },
	{ 0 },
};

static void
must(bool holds)
{
	if (!holds)
		abort();
}

static struct scope *
values(struct arena *a, const char *text)
{
	static const struct span nowhere;
	struct scope *top = scope_new(a, shape);

	scope_text(top, "text", text, nowhere);
	scope_code(top, "code", "a \\\n  b\n\nc");
	scope_flag(top, "yes", true);
	for (int i = 0; i < 3; i++) {
		struct scope *item = scope_item(top, "items");

		scope_text(item, "name", i ? text : "first", nowhere);
		scope_flag(item, "here", i == 1);
		for (int k = 0; k < i; k++)
			scope_item_text(item, "plain", text, nowhere);
		scope_text(scope_item(top, "others"), "name", text, nowhere);
	}
	return top;
}

/* Returns the single word that sh reads, or NULL if it would read another text. */
static const char *
unquoted(struct arena *a, const char *p)
{
	struct buf b = BUF(a);

	while (*p) {
		char mark = *p;

		if (mark == '\\' && p[1] == '\'') {
			buf_putc(&b, p[1]);
			p += 2;
		} else if (mark == '\'' || mark == '"') {
			for (p++; *p && *p != mark; p++) {
				if (mark == '"' && strchr("\\$`", *p))
					return NULL;
				buf_putc(&b, *p);
			}
			if (!*p++)
				return NULL;
		} else if (strchr(" \t\n#~&|;<>(){}[]*?!$`\\", mark)) {
			return NULL;
		} else {
			buf_putc(&b, *p++);
		}
	}
	return buf_text(&b);
}

static void
check_quotings(struct arena *a, const char *text)
{
	for (enum quoting q = 0; q < QUOTINGS; q++) {
		for (enum language l = LANG_DOCKERFILE; l <= LANG_HCL; l++) {
			struct buf b = BUF(a);
			const char *why = NULL, *said;
			bool good = quoting_fits(q, l) && quote(&b, q, l, text, &why);

			must(good || !quoting_fits(q, l) || (why && !b.n));
			if (!good)
				continue;
			said = buf_text(&b);
			must(l != LANG_DOCKERFILE || !strpbrk(said, "\n\r"));
			must(q != QUOTE_COMMENT || !strpbrk(said, "\n\r"));
			if (q != QUOTE_SH && q != QUOTE_TEXT)
				continue;
			said = *said ? unquoted(a, said) : NULL;
			must(said && !strcmp(said, text));
		}
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *nul = size ? memchr(data, '\0', size) : NULL;
	struct arena *a;
	struct diags ds;
	struct source src = { .path = "t" };
	const char *value;
	struct buf out;

	if (!nul || nul == (const char *)data)
		return 0;
	a = arena_new();
	ds = DIAGS(ds, a);
	value = arena_copy(a, (const char *)data + 1, (size_t)(nul - (const char *)data) - 1);
	src.text = nul + 1;
	src.size = size - (size_t)(nul + 1 - (const char *)data);
	check_quotings(a, value);
	out = BUF(a);
	must(template_expand(&ds, &src, (enum language)(data[0] & 3), values(a, value), &out,
			     NULL) == (ds.errors == 0));
	arena_free(a);
	return 0;
}
