#include "coverage.h"
#include "needs.h"

/*
 * The coverage of packages: those that the recipe names, and those that other packages of the stack
 * require. A release was read if somebody saw it on the index page and read its METADATA whole.
 * Requirements from git tags, lock files and snapshots are hints, which never confirm.
 */

struct cover {
	enum coverage level;
	const char *why, *date, *source;
};

static const char no_release[] = "this release is not in the knowledge base";
static const char at_url[] = "the requirements of a file at a URL are unknown before the build";
static const char too_new[] =
	"the second is over half a year newer, and the knowledge base does not list the pair";

const char *
coverage_date(struct arena *a, const char *source)
{
	static const char words[] = "read ";
	const char *date = NULL, *at = source;

	while (at && (at = strstr(at, words))) {
		at += sizeof(words) - 1;
		if (strspn(at, "0123456789") == 4 && at[4] == '-')
			date = arena_copy(a, at, strspn(at, "0123456789-"));
	}
	return date;
}

/* --- releases --- */

/* Returns the newest release that the knowledge base lists; NULL: none, or a sample, which may lack newer ones. */
static const char *
newest_listed(struct workspace *w, const struct solver_variable *t)
{
	const struct python_package *p = facts_package(w->f, t->key);
	const char *newest = p && p->n ? p->releases[p->n - 1].version : NULL;

	if (p && p->sample)
		return NULL;
	for (size_t i = 0; i < t->n; i++)
		if (t->c[i].known && (!newest || text_version_order(w, t->c[i].text, newest) > 0))
			newest = t->c[i].text;
	return newest;
}

static bool
is_stand_in(const struct candidate *c)
{
	return !*c->text || strpbrk(c->text, "<>~!") != NULL;
}

const char *
candidate_beyond(struct workspace *w, const struct solver_variable *t, const struct candidate *c)
{
	const char *newest;

	if ((t->kind != VARIABLE_PACKAGE && t->kind != VARIABLE_EXTENSION) || c->known || !c->v ||
	    c->published || is_stand_in(c))
		return NULL;
	newest = newest_listed(w, t);
	if (!newest || text_version_order(w, version_public(w->a, c->v), newest) <= 0)
		return NULL;
	return newest;
}

static bool
is_on_index(const struct python_package *p)
{
	return p && p->n && !p->partial && !p->sample;
}

/* Returns the coverage of a release that a file in releases/ lists. */
static struct cover
cover_of_listed(struct workspace *w, const struct python_package *p,
		const struct package_release *r)
{
	const struct package_span span = package_span(p, r->v);
	const char *source = package_requires_source(w->f, r);

	if (r->read)
		return (struct cover){ COVERAGE_READ, "index page and METADATA", r->read, source };
	if (is_on_index(p) && facts_package_independent(w->f, p->name))
		return (struct cover){ COVERAGE_READ, "index page; its requirements do not matter",
				       p->read, p->source };
	if (r->requires_known)
		return (struct cover){
			COVERAGE_PARTIAL,
			"its METADATA was not read: its requirements are from another source, "
			"such as git tags or lock files",
			coverage_date(w->a, source), source
		};
	if (span.older)
		return (struct cover){
			COVERAGE_PARTIAL,
			"its METADATA was not read; releases before and after it were", p->read,
			source
		};
	return (struct cover){ COVERAGE_UNKNOWN,
			       "the requirements of this release are not in the knowledge base",
			       p->read, source };
}

/* Returns the coverage of a release that no file in releases/ lists. */
static struct cover
cover_of_other(struct workspace *w, const struct solver_variable *t, const struct candidate *c)
{
	const struct extension_release *e = t->kind == VARIABLE_EXTENSION ? c->entry : NULL;
	const struct python_package *p = facts_package(w->f, t->key);
	const char *beyond = candidate_beyond(w, t, c);

	if (c->known && is_companion(t->key))
		return (struct cover){ COVERAGE_READ, "the release for a torch", NULL, NULL };
	if (e)
		return (struct cover){ COVERAGE_UNKNOWN,
				       "its run-time requirements are not in the knowledge base",
				       coverage_date(w->a, e->source), e->source };
	if (beyond)
		return (struct cover){
			COVERAGE_UNKNOWN,
			arena_printf(w->a,
				     "the facts about it held up to %s; they are not known "
				     "for %s",
				     beyond, c->text),
			p ? p->read : NULL, p ? p->source : NULL
		};
	if (p && p->n && (p->partial || p->sample))
		return (struct cover){ COVERAGE_UNKNOWN,
				       "only some of its releases are in the knowledge base",
				       p->read, p->source };
	return (struct cover){ COVERAGE_UNKNOWN,
			       (p && p->n) || t->kind == VARIABLE_EXTENSION ?
				       no_release :
				       "not in the knowledge base",
			       p ? p->read : NULL, p && p->n ? p->source : NULL };
}

