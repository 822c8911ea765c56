#ifndef SOLVE_INTERNAL_H
#define SOLVE_INTERNAL_H

#include "solve.h"

/*
 * Internally, "absent" is one more value of a variable, after its candidates; so a variable with n
 * candidates has n + 1 values, a term is a set of values whether it was given with `not` or
 * without, and everything follows from intersections and unions of such sets.
 *
 *   nogood    "not all of these at once", normalised: each variable once, no set empty or full
 *   domain    the values that a variable can still have; a narrowing makes it smaller
 *   trail     all narrowings in their order, each with its cause: a nogood, or a decision
 *   level     how many variables had been decided; 0: what follows from pins and facts alone
 */
struct term {
	unsigned variable;
	const solve_word *bad;
};

struct nogood {
	struct term *terms;
	unsigned n;
	unsigned watch[2]; /* two false terms, or the latest true ones */
	const struct solve_fact *fact;
	int pin;                /* or -1 */
	struct nogood *from[2]; /* learned: the two that it follows from */
	unsigned level;         /* at which it last was looked at, of those that came late */
	bool off;               /* excluded from this search */
	bool attached;          /* to this search */
	bool marked;            /* in the proof */
	int line;               /* of the proof, or -1 */
};
struct nogoods LIST(struct nogood *);

/* A copy of the set's first word: most visits read nothing else. */
struct watch {
	struct nogood *g;
	const solve_word *bad;
	solve_word first;
	unsigned slot;
};
struct watches LIST(struct watch);

struct narrowing {
	unsigned variable, level;
	struct nogood *cause; /* NULL: a decision */
	int before;           /* the narrowing of this variable before it, or -1 */
	const solve_word *domain;
};
struct trail LIST(struct narrowing);

struct words LIST(solve_word *);

struct variable {
	bool met;
	unsigned n, words; /* candidates; words of a set of values */
	unsigned rank;
	solve_word *full;
	solve_word *asked; /* candidates whose facts are known */
	/* of the search */
	const solve_word *domain;
	int last; /* narrowing, or -1 */
	int decided;
	unsigned decided_level;
	struct watches watches;
	struct nogoods plain; /* facts and pins that are false while it is absent */
	struct words room;    /* for domains, one a narrowing */
	unsigned depth;
};
struct variables LIST(struct variable);
struct numbers LIST(unsigned);

/* The provider's answers, kept from one search to the next. */
struct universe {
	struct arena *a;       /* the caller's: facts live here */
	struct arena *scratch; /* of one call */
	const struct solve_provider *p;
	struct variables variables;
	struct nogoods facts;
	bool closed; /* the provider is not called: only the facts that are not off count */
};

struct variable *universe_meet(struct universe *u, unsigned variable);
/* Adds the provider's facts about a candidate to u->facts. */
void universe_ask(struct universe *u, unsigned variable, unsigned candidate);
/* Returns the normalised fact, or NULL if nothing can break it. */
struct nogood *universe_nogood(struct universe *u, const struct solve_term *terms, size_t n);

/* A fact that requires variables which are not decided yet. */
struct asking {
	struct nogood *g;
	unsigned level;
};
struct askings LIST(struct asking);

struct search {
	struct universe *u;
	struct nogoods pins, late;
	struct nogoods learned; /* and the steps to them, each after those that it follows from */
	struct trail trail;
	size_t done; /* length of the trail whose consequences are all on it */
	unsigned level;
	struct numbers decided;
	struct askings asking;
	size_t facts_in;       /* of u->facts */
	struct nogood *bottom; /* if impossible: the nogood without terms */
	unsigned steps;
};

/* Runs one search. `left` is the rest of the budget, which the search reduces. */
enum solve_status search_run(struct search *s, struct universe *u, const struct solve_pin *pins,
			     size_t npins, const bool *on, unsigned *left);
struct solve_result search_result(struct search *s, struct arena *a, enum solve_status status);

/* propagate.c: each returns NULL, or a nogood with only true terms. */
struct nogood *search_attach(struct search *s, struct nogood *g);
struct nogood *search_propagate(struct search *s);
struct nogood *search_late(struct search *s);
void search_decide(struct search *s, unsigned variable, unsigned value);
void search_back_to(struct search *s, unsigned level);

/* Returns the narrowing since which a term holds, at or before `at`; -1: it always did. */
int search_since(const struct search *s, const struct term *term, int at);
/* The two terms that do not hold or, of those that do, that held last: the first is the later one. */
struct latest {
	unsigned k;
	int at; /* its narrowing; the length of the trail: it is false */
};
void search_latest(const struct search *s, const struct nogood *g, struct latest best[2]);

/* learn.c: false: impossible, with the proof in s->bottom; else *next as in propagate. */
bool search_learn(struct search *s, struct nogood *conflict, struct nogood **next);
/* Marks the pins and facts of the proof of an impossible search. */
void search_mark(struct search *s);
void search_proof(struct search *s, struct arena *a, struct solve_proof *out);

static inline bool
set_within(const solve_word *x, const solve_word *y, unsigned words)
{
	for (unsigned i = 0; i < words; i++)
		if (x[i] & ~y[i])
			return false;
	return true;
}

static inline bool
set_apart(const solve_word *x, const solve_word *y, unsigned words)
{
	for (unsigned i = 0; i < words; i++)
		if (x[i] & y[i])
			return false;
	return true;
}

#endif
