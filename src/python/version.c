#include "python/version.h"

#include <string.h>

#include "base/str.h"
#include "python/unicode.h"

/*
 * The grammar, after PEP 440's appendix B; letters in either case:
 *
 *     version = "v"? (digits "!")? digits ("." digits)* pre? post? dev? local?
 *     pre     = sep? ("alpha" | "a" | "beta" | "b" | "preview" | "pre" | "c" | "rc") count
 *     post    = "-" digits | sep? ("post" | "rev" | "r") count
 *     dev     = sep? "dev" count
 *     count   = sep? digits?
 *     local   = "+" part (sep part)*
 *     sep     = "." | "_" | "-"
 *
 * No step needs to be taken back: a sep that no word follows belongs to what comes next.
 */
struct reader {
	const char *p, *end;
	uint64_t *w; /* the next word */
	bool huge;
};

struct word {
	const char *text;
	enum version_rank rank;
};

static const struct word pre_words[] = {
	{ "alpha", RANK_A },    { "a", RANK_A },    { "beta", RANK_B }, { "b", RANK_B },
	{ "preview", RANK_RC }, { "pre", RANK_RC }, { "c", RANK_RC },   { "rc", RANK_RC },
};
static const struct word post_words[] = { { "post", 0 }, { "rev", 0 }, { "r", 0 } };
static const struct word dev_words[] = { { "dev", 0 } };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool
is_sep(char c)
{
	return c == '.' || c == '_' || c == '-';
}

static const char *
skip_digits(const char *p, const char *end)
{
	while (p < end && is_digit(*p))
		p++;
	return p;
}

/* The number d[0..end) as words; `small` and `big` are added to its first one. */
static void
put_number(struct reader *r, const char *d, const char *end, uint64_t small, uint64_t big)
{
	uint64_t value = 0;

	r->huge = r->huge || end - d > VERSION_DIGITS_MAX;
	while (d < end && *d == '0')
		d++;
	if (end - d > VERSION_DIGITS)
		*r->w++ = big + (uint64_t)(end - d);
	else
		big = 0;
	for (size_t i = 0; d < end; i++, d++) {
		if (i && i % VERSION_DIGITS == 0) {
			*r->w++ = value + 1;
			value = 0;
		}
		value = value * 10 + (uint64_t)(*d - '0');
	}
	*r->w++ = value + (big ? 1 : small);
}

/* One of the words, after a separator or none, in any case: what follows it, or NULL. */
static const char *
find_word(const struct reader *r, const struct word *words, size_t n, enum version_rank *rank)
{
	const char *p = r->p;

	if (p < r->end && is_sep(*p))
		p++;
	if (p == r->end || !is_alpha(*p))
		return NULL;
	for (size_t i = 0; i < n; i++) {
		const char *w = words[i].text, *q = p;

		while (*w && q < r->end && to_lower(*q) == *w) {
			w++;
			q++;
		}
		if (!*w) {
			*rank = words[i].rank;
			return q;
		}
	}
	return NULL;
}

/* What stands after a word: a separator, a number; both may be missing (then it is 0). */
static void
read_count(struct reader *r, const char *p, uint64_t small, uint64_t big)
{
	const char *d;

	if (p < r->end && is_sep(*p))
		p++;
	d = p;
	r->p = skip_digits(p, r->end);
	put_number(r, d, r->p, small, big);
}

static bool
read_epoch_and_release(struct reader *r, size_t *zeros)
{
	const char *end = skip_digits(r->p, r->end);
	uint64_t *last;

	if (end == r->p)
		return false;
	if (end < r->end && *end == '!') {
		put_number(r, r->p, end, 1, VERSION_BIG);
		r->p = end + 1;
		end = skip_digits(r->p, r->end);
		if (end == r->p)
			return false;
	} else {
		*r->w++ = VERSION_ZERO;
	}
	last = r->w;
	*zeros = 0;
	for (;;) {
		uint64_t *w = r->w;

		put_number(r, r->p, end, 1, VERSION_BIG);
		*zeros = *w == VERSION_ZERO ? *zeros + 1 : 0;
		if (!*zeros)
			last = r->w;
		r->p = end;
		if (end == r->end || *end != '.')
			break;
		end = skip_digits(end + 1, r->end);
		if (end == r->p + 1)
			break;
		r->p++;
	}
	r->w = last;
	*r->w++ = VERSION_END;
	return true;
}

