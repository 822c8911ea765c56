#include "fold.h"

#include <string.h>

/* A broken line continues below its last cell, if that has at least CELL_MIN columns. */
enum { INDENT = 4, CELL_MIN = 20 };

/* Returns the bytes of an escape sequence for colours, or 0. */
static size_t
colour(const char *s)
{
	size_t n = s[0] == '\033' && s[1] == '[' ? 2 + strspn(s + 2, "0123456789;") : 0;

	return n && s[n] == 'm' ? n + 1 : 0;
}

/* Returns the columns of n bytes, without colours. */
static size_t
columns(const char *s, size_t n)
{
	size_t found = 0;

	for (size_t i = 0, skip; i < n; i += skip ? skip : 1) {
		skip = colour(s + i);
		found += !skip && ((unsigned char)s[i] & 0xC0) != 0x80;
	}
	return found;
}

/* Returns whether a line shows a line of a file: "    5 | ...", or carets below it. */
static bool
is_quoted(const char *s, size_t n)
{
	size_t i = 0;

	while (i < n && (s[i] == ' ' || (s[i] >= '0' && s[i] <= '9') || colour(s + i)))
		i += colour(s + i) ? colour(s + i) : 1;
	return i + 1 < n && i && (s[i] == '|' || s[i] == '-') && s[i - 1] == ' ';
}

/* Returns the column where a broken line continues: below the last cell of its table, or indented. */
static size_t
indent_of(const char *s, size_t n, size_t width)
{
	size_t blanks = strspn(s, " "), found = blanks + INDENT;

	for (size_t i = blanks; i + 2 < n; i++)
		if (s[i] == ' ' && s[i + 1] == ' ' && s[i + 2] != ' ' && columns(s, i + 2) < width)
			found = columns(s, i + 2);
	return found + CELL_MIN > width ? blanks + INDENT : found;
}

/* Breaks one line. */
static void
fold_line(const char *s, size_t n, size_t width, struct buf *out)
{
	const char *end = s + n, *line = s;
	size_t indent = indent_of(s, n, width), used = 0;

	for (bool first = true; s < end; first = false) {
		size_t blanks = strspn(s, " "), word = text_word(s + blanks), wide;

		if (word > (size_t)(end - s) - blanks)
			word = (size_t)(end - s) - blanks;
		wide = columns(s + blanks, word);
		if (!first && s > line && used + blanks + wide > width && used > indent) {
			buf_printf(out, "\n%*s", (int)indent, "");
			used = indent;
		} else {
			buf_add(out, s, blanks);
			used += blanks;
		}
		buf_add(out, s + blanks, word);
		used += wide;
		s += blanks + word;
	}
}

void
fold(const char *text, size_t width, struct buf *out)
{
	for (size_t n; *text; text += n) {
		n = strcspn(text, "\n");
		if (columns(text, n) <= width || is_quoted(text, n))
			buf_add(out, text, n);
		else
			fold_line(text, n, width, out);
		if (text[n] == '\n')
			buf_putc(out, text[n++]);
	}
}
