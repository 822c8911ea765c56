#include "order.h"

#include <string.h>

/*
 * Jobs in the order given as far as their needs allow: of those that may come next
 * always the first.  False: a circle.
 */
static bool
topological(struct arena *a, const struct job *jobs, size_t n, size_t *order)
{
	bool *done = arena_array_of(a, bool, n);

	for (size_t at = 0; at < n; at++) {
		size_t next = 0;

		for (; next < n; next++) {
			size_t k = 0;

			if (done[next])
				continue;
			while (k < jobs[next].nneeds && done[jobs[next].needs[k]])
				k++;
			if (k == jobs[next].nneeds)
				break;
		}
		if (next == n)
			return false;
		done[next] = true;
		order[at] = next;
	}
	return true;
}

/* True if each job needs the one before it: there is nothing to choose. */
static bool
is_chain(const struct job *jobs, const size_t *order, size_t n)
{
	for (size_t at = 1; at < n; at++) {
		const struct job *j = &jobs[order[at]];
		size_t k = 0;

		while (k < j->nneeds && j->needs[k] != order[at - 1])
			k++;
		if (k == j->nneeds)
			return false;
	}
	return true;
}

bool
order_jobs(struct arena *a, const struct job *jobs, size_t n, size_t *order, bool *exact)
{
	size_t *sorted = arena_array_of(a, size_t, n), *ends, nends = 0;
	bool ok = topological(a, jobs, n, sorted);

	*exact = true;
	if (ok && !is_chain(jobs, sorted, n)) {
		ends = arena_array_of(a, size_t, n);
		order_split(jobs, sorted, n, ends, &nends);
		for (size_t i = 0, from = 0; i < nends; from = ends[i++])
			*exact &= order_part(jobs, n, sorted + from, ends[i] - from);
	}
	if (ok && n)
		memcpy(order, sorted, n * sizeof(*order));
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
