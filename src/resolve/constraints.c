#include "companions.h"
#include "coverage.h"
#include "needs.h"

/*
 * The versions that no call of pip may change: those of the requirements, and the solver's selection.
 * pip takes the newest release of an open package, and METADATA lacks the pairings and rules of the
 * knowledge base. So each fact that the selection makes about one open package is a constraint, and
 * a package whose release was read has that release.
 */

/* The constraints that are being written. */
struct limits {
	struct workspace *w;
	struct map seen;       /* lines, and the keys of pinned packages */
	bool torch;            /* only facts about packages of the torch step */
	solve_word **excluded; /* for each variable, releases that rules exclude; or NULL */
};

/* Adds a line of a constraints file: a version without extras. */
static void
constrain(struct limits *l, const char *requirement)
{
	struct workspace *w = l->w;
	const struct requirement *req = requirement_parse(w->a, requirement, NULL, NULL);
	const char *spec = req ? specifiers_text(w->a, req->spec) : "";
	char *line;

	if (!*spec || req->url)
		return;
	line = arena_printf(w->a, "%s%s%s%s", req->key, spec, req->marker ? "; " : "",
			    req->marker ? marker_text(w->a, req->marker) : "");
	if (map_put(&l->seen, line, line))
		return;
	list_push(w->a, &w->s->constraints, line);
	if (specifiers_pin(req->spec) && !req->marker)
		map_put(&l->seen, req->key, line);
}

static void
constrain_packages(struct limits *l, const struct stack_packages *list)
{
	list_each (p, list)
		constrain(l, p->requirement);
}

static bool
is_in(const struct stack_packages *list, const char *key)
{
	return list_any(p, list, !strcmp(p->key, key));
}

/* --- the facts about open packages --- */

/* Returns true for a package of which pip selects the version. */
static bool
is_open(const struct limits *l, const char *key)
{
	const struct workspace *w = l->w;
	int at = variable_find(w, key);
	enum variable_kind kind = at < 0 ? VARIABLE_PACKAGE : w->variables.at[at]->t.kind;

	return (kind == VARIABLE_PACKAGE || kind == VARIABLE_EXTENSION) && !is_companion(key) &&
	       (at < 0 || requested(w, (unsigned)at) < 0) && !map_get(&l->seen, key) &&
	       !list_any(e, &w->s->extensions, !strcmp(e->name, key));
}

/* Returns true for a pairing or a rule that counts now: pip does not read them. */
static bool
counts(const struct limits *l, const struct solve_fact *fact)
{
	const struct constraint *why = constraint_of(fact);
	const char *key = variable_at(l->w, fact->terms[0].variable)->key;

	return !why->off && why->kind->strength <= STRENGTH_WARNING &&
	       (!why->kind->add || why->kind->add == constraint_pairs) &&
	       (!l->torch || (strcmp(key, "torch") != 0 && is_in(&l->w->s->torch_packages, key)));
}

/* Returns the only term that the selection does not satisfy; NULL: there are several. */
static const struct solve_term *
false_term(const struct workspace *w, const struct solve_fact *fact)
{
	const struct solve_term *found = NULL;

	for (size_t i = 0; i < fact->n; i++)
		if (!term_holds(w->solution, &fact->terms[i])) {
			if (found)
				return NULL;
			found = &fact->terms[i];
		}
	return found;
}

/* A pairing says what its second package must be. Of other facts, the releases are collected. */
static void
constrain_fact(struct limits *l, const struct solve_fact *fact)
{
	struct workspace *w = l->w;
	const struct constraint *why = constraint_of(fact);
	const struct solve_term *open = false_term(w, fact);
	const struct solver_variable *t = open ? variable_at(w, open->variable) : NULL;
	solve_word **set;

	if (!t || !is_open(l, t->key))
		return;
	if (why->needs && open == &fact->terms[fact->n - 1]) {
		if (why->kind->strength == STRENGTH_ERROR)
			constrain(l, arena_printf(w->a, "%s%s", t->key, why->needs));
		return;
	}
	set = &l->excluded[open->variable];
	if (!*set)
		*set = set_none(w, open->variable);
	for (size_t i = 0; i < t->n; i++)
		if (solve_set_has(open->set, i) != open->not )
			solve_set_add(*set, i);
}

