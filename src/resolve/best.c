#include "fit_work.h"

/* The best stack for some pins: what guides is kept as far as they let it. */

/* Takes the facts of that strength out of the game; false if there is none. */
bool
fit_switch_off(const struct solve_facts *facts, enum fit_strength strength, bool all)
{
	bool any = false;

	for (size_t i = facts->n; i-- > 0 && (all || !any);) {
		struct fit_fact *why = (struct fit_fact *)(uintptr_t)facts->at[i].why;

		if (why->row->strength != strength || why->off)
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
fit_wake(struct fit_work *w, enum fit_strength from)
{
	for (size_t i = 0; i < w->slots.n; i++) {
		struct fit_slot *s = w->slots.at[i];

		for (size_t c = 0; c <= s->t.n; c++) {
			const struct fit_given *g =
				c < s->t.n ? s->given ? &s->given[c] : NULL : &s->whole;

			for (size_t k = 0; g && k < g->facts.n; k++) {
				struct fit_fact *why =
					(struct fit_fact *)(uintptr_t)g->facts.at[k].why;

				if (why->row->strength >= from)
					why->off = false;
			}
		}
	}
}

/* The best with what guides up to that strength, which is given up piece by piece. */
static struct solve_result
guided(struct fit_work *w, const struct solve_pin *pins, size_t n, enum fit_strength upto)
{
	for (;;) {
		struct solve_provider p;
		struct solve_result r;
		struct solve_facts facts;
		bool less = false;

		w->upto = upto;
		p = fit_provider(w);
		r = solve(w->a, &p, pins, n, NULL, w->budget);
		if (r.status != SOLVE_IMPOSSIBLE)
			return r;
		facts = leaves(w->a, &r.proof);
		for (unsigned k = upto; k > FIT_HARD && !less; k--) {
			less = fit_switch_off(&facts, k, false);
			w->warned |= less && k == FIT_WARN;
		}
		if (!less)
			return r;
	}
}

/* First torch and the extensions, as new as can be; then the rest, as it suits them. */
struct solve_result
fit_best(struct fit_work *w, const struct solve_pin *pins, size_t n)
{
	struct solve_pin *more = arena_array_of(w->a, struct solve_pin, n + w->slots.n + 1);
	struct solve_result r;

	fit_wake(w, FIT_PREFER);
	w->warned = false;
	r = guided(w, pins, n, FIT_PREFER);
	if (r.status != SOLVE_FOUND)
		return r;
	memcpy(more, pins, n * sizeof(*pins));
	for (unsigned i = 0; i < r.nthings && i < w->slots.n; i++) {
		enum fit_kind kind = fit_at(w, i)->kind;

		if (r.chosen[i] >= 0 && (kind == FIT_TORCH || kind == FIT_EXTENSION))
			more[n++] = (struct solve_pin){ .thing = i,
							.set = fit_one(w, i, (size_t)r.chosen[i]) };
	}
	return guided(w, more, n, FIT_TASTE);
}
