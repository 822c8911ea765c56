#include "fit_work.h"

/* Questions about a solved stack: what limits a thing, and what else it could be. */

/* True if a term holds in what was chosen. */
static bool
holds(const struct fit *fit, const struct solve_term *t)
{
	bool there = t->thing < fit->nchosen && fit->chosen[t->thing] >= 0;
	bool in = there && solve_set_has(t->set, (size_t)fit->chosen[t->thing]);

	return t->not ? !in : in;
}

/* One candidate of another thing that is not the one chosen: no concern of this stack. */
static bool
is_aside(const struct fit *fit, const struct solve_term *t)
{
	return !t->not &&solve_set_count(t->set, fit_at(fit->work, t->thing)->n) == 1 &&
	       !holds(fit, t);
}

/* A fact whose other terms all hold: then the thing's own term must not. */
static void
look_at(const struct fit *fit, unsigned thing, const struct solve_facts *facts, bool demands,
	struct fit_facts *out)
{
	for (size_t i = 0; i < facts->n; i++) {
		const struct fit_fact *why = facts->at[i].why;
		bool mine = false, others = true, own = false;

		for (size_t k = 0; k < facts->at[i].n; k++) {
			const struct solve_term *t = &facts->at[i].terms[k];

			if (t->thing == thing) {
				mine = true;
				own = holds(fit, t);
			} else {
				others &= demands ? !is_aside(fit, t) : holds(fit, t);
			}
		}
		if (mine && others && own == demands && (why->thing == thing) == demands &&
		    !why->off && why->row->strength < FIT_PREFER)
			list_push(fit->work->a, out, why);
	}
}

static struct fit_facts
facts_about(const struct fit *fit, const char *key, bool demands)
{
	struct fit_facts all = { 0 };
	int thing = fit_find(fit->work, key);

	for (size_t i = 0; thing >= 0 && i < fit->nchosen; i++) {
		const struct fit_slot *s = fit->work->slots.at[i];

		if (fit->chosen[i] < 0)
			continue;
		look_at(fit, (unsigned)thing, &s->whole.facts, demands, &all);
		if (s->given)
			look_at(fit, (unsigned)thing, &s->given[fit->chosen[i]].facts, demands,
				&all);
	}
	return all;
}

struct fit_facts
fit_limits(const struct fit *fit, const char *key)
{
	return facts_about(fit, key, false);
}

struct fit_facts
fit_demands(const struct fit *fit, const char *key)
{
	return facts_about(fit, key, true);
}

/* What stands against one more pin, in a word. */
static const struct fit_fact *
most_telling(const struct solve_conflicts *found)
{
	const struct fit_fact *best = NULL;

	for (size_t i = 0; found->n && i < found->at[0].facts.n; i++) {
		const struct fit_fact *why = found->at[0].facts.at[i].why;

		if (!best || why->row->telling > best->row->telling)
			best = why;
	}
	return best;
}

const struct fit_fact *
fit_against(const struct fit *fit, const char *key, size_t candidate)
{
	struct fit_work *w = fit->work;
	int thing = fit_find(w, key);
	struct solve_pin *pins =
		arena_array_of(w->a, struct solve_pin, fit->npins + w->slots.n + 1);
	struct solve_conflicts found = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < fit->npins; i++)
		if (fit->solve_pins[i].thing != (unsigned)thing)
			pins[n++] = fit->solve_pins[i];
	for (unsigned i = 0; i < fit->nchosen; i++) {
		enum fit_kind kind = fit_at(w, i)->kind;

		if ((int)i != thing && fit->chosen[i] >= 0 &&
		    (kind == FIT_TORCH || kind == FIT_EXTENSION))
			pins[n++] =
				(struct solve_pin){ .thing = i,
						    .set = fit_one(w, i, (size_t)fit->chosen[i]) };
	}
	pins[n++] = (struct solve_pin){ .thing = (unsigned)thing,
					.set = fit_one(w, (unsigned)thing, candidate),
					.fixed = true };
	/* What only guides counts as well, where nothing stronger stands against it. */
	fit_wake(w, FIT_PREFER);
	for (w->upto = FIT_HARD; w->upto <= FIT_TASTE && !found.n; w->upto++) {
		struct solve_provider p = fit_provider(w);

		found = solve_conflicts(w->a, &p, pins, n, w->budget, NULL);
	}
	return most_telling(&found);
}

struct fit_others
fit_others(const struct fit *fit, const char *key)
{
	struct fit_work *w = fit->work;
	struct fit_others all = { 0 };
	int thing = fit_find(w, key);
	const struct fit_thing *t = thing < 0 ? NULL : fit_at(w, (unsigned)thing);
	struct solve_pin *pins = arena_array_of(w->a, struct solve_pin, fit->npins + 1);
	size_t n = 0;

	for (size_t i = 0; t && i < fit->npins; i++)
		if (fit->solve_pins[i].thing != (unsigned)thing)
			pins[n++] = fit->solve_pins[i];
	w->upto = FIT_HARD;
	for (size_t i = 0; t && i < t->n; i++) {
		struct fit_other one = { .c = &t->c[i], .asked = true };
		struct solve_provider p;
		struct solve_conflicts found;

		pins[n] = (struct solve_pin){ .thing = (unsigned)thing,
					      .set = fit_one(w, (unsigned)thing, i),
					      .fixed = true };
		p = fit_provider(w);
		found = solve_conflicts(w->a, &p, pins, n + 1, w->budget, NULL);
		one.can = !found.n;
		one.why = most_telling(&found);
		one.chosen = (size_t)thing < fit->nchosen && fit->chosen[thing] == (int)i;
		for (size_t k = 0; k < fit->npins; k++)
			if (fit->solve_pins[k].thing == (unsigned)thing)
				one.asked &= solve_set_has(fit->solve_pins[k].set, i);
		list_push(w->a, &all, one);
	}
	return all;
}
