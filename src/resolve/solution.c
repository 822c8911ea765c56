#include "internal.h"

/* Gives the rows to the solver, runs it, and answers questions about its result. */

static const struct constraint_kind rows[] = {
#define CONSTRAINT_EACH(name, kind, strength, code, priority, rules) \
	{ #name, kind, strength, code, priority, constraint_##name, false },
#define CONSTRAINT_ONCE(name, kind, strength, code, priority, rules) \
	{ #name, kind, strength, code, priority, constraint_##name, true },
#include "rows.def"
#undef CONSTRAINT_EACH
#undef CONSTRAINT_ONCE
};

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

const struct constraint_kind *
constraint_kinds(size_t *n)
{
	*n = ROWS;
	return rows;
}

/* --- the provider --- */

/* Returns the facts about a candidate or, for the index after the last one, about all candidates.
 * They are read once. */
static void
give(struct workspace *w, unsigned variable, size_t candidate, struct solve_facts *out)
{
	const struct solver_variable *t = variable_at(w, variable);
	struct given *g = &w->variables.at[variable]->given[candidate];
	bool once = candidate == t->n;

	for (size_t i = 0; !g->made && i < ROWS; i++) {
		struct query q = { w, &rows[i], variable, candidate, &g->facts };

		if (rows[i].when == t->kind && rows[i].once == once)
			rows[i].add(&q, w);
	}
	if (!g->made && once)
		add_rules(&(struct query){ .w = w, .variable = variable, .out = &g->facts });
	g->made = true;
	for (size_t i = 0; i < g->facts.n; i++) {
		const struct constraint *why = constraint_of(&g->facts.at[i]);

		if (!why->off && why->kind->strength <= w->upto)
			list_push(w->a, out, g->facts.at[i]);
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

	if (!s->given)
		s->given = arena_array_of(w->a, struct given, s->t.n + 1);
	if (s->epoch != w->epoch) {
		s->epoch = w->epoch;
		give(w, variable, s->t.n, out);
	}
	give(w, variable, candidate, out);
}

static unsigned
provide_rank(void *ctx, unsigned variable)
{
	return variable_at(ctx, variable)->rank;
}

struct solve_provider
constraint_provider(struct workspace *w, enum strength upto)
{
	w->upto = upto;
	w->epoch++;
	return (struct solve_provider){ w, provide_candidates, provide_facts, provide_rank,
					releases_wanted };
}

/* --- facts --- */

struct constraint *
add_conflict(struct query *q, const struct solve_term *terms, size_t n, const char *source,
	     const char *fmt, ...)
{
	struct arena *a = q->w->a;
	struct solve_term *copy = arena_array_of(a, struct solve_term, n);
	struct constraint *why = arena_new_of(a, struct constraint);
	va_list ap;

	for (size_t i = 0; i < n; i++)
		if (!terms[i].not &&set_is_empty(q->w, terms[i].variable, terms[i].set))
			return NULL;
	memcpy(copy, terms, n * sizeof(*terms));
	va_start(ap, fmt);
	*why = (struct constraint){ .kind = q->kind,
				    .sentence = arena_vprintf(a, fmt, ap),
				    .source = source,
				    .variable = q->variable };
	va_end(ap);
	list_push(a, q->out, (struct solve_fact){ copy, n, why });
	q->w->made++;
	return why;
}

const struct candidate *
candidate_of(const struct query *q)
{
	return &variable_at(q->w, q->variable)->c[q->candidate];
}

/* --- the best stack for given pins, with as many preferences as possible --- */

/* `check` must answer any recipe within 100 ms, so the number of steps is limited; each pin adds a
 * few. */
enum { STEPS_MAX = 3000 };

void
constraints_restore(struct workspace *w, enum strength from)
{
	size_t kept = 0;

	for (size_t i = 0; i < w->given_up.n; i++) {
		struct constraint *why = w->given_up.at[i];

		why->off = why->kind->strength < from;
		if (why->off)
			w->given_up.at[kept++] = why;
	}
	w->given_up.n = kept;
}

static void
give_up(struct workspace *w, struct constraint *why)
{
	why->off = true;
	w->warned |= why->kind->strength == STRENGTH_WARNING;
	list_push(w->a, &w->given_up, why);
}

/* Returns the last of the weakest constraints of a proof; NULL: all are errors. */
static struct constraint *
weakest(const struct solve_proof *proof)
{
	struct constraint *found = NULL;

	for (size_t i = proof->n; i-- > 0;) {
		struct constraint *why = constraint_of(proof->at[i].fact);

		if (why && why->kind->strength > (found ? found->kind->strength : STRENGTH_ERROR))
			found = why;
	}
	return found;
}

/* Returns the best solution with preferences up to that strength, which it drops one by one. */
static struct solve_result
guided(struct workspace *w, const struct solve_pin *pins, size_t n, enum strength upto)
{
	for (;;) {
		struct solve_provider p = constraint_provider(w, upto);
		struct solve_result r = solve(w->a, &p, pins, n, NULL, w->budget);
		struct constraint *why = r.status == SOLVE_IMPOSSIBLE ? weakest(&r.proof) : NULL;

		if (!why)
			return r;
		give_up(w, why);
	}
}

/* Adds a pin for torch and for each extension as they were chosen. */
static void
pin_chosen(struct workspace *w, const int *chosen, size_t nchosen, struct solve_pin *pins,
	   size_t *n)
{
	for (unsigned i = 0; i < nchosen; i++) {
		enum variable_kind kind = variable_at(w, i)->kind;

		if (chosen[i] >= 0 && (kind == VARIABLE_TORCH || kind == VARIABLE_EXTENSION))
			pins[(*n)++] =
				(struct solve_pin){ .variable = i,
						    .set = set_one(w, i, (size_t)chosen[i]) };
	}
}

/* Selects torch and the extensions first, as new as possible; then the other variables, within
 * their limits. */
struct solve_result
solve_best(struct workspace *w, const struct solve_pin *pins, size_t n)
{
	struct solve_pin *more = arena_array_of(w->a, struct solve_pin, n + w->variables.n + 1);
	struct solve_result r;

	constraints_restore(w, STRENGTH_PREFERENCE);
	w->warned = false;
	r = guided(w, pins, n, STRENGTH_PREFERENCE);
	if (r.status != SOLVE_FOUND)
		return r;
	memcpy(more, pins, n * sizeof(*pins));
	pin_chosen(w, r.chosen, r.nvariables, more, &n);
	return guided(w, more, n, STRENGTH_SECONDARY);
}

void
pin_lift(struct workspace *w, struct solve_pin *p)
{
	p->set = set_all(w, p->variable);
	p->optional = true;
}

bool
term_holds(const struct solution *solution, const struct solve_term *t)
{
	bool in = t->variable < solution->nchosen && solution->chosen[t->variable] >= 0 &&
		  solve_set_has(t->set, (size_t)solution->chosen[t->variable]);

	return t->not != in;
}

/* --- conflicts --- */

/* Returns the most useful fact of a conflict, and its weakest strength. */
static struct conflict
conflict_of(const struct solve_conflict *c)
{
	struct conflict found = { .code = E_FIT, .found = *c };
	unsigned most = 0;

	for (size_t i = 0; i < c->facts.n; i++) {
		const struct constraint_kind *row = constraint_of(&c->facts.at[i])->kind;

		if (row->priority > most) {
			most = row->priority;
			found.code = row->code;
		}
		if (row->strength > found.strength)
			found.strength = row->strength;
	}
	return found;
}

/* Returns true for a pin that an error names: a fixed one only if the conflict has no others. */
bool
request_in_error(const struct solution *solution, unsigned pin, const struct conflict *but)
{
	for (size_t k = solution->errors.n; k-- > 0;) {
		const struct solve_conflict *c = &solution->errors.at[k].found;
		bool given = true, named = false;

		for (size_t i = 0; i < c->pins.n; i++) {
			given &= solution->solver_pins[c->pins.at[i]].fixed;
			named |= c->pins.at[i] == pin;
		}
		if (named && (given || !solution->solver_pins[pin].fixed))
			return &solution->errors.at[k] != but;
	}
	return false;
}

/* Finds the constraints that are only warnings: reports each one, and drops it before the next
 * run. */
static void
find_warnings(struct workspace *w, struct solution *solution, const struct solve_pin *pins)
{
	bool gave_up = false, more = true;

	while (more && !gave_up) {
		struct solve_provider p = constraint_provider(w, STRENGTH_WARNING);
		struct solve_conflicts found =
			solve_conflicts(w->a, &p, pins, solution->nrequests, w->budget, &gave_up);

		more = false;
		for (size_t i = 0; i < found.n; i++) {
			const struct solve_facts *facts = &found.at[i].facts;
			bool any = false;

			for (size_t k = 0; k < facts->n; k++) {
				struct constraint *why = constraint_of(&facts->at[k]);

				if (why->kind->strength == STRENGTH_WARNING && !why->off) {
					give_up(w, why);
					any = true;
				}
			}
			if (any)
				list_push(w->a, &solution->warnings, conflict_of(&found.at[i]));
			more |= any;
		}
	}
	solution->gave_up |= gave_up;
}

/* Finds the errors first; then, without their requests, the warnings; then selects everything
 * else. */
static struct solve_result
find_conflicts(struct workspace *w, struct solution *solution)
{
	size_t n = solution->nrequests;
	struct solve_pin *left = arena_array_of(w->a, struct solve_pin, n + 1);
	struct solve_provider p = constraint_provider(w, STRENGTH_ERROR);
	struct solve_conflicts found =
		solve_conflicts(w->a, &p, solution->solver_pins, n, w->budget, &solution->gave_up);

	for (size_t i = 0; i < found.n; i++)
		list_push(w->a, &solution->errors, conflict_of(&found.at[i]));
	for (unsigned i = 0; i < n; i++) {
		left[i] = solution->solver_pins[i];
		if (request_in_error(solution, i, NULL))
			pin_lift(w, &left[i]);
	}
	find_warnings(w, solution, left);
	return solve_best(w, left, n);
}

const struct solution *
resolve_solve(struct arena *a, const struct facts *f, const struct recipe *r, unsigned steps)
{
	struct solution *solution = arena_new_of(a, struct solution);
	struct workspace *w = arena_new_of(a, struct workspace);
	struct solve_result found;

	r = recipe_without_wheels(a, f, r);
	*w = (struct workspace){ .a = a, .f = f, .r = r, .by_key = MAP(a) };
	w->needs = w->pythons_in = w->environments = w->listed = w->bounded = MAP(a);
	read_requests(w);
	w->budget.steps = steps ? steps : STEPS_MAX + 4 * (unsigned)w->requests.n;
	*solution = (struct solution){ .facts = f,
				       .recipe = r,
				       .work = w,
				       .requests = w->requests.at,
				       .solver_pins = w->solver_pins.at,
				       .nrequests = w->requests.n };
	/* Most recipes have no conflict, and the first answer is final. */
	found = solve_best(w, solution->solver_pins, solution->nrequests);
	if (found.status != SOLVE_FOUND || w->warned) {
		constraints_restore(w, STRENGTH_WARNING);
		found = find_conflicts(w, solution);
	}
	solution->gave_up |= found.status == SOLVE_GAVE_UP;
	solution->chosen = found.chosen;
	solution->nchosen = found.nvariables;
	solution->variables = w->all.at;
	solution->nvariables = w->all.n;
	check_rules(w, solution);
	solution->facts_used = w->made;
	return solution;
}

/* --- questions about a solved stack: the selection, its limits, the alternatives --- */

/* Returns true for one candidate of another variable: if it is not selected, facts about it do not
 * affect this stack. */
static bool
is_aside(const struct solution *solution, const struct solve_term *t)
{
	return !t->not &&solve_set_count(t->set, variable_at(solution->work, t->variable)->n) == 1;
}

/* Records a fact whose other terms are true, so that the variable's own term must be false.
 * `demands`: one other term may be false. */
static void
look_at(const struct solution *solution, unsigned variable, const struct solve_facts *facts,
	bool demands, struct constraints *out)
{
	for (size_t i = 0; i < facts->n; i++) {
		const struct constraint *why = constraint_of(&facts->at[i]);
		bool mine = false, others = true, own = false, holds;
		size_t free = 0; /* other terms that are false */

		for (size_t k = 0; k < facts->at[i].n; k++) {
			const struct solve_term *t = &facts->at[i].terms[k];

			if (t->variable == variable) {
				mine = true;
				own = term_holds(solution, t);
			} else {
				holds = term_holds(solution, t);
				free += !holds;
				others &= holds || (demands && !is_aside(solution, t));
			}
		}
		if (mine && others && free <= 1 && own == demands &&
		    (why->variable == variable) == demands && !why->off &&
		    why->kind->strength < STRENGTH_PREFERENCE)
			list_push(solution->work->a, out, why);
	}
}

struct constraints
solution_limits(const struct solution *solution, const char *key, bool demands)
{
	struct constraints all = { 0 };
	int variable = variable_find(solution->work, key);

	for (size_t i = 0; variable >= 0 && i < solution->nchosen; i++) {
		const struct domain *s = solution->work->variables.at[i];

		if (solution->chosen[i] < 0 || !s->given)
			continue;
		look_at(solution, (unsigned)variable, &s->given[s->t.n].facts, demands, &all);
		look_at(solution, (unsigned)variable, &s->given[solution->chosen[i]].facts, demands,
			&all);
	}
	return all;
}

/* Finds the reason against a candidate, given the requirements on other variables. `chosen`: also
 * given torch and the extensions. */
static struct solve_conflicts
against(const struct solution *solution, unsigned variable, size_t candidate, bool chosen,
	enum strength upto)
{
	struct workspace *w = solution->work;
	size_t n = solution->nrequests;
	struct solve_pin *pins = arena_array_of(w->a, struct solve_pin, n + w->variables.n + 1);
	struct solve_provider p = constraint_provider(w, upto);

	memcpy(pins, solution->solver_pins, n * sizeof(*pins));
	if (chosen)
		pin_chosen(w, solution->chosen, solution->nchosen, pins, &n);
	for (size_t i = 0; i < n; i++)
		if (pins[i].variable == variable)
			pin_lift(w, &pins[i]);
	pins[n++] = (struct solve_pin){ .variable = variable,
					.set = set_one(w, variable, candidate),
					.fixed = true };
	return solve_conflicts(w->a, &p, pins, n, w->budget, NULL);
}

/* Returns a fact of the first conflict about the variable, if possible beside selected candidates. */
static const struct constraint *
reason_about(const struct solution *solution, const struct solve_conflicts *found, unsigned own)
{
	bool any = false;

	for (size_t i = 0; found->n && i < found->at[0].facts.n; i++) {
		const struct solve_fact *fact = &found->at[0].facts.at[i];
		bool about = false, selected = true;

		for (size_t k = 0; k < fact->n; k++)
			about |= fact->terms[k].variable == own;
		for (size_t k = 0; k < fact->n; k++)
			selected &= fact->terms[k].variable == own ||
				    term_holds(solution, &fact->terms[k]);
		if (about && selected)
			return constraint_of(fact);
		any |= about;
	}
	return any ? conflict_reason(found) : NULL;
}

const struct constraint *
solution_obstacle(const struct solution *solution, const char *key, size_t candidate)
{
	unsigned variable = (unsigned)variable_find(solution->work, key);
	struct solve_conflicts found = { 0 };

	/* Preferences also apply if no stronger constraint contradicts them. */
	constraints_restore(solution->work, STRENGTH_PREFERENCE);
	for (unsigned upto = STRENGTH_ERROR; upto <= STRENGTH_SECONDARY && !found.n; upto++)
		found = against(solution, variable, candidate, true, upto);
	/* Preferences that the stack contradicts anyway are no reason against the candidate. */
	return reason_about(solution, &found, variable);
}

struct alternatives
solution_alternatives(const struct solution *solution, const char *key)
{
	struct workspace *w = solution->work;
	struct alternatives all = { 0 };
	const struct solver_variable *t = solution_variable(solution, key);
	const struct candidate *selected = solution_selected(solution, key);
	unsigned variable = (unsigned)variable_find(w, key);

	for (size_t i = 0; t && i < t->n; i++) {
		struct solve_conflicts found =
			against(solution, variable, i, false, STRENGTH_ERROR);
		struct alternative one = { .c = &t->c[i],
					   .chosen = &t->c[i] == selected,
					   .asked = true,
					   .can = !found.n,
					   .why = conflict_reason(&found) };

		for (size_t k = 0; k < solution->nrequests; k++)
			if (solution->solver_pins[k].variable == variable)
				one.asked &= solve_set_has(solution->solver_pins[k].set, i);
		list_push(w->a, &all, one);
	}
	return all;
}
