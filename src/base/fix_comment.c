#include "fix_comment.h"

#include <string.h>

/* Returns whether a text has a version, not as a part of a longer one. */
static bool
has_version(struct str text, struct str version)
{
	for (size_t i = 0; i + version.n <= text.n; i++) {
		const char *p = text.p + i, *end = p + version.n;
		bool starts = !i || (!is_digit(p[-1]) && p[-1] != '.');
		bool ends = i + version.n == text.n ||
			    (!is_digit(*end) &&
			     (*end != '.' || i + version.n + 1 == text.n || !is_digit(end[1])));

		if (starts && ends && !memcmp(p, version.p, version.n))
			return true;
	}
	return false;
}

/* "cu124" -> "12.4" in out; else an empty text */
static struct str
cuda_of(struct str build, char out[16])
{
	if (build.n < 5 || build.n > 8 || memcmp(build.p, "cu", 2) != 0)
		return (struct str){ out, 0 };
	for (size_t i = 2; i < build.n; i++)
		if (!is_digit(build.p[i]))
			return (struct str){ out, 0 };
	memcpy(out, build.p + 2, build.n - 3);
	out[build.n - 3] = '.';
	out[build.n - 2] = build.p[build.n - 1];
	return (struct str){ out, build.n - 1 };
}

/* Returns whether a comment names a version of a value: "12.4.1" of an image, or the CUDA of
 * "cu124". */
static bool
names_value(struct str comment, struct str value)
{
	char room[16];
	struct str cuda = cuda_of(value, room);

	if (cuda.n)
		return has_version(comment, value) || has_version(comment, cuda) ||
		       memmem(comment.p, comment.n, cuda.p, cuda.n);
	for (size_t i = 0; i < value.n; i++) {
		size_t n = 0, dots = 0;

		while (i + n < value.n && (is_digit(value.p[i + n]) || value.p[i + n] == '.'))
			dots += value.p[i + n++] == '.';
		if (dots && n > 2 && has_version(comment, (struct str){ value.p + i, n }))
			return true;
		i += n;
	}
	return false;
}

size_t
fix_comment(struct str old, const char *replacement, struct str rest, struct buf *b)
{
	size_t end = 0, closing, blanks, before, after = strlen(replacement);
	int least;
	struct str comment;

	while (end < rest.n && rest.p[end] != '\n' && rest.p[end] != '\r')
		end++;
	for (closing = 0; closing < end && strchr("\"']},", rest.p[closing]);)
		closing++;
	for (blanks = 0; closing + blanks < end && rest.p[closing + blanks] == ' ';)
		blanks++;
	comment = (struct str){ rest.p + closing + blanks, end - closing - blanks };
	if (!blanks || !comment.n || *comment.p != '#' || strchr(replacement, '\n'))
		return 0;
	buf_add(b, rest.p, closing);
	if (names_value(comment, old))
		return end;
	before = old.n + blanks;
	least = blanks > 1 ? 2 : 1;
	buf_printf(b, "%*s", after + (size_t)least < before ? (int)(before - after) : least, "");
	return closing + blanks;
}

/* Returns where the line before an offset begins; `from` at the earliest. */
static size_t
line_before(const char *text, size_t from, size_t at)
{
	at -= at > from;
	while (at > from && text[at - 1] != '\n')
		at--;
	return at;
}

static struct str
comment_at(const char *text, size_t begin, size_t end)
{
	while (begin < end && text[begin] == ' ')
		begin++;
	return (struct str){ text + begin, begin < end && text[begin] == '#' ? end - begin : 0 };
}

size_t
fix_comment_above(const char *text, size_t from, size_t line, struct str old)
{
	size_t begin = line_before(text, from, line), above = line_before(text, from, begin);

	if (begin == from || comment_at(text, above, begin).n ||
	    !names_value(comment_at(text, begin, line), old))
		return line;
	return begin;
}
