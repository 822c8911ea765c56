#include "order.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * One part of the decomposition.  First what can be said of pairs: if a job with the
 * higher ratio needs no more than another and is needed by all that the other is needed
 * by, it comes first in some optimum (move one of the two past what lies between; one
 * of the moves never costs).  Ties go to the order given, so that all such pairs hold at
 * once.  Then dynamic programming over down-sets, layer by layer of their size; a layer
 * with more sets than fit keeps the most promising ones, and the result is no longer
 * certain.
 */
enum {
	EXACT_JOBS = 24,     /* up to here every layer should fit */
	LAYER_MAX = 1 << 18, /* down-sets a layer, up to EXACT_JOBS */
	BEAM_WORK = 1 << 26, /* beyond: down-sets a layer x jobs^3 */
	BEAM_JOBS = 256,     /* larger parts are ordered by ratio alone */
	WORD = 64,
};

struct part {
	const struct job *jobs;
	const size_t *ids;
	size_t n, words;
	long double *ratio;
	uint64_t *before, *after; /* transitive, a row of words for each job */
	uint64_t *better;         /* jobs that come first if both are open */
	size_t *by_ratio;
};

/* The down-sets of one size, with the cheapest way to each. */
struct layer {
	struct arena *a;
	size_t n, cap, words;
	uint64_t *sets;
	long double *cost, *rate;
	uint32_t *parent, *slots; /* slots: index + 1, or 0 */
	uint16_t *job;
	size_t nslots;
};

static bool
has(const uint64_t *set, size_t i)
{
	return set[i / WORD] >> (i % WORD) & 1;
}

static void
put(uint64_t *set, size_t i)
{
	set[i / WORD] |= (uint64_t)1 << (i % WORD);
}

static bool
within(const uint64_t *x, const uint64_t *y, size_t words)
{
	for (size_t k = 0; k < words; k++)
		if (x[k] & ~y[k])
			return false;
	return true;
}

static bool
meet(const uint64_t *x, const uint64_t *y, size_t words)
{
	for (size_t k = 0; k < words; k++)
		if (x[k] & y[k])
			return true;
	return false;
}

static bool
ranks_before(const struct part *p, size_t i, size_t j)
{
	return p->ratio[i] > p->ratio[j] || (p->ratio[i] == p->ratio[j] && i < j);
}

/* i before j from now on, and all that follows from it. */
static void
add_precedence(struct part *p, size_t i, size_t j)
{
	size_t w = p->words;

	for (size_t x = 0; x < p->n; x++) {
		if (x == i || has(p->before + i * w, x)) {
			put(p->after + x * w, j);
			for (size_t k = 0; k < w; k++)
				p->after[x * w + k] |= p->after[j * w + k];
		}
		if (x == j || has(p->after + j * w, x)) {
			put(p->before + x * w, i);
			for (size_t k = 0; k < w; k++)
				p->before[x * w + k] |= p->before[i * w + k];
		}
	}
}

static void
pairs_decide(struct part *p)
{
	size_t w = p->words;
	bool more = true;

	while (more) {
		more = false;
		for (size_t i = 0; i < p->n; i++)
			for (size_t j = 0; j < p->n; j++) {
				if (i == j || has(p->after + i * w, j) ||
				    has(p->before + i * w, j) || !ranks_before(p, i, j) ||
				    !within(p->before + i * w, p->before + j * w, w) ||
				    !within(p->after + j * w, p->after + i * w, w))
					continue;
				add_precedence(p, i, j);
				more = true;
			}
	}
	for (size_t j = 0; j < p->n; j++)
		for (size_t i = 0; i < p->n; i++)
			if (i != j && ranks_before(p, i, j) &&
			    within(p->after + j * w, p->after + i * w, w))
				put(p->better + j * w, i);
}

