#include "internal.h"

/* Questions about a solved stack: what limits a variable, and what else it could be. */

/* True if a term holds in what was chosen. */
static bool
holds(const struct solution *solution, const struct solve_term *t)
{
	bool there = t->variable < solution->nchosen && solution->chosen[t->variable] >= 0;
	bool in = there && solve_set_has(t->set, (size_t)solution->chosen[t->variable]);

	return t->not ? !in : in;
}

/* One candidate of another variable that is not the one chosen: no concern of this stack. */
static bool
is_aside(const struct solution *solution, const struct solve_term *t)
{
	return !t->not &&solve_set_count(t->set, variable_at(solution->work, t->variable)->n) ==
		       1 &&
	       !holds(solution, t);
}

/* A fact whose other terms all hold: then the variable's own term must not. */
static void
look_at(const struct solution *solution, unsigned variable, const struct solve_facts *facts,
	bool demands, struct constraints *out)
{
	for (size_t i = 0; i < facts->n; i++) {
		const struct constraint *why = facts->at[i].why;
		bool mine = false, others = true, own = false;

		for (size_t k = 0; k < facts->at[i].n; k++) {
			const struct solve_term *t = &facts->at[i].terms[k];

			if (t->variable == variable) {
				mine = true;
				own = holds(solution, t);
			} else {
				others &= demands ? !is_aside(solution, t) : holds(solution, t);
			}
		}
		if (mine && others && own == demands && (why->variable == variable) == demands &&
		    !why->off && why->kind->strength < STRENGTH_PREFERENCE)
			list_push(solution->work->a, out, why);
	}
}

static struct constraints
facts_about(const struct solution *solution, const char *key, bool demands)
{
	struct constraints all = { 0 };
	int variable = variable_find(solution->work, key);

	for (size_t i = 0; variable >= 0 && i < solution->nchosen; i++) {
		const struct domain *s = solution->work->variables.at[i];

		if (solution->chosen[i] < 0)
			continue;
		look_at(solution, (unsigned)variable, &s->whole.facts, demands, &all);
		if (s->given)
			look_at(solution, (unsigned)variable, &s->given[solution->chosen[i]].facts,
				demands, &all);
	}
	return all;
}

struct constraints
solution_limits(const struct solution *solution, const char *key)
{
	return facts_about(solution, key, false);
}

struct constraints
solution_demands(const struct solution *solution, const char *key)
{
	return facts_about(solution, key, true);
}

/* What stands against one more pin, in a word. */
static const struct constraint *
strongest(const struct solve_conflicts *found)
{
	const struct constraint *best = NULL;

	for (size_t i = 0; found->n && i < found->at[0].facts.n; i++) {
		const struct constraint *why = found->at[0].facts.at[i].why;

		if (!best || why->kind->priority > best->kind->priority)
			best = why;
	}
	return best;
}

const struct constraint *
solution_obstacle(const struct solution *solution, const char *key, size_t candidate)
{
	struct workspace *w = solution->work;
	int variable = variable_find(w, key);
	struct solve_pin *pins =
		arena_array_of(w->a, struct solve_pin, solution->nrequests + w->variables.n + 1);
	struct solve_conflicts found = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < solution->nrequests; i++)
		if (solution->solver_pins[i].variable != (unsigned)variable)
			pins[n++] = solution->solver_pins[i];
	for (unsigned i = 0; i < solution->nchosen; i++) {
		enum variable_kind kind = variable_at(w, i)->kind;

		if ((int)i != variable && solution->chosen[i] >= 0 &&
		    (kind == VARIABLE_TORCH || kind == VARIABLE_EXTENSION))
			pins[n++] = (struct solve_pin){
				.variable = i, .set = set_one(w, i, (size_t)solution->chosen[i])
			};
	}
	pins[n++] = (struct solve_pin){ .variable = (unsigned)variable,
					.set = set_one(w, (unsigned)variable, candidate),
					.fixed = true };
	/* What only guides counts as well, where nothing stronger stands against it. */
	constraints_restore(w, STRENGTH_PREFERENCE);
	for (w->upto = STRENGTH_ERROR; w->upto <= STRENGTH_SECONDARY && !found.n; w->upto++) {
		struct solve_provider p = constraint_provider(w);

		found = solve_conflicts(w->a, &p, pins, n, w->budget, NULL);
	}
	return strongest(&found);
}

struct alternatives
solution_alternatives(const struct solution *solution, const char *key)
{
	struct workspace *w = solution->work;
	struct alternatives all = { 0 };
	int variable = variable_find(w, key);
	const struct solver_variable *t = variable < 0 ? NULL : variable_at(w, (unsigned)variable);
	struct solve_pin *pins = arena_array_of(w->a, struct solve_pin, solution->nrequests + 1);
	size_t n = 0;

	for (size_t i = 0; t && i < solution->nrequests; i++)
		if (solution->solver_pins[i].variable != (unsigned)variable)
			pins[n++] = solution->solver_pins[i];
	w->upto = STRENGTH_ERROR;
	for (size_t i = 0; t && i < t->n; i++) {
		struct alternative one = { .c = &t->c[i], .asked = true };
		struct solve_provider p;
		struct solve_conflicts found;

		pins[n] = (struct solve_pin){ .variable = (unsigned)variable,
					      .set = set_one(w, (unsigned)variable, i),
					      .fixed = true };
		p = constraint_provider(w);
		found = solve_conflicts(w->a, &p, pins, n + 1, w->budget, NULL);
		one.can = !found.n;
		one.why = strongest(&found);
		one.chosen = (size_t)variable < solution->nchosen &&
			     solution->chosen[variable] == (int)i;
		for (size_t k = 0; k < solution->nrequests; k++)
			if (solution->solver_pins[k].variable == (unsigned)variable)
				one.asked &= solve_set_has(solution->solver_pins[k].set, i);
		list_push(w->a, &all, one);
	}
	return all;
}
