#include "toml_text.h"

#include "buf.h"

/* --- places and errors --- */

/* Callers request places in the order of the text, so one pass is enough. */
struct span
toml_place(struct toml_reader *r, const char *p, const char *to)
{
	for (; r->marked < p; r->marked++) {
		if (*r->marked == '\n') {
			r->line++;
			r->col = 1;
		} else {
			r->col += starts_character(*r->marked);
		}
	}
	return (struct span){ r->src, r->line, r->col,
			      to > p ? (uint32_t)text_columns(p, (size_t)(to - p)) : 1 };
}

/* Reports the text at the reader's place. */
bool
toml_wrong(struct toml_reader *r, const char *what)
{
	diag_at(r->ds, E_TOML_SYNTAX, toml_place(r, r->p, NULL), "not valid TOML: %s", what);
	return false;
}

/* Counts one more value, and its depth. */
bool
toml_count(struct toml_reader *r, unsigned depth)
{
	bool many = ++r->nodes > r->limits.nodes;

	if (many || depth > r->limits.depth)
		diag_at(r->ds, E_YAML_LIMIT, toml_place(r, r->p, NULL),
			many ? "more than %zu values" : "values are nested more than %zu deep",
			many ? r->limits.nodes : (size_t)r->limits.depth);
	return !many && depth <= r->limits.depth;
}

/* Checks the whole text: UTF-8, and no control characters except tab and line ends. */
bool
toml_text_holds(struct toml_reader *r)
{
	for (uint32_t c; r->p < r->end;) {
		size_t n = utf8_decode(r->p, (size_t)(r->end - r->p), &c);
		bool line_end = n && (c == '\n' || (c == '\r' && r->p[1] == '\n'));

		if (!n)
			return toml_wrong(r, "bytes that are not UTF-8");
		if ((c < ' ' && c != '\t' && !line_end) || c == 0x7f)
			return toml_wrong(r, "a control character");
		r->p += n;
	}
	r->p = r->src->text;
	return true;
}

/* --- blanks --- */

bool
toml_next_is(const struct toml_reader *r, const char *what)
{
	size_t n = strlen(what);

	return (size_t)(r->end - r->p) >= n && !memcmp(r->p, what, n);
}

bool
toml_take(struct toml_reader *r, const char *what)
{
	bool is = toml_next_is(r, what);

	r->p += is ? strlen(what) : 0;
	return is;
}

void
toml_skip_blanks(struct toml_reader *r)
{
	while (r->p < r->end && (*r->p == ' ' || *r->p == '\t'))
		r->p++;
}

/* Skips blanks, a comment, and the end of the line.  False: other text follows. */
bool
toml_take_line_end(struct toml_reader *r)
{
	toml_skip_blanks(r);
	if (r->p < r->end && *r->p == '#')
		while (r->p < r->end && *r->p != '\n' && *r->p != '\r')
			r->p++;
	return r->p == r->end || toml_take(r, "\n") || toml_take(r, "\r\n");
}

/* --- strings --- */

static bool
add_character(struct toml_reader *r, struct buf *out, unsigned digits)
{
	uint32_t c = 0;
	char utf8[4];
	size_t n;

	for (unsigned i = 0; i < digits; i++, r->p++) {
		char h = r->p < r->end ? to_lower(*r->p) : '\0';

		if (!is_digit(h) && (h < 'a' || h > 'f'))
			return toml_wrong(r, "an escape has too few hexadecimal digits");
		c = c * 16 + (uint32_t)(is_digit(h) ? h - '0' : h - 'a' + 10);
	}
	if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return toml_wrong(r, "an escape that is not a character");
	if (!c)
		return toml_wrong(r, "a NUL character is not supported");
	n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	for (size_t i = n; i-- > 1; c >>= 6)
		utf8[i] = (char)(0x80 | (c & 0x3f));
	utf8[0] = (char)(n == 1 ? c : (0xf00u >> n & 0xf0u) | c);
	buf_add(out, utf8, n);
	return true;
}

/*
 * Adds the character of an escape. In a multi-line string, a backslash at a line's end skips blank
 * text.
 */
static bool
add_escape(struct toml_reader *r, struct buf *out, bool lines)
{
	static const char letters[] = "btnfr\"\\", meant[] = "\b\t\n\f\r\"\\";
	const char *p = r->p < r->end ? memchr(letters, *r->p, sizeof(letters) - 1) : NULL;

	if (p) {
		buf_putc(out, meant[p - letters]);
		r->p++;
		return true;
	}
	if (toml_take(r, "u"))
		return add_character(r, out, 4);
	if (toml_take(r, "U"))
		return add_character(r, out, 8);
	p = r->p;
	toml_skip_blanks(r);
	if (!lines || !(toml_take(r, "\n") || toml_take(r, "\r\n"))) {
		r->p = p;
		return toml_wrong(r, "an unknown escape");
	}
	while (r->p < r->end && strchr(" \t\r\n", *r->p))
		r->p++;
	return true;
}

