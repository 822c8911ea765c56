#include "schema.h"

#include "base/buf.h"

/*
 * A compact form of a packed block, which zlib compresses to half the size:
 *
 *     squeezed = bytes of the claim, claim, texts
 *     claim    = shape, line, then text | source, key*, value* | value*
 *     shape    = 0: scalar, otherwise 2 * count + 1, + 1 for a map
 *     line     = distance from the line of the previous claim, as zigzag
 *     text     = 0: the next one of `texts`, otherwise the number of an earlier one
 *     value    = 0: claim, 1: two words, claim, otherwise 1 + the number of an earlier claim
 *
 * Each of these is a number in base 128, lowest digit first; 128 marks a digit that another one
 * follows. Expansion restores the block without a difference.
 */
struct squeezer {
	const uint32_t *in; /* squeeze: the words of the block */
	struct buf out;
	const unsigned char *p; /* expand: the next number */
	uint32_t *words;
	const char *texts;
	/* both: */
	size_t n_words, n;  /* words of the block, and of those read or written */
	uint32_t *text_ids; /* squeeze: number of the text at an offset; expand: the reverse */
	uint32_t *claims;   /* likewise of claims and words */
	uint32_t n_texts, n_claims, next_text, line;
};

/* The texts that a source consists of. */
enum { SOURCE_TEXTS = 5 };

/* --- squeeze --- */

static void
put_number(struct squeezer *q, uint32_t x)
{
	for (; x >= 128; x >>= 7)
		buf_putc(&q->out, (char)(x | 128));
	buf_putc(&q->out, (char)x);
}

static void
put_text_at(struct squeezer *q, size_t word)
{
	size_t offset = q->in[word] - (q->n_words - word) * sizeof(uint32_t);

	put_number(q, q->text_ids[offset]);
	if (!q->text_ids[offset])
		q->text_ids[offset] = ++q->n_texts;
}

static void
squeeze_claim(struct squeezer *q, size_t at)
{
	uint32_t kind = q->in[at] & 3, line = q->in[at] >> 2, count = q->in[at + 1];
	bool map = kind == NODE_MAP;
	size_t value = at + (map ? 1 + PAIRS_AT + 2 : 2), step = map ? PAIR_WORDS : 1;

	q->claims[at] = ++q->n_claims;
	put_number(q, kind == NODE_SCALAR ? 0 : 2 * count + 1 + map);
	put_number(q, line >= q->line ? (line - q->line) * 2 : (q->line - line) * 2 - 1);
	q->line = line;
	q->n = at + (kind == NODE_SCALAR ? 2 : map ? 1 + PAIRS_AT + PAIR_WORDS * count : 2 + count);
	if (kind == NODE_SCALAR) {
		put_text_at(q, at + 1);
		return;
	}
	if (map)
		put_text_at(q, at + 2);
	for (size_t i = 0; map && i < count; i++)
		put_text_at(q, value + PAIR_WORDS * i - 1);
	for (; count--; value += step) {
		uint32_t to = (uint32_t)value + q->in[value];

		put_number(q, q->claims[to] ? 1 + q->claims[to] : to > q->n);
		if (q->claims[to])
			continue;
		for (; q->n < to; q->n++)
			put_number(q, q->in[q->n]);
		squeeze_claim(q, to);
	}
}

void
facts_squeeze(struct arena *a, struct packed_file *file)
{
	size_t n_texts = file->n - file->words * sizeof(uint32_t);
	struct squeezer q = {
		.in = file->block,
		.n_words = file->words,
		.out = BUF(a),
		.text_ids = arena_array_of(a, uint32_t, n_texts),
		.claims = arena_array_of(a, uint32_t, file->words),
	};
	struct buf claims;

	squeeze_claim(&q, 0);
	claims = q.out;
	q.out = BUF(a);
	put_number(&q, (uint32_t)claims.n);
	buf_add(&q.out, claims.p, claims.n);
	buf_add(&q.out, (const char *)(q.in + file->words), n_texts);
	file->block = buf_text(&q.out);
	file->n = (uint32_t)q.out.n;
}

/* --- expand --- */

static uint32_t
number(struct squeezer *q)
{
	uint32_t x = 0;
	unsigned shift = 0;

	do {
		x |= (uint32_t)(*q->p & 127) << shift;
		shift += 7;
	} while (*q->p++ & 128);
	return x;
}

/* Writes the word of a text that consists of `parts` texts, and returns the first one. */
static const char *
expand_text(struct squeezer *q, size_t word, int parts)
{
	uint32_t id = number(q);

	if (!id) {
		id = ++q->n_texts;
		q->text_ids[id] = q->next_text;
		while (parts--)
			q->next_text += (uint32_t)strlen(q->texts + q->next_text) + 1;
	}
	q->words[word] = q->text_ids[id] + (uint32_t)((q->n_words - word) * sizeof(uint32_t));
	return q->texts + q->text_ids[id];
}

static void
expand_claim(struct squeezer *q)
{
	size_t at = q->n, value, step;
	uint32_t shape = number(q), line = number(q), count = (shape - 1) / 2, marks = 0;
	bool map = shape && shape % 2 == 0;

	q->line += line % 2 ? 0 - (line + 1) / 2 : line / 2;
	q->claims[++q->n_claims] = (uint32_t)at;
	q->words[at] = (!shape ? NODE_SCALAR : map ? NODE_MAP : NODE_LIST) | q->line << 2;
	q->n = at + (!shape ? 2 : map ? 1 + PAIRS_AT + PAIR_WORDS * count : 2 + count);
	if (!shape) {
		expand_text(q, at + 1, 1);
		return;
	}
	q->words[at + 1] = count;
	value = at + (map ? 1 + PAIRS_AT + 2 : 2);
	step = map ? PAIR_WORDS : 1;
	if (map)
		expand_text(q, at + 2, SOURCE_TEXTS);
	for (size_t i = 0; map && i < count; i++) {
		size_t key = value + PAIR_WORDS * i - 1;

		q->words[key - 1] = fact_hash(expand_text(q, key, 1));
		marks |= fact_mark(q->words[key - 1]);
	}
	if (map)
		q->words[at + 1 + MARKS_AT] = marks;
	for (; count--; value += step) {
		uint32_t to = number(q);

		for (int i = 0; to == 1 && i < 2; i++)
			q->words[q->n++] = number(q);
		q->words[value] = (uint32_t)((to > 1 ? q->claims[to - 1] : q->n) - value);
		if (to <= 1)
			expand_claim(q);
	}
}

const void *
facts_expand(struct arena *a, const void *squeezed, const struct packed_file *file)
{
	struct squeezer q = { .p = squeezed, .n_words = file->words };
	const char *end = (const char *)squeezed + file->n;
	size_t n_claims = number(&q), n_texts;

	q.texts = (const char *)q.p + n_claims;
	n_texts = (size_t)(end - q.texts);
	q.words = arena_alloc(a, q.n_words * sizeof(uint32_t) + n_texts, _Alignof(uint32_t));
	q.text_ids = arena_array_of(a, uint32_t, q.n_words + 1);
	q.claims = arena_array_of(a, uint32_t, q.n_words + 1);
	memcpy(q.words + q.n_words, q.texts, n_texts);
	expand_claim(&q);
	return q.words;
}
