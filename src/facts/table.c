#include "show.h"

#include <stdarg.h>
#include <string.h>

#include "base/str.h"

static size_t
columns_of(const char *s)
{
	return s ? text_columns(s, strlen(s)) : 0;
}

const char **
table_row(struct show *v, struct table *t)
{
	const char **cells = arena_array_of(v->a, const char *, t->columns + 1);

	list_push(v->a, &t->rows, cells);
	return cells;
}

const char **
table_add(struct show *v, struct table *t, ...)
{
	const char **cells = table_row(v, t);
	va_list ap;

	va_start(ap, t);
	for (size_t i = 0; i < t->columns; i++)
		cells[i] = va_arg(ap, const char *);
	va_end(ap);
	return cells;
}

struct table
table_of(struct arena *a, const char *heads)
{
	struct table t = { 0 };
	struct names all = names_split(a, heads, '|');

	for (size_t i = 0; i < all.n; i++)
		t.heads[t.columns++] = all.at[i];
	return t;
}

/* Finds the places and widths of the columns that are not empty. */
struct shape {
	size_t at[SHOW_COLUMNS], width[SHOW_COLUMNS], n;
	size_t left; /* columns before the last one */
};

static struct shape
shape_of(const struct table *t, unsigned indent)
{
	struct shape s = { .left = indent };

	for (size_t c = 0; c < t->columns; c++) {
		size_t width = 0, head = columns_of(t->heads[c]);

		for (size_t i = 0; i < t->rows.n; i++)
			if (columns_of(t->rows.at[i][c]) > width)
				width = columns_of(t->rows.at[i][c]);
		if (!width)
			continue;
		s.at[s.n] = c;
		s.width[s.n++] = width > head ? width : head;
	}
	for (size_t i = 0; i + 1 < s.n; i++)
		s.left += s.width[i] + 2;
	return s;
}

static void
pad(struct buf *out, const char *text, size_t width)
{
	size_t n = columns_of(text);

	buf_puts(out, text ? text : "");
	for (; n < width; n++)
		buf_putc(out, ' ');
}

static const char *
marked(struct arena *a, const char *text, const char *mark)
{
	if (!mark)
		return text ? text : "";
	return text && *text ? arena_printf(a, "%s %s", text, mark) : mark;
}

static void
end_line(struct buf *out, size_t start)
{
	while (out->n > start && out->p[out->n - 1] == ' ')
		out->p[--out->n] = '\0';
	buf_putc(out, '\n');
}

/* Minimum width of the last column. */
enum { LAST_MIN = 24 };

static void
put_row(struct show *v, const struct shape *s, unsigned indent, const char *const *cells,
	const char *mark)
{
	size_t last = s->n - 1, start = v->out->n;
	size_t width = s->left + LAST_MIN > SHOW_WIDTH ? s->left + LAST_MIN : SHOW_WIDTH;

	buf_printf(v->out, "%*s", (int)indent, "");
	for (size_t i = 0; i < last; i++)
		pad(v->out, cells[s->at[i]], s->width[i] + 2);
	buf_wrap(v->out, marked(v->a, cells[s->at[last]], mark), s->left, width);
	end_line(v->out, start);
}

void
table_print(struct show *v, const struct table *t, unsigned indent)
{
	struct shape s = shape_of(t, indent);

	if (!s.n)
		return;
	put_row(v, &s, indent, t->heads, NULL);
	for (size_t i = 0; i < t->rows.n; i++)
		put_row(v, &s, indent, t->rows.at[i], t->rows.at[i][t->columns]);
}

void
show_line(struct show *v, unsigned indent, size_t width, const char *key, const char *text,
	  const char *mark)
{
	size_t start = v->out->n;

	buf_printf(v->out, "%*s", (int)indent, "");
	pad(v->out, key, width + 2);
	buf_wrap(v->out, marked(v->a, text, mark), indent + width + 2, SHOW_WIDTH);
	end_line(v->out, start);
}
