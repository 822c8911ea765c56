#ifndef SOLVE_FACTS_H
#define SOLVE_FACTS_H

#include "solve/solve.h"

/* Makes facts of two terms, for the solver's tests. */
static inline void
push_pair(struct arena *a, struct solve_facts *out, struct solve_term x, struct solve_term y,
	  const void *why)
{
	struct solve_term *terms = arena_array_of(a, struct solve_term, 2);

	terms[0] = x;
	terms[1] = y;
	list_push(a, out, (struct solve_fact){ .terms = terms, .n = 2, .why = why });
}

/* Adds the fact "if `when` is one of `these`, `then` must be present and one of `those`". */
static inline void
solve_needs(struct arena *a, struct solve_facts *out, unsigned when, const solve_word *these,
	    unsigned then, const solve_word *those, const void *why)
{
	push_pair(a, out, (struct solve_term){ .variable = when, .set = these },
		  (struct solve_term){ .variable = then, .not = true, .set = those }, why);
}

/* Adds the same fact, but `then` may be absent. `candidates`: the number of those of `then`. */
static inline void
solve_allows(struct arena *a, struct solve_facts *out, unsigned when, const solve_word *these,
	     unsigned then, const solve_word *those, size_t candidates, const void *why)
{
	const solve_word *others = solve_set_not(a, those, candidates);

	push_pair(a, out, (struct solve_term){ .variable = when, .set = these },
		  (struct solve_term){ .variable = then, .set = others }, why);
}

#endif
