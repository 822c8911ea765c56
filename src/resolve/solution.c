#include "internal.h"

/* The rows as the solver's provider, and the order in which it is asked. */

enum {
	ROWS = 0
#define CONSTRAINT_EACH(...) +1
#define CONSTRAINT_ONCE(...) +1
#include "rows.def"
#undef CONSTRAINT_EACH
#undef CONSTRAINT_ONCE
};

static const struct constraint_kind rows[ROWS] = {
#define CONSTRAINT_EACH(name, when, strength, code, priority, rules) \
	{ #name, when, strength, code, priority, rules, constraint_##name, false },
#define CONSTRAINT_ONCE(name, when, strength, code, priority, rules) \
	{ #name, when, strength, code, priority, rules, constraint_##name, true },
#include "rows.def"
#undef CONSTRAINT_EACH
#undef CONSTRAINT_ONCE
};

const struct constraint_kind *
constraint_kinds(size_t *n)
{
	*n = ROWS;
	return rows;
}

/* --- the provider --- */

static void
make(struct workspace *w, unsigned variable, size_t candidate, bool once, struct solve_facts *out)
{
	for (size_t i = 0; i < ROWS; i++) {
		struct query q = { w, &rows[i], variable, candidate, out };

		if (rows[i].when == variable_at(w, variable)->kind && rows[i].once == once)
			rows[i].add(&q, w);
	}
	if (once)
		add_rules(&(struct query){ .w = w, .variable = variable, .out = out });
}

static void
give(struct workspace *w, const struct solve_facts *from, struct solve_facts *out)
{
	for (size_t i = 0; i < from->n; i++) {
		const struct constraint *why = from->at[i].why;

		if (!why->off && why->kind->strength <= w->upto)
			list_push(w->a, out, from->at[i]);
	}
}

static size_t
provide_candidates(void *ctx, unsigned variable)
{
	return variable_at(ctx, variable)->n;
}

static void
provide_facts(void *ctx, unsigned variable, size_t candidate, struct solve_facts *out)
{
	struct workspace *w = ctx;
	struct domain *s = w->variables.at[variable];
	struct given *g;

	if (!s->whole.made) {
		s->whole.made = true;
		make(w, variable, 0, true, &s->whole.facts);
	}
	if (s->epoch != w->epoch) {
		s->epoch = w->epoch;
		give(w, &s->whole.facts, out);
	}
	if (!s->given)
		s->given = arena_array_of(w->a, struct given, s->t.n);
	g = &s->given[candidate];
	if (!g->made) {
		g->made = true;
		make(w, variable, candidate, false, &g->facts);
	}
	give(w, &g->facts, out);
}

static unsigned
provide_rank(void *ctx, unsigned variable)
{
	return variable_at(ctx, variable)->rank;
}

struct solve_provider
constraint_provider(struct workspace *w)
{
	w->epoch++;
	return (struct solve_provider){ w, provide_candidates, provide_facts, provide_rank };
}

/* --- facts --- */

void
add_conflict(struct query *q, const struct solve_term *terms, size_t n, const char *source,
	     const char *fmt, ...)
{
	struct arena *a = q->w->a;
	struct solve_term *copy = arena_array_of(a, struct solve_term, n);
	struct constraint *why = arena_new_of(a, struct constraint);
	va_list ap;

	for (size_t i = 0; i < n; i++)
		if (!terms[i].not &&set_is_empty(q->w, terms[i].variable, terms[i].set))
			return;
	memcpy(copy, terms, n * sizeof(*terms));
	va_start(ap, fmt);
	*why = (struct constraint){ .kind = q->kind,
				    .sentence = arena_vprintf(a, fmt, ap),
				    .source = source,
				    .variable = q->variable };
	va_end(ap);
	list_push(a, q->out, (struct solve_fact){ copy, n, why });
	q->w->made++;
}

const struct candidate *
candidate_of(const struct query *q)
{
	return &variable_at(q->w, q->variable)->c[q->candidate];
}

/* --- solving --- */

/* check is to answer in 100 ms, whatever it is asked; for each pin there is a little more. */
enum { STEPS_MAX = 3000 };

/* The fact of a conflict that tells most; the weakest strength in it. */
static struct conflict
conflict_of(struct arena *a, const struct solve_conflict *c)
{
	struct solve_conflict *kept = arena_new_of(a, struct solve_conflict);
	struct conflict found = { .code = E_FIT, .found = kept };
	unsigned most = 0;

	*kept = *c;
	for (size_t i = 0; i < c->facts.n; i++) {
		const struct constraint_kind *row =
			((const struct constraint *)c->facts.at[i].why)->kind;

		if (row->priority > most) {
			most = row->priority;
			found.code = row->code;
		}
		if (row->strength > found.strength)
			found.strength = row->strength;
	}
	return found;
}

/*
 * Which error names a pin: one at most, but for what is given.  That is let go only where a
 * conflict is about nothing else.
 */
static void
mark_pins(struct workspace *w, const struct solution *solution)
{
	w->error_of = arena_array_of(w->a, unsigned, solution->nrequests + 1);
	for (unsigned k = 0; k < solution->errors.n; k++) {
		const struct solve_indexes *pins = &solution->errors.at[k].found->pins;
		bool given = true;

		for (size_t j = 0; j < pins->n; j++)
			given &= solution->solver_pins[pins->at[j]].fixed;
		for (size_t j = 0; j < pins->n; j++)
			if (given || !solution->solver_pins[pins->at[j]].fixed)
				w->error_of[pins->at[j]] = k + 1;
	}
}

bool
request_in_error(const struct solution *solution, unsigned pin, const struct solve_conflict *but)
{
	unsigned k = solution->work->error_of[pin];

	return k && solution->errors.at[k - 1].found != but;
}

/* The pins that are in no error. */
static size_t
pins_left(const struct solution *solution, struct solve_pin *left)
{
	size_t n = 0;

	for (unsigned i = 0; i < solution->nrequests; i++)
		if (!request_in_error(solution, i, NULL))
			left[n++] = solution->solver_pins[i];
	return n;
}

static void
find_errors(struct workspace *w, struct solution *solution)
{
	struct solve_provider p;
	struct solve_conflicts found;

	w->upto = STRENGTH_ERROR;
	p = constraint_provider(w);
	found = solve_conflicts(w->a, &p, solution->solver_pins, solution->nrequests, w->budget,
				&solution->gave_up);
	for (size_t i = 0; i < found.n; i++)
		list_push(w->a, &solution->errors, conflict_of(w->a, &found.at[i]));
	mark_pins(w, solution);
}

/* Indexes of pins in `left` as those of all. */
static void
renumber(const struct solution *solution, const struct solve_pin *left, struct solve_conflict *c)
{
	for (size_t i = 0; i < c->pins.n; i++)
		for (size_t k = 0; k < solution->nrequests; k++)
			if (solution->solver_pins[k].why == left[c->pins.at[i]].why) {
				c->pins.at[i] = (unsigned)k;
				break;
			}
}

static void
find_warnings(struct workspace *w, struct solution *solution, const struct solve_pin *left,
	      size_t n)
{
	bool gave_up = false, more = true;

	w->upto = STRENGTH_WARNING;
	while (more && !gave_up) {
		struct solve_provider p = constraint_provider(w);
		struct solve_conflicts found =
			solve_conflicts(w->a, &p, left, n, w->budget, &gave_up);

		more = false;
		for (size_t i = 0; i < found.n; i++) {
			struct conflict c;

			if (!constraints_drop(&found.at[i].facts, STRENGTH_WARNING, true))
				continue;
			renumber(solution, left, &found.at[i]);
			c = conflict_of(w->a, &found.at[i]);
			list_push(w->a, &solution->warnings, c);
			more = true;
		}
	}
	solution->gave_up |= gave_up;
}

static void
take(struct solution *solution, struct solve_result r)
{
	solution->gave_up |= r.status == SOLVE_GAVE_UP;
	solution->chosen = r.chosen;
	solution->nchosen = r.status == SOLVE_FOUND ? r.nvariables : 0;
}

/* Most recipes are fine: then the first answer is the last. */
static bool
all_fits(struct workspace *w, struct solution *solution)
{
	struct solve_result r = solve_best(w, solution->solver_pins, solution->nrequests);

	if (r.status == SOLVE_FOUND && !w->warned) {
		take(solution, r);
		mark_pins(w, solution);
		return true;
	}
	constraints_restore(w, STRENGTH_WARNING);
	return false;
}

/* What cannot be, first; then, without it, what only may not; then the rest is chosen. */
static void
find_conflicts(struct workspace *w, struct solution *solution)
{
	struct solve_pin *left = arena_array_of(w->a, struct solve_pin, solution->nrequests + 1);
	size_t n;

	find_errors(w, solution);
	n = pins_left(solution, left);
	find_warnings(w, solution, left, n);
	take(solution, solve_best(w, left, n));
}

/* True if the variable of a plain term was chosen so. */
static bool
term_holds(const struct solution *solution, const struct solve_term *t)
{
	return t->variable < solution->nchosen && solution->chosen[t->variable] >= 0 &&
	       solve_set_has(t->set, (size_t)solution->chosen[t->variable]);
}

const struct solution *
resolve_solve(struct arena *a, const struct facts *f, const struct recipe *r)
{
	return resolve_solve_within(a, f, r, 0);
}

const struct solution *
resolve_solve_within(struct arena *a, const struct facts *f, const struct recipe *r, unsigned steps)
{
	struct solution *solution = arena_new_of(a, struct solution);
	struct workspace *w = arena_new_of(a, struct workspace);

	*w = (struct workspace){ .a = a, .f = f, .r = r, .by_key = MAP(a) };
	read_requests(w);
	w->budget.steps = steps ? steps : STEPS_MAX + 4 * (unsigned)w->requests.n;
	*solution = (struct solution){ .facts = f, .recipe = r, .work = w };
	solution->requests = w->requests.at;
	solution->solver_pins = w->solver_pins.at;
	solution->nrequests = w->requests.n;
	if (!all_fits(w, solution))
		find_conflicts(w, solution);
	solution->variables = arena_array_of(a, struct solver_variable, w->variables.n + 1);
	solution->nvariables = w->variables.n;
	for (size_t i = 0; i < w->variables.n; i++)
		((struct solver_variable *)(uintptr_t)solution->variables)[i] =
			w->variables.at[i]->t;
	for (size_t i = 0; i < w->unchecked.n; i++)
		if (!w->unchecked.at[i].when || term_holds(solution, w->unchecked.at[i].when))
			list_push(a, &solution->unchecked, w->unchecked.at[i].name);
	check_rules(w, solution);
	solution->facts_used = w->made;
	return solution;
}

const struct solver_variable *
solution_variable(const struct solution *solution, const char *key)
{
	int at = variable_find(solution->work, key);

	return at < 0 ? NULL : &solution->work->variables.at[at]->t;
}

const struct candidate *
solution_selected(const struct solution *solution, const char *key)
{
	int at = variable_find(solution->work, key);

	if (at < 0 || (size_t)at >= solution->nchosen || solution->chosen[at] < 0)
		return NULL;
	return &solution->work->variables.at[at]->t.c[solution->chosen[at]];
}
