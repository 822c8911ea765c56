#include "internal.h"

/*
 * Decodes the forms in which engines and terminals wrap the text of a log: escape sequences of
 * ECMA-48, and progress records, JSON with one object a line:
 *
 *     {"logs":[{"vertex":"sha256:...","stream":2,"data":"<base64>"}]}    BuildKit, --progress rawjson
 *     {"stream":"text\n"}    {"errorDetail":{"message":"..."},"error":"..."}    Docker
 */

enum { SEQUENCE_MAX = 256 }; /* maximum bytes of an escape sequence */

/* Processes a byte of a sequence. */
static void
escapes_step(struct escapes *e, char c)
{
	if (++e->n > SEQUENCE_MAX || c == '\n')
		e->state = PLAIN;
	else if (e->state == ESCAPE)
		e->state = c == '[' ? CSI : c == ']' ? OSC : c >= ' ' && c < '0' ? ESCAPE : PLAIN;
	else if (e->state == CSI && c >= '@' && c <= '~')
		e->state = PLAIN;
	else if (e->state == OSC && c == '\a')
		e->state = PLAIN;
	else if (c == '\033')
		e->state = ESCAPE;
}

size_t
escapes_strip(struct escapes *e, char *p, size_t n)
{
	const char *first = e->state == PLAIN ? memchr(p, '\033', n) : p;
	size_t out = first ? (size_t)(first - p) : n;

	for (size_t i = out; i < n; i++) {
		if (e->state != PLAIN) {
			escapes_step(e, p[i]);
			if (p[i] == '\n')
				p[out++] = '\n';
		} else if (p[i] == '\033') {
			*e = (struct escapes){ ESCAPE, 0 };
		} else {
			p[out++] = p[i];
		}
	}
	return out;
}

static int
base64_value(char c)
{
	return c >= 'A' && c <= 'Z' ? c - 'A' :
	       is_alpha(c)          ? c - 'a' + 26 :
	       is_digit(c)          ? c - '0' + 52 :
	       c == '+'             ? 62 :
	       c == '/'             ? 63 :
				      -1;
}

/* Decodes base64 (RFC 4648, 4) up to the first character outside the alphabet. */
static size_t
base64_decode(struct str s, char *out, size_t *used)
{
	uint32_t bits = 0;
	size_t n = 0, i;

	for (i = 0; i < s.n && base64_value(s.p[i]) >= 0; i++) {
		bits = bits << 6 | (uint32_t)base64_value(s.p[i]);
		if (i % 4)
			out[n++] = (char)(bits >> (6 - 2 * (i % 4)));
	}
	*used = i;
	return n;
}

/* Decodes a character after a backslash, RFC 8259, 7; a character outside ASCII becomes `?`. */
static char
unescape(struct str s, size_t *used)
{
	unsigned point = 0;

	*used = 2;
	switch (s.p[1]) {
	case 'n': return '\n';
	case 'r': return '\r';
	case 't': return '\t';
	case 'u': break;
	default: return s.p[1];
	}
	for (size_t i = 2; i < 6 && i < s.n; i++, *used = i)
		point = point * 16 + (unsigned)(is_digit(s.p[i]) ?
							s.p[i] - '0' :
							(to_lower(s.p[i]) - 'a' + 10) & 15);
	if (point == 0x2018 || point == 0x2019)
		return '\'';
	return point < 0x80 ? (char)point : '?';
}

size_t
record_decode(struct str line, char *out)
{
	static const struct str data = { "\"data\":\"", 8 };
	size_t n = 0, used;

	for (size_t i = 0; i < line.n; i += used) {
		struct str rest = { line.p + i, line.n - i };

		used = 1;
		if (rest.n > data.n && !memcmp(rest.p, data.p, data.n)) {
			rest.p += data.n;
			rest.n -= data.n;
			out[n++] = '\n';
			n += base64_decode(rest, out + n, &used);
			used += data.n;
		} else if (*rest.p == '\\' && rest.n > 1) {
			out[n++] = unescape(rest, &used);
		} else {
			out[n++] = *rest.p;
		}
	}
	return escapes_strip(&(struct escapes){ PLAIN, 0 }, out, n);
}
