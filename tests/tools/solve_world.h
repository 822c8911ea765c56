/*
 * Small random worlds for solve_oracle, and their solutions by exhaustive search.
 * It uses only the public header of src/solve/.
 */
#ifndef SOLVE_WORLD_H
#define SOLVE_WORLD_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "solve/solve.h"

enum { MOST_THINGS = 7, MOST_LAWS = 40, MOST_PINS = 6, MOST_VALUES = 20000, OPEN = -1 };

/* A term: one word, because a variable has at most 6 candidates.  A value is the index of a
 * candidate; the next index means "absent". */
struct part {
	unsigned variable;
	bool not ;
	uint64_t set;
};

struct law {
	struct part terms[3];
	unsigned n, home; /* the provider returns it for a candidate of this term */
	bool told;
};

struct world {
	unsigned number, nvariables, nlaws, npins;
	unsigned candidates[MOST_THINGS], rank[MOST_THINGS];
	bool ranked, repeats;
	struct law laws[MOST_LAWS + MOST_PINS]; /* the laws, then the pins as laws */
	struct solve_pin pins[MOST_PINS];
	uint64_t sets[MOST_PINS];
	struct arena *a;
	signed char possible[1 << MOST_PINS]; /* by the set of pins: 0 unknown, 1 no, 2 yes */
};

static uint64_t dice;

static unsigned
roll(unsigned n)
{
	uint64_t z = dice += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return (unsigned)((z ^ z >> 31) % n);
}

/* Returns random candidates of a variable; at least one, if it has any. */
static uint64_t
some(unsigned n)
{
	return n ? 1 + roll((1u << n) - 1) : 0;
}

/* Kinds: 0-3 needs; 4-6 two, 7 three that exclude each other; 8 two need a third; 9 needs one of
 * two. */
static void
random_law(struct world *w, struct law *l)
{
	unsigned kind = roll(10), want = kind < 7 ? 2 : 3;

	*l = (struct law){ 0 };
	while (l->n < want) {
		unsigned x = roll(w->nvariables);
		bool twice = false;

		for (unsigned k = 0; k < l->n; k++)
			twice |= l->terms[k].variable == x;
		if (twice && roll(20))
			continue;
		l->terms[l->n] = (struct part){ .variable = x, .set = some(w->candidates[x]) };
		l->terms[l->n].not = (kind < 4 && l->n == 1) || (kind == 8 && l->n == 2) ||
				     (kind == 9 && l->n > 0);
		l->n++;
	}
	l->home = kind >= 4 && kind < 8 ? roll(l->n) : 0;
}

static void
random_pins(struct world *w)
{
	w->npins = 1 + roll(MOST_PINS);
	for (unsigned i = 0; i < w->npins; i++) {
		unsigned x = roll(w->nvariables), n = w->candidates[x];
		uint64_t all = ((uint64_t)1 << n) - 1;
		struct law *l = &w->laws[w->nlaws + i];

		w->sets[i] = roll(4) ? some(n) : all;
		w->pins[i] = (struct solve_pin){ .variable = x,
						 .set = &w->sets[i],
						 .optional = !roll(5),
						 .fixed = !roll(4),
						 .weight = roll(3) };
		*l = (struct law){ .n = 1 };
		l->terms[0] = (struct part){ .variable = x, .not = true, .set = w->sets[i] };
		if (w->pins[i].optional)
			l->terms[0] = (struct part){ .variable = x, .set = all & ~w->sets[i] };
	}
}

static void
random_world(struct world *w, uint64_t seed)
{
	unsigned total;

	dice = seed;
	do {
		total = 1;
		w->nvariables = 3 + roll(MOST_THINGS - 2);
		for (unsigned i = 0; i < w->nvariables; i++) {
			w->candidates[i] = roll(30) ? 1 + roll(6) : 0;
			w->rank[i] = roll(w->nvariables);
			total *= w->candidates[i] + 1;
		}
	} while (total > MOST_VALUES);
	w->ranked = roll(4);
	w->repeats = roll(2);
	w->nlaws = roll(4) ? 2 * w->nvariables + roll(3 * w->nvariables) : roll(MOST_LAWS);
	for (unsigned i = 0; i < w->nlaws; i++)
		random_law(w, &w->laws[i]);
	random_pins(w);
}

/* --- the input of the solver --- */

static size_t
world_candidates(void *ctx, unsigned variable)
{
	return ((struct world *)ctx)->candidates[variable];
}

static unsigned
world_rank(void *ctx, unsigned variable)
{
	return ((struct world *)ctx)->rank[variable];
}

static void
world_facts(void *ctx, unsigned variable, size_t candidate, struct solve_facts *out)
{
	struct world *w = ctx;

	if (candidate >= w->candidates[variable])
		abort();
	for (unsigned i = 0; i < w->nlaws; i++) {
		struct law *l = &w->laws[i];
		const struct part *home = &l->terms[l->home];
		struct solve_term *terms;

		if (home->variable != variable || !(home->set >> candidate & 1) ||
		    (l->told && !w->repeats))
			continue;
		l->told = true;
		terms = arena_array_of(w->a, struct solve_term, l->n);
		for (unsigned k = 0; k < l->n; k++)
			terms[k] = (struct solve_term){ .variable = l->terms[k].variable,
							.not = l->terms[k].not,
							.set = &l->terms[k].set };
		list_push(w->a, out, (struct solve_fact){ .terms = terms, .n = l->n, .why = l });
	}
}

