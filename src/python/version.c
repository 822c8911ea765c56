#include "python/internal.h"

#include <limits.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"

/*
 * The grammar of PEP 440's appendix B, ignoring case:
 *
 *     version = "v"? (digits "!")? digits ("." digits)* pre? post? dev? local?
 *     pre     = sep? ("alpha" | "a" | "beta" | "b" | "preview" | "pre" | "c" | "rc") count
 *     post    = "-" digits | sep? ("post" | "rev" | "r") count
 *     dev     = sep? "dev" count
 *     count   = sep? digits?
 *     local   = "+" part (sep part)*
 *     sep     = "." | "_" | "-"
 *
 * The reader never backtracks: a sep without a word after it belongs to the next part.
 */
struct reader {
	const char *p, *end;
	unsigned char *k; /* the next byte of the key */
	bool huge;        /* a number has more than VERSION_DIGITS_MAX digits */
};

enum rank { RANK_DEV_ONLY, RANK_A, RANK_B, RANK_RC, RANK_FINAL };

enum {
	KEY_END = 1,
	KEY_WORD = 2,
	KEY_DIGITS = 3,
	KEY_NUMBER = 4, /* and VERSION_DIGITS_MAX values above it */
	KEY_NO_DEV = 255,
};

struct word {
	const char *text;
	enum rank rank;
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

static void
put_number(struct reader *r, const char *d, const char *end)
{
	while (d < end && *d == '0')
		d++;
	r->huge |= end - d > VERSION_DIGITS_MAX;
	*r->k++ = (unsigned char)(KEY_NUMBER + (end - d));
	while (d < end)
		*r->k++ = (unsigned char)*d++;
}

/* Returns the digits of the number at `k`, and their count. */
static const unsigned char *
digits_of(const unsigned char *k, size_t *n)
{
	*n = *k++ - (size_t)KEY_NUMBER;
	return k;
}

static const unsigned char *
after_number(const unsigned char *k)
{
	size_t n;

	k = digits_of(k, &n);
	return k + n;
}

/* Reads one of the words in any case, after an optional separator; returns the text after it, or
 * NULL. */
static const char *
find_word(const struct reader *r, const struct word *words, size_t n, enum rank *rank)
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

/* Reads an optional separator and number after a word; without a number, 0. */
static void
read_count(struct reader *r, const char *p)
{
	if (p < r->end && is_sep(*p))
		p++;
	r->p = skip_digits(p, r->end);
	put_number(r, p, r->p);
}

static bool
read_epoch_and_release(struct reader *r, size_t *zeros)
{
	const char *end = skip_digits(r->p, r->end);
	unsigned char *last;

	if (end == r->p)
		return false;
	if (end < r->end && *end == '!') {
		put_number(r, r->p, end);
		r->p = end + 1;
		end = skip_digits(r->p, r->end);
		if (end == r->p)
			return false;
	} else {
		*r->k++ = KEY_NUMBER;
	}
	last = r->k;
	*zeros = 0;
	for (;;) {
		unsigned char *k = r->k;

		put_number(r, r->p, end);
		*zeros = *k == KEY_NUMBER ? *zeros + 1 : 0;
		if (!*zeros)
			last = r->k;
		r->p = end;
		if (end == r->end || *end != '.')
			break;
		end = skip_digits(end + 1, r->end);
		if (end == r->p + 1)
			break;
		r->p++;
	}
	r->k = last;
	*r->k++ = KEY_END;
	return true;
}

static bool
read_post(struct reader *r)
{
	enum rank rank;
	const char *p;

	if (r->end - r->p > 1 && *r->p == '-' && is_digit(r->p[1])) {
		read_count(r, r->p);
		return true;
	}
	p = find_word(r, post_words, COUNT(post_words), &rank);
	if (p)
		read_count(r, p);
	else
		*r->k++ = KEY_END;
	return p;
}

static void
read_suffix(struct reader *r, struct version *v)
{
	enum rank rank = RANK_FINAL;
	const char *p = find_word(r, pre_words, COUNT(pre_words), &rank);
	unsigned char *pre = r->k++;
	bool is_post;

	*pre = (unsigned char)rank;
	if (p)
		read_count(r, p);
	v->is_pre = p;
	v->n_pre = (size_t)(r->k - v->key);
	is_post = read_post(r);
	p = find_word(r, dev_words, COUNT(dev_words), &rank);
	if (!p) {
		*r->k++ = KEY_NO_DEV;
		return;
	}
	if (!v->is_pre && !is_post)
		*pre = RANK_DEV_ONLY;
	v->is_pre = true;
	read_count(r, p);
}

/* Reads the local part: "Ubuntu-007" -> "ubuntu.7". */
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
		*r->k++ = digits == r->p ? KEY_DIGITS : KEY_WORD;
		if (digits == r->p) {
			put_number(r, start, r->p);
			while (start + 1 < r->p && *start == '0')
				start++;
		}
		for (; start < r->p; start++) {
			*out++ = to_lower(*start);
			if (digits != r->p)
				*r->k++ = (unsigned char)to_lower(*start);
		}
		if (digits != r->p)
			*r->k++ = KEY_END;
		if (r->p == r->end || !is_sep(*r->p))
			break;
		*out++ = '.';
		r->p++;
	}
	*out = '\0';
	return true;
}

