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
 * The pins, with room for as many more; those that other conflicts name require nothing.  Where
 * all conflicts have one cure, the others are as it leaves them.
 */
static struct solve_pin *
pins_for(const struct solution *solution, const struct conflict *c)
{
	struct workspace *w = solution->work;
	const struct joint_repair *all = &w->joint;
	size_t n = solution->nrequests;
	struct solve_pin *pins = arena_array_of(w->a, struct solve_pin, 2 * n + 1);

	memcpy(pins, solution->solver_pins, n * sizeof(*pins));
	for (unsigned i = 0; c && i < n; i++) {
		unsigned x = pins[i].variable;

		if (!request_in_error(solution, i, c->found))
			continue;
		if (!all->found)
			pin_lift(w, &pins[i]);
		else if (has(&all->pins, i))
			pins[i].set = set_one(w, x, (size_t)all->best.chosen[x]);
		pins[i].fixed = true;
	}
	return pins;
}

/* What is changed must still be there: each variable once more, whichever it is then. */
static size_t
and_there(struct workspace *w, struct solve_pin *pins, size_t n)
{
	size_t all = n;

	for (size_t i = 0; i < n; i++) {
		bool twice = pins[i].fixed;

		for (size_t k = n; k < all; k++)
			twice |= pins[k].variable == pins[i].variable;
		if (!twice)
			pins[all++] = (struct solve_pin){ .variable = pins[i].variable,
							  .set = set_all(w, pins[i].variable),
							  .fixed = true };
	}
	return all;
}

/* First without a warning, then with; then by leaving out what is given. */
static struct solve_indexes
nearest(const struct solution *solution, const struct conflict *c, const bool *keep)
{
	struct workspace *w = solution->work;
	size_t n = solution->nrequests;
	struct solve_pin *pins = pins_for(solution, c);
	size_t all = and_there(w, pins, n);
	bool *kept = arena_array_of(w->a, bool, all + 1), found = false;
	struct solve_repair r = { 0 };

	for (size_t i = 0; i < all; i++)
		kept[i] = pins[i].fixed || (keep && keep[i]);
	for (int upto = STRENGTH_WARNING; !found && upto >= STRENGTH_ERROR; upto--) {
		struct solve_provider p = constraint_provider(w, (enum strength)upto);

		found = solve_repair(w->a, &p, pins, all, kept, w->budget, NULL, &r);
	}
	if (!found && !keep) {
		struct solve_provider p = constraint_provider(w, STRENGTH_ERROR);

		solve_repair(w->a, &p, pins, n, NULL, w->budget, NULL, &r);
	}
	return r.pins;
}

/* The stack of a repair.  What is changed must still be there, whichever it is then. */
static struct solve_result
solve_again(const struct solution *solution, const struct conflict *c,
	    const struct solve_indexes *out)
{
	struct workspace *w = solution->work;
	struct solve_pin *pins = pins_for(solution, c);
	size_t n = solution->nrequests;
	int os = variable_find(w, "os");
	struct solve_result r;
	bool base = false;

	for (size_t i = 0; i < out->n; i++) {
		struct solve_pin *p = &pins[out->at[i]];

		p->set = set_all(w, p->variable);
		base |= solution->requests[out->at[i]].kind == REQUEST_BASE;
	}
	/* The system of a base that is replaced is kept if it can be. */
	base = base && os >= 0 && w->image.os;
	if (base)
		pins[n] = (struct solve_pin){ .variable = (unsigned)os,
					      .set = set_one(w, (unsigned)os,
							     variable_candidate(w, (unsigned)os,
										w->image.os)) };
	r = solve_best(w, pins, n + base);
	if (r.status != SOLVE_FOUND && base)
		r = solve_best(w, pins, n);
	if (r.status == SOLVE_FOUND)
		return r;
	/* Something that is given has to go: then it is not there. */
	for (size_t i = 0; i < out->n; i++)
		pin_lift(w, &pins[out->at[i]]);
	return solve_best(w, pins, n);
}

/* --- costs --- */

static void
add_cost(const struct solution *solution, struct repair *r, const char *step, const char *name)
{
	r->seconds += (unsigned)facts_cost(solution->facts, step, name).seconds;
	r->layers++;
}

/* From the first layer that changes on, everything behind it is made again. */
static void
count_cost(const struct solution *solution, struct repair *r)
{
	static const char *const whole[] = { "base",  "apt",        "python",
					     "torch", "build-deps", "packages" };
	const struct recipe_extensions *all = &solution->recipe->extensions;
	size_t first = all->n;
	bool packages = false;

	for (size_t i = 0; i < r->pins.n; i++) {
		const struct request *p = &solution->requests[r->pins.at[i]];

		if (!p->extension && p->kind != REQUEST_REQUIREMENT)
			r->everything = true;
		packages |= p->kind == REQUEST_REQUIREMENT;
		if (p->extension && p->extension < &all->at[first])
			first = (size_t)(p->extension - all->at);
	}
	if (r->everything || packages)
		first = 0;
	for (size_t i = 0; r->everything && i < sizeof(whole) / sizeof(whole[0]); i++)
		add_cost(solution, r, whole[i], NULL);
	if (packages && !r->everything)
		add_cost(solution, r, "packages", NULL);
	for (size_t i = first; i < all->n; i++)
		add_cost(solution, r, "extension", all->at[i].key);
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
	all->found = all->best.status == SOLVE_FOUND;
	for (size_t i = 0; i < all->pins.n; i++)
		all->found &= chosen_then(solution, &all->best,
					  &solution->requests[all->pins.at[i]]) != NULL;
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
