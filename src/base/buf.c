#include "buf.h"

#include <stdio.h>
#include <string.h>

static bool
room(struct buf *b, size_t n)
{
	size_t cap = b->cap ? b->cap : 64;

	if (b->over || n > b->max || b->n > b->max - n) {
		b->over = true;
		return false;
	}
	if (b->p && b->n + n < b->cap)
		return true;
	while (cap <= b->n + n)
		cap *= 2;
	b->p = arena_grow(b->a, b->p, b->cap, cap, 1);
	b->cap = cap;
	return true;
}

void
buf_add(struct buf *b, const char *bytes, size_t n)
{
	if (!room(b, n))
		return;
	if (n)
		memcpy(b->p + b->n, bytes, n);
	b->n += n;
	b->p[b->n] = '\0';
}

void
buf_puts(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void
buf_printf(struct buf *b, const char *fmt, ...)
{
	char small[256];
	va_list ap, again;
	int n;

	va_start(ap, fmt);
	va_copy(again, ap);
	n = vsnprintf(small, sizeof(small), fmt, ap);
	if (n >= 0 && (size_t)n < sizeof(small))
		buf_add(b, small, (size_t)n);
	else
		buf_puts(b, arena_vprintf(b->a, fmt, again));
	va_end(again);
	va_end(ap);
}

const char *
buf_text(struct buf *b)
{
	if (!b->p)
		room(b, 0);
	return b->p ? b->p : "";
}

/* Returns whether the n bytes are a unit, perhaps before punctuation, or a slash between two values. */
static bool
is_unit(const char *word, size_t n)
{
	static const char *const units[] = { "/",  "%",  "s",  "ms",  "min", "h",   "d",   "kB",
					     "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB", "USD" };

	while (n && strchr(",.;:)", word[n - 1]))
		n--;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strlen(units[i]) == n && !memcmp(word, units[i], n))
			return true;
	return false;
}

size_t
text_word(const char *text)
{
	size_t n = strcspn(text, " ");

	while (text[n] == ' ' && n && text[n + 1] != ' ') {
		size_t next = strcspn(text + n + 1, " ");
		bool number = text[n - 1] >= '0' && text[n - 1] <= '9';
		bool slash = text[n - 1] == '/' && (n == 1 || text[n - 2] == ' ');

		if (!slash && !(number && is_unit(text + n + 1, next)) &&
		    !(next == 1 && text[n + 1] == '/'))
			break;
		n += 1 + next;
	}
	return n;
}

void
buf_wrap(struct buf *b, const char *text, size_t indent, size_t width)
{
	size_t used = indent;

	for (bool first = true; *text; first = false) {
		size_t n = text_word(text), wide = text_columns(text, n);

		if (!first && used + 1 + wide > width) {
			buf_printf(b, "\n%*s", (int)indent, "");
			used = indent;
		} else if (!first) {
			buf_putc(b, ' ');
			used++;
		}
		buf_add(b, text, n);
		used += wide;
		text += n + strspn(text + n, " ");
	}
}
