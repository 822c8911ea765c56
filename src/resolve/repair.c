#include "internal.h"

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
pins_for(const struct solution *solution, const struct conflict *c, struct solve_pin *pins,
	 unsigned *number)
{
	const struct joint_repair *all = &solution->work->joint;
	size_t n = 0;

	for (unsigned i = 0; i < solution->nrequests; i++) {
		bool others = c && request_in_error(solution, i, c->found);
		unsigned variable = solution->solver_pins[i].variable;

		if (others && !all->found)
			continue;
		number[n] = i;
		pins[n] = solution->solver_pins[i];
		if (others && has(&all->pins, i) && all->best.chosen[variable] >= 0)
			pins[n].set = set_one(solution->work, variable,
					      (size_t)all->best.chosen[variable]);
		pins[n].fixed |= others;
		n++;
	}
	return n;
}

/* What is changed must still be there: each variable once more, whichever it is then. */
static size_t
and_there(const struct solution *solution, struct solve_pin *pins, size_t n)
{
	size_t all = n;

	for (size_t i = 0; i < n; i++) {
		bool twice = pins[i].fixed;

		for (size_t k = n; k < all; k++)
			twice |= pins[k].variable == pins[i].variable;
		if (!twice)
			pins[all++] = (struct solve_pin){ .variable = pins[i].variable,
							  .set = set_all(solution->work,
									 pins[i].variable),
							  .fixed = true };
	}
	return all;
}

/* First without a warning, then with; then by leaving out what is given. */
static struct solve_indexes
nearest(const struct solution *solution, const struct conflict *c, const bool *keep)
{
	static const enum strength strengths[] = { STRENGTH_WARNING, STRENGTH_ERROR };
	struct workspace *w = solution->work;
	struct solve_pin *pins =
		arena_array_of(w->a, struct solve_pin, 2 * solution->nrequests + 1);
	unsigned *number = arena_array_of(w->a, unsigned, solution->nrequests + 1);
	bool *kept = arena_array_of(w->a, bool, 2 * solution->nrequests + 1), found = false;
	size_t n = pins_for(solution, c, pins, number), all = and_there(solution, pins, n);
	struct solve_repair r = { 0 };

	for (size_t i = 0; i < all; i++)
		kept[i] = pins[i].fixed || (keep && keep[number[i]]);
	for (size_t k = 0; !found && k < 2; k++) {
		struct solve_provider p;

		w->upto = strengths[k];
		p = constraint_provider(w);
		found = solve_repair(w->a, &p, pins, all, kept, w->budget, NULL, &r);
	}
	if (!found && !keep) {
		struct solve_provider p = constraint_provider(w);

		solve_repair(w->a, &p, pins, n, NULL, w->budget, NULL, &r);
	}
	for (size_t k = 0; k < r.pins.n; k++)
		r.pins.at[k] = number[r.pins.at[k]];
	return r.pins;
}

/* --- the stack of a repair --- */

/* The system of a base that is replaced is kept if it can be. */
static void
keep_system(const struct solution *solution, struct solve_pin *pins, size_t *n)
{
	struct workspace *w = solution->work;
	int os = variable_find(w, "os");

	if (os >= 0 && w->image.os)
		pins[(*n)++] = (struct solve_pin){
			.variable = (unsigned)os,
			.set = set_one(w, (unsigned)os,
				       variable_candidate(w, (unsigned)os, w->image.os))
		};
}

/* What is changed must still be there, whichever it is then. */
static struct solve_result
solve_again(const struct solution *solution, const struct conflict *c,
	    const struct solve_indexes *out)
{
	struct workspace *w = solution->work;
	struct solve_pin *pins = arena_array_of(w->a, struct solve_pin, solution->nrequests + 2);
	unsigned *number = arena_array_of(w->a, unsigned, solution->nrequests + 1);
	size_t n = pins_for(solution, c, pins, number), more;
	struct solve_result r;
	bool base = false;

	for (size_t i = 0; i < n; i++) {
		if (!has(out, number[i]))
			continue;
		pins[i].set = set_all(w, pins[i].variable);
		base |= solution->requests[number[i]].kind == REQUEST_BASE;
	}
	more = n;
	if (base)
		keep_system(solution, pins, &more);
	r = solve_best(w, pins, more);
	if (r.status != SOLVE_FOUND && more > n)
		r = solve_best(w, pins, n);
	if (r.status == SOLVE_FOUND)
		return r;
	/* Something that is given has to go: then it is not there. */
	more = 0;
	for (size_t i = 0; i < n; i++)
		if (!has(out, number[i]))
			pins[more++] = pins[i];
	return solve_best(w, pins, more);
}

/* --- costs --- */

