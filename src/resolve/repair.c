#include "fit_work.h"

/* The nearest stacks that work, and what they cost. */

static bool
has(const struct solve_indexes *all, unsigned i)
{
	for (size_t k = 0; k < all->n; k++)
		if (all->at[k] == i)
			return true;
	return false;
}

/*
 * The pins, without those that other conflicts name; their numbers in `number`.  Where all
 * conflicts have one cure, the others are as it leaves them.
 */
static size_t
pins_for(const struct fit *fit, const struct fit_conflict *c, struct solve_pin *pins,
	 unsigned *number)
{
	const struct fit_cure *all = &fit->work->cure;
	size_t n = 0;

	for (unsigned i = 0; i < fit->npins; i++) {
		bool others = c && fit_pin_in_error(fit, i, c->found);
		unsigned thing = fit->solve_pins[i].thing;

		if (others && !all->found)
			continue;
		number[n] = i;
		pins[n] = fit->solve_pins[i];
		if (others && has(&all->pins, i) && all->best.chosen[thing] >= 0)
			pins[n].set = fit_one(fit->work, thing, (size_t)all->best.chosen[thing]);
		pins[n].fixed |= others;
		n++;
	}
	return n;
}

/* What is changed must still be there: each thing once more, whichever it is then. */
static size_t
and_there(const struct fit *fit, struct solve_pin *pins, size_t n)
{
	size_t all = n;

	for (size_t i = 0; i < n; i++) {
		bool twice = pins[i].fixed;

		for (size_t k = n; k < all; k++)
			twice |= pins[k].thing == pins[i].thing;
		if (!twice)
			pins[all++] = (struct solve_pin){ .thing = pins[i].thing,
							  .set = fit_all(fit->work, pins[i].thing),
							  .fixed = true };
	}
	return all;
}

/* First without a warning, then with; then by leaving out what is given. */
static struct solve_repairs
repairs(const struct fit *fit, const struct fit_conflict *c, const bool *keep, size_t max)
{
	static const enum fit_strength strengths[] = { FIT_WARN, FIT_HARD };
	struct fit_work *w = fit->work;
	struct solve_pin *pins = arena_array_of(w->a, struct solve_pin, 2 * fit->npins + 1);
	unsigned *number = arena_array_of(w->a, unsigned, fit->npins + 1);
	bool *kept = arena_array_of(w->a, bool, 2 * fit->npins + 1);
	size_t n = pins_for(fit, c, pins, number), all = and_there(fit, pins, n);
	struct solve_repairs found = { 0 };

	for (size_t i = 0; i < all; i++)
		kept[i] = pins[i].fixed || (keep && keep[number[i]]);
	for (size_t k = 0; !found.n && k < 2; k++) {
		struct solve_provider p;

		w->upto = strengths[k];
		p = fit_provider(w);
		found = solve_repairs(w->a, &p, pins, all, kept, max, w->budget, NULL);
	}
	if (!found.n && !keep) {
		struct solve_provider p = fit_provider(w);

		found = solve_repairs(w->a, &p, pins, n, NULL, max, w->budget, NULL);
	}
	for (size_t i = 0; i < found.n; i++)
		for (size_t k = 0; k < found.at[i].pins.n; k++)
			found.at[i].pins.at[k] = number[found.at[i].pins.at[k]];
	return found;
}

/* --- the stack of a repair --- */

/* The system of a base that is replaced is kept if it can be. */
static void
keep_system(const struct fit *fit, struct solve_pin *pins, size_t *n)
{
	struct fit_work *w = fit->work;
	int os = fit_find(w, "os");

	if (os >= 0 && w->image.os)
		pins[(*n)++] = (struct solve_pin){
			.thing = (unsigned)os,
			.set = fit_one(w, (unsigned)os, fit_candidate(w, (unsigned)os, w->image.os))
		};
}

/* What is changed must still be there, whichever it is then. */
static struct solve_result
solve_again(const struct fit *fit, const struct fit_conflict *c, const struct solve_indexes *out)
{
	struct fit_work *w = fit->work;
	struct solve_pin *pins = arena_array_of(w->a, struct solve_pin, fit->npins + 2);
	unsigned *number = arena_array_of(w->a, unsigned, fit->npins + 1);
	size_t n = pins_for(fit, c, pins, number), more;
	struct solve_result r;
	bool base = false;

	for (size_t i = 0; i < n; i++) {
		if (!has(out, number[i]))
			continue;
		pins[i].set = fit_all(w, pins[i].thing);
		base |= fit->pins[number[i]].kind == PIN_BASE;
	}
	more = n;
	if (base)
		keep_system(fit, pins, &more);
	r = fit_best(w, pins, more);
	if (r.status != SOLVE_FOUND && more > n)
		r = fit_best(w, pins, n);
	if (r.status == SOLVE_FOUND)
		return r;
	/* Something that is given has to go: then it is not there. */
	more = 0;
	for (size_t i = 0; i < n; i++)
		if (!has(out, number[i]))
			pins[more++] = pins[i];
	return fit_best(w, pins, more);
}

