#include "modal.h"

#include <string.h>

#include "base/str.h"

enum { WIDTH = 116, INDENT = 4 };

const char *
py_quoted(struct arena *a, const char *text)
{
	struct buf b = BUF(a);
	const char *why;

	if (!quote(&b, QUOTE_PYTHON, LANG_PYTHON, text, &why))
		BUG("a Python string holds any text: %s", why);
	return buf_text(&b);
}

static struct py_argument *
argument(struct py_call *c, const char *key, const char *open, const char *close)
{
	list_push(c->a, &c->args,
		  (struct py_argument){ .open = arena_printf(c->a, "%s%s%s", key ? key : "",
							     key ? "=" : "", open),
					.close = close });
	return &c->args.at[c->args.n - 1];
}

void
py_code(struct py_call *c, const char *key, const char *code)
{
	argument(c, key, code, "");
}

/* Returns the length of the part of a text that fits `most` columns: at least one word. */
static size_t
part(const char *text, size_t most)
{
	size_t n = strlen(text), cut = most;

	if (n <= most)
		return n;
	while (cut && text[cut - 1] != ' ')
		cut--;
	if (!cut)
		cut = strcspn(text, " ") + 1;
	return cut < n ? cut : n;
}

void
py_text(struct py_call *c, const char *key, const char *text)
{
	struct py_argument *arg = argument(c, key, py_quoted(c->a, text), "");

	arg->literals = true;
	for (size_t n; (n = part(text, WIDTH - 3 * INDENT - (key ? strlen(key) : 0))); text += n) {
		const char *literal = py_quoted(c->a, arena_copy(c->a, text, n));

		bool first = key && !arg->items.n;

		list_push(c->a, &arg->items,
			  first ? arena_printf(c->a, "%s=%s", key, literal) : literal);
	}
}

struct names *
py_items(struct py_call *c, const char *key, const char *open, const char *close)
{
	return &argument(c, key, open, close)->items;
}

void
py_dict(struct py_call *c, const char *key, const struct variables *v)
{
	struct names *items = py_items(c, key, "{", "}");

	for (size_t i = 0; i < v->n; i++)
		list_push(c->a, items,
			  arena_printf(c->a, "%s: %s", py_quoted(c->a, v->at[i].name),
				       py_quoted(c->a, v->at[i].value)));
}

/* Returns an argument as one line. */
static const char *
flat(struct arena *a, const struct py_argument *arg)
{
	if (arg->literals)
		return arg->open;
	return arena_printf(a, "%s%s%s", arg->open, names_join(a, &arg->items, ", "), arg->close);
}

/* Adds an argument at INDENT: on one line if it fits, else its items on as many as they need. */
static void
add_argument(const struct py_argument *arg, struct buf *b)
{
	const char *line = flat(b->a, arg), *end = arg->literals ? "" : ",";
	size_t indent = arg->literals ? INDENT : 2 * INDENT, column = WIDTH;

	if (strlen(line) + 2 * INDENT <= WIDTH || !arg->items.n) {
		buf_printf(b, "%*s%s,\n", INDENT, "", line);
		return;
	}
	if (!arg->literals)
		buf_printf(b, "%*s%s", INDENT, "", arg->open);
	for (size_t i = 0; i < arg->items.n; i++) {
		size_t n = strlen(arg->items.at[i]) + 2;
		bool first = arg->literals && !i;

		if (arg->literals || column + n > WIDTH) {
			buf_printf(b, "%s%*s", first ? "" : "\n", (int)indent, "");
			column = indent;
		}
		buf_printf(b, "%s%s%s", column > indent ? " " : "", arg->items.at[i], end);
		column += n;
	}
	if (!arg->literals)
		buf_printf(b, "\n%*s%s", INDENT, "", arg->close);
	buf_puts(b, ",\n");
}

void
py_call(const struct py_call *c, const char *callee, struct buf *b)
{
	size_t width = strlen(callee) + 2 + INDENT;
	struct names all = { 0 };

	for (size_t i = 0; i < c->args.n; i++) {
		list_push(c->a, &all, flat(c->a, &c->args.at[i]));
		width += strlen(all.at[i]) + 2;
	}
	if (width <= WIDTH) {
		buf_printf(b, "%s(%s)", callee, names_join(c->a, &all, ", "));
		return;
	}
	buf_printf(b, "%s(\n", callee);
	for (size_t i = 0; i < c->args.n; i++)
		add_argument(&c->args.at[i], b);
	buf_putc(b, ')');
}
