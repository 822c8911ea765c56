#ifndef SOLVE_INTERNAL_H
#define SOLVE_INTERNAL_H

#include "solve.h"

/*
 * Internally, "absent" is one more value of a variable, after its candidates; so a variable with n
 * candidates has n + 1 values, a term is a set of values with or without `not`, and all operations
 * are intersections and unions of such sets.
 *
 *   nogood    "not all of these at once", normalised: each variable once, no set empty or full
 *   domain    the values that a variable can still have; a narrowing makes it smaller
 *   trail     all narrowings in their order, each with its cause: a nogood, or a decision
 *   level number of decided variables; 0: follows from pins and facts only
 */
struct term {
	unsigned variable;
	const solve_word *bad;
};

struct nogood {
	struct term *terms;
	unsigned n;
	unsigned watch[2]; /* two terms that are false, or became true last */
	const struct solve_fact *fact;
	int pin;                /* or -1 */
	struct nogood *from[2]; /* for a learned one: the two that it follows from */
	unsigned level;         /* for a late one: level of its last evaluation */
	bool off;               /* excluded from this search */
	bool attached;          /* attached to this search */
	bool marked;            /* part of the proof */
	int line;               /* line of the proof, or -1 */
};
struct nogoods LIST(struct nogood *);

/* A copy of the set's first word, which is enough for most visits. */
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
	int before;           /* the previous narrowing of this variable, or -1 */
	const solve_word *domain;
};
struct trail LIST(struct narrowing);

struct words LIST(solve_word *);

struct variable {
	bool met;
	unsigned n, words; /* number of candidates; words in a set of values */
	unsigned rank;
	const solve_word *wanted; /* candidates that are tried first; NULL: all alike */
	solve_word *full;
	solve_word *asked; /* candidates whose facts were requested */
	/* state of the search */
	const solve_word *domain;
	int last; /* last narrowing, or -1 */
	int decided;
	unsigned decided_level;
	struct watches watches;
	struct nogoods plain; /* facts and pins that are false while the variable is absent */
	struct words room;    /* memory for domains, one for each narrowing */
	unsigned depth;
};
struct variables LIST(struct variable);
struct numbers LIST(unsigned);

/* The provider's answers, shared by all searches. */
struct universe {
	struct arena *a;       /* the caller's arena, with the facts */
	struct arena *scratch; /* arena of one call */
	const struct solve_provider *p;
	struct variables variables;
	struct nogoods facts;
	bool closed; /* the provider is not called, and only facts that are not off count */
};

struct variable *universe_meet(struct universe *u, unsigned variable);
/* Adds the provider's facts about a candidate to u->facts. */
void universe_ask(struct universe *u, unsigned variable, unsigned candidate);
/* Returns the normalised fact, or NULL if it is always satisfied. */
struct nogood *universe_nogood(struct universe *u, const struct solve_term *terms, size_t n);

/* A fact that requires undecided variables. */
struct asking {
	struct nogood *g;
	unsigned level;
	unsigned met; /* level of a decision that satisfies it; 0: none yet */
};
struct askings LIST(struct asking);

struct search {
	struct universe *u;
	struct nogoods pins, late;
	struct nogoods learned; /* learned ones and the steps to them, in order */
	struct trail trail;
	size_t done; /* length of the trail whose consequences are known */
	unsigned level;
	struct numbers decided;
	struct askings asking;
	size_t facts_in;       /* number of u->facts in this search */
	struct nogood *bottom; /* the nogood without terms, if impossible */
	unsigned steps;
};

/* Runs one search. `left` is the rest of the budget, which the search reduces. */
enum solve_status search_run(struct search *s, struct universe *u, const struct solve_pin *pins,
			     size_t npins, const bool *on, unsigned *left);
struct solve_result search_result(struct search *s, struct arena *a, enum solve_status status);

/* Return NULL, or a nogood whose terms are all true: a conflict (propagate.c). */
struct nogood *search_attach(struct search *s, struct nogood *g);
struct nogood *search_propagate(struct search *s);
struct nogood *search_late(struct search *s);
void search_decide(struct search *s, unsigned variable, unsigned value);
void search_back_to(struct search *s, unsigned level);

/* Returns the narrowing, at or before `at`, that made a term true; -1: it was always true. */
int search_since(const struct search *s, const struct term *term, int at);
/* The two terms that are false or, if fewer are false, that became true last; the first one is the
 * later. */
struct latest {
	unsigned k;
	int at; /* its narrowing; the length of the trail for a false term */
};
void search_latest(const struct search *s, const struct nogood *g, struct latest best[2]);

/* Learns from a conflict (learn.c); false: impossible, with the proof in s->bottom. Otherwise,
 * *next is as in propagate. */
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
