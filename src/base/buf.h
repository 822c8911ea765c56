#ifndef BUF_H
#define BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"

/*
 * A growing text in an arena, up to a maximum. Past the maximum, nothing more is added and `over`
 * is set; callers with unbounded input check it once. `p` is always NUL-terminated after the first
 * call; before it, NULL.
 */
struct buf {
	struct arena *a;
	char *p;
	size_t n, cap, max; /* bytes */
	bool over;
};

enum { BUF_MAX = 256 * 1024 * 1024 };

#define BUF(arena) ((struct buf){ .a = (arena), .max = BUF_MAX })

void buf_add(struct buf *b, const char *bytes, size_t n);
void buf_puts(struct buf *b, const char *s);
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
const char *buf_text(struct buf *b); /* never NULL */

/*
 * Returns the bytes of a text that no line break divides: its first word, with a unit after a number
 * ("4.0 GiB") and with both sides of a slash ("4.0 / s").
 */
size_t text_word(const char *text);

/*
 * Adds the words of a text (text_word), with a line break and `indent` blanks before each word that would
 * pass column `width`. The first word starts at column `indent`; columns are code points.
 */
void buf_wrap(struct buf *b, const char *text, size_t indent, size_t width);

/* Makes the text empty; its memory is used again. */
static inline void
buf_clear(struct buf *b)
{
	b->n = 0;
	buf_add(b, "", 0);
}

/* Inline, because the buffer has room for most characters. */
static inline void
buf_putc(struct buf *b, char c)
{
	if (b->n + 1 < b->cap && b->n < b->max && !b->over) {
		b->p[b->n++] = c;
		b->p[b->n] = '\0';
	} else {
		buf_add(b, &c, 1);
	}
}

/* Returns the columns that the first `n` bytes of a text take: its code points. */
static inline size_t
text_columns(const char *s, size_t n)
{
	size_t columns = 0;

	for (size_t i = 0; i < n; i++)
		columns += ((unsigned char)s[i] & 0xc0) != 0x80;
	return columns;
}

#endif