/* Returns a string: "basic" or 'literal', also of several lines; r->p is at the first quote. NULL:
 * an error. */
const char *
toml_string(struct toml_reader *r, bool may_have_lines)
{
	char quote = *r->p, three[] = { quote, quote, quote, '\0' }, one[] = { quote, '\0' };
	bool lines = may_have_lines && toml_take(r, three);
	struct buf out = BUF(r->a);

	if (lines)
		toml_take(r, toml_next_is(r, "\r") ? "\r\n" : "\n");
	else
		r->p++;
	while (r->p < r->end && !toml_next_is(r, lines ? three : one)) {
		if (*r->p == '\\' && quote == '"') {
			r->p++;
			if (!add_escape(r, &out, lines))
				return NULL;
		} else if (!lines && (*r->p == '\n' || *r->p == '\r')) {
			break;
		} else {
			r->p += *r->p == '\r';
			buf_putc(&out, *r->p++);
		}
	}
	if (!toml_take(r, lines ? three : one)) {
		toml_wrong(r, "the string is not closed");
		return NULL;
	}
	/* Up to two more quotes belong to the text. */
	for (unsigned i = 0; lines && i < 2 && toml_take(r, one); i++)
		buf_putc(&out, quote);
	return buf_text(&out);
}

/* --- bare keys and plain values --- */

static bool
is_bare(char c)
{
	return is_alnum(c) || c == '_' || c == '-';
}

const char *
toml_bare_key(struct toml_reader *r)
{
	const char *start = r->p;

	while (r->p < r->end && is_bare(*r->p))
		r->p++;
	return r->p > start ? arena_copy(r->a, start, (size_t)(r->p - start)) : NULL;
}

/* Returns whether a day is in the calendar: "2026-02-29" is not. */
static bool
is_day(const char *s)
{
	static const char days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	unsigned year = 0, month, day;

	for (unsigned i = 0; i < 4; i++)
		year = year * 10 + (unsigned)(s[i] - '0');
	month = (unsigned)(s[5] - '0') * 10 + (unsigned)(s[6] - '0');
	day = (unsigned)(s[8] - '0') * 10 + (unsigned)(s[9] - '0');
	return year && month && month <= 12 && day &&
	       (day <= (unsigned)days[month - 1] ||
		(month == 2 && day == 29 && !(year % 4) && (year % 100 || !(year % 400))));
}

#define DATE "[0-9]{4}-[0-9]{2}-[0-9]{2}"
#define TIME "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]+)?"
#define INTEGER "(0|[1-9](_?[0-9])*)"
#define DIGITS "[0-9](_?[0-9])*"

/* Returns true for a boolean, a number, a date or a time. */
static bool
is_plain_value(const char *s)
{
	if (str_matches(s, "^" DATE "([Tt ]" TIME "([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])?)?$"))
		return is_day(s);
	return str_matches(s, "^(true|false|[+-]?(inf|nan))$") ||
	       str_matches(s, "^[+-]?" INTEGER "(\\." DIGITS ")?([eE][+-]?" DIGITS ")?$") ||
	       str_matches(s,
			   "^0(x[0-9a-fA-F](_?[0-9a-fA-F])*|o[0-7](_?[0-7])*|b[01](_?[01])*)$") ||
	       str_matches(s, "^" TIME "$");
}

const char *
toml_plain(struct toml_reader *r)
{
	const char *start = r->p, *text;

	while (r->p < r->end && (is_bare(*r->p) || strchr("+.:", *r->p)))
		r->p++;
	text = arena_copy(r->a, start, (size_t)(r->p - start));
	if (str_matches(text, "^" DATE "$") && r->end - r->p > 1 && *r->p == ' ' &&
	    is_digit(r->p[1])) {
		for (r->p++; r->p < r->end && (is_bare(*r->p) || strchr("+.:", *r->p));)
			r->p++;
		text = arena_copy(r->a, start, (size_t)(r->p - start));
	}
	if (is_plain_value(text))
		return text;
	r->p = start;
	toml_wrong(r, *text ? "no value, or a text without quotes" : "a value is missing");
	return NULL;
}

void
toml_quote(struct buf *out, const char *s)
{
	buf_putc(out, '"');
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			buf_putc(out, '\\');
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			buf_printf(out, "\\u%04x", (unsigned char)*s);
		else
			buf_putc(out, *s);
	}
	buf_putc(out, '"');
}
