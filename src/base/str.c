#include "str.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "diag.h"

bool
str_matches(const char *s, const char *pattern)
{
	enum { PATTERNS_MAX = 128 };
	static struct {
		const char *pattern;
		pcre2_code *code;
	} known[PATTERNS_MAX];
	static pcre2_match_data *match;
	const uint32_t options = PCRE2_DOLLAR_ENDONLY | PCRE2_DOTALL | PCRE2_NO_AUTO_CAPTURE;
	PCRE2_SIZE at;
	size_t i = 0;
	int why;

	while (i < PATTERNS_MAX && known[i].pattern && known[i].pattern != pattern)
		i++;
	if (i == PATTERNS_MAX)
		BUG("more than %d patterns", PATTERNS_MAX);
	if (!known[i].pattern) {
		known[i].code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, options,
					      &why, &at, NULL);
		if (!known[i].code)
			BUG("the pattern %s", pattern);
		known[i].pattern = pattern;
	}
	if (!match)
		match = pcre2_match_data_create(1, NULL);
	return pcre2_match(known[i].code, (PCRE2_SPTR)s, PCRE2_ZERO_TERMINATED, 0, 0, match,
			   NULL) >= 0;
}

size_t
utf8_decode(const char *p, size_t n, uint32_t *point)
{
	static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned char c = (unsigned char)*p;
	size_t len = c < 0x80 ? 1 : c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 0;

	if (!len || len > n)
		return 0;
	*point = len > 1 ? c & (0x7fu >> len) : c;
	for (size_t i = 1; i < len; i++) {
		if (starts_character(p[i]))
			return 0;
		*point = *point << 6 | ((unsigned char)p[i] & 0x3fu);
	}
	return *point < smallest[len] || *point > 0x10ffff ||
			       (*point >= 0xd800 && *point < 0xe000) ?
		       0 :
		       len;
}

bool
utf8_invisible(uint32_t c)
{
	static const uint32_t ranges[][2] = {
		{ 0, 0x08 },          { 0x0a, 0x1f },       { 0x7f, 0x9f },
		{ 0xad, 0xad },       { 0x600, 0x605 },     { 0x61c, 0x61c },
		{ 0x6dd, 0x6dd },     { 0x70f, 0x70f },     { 0x890, 0x891 },
		{ 0x8e2, 0x8e2 },     { 0x180e, 0x180e },   { 0x200b, 0x200f },
		{ 0x2028, 0x202e },   { 0x2060, 0x206f },   { 0xfeff, 0xfeff },
		{ 0xfff9, 0xfffb },   { 0xfffe, 0xffff },   { 0x110bd, 0x110bd },
		{ 0x110cd, 0x110cd }, { 0x13430, 0x1343f }, { 0x1bca0, 0x1bca3 },
		{ 0x1d173, 0x1d17a }, { 0xe0000, 0xe007f },
	};

	for (size_t i = 0; i < COUNT(ranges); i++)
		if (c <= ranges[i][1])
			return c >= ranges[i][0];
	return false;
}

size_t
utf8_bytes(const char *p, size_t n, size_t columns)
{
	size_t i = 0;

	for (; i < n && columns; columns--)
		for (i++; i < n && !starts_character(p[i]);)
			i++;
	return i;
}

enum { LONGEST = 64 }; /* longer words are not typing mistakes of one another */

/* Returns the optimal string alignment distance; it ignores case. */
static size_t
distance(const char *a, size_t n, const char *b, size_t m)
{
	size_t d[3][LONGEST + 1];

	for (size_t j = 0; j <= m; j++)
		d[0][j] = j;
	for (size_t i = 1; i <= n; i++) {
		size_t *now = d[i % 3], *before = d[(i + 2) % 3], *two = d[(i + 1) % 3];

		now[0] = i;
		for (size_t j = 1; j <= m; j++) {
			bool same = to_lower(a[i - 1]) == to_lower(b[j - 1]);
			size_t best = before[j - 1] + !same;

			if (before[j] + 1 < best)
				best = before[j] + 1;
			if (now[j - 1] + 1 < best)
				best = now[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    two[j - 2] + 1 < best)
				best = two[j - 2] + 1;
			now[j] = best;
		}
	}
	return d[n % 3][m];
}

const char *
str_nearest(const char *word, const char *const *words, size_t n)
{
	size_t len = strlen(word), best = SIZE_MAX;
	const char *found = NULL;

	if (!len || len > LONGEST)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		size_t m = strlen(words[i]);

		if (!m || m > LONGEST)
			continue;
		size_t far = distance(word, len, words[i], m);
		size_t limit = (len > m ? len : m) / 3;

		if (far <= (limit ? limit : 1) && far < best) {
			best = far;
			found = words[i];
		}
	}
	return found;
}

bool
among(const char *s, const char *list)
{
	size_t n = strlen(s);

	for (const char *p = list; n && (p = strstr(p, s)); p += n)
		if ((p == list || p[-1] == ' ') && (!p[n] || p[n] == ' '))
			return true;
	return false;
}

const char *
bytes_words(struct arena *a, double bytes)
{
	static const char *const units[] = { "B", "kB", "MB", "GB", "TB" };
	size_t unit = 0;

	for (; bytes >= 999.5 && unit < 4; unit++)
		bytes /= 1000;
	return unit && bytes < 99.95 ? arena_printf(a, "%.1f %s", bytes, units[unit]) :
				       arena_printf(a, "%.0f %s", bytes, units[unit]);
}