/* Adds the pairings with packages for which the solver has no releases. */
static void
constrain_unlisted(struct limits *l, const struct waiting_pairs *all)
{
	struct workspace *w = l->w;

	list_each (x, all) {
		const struct pairing *p = x->pairing;
		const struct solver_variable *t = variable_at(w, x->own);
		const struct candidate *c = solution_selected(w->solution, t->key);

		if (!p->inferred && c && pairing_includes(w, t, c, p) && is_open(l, p->other) &&
		    (!l->torch || is_in(&w->s->torch_packages, t->key)))
			constrain(l, arena_printf(w->a, "%s%s", p->other, p->needs));
	}
}

/* Excludes everything above the newest release that no fact excludes. */
static void
constrain_newest(struct limits *l, const struct solver_variable *t, const solve_word *excluded)
{
	size_t i = 0;

	while (i < t->n && t->c[i].known &&
	       (solve_set_has(excluded, i) || version_is_prerelease(t->c[i].v)))
		i++;
	if (i < t->n && t->c[i].known && solve_set_has(excluded, 0))
		constrain(l, arena_printf(l->w->a, "%s<=%s", t->key, t->c[i].text));
}

static void
constrain_open(struct limits *l, bool torch)
{
	struct workspace *w = l->w;
	size_t n = w->solution->nchosen;

	l->torch = torch;
	l->excluded = arena_array_of(w->a, solve_word *, n);
	for (size_t i = 0; i < n; i++) {
		const struct domain *s = w->variables.at[i];

		/* Pairings and rules are facts about all candidates. */
		if (w->solution->chosen[i] >= 0 && s->given)
			list_each (fact, &s->given[s->t.n].facts)
				if (counts(l, fact))
					constrain_fact(l, fact);
	}
	constrain_unlisted(l, &w->waiting);
	constrain_unlisted(l, &w->unlisted);
	for (unsigned i = 0; i < n; i++)
		if (l->excluded[i])
			constrain_newest(l, variable_at(w, i), l->excluded[i]);
}

/* --- the selected releases --- */

/*
 * Returns true if the requirements of all selected packages were read. Otherwise pip may need another
 * release than the selected one: a package whose requirements are unknown may exclude it.
 */
static bool
is_all_read(struct workspace *w)
{
	const struct recipe_needs *needs = w->r->app.needs;

	if ((needs && needs->lines.n) ||
	    list_any(x, &w->unchecked, !x->when || term_holds(w->solution, x->when)))
		return false;
	for (unsigned i = 0; i < w->solution->nchosen; i++) {
		const struct solver_variable *t = variable_at(w, i);
		const struct candidate *c = selected_package(w, i);

		if (c && source_variable(w, t->key) < 0 &&
		    !facts_package_independent(w->f, t->key) &&
		    coverage_of(w, t, c) != COVERAGE_READ)
			return false;
	}
	return true;
}

/* The requirements of some packages do not matter, so pip selects their release. */
static void
constrain_selected(struct limits *l)
{
	struct workspace *w = l->w;
	struct stack *s = w->s;
	size_t before = s->constraints.n;

	for (unsigned i = 0, n = is_all_read(w) ? (unsigned)w->solution->nchosen : 0; i < n; i++) {
		const struct solver_variable *t = variable_at(w, i);
		const struct candidate *c = selected_package(w, i);

		if (c && c->published && c->published->read && is_open(l, t->key) &&
		    is_from_pypi(w, t->key) && !is_in(&s->build_deps, t->key) &&
		    !facts_package_independent(w->f, t->key))
			constrain(l, arena_printf(w->a, "%s==%s", t->key, c->text));
	}
	for (size_t i = before; i < s->constraints.n; i++)
		list_push(w->a, &s->selected, s->constraints.at[i]);
}

/* Each list of constraints starts with the previous one. */
void
resolve_constraints(struct workspace *w)
{
	struct stack *s = w->s;
	struct limits l = { .w = w, .seen = MAP(w->a) };
	const struct names versions = companion_versions(w);

	constrain_packages(&l, &s->torch_packages);
	list_each (line, &versions)
		constrain(&l, *line);
	if (s->numpy.value)
		constrain(&l, s->numpy.value);
	if (s->cuda_wheels.value)
		constrain(&l, s->cuda_wheels.value);
	constrain_open(&l, true);
	s->torch_constraints = s->constraints;
	s->guards = companion_guards(w);
	list_each (line, &s->guards)
		constrain(&l, *line);
	constrain_packages(&l, &s->build_deps);
	constrain_packages(&l, &s->packages);
	constrain_open(&l, false);
	constrain_selected(&l);
	s->package_constraints = s->constraints;
	list_each (e, &s->extensions)
		constrain(&l, e->requirement);
}
