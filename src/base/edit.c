#include "edit.h"

#include <string.h>
#include <strings.h>

#include "buf.h"
#include "str.h"

/* The words that some YAML takes for null, true or false, in lower case; and two keys. */
static bool
is_reserved(const char *s)
{
	static const char *const words[] = { "null", "true",  "false", "yes", "no",   "on",
					     "off",  "y",     "n",     "~",   ".inf", ".nan",
					     "=",    "<<",    "-",     "?",   ":",    "---",
					     "...",  "-.inf", "+.inf" };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strcasecmp(s, words[i]))
			return true;
	return false;
}

static size_t
digits(const char *s)
{
	return strspn(s, "0123456789");
}

/*
 * A number whose text no reader changes: 0, 17, -3, 12.4; not 3.10, 007, 1_000, 9.0.
 * More digits than a double holds would change too.
 */
static bool
is_canonical_number(const char *s)
{
	size_t whole, part;

	s += *s == '-';
	whole = digits(s);
	if (!whole || (*s == '0' && whole > 1) || whole > 15)
		return false;
	if (!s[whole])
		return true;
	if (s[whole] != '.')
		return false;
	part = digits(s + whole + 1);
	return part && whole + part <= 15 && !s[whole + 1 + part] && s[whole + part] != '0';
}

/*
 * Text that YAML 1.1 or 1.2 may take for a number, a time or a date: more than they do,
 * but no version such as 2.2.2 and nothing with a letter that no number has.
 */
static bool
looks_like_number(const char *s)
{
	size_t dots = 0, n;

	if (*s == '-' || *s == '+')
		s++;
	if (s[0] == '0' && s[1] && strchr("xXoObB", s[1]))
		return true;
	if (!is_digit(s[0]) && !(s[0] == '.' && is_digit(s[1])))
		return false;
	n = digits(s);
	if (n == 4 && s[4] == '-' && is_digit(s[5]))
		return true;
	for (n = 0; s[n]; n++) {
		if (!strchr("0123456789_.:eE+-", s[n]))
			return false;
		dots += s[n] == '.';
	}
	return dots < 2;
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

		/* < and > are no indicators here; people quote requirements all the same. */
		if (c < ' ' || c >= 0x7f || strchr(",[]{}<>\\\"", c))
			return false;
		if ((c == ':' && (s[i + 1] == ' ' || s[i + 1] == '?')) ||
		    (c == ' ' && s[i + 1] == '#'))
			return false;
	}
	return true;
}

/* A character that ".." must write as an escape: its code point, and its length in bytes. */
static size_t
must_escape(const unsigned char *p, unsigned *point)
{
	*point = p[0];
	if (p[0] < ' ' || p[0] == 0x7f)
		return 1;
	if (p[0] == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0)
		*point = p[1];
	else if (p[0] == 0xe2 && p[1] == 0x80 && (p[2] == 0xa8 || p[2] == 0xa9))
		*point = 0x2000u + (p[2] & 0x3f);
	else if (p[0] == 0xef && p[1] == 0xbb && p[2] == 0xbf)
		*point = 0xfeff;
	else
		return 0;
	return *point < 0x100 ? 2 : 3;
}

static void
write_double(struct buf *out, const char *value)
{
	const unsigned char *p = (const unsigned char *)value;

	buf_putc(out, '"');
	while (*p) {
		unsigned point;
		size_t n = must_escape(p, &point);

		if (!n) {
			if (*p == '"' || *p == '\\')
				buf_putc(out, '\\');
			buf_putc(out, (char)*p++);
			continue;
		}
		p += n;
		if (point == '\n' || point == '\t')
			buf_puts(out, point == '\n' ? "\\n" : "\\t");
		else
			buf_printf(out, point < 0x100 ? "\\x%02x" : "\\u%04x", point);
	}
	buf_putc(out, '"');
}

/* Single quotes know one escape: their own, doubled. */
static bool
write_single(struct buf *out, const char *value)
{
	unsigned point;

	for (const char *p = value; *p; p++)
		if (must_escape((const unsigned char *)p, &point))
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

/* What stands at the start of a span and before it on its line; NUL: nothing. */
struct surroundings {
	char two_before, before, first;
};

static struct surroundings
look_at(struct span at)
{
	struct surroundings s = { 0 };
	struct str line, text;
	size_t i;

	if (!edit_place(at, &line, &text))
		return s;
	i = (size_t)(text.p - line.p);
	s.first = i < line.n ? line.p[i] : '\0';
	s.before = i ? line.p[i - 1] : '\0';
	s.two_before = i > 1 ? line.p[i - 2] : '\0';
	return s;
}

/* Only part of a scalar: before one stand blanks, brackets, commas, or the colon of JSON. */
static bool
is_within(struct surroundings s)
{
	if (s.before == ':')
		return s.two_before != '"' && s.two_before != '\'';
	return s.before && !strchr(" \t[{,-", s.before);
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
	struct surroundings s = look_at(at);
	struct buf out = BUF(a);

	if (at.width && is_within(s))
		return arena_strdup(a, value);
	/* Nothing stood there: `key:` is glued to what comes. */
	if (!at.width && s.before && s.before != ' ' && s.before != '\t')
		buf_putc(&out, ' ');
	if (at.width && s.first == '\'' && write_single(&out, value))
		return buf_text(&out);
	if ((at.width && (s.first == '\'' || s.first == '"')) || !edit_is_plain(value))
		write_double(&out, value);
	else
		buf_puts(&out, value);
	return buf_text(&out);
}
