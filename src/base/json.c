#include "json.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "diag.h"
#include "str.h"

struct json
json_to(struct buf *out)
{
	return (struct json){ .out = out };
}

struct json
json_flat_to(struct buf *out)
{
	return (struct json){ .out = out, .flat = true };
}

/*
 * ASCII characters that need no escape in a string. A table is faster than comparisons, and
 * canonical recipes are long.
 */
static const bool plain[256] = {
	[' '] = true, ['!'] = true, ['#' ... '['] = true, [']' ... '~'] = true
};

void
json_quote(struct buf *out, const char *s)
{
	size_t left = strlen(s);

	buf_putc(out, '"');
	for (size_t n; left; s += n, left -= n) {
		uint32_t c;

		for (n = 0; plain[(unsigned char)s[n]];)
			n++;
		if (n) {
			buf_add(out, s, n);
			continue;
		}
		n = utf8_decode(s, left, &c);
		c = n ? c : 0xfffd;
		n += !n;
		if (c == '"' || c == '\\')
			buf_printf(out, "\\%c", (char)c);
		else if (c == '\n')
			buf_puts(out, "\\n");
		else if (c == '\t')
			buf_puts(out, "\\t");
		else if (c < 0x10000)
			buf_printf(out, "\\u%04x", c);
		else
			buf_printf(out, "\\u%04x\\u%04x", 0xd7c0 + (c >> 10), 0xdc00 + (c & 0x3ff));
	}
	buf_putc(out, '"');
}

/* Returns true if the current container is written on one line. */
static bool
is_flat(const struct json *j)
{
	return j->flat || (j->row && j->depth >= j->row);
}

static void
new_line(struct json *j)
{
	if (is_flat(j))
		return;
	buf_putc(j->out, '\n');
	for (unsigned i = 0; i < j->depth; i++)
		buf_puts(j->out, "  ");
}

static void
start(struct json *j, const char *key)
{
	if (j->depth) {
		if (j->any[j->depth])
			buf_puts(j->out, is_flat(j) ? ", " : ",");
		new_line(j);
		j->any[j->depth] = true;
	}
	if (key) {
		json_quote(j->out, key);
		buf_puts(j->out, ": ");
	}
}

static void
open(struct json *j, const char *key, char first, char last)
{
	start(j, key);
	buf_putc(j->out, first);
	if (++j->depth >= JSON_DEPTH_MAX)
		BUG("JSON nested too deep");
	j->any[j->depth] = false;
	j->close[j->depth] = last;
}

void
json_map(struct json *j, const char *key)
{
	open(j, key, '{', '}');
}

void
json_list(struct json *j, const char *key)
{
	open(j, key, '[', ']');
}

void
json_end(struct json *j)
{
	char last = j->close[j->depth];
	bool any = j->any[j->depth], flat = is_flat(j);

	if (j->row == j->depth)
		j->row = 0;
	j->depth--;
	if (any && !flat)
		new_line(j);
	buf_putc(j->out, last);
	if (!j->depth && !j->flat)
		buf_putc(j->out, '\n');
}

void
json_text(struct json *j, const char *key, const char *value)
{
	if (!value) {
		json_nil(j, key);
		return;
	}
	start(j, key);
	json_quote(j->out, value);
}

/*
 * Returns the shortest text of a number, with at most 6 decimals; many readers reject integers of
 * 20 digits.
 */
static const char *
number_text(struct json *j, double value)
{
	bool huge = value >= 1e15 || value <= -1e15;
	char *digits = arena_printf(j->out->a, huge ? "%.17g" : "%.6f", value);
	size_t n = strlen(digits);

	while (!huge && digits[n - 1] == '0')
		n--;
	digits[n - (digits[n - 1] == '.')] = '\0';
	return digits;
}

void
json_number(struct json *j, const char *key, double value)
{
	json_raw(j, key, number_text(j, value));
}

void
json_int(struct json *j, const char *key, long long value)
{
	json_raw(j, key, arena_printf(j->out->a, "%lld", value));
}

void
json_bool(struct json *j, const char *key, bool value)
{
	json_raw(j, key, value ? "true" : "false");
}

void
json_names(struct json *j, const char *key, const struct names *all)
{
	json_list(j, key);
	for (size_t i = 0; i < all->n; i++)
		json_text(j, NULL, all->at[i]);
	json_end(j);
}

void
json_raw(struct json *j, const char *key, const char *value)
{
	start(j, key);
	buf_puts(j->out, value);
}

void
json_nil(struct json *j, const char *key)
{
	json_raw(j, key, "null");
}

/*
 * Returns the token at `p`, a text in quotes or a word, in the arena of the output; *end is after
 * it.
 */
static const char *
token(struct json *j, const char *p, const char **end)
{
	bool quoted = *p == '\'';
	size_t n = quoted ? strcspn(++p, "'") : strcspn(p, ":, ]})");

	*end = p + n + quoted;
	return arena_copy(j->out->a, p, n);
}

/* Returns the argument of a conversion, as JSON; NULL: it is a text, in *text. */
static const char *
argument(struct json *j, char conversion, va_list *ap, const char **text)
{
	switch (conversion) {
	case 'd': return arena_printf(j->out->a, "%d", va_arg(*ap, int));
	case 'b': return va_arg(*ap, int) ? "true" : "false";
	case 'f': return number_text(j, va_arg(*ap, double));
	default: *text = va_arg(*ap, const char *); return NULL;
	}
}

void
json_put(struct json *j, const char *fmt, ...)
{
	const char *key = NULL, *text, *raw;
	va_list ap;

	va_start(ap, fmt);
	for (const char *p = fmt, *end; *p; p = end) {
		end = p + 1;
		if (*p == ' ' || *p == ',')
			continue;
		if (*p == '{' || *p == '[') {
			open(j, key, *p, *p == '{' ? '}' : ']');
		} else if (*p == '(') {
			open(j, key, '{', '}');
			j->row = j->row ? j->row : j->depth;
		} else if (strchr("}])", *p)) {
			json_end(j);
		} else if (starts_with(p, "%n")) {
			json_names(j, key, va_arg(ap, const struct names *));
			end++;
		} else {
			text = token(j, p, &end);
			raw = *p == '\'' ? NULL : text;
			if (raw && *raw == '%')
				raw = argument(j, raw[1], &ap, &text);
			if (*end == ':') {
				key = text;
				end++;
				continue;
			}
			if (raw)
				json_raw(j, key, raw);
			else if (text || !starts_with(p, "%o"))
				json_text(j, key, text);
		}
		key = NULL;
	}
	va_end(ap);
}
