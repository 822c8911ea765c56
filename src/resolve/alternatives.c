#include "internal.h"

/* Questions about a solved stack: what was selected, what limits it, and what else it could be. */

const struct solver_variable *
solution_variable(const struct solution *solution, const char *key)
{
	int at = variable_find(solution->work, key);

	return at < 0 ? NULL : solution->work->all.at[at];
}

const struct candidate *
candidate_in(const struct workspace *w, const int *chosen, size_t n, int variable)
{
	if (variable < 0 || (size_t)variable >= n || chosen[variable] < 0)
		return NULL;
	return &w->all.at[variable]->c[chosen[variable]];
}

const struct candidate *
solution_selected(const struct solution *solution, const char *key)
{
	return candidate_in(solution->work, solution->chosen, solution->nchosen,
			    variable_find(solution->work, key));
}

bool
term_holds(const struct solution *solution, const struct solve_term *t)
{
	bool in = t->variable < solution->nchosen && solution->chosen[t->variable] >= 0 &&
		  solve_set_has(t->set, (size_t)solution->chosen[t->variable]);

	return t->not != in;
}

/* One candidate of another variable that is not the one chosen: no concern of this stack. */
static bool
is_aside(const struct solution *solution, const struct solve_term *t)
{
	return !t->not &&solve_set_count(t->set, variable_at(solution->work, t->variable)->n) ==
		       1 &&
	       !term_holds(solution, t);
}

/* A fact whose other terms all hold: then the variable's own term must not. */
static void
look_at(const struct solution *solution, unsigned variable, const struct solve_facts *facts,
	bool demands, struct constraints *out)
{
	for (size_t i = 0; i < facts->n; i++) {
		const struct constraint *why = constraint_of(&facts->at[i]);
		bool mine = false, others = true, own = false;

		for (size_t k = 0; k < facts->at[i].n; k++) {
			const struct solve_term *t = &facts->at[i].terms[k];

			if (t->variable == variable) {
				mine = true;
				own = term_holds(solution, t);
			} else {
				others &=
					demands ? !is_aside(solution, t) : term_holds(solution, t);
			}
		}
		if (mine && others && own == demands && (why->variable == variable) == demands &&
		    !why->off && why->kind->strength < STRENGTH_PREFERENCE)
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

/* What stands against one more pin, in a word. */
static const struct constraint *
strongest(const struct solve_conflicts *found)
{
	const struct constraint *best = NULL;

	for (size_t i = 0; found->n && i < found->at[0].facts.n; i++) {
		const struct constraint *why = constraint_of(&found->at[0].facts.at[i]);

		if (!best || why->kind->priority > best->kind->priority)
			best = why;
	}
	return best;
}

/*
 * What stands against a candidate, with all that the recipe requires of other variables; `chosen`:
 * and with torch and the extensions as selected.
 */
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

const struct constraint *
solution_obstacle(const struct solution *solution, const char *key, size_t candidate)
{
	unsigned variable = (unsigned)variable_find(solution->work, key);
	struct solve_conflicts found = { 0 };

	/* What only guides counts as well, where nothing stronger stands against it. */
	constraints_restore(solution->work, STRENGTH_PREFERENCE);
	for (unsigned upto = STRENGTH_ERROR; upto <= STRENGTH_SECONDARY && !found.n; upto++)
		found = against(solution, variable, candidate, true, upto);
	return strongest(&found);
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
					   .why = strongest(&found) };

		for (size_t k = 0; k < solution->nrequests; k++)
			if (solution->solver_pins[k].variable == variable)
				one.asked &= solve_set_has(solution->solver_pins[k].set, i);
		list_push(w->a, &all, one);
	}
	return all;
}
