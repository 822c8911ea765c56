/*
 * The nearest that is possible.  Every repair takes a pin away from every conflict; so the
 * smallest set that hits all conflicts known is tried, and if it does not do, there is one
 * more conflict known.
 */
#include "internal.h"

#include <limits.h>
#include <string.h>

struct found {
	struct solve_repair repair;
	uint64_t weight;
};

struct cores LIST(struct solve_indexes);
struct founds LIST(struct found);

struct workshop {
	struct universe u;
	const struct solve_pin *pins;
	size_t npins;
	const bool *may;        /* be taken away */
	struct cores conflicts; /* of each those pins that may */
	struct founds found;
	unsigned left;
	bool gave_up;
	/* of the search for a hitting set */
	bool *taken, *best;
	unsigned *barred; /* by how many of the conflicts on the way */
	size_t best_n;
	uint64_t best_weight;
	bool any;
};

static bool
within(const struct solve_indexes *pins, const bool *taken)
{
	for (size_t i = 0; i < pins->n; i++)
		if (!taken[pins->at[i]])
			return false;
	return true;
}

static const struct solve_indexes *
not_hit(const struct workshop *w)
{
	for (size_t i = 0; i < w->conflicts.n; i++) {
		const struct solve_indexes *c = &w->conflicts.at[i];
		bool hit = false;

		for (size_t k = 0; k < c->n && !hit; k++)
			hit = w->taken[c->at[k]];
		if (!hit)
			return c;
	}
	return NULL;
}

static bool
holds_a_repair(const struct workshop *w)
{
	for (size_t i = 0; i < w->found.n; i++)
		if (within(&w->found.at[i].repair.pins, w->taken))
			return true;
	return false;
}

static bool
worse(const struct workshop *w, size_t n, uint64_t weight)
{
	return w->any && (n > w->best_n || (n == w->best_n && weight >= w->best_weight));
}

/* All smallest hitting sets come by: each pin of a conflict that is not hit, in turn. */
static void
hit(struct workshop *w, size_t n, uint64_t weight)
{
	const struct solve_indexes *c;

	if (worse(w, n, weight) || holds_a_repair(w))
		return;
	if (!w->left) {
		w->gave_up = true;
		return;
	}
	w->left--;
	c = not_hit(w);
	if (!c) {
		w->any = true;
		w->best_n = n;
		w->best_weight = weight;
		memcpy(w->best, w->taken, w->npins * sizeof *w->best);
		return;
	}
	for (size_t k = 0; k < c->n; k++) {
		unsigned pin = c->at[k];

		if (!w->barred[pin]) {
			w->taken[pin] = true;
			hit(w, n + 1, weight + w->pins[pin].weight);
			w->taken[pin] = false;
		}
		w->barred[pin]++;
	}
	for (size_t k = 0; k < c->n; k++)
		w->barred[c->at[k]]--;
}

/* The smallest set that may be a repair: w->best.  False: there is none. */
static bool
next_hit(struct workshop *w)
{
	w->any = false;
	w->best_n = 0;
	w->best_weight = 0;
	hit(w, 0, 0);
	return w->any && !w->gave_up;
}

/* One more conflict: the pins of the proof that may be taken away.  False: none of them may. */
static bool
remember_conflict(struct workshop *w, struct search *s)
{
	struct solve_indexes c = { 0 };

	search_mark(s);
	for (size_t i = 0; i < s->pins.n; i++) {
		const struct nogood *g = s->pins.at[i];

		if (g->marked && w->may[g->pin])
			list_push(w->u.scratch, &c, (unsigned)g->pin);
	}
	list_push(w->u.scratch, &w->conflicts, c);
	return c.n > 0;
}

static void
remember_repair(struct workshop *w, struct search *s, struct arena *a)
{
	struct found f = { .weight = w->best_weight };

	for (size_t i = 0; i < w->npins; i++)
		if (w->best[i])
			list_push(a, &f.repair.pins, (unsigned)i);
	f.repair.result = search_result(s, a, SOLVE_FOUND);
	list_push(w->u.scratch, &w->found, f);
}