static void
part_open(struct part *p, struct arena *a, size_t njobs)
{
	size_t *local = arena_array_of(a, size_t, njobs);

	p->words = (p->n + WORD - 1) / WORD;
	p->ratio = arena_array_of(a, long double, p->n);
	p->before = arena_array_of(a, uint64_t, p->n * p->words);
	p->after = arena_array_of(a, uint64_t, p->n * p->words);
	p->better = arena_array_of(a, uint64_t, p->n * p->words);
	p->by_ratio = arena_array_of(a, size_t, p->n);
	for (size_t i = 0; i < p->n; i++) {
		local[p->ids[i]] = i + 1;
		p->ratio[i] = order_ratio(&p->jobs[p->ids[i]]);
	}
	for (size_t i = 0; i < p->n; i++) {
		const struct job *j = &p->jobs[p->ids[i]];
		size_t at = i;

		for (size_t k = 0; k < j->nneeds; k++)
			if (local[j->needs[k]] && local[j->needs[k]] != i + 1)
				add_precedence(p, local[j->needs[k]] - 1, i);
		for (; at && ranks_before(p, i, p->by_ratio[at - 1]); at--)
			p->by_ratio[at] = p->by_ratio[at - 1];
		p->by_ratio[at] = i;
	}
	if (p->n <= BEAM_JOBS)
		pairs_decide(p);
}

static void *
moved(struct arena *a, const void *old, size_t n, size_t cap, size_t size)
{
	void *new = arena_alloc_array(a, cap, size, _Alignof(max_align_t));

	if (n)
		memcpy(new, old, n * size);
	return new;
}

static size_t
slot_of(const struct layer *l, const uint64_t *set)
{
	uint64_t h = 0;
	size_t at;

	for (size_t k = 0; k < l->words; k++) {
		h = (h ^ set[k]) * 0x9e3779b97f4a7c15u;
		h ^= h >> 29;
	}
	at = h & (l->nslots - 1);
	while (l->slots[at] &&
	       memcmp(l->sets + (l->slots[at] - 1) * l->words, set, l->words * sizeof(*set)))
		at = (at + 1) & (l->nslots - 1);
	return at;
}

static void
layer_grow(struct layer *l)
{
	size_t cap = l->cap ? l->cap * 4 : 64;

	l->sets = moved(l->a, l->sets, l->n * l->words, cap * l->words, sizeof(*l->sets));
	l->cost = moved(l->a, l->cost, l->n, cap, sizeof(*l->cost));
	l->rate = moved(l->a, l->rate, l->n, cap, sizeof(*l->rate));
	l->parent = moved(l->a, l->parent, l->n, cap, sizeof(*l->parent));
	l->job = moved(l->a, l->job, l->n, cap, sizeof(*l->job));
	l->cap = cap;
	l->nslots = cap * 2;
	l->slots = arena_array_of(l->a, uint32_t, l->nslots);
	for (size_t i = 0; i < l->n; i++)
		l->slots[slot_of(l, l->sets + i * l->words)] = (uint32_t)i + 1;
}

static void
layer_add(struct layer *l, const uint64_t *set, long double cost, long double rate, size_t parent,
	  size_t job)
{
	size_t slot, i;

	if (l->n == l->cap)
		layer_grow(l);
	slot = slot_of(l, set);
	if (!l->slots[slot]) {
		memcpy(l->sets + l->n * l->words, set, l->words * sizeof(*set));
		l->slots[slot] = (uint32_t)++l->n;
	} else if (l->cost[l->slots[slot] - 1] <= cost) {
		return;
	}
	i = l->slots[slot] - 1;
	l->cost[i] = cost;
	l->rate[i] = rate;
	l->parent[i] = (uint32_t)parent;
	l->job[i] = (uint16_t)job;
}

/* Every down-set with one job more than the s-th of `from`. */
static void
expand(const struct part *p, const struct layer *from, size_t s, struct layer *to, uint64_t *open,
       uint64_t *set)
{
	size_t w = p->words;

	memcpy(set, from->sets + s * w, w * sizeof(*set));
	memset(open, 0, w * sizeof(*open));
	for (size_t j = 0; j < p->n; j++)
		if (!has(set, j) && within(p->before + j * w, set, w))
			put(open, j);
	for (size_t j = 0; j < p->n; j++) {
		const struct job *job = &p->jobs[p->ids[j]];
		long double rate = from->rate[s] + job->change_rate;

		if (!has(open, j) || meet(p->better + j * w, open, w))
			continue;
		put(set, j);
		layer_add(to, set, from->cost[s] + rate * job->cost_s, rate, s, j);
		set[j / WORD] ^= (uint64_t)1 << (j % WORD);
	}
}

