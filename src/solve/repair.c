/*
 * Finds the closest repair. A repair removes a pin from every conflict, so it tries the smallest
 * set that hits all known conflicts. If that is not enough, it has found another conflict.
 */
#include "internal.h"

#include <string.h>

struct cores LIST(struct solve_indexes);

struct workshop {
	struct arena *a;
	struct universe u;
	const struct solve_pin *pins;
	size_t npins;
	bool *may;              /* whether each pin may be removed */
	struct cores conflicts; /* the removable pins of each conflict */
	struct cores found;     /* repairs of equal size and weight */
	struct solve_repair *out;
	uint64_t weight; /* weight of each of them */
	unsigned left;
	bool gave_up;
	/* state of the search for a hitting set: */
	bool *taken, *best;
	unsigned *barred; /* number of conflicts on the path that exclude each pin */
	size_t best_n;
	uint64_t best_weight;
};

static const struct solve_indexes *
not_hit(const struct workshop *w)
{
	list_each (c, &w->conflicts) {
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
	list_each (pins, &w->found) {
		size_t k = 0;

		while (k < pins->n && w->taken[pins->at[k]])
			k++;
		if (k == pins->n)
			return true;
	}
	return false;
}

/* Visits all smallest hitting sets: tries each pin of a conflict that is not hit. */
static void
hit(struct workshop *w, size_t n, uint64_t weight)
{
	const struct solve_indexes *c;

	if (n > w->best_n || (n == w->best_n && weight >= w->best_weight) || holds_a_repair(w))
		return;
	if (!w->left) {
		w->gave_up = true;
		return;
	}
	w->left--;
	c = not_hit(w);
	if (!c) {
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

/* Finds the smallest set that may be a repair, w->best; false: there is none. */
static bool
next_hit(struct workshop *w)
{
	w->best_n = SIZE_MAX;
	hit(w, 0, 0);
	return w->best_n < SIZE_MAX && !w->gave_up;
}

/* Records a conflict: the pins of the proof that may be removed. */
static void
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
}

/* Returns the rank of a variable's value; an absent variable is the least preferred. */
static unsigned
place(const struct solve_result *r, size_t variable)
{
	return variable < r->nvariables ? (unsigned)r->chosen[variable] : (unsigned)-1;
}

/* Compares two repairs: of the variables that differ, the one with the lowest rank decides. */
static bool
better(const struct universe *u, const struct solve_result *x, const struct solve_result *y)
{
	const struct variable *first = NULL;
	bool less = false;

	for (size_t i = 0; i < u->variables.n; i++) {
		const struct variable *t = &u->variables.at[i];

		if (place(x, i) == place(y, i) || (first && first->rank <= t->rank))
			continue;
		first = t;
		less = place(x, i) < place(y, i);
	}
	return less;
}

static void
remember_repair(struct workshop *w, struct search *s)
{
	struct solve_repair r = { .result = search_result(s, w->a, SOLVE_FOUND) };

	for (size_t i = 0; i < w->npins; i++)
		if (w->best[i])
			list_push(w->a, &r.pins, (unsigned)i);
	if (!w->found.n || better(&w->u, &r.result, &w->out->result))
		*w->out = r;
	w->weight = w->best_weight;
	list_push(w->u.scratch, &w->found, r.pins);
}

/* Examines all of the smallest and lightest repairs to find the best one. */
static void
look_for(struct workshop *w)
{
	struct search s;
	bool *on = arena_array_of(w->u.scratch, bool, w->npins + 1);

	while (next_hit(w) &&
	       (!w->found.n || (w->best_n == w->found.at[0].n && w->best_weight == w->weight))) {
		enum solve_status status;

		for (size_t i = 0; i < w->npins; i++)
			on[i] = !w->best[i];
		status = search_run(&s, &w->u, w->pins, w->npins, on, &w->left);
		w->gave_up = status == SOLVE_GAVE_UP;
		if (status == SOLVE_FOUND)
			remember_repair(w, &s);
		else if (status == SOLVE_IMPOSSIBLE)
			remember_conflict(w, &s);
	}
}

bool
solve_repair(struct arena *a, const struct solve_provider *p, const struct solve_pin *pins,
	     size_t npins, const bool *keep, struct solve_budget budget, bool *gave_up,
	     struct solve_repair *out)
{
	struct workshop w = { .a = a,
			      .u = { .a = a, .scratch = arena_new(), .p = p },
			      .pins = pins,
			      .npins = npins,
			      .out = out,
			      .left = budget.steps };

	w.taken = arena_array_of(w.u.scratch, bool, npins + 1);
	w.best = arena_array_of(w.u.scratch, bool, npins + 1);
	w.barred = arena_array_of(w.u.scratch, unsigned, npins + 1);
	w.may = arena_array_of(w.u.scratch, bool, npins + 1);
	for (int fixed = 0; fixed < 2 && !w.found.n && !w.gave_up; fixed++) {
		for (size_t i = 0; i < npins; i++)
			w.may[i] = !(keep && keep[i]) && (fixed || !pins[i].fixed);
		w.conflicts.n = 0;
		look_for(&w);
	}
	if (gave_up)
		*gave_up = w.gave_up;
	arena_free(w.u.scratch);
	return w.found.n > 0;
}
