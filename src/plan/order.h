#ifndef ORDER_H
#define ORDER_H

#include "plan.h"

/*
 * The parts of order_jobs, for order*.c only.  A job's weight in 1|prec|sum wC is its
 * cost_s and its processing time its change_rate: what a change costs is the sum over
 * jobs of cost_s x (change rates of it and of all earlier jobs).
 */

/*
 * order_split -- Sidney's decomposition.
 *
 *   in      ids[0..n): all jobs, in a topological order
 *   out     ids rearranged into parts that follow each other in an optimal order;
 *           ends[0..*nends): where each part ends.  Inside a part no closed set has a
 *           higher ratio of cost to change rate than the whole.
 *   source  Sidney 1975; maximum closure by minimum cut: Picard 1976, Lawler 1978
 */
void order_split(const struct job *jobs, size_t *ids, size_t n, size_t *ends, size_t *nends);

/*
 * order_part -- the best order of one part.
 *
 *   in      ids[0..n): the part, in a topological order
 *   out     ids rearranged; true if that is the optimum for certain
 */
bool order_part(const struct job *jobs, size_t njobs, size_t *ids, size_t n);

/* A job's cost for its change rate: what belongs early.  Never NaN. */
static inline long double
order_ratio(const struct job *j)
{
	return j->change_rate > 0 ? (long double)j->cost_s / j->change_rate : __builtin_huge_vall();
}

#endif
