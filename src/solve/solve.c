#include "internal.h"

static void
reset(struct search *s, struct universe *u)
{
	*s = (struct search){ .u = u };
	for (size_t i = 0; i < u->variables.n; i++) {
		struct variable *t = &u->variables.at[i];

		t->domain = t->full;
		t->last = t->decided = -1;
		t->watches.n = 0;
		t->depth = 0;
	}
	for (size_t i = 0; i < u->facts.n; i++)
		u->facts.at[i]->attached = false;
}

/* "Not: absent, or another"; of an optional pin "not: another"; both while `when` holds. */
static struct nogood *
pin_nogood(struct search *s, const struct solve_pin *pin, int index)
{
	const struct variable *t = universe_meet(s->u, pin->variable);
	struct solve_term terms[2] = {
		{ .variable = pin->variable, .not = !pin->optional, .set = pin->set }
	};
	struct nogood *g;

	if (pin->optional)
		terms[0].set = solve_set_not(s->u->scratch, pin->set, t->n);
	if (pin->when)
		terms[1] = *pin->when;
	g = universe_nogood(s->u, terms, pin->when ? 2 : 1);
	if (g)
		g->pin = index;
	return g;
}

static struct nogood *
take(struct search *s, struct nogood *g)
{
	struct nogood *conflict = search_attach(s, g);

	search_asking(s, g);
	return conflict;
}

static struct nogood *
take_pins(struct search *s, const struct solve_pin *pins, size_t npins, const bool *on)
{
	struct nogood *conflict = NULL;

	for (size_t i = 0; i < npins && !conflict; i++) {
		struct nogood *g = !on || on[i] ? pin_nogood(s, &pins[i], (int)i) : NULL;

		if (!g)
			continue;
		list_push(s->u->scratch, &s->pins, g);
		if (g->n > 1)
			list_push(s->u->scratch, &s->conditional, g);
		conflict = take(s, g);
	}
	return conflict;
}

/* Facts that are new to this search; all of them, though one may be broken already. */
static struct nogood *
take_facts(struct search *s)
{
	struct nogood *conflict = NULL;

	for (; s->facts_in < s->u->facts.n; s->facts_in++) {
		struct nogood *g = s->u->facts.at[s->facts_in];
		struct nogood *bad = g->off ? NULL : take(s, g);

		if (!conflict)
			conflict = bad;
	}
	return conflict;
}

static bool
spend(struct search *s, unsigned *left)
{
	if (!*left)
		return false;
	--*left;
	s->steps++;
	return true;
}

/* Decides one variable, or asks about the candidate that would be decided. */
static struct nogood *
go_on(struct search *s, unsigned x)
{
	const struct variable *t = &s->u->variables.at[x];
	unsigned value = search_first(t);

	if (value < t->n && !s->u->closed && !set_has(t->asked, value)) {
		universe_ask(s->u, x, value);
		return take_facts(s);
	}
	search_decide(s, x, value);
	search_asking_after(s, x, value);
	return NULL;
}

enum solve_status
search_run(struct search *s, struct universe *u, const struct solve_pin *pins, size_t npins,
	   const bool *on, unsigned *left)
{
	struct nogood *conflict;
	unsigned x = 0;

	reset(s, u);
	conflict = take_pins(s, pins, npins, on);
	if (!conflict)
		conflict = take_facts(s);
	for (;;) {
		if (!conflict)
			conflict = search_propagate(s);
		if (!conflict && !search_next(s, &x))
			return SOLVE_FOUND;
		if (!spend(s, left))
			return SOLVE_GAVE_UP;
		if (!conflict)
			conflict = go_on(s, x);
		else if (!search_learn(s, conflict, &conflict))
			return SOLVE_IMPOSSIBLE;
	}
}

struct solve_result
search_result(struct search *s, struct arena *a, enum solve_status status)
{
	struct solve_result r = { .status = status, .steps = s->steps };
	int *chosen;

	if (status == SOLVE_IMPOSSIBLE)
		search_proof(s, a, &r.proof);
	if (status != SOLVE_FOUND)
		return r;
	r.nvariables = s->u->variables.n;
	r.chosen = chosen = arena_array_of(a, int, r.nvariables ? r.nvariables : 1);
	for (size_t i = 0; i < r.nvariables; i++) {
		const struct variable *t = &s->u->variables.at[i];

		chosen[i] = t->decided < 0 || (unsigned)t->decided == t->n ? -1 : t->decided;
	}
	return r;
}

struct solve_result
solve(struct arena *a, const struct solve_provider *p, const struct solve_pin *pins, size_t npins,
      const bool *on, struct solve_budget budget)
{
	struct universe u = universe_new(a, p);
	struct search s;
	enum solve_status status = search_run(&s, &u, pins, npins, on, &budget.steps);
	struct solve_result r = search_result(&s, a, status);

	universe_free(&u);
	return r;
}