void
trim(const char **s, size_t *n)
{
	for (; *n && is_space(**s); --*n)
		++*s;
	while (*n && is_space((*s)[*n - 1]))
		--*n;
}

const struct version *
version_of(struct arena *a, const char *s, size_t n)
{
	enum { KEY_SPARE = 16 }; /* maximum bytes of a key beyond two for each character */
	struct reader r;
	struct version *v;
	char *local;

	trim(&s, &n);
	r = (struct reader){ .p = s, .end = s + n };
	if (r.p < r.end && to_lower(*r.p) == 'v')
		r.p++;
	if (r.p == r.end || !is_digit(*r.p))
		return NULL;
	v = arena_new_of(a, struct version);
	v->key = r.k = arena_alloc(a, 2 * n + KEY_SPARE, 1);
	if (!read_epoch_and_release(&r, &v->zeros))
		return NULL;
	read_suffix(&r, v);
	v->n_public = (size_t)(r.k - v->key);
	if (r.p < r.end && *r.p == '+') {
		v->local = local = arena_alloc(a, (size_t)(r.end - r.p), 1);
		if (!read_local(&r, local))
			return NULL;
	}
	*r.k++ = KEY_END;
	v->n = (size_t)(r.k - v->key);
	return r.p == r.end && !r.huge ? v : NULL;
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
	bool second = false; /* of the two numbers */

	for (; x && y; x++, y++) {
		bool end_x = !*x || (second && *x == '.'), end_y = !*y || (second && *y == '.');

		if (end_x || end_y || *x != *y)
			return end_x && end_y;
		second |= *x == '.';
	}
	return false;
}

/* --- order --- */

/* Compares keys, neither of which can be the start of the other. */
int
version_cmp_public(const struct version *x, const struct version *y)
{
	return memcmp(x->key, y->key, x->n_public < y->n_public ? x->n_public : y->n_public);
}

int
version_cmp(const struct version *x, const struct version *y)
{
	return memcmp(x->key, y->key, x->n < y->n ? x->n : y->n);
}

bool
version_same_pre(const struct version *x, const struct version *y)
{
	return x->n_pre == y->n_pre && !memcmp(x->key, y->key, x->n_pre);
}

bool
version_is_prerelease(const struct version *v)
{
	return v->is_pre;
}

bool
version_has_post_or_dev(const struct version *v)
{
	return v->key[v->n_pre] != KEY_END || v->key[v->n_public - 1] != KEY_NO_DEV;
}

bool
version_is_release(const struct version *v)
{
	return !v->is_pre && !version_has_post_or_dev(v);
}

