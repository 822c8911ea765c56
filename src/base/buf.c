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

void
buf_wrap(struct buf *b, const char *text, size_t indent, size_t width)
{
	size_t used = indent;

	for (bool first = true; *text; first = false) {
		size_t n = strcspn(text, " "), wide = text_columns(text, n);

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
