#include "internal.h"

/*
 * A conflict as a diagnostic: the incompatible parts, the constraints, the places in the recipe,
 * and the closest stacks that work with their cost.
 *
 *   r.yaml:9:16: error[SB0243]: mamba-ssm 2.3.2.post1 is not compatible with torch 2.2.2
 *       9 |   - mamba-ssm==2.3.2.post1
 *         |                ^~~~~~~~~~~
 *     because mamba-ssm 2.3.2.post1 needs triton 3.5.0 or newer
 *         and torch 2.2.2 was made for triton 2.2.0
 *     help: use mamba-ssm 2.2.4 from its repository      1 layer rebuilds, about 10 min
 *     source: knowledge/...
 */

/* Returns true if the message names the pin: it has a place, and it requires more than
 * existence. */
static bool
is_named(const struct request *p)
{
	return p->at.line && p->kind != REQUEST_NEED && p->kind != REQUEST_MACHINE;
}

/* Returns the pin that is cheapest to change, and the last one of several. */
static const struct request *
shown_at(const struct solution *solution, const struct solve_conflict *c)
{
	const struct request *best = NULL;
	unsigned least = 0;

	for (size_t i = 0; i < c->pins.n; i++) {
		const struct request *p = &solution->requests[c->pins.at[i]];
		unsigned own = is_named(p) ? solution->solver_pins[c->pins.at[i]].weight :
			       p->at.line  ? HEAVY + 1 :
					     HEAVY + 2;

		if (!best || own < least || (own == least && is_named(p))) {
			best = p;
			least = own;
		}
	}
	return best;
}

/* Returns "torch 2.2.2 and the cu124 build"; *only: set if there is a single other pin. */
static const char *
the_others(const struct solution *solution, const struct solve_conflict *c,
	   const struct request *at, const struct request **only)
{
	struct names all = { 0 };

	for (size_t i = 0; i < c->pins.n; i++) {
		const struct request *p = &solution->requests[c->pins.at[i]];

		if (p == at || !is_named(p))
			continue;
		list_push(solution->work->a, &all, request_name(solution, p));
		*only = all.n == 1 ? p : NULL;
	}
	return all.n ? names_words(solution->work->a, &all, "and") : NULL;
}

static const char *
headline(const struct solution *solution, const struct solve_conflict *c, const struct request *at)
{
	struct arena *a = solution->work->a;
	const struct request *only = NULL;
	const char *name = request_name(solution, at), *others = the_others(solution, c, at, &only);

	if (at->kind == REQUEST_FROM && only && starts_with(others, at->extension->name.s))
		return arena_printf(a, "%s cannot come from %s", others, name);
	if (at->kind == REQUEST_FROM)
		return arena_printf(a, "%s cannot come from %s%s%s", at->extension->name.s, name,
				    others ? ": it is not compatible with " : "",
				    others ? others : "");
	if (only && only->kind == REQUEST_FROM && only->extension == at->extension)
		return arena_printf(a, "%s cannot come from %s", name, others);
	if (others)
		return arena_printf(
			a, "%s %s with %s", name,
			at->kind == REQUEST_GPU ? "is not supported" : "is not compatible", others);
	return arena_printf(a, "%s is not available for this stack", name);
}

/* --- repairs --- */

static void
report_way(struct diag *d, const struct solution *solution, const struct repair *r, bool first)
{
	struct names all = { 0 };
	const char *words;

	for (size_t i = 0; i < r->changes.n; i++)
		names_once(solution->work->a, &all, r->changes.at[i].now);
	/* The first help of each error is then a part of one fix. */
	words = arena_printf(solution->work->a, "%s%s", names_words(solution->work->a, &all, "and"),
			     first && solution->work->joint.found ?
				     ", together with the fixes of the other errors" :
				     "");
	if (!r->changes.n)
		return; /* only a selected version changes; the text of the recipe stays */
	if (r->left_out)
		diag_help(d, "no other change helps: %s", words);
	else if (r->by_hand)
		diag_help(d, "use %s", words);
	for (size_t i = 0; !r->left_out && !r->by_hand && i < r->changes.n; i++) {
		const struct change *c = &r->changes.at[i];

		if (i)
			diag_fix_more(d, c->at, c->text);
		else
			diag_fix(d, c->at, c->text, "use %s", words);
	}
	if (!r->left_out)
		diag_cost(d, "%s", r->cost);
}

const struct constraint *
conflict_reason(const struct solve_conflicts *found)
{
	const struct constraint *best = NULL;

	for (size_t i = 0; found->n && i < found->at[0].facts.n; i++) {
		const struct constraint *why = constraint_of(&found->at[0].facts.at[i]);

		if (!best || why->kind->priority > best->kind->priority)
			best = why;
	}
	return best;
}

/* --- the derivation --- */

static const char *
set_words(const struct solution *solution, const struct solve_term *t)
{
	const struct solver_variable *x = variable_at(solution->work, t->variable);
	struct buf b = BUF(solution->work->a);
	size_t n = solve_set_count(t->set, x->n), shown = 0;

	if (n == x->n)
		return arena_printf(solution->work->a, "%s is %sin the stack", x->label,
				    t->not ? "not " : "");
	for (size_t i = 0; i < x->n && shown < 4; i++)
		if (solve_set_has(t->set, i))
			buf_printf(&b, "%s%s", shown++ ? ", " : "", x->c[i].text);
	if (n > shown)
		buf_printf(&b, " and %zu more", n - shown);
	return arena_printf(solution->work->a, "%s is %s%s%s", x->label, t->not ? "not " : "",
			    n > 1 ? "one of " : "", buf_text(&b));
}

