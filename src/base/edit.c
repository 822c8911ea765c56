#include "edit.h"

#include <string.h>
#include <strings.h>

#include "buf.h"
#include "str.h"

/*
 * Returns true for the lower-case words that YAML 1.1 or 1.2 reads as null, true or false, and for
 * its two special keys.
 */
static bool
is_reserved(const char *s)
{
	static const char *const words[] = { "null", "true",  "false", "yes", "no",   "on",
					     "off",  "y",     "n",     "~",   ".inf", ".nan",
					     "=",    "<<",    "-",     "?",   ":",    "---",
					     "...",  "-.inf", "+.inf" };

	for (size_t i = 0; i < COUNT(words); i++)
		if (!strcasecmp(s, words[i]))
			return true;
	return false;
}

/*
 * Returns true for a number whose text no reader changes: 0, 17, -3, 12.4; not 3.10, 007, 1_000 or
 * 9.0, nor one with more digits than a double holds.
 */
static bool
is_canonical_number(const char *s)
{
	enum { DIGITS_MAX = 15 };

	return str_matches(s, "^-?(0|[1-9][0-9]*)(\\.[0-9]*[1-9])?$") &&
	       strlen(s) - (*s == '-') - (strchr(s, '.') != NULL) <= DIGITS_MAX;
}

/*
 * Returns true for text that YAML 1.1 or 1.2 may read as a number, a time or a date. It matches
 * more than they do, but no version such as 2.2.2, and no text with a letter that no number has.
 */
static bool
looks_like_number(const char *s)
{
	return str_matches(s, "^[-+]?(0[xXoObB]|[0-9]{4}-[0-9])") ||
	       str_matches(s, "^[-+]?([0-9][0-9_:eE+-]*\\.?|\\.[0-9])[0-9_:eE+-]*$");
}

bool
edit_is_plain(const char *s)
{
	size_t n = strlen(s);

	if (!n || is_reserved(s) || starts_with(s, "---") || starts_with(s, "..."))
		return false;
	if (looks_like_number(s))
		return is_canonical_number(s);
	if (strchr("-?:#&*!|>'\"%@` \t", *s) || s[n - 1] == ' ' || s[n - 1] == ':')
		return false;
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];

		/* < and > need no quotes here, but users quote requirements anyway. */
		if (c < ' ' || c >= 0x7f || strchr(",[]{}<>\\\"", c))
			return false;
		if ((c == ':' && (s[i + 1] == ' ' || s[i + 1] == '?')) ||
		    (c == ' ' && s[i + 1] == '#'))
			return false;
	}
	return true;
}

/*
 * Returns a character that ".." must write as an escape: its code point, and its length in bytes.
 */
static size_t
must_escape(const char *p, uint32_t *point)
{
	size_t n = utf8_decode(p, strlen(p), point);

	return n && (*point < ' ' || (*point >= 0x7f && *point < 0xa0) || *point == 0x2028 ||
		     *point == 0x2029 || *point == 0xfeff) ?
		       n :
		       0;
}

static void
write_double(struct buf *out, const char *value)
{
	uint32_t point;

	buf_putc(out, '"');
	for (size_t n; *value; value += n ? n : 1) {
		n = must_escape(value, &point);
		if (n && (point == '\n' || point == '\t'))
			buf_puts(out, point == '\n' ? "\\n" : "\\t");
		else if (n)
			buf_printf(out, point < 0x100 ? "\\x%02x" : "\\u%04x", point);
		else
			buf_printf(out, strchr("\"\\", *value) ? "\\%c" : "%c", *value);
	}
	buf_putc(out, '"');
}

/* Writes a single-quoted text, in which only the quote is escaped, by doubling it. */
static bool
write_single(struct buf *out, const char *value)
{
	uint32_t point;

	for (const char *p = value; *p; p++)
		if (must_escape(p, &point))
			return false;
	buf_putc(out, '\'');
	for (; *value; value++) {
		if (*value == '\'')
			buf_putc(out, '\'');
		buf_putc(out, *value);
	}
	buf_putc(out, '\'');
	return true;
}

bool
edit_place(struct span at, struct str *line, struct str *text)
{
	size_t from;

	if (!at.src || !at.line || !source_line(at.src, at.line, &line->p, &line->n) ||
	    text_columns(line->p, line->n) < (size_t)at.col - 1 + at.width)
		return false;
	from = utf8_bytes(line->p, line->n, at.col - 1);
	*text = (struct str){ line->p + from,
			      utf8_bytes(line->p + from, line->n - from, at.width) };
	return true;
}

/*
 * Returns true for a part of a scalar: a whole scalar follows a blank, a bracket, a comma, or the
 * colon of JSON.
 */
static bool
is_within(struct str line, const char *p)
{
	if (p > line.p && p[-1] == ':')
		return p < line.p + 2 || (p[-2] != '"' && p[-2] != '\'');
	return p > line.p && !strchr(" \t[{,-", p[-1]);
}

bool
edit_same(const struct edit *x, const struct edit *y)
{
	return x->at.src == y->at.src && x->at.line == y->at.line && x->at.col == y->at.col &&
	       x->at.width == y->at.width && !strcmp(x->replacement, y->replacement);
}

bool
edit_takes_line(const struct edit *e)
{
	struct str line, text;

	return !*e->replacement && e->at.col == 1 && e->at.width &&
	       edit_place(e->at, &line, &text) && text.n == line.n;
}

uint32_t
edit_end(const struct edit *e)
{
	return e->at.col + e->at.width + edit_takes_line(e);
}

static bool
stands_behind(const struct edit *x, const struct edit *y)
{
	if (x->at.line != y->at.line)
		return x->at.line > y->at.line;
	return x->at.col > y->at.col || (x->at.col == y->at.col && edit_end(x) > edit_end(y));
}

void
edit_insert(struct arena *a, struct edits *all, const struct edit *e)
{
	size_t at = all->n;

	for (size_t i = all->n; i--;)
		if (all->at[i]->at.src == e->at.src) {
			at = i;
			if (!stands_behind(all->at[i], e)) {
				at++;
				break;
			}
		}
	list_push(a, all, e);
	memmove(&all->at[at + 1], &all->at[at], (all->n - 1 - at) * sizeof(*all->at));
	all->at[at] = e;
}

const char *
edit_scalar(struct arena *a, struct span at, const char *value)
{
	struct str line = { "", 0 }, text = line;
	bool placed = edit_place(at, &line, &text);
	char first = placed && text.p < line.p + line.n ? *text.p : '\0';
	struct buf out = BUF(a);

	if (at.width && placed && is_within(line, text.p))
		return arena_strdup(a, value);
	/* The value was empty: `key:` needs a blank before the text. */
	if (!at.width && placed && text.p > line.p && !strchr(" \t", text.p[-1]))
		buf_putc(&out, ' ');
	if (at.width && first == '\'' && write_single(&out, value))
		return buf_text(&out);
	if ((at.width && (first == '\'' || first == '"')) || !edit_is_plain(value))
		write_double(&out, value);
	else
		buf_puts(&out, value);
	return buf_text(&out);
}