/* Enough, once those that follow are more or heavier. */
static bool
enough(const struct workshop *w, size_t max)
{
	const struct found *last = &w->found.at[w->found.n - 1];

	return w->found.n >= max &&
	       (w->best_n > last->repair.pins.n ||
		(w->best_n == last->repair.pins.n && w->best_weight > last->weight));
}

static void
look_for(struct workshop *w, struct arena *a, size_t max)
{
	struct search s;
	bool *on = arena_array_of(w->u.scratch, bool, w->npins + 1);

	while (next_hit(w) && !(w->found.n && enough(w, max))) {
		enum solve_status status;

		for (size_t i = 0; i < w->npins; i++)
			on[i] = !w->best[i];
		status = search_run(&s, &w->u, w->pins, w->npins, on, &w->left);
		if (status == SOLVE_GAVE_UP) {
			w->gave_up = true;
			return;
		}
		if (status == SOLVE_FOUND)
			remember_repair(w, &s, a);
		else if (!remember_conflict(w, &s))
			return;
	}
}

/* --- which comes first --- */

static int
chosen(const struct solve_result *r, size_t variable)
{
	return variable < r->nvariables && r->chosen[variable] >= 0 ? r->chosen[variable] : INT_MAX;
}

/* The variables in the order of their rank: the first that differs decides. */
static bool
better(const struct numbers *order, const struct found *x, const struct found *y)
{
	if (x->repair.pins.n != y->repair.pins.n)
		return x->repair.pins.n < y->repair.pins.n;
	if (x->weight != y->weight)
		return x->weight < y->weight;
	for (size_t i = 0; i < order->n; i++) {
		int cx = chosen(&x->repair.result, order->at[i]);
		int cy = chosen(&y->repair.result, order->at[i]);

		if (cx != cy)
			return cx < cy;
	}
	return false;
}

static struct numbers
by_rank(struct universe *u)
{
	struct numbers order = { 0 };

	for (unsigned x = 0; x < u->variables.n; x++) {
		size_t k = order.n;

		list_push(u->scratch, &order, x);
		for (; k && u->variables.at[order.at[k - 1]].rank > u->variables.at[x].rank; k--)
			order.at[k] = order.at[k - 1];
		order.at[k] = x;
	}
	return order;
}

static void
sort(struct workshop *w)
{
	struct numbers order = by_rank(&w->u);

	for (size_t i = 1; i < w->found.n; i++) {
		struct found f = w->found.at[i];
		size_t k = i;

		for (; k && better(&order, &f, &w->found.at[k - 1]); k--)
			w->found.at[k] = w->found.at[k - 1];
		w->found.at[k] = f;
	}
}

static void
allow(struct workshop *w, const bool *keep, bool fixed)
{
	bool *may = arena_array_of(w->u.scratch, bool, w->npins + 1);

	for (size_t i = 0; i < w->npins; i++)
		may[i] = !(keep && keep[i]) && (fixed || !w->pins[i].fixed);
	w->may = may;
	w->conflicts.n = 0;
}

struct solve_repairs
solve_repairs(struct arena *a, const struct solve_provider *p, const struct solve_pin *pins,
	      size_t npins, const bool *keep, size_t max, struct solve_budget budget, bool *gave_up)
{
	struct workshop w = {
		.u = universe_new(a, p), .pins = pins, .npins = npins, .left = budget.steps
	};
	struct solve_repairs out = { 0 };

	w.taken = arena_array_of(w.u.scratch, bool, npins + 1);
	w.best = arena_array_of(w.u.scratch, bool, npins + 1);
	w.barred = arena_array_of(w.u.scratch, unsigned, npins + 1);
	allow(&w, keep, false);
	look_for(&w, a, max);
	if (!w.found.n && !w.gave_up) {
		allow(&w, keep, true);
		look_for(&w, a, max);
	}
	sort(&w);
	for (size_t i = 0; i < w.found.n && i < max; i++)
		list_push(a, &out, w.found.at[i].repair);
	if (gave_up)
		*gave_up = w.gave_up;
	universe_free(&w.u);
	return out;
}