static const char *
line_words(const struct solution *solution, const struct solve_line *l)
{
	struct buf b = BUF(solution->work->a);

	if (l->fact)
		return constraint_of(l->fact)->sentence;
	if (l->pin >= 0)
		return solution->requests[l->pin].sentence;
	if (!l->n)
		return "no solution exists";
	for (size_t i = 0; i < l->n; i++)
		buf_printf(&b, "%s%s", i ? " and " : "", set_words(solution, &l->terms[i]));
	return arena_printf(solution->work->a, "it cannot be that %s", buf_text(&b));
}

/* Prints the steps, such as "(7) from (3) and (5): it cannot be that torch is 2.2.2". */
static void
report_derivation(struct diag *d, const struct solution *solution, const struct conflict *one)
{
	const struct solve_proof *proof = &one->found.proof;

	for (size_t i = 0; i < proof->n; i++) {
		const struct solve_line *l = &proof->at[i];

		if (l->from[0] >= 0 && l->from[1] >= 0)
			diag_why(d, "(%zu) from (%d) and (%d): %s", i + 1, l->from[0] + 1,
				 l->from[1] + 1, line_words(solution, l));
		else
			diag_why(d, "(%zu) %s", i + 1, line_words(solution, l));
	}
}

/* --- one conflict --- */

/* Limits of one message: facts of one kind about one variable, such as torch's releases, and
 * sources. */
enum { ALIKE_MAX = 3, SOURCES_MAX = 4 };

static size_t
alike_before(const struct solve_conflict *c, size_t i)
{
	const struct constraint *why = constraint_of(&c->facts.at[i]);
	size_t n = 0;

	for (size_t k = 0; k < i; k++) {
		const struct constraint *other = constraint_of(&c->facts.at[k]);

		n += other->kind == why->kind && other->variable == why->variable;
	}
	return n;
}

static void
report_facts(struct diag *d, const struct solution *solution, const struct solve_conflict *c)
{
	const char *of = NULL, *label;
	struct names told = { 0 };
	size_t more = 0;

	for (size_t i = 0; i < c->facts.n; i++) {
		const struct constraint *why = constraint_of(&c->facts.at[i]);

		if (names_have(&told, why->sentence))
			continue;
		list_push(solution->work->a, &told, why->sentence);
		if (alike_before(c, i) < ALIKE_MAX) {
			diag_why(d, "%s", why->sentence);
			continue;
		}
		more++;
		label = variable_at(solution->work, why->variable)->label;
		of = of && strcmp(of, label) != 0 ? "several things" : label;
	}
	if (!c->facts.n)
		diag_why(d, "no known release meets all of these requirements");
	if (more)
		diag_why(d, "%zu more of the same kind, of %s: --verbose lists them", more, of);
}

static void
report_sources(struct diag *d, struct arena *a, const struct solve_conflict *c, bool verbose)
{
	struct names all = { 0 };

	for (size_t i = 0; i < c->facts.n; i++)
		if (constraint_of(&c->facts.at[i])->source)
			names_once(a, &all, constraint_of(&c->facts.at[i])->source);
	for (size_t i = 0; i < all.n && (verbose || i < SOURCES_MAX); i++)
		diag_source(d, all.at[i]);
}

/* Number of conflicts that get repairs: each repair takes two or more runs of the solver. */
enum { WAYS_MAX = 24 };

static void
report_conflict(struct diags *ds, const struct solution *solution, const struct conflict *one,
		size_t number, bool verbose)
{
	const struct solve_conflict *c = &one->found;
	const struct request *at = shown_at(solution, c);
	struct diag *d = diag_at(ds, one->code, at->at, "%s", headline(solution, c, at));
	struct repairs ways = { 0 };

	if (verbose)
		report_derivation(d, solution, one);
	else
		report_facts(d, solution, c);
	for (size_t i = 0; i < c->pins.n; i++) {
		const struct request *p = &solution->requests[c->pins.at[i]];

		if (p != at && is_named(p))
			diag_note(d, p->at, "%s", p->note);
	}
	if (number < WAYS_MAX)
		ways = find_repairs(solution, one);
	for (size_t i = 0; i < ways.n; i++)
		report_way(d, solution, &ways.at[i], i == 0 && one->strength == STRENGTH_ERROR);
	report_sources(d, solution->work->a, c, verbose);
}

static void
report_finding(struct diags *ds, const struct solution *solution, const struct finding *x)
{
	struct span at = x->at.n ? x->at.at[0].at : (struct span){ .src = solution->recipe->src };
	struct diag *d = diag_at(ds, x->rule->code, at, "%s", x->sentence);

	for (size_t i = 1; i < x->at.n; i++)
		if (x->at.at[i].note)
			diag_note(d, x->at.at[i].at, "%s", x->at.at[i].note);
	if (x->help)
		diag_help(d, "%s", x->help);
	diag_source(d, x->rule->source);
}

void
solution_report(struct diags *ds, const struct solution *solution, bool verbose)
{
	for (size_t i = 0; i < solution->errors.n; i++)
		report_conflict(ds, solution, &solution->errors.at[i], i, verbose);
	for (size_t i = 0; i < solution->warnings.n; i++)
		report_conflict(ds, solution, &solution->warnings.at[i], i, verbose);
	for (size_t i = 0; i < solution->findings.n; i++)
		report_finding(ds, solution, &solution->findings.at[i]);
	if (solution->gave_up)
		diag_why(diag_at(ds, E_FIT_GAVE_UP, (struct span){ .src = solution->recipe->src },
				 "the solver stopped before it finished"),
			 "the recipe leaves too much unpinned for the budget of the solver; the "
			 "listed conflicts are valid, and there may be more");
}
