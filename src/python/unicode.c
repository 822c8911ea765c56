#include "python/internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"
#include "python/unicode_table.h"

enum {
	CAPITAL_SIGMA = 0x3a3,
	SMALL_SIGMA = 0x3c3,
	FINAL_SIGMA = 0x3c2,
	CAPITAL_I_DOT = 0x130,
	DOT_ABOVE = 0x307,
};

static int
rank_of(char c)
{
	return c == '\0' ? -1 : c == UNICODE_NUL[0] ? 0 : (unsigned char)c;
}

int
unicode_cmp(const char *x, const char *y)
{
	while (*x && *x == *y) {
		x++;
		y++;
	}
	return rank_of(*x) - rank_of(*y);
}

static int
cmp_texts(const void *x, const void *y)
{
	return unicode_cmp(*(const char *const *)x, *(const char *const *)y);
}

void
unicode_sort(struct names *texts)
{
	size_t n = 0;

	if (texts->n)
		qsort(texts->at, texts->n, sizeof(texts->at[0]), cmp_texts);
	for (size_t i = 0; i < texts->n; i++)
		if (!n || strcmp(texts->at[n - 1], texts->at[i]))
			texts->at[n++] = texts->at[i];
	texts->n = n;
}

unsigned
unicode_classes_of(uint32_t cp)
{
	uint32_t end = 0, n;
	const char *set = NULL;

	if (cp > 0x10ffff)
		return 0;
	for (const char *p = unicode_classes; end <= cp; end += n ? n : 1) {
		set = p++;
		for (n = 0; is_digit(*p); p++)
			n = n * 10 + (uint32_t)(*p - '0');
	}
	return unicode_sets[*set - 'A'];
}

size_t
unicode_next(const char *s, size_t n, uint32_t *cp)
{
	size_t len = utf8_decode(s, n, cp);

	if (len)
		return len;
	*cp = UINT32_MAX;
	if (n < 3 || (unsigned char)s[0] != 0xed || starts_character(s[1]) ||
	    starts_character(s[2]))
		return 1;
	*cp = 0xd000u | (s[1] & 0x3fu) << 6 | (s[2] & 0x3fu);
	return 3;
}

size_t
unicode_put(char *out, uint32_t cp)
{
	static const unsigned char first[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
	size_t n = cp < 0x80 ? 1 : cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;

	for (size_t i = n; i-- > 1; cp >>= 6)
		out[i] = (char)(0x80 | (cp & 0x3f));
	out[0] = (char)(first[n] | cp);
	return n;
}

size_t
unicode_space(const char *s, size_t n)
{
	uint32_t cp = n ? (unsigned char)*s : 0;
	size_t len;

	if (cp < 0x80)
		return cp == ' ' || (cp >= 9 && cp <= 13) || (cp >= 0x1c && cp <= 0x1f);
	len = unicode_next(s, n, &cp);
	return unicode_classes_of(cp) & UNI_SPACE ? len : 0;
}

/* Returns the character that ends at s + n, read backwards. */
static size_t
before(const char *s, size_t n, uint32_t *cp)
{
	for (size_t len = n < 4 ? n : 4; len > 1; len--)
		if (unicode_next(s + n - len, len, cp) == len)
			return len;
	unicode_next(s + n - 1, 1, cp);
	return 1;
}

size_t
unicode_space_before(const char *s, size_t n)
{
	uint32_t cp;
	size_t len;

	if (!n)
		return 0;
	if ((unsigned char)s[n - 1] < 0x80)
		return unicode_space(s + n - 1, 1);
	len = before(s, n, &cp);
	return unicode_space(s + n - len, len) == len ? len : 0;
}

/* Returns the lower case of the capital sigma at `at`: final if letters precede it and none follow
 * it. */
static uint32_t
lower_sigma(const char *s, size_t n, size_t at)
{
	uint32_t cp = 0;
	unsigned classes = UNI_IGNORED;

	for (size_t i = at; i && classes & UNI_IGNORED;) {
		i -= before(s, i, &cp);
		classes = unicode_classes_of(cp);
	}
	if (!(classes & UNI_CASED))
		return SMALL_SIGMA;
	classes = UNI_IGNORED;
	for (size_t i = at + 2; i < n && classes & UNI_IGNORED;) {
		i += unicode_next(s + i, n - i, &cp);
		classes = unicode_classes_of(cp);
	}
	return classes & UNI_CASED ? SMALL_SIGMA : FINAL_SIGMA;
}

static uint32_t
lower(uint32_t cp)
{
	long first, last = 0, point = (long)cp;
	char *p;

	for (const char *run = unicode_lower; *run; run = p) {
		long step, delta;

		first = last + strtol(run, &p, 10);
		last = first + strtol(p, &p, 10);
		step = strtol(p, &p, 10);
		delta = strtol(p, &p, 10);
		if (point <= last)
			return point < first || (point - first) % step ? cp :
									 (uint32_t)(point + delta);
	}
	return cp;
}

static void
lower_next(struct buf *b, const char *s, size_t n, size_t *at)
{
	uint32_t cp;
	char text[4];
	size_t len = unicode_next(s + *at, n - *at, &cp);

	if (cp == UINT32_MAX) {
		buf_add(b, s + *at, len);
	} else if (cp == CAPITAL_I_DOT) {
		buf_putc(b, 'i');
		buf_add(b, text, unicode_put(text, DOT_ABOVE));
	} else {
		cp = cp == CAPITAL_SIGMA ? lower_sigma(s, n, *at) : lower(cp);
		buf_add(b, text, unicode_put(text, cp));
	}
	*at += len;
}

char *
unicode_lower_of(struct arena *a, const char *s, size_t n)
{
	struct buf b = BUF(a);
	char *copy = arena_copy(a, s, n);
	size_t i = 0;

	while (i < n && (unsigned char)s[i] < 0x80) {
		copy[i] = to_lower(s[i]);
		i++;
	}
	if (i == n)
		return copy;
	buf_add(&b, copy, i);
	while (i < n) {
		if ((unsigned char)s[i] < 0x80)
			buf_putc(&b, to_lower(s[i++]));
		else
			lower_next(&b, s, n, &i);
	}
	return b.p;
}
