#include "internal.h"

#include <string.h>

solve_word *
solve_set(struct arena *a, size_t candidates)
{
	size_t words = SOLVE_WORDS(candidates);

	return arena_array_of(a, solve_word, words ? words : 1);
}

solve_word *
solve_set_full(struct arena *a, size_t candidates)
{
	solve_word *set = solve_set(a, candidates);

	memset(set, 0xff, candidates / 64 * sizeof(solve_word));
	if (candidates % 64)
		set[candidates / 64] = ((solve_word)1 << candidates % 64) - 1;
	return set;
}

void
solve_set_add(solve_word *set, size_t candidate)
{
	set[candidate / 64] |= (solve_word)1 << candidate % 64;
}

void
solve_set_remove(solve_word *set, size_t candidate)
{
	set[candidate / 64] &= ~((solve_word)1 << candidate % 64);
}

bool
solve_set_has(const solve_word *set, size_t candidate)
{
	return set[candidate / 64] >> candidate % 64 & 1;
}

size_t
solve_set_count(const solve_word *set, size_t candidates)
{
	size_t count = 0;

	for (size_t i = 0; i < candidates / 64; i++)
		count += (size_t)__builtin_popcountll(set[i]);
	if (candidates % 64)
		count += (size_t)__builtin_popcountll(set[candidates / 64]
						      << (64 - candidates % 64));
	return count;
}

solve_word *
solve_set_not(struct arena *a, const solve_word *set, size_t candidates)
{
	solve_word *out = solve_set_full(a, candidates);

	for (size_t i = 0; i < SOLVE_WORDS(candidates); i++)
		out[i] &= ~set[i];
	return out;
}

static void
push_pair(struct arena *a, struct solve_facts *out, struct solve_term x, struct solve_term y,
	  const void *why)
{
	struct solve_term *terms = arena_array_of(a, struct solve_term, 2);

	terms[0] = x;
	terms[1] = y;
	list_push(a, out, (struct solve_fact){ .terms = terms, .n = 2, .why = why });
}

void
solve_needs(struct arena *a, struct solve_facts *out, unsigned when, const solve_word *these,
	    unsigned then, const solve_word *those, const void *why)
{
	push_pair(a, out, (struct solve_term){ .thing = when, .set = these },
		  (struct solve_term){ .thing = then, .not = true, .set = those }, why);
}

void
solve_allows(struct arena *a, struct solve_facts *out, unsigned when, const solve_word *these,
	     unsigned then, const solve_word *those, size_t candidates, const void *why)
{
	const solve_word *others = solve_set_not(a, those, candidates);

	push_pair(a, out, (struct solve_term){ .thing = when, .set = these },
		  (struct solve_term){ .thing = then, .set = others }, why);
}