const struct version *
version_first_dev(struct arena *a, const struct version *v)
{
	struct version *first = arena_new_of(a, struct version);
	unsigned char *key = arena_alloc(a, v->n_public + 1, 1);

	memcpy(key, v->key, v->n_public);
	if (key[v->n_pre] == KEY_END)
		key[v->n_pre - 1] = RANK_DEV_ONLY;
	key[v->n_public - 1] = KEY_NUMBER;
	key[v->n_public] = KEY_END;
	*first = *v;
	first->key = key;
	first->n = v->n_public + 1;
	first->is_pre = true;
	first->local = NULL;
	return first;
}

/* --- the parts of a version --- */

size_t
version_release_count(const struct version *v)
{
	size_t n = v->zeros;

	for (const unsigned char *k = after_number(v->key); *k != KEY_END; k = after_number(k))
		n++;
	return n;
}

unsigned long
version_release(const struct version *v, size_t i)
{
	const unsigned char *k = after_number(v->key);
	unsigned long value = 0;
	size_t n;

	while (*k != KEY_END && i--)
		k = after_number(k);
	if (*k == KEY_END)
		return 0;
	for (k = digits_of(k, &n); n && value <= (ULONG_MAX - 9) / 10; n--)
		value = value * 10 + (unsigned long)(*k++ - '0');
	return n ? ULONG_MAX : value;
}

const unsigned char *
version_stem(struct arena *a, const struct version *v, size_t less, size_t *n)
{
	size_t count = version_release_count(v) - less;
	const unsigned char *end = after_number(v->key);
	unsigned char *stem;

	for (; count && *end != KEY_END; count--)
		end = after_number(end);
	*n = (size_t)(end - v->key) + count;
	stem = arena_alloc(a, *n, 1);
	memset(stem, KEY_NUMBER, *n);
	return memcpy(stem, v->key, *n - count);
}

bool
version_has_stem(const struct version *v, const unsigned char *stem, size_t n)
{
	size_t i = 0;

	while (i < n && stem[i] == v->key[i])
		i++;
	/* After the end of the release, all numbers are zero. */
	if (i < n && v->key[i] == KEY_END)
		while (i < n && stem[i] == KEY_NUMBER)
			i++;
	return i == n;
}

static const unsigned char *
add_number(struct buf *b, const unsigned char *k)
{
	size_t n;

	k = digits_of(k, &n);
	buf_add(b, n ? (const char *)k : "0", n ? n : 1);
	return k + n;
}

const char *
version_public(struct arena *a, const struct version *v)
{
	static const char *const names[] = { [RANK_A] = "a", [RANK_B] = "b", [RANK_RC] = "rc" };
	struct buf b = BUF(a);
	const unsigned char *k = after_number(v->key);
	const char *dot = "";
	enum rank rank;

	if (*v->key != KEY_NUMBER) {
		add_number(&b, v->key);
		buf_putc(&b, '!');
	}
	for (; *k != KEY_END; dot = ".") {
		buf_puts(&b, dot);
		k = add_number(&b, k);
	}
	for (size_t i = 0; i < v->zeros; i++, dot = ".") {
		buf_puts(&b, dot);
		buf_putc(&b, '0');
	}
	rank = k[1];
	k += 2;
	if (rank != RANK_DEV_ONLY && rank != RANK_FINAL) {
		buf_puts(&b, names[rank]);
		k = add_number(&b, k);
	}
	if (*k != KEY_END) {
		buf_puts(&b, ".post");
		k = add_number(&b, k);
	} else {
		k++;
	}
	if (*k != KEY_NO_DEV) {
		buf_puts(&b, ".dev");
		add_number(&b, k);
	}
	return buf_text(&b);
}

const char *
version_local(struct arena *a, const struct version *v)
{
	return v->local ? arena_strdup(a, v->local) : NULL;
}

const char *
version_text(struct arena *a, const struct version *v)
{
	const char *text = version_public(a, v);

	return v->local ? arena_printf(a, "%s+%s", text, v->local) : text;
}