static struct cover
cover_of(struct workspace *w, const struct solver_variable *t, const struct candidate *c)
{
	const struct extension_release *e = t->kind == VARIABLE_EXTENSION ? c->entry : NULL;

	if (e && e->run_known)
		return (struct cover){ COVERAGE_READ, "in the knowledge base",
				       coverage_date(w->a, e->source), e->source };
	return c->published ? cover_of_listed(w, facts_package(w->f, t->key), c->published) :
			      cover_of_other(w, t, c);
}

const struct candidate *
selected_package(struct workspace *w, unsigned variable)
{
	enum variable_kind kind = variable_at(w, variable)->kind;

	return kind == VARIABLE_PACKAGE || kind == VARIABLE_EXTENSION ?
		       candidate_in(w, w->solution->chosen, w->solution->nchosen, (int)variable) :
		       NULL;
}

enum coverage
coverage_of(struct workspace *w, const struct solver_variable *t, const struct candidate *c)
{
	return cover_of(w, t, c).level;
}

static const char *
label_of(struct workspace *w, const char *name, const struct candidate *c)
{
	return *c->text ? arena_printf(w->a, "%s %s", name, c->text) : name;
}

static void
add_cover(struct workspace *w, const char *what, struct cover cover, bool indirect)
{
	coverage_add(w, (struct stack_part){ .kind = PART_PACKAGE,
					     .coverage = cover.level,
					     .by = BY_METADATA,
					     .what = what,
					     .why = cover.why,
					     .date = cover.date,
					     .source = cover.source,
					     .indirect = indirect });
}

/* --- packages that the recipe names --- */

/* A pinned package of a later release line may not work with a release that does not exclude it. */
static void
add_later(struct workspace *w, const struct solver_variable *t, const struct candidate *c)
{
	const char *later = release_later(w, t, c), *what = label_of(w, t->label, c);

	if (!c->v || facts_package_independent(w->f, t->key))
		return;
	if (later)
		coverage_add(w, (struct stack_part){
					.kind = PART_PACKAGE,
					.coverage = COVERAGE_PARTIAL,
					.what = arena_printf(w->a, "%s with %s", what, later),
					.why = too_new });
	else if ((later = release_bounded(w, t, c)))
		coverage_add(w, (struct stack_part){ .kind = PART_PACKAGE,
						     .coverage = COVERAGE_PARTIAL,
						     .by = BY_METADATA,
						     .what = what,
						     .why = later });
}

/* Returns true for a version such as 1.1.3+cu118: no index has it but the one that built it. */
static bool
is_local_build(const struct workspace *w, const struct request *p)
{
	const struct requirement *req = p->requirement->req;
	const struct version *pin = specifiers_pin(req->spec);

	return pin && !req->url && version_local(w->a, pin) && !is_companion(req->key) &&
	       !extra_index(w, req->key) && !list_any(q, &w->r->torch.with, q->req == req);
}

static void
add_named(struct workspace *w, const struct request *p)
{
	const struct solver_variable *t = variable_at(w, p->variable);
	const struct candidate *c = solution_selected(w->solution, t->key);
	const char *name = p->requirement->req->name;
	struct cover cover;

	if (!c)
		return;
	cover = cover_of(w, t, c);
	if (is_local_build(w, p))
		cover = (struct cover){ COVERAGE_UNKNOWN,
					"the package index has no local versions: name the index "
					"that has it in `index.extra`",
					NULL, NULL };
	else if (p->requirement->req->url &&
		 (requested(w, p->variable) < 0 || !(c->known || c->published)))
		cover = (struct cover){ COVERAGE_UNKNOWN, at_url, NULL, NULL };
	if (cover.level == COVERAGE_READ && t->kind == VARIABLE_PACKAGE &&
	    requested(w, p->variable) >= 0)
		add_later(w, t, c);
	add_cover(w, cover.why == at_url ? name : label_of(w, name, c), cover, false);
}

