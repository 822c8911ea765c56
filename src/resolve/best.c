#include "internal.h"

/* The best stack for some pins: what guides is kept as far as they let it. */

/* Takes the facts of that strength out of the game; false if there is none. */
bool
constraints_drop(const struct solve_facts *facts, enum strength strength, bool all)
{
	bool any = false;

	for (size_t i = facts->n; i-- > 0 && (all || !any);) {
		struct constraint *why = (struct constraint *)(uintptr_t)facts->at[i].why;

		if (why->kind->strength != strength || why->off)
			continue;
		why->off = true;
		any = true;
	}
	return any;
}

/* The facts that a proof stands on. */
static struct solve_facts
leaves(struct arena *a, const struct solve_proof *proof)
{
	struct solve_facts all = { 0 };

	for (size_t i = 0; i < proof->n; i++)
		if (proof->at[i].fact)
			list_push(a, &all, *proof->at[i].fact);
	return all;
}

void
constraints_restore(struct workspace *w, enum strength from)
{
	for (size_t i = 0; i < w->variables.n; i++) {
		struct domain *s = w->variables.at[i];

		for (size_t c = 0; c <= s->t.n; c++) {
			const struct given *g =
				c < s->t.n ? s->given ? &s->given[c] : NULL : &s->whole;

			for (size_t k = 0; g && k < g->facts.n; k++) {
				struct constraint *why =
					(struct constraint *)(uintptr_t)g->facts.at[k].why;

				if (why->kind->strength >= from)
					why->off = false;
			}
		}
	}
}

/* The best with what guides up to that strength, which is given up piece by piece. */
static struct solve_result
guided(struct workspace *w, const struct solve_pin *pins, size_t n, enum strength upto)
{
	for (;;) {
		struct solve_provider p;
		struct solve_result r;
		struct solve_facts facts;
		bool less = false;

		w->upto = upto;
		p = constraint_provider(w);
		r = solve(w->a, &p, pins, n, NULL, w->budget);
		if (r.status != SOLVE_IMPOSSIBLE)
			return r;
		facts = leaves(w->a, &r.proof);
		for (unsigned k = upto; k > STRENGTH_ERROR && !less; k--) {
			less = constraints_drop(&facts, k, false);
			w->warned |= less && k == STRENGTH_WARNING;
		}
		if (!less)
			return r;
	}
}

/* First torch and the extensions, as new as can be; then the rest, as it suits them. */
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
	for (unsigned i = 0; i < r.nvariables && i < w->variables.n; i++) {
		enum variable_kind kind = variable_at(w, i)->kind;

		if (r.chosen[i] >= 0 && (kind == VARIABLE_TORCH || kind == VARIABLE_EXTENSION))
			more[n++] = (struct solve_pin){ .variable = i,
							.set = set_one(w, i, (size_t)r.chosen[i]) };
	}
	return guided(w, more, n, STRENGTH_SECONDARY);
}