static const struct {
	const char *step;
} whole[] = { { "base" }, { "apt" }, { "python" }, { "torch" }, { "build-deps" }, { "packages" } };

/* From the first layer that changes on, everything behind it is made again. */
static void
count_cost(const struct solution *solution, struct repair *r)
{
	const struct recipe_extensions *all = &solution->recipe->extensions;
	size_t first = all->n;
	bool packages = false;

	for (size_t i = 0; i < r->pins.n; i++) {
		const struct request *p = &solution->requests[r->pins.at[i]];

		if (!p->extension && p->kind != REQUEST_REQUIREMENT)
			r->everything = true;
		packages |= p->kind == REQUEST_REQUIREMENT;
		for (size_t k = 0; p->extension && k < first; k++)
			if (&all->at[k] == p->extension)
				first = k;
	}
	if (r->everything || packages)
		first = 0;
	for (size_t i = 0; r->everything && i < sizeof(whole) / sizeof(whole[0]); i++) {
		r->seconds += (unsigned)facts_cost(solution->facts, whole[i].step, NULL).seconds;
		r->layers++;
	}
	if (packages && !r->everything) {
		r->seconds += (unsigned)facts_cost(solution->facts, "packages", NULL).seconds;
		r->layers++;
	}
	for (size_t i = first; i < all->n; i++) {
		r->seconds +=
			(unsigned)facts_cost(solution->facts, "extension", all->at[i].key).seconds;
		r->layers++;
	}
}

/* --- ways out --- */

static void
add_way(const struct solution *solution, const struct conflict *c, const struct solve_indexes *pins,
	const struct solve_result *best, struct repairs *out)
{
	struct repair r = { .pins = *pins };

	if (!pins->n)
		return;
	for (size_t i = 0; i < pins->n; i++)
		r.left_out |= solution->solver_pins[pins->at[i]].fixed;
	r.best = best ? *best : solve_again(solution, c, pins);
	if (r.best.status != SOLVE_FOUND)
		return;
	list_changes(solution, &r);
	count_cost(solution, &r);
	list_push(solution->work->a, out, r);
}

/* What one of these pins asks for is not there any more. */
static bool
leaves_out(const struct solution *solution, const struct solve_result *r,
	   const struct solve_indexes *pins)
{
	for (size_t i = 0; i < pins->n; i++) {
		unsigned variable = solution->requests[pins->at[i]].variable;

		if (variable >= r->nvariables || r->chosen[variable] < 0)
			return true;
	}
	return false;
}

/* One cure for all errors at once, so that what is done for one does not break another. */
static void
find_joint_repair(const struct solution *solution)
{
	struct joint_repair *all = &solution->work->joint;

	if (all->looked)
		return;
	all->looked = true;
	if (solution->errors.n > 1)
		all->pins = nearest(solution, NULL, NULL);
	if (!all->pins.n)
		return;
	for (size_t i = 0; i < all->pins.n; i++)
		if (solution->solver_pins[all->pins.at[i]].fixed)
			return; /* one of them has no fix: each is reported by itself */
	all->best = solve_again(solution, NULL, &all->pins);
	all->found =
		all->best.status == SOLVE_FOUND && !leaves_out(solution, &all->best, &all->pins);
}

/* The part of it that is for this conflict; what no conflict names is reported with the first. */
static struct solve_indexes
share_of(const struct solution *solution, const struct conflict *c)
{
	const struct solve_indexes *all = &solution->work->joint.pins;
	struct solve_indexes mine = { 0 };

	for (size_t i = 0; i < all->n; i++) {
		bool first = c == &solution->errors.at[0] &&
			     !request_in_error(solution, all->at[i], NULL);

		if (first || has(&c->found->pins, all->at[i]))
			list_push(solution->work->a, &mine, all->at[i]);
	}
	return mine;
}

enum { CHANGES_MAX = 6 };

struct repairs
find_repairs(const struct solution *solution, const struct conflict *c)
{
	struct repairs out = { 0 };
	struct solve_indexes first, second;
	bool *keep = arena_array_of(solution->work->a, bool, solution->nrequests + 1), joint;

	if (c->strength == STRENGTH_ERROR)
		find_joint_repair(solution);
	joint = c->strength == STRENGTH_ERROR && solution->work->joint.found;
	first = joint ? share_of(solution, c) : nearest(solution, c, NULL);
	if (!first.n)
		return out;
	add_way(solution, c, &first, joint ? &solution->work->joint.best : NULL, &out);
	for (size_t i = 0; i < first.n; i++)
		keep[first.at[i]] = true;
	second = nearest(solution, c, keep);
	if (second.n <= CHANGES_MAX)
		add_way(solution, c, &second, NULL, &out);
	return out;
}
