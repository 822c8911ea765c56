#include "modal.h"

#include <string.h>

#include "base/str.h"

void
py_string(struct buf *b, const char *text)
{
	const char *why;

	if (!quote(b, QUOTE_PYTHON, LANG_PYTHON, text, &why))
		BUG("a Python string holds any text: %s", why);
}

void
py_open(struct buf *b, const char *object, const char *method)
{
	buf_printf(b, "%s.%s(\n", object, method);
}

static void
start(struct buf *b, const char *key)
{
	buf_puts(b, "    ");
	if (key)
		buf_printf(b, "%s=", key);
}

void
py_code(struct buf *b, const char *key, const char *code)
{
	start(b, key);
	buf_printf(b, "%s,\n", code);
}

void
py_text(struct buf *b, const char *key, const char *text)
{
	start(b, key);
	py_string(b, text);
	buf_puts(b, ",\n");
}

void
py_list(struct buf *b, const char *key, const struct texts *texts)
{
	start(b, key);
	buf_putc(b, '[');
	for (size_t i = 0; i < texts->n; i++) {
		buf_puts(b, i ? ", " : "");
		py_string(b, texts->at[i].s);
	}
	buf_puts(b, "],\n");
}

void
py_dict(struct buf *b, const char *key, const struct variables *v)
{
	bool one = v->n == 1;

	start(b, key);
	buf_puts(b, one ? "{" : "{\n");
	for (size_t i = 0; i < v->n; i++) {
		buf_puts(b, one ? "" : "        ");
		py_string(b, v->at[i].name);
		buf_puts(b, ": ");
		py_string(b, v->at[i].value);
		buf_puts(b, one ? "" : ",\n");
	}
	buf_puts(b, one ? "},\n" : "    },\n");
}

void
py_close(struct buf *b)
{
	buf_puts(b, ")\n");
}

/* Whether r and three of a quote hold the text as it is: no way out, nothing invisible. */
static bool
fits_block(const char *text, const char *quotes)
{
	if (!strchr(text, '\n') || strstr(text, quotes) || !ends_with(text, "\n"))
		return false;
	for (; *text; text++)
		if ((*text < ' ' && *text != '\n' && *text != '\t') || *text > '~')
			return false;
	return true;
}

void
py_block(struct buf *b, const char *text)
{
	static const char *const quotes[] = { "\"\"\"", "'''" };

	for (size_t i = 0; i < 2; i++)
		if (fits_block(text, quotes[i])) {
			buf_printf(b, "r%s%s%s", quotes[i], text, quotes[i]);
			return;
		}
	py_string(b, text);
}
