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
