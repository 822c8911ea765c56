#include <limits.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"
#include "python/version.h"

int
version_cmp_public(const struct version *x, const struct version *y)
{
	size_t n = x->n < y->n ? x->n : y->n;

	/* Neither key is the start of a longer one: what differs, differs before an end. */
	for (size_t i = 0; i < n; i++)
		if (x->key[i] != y->key[i])
			return x->key[i] < y->key[i] ? -1 : 1;
	return 0;
}

static size_t
part_length(const char *s)
{
	return strcspn(s, ".");
}

static bool
is_number(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!is_digit(s[i]))
			return false;
	return true;
}

/* Words come before numbers; a number has no zero in front. */
static int
cmp_part(const char *x, size_t nx, const char *y, size_t ny)
{
	bool x_number = is_number(x, nx), y_number = is_number(y, ny);
	int order;

	if (x_number != y_number)
		return x_number ? 1 : -1;
	if (x_number && nx != ny)
		return nx < ny ? -1 : 1;
	order = memcmp(x, y, nx < ny ? nx : ny);
	return order ? order : (nx > ny) - (nx < ny);
}

static int
cmp_local(const char *x, const char *y)
{
	if (!x || !y)
		return (x != NULL) - (y != NULL);
	for (;;) {
		size_t nx = part_length(x), ny = part_length(y);
		int order = cmp_part(x, nx, y, ny);

		if (order)
			return order;
		if (!x[nx] || !y[ny])
			return (x[nx] != '\0') - (y[ny] != '\0');
		x += nx + 1;
		y += ny + 1;
	}
}

int
version_cmp(const struct version *x, const struct version *y)
{
	int order = version_cmp_public(x, y);

	return order ? order : cmp_local(x->local, y->local);
}

bool
version_same_pre(const struct version *x, const struct version *y)
{
	return x->n_pre == y->n_pre && !memcmp(x->key, y->key, x->n_pre * sizeof(*x->key));
}

bool
version_is_prerelease(const struct version *v)
{
	return v->is_pre;
}

bool
version_has_post_or_dev(const struct version *v)
{
	return v->key[v->n_pre] != 0 || v->key[v->n - 1] != VERSION_NO_DEV;
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
	uint64_t *key = arena_array_of(a, uint64_t, v->n);

	memcpy(key, v->key, v->n * sizeof(*key));
	if (!key[v->n_pre])
		key[v->n_pre - 1] = RANK_DEV_ONLY;
	key[v->n - 1] = VERSION_ZERO;
	*first = *v;
	first->key = key;
	first->is_pre = true;
	first->local = NULL;
	return first;
}

/* Words that the number at `w` takes. */
static size_t
number_words(const uint64_t *w, uint64_t big)
{
	size_t digits = (size_t)(*w & (VERSION_PRE_BIG - 1));

	return *w != VERSION_NO_DEV && *w & big ?
		       1 + (digits + VERSION_DIGITS - 1) / VERSION_DIGITS :
		       1;
}

size_t
version_release_count(const struct version *v)
{
	size_t n = v->zeros;

	for (const uint64_t *w = v->key + number_words(v->key, VERSION_BIG); *w != VERSION_END;
	     w += number_words(w, VERSION_BIG))
		n++;
	return n;
}

unsigned long
version_release(const struct version *v, size_t i)
{
	const uint64_t *w = v->key + number_words(v->key, VERSION_BIG);

	for (; *w != VERSION_END; w += number_words(w, VERSION_BIG))
		if (!i--)
			return *w & VERSION_BIG ? ULONG_MAX : (unsigned long)(*w - 1);
	return 0;
}

const uint64_t *
version_stem(struct arena *a, const struct version *v, size_t less, size_t *n)
{
	size_t count = version_release_count(v) - less, given = version_release_count(v) - v->zeros;
	const uint64_t *end = v->key + number_words(v->key, VERSION_BIG);
	uint64_t *stem;

	for (size_t i = 0; i < count && i < given; i++)
		end += number_words(end, VERSION_BIG);
	*n = (size_t)(end - v->key);
	stem = arena_array_of(a, uint64_t, *n + (count > given ? count - given : 0));
	memcpy(stem, v->key, *n * sizeof(*stem));
	for (size_t i = given; i < count; i++)
		stem[(*n)++] = VERSION_ZERO;
	return stem;
}

bool
version_has_stem(const struct version *v, const uint64_t *stem, size_t n)
{
	size_t i = 0;

	while (i < n && stem[i] == v->key[i])
		i++;
	/* Past the end of the release there are only zeros. */
	if (i < n && v->key[i] == VERSION_END)
		while (i < n && stem[i] == VERSION_ZERO)
			i++;
	return i == n;
}

/* The number at `w`, of which `first` is what its first word holds; the word after it. */
static const uint64_t *
add_number(struct buf *b, const uint64_t *w, uint64_t first, uint64_t big)
{
	size_t words = number_words(w, big), digits = (size_t)(*w & (VERSION_PRE_BIG - 1));

	if (words == 1)
		buf_printf(b, "%llu", (unsigned long long)first);
	for (size_t i = 1; i < words; i++) {
		int width = digits < VERSION_DIGITS ? (int)digits : VERSION_DIGITS;

		buf_printf(b, "%0*llu", width, (unsigned long long)(w[i] - 1));
		digits -= (size_t)width;
	}
	return w + words;
}

static const uint64_t *
add_epoch_and_release(struct buf *b, const struct version *v)
{
	const uint64_t *w = v->key;
	const char *dot = "";

	if (*w != VERSION_ZERO) {
		w = add_number(b, w, *w - 1, VERSION_BIG);
		buf_putc(b, '!');
	} else {
		w++;
	}
	for (; *w != VERSION_END; dot = ".") {
		buf_puts(b, dot);
		w = add_number(b, w, *w - 1, VERSION_BIG);
	}
	for (size_t i = 0; i < v->zeros; i++, dot = ".") {
		buf_puts(b, dot);
		buf_putc(b, '0');
	}
	return w + 1;
}

const char *
version_public(struct arena *a, const struct version *v)
{
	static const char *const names[] = { [RANK_A] = "a", [RANK_B] = "b", [RANK_RC] = "rc" };
	struct buf b = BUF(a);
	const uint64_t *w = add_epoch_and_release(&b, v);
	uint64_t rank = *w >> VERSION_RANK_SHIFT;

	if (rank == RANK_DEV_ONLY || rank == RANK_FINAL) {
		w++;
	} else {
		buf_puts(&b, names[rank]);
		w = add_number(&b, w, *w & (VERSION_PRE_BIG - 1), VERSION_PRE_BIG);
	}
	if (*w) {
		buf_puts(&b, ".post");
		w = add_number(&b, w, *w - 1, VERSION_BIG);
	} else {
		w++;
	}
	if (*w != VERSION_NO_DEV) {
		buf_puts(&b, ".dev");
		add_number(&b, w, *w - 1, VERSION_BIG);
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