/* --- packages that other packages require --- */

/* Returns whether a fact about a selected release limits a package that has no releases. */
static bool
is_limited(struct workspace *w, const char *key)
{
	for (unsigned i = 0; i < w->solution->nchosen; i++) {
		const struct solver_variable *t = variable_at(w, i);
		const struct candidate *c = selected_package(w, i);

		if (c && has_pairing(w, t, c, key))
			return true;
	}
	return false;
}

static bool
is_named(const struct workspace *w, const char *key)
{
	const struct recipe_needs *needs = w->r->app.needs;

	return recipe_has(w, key) || list_any(q, &w->r->torch.with, !strcmp(q->req->key, key)) ||
	       (needs && list_any(q, &needs->requirements, !strcmp(q->req->key, key)));
}

/* Returns the newest release that a requirement allows and pip can select; of a package whose releases
 * are not from the index, only one that was read; NULL: none. */
static const struct package_release *
newest_allowed(struct workspace *w, const struct python_package *p, const struct requirement *req)
{
	const struct candidate *python = solution_selected(w->solution, "python");

	for (size_t i = p ? p->n : 0; i-- > 0;) {
		const struct package_release *r = &p->releases[i];

		if (specifiers_match(req->spec, r->v) && !version_is_prerelease(r->v) &&
		    !r->yanked && (r->read || is_on_index(p)) &&
		    (!r->requires_python || !python ||
		     specifiers_match(facts_specifiers(w->f, r->requires_python),
				      python_version(w, python->text))))
			return r;
	}
	return NULL;
}

/* Adds a required package for which the solver selected no release. */
static void
add_unselected(struct workspace *w, const struct requirement *req, struct map *seen)
{
	const char *key = req->key;
	const struct python_package *p = facts_package(w->f, key);
	const struct package_release *r;

	if (map_put(seen, key, w) || is_named(w, key))
		return;
	r = newest_allowed(w, p, req);
	if (facts_package_independent(w->f, key))
		w->s->unlisted += !r;
	else if (r)
		add_cover(w, arena_printf(w->a, "%s %s", key, r->version), cover_of_listed(w, p, r),
			  true);
	else if (p && p->n)
		add_cover(w, key,
			  (struct cover){ COVERAGE_PARTIAL,
					  "only some of its releases are in the knowledge base",
					  p->read, p->source },
			  true);
	else if (is_limited(w, key))
		add_cover(
			w, key,
			(struct cover){ COVERAGE_UNKNOWN, "not in the knowledge base", NULL, NULL },
			true);
	else
		w->s->unlisted++;
}

/* Adds what a selected release requires and the solver did not select. */
static void
add_required(struct workspace *w, const struct solver_variable *t, const struct candidate *c,
	     struct map *seen)
{
	const struct needs all = release_needs(w, t->key, release_span(w, t, c).older);

	list_each (x, &all)
		if (strcmp((*x)->req->key, "torch") != 0 && need_holds(w, *x) &&
		    !solution_selected(w->solution, (*x)->req->key))
			add_unselected(w, (*x)->req, seen);
}

static void
add_indirect(struct workspace *w)
{
	struct map seen = MAP(w->a);

	for (unsigned i = 0; i < w->solution->nchosen; i++) {
		const struct solver_variable *t = variable_at(w, i);
		const struct candidate *c = selected_package(w, i);

		if (!c || !is_from_pypi(w, t->key))
			continue;
		if (!is_requested(w, i) && !facts_package_independent(w->f, t->key))
			add_cover(w, label_of(w, t->label, c), cover_of(w, t, c), true);
		add_required(w, t, c, &seen);
	}
	list_each (x, &w->s->packages) {
		if (!x->given && !solution_selected(w->solution, x->key))
			add_unselected(w, requirement_parse(w->a, x->requirement, NULL, NULL),
				       &seen);
	}
}

void
coverage_packages(struct workspace *w)
{
	for (size_t i = 0; i < w->requests.n; i++)
		if (w->requests.at[i].kind == REQUEST_REQUIREMENT)
			add_named(w, &w->requests.at[i]);
	add_indirect(w);
}
