#include "internal.h"

/*
 * Selects the next decision. It depends only on earlier decisions and their facts, not on learned
 * nogoods or other attempts. It skips a value only if no solution has it, given the earlier
 * decisions (learned nogoods follow from facts and pins). So the first solution found is the one
 * that a search without learning would find first.
 *
 * Therefore, only facts whose other terms are true by decisions require a variable; domains, which
 * also depend on learned nogoods, do not.
 */

/* Records a fact that would be violated with all undecided variables absent. */
static void
ask(struct search *s, struct nogood *g)
{
	unsigned level = 0;

	for (unsigned k = 0; k < g->n; k++) {
		const struct variable *t = &s->u->variables.at[g->terms[k].variable];
		unsigned value = t->decided < 0 ? t->n : (unsigned)t->decided;

		if (!solve_set_has(g->terms[k].bad, value))
			return;
		if (t->decided >= 0 && t->decided_level > level)
			level = t->decided_level;
	}
	list_push(s->u->scratch, &s->asking, (struct asking){ .g = g, .level = level });
}

static bool
before(const struct search *s, unsigned x, unsigned y)
{
	const struct variable *a = &s->u->variables.at[x], *b = &s->u->variables.at[y];

	return a->rank != b->rank ? a->rank < b->rank : x < y;
}

/* Finds the first variable that a fact requires; returns the number of such variables, or 0 if it is
 * satisfied. few: more than one do not count. */
static unsigned
asked_for(const struct search *s, struct asking *one, bool few, unsigned *first)
{
	const struct nogood *g = one->g;
	unsigned open = 0;

	for (unsigned k = 0; k < g->n; k++) {
		unsigned x = g->terms[k].variable;
		const struct variable *t = &s->u->variables.at[x];

		if (t->decided >= 0) {
			if (!solve_set_has(g->terms[k].bad, (unsigned)t->decided)) {
				one->met = t->decided_level;
				return 0;
			}
			continue;
		}
		if (!open || before(s, x, *first))
			*first = x;
		if (open++ && few)
			break;
	}
	return open;
}

/* Selects the next variable to decide; false: all are decided. */
static bool
next_variable(const struct search *s, unsigned *variable)
{
	bool must = false, may = false;

	for (size_t i = 0; i < s->asking.n; i++) {
		struct asking *one = &s->asking.at[i];
		unsigned x = 0, open = one->met ? 0 : asked_for(s, one, must, &x);

		if (!open || (open > 1 && must))
			continue;
		if ((open == 1 && !must) || (!must && !may) || before(s, x, *variable))
			*variable = x;
		must |= open == 1;
		may = true;
	}
	return may;
}

/* Returns the most preferred remaining value: wanted candidates in their order, the others, then
 * absent. */
static unsigned
most_wanted(const struct variable *t)
{
	unsigned i = 0;

	for (; t->wanted && i < SOLVE_WORDS(t->n); i++)
		if (t->domain[i] & t->wanted[i])
			return i * 64 + (unsigned)__builtin_ctzll(t->domain[i] & t->wanted[i]);
	for (i = 0; !t->domain[i];)
		i++;
	return i * 64 + (unsigned)__builtin_ctzll(t->domain[i]);
}

/* --- one search --- */

static void
reset(struct search *s, struct universe *u)
{
	*s = (struct search){ .u = u };
	for (size_t i = 0; i < u->variables.n; i++) {
		struct variable *t = &u->variables.at[i];

		t->domain = t->full;
		t->last = t->decided = -1;
		t->watches.n = t->plain.n = 0;
		t->depth = 0;
	}
	for (size_t i = 0; i < u->facts.n; i++)
		u->facts.at[i]->attached = false;
}

/* Returns a pin as a nogood: "not: absent, or another"; for an optional pin, "not: another"; both
 * while `when` is true. */
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
	for (unsigned k = 0; k < g->n; k++) {
		struct variable *t = &s->u->variables.at[g->terms[k].variable];

		if (!solve_set_has(g->terms[k].bad, t->n))
			list_push(s->u->scratch, &t->plain, g);
	}
	ask(s, g);
	return search_attach(s, g);
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
		conflict = take(s, g);
	}
	return conflict;
}

/* Adds all facts that are new to this search, even after one that is violated. */
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

/* Decides one variable, or requests the facts of its next candidate. */
static struct nogood *
go_on(struct search *s, unsigned x)
{
	const struct variable *t = &s->u->variables.at[x];
	unsigned value = most_wanted(t);

	if (value < t->n && !s->u->closed && !solve_set_has(t->asked, value)) {
		universe_ask(s->u, x, value);
		return take_facts(s);
	}
	search_decide(s, x, value);
	/* Examines the facts that a decision completes. */
	for (size_t i = 0; value < t->n && i < t->plain.n; i++)
		ask(s, t->plain.at[i]);
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
		if (!conflict && !next_variable(s, &x))
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
	struct universe u = { .a = a, .scratch = arena_new(), .p = p };
	struct search s;
	enum solve_status status = search_run(&s, &u, pins, npins, on, &budget.steps);
	struct solve_result r = search_result(&s, a, status);

	arena_free(u.scratch);
	return r;
}
