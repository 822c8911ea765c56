#ifndef SOLVE_H
#define SOLVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/list.h"

/*
 * Selects compatible versions, or explains why there are none.  A solver (PubGrub) over an
 * abstract provider: variables, each with a list of candidates, and facts about compatible
 * candidates. It has no notion of stacks, version numbers or packages, and calls only the provider.
 *
 *   variable      a small number, given by the provider; may first be named by a fact
 *   candidate  its place in the variable's list: 0 is the one most wanted
 *   pin        a request: "this variable must be there, and be one of these"
 *   fact       "not all of these at once"
 *
 * An absent variable is in no set: it fulfils every term with `not`, and no plain one.
 */

/* A set of candidates of one variable: one bit each, in words of 64. */
typedef uint64_t solve_word;
#define SOLVE_WORDS(n) (((n) + 63) / 64)

solve_word *solve_set(struct arena *a, size_t candidates);      /* none of them */
solve_word *solve_set_full(struct arena *a, size_t candidates); /* all of them */
static inline void
solve_set_add(solve_word *set, size_t candidate)
{
	set[candidate / 64] |= (solve_word)1 << candidate % 64;
}

static inline void
solve_set_remove(solve_word *set, size_t candidate)
{
	set[candidate / 64] &= ~((solve_word)1 << candidate % 64);
}

static inline bool
solve_set_has(const solve_word *set, size_t candidate)
{
	return set[candidate / 64] >> candidate % 64 & 1;
}

size_t solve_set_count(const solve_word *set, size_t candidates);
/* Returns the complement, as a new set. */
solve_word *solve_set_not(struct arena *a, const solve_word *set, size_t candidates);

/*
 * One part of a fact.  Plain: the variable is there and is one of `set`.  With `not`: the
 * variable is not there, or is none of `set`.
 */
struct solve_term {
	unsigned variable;
	bool not ;
	const solve_word *set; /* as long as the variable has candidates */
};

/* These terms cannot all hold.  `why` is the provider's and comes back in explanations. */
struct solve_fact {
	const struct solve_term *terms;
	size_t n;
	const void *why;
};
struct solve_facts LIST(struct solve_fact);

struct solve_provider {
	void *ctx;
	/* The number of candidates, requested once at first use.  0: the variable is unavailable. */
	size_t (*candidates)(void *ctx, unsigned variable);
	/*
	 * All facts that hold if `candidate` of `variable` is chosen and that were not given
	 * before; asked once a candidate (in each call of solve() and its friends), before it
	 * is tried.  A fact may name more candidates and variables than the one asked about, and
	 * may be given again, which costs a little time.  It has a plain term, and each
	 * candidate of one of its plain terms gives it: so whatever breaks it has asked for it.
	 * Facts and their sets stay until the arena of the call is gone.
	 */
	void (*facts)(void *ctx, unsigned variable, size_t candidate, struct solve_facts *out);
	/* The order of decisions: lower first; equal: lower variable first. NULL: by number. */
	unsigned (*rank)(void *ctx, unsigned variable);
};

/*
 * A request. The variable must exist; an `optional` pin applies only if it exists. With `when`, a
 * plain term, the pin applies only if the term is true.
 */
struct solve_pin {
	unsigned variable;
	const solve_word *set;
	const struct solve_term *when; /* NULL: always */
	bool optional;
	bool fixed;      /* never changed by a repair, unless there is no other */
	unsigned weight; /* of repairs that change as many pins, the lightest comes first */
	const void *why; /* the caller's */
};

/*
 * At most so much work; then the answer is that it gave up.  A stack takes some hundred steps
 * of a microsecond each.  The more there are the more they cost: of the worst that is known
 * 5,000 take 50 ms and 5 MiB, 20,000 take a second, and a proof from them 100 MiB.
 */
