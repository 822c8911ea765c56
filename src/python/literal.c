#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"
#include "python/internal.h"

/* Reads exactly `n` hexadecimal digits, at most 8; returns the text after them, or NULL. */
static const char *
read_hex(const char *p, const char *end, size_t n, uint32_t *cp)
{
	char digits[9] = "";

	if ((size_t)(end - p) < n)
		return NULL;
	memcpy(digits, p, n);
	*cp = (uint32_t)strtoul(digits, NULL, 16);
	return strspn(digits, "0123456789abcdefABCDEF") == n && *cp <= 0x10ffff ? p + n : NULL;
}

static const char *
read_octal(const char *p, const char *end, uint32_t *cp)
{
	const char *stop = end - p > 3 ? p + 3 : end;

	for (*cp = 0; p < stop && *p >= '0' && *p <= '7'; p++)
		*cp = *cp << 3 | (uint32_t)(*p - '0');
	return p;
}

/*
 * Reads the escape at `p`, after its backslash; returns the text after it, or NULL. \N{name} is
 * rejected: it needs the names of all characters, and markers do not use it.
 */
static const char *
read_escape(struct buf *b, const char *p, const char *end)
{
	static const char from[] = "\\'\"abfnrtv", to[] = "\\'\"\a\b\f\n\r\t\v";
	const char *plain = strchr(from, *p);
	uint32_t cp;
	char text[4];

	if (plain) {
		buf_putc(b, to[plain - from]);
		return p + 1;
	}
	if (*p == '\n')
		return p + 1;
	if (*p == '\r')
		return p + (end - p > 1 && p[1] == '\n' ? 2 : 1);
	if (*p >= '0' && *p <= '7')
		p = read_octal(p, end, &cp);
	else if (*p == 'x')
		p = read_hex(p + 1, end, 2, &cp);
	else if (*p == 'u')
		p = read_hex(p + 1, end, 4, &cp);
	else if (*p == 'U')
		p = read_hex(p + 1, end, 8, &cp);
	else if (*p == 'N')
		return NULL;
	else {
		buf_putc(b, '\\');
		return p;
	}
	if (!p)
		return NULL;
	if (cp)
		buf_add(b, text, unicode_put(text, cp));
	else
		buf_puts(b, UNICODE_NUL);
	return p;
}

const char *
literal_value(struct arena *a, const char *s, size_t n)
{
	const char *p = s + 1, *end = s + n - 1;
	struct buf b = BUF(a);

	while (p < end && *p != '\\' && *p != '\n' && *p != '\r' && *p != UNICODE_NUL[0])
		p++;
	if (p == end)
		return arena_copy(a, s + 1, n - 2);
	if (memmem(s, n, UNICODE_NUL, strlen(UNICODE_NUL)))
		return NULL;
	p = s + 1;
	while (p && p < end) {
		if (*p == '\n' || *p == '\r')
			return NULL;
		if (*p != '\\')
			buf_putc(&b, *p++);
		else if (++p == end)
			return NULL;
		else
			p = read_escape(&b, p, end);
	}
	return p ? buf_text(&b) : NULL;
}
