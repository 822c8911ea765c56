#ifndef SOLVE_H
#define SOLVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/list.h"

/*
 * Selects compatible versions, or explains why there are none. A solver (PubGrub) over an abstract
 * provider: variables, each with a list of candidates, and facts about compatible candidates. It
 * does not depend on stacks, version numbers or packages, and calls only the provider.
 *
 *   variable      a small number, given by the provider; may first be named by a fact
 *   candidate its place in the variable's list: 0 is the most preferred
 *   pin a request: "this variable must exist, and be one of these"
 *   fact       "not all of these at once"
 *
 * An absent variable is in no set: it makes every term with `not` true, and every plain term false.
 */

/* A set of candidates of one variable: one bit each, in words of 64. */
typedef uint64_t solve_word;
#define SOLVE_WORDS(n) (((n) + 63) / 64)

solve_word *solve_set(struct arena *a, size_t candidates);      /* returns an empty set */
solve_word *solve_set_full(struct arena *a, size_t candidates); /* returns the set of all */
static inline void
solve_set_add(solve_word *set, size_t candidate)
{
	set[candidate / 64] |= (solve_word)1 << candidate % 64;
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
 * A part of a fact. Plain: the variable exists and is in `set`. With `not`: the variable is absent
 * or not in `set`.
 */
struct solve_term {
	unsigned variable;
	bool not ;
	const solve_word *set; /* one bit for each candidate of the variable */
};

/* A fact: these terms cannot all be true. `why` belongs to the provider, and explanations return
 * it. */
struct solve_fact {
	const struct solve_term *terms;
	size_t n;
	const void *why;
};
struct solve_facts LIST(struct solve_fact);

struct solve_provider {
	void *ctx;
	/* Returns the number of candidates; called once at first use. 0: the variable is
	 * unavailable. */
	size_t (*candidates)(void *ctx, unsigned variable);
	/*
	 * Adds all new facts for the selection of `candidate` of `variable`; called once for each
	 * candidate (in each call of solve() and the functions below), before it is tried. A fact
	 * may have more candidates and variables, and may be added again, which takes a little
	 * time. It must have a plain term, all candidates of which add the fact, so that every
	 * violation has requested it. Facts and their sets live until the arena of the call is
	 * freed.
	 */
	void (*facts)(void *ctx, unsigned variable, size_t candidate, struct solve_facts *out);
	/* Returns the order of decisions: lower first, and for equal ranks the lower variable.
	 * NULL: by number. */
	unsigned (*rank)(void *ctx, unsigned variable);
	/* Returns the candidates of a variable that are tried before all others; NULL, as the result or
	 * the function: none. */
	const solve_word *(*wanted)(void *ctx, unsigned variable);
};

/*
 * A request. The variable must exist; an `optional` pin applies only if it exists. With `when`, a
 * plain term, the pin applies only if the term is true.
 */
struct solve_pin {
	unsigned variable;
	const solve_word *set;
	const struct solve_term *when; /* NULL: it always applies */
	bool optional;
	bool fixed;      /* a repair changes it only if there is no other repair */
	unsigned weight; /* if several repairs change equally many pins, the lightest wins */
	const void *why; /* belongs to the caller */
};

/*
 * Limits the work; solve() gives up afterwards. A stack takes some hundred steps of a microsecond
 * each. Later steps take longer: in the worst known case, 5,000 steps take 50 ms and 5 MiB, and
 * 20,000 steps take a second, with a proof of 100 MiB.
 */
struct solve_budget {
	unsigned steps; /* decisions, conflicts and requested candidates, together */
};
#define SOLVE_BUDGET ((struct solve_budget){ .steps = 20000 })

enum solve_status { SOLVE_FOUND, SOLVE_IMPOSSIBLE, SOLVE_GAVE_UP };

/* A line of a proof: a fact, a pin, or a consequence of two earlier lines. */
struct solve_line {
	const struct solve_fact *fact; /* or NULL */
	int pin;                       /* index of a pin, or -1 */
	int from[2];                   /* two earlier lines, or -1 */
	const struct solve_term *terms;
	size_t n; /* terms that cannot all be true; 0 in the last line */
};
struct solve_proof LIST(struct solve_line);

struct solve_result {
	enum solve_status status;
	const int *chosen; /* for SOLVE_FOUND: the candidate of each variable; -1: absent */
	size_t nvariables;
	struct solve_proof proof; /* for SOLVE_IMPOSSIBLE, in order of dependency */
	unsigned steps;           /* number of steps taken */
};

/*
 * solve -- returns a solution, or a proof that there is none.
 *
 *   in      pins; on[i] false excludes pin i (on NULL: all count)
 *   out     the best solution: the required variable of the lowest rank is decided next, as its
 *           first candidate with which a solution remains, `wanted` ones before the others. A pin
 *           requires a variable, and so does a fact whose other terms are true by earlier decisions. If a fact requires one of several
 *           variables, the one of the lowest rank is next; without such a candidate, it is absent.
 *           A variable that nothing requires is absent
 *   memory  lives in a
 *   source  PubGrub: https://github.com/dart-lang/pub/blob/master/doc/solver.md
 */
struct solve_result solve(struct arena *a, const struct solve_provider *p,
			  const struct solve_pin *pins, size_t npins, const bool *on,
			  struct solve_budget budget);

/* Pins by their index. */
struct solve_indexes LIST(unsigned);

/* A minimal conflict: without any one of its pins, the others are possible. */
struct solve_conflict {
	struct solve_indexes pins; /* in ascending order */
	struct solve_facts facts;  /* facts of the proof in its order, each once */
	struct solve_proof proof;  /* from these; empty if the budget was used up */
};
struct solve_conflicts LIST(struct solve_conflict);

/*
 * solve_conflicts -- finds all independent conflicts: no pin except a fixed one is in two of them,
 * and without all of their pins, the rest is possible.
 *
 *   out     none: all pins together are possible. Each conflict needs all of its facts. A conflict
 *           without pins, which is the last one: the facts alone are impossible. *gave_up (may be
 *           NULL) true: the budget was used up before all conflicts were found and minimal
 */
struct solve_conflicts solve_conflicts(struct arena *a, const struct solve_provider *p,
				       const struct solve_pin *pins, size_t npins,
				       struct solve_budget budget, bool *gave_up);

/* A set of pins whose removal makes the rest possible, and the solution without them. */
struct solve_repair {
	struct solve_indexes pins; /* in ascending order */
	struct solve_result result;
};

/*
 * solve_repair -- finds the closest possible set of pins.
 *
 *   in      keep[i] true: pin i must not change (keep NULL: as in the pins)
 *   out     fewest changed pins first, then lightest, then the best one: of the variables by rank,
 *           the first one that differs has the more preferred candidate (absent is least
 *           preferred). If all pins are possible, a repair without pins. It changes a fixed pin
 *           only if there is no other repair. False: there is none, or *gave_up (may be NULL) is
 *           true, because the budget was used up; that may also happen with a repair
 *
 * A removed pin requires nothing, so its variable may be absent: if it must exist in another
 * version, add a second, fixed pin to all its candidates.
 */
bool solve_repair(struct arena *a, const struct solve_provider *p, const struct solve_pin *pins,
		  size_t npins, const bool *keep, struct solve_budget budget, bool *gave_up,
		  struct solve_repair *out);

#endif