struct solve_budget {
	unsigned steps; /* decisions, conflicts and requested candidates, together */
};
#define SOLVE_BUDGET ((struct solve_budget){ .steps = 20000 })

enum solve_status { SOLVE_FOUND, SOLVE_IMPOSSIBLE, SOLVE_GAVE_UP };

/* One line of a proof: a fact, a pin, or a consequence of two earlier lines. */
struct solve_line {
	const struct solve_fact *fact; /* or NULL */
	int pin;                       /* index of a pin, or -1 */
	int from[2];                   /* two earlier lines, or -1 */
	const struct solve_term *terms;
	size_t n; /* terms that cannot all be true; 0 in the last line: contradiction */
};
struct solve_proof LIST(struct solve_line);

struct solve_result {
	enum solve_status status;
	const int *chosen; /* by variable: its candidate, or -1: absent; for SOLVE_FOUND */
	size_t nvariables;
	struct solve_proof proof; /* of SOLVE_IMPOSSIBLE: each line after those it follows from */
	unsigned steps;           /* that it took */
};

/*
 * solve -- one choice for everything, or a proof that there is none.
 *
 *   in      pins; on[i] false leaves pin i out (on NULL: all count)
 *   out     the best solution: the variable of the lowest rank that must be there is decided
 *           next, as the first candidate that leaves the rest possible.  A pin makes a variable
 *           be there, or a fact whose other terms hold by earlier decisions.  Where facts ask
 *           for one of several variables, that of the lowest rank is next; it is left out if it
 *           has no such candidate.  Whatever nothing asks for is not there
 *   memory  lives in a
 *   source  PubGrub: https://github.com/dart-lang/pub/blob/master/doc/solver.md
 */
struct solve_result solve(struct arena *a, const struct solve_provider *p,
			  const struct solve_pin *pins, size_t npins, const bool *on,
			  struct solve_budget budget);

/* Pins by their index. */
struct solve_indexes LIST(unsigned);

/* A smallest conflict: take any one pin of it away and the others can live together. */
struct solve_conflict {
	struct solve_indexes pins; /* ascending */
	struct solve_facts facts;  /* of the proof, in its order, each once */
	struct solve_proof proof;  /* from these pins and facts; empty if the budget ended */
};
struct solve_conflicts LIST(struct solve_conflict);

/*
 * solve_conflicts -- every conflict, independent ones apart: no pin is in two of them, but for
 * fixed ones, and without all pins that are named in any of them the rest is possible.
 *
 *   out     none: all pins together are possible.  Of the facts of each none can be spared.
 *           One without pins: the facts alone are impossible, and it is the last.  *gave_up
 *           (may be NULL) true: the budget ended before all of them were found, or before
 *           one was smallest
 */
struct solve_conflicts solve_conflicts(struct arena *a, const struct solve_provider *p,
				       const struct solve_pin *pins, size_t npins,
				       struct solve_budget budget, bool *gave_up);

/* Pins whose removal makes the rest possible, and the solution without them. */
struct solve_repair {
	struct solve_indexes pins; /* ascending */
	struct solve_result result;
};

/*
 * solve_repair -- finds the closest possible set of pins.
 *
 *   in      keep[i] true: pin i is not to be changed (keep NULL: as the pins say)
 *   out     fewest changed pins first, then lightest, then best: of the variables by rank the
 *           first that differs has the more wanted candidate (not there is wanted least).
 *           If all is possible as it is, one without pins.  One that changes a fixed pin only
 *           if there is none without.  False: there is none, or *gave_up (may be NULL) says
 *           that the budget ended; it may have with one found
 *
 * A removed pin requires nothing, so its variable may be absent: if it must exist in another
 * version, add a second, fixed pin to all its candidates.
 */
bool solve_repair(struct arena *a, const struct solve_provider *p, const struct solve_pin *pins,
		  size_t npins, const bool *keep, struct solve_budget budget, bool *gave_up,
		  struct solve_repair *out);

#endif