static bool
read_post(struct reader *r)
{
	enum version_rank rank;
	const char *p;

	if (r->end - r->p > 1 && *r->p == '-' && is_digit(r->p[1])) {
		p = r->p + 1;
		r->p = skip_digits(p, r->end);
		put_number(r, p, r->p, 1, VERSION_BIG);
		return true;
	}
	p = find_word(r, post_words, COUNT(post_words), &rank);
	if (p)
		read_count(r, p, 1, VERSION_BIG);
	else
		*r->w++ = 0;
	return p;
}

static void
read_suffix(struct reader *r, struct version *v)
{
	enum version_rank rank = RANK_FINAL;
	const char *p = find_word(r, pre_words, COUNT(pre_words), &rank);
	uint64_t *pre = r->w, base = (uint64_t)rank << VERSION_RANK_SHIFT;
	bool is_post;

	if (!p)
		*r->w++ = base;
	else
		read_count(r, p, base, base | VERSION_PRE_BIG);
	v->is_pre = p;
	v->n_pre = (size_t)(r->w - v->key);
	is_post = read_post(r);
	p = find_word(r, dev_words, COUNT(dev_words), &rank);
	if (!p) {
		*r->w++ = VERSION_NO_DEV;
		return;
	}
	if (!v->is_pre && !is_post)
		*pre = (uint64_t)RANK_DEV_ONLY;
	v->is_pre = true;
	read_count(r, p, 1, VERSION_BIG);
}

/* "Ubuntu-007" -> "ubuntu.7" */
static bool
read_local(struct reader *r, char *out)
{
	r->p++;
	for (;;) {
		const char *start = r->p, *digits = skip_digits(start, r->end);

		while (r->p < r->end && is_alnum(*r->p))
			r->p++;
		if (r->p == start)
			return false;
		if (digits == r->p) {
			r->huge = r->huge || digits - start > VERSION_DIGITS_MAX;
			while (start + 1 < r->p && *start == '0')
				start++;
		}
		while (start < r->p)
			*out++ = to_lower(*start++);
		if (r->p == r->end || !is_sep(*r->p))
			break;
		*out++ = '.';
		r->p++;
	}
	*out = '\0';
	return true;
}

bool
version_read(const char *s, size_t n, struct version_room room, struct version *out)
{
	struct reader r = { .p = s, .end = s + n, .w = room.words };
	size_t len;

	while ((len = unicode_space(r.p, (size_t)(r.end - r.p))) > 0)
		r.p += len;
	while ((len = unicode_space_before(r.p, (size_t)(r.end - r.p))) > 0)
		r.end -= len;
	if (r.p < r.end && to_lower(*r.p) == 'v')
		r.p++;
	*out = (struct version){ .key = room.words };
	if (!read_epoch_and_release(&r, &out->zeros))
		return false;
	read_suffix(&r, out);
	out->n = (size_t)(r.w - room.words);
	if (r.p < r.end && *r.p == '+') {
		if (!read_local(&r, room.local))
			return false;
		out->local = room.local;
	}
	out->huge = r.huge;
	return r.p == r.end;
}

const struct version *
version_of_any_size(struct arena *a, const char *s, size_t n)
{
	enum { SMALL = 40 };
	uint64_t words[SMALL + VERSION_WORDS];
	char local[SMALL + 1];
	struct version_room room = { words, local };
	struct version v;
	struct {
		struct version v;
		uint64_t key[];
	} * kept;

	if (n > SMALL) {
		room.words = arena_array_of(a, uint64_t, n + VERSION_WORDS);
		room.local = arena_alloc(a, n + 1, 1);
	}
	if (!version_read(s, n, room, &v))
		return NULL;
	kept = arena_alloc(a, sizeof(*kept) + v.n * sizeof(*v.key), _Alignof(struct version));
	memcpy(kept->key, v.key, v.n * sizeof(*v.key));
	v.key = kept->key;
	if (v.local)
		v.local = arena_strdup(a, v.local);
	kept->v = v;
	return &kept->v;
}

const struct version *
version_of(struct arena *a, const char *s, size_t n)
{
	const struct version *v = version_of_any_size(a, s, n);

	return v && !v->huge ? v : NULL;
}

const struct version *
version_parse(struct arena *a, const char *text)
{
	return version_of(a, text, strlen(text));
}

static size_t
series_length(const char *text)
{
	size_t n = strcspn(text, ".");

	return text[n] ? n + 1 + strcspn(text + n + 1, ".") : n;
}

const char *
version_series(struct arena *a, const char *text)
{
	return arena_copy(a, text, series_length(text));
}

bool
version_same_series(const char *x, const char *y)
{
	return x && y && series_length(x) == series_length(y) && !strncmp(x, y, series_length(x));
}
