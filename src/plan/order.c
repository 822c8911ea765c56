#include "plan.h"

#include <math.h>
#include <string.h>

enum { EXACT_MAX = 20 };

/* Costs that differ only by rounding count as equal. */
static const double ROUNDING = 1e-13;

/*
 * The jobs in a topological order. Below, a job is named by its position there: it needs
 * only lower positions, and of two orders that cost the same, the lower position comes first.
 */
struct sorted {
	size_t n;
	const struct job **jobs;
	const size_t **needs; /* positions, jobs[i]->nneeds of each job */
};

/* Selects the next job whose needs are done: the first one, or the one that changes least. */
static bool
topological(struct arena *a, const struct job *jobs, size_t n, bool by_rate, size_t *order)
{
	bool *done = arena_array_of(a, bool, n);

	for (size_t at = 0; at < n; at++) {
		size_t next = n;

		for (size_t i = 0; i < n && (by_rate || next == n); i++) {
			size_t k = 0;

			if (done[i])
				continue;
			while (k < jobs[i].nneeds && done[jobs[i].needs[k]])
				k++;
			if (k == jobs[i].nneeds &&
			    (next == n || jobs[i].change_rate < jobs[next].change_rate))
				next = i;
		}
		if (next == n)
			return false;
		done[next] = true;
		order[at] = next;
	}
	return true;
}

/*
 * Returns the best next job after those of `set`, with its cost: a change of it rebuilds all jobs
 * that are not in `set`. least[s] is the cost of the best order of the jobs outside s. Returns p->n
 * if `set` lacks a job that one of its jobs needs.
 */
static size_t
best_next(const struct sorted *p, const size_t *needs, size_t set, const double *least,
	  double *cost)
{
	double rebuilt = 0;
	size_t next = p->n;

	for (size_t i = 0; i < p->n; i++) {
		if (!(set >> i & 1))
			rebuilt += p->jobs[i]->cost_s;
		else if (needs[i] & ~set)
			return p->n;
	}
	for (size_t i = 0; i < p->n; i++) {
		double c;

		if (set >> i & 1 || needs[i] & ~set)
			continue;
		c = p->jobs[i]->change_rate * rebuilt + least[set | (size_t)1 << i];
		if (next == p->n || c < *cost * (1 - ROUNDING)) {
			next = i;
			*cost = c;
		}
	}
	return next;
}

/* Dynamic programming over the down-sets: the sets that contain all needs of their jobs. */
static void
exact_order(struct arena *a, const struct sorted *p, size_t *order)
{
	size_t all = ((size_t)1 << p->n) - 1, needs[EXACT_MAX] = { 0 };
	double *least = arena_array_of(a, double, all + 1), cost;

	for (size_t i = 0; i < p->n; i++)
		for (size_t k = 0; k < p->jobs[i]->nneeds; k++)
			needs[i] |= (size_t)1 << p->needs[i][k];
	for (size_t set = all; set--;)
		best_next(p, needs, set, least, &least[set]);
	for (size_t at = 0, set = 0; at < p->n; set |= (size_t)1 << order[at++])
		order[at] = best_next(p, needs, set, least, &cost);
}

/*
 * Lists a job and its remaining requirements, highest position first, in out[0..*n). Returns their
 * ratio of cost to change rate; jobs with a high ratio come early.
 */
static double
ratio_with_needs(const struct sorted *p, size_t job, const bool *done, bool *listed, size_t *out,
		 size_t *n)
{
	double cost = 0, rate = 0;
	size_t waiting = 1;

	*n = 0;
	listed[job] = true;
	for (size_t i = job + 1; waiting && i--;) {
		if (!listed[i])
			continue;
		listed[i] = false;
		waiting--;
		out[(*n)++] = i;
		cost += p->jobs[i]->cost_s;
		rate += p->jobs[i]->change_rate;
		for (size_t k = 0; k < p->jobs[i]->nneeds; k++) {
			size_t need = p->needs[i][k];

			waiting += !done[need] && !listed[need];
			listed[need] |= !done[need];
		}
	}
	return rate > 0 ? cost / rate : HUGE_VAL;
}

/* Orders jobs greedily: always the job with the highest ratio, after its requirements. */
static void
greedy_order(struct arena *a, const struct sorted *p, size_t *order)
{
	bool *done = arena_array_of(a, bool, p->n), *listed = arena_array_of(a, bool, p->n);
	size_t *group = arena_array_of(a, size_t, p->n), n;

	for (size_t at = 0; at < p->n;) {
		size_t best = p->n;
		double highest = 0;

		for (size_t i = 0; i < p->n; i++) {
			double ratio;

			if (done[i])
				continue;
			ratio = ratio_with_needs(p, i, done, listed, group, &n);
			if (best == p->n || ratio > highest * (1 + ROUNDING)) {
				best = i;
				highest = ratio;
			}
		}
		ratio_with_needs(p, best, done, listed, group, &n);
		while (n) {
			done[group[--n]] = true;
			order[at++] = group[n];
		}
	}
}

bool
order_jobs(const struct job *jobs, size_t n, size_t *order, bool *exact)
{
	struct arena *scratch = arena_new();
	struct sorted p = { .n = n,
			    .jobs = arena_array_of(scratch, const struct job *, n),
			    .needs = arena_array_of(scratch, const size_t *, n) };
	size_t *index = arena_array_of(scratch, size_t, n);
	size_t *position = arena_array_of(scratch, size_t, n);
	bool ok = topological(scratch, jobs, n, false, index);

	*exact = n <= EXACT_MAX;
	for (size_t i = 0; i < n && ok; i++) {
		const struct job *job = p.jobs[i] = &jobs[index[i]];
		size_t *needs = arena_array_of(scratch, size_t, job->nneeds);

		position[index[i]] = i;
		for (size_t k = 0; k < job->nneeds; k++)
			needs[k] = position[job->needs[k]];
		p.needs[i] = needs;
	}
	if (ok)
		(*exact ? exact_order : greedy_order)(scratch, &p, order);
	for (size_t i = 0; i < n && ok; i++)
		order[i] = index[order[i]];
	arena_free(scratch);
	return ok;
}

double
order_cost(const struct job *jobs, const size_t *order, size_t n)
{
	double rates = 0, sum = 0;

	for (size_t i = 0; i < n; i++) {
		rates += jobs[order[i]].change_rate;
		sum += rates * jobs[order[i]].cost_s;
	}
	return sum;
}

double
order_cost_by_rate(const struct job *jobs, size_t n)
{
	struct arena *scratch = arena_new();
	size_t *order = arena_array_of(scratch, size_t, n);
	double cost = 0;

	if (topological(scratch, jobs, n, true, order))
		cost = order_cost(jobs, order, n);
	arena_free(scratch);
	return cost;
}