/* --- costs --- */

static const struct {
	const char *step;
} whole[] = { { "base" }, { "apt" }, { "python" }, { "torch" }, { "build-deps" }, { "packages" } };

/* From the first layer that changes on, everything behind it is made again. */
static void
count_cost(const struct fit *fit, struct fit_repair *r)
{
	const struct recipe_extensions *all = &fit->recipe->extensions;
	size_t first = all->n;
	bool packages = false;

	for (size_t i = 0; i < r->pins.n; i++) {
		const struct fit_pin *p = &fit->pins[r->pins.at[i]];

		if (!p->extension && p->kind != PIN_REQUIREMENT)
			r->everything = true;
		packages |= p->kind == PIN_REQUIREMENT;
		for (size_t k = 0; p->extension && k < first; k++)
			if (&all->at[k] == p->extension)
				first = k;
	}
	if (r->everything || packages)
		first = 0;
	for (size_t i = 0; r->everything && i < sizeof(whole) / sizeof(whole[0]); i++) {
		r->seconds += (unsigned)facts_cost(fit->facts, whole[i].step, NULL).seconds;
		r->layers++;
	}
	if (packages && !r->everything) {
		r->seconds += (unsigned)facts_cost(fit->facts, "packages", NULL).seconds;
		r->layers++;
	}
	for (size_t i = first; i < all->n; i++) {
		r->seconds += (unsigned)facts_cost(fit->facts, "extension", all->at[i].key).seconds;
		r->layers++;
	}
}

/* --- ways out --- */

static void
add_way(const struct fit *fit, const struct fit_conflict *c, const struct solve_indexes *pins,
	const struct solve_result *best, struct fit_repairs *out)
{
	struct fit_repair r = { .pins = *pins };

	if (!pins->n)
		return;
	for (size_t i = 0; i < pins->n; i++)
		r.left_out |= fit->solve_pins[pins->at[i]].fixed;
	r.best = best ? *best : solve_again(fit, c, pins);
	if (r.best.status != SOLVE_FOUND)
		return;
	fit_changes_of(fit, &r);
	count_cost(fit, &r);
	list_push(fit->work->a, out, r);
}

/* What one of these pins asks for is not there any more. */
static bool
leaves_out(const struct fit *fit, const struct solve_result *r, const struct solve_indexes *pins)
{
	for (size_t i = 0; i < pins->n; i++) {
		unsigned thing = fit->pins[pins->at[i]].thing;

		if (thing >= r->nthings || r->chosen[thing] < 0)
			return true;
	}
	return false;
}

/* One cure for all errors at once, so that what is done for one does not break another. */
static void
cure_all(const struct fit *fit)
{
	struct fit_cure *all = &fit->work->cure;
	struct solve_repairs found = { 0 };

	if (all->looked)
		return;
	all->looked = true;
	if (fit->errors.n > 1)
		found = repairs(fit, NULL, NULL, 1);
	if (!found.n)
		return;
	all->pins = found.at[0].pins;
	for (size_t i = 0; i < all->pins.n; i++)
		if (fit->solve_pins[all->pins.at[i]].fixed)
			return; /* one of them has no cure: each is told by itself */
	all->best = solve_again(fit, NULL, &all->pins);
	all->found = all->best.status == SOLVE_FOUND && !leaves_out(fit, &all->best, &all->pins);
}

/* The part of it that is for this conflict; what no conflict names is told with the first. */
static struct solve_indexes
share_of(const struct fit *fit, const struct fit_conflict *c)
{
	const struct solve_indexes *all = &fit->work->cure.pins;
	struct solve_indexes mine = { 0 };

	for (size_t i = 0; i < all->n; i++) {
		bool first = c == &fit->errors.at[0] && !fit_pin_in_error(fit, all->at[i], NULL);

		if (first || has(&c->found->pins, all->at[i]))
			list_push(fit->work->a, &mine, all->at[i]);
	}
	return mine;
}

enum { CHANGES_MAX = 6 };

struct fit_repairs
fit_ways_out(const struct fit *fit, const struct fit_conflict *c)
{
	struct fit_repairs out = { 0 };
	struct solve_repairs found;
	struct solve_indexes first = { 0 };
	bool *keep = arena_array_of(fit->work->a, bool, fit->npins + 1), joint;

	if (c->strength == FIT_HARD)
		cure_all(fit);
	joint = c->strength == FIT_HARD && fit->work->cure.found;
	if (joint) {
		first = share_of(fit, c);
	} else if ((found = repairs(fit, c, NULL, 1)).n) {
		first = found.at[0].pins;
	}
	if (!first.n)
		return out;
	add_way(fit, c, &first, joint ? &fit->work->cure.best : NULL, &out);
	for (size_t i = 0; i < first.n; i++)
		keep[first.at[i]] = true;
	found = repairs(fit, c, keep, 1);
	if (found.n && found.at[0].pins.n <= CHANGES_MAX)
		add_way(fit, c, &found.at[0].pins, NULL, &out);
	return out;
}