static struct solve_provider
provider_of(struct world *w)
{
	for (unsigned i = 0; i < w->nlaws; i++)
		w->laws[i].told = false;
	return (struct solve_provider){ .ctx = w,
					.candidates = world_candidates,
					.facts = world_facts,
					.rank = w->ranked ? world_rank : NULL };
}

/* --- exhaustive search --- */

static bool
part_holds(const struct world *w, const struct part *t, unsigned value)
{
	return (value < w->candidates[t->variable] && t->set >> value & 1) != t->not ;
}

/* Returns the pins as a set of laws: they are laws too, after the others. */
static uint64_t
pins_as_laws(const struct world *w, unsigned pins)
{
	return (uint64_t)pins << w->nlaws;
}

static uint64_t
all_laws(const struct world *w)
{
	return ((uint64_t)1 << w->nlaws) - 1;
}

/* Returns whether every law of `laws` whose last variable is `variable` is kept. */
static bool
kept_at(const struct world *w, uint64_t laws, const int *value, unsigned variable)
{
	for (unsigned i = 0; i < w->nlaws + w->npins; i++) {
		bool here = true, broken = true;

		if (!(laws >> i & 1))
			continue;
		for (unsigned k = 0; k < w->laws[i].n && here; k++) {
			const struct part *t = &w->laws[i].terms[k];

			here = t->variable <= variable;
			broken = broken && here && part_holds(w, t, (unsigned)value[t->variable]);
		}
		if (here && broken)
			return false;
	}
	return true;
}

static bool
possible_from(const struct world *w, uint64_t laws, int *value, unsigned variable)
{
	if (variable == w->nvariables)
		return true;
	for (unsigned v = 0; v <= w->candidates[variable]; v++) {
		value[variable] = (int)v;
		if (kept_at(w, laws, value, variable) &&
		    possible_from(w, laws, value, variable + 1))
			return true;
	}
	return false;
}

static bool
possible_by(const struct world *w, uint64_t laws)
{
	int value[MOST_THINGS];

	return possible_from(w, laws, value, 0);
}

/* Returns whether there is a solution with all laws and these pins. */
static bool
possible(struct world *w, unsigned pins)
{
	if (!w->possible[pins])
		w->possible[pins] = possible_by(w, all_laws(w) | pins_as_laws(w, pins)) ? 2 : 1;
	return w->possible[pins] == 2;
}

/* --- the best solution by the order in solve.h, without learning or look-ahead --- */

static bool
comes_before(const struct world *w, unsigned x, unsigned y)
{
	if (w->ranked && w->rank[x] != w->rank[y])
		return w->rank[x] < w->rank[y];
	return x < y;
}

/* Returns how many undecided variables the law has, and the first of them; -1: it is violated. */
static int
asks_for(const struct world *w, const struct law *l, const int *value, unsigned *first)
{
	int open = 0;

	for (unsigned k = 0; k < l->n; k++) {
		unsigned x = l->terms[k].variable;
		bool decided = value[x] != OPEN;

		if (!part_holds(w, &l->terms[k], decided ? (unsigned)value[x] : w->candidates[x]))
			return 0;
		if (decided || !l->terms[k].set) /* "none of no candidates" requires nothing */
			continue;
		if (!open || comes_before(w, x, *first))
			*first = x;
		for (unsigned j = 0; j < k; j++)
			decided |= l->terms[j].variable == x;
		open += !decided;
	}
	return open ? open : -1;
}

static bool
best_from(const struct world *w, uint64_t laws, int *value)
{
	unsigned next = 0, x = 0;
	int kind = 0; /* 1: a variable must be present; 2: one of several */

	for (unsigned i = 0; i < w->nlaws + w->npins; i++) {
		int open = laws >> i & 1 ? asks_for(w, &w->laws[i], value, &x) : 0, of;

		if (open < 0)
			return false;
		of = open > 1 ? 2 : open;
		if (of && (!kind || of < kind || (of == kind && comes_before(w, x, next)))) {
			next = x;
			kind = of;
		}
	}
	if (!kind)
		return true;
	for (unsigned v = 0; v <= w->candidates[next]; v++) {
		value[next] = (int)v;
		if (best_from(w, laws, value))
			return true;
	}
	value[next] = OPEN;
	return false;
}

/* Returns false if there is no solution.  value[x]: a candidate, or -1: absent. */
static bool
best(const struct world *w, unsigned pins, int *value)
{
	for (unsigned i = 0; i < w->nvariables; i++)
		value[i] = OPEN;
	if (!best_from(w, all_laws(w) | pins_as_laws(w, pins), value))
		return false;
	for (unsigned i = 0; i < w->nvariables; i++)
		if (value[i] == (int)w->candidates[i])
			value[i] = -1;
	return true;
}

#endif
