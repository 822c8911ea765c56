/*
 * solve_bench -- measures the solver on universes made from a seed:
 *
 *     typical    30 variables of 1 to 130 candidates, about 2,000 facts: each candidate needs
 *                some of the others within an interval; possible
 *     conflict   the same with incompatible pins: the reason, and the changes
 *     dense      20 variables of 10 candidates, pairs forbidden at random, the hardest case
 *     pigeons    12 variables, 11 candidates, all different: impossible, without a short proof
 *
 *     solve_bench [SEED [STEPS]]
 *
 * prints one JSON object per line; times are in microseconds, the best of several rounds:
 *
 *     {"name","facts","answer","steps","solve_us","conflicts_us","repairs_us"}
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../unit/solve_facts.h"

enum { MOST = 40 };

struct universe {
	struct arena *a;
	unsigned n, candidates[MOST];
	struct solve_facts said[MOST][131];
	struct solve_pin pins[2 * MOST];
	size_t npins, nfacts;
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

static size_t
candidates(void *ctx, unsigned variable)
{
	return ((struct universe *)ctx)->candidates[variable];
}

static void
facts(void *ctx, unsigned variable, size_t candidate, struct solve_facts *out)
{
	*out = ((struct universe *)ctx)->said[variable][candidate];
}

static solve_word *
interval(struct universe *u, unsigned variable, unsigned from, unsigned to)
{
	solve_word *set = solve_set(u->a, u->candidates[variable]);

	for (unsigned i = from; i < to && i < u->candidates[variable]; i++)
		solve_set_add(set, i);
	return set;
}

static void
pin(struct universe *u, unsigned variable, const solve_word *set, bool fixed)
{
	u->pins[u->npins++] =
		(struct solve_pin){ .variable = variable, .set = set, .fixed = fixed };
}

/* Candidates of x need a y of about the same age, like packages that are released together. */
static void
typical(struct universe *u)
{
	u->n = 30;
	for (unsigned x = 0; x < u->n; x++)
		u->candidates[x] = x % 3 ? 10 + roll(30) : 40 + roll(91);
	for (unsigned x = 0; x < u->n; x++) {
		for (unsigned k = 0; k < 6; k++) {
			unsigned y = roll(u->n), nx = u->candidates[x], ny = u->candidates[y];

			for (unsigned from = 0; x != y && from < nx; from += 1 + nx / 16) {
				unsigned to = from + 1 + nx / 16, at = from * ny / nx;
				unsigned low = at > ny / 4 ? at - ny / 4 : 0;
				const solve_word *these = interval(u, x, from, to);
				const solve_word *those =
					interval(u, y, low + roll(2), at + ny / 3);

				if (x < y)
					solve_needs(u->a, &u->said[x][from], x, these, y, those,
						    NULL);
				else
					solve_allows(u->a, &u->said[x][from], x, these, y, those,
						     ny, NULL);
				for (unsigned c = from + 1; c < to && c < nx; c++)
					list_push(u->a, &u->said[x][c],
						  u->said[x][from].at[u->said[x][from].n - 1]);
				u->nfacts++;
			}
		}
	}
	for (unsigned x = 0; x < u->n; x += 2)
		pin(u, x, interval(u, x, 0, u->candidates[x]), true);
}

static void
conflict(struct universe *u)
{
	typical(u);
	for (unsigned x = 0; x < u->n; x += 5) {
		unsigned at = x % 2 ? u->candidates[x] - 1 : roll(u->candidates[x]);

		pin(u, x, interval(u, x, at, at + 1), false);
	}
}

static void
forbid(struct universe *u, unsigned x, unsigned i, unsigned y, unsigned j)
{
	struct solve_term *terms = arena_array_of(u->a, struct solve_term, 2);

	terms[0] = (struct solve_term){ .variable = x, .set = interval(u, x, i, i + 1) };
	terms[1] = (struct solve_term){ .variable = y, .set = interval(u, y, j, j + 1) };
	list_push(u->a, &u->said[x][i], (struct solve_fact){ .terms = terms, .n = 2 });
	u->nfacts++;
}

static void
all_there(struct universe *u, unsigned n, unsigned each)
{
	u->n = n;
	for (unsigned x = 0; x < n; x++)
		u->candidates[x] = each;
	for (unsigned x = 0; x < n; x++)
		pin(u, x, interval(u, x, 0, each), false);
}

static void
pigeons(struct universe *u)
{
	all_there(u, 12, 11);
	for (unsigned x = 0; x < 12; x++)
		for (unsigned y = 0; y < x; y++)
			for (unsigned i = 0; i < 11; i++)
				forbid(u, x, i, y, i);
}

static void
dense(struct universe *u)
{
	all_there(u, 20, 10);
	for (unsigned x = 0; x < 20; x++)
		for (unsigned y = 0; y < x; y++)
			for (unsigned i = 0; i < 10; i++)
				for (unsigned j = 0; j < 10; j++)
					if (roll(100) < 21)
						forbid(u, x, i, y, j);
}

/* --- measuring --- */

static double
now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static const char *const answers[] = { "found", "impossible", "gave up" };

struct figures {
	struct solve_result r;
	double solve_us, conflicts_us, repairs_us;
};

static double
less(double x, double y)
{
	return x < y ? x : y;
}

static void
round_of(const struct universe *u, const struct solve_provider *p, struct solve_budget budget,
	 struct figures *f)
{
	struct arena *a = arena_new();
	struct solve_repair repair;
	double t0 = now_us(), t1, t2;

	f->r = solve(a, p, u->pins, u->npins, NULL, budget);
	t1 = now_us();
	f->solve_us = less(f->solve_us, t1 - t0);
	solve_conflicts(a, p, u->pins, u->npins, budget, NULL);
	t2 = now_us();
	f->conflicts_us = less(f->conflicts_us, t2 - t1);
	solve_repair(a, p, u->pins, u->npins, NULL, budget, NULL, &repair);
	f->repairs_us = less(f->repairs_us, now_us() - t2);
	arena_free(a);
}

static void
measure(const char *name, void (*make)(struct universe *), unsigned seed, unsigned rounds,
	unsigned steps)
{
	struct universe *u = calloc(1, sizeof *u);
	struct solve_provider p = { .ctx = u, .candidates = candidates, .facts = facts };
	struct figures f = { .solve_us = 1e18, .conflicts_us = 1e18, .repairs_us = 1e18 };

	dice = seed;
	u->a = arena_new();
	make(u);
	for (unsigned i = 0; i < rounds; i++)
		round_of(u, &p, (struct solve_budget){ steps }, &f);
	printf("{\"name\":\"%s\",\"facts\":%zu,\"answer\":\"%s\",\"steps\":%u,"
	       "\"solve_us\":%.0f,\"conflicts_us\":%.0f,\"repairs_us\":%.0f}\n",
	       name, u->nfacts, answers[f.r.status], f.r.steps, f.solve_us, f.conflicts_us,
	       f.repairs_us);
	arena_free(u->a);
	free(u);
}

int
main(int argc, char **argv)
{
	unsigned seed = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1;
	unsigned steps = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : SOLVE_BUDGET.steps;

	measure("typical", typical, seed, 20, steps);
	measure("conflict", conflict, seed, 20, steps);
	measure("dense", dense, seed, 1, steps);
	measure("pigeons", pigeons, seed, 1, steps);
	return 0;
}