struct promise {
	long double cost; /* at least, whatever follows */
	size_t at;
};

static int
by_promise(const void *x, const void *y)
{
	const struct promise *a = x, *b = y;

	if (a->cost != b->cost)
		return a->cost < b->cost ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

/* The `width` sets that end cheapest if what is left needed nothing. */
static void
layer_cut(const struct part *p, struct layer *l, size_t width)
{
	struct promise *promises = arena_array_of(l->a, struct promise, l->n);
	struct layer kept = { .a = l->a, .words = l->words };

	for (size_t s = 0; s < l->n; s++) {
		long double cost = l->cost[s], rate = l->rate[s];

		for (size_t k = 0; k < p->n; k++) {
			const struct job *job = &p->jobs[p->ids[p->by_ratio[k]]];

			if (has(l->sets + s * l->words, p->by_ratio[k]))
				continue;
			rate += job->change_rate;
			cost += rate * job->cost_s;
		}
		promises[s] = (struct promise){ cost, s };
	}
	qsort(promises, l->n, sizeof(*promises), by_promise);
	for (size_t i = 0; i < width; i++) {
		size_t s = promises[i].at;

		layer_add(&kept, l->sets + s * l->words, l->cost[s], l->rate[s], l->parent[s],
			  l->job[s]);
	}
	*l = kept;
}

/* The way to each set of each layer; sets and costs only of the last two. */
struct way {
	uint32_t *parent;
	uint16_t *job;
};

static bool
search(const struct part *p, struct arena *a, size_t width, size_t *best)
{
	struct way *ways = arena_array_of(a, struct way, p->n + 1);
	uint64_t *open = arena_array_of(a, uint64_t, p->words);
	uint64_t *set = arena_array_of(a, uint64_t, p->words);
	struct layer from = { .a = arena_new(), .words = p->words };
	bool exact = true;

	layer_add(&from, set, 0, 0, 0, 0);
	for (size_t size = 1; size <= p->n; size++) {
		struct layer to = { .a = arena_new(), .words = p->words };

		for (size_t s = 0; s < from.n; s++)
			expand(p, &from, s, &to, open, set);
		if (to.n > width) {
			layer_cut(p, &to, width);
			exact = false;
		}
		ways[size].parent = moved(a, to.parent, to.n, to.n, sizeof(*to.parent));
		ways[size].job = moved(a, to.job, to.n, to.n, sizeof(*to.job));
		arena_free(from.a);
		from = to;
	}
	arena_free(from.a);
	for (size_t size = p->n, s = 0; size > 0; s = ways[size].parent[s], size--)
		best[size - 1] = ways[size].job[s];
	return exact;
}

/* Always the open job with the highest ratio. */
static void
by_ratio(const struct part *p, uint64_t *done, size_t *best)
{
	for (size_t at = 0; at < p->n; at++) {
		size_t k = 0;

		while (has(done, p->by_ratio[k]) ||
		       !within(p->before + p->by_ratio[k] * p->words, done, p->words))
			k++;
		best[at] = p->by_ratio[k];
		put(done, best[at]);
	}
}

bool
order_part(const struct job *jobs, size_t njobs, size_t *ids, size_t n)
{
	struct part p = { .jobs = jobs, .ids = ids, .n = n };
	struct arena *a;
	size_t *best;
	bool exact = false;

	if (n < 2)
		return true;
	a = arena_new();
	best = arena_array_of(a, size_t, n);
	part_open(&p, a, njobs);
	if (n <= EXACT_JOBS)
		exact = search(&p, a, LAYER_MAX, best);
	else if (n <= BEAM_JOBS)
		exact = search(&p, a, BEAM_WORK / (n * n * n), best);
	else
		by_ratio(&p, arena_array_of(a, uint64_t, p.words), best);
	for (size_t i = 0; i < n; i++)
		best[i] = ids[best[i]];
	memcpy(ids, best, n * sizeof(*ids));
	arena_free(a);
	return exact;
}
