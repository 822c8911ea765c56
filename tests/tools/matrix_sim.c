/*
 * Computes the time of a matrix on several workers: runs the planner with a simulated clock.
 *
 *     matrix_sim RECIPE WORKERS...
 *
 * Costs are those of the plan: measured ones of the knowledge base.  All workers share one cache:
 * the first unit that needs a base stage makes it, and other units wait for it.  Prints JSON.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "facts/facts.h"
#include "plan/plan.h"
#include "recipe/recipe.h"
#include "resolve/resolve.h"

struct run {
	double *ends;      /* of each unit that runs */
	double *base_done; /* of each base stage; -1: no unit makes it */
};

static double
simulate(struct arena *a, const struct matrix *m, size_t workers)
{
	struct indexes all = matrix_shard(a, m, 1, 1);
	struct schedule s = schedule_new(a, m, all);
	struct run r = { .ends = arena_array_of(a, double, s.n),
			 .base_done = arena_array_of(a, double, m->bases.n) };
	size_t running = 0;
	double now = 0;

	for (size_t i = 0; i < m->bases.n; i++)
		r.base_done[i] = -1;
	for (;;) {
		size_t first = s.n;
		int unit;

		while (running < workers && (unit = schedule_next(&s)) != NO_UNIT) {
			double *done = &r.base_done[s.units[unit].base];

			if (*done < 0)
				*done = now + m->bases.at[s.units[unit].base].cost_s;
			r.ends[unit] = (*done > now ? *done : now) + s.units[unit].cost_s;
			running++;
		}
		for (size_t i = 0; i < s.n; i++)
			if (s.units[i].state == UNIT_RUNNING &&
			    (first == s.n || r.ends[i] < r.ends[first]))
				first = i;
		if (first == s.n)
			return now;
		now = r.ends[first];
		schedule_end(&s, first, true);
		running--;
	}
}

/* Returns the longest path through base stage, wheel and cell: the minimum time in any case. */
static double
longest_path(struct arena *a, const struct matrix *m)
{
	const struct schedule s = schedule_new(a, m, matrix_shard(a, m, 1, 1));
	double longest = 0;

	for (size_t i = 0; i < s.n; i++) {
		double path = m->bases.at[s.units[i].base].cost_s + s.units[i].rest_s;

		if (s.units[i].state == UNIT_WAITING && path > longest)
			longest = path;
	}
	return longest;
}

static const struct matrix *
read_matrix(struct arena *a, const char *path)
{
	struct recipe_options o = { .path = path };
	struct matrix *m = matrix_new(a, false);
	struct diags ds;
	const struct facts *f;
	const struct recipes *rs;

	ds = DIAGS(ds, a);
	f = facts_load(a, &ds, NULL);
	rs = f ? recipes_load(a, &ds, f, &o) : NULL;
	for (size_t i = 0; rs && i < rs->n; i++) {
		const struct stack *s = resolve(a, &ds, f, rs->at[i], NULL);
		const struct plan *p = s ? plan_make(a, &ds, s, NULL) : NULL;

		if (!p)
			return NULL;
		matrix_add(m, p);
	}
	return rs ? m : NULL;
}

int
main(int argc, char **argv)
{
	struct arena *a = arena_new();
	const struct matrix *m = argc > 2 ? read_matrix(a, argv[1]) : NULL;
	double one, longest;

	if (!m) {
		fputs("usage: matrix_sim RECIPE WORKERS...\n", stderr);
		return 2;
	}
	one = simulate(a, m, 1);
	longest = longest_path(a, m);
	printf("{\"cells\": %zu, \"wheels\": %zu, \"bases\": %zu, \"one_s\": %.3f, \"longest_s\": "
	       "%.3f, \"runs\": [",
	       m->cells.n, m->wheels.n, m->bases.n, one, longest);
	for (int i = 2; i < argc; i++) {
		size_t workers = strtoul(argv[i], NULL, 10);

		printf("%s{\"workers\": %zu, \"seconds\": %.3f}", i > 2 ? ", " : "", workers,
		       simulate(a, m, workers));
	}
	puts("]}");
	arena_free(a);
	return 0;
}
