#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "python/unicode.h"
#include "python/version.h"

/*
 * The grammar, after PEP 427 and packaging:
 *
 *     file     = name "-" version ("-" build)? "-" tags "-" tags "-" tags ".whl"
 *     name     = [\w._]+ without "__"
 *     build    = digits .*
 *     tags     = tag ("." tag)*       the first ones are identifiers
 */

/* What "a.b-c.d-e.f" may stand for; file names of 255 bytes cannot say that much in earnest. */
enum { TAGS_MAX = 1 << 16, PARTS = 3 };

static bool
is_project(struct str s)
{
	uint32_t cp;

	if (!s.n)
		return false;
	for (size_t i = 0; i < s.n; i += unicode_next(s.p + i, s.n - i, &cp)) {
		unicode_next(s.p + i, s.n - i, &cp);
		if (s.p[i] == '_' && i + 1 < s.n && s.p[i + 1] == '_')
			return false;
		if (s.p[i] != '.' && !(unicode_classes_of(cp) & UNI_WORD))
			return false;
	}
	return true;
}

static bool
is_identifier(const char *s)
{
	size_t n = strlen(s);
	unsigned class = UNI_ID_START;
	uint32_t cp;

	for (size_t i = 0; i < n; class = UNI_ID_PART) {
		i += unicode_next(s + i, n - i, &cp);
		if (!(unicode_classes_of(cp) & class))
			return false;
	}
	return n > 0;
}

/* "007a" -> "7a"; packaging stops at a line end. */
static const char *
read_build(struct arena *a, struct str s)
{
	const char *line = memchr(s.p, '\n', s.n);
	size_t digits = 0, zeros = 0;

	while (digits < s.n && is_digit(s.p[digits]))
		digits++;
	if (!digits || digits > VERSION_DIGITS_MAX)
		return NULL;
	while (zeros + 1 < digits && s.p[zeros] == '0')
		zeros++;
	return arena_copy(a, s.p + zeros, (line ? (size_t)(line - s.p) : s.n) - zeros);
}

/* "a.b" -> a, b; false: one is empty. */
static bool
split_tags(struct arena *a, struct str s, struct names *out)
{
	for (const char *p = s.p, *end = s.p + s.n;;) {
		const char *dot = memchr(p, '.', (size_t)(end - p));
		const char *stop = dot ? dot : end;

		if (stop == p)
			return false;
		list_push(a, out, arena_copy(a, p, (size_t)(stop - p)));
		if (!dot)
			return true;
		p = dot + 1;
	}
}

static int
cmp_tag(const void *x, const void *y)
{
	return unicode_cmp(*(const char *const *)x, *(const char *const *)y);
}

static bool
read_tags(struct arena *a, const struct str *parts, struct names *out)
{
	struct names split[PARTS] = { { 0 } };
	size_t n = 0, all = 1;

	for (size_t i = 0; i < PARTS; i++) {
		if (!split_tags(a, parts[i], &split[i]) || split[i].n > TAGS_MAX / all)
			return false;
		all *= split[i].n;
	}
	for (size_t i = 0; i < split[0].n; i++)
		if (!is_identifier(split[0].at[i]))
			return false;
	for (size_t i = 0; i < PARTS; i++)
		for (size_t j = 0; j < split[i].n; j++)
			split[i].at[j] =
				unicode_lower_of(a, split[i].at[j], strlen(split[i].at[j]));
	for (size_t i = 0; i < split[0].n; i++)
		for (size_t j = 0; j < split[1].n; j++)
			for (size_t k = 0; k < split[2].n; k++)
				list_push(a, out,
					  arena_printf(a, "%s-%s-%s", split[0].at[i],
						       split[1].at[j], split[2].at[k]));
	qsort(out->at, out->n, sizeof(out->at[0]), cmp_tag);
	for (size_t i = 0; i < out->n; i++)
		if (!n || strcmp(out->at[n - 1], out->at[i]))
			out->at[n++] = out->at[i];
	out->n = n;
	return true;
}

/* Cut s at its dashes: the count of the parts, or 0 if there are more than `max`. */
static size_t
split_dashes(const char *s, size_t n, struct str *parts, size_t max)
{
	size_t count = 0;

	for (const char *p = s, *end = s + n;;) {
		const char *dash = memchr(p, '-', (size_t)(end - p));

		if (count == max)
			return 0;
		parts[count++] = (struct str){ p, (size_t)((dash ? dash : end) - p) };
		if (!dash)
			return count;
		p = dash + 1;
	}
}

const struct wheel_file *
wheel_file_parse(struct arena *a, const char *file_name)
{
	struct wheel_file *w = arena_new_of(a, struct wheel_file);
	struct str parts[6];
	size_t n;

	if (!ends_with(file_name, ".whl"))
		return NULL;
	n = split_dashes(file_name, strlen(file_name) - 4, parts, 6);
	if (n < 5 || !is_project(parts[0]))
		return NULL;
	w->name = name_normalize(a, arena_copy(a, parts[0].p, parts[0].n));
	w->version = version_of(a, parts[1].p, parts[1].n);
	if (!w->version)
		return NULL;
	if (n == 6) {
		w->build = read_build(a, parts[2]);
		if (!w->build)
			return NULL;
	}
	return read_tags(a, parts + n - PARTS, &w->tags) ? w : NULL;
}
