#include "literals.h"

enum { BLOCK = 3, TABLE = 1 << 15 };

struct literals {
	uint8_t shift[TABLE];  /* distance to move the window; 0: compare the bucket */
	uint16_t first[TABLE]; /* first text whose window ends in that block: index + 1 */
	struct literal {
		struct str s;
		uint16_t next; /* next text in the bucket: index + 1 */
	} * texts;
	size_t window; /* length of the shortest text */
};

/* Returns the index of a block. Bit 5 is set, so that both cases of a letter are equal;
 * literals_find() compares the text. */
static size_t
block(const char *p)
{
	const unsigned char *c = (const unsigned char *)p;

	return ((c[0] | 32u) ^ (size_t)(c[1] | 32u) << 5 ^ (size_t)(c[2] | 32u) << 10) &
	       (TABLE - 1);
}

/* Compares from the end: the texts of a bucket begin alike. */
static bool
is_at(const char *p, struct str t)
{
	for (size_t i = t.n; i-- > 0;)
		if (p[i] != t.p[i] && to_lower(p[i]) != to_lower(t.p[i]))
			return false;
	return true;
}

struct literals *
literals_new(struct arena *a, const struct names *texts)
{
	struct literals *s = arena_new_of(a, struct literals);

	s->texts = arena_array_of(a, struct literal, texts->n);
	s->window = 64;
	for (size_t i = 0; i < texts->n && i < UINT16_MAX; i++) {
		s->texts[i].s = str_of(texts->at[i]);
		if (s->texts[i].s.n >= LITERAL_MIN && s->texts[i].s.n < s->window)
			s->window = s->texts[i].s.n;
	}
	memset(s->shift, (int)(s->window - BLOCK + 1), sizeof(s->shift));
	for (size_t i = 0; i < texts->n && i < UINT16_MAX; i++) {
		const struct str *t = &s->texts[i].s;

		for (size_t k = BLOCK; t->n >= LITERAL_MIN && k <= s->window; k++) {
			size_t b = block(t->p + k - BLOCK);

			if (s->shift[b] > s->window - k)
				s->shift[b] = (uint8_t)(s->window - k);
			if (k < s->window)
				continue;
			s->texts[i].next = s->first[b];
			s->first[b] = (uint16_t)(i + 1);
		}
	}
	return s;
}

void
literals_find(const struct literals *s, const char *p, size_t n, size_t from, size_t to,
	      literals_found *found, void *ctx)
{
	size_t end = to + s->window - 1 < n ? to + s->window - 1 : n;

	/* `at` is the end of the window. */
	for (size_t at = from + s->window; at <= end;) {
		size_t b = block(p + at - BLOCK), begin = at - s->window;

		if (s->shift[b]) {
			at += s->shift[b];
			continue;
		}
		for (size_t i = s->first[b]; i; i = s->texts[i - 1].next) {
			struct str t = s->texts[i - 1].s;

			if (t.n <= n - begin && is_at(p + begin, t))
				found(ctx, i - 1, begin);
		}
		at++;
	}
}
