#include "internal.h"

/*
 * Doubts about a selected release: its own requirements may be unknown, or it may require a package
 * that is newer than itself.
 */

/* True if the recipe pins a requirement of a release of t; pip selects unpinned ones. */
static bool
is_pinned_for(struct workspace *w, const struct solver_variable *t, const struct version *v,
	      const struct requirement *req)
{
	int at = variable_find(w, req->key);
	bool torch = !strcmp(req->key, "torch") || is_companion(req->key);

	return at >= 0 && requested(w, (unsigned)at) >= 0 && !req->url &&
	       !has_pairing(w, t->key, v, torch ? "torch" : req->key);
}

static bool
applies_here(struct workspace *w, const struct solver_variable *t, const struct marker *m)
{
	int python = variable_find(w, "python");

	return python < 0 || w->solution->chosen[python] < 0 ||
	       solve_set_has(pythons_for(w, t->key, m), (size_t)w->solution->chosen[python]);
}

/* Returns true if a release allows a Python, and has a wheel for it or needs none. */
static bool
supports(struct workspace *w, const struct package_release *r, const char *python)
{
	struct wheel_pythons pythons = { 0 };
	bool any = !r->wheels_known;

	if (r->requires_python && !specifiers_match(facts_specifiers(w->f, r->requires_python),
						    python_version(w, python)))
		return false;
	for (size_t i = 0; i < r->wheels.n; i++) {
		any |= ends_with(r->wheels.at[i], "-any");
		if (wheel_fits_machine(r->wheels.at[i], recipe_machine(w->r)))
			wheel_pythons_add(&pythons, r->wheels.at[i]);
	}
	return any || wheel_pythons_have(&pythons, python);
}

/* Returns true if the known releases that `req` allows do not support the stack's Python. */
static bool
lacks_python(struct workspace *w, const struct requirement *req)
{
	const struct python_package *p = facts_package(w->f, req->key);
	const struct candidate *python = solution_selected(w->solution, "python");
	bool any = false;

	for (size_t i = 0; p && python && i < p->n; i++)
		if (specifiers_match(req->spec, p->releases[i].v)) {
			any = true;
			if (supports(w, &p->releases[i], python->text))
				return false;
		}
	return any;
}

static bool
is_bounded(struct workspace *w, const struct specifiers *s)
{
	return !specifiers_match(s, facts_version(w->f, "99999"));
}

/* Returns true if no known release is within both requirements. */
static bool
are_apart(struct workspace *w, const struct requirement *x, const struct requirement *y)
{
	const struct python_package *p = facts_package(w->f, x->key);

	for (size_t i = 0; p && i < p->n; i++)
		if (specifiers_match(x->spec, p->releases[i].v) &&
		    specifiers_match(y->spec, p->releases[i].v))
			return false;
	return p && p->n;
}

/* Returns true if another package of the stack requires what `req` excludes; any: bounds it at all. */
static bool
clashes(struct workspace *w, const struct solver_variable *t, const struct requirement *req,
	bool any)
{
	for (unsigned i = 0; i < w->solution->nchosen; i++) {
		const struct solver_variable *u = variable_at(w, i);
		const struct python_package *p =
			u->kind == VARIABLE_PACKAGE && u != t ? facts_package(w->f, u->key) : NULL;
		const struct candidate *c = p ? solution_selected(w->solution, u->key) : NULL;
		const struct package_release *r = c && c->v ? package_release(p, c->v) : NULL;

		for (size_t k = 0; r && k < r->requires.n; k++) {
			const struct requirement *other =
				starts_with(r->requires.at[k], req->key) ?
					requirement_parse(w->a, r->requires.at[k], NULL, NULL) :
					NULL;

			if (other && !strcmp(other->key, req->key) &&
			    applies_here(w, u, other->marker) &&
			    (any ? is_bounded(w, other->spec) : are_apart(w, req, other)))
				return true;
		}
	}
	return false;
}

/* Returns a package that `r` requires differently from `other`, and that the stack cannot have so. */
static const char *
unmet(struct workspace *w, const struct solver_variable *t, const struct version *v,
      const struct package_release *r, const struct package_release *other)
{
	for (size_t i = 0; i < r->requires.n; i++) {
		const char *text = r->requires.at[i];
		const struct requirement *req =
			is_shared(facts_package(w->f, t->key), other, text) ?
				NULL :
				requirement_parse(w->a, text, NULL, NULL);
		const struct candidate *c = req ? solution_selected(w->solution, req->key) : NULL;

		if (req && applies_here(w, t, req->marker) &&
		    (c && c->v && is_pinned_for(w, t, v, req) ?
			     !specifiers_match(req->spec, c->v) :
			     (lacks_python(w, req) || clashes(w, t, req, false))))
			return req->name;
	}
	return NULL;
}

/* Returns a package, other than torch, that any release requires and may bound, and that the recipe
 * or another package restricts. */
static const char *
ever_required(struct workspace *w, const struct solver_variable *t, const struct version *v)
{
	const struct python_package *p = facts_package(w->f, t->key);

	for (size_t k = 0; k < p->n; k++)
		for (size_t i = 0; i < p->releases[k].requires.n; i++) {
			const char *text = p->releases[k].requires.at[i];
			const struct requirement *req =
				strstr(text, "extra == ") ?
					NULL :
					requirement_parse(w->a, text, NULL, NULL);

			if (req && strcmp(req->key, "torch") != 0 &&
			    strcmp(req->key, t->key) != 0 && !is_companion(req->key) &&
			    (is_pinned_for(w, t, v, req) || clashes(w, t, req, true)))
				return req->name;
		}
	return NULL;
}

/* Returns true if a release next to an unlisted one does not support the stack's Python. */
static bool
is_python_unknown(struct workspace *w, const struct python_package *p, const struct candidate *c,
		  const char *python)
{
	size_t i = 0;

	while (p && i < p->n && version_cmp(p->releases[i].v, c->v) < 0)
		i++;
	return !c->published && p && i && i < p->n &&
	       (!supports(w, &p->releases[i - 1], python) || !supports(w, &p->releases[i], python));
}

/* --- bounds that a later release has added --- */

/* number of following releases whose bounds count */
enum { BOUNDED_SOON = 6 };

/* Returns true if a known release older than v is within a requirement that excludes v. */
static bool
is_bound_below(struct workspace *w, const struct requirement *req, const struct version *v)
{
	const struct python_package *p = facts_package(w->f, req->key);

	if (!is_bounded(w, req->spec) || specifiers_match(req->spec, v))
		return false;
	for (size_t i = 0; p && i < p->n && version_cmp(p->releases[i].v, v) < 0; i++)
		if (specifiers_match(req->spec, p->releases[i].v))
			return true;
	return false;
}

/* Returns "1.13.3 requires transformers<4.35": what a later release than c excludes, or NULL. */
static const char *
bounded_later(struct workspace *w, const struct solver_variable *t, const struct candidate *c)
{
	const struct python_package *p = facts_package(w->f, t->key);
	size_t i = 0;

	while (i < p->n && version_cmp(p->releases[i].v, c->v) <= 0)
		i++;
	for (size_t end = i + BOUNDED_SOON; i < p->n && i < end; i++)
		list_each (text, &p->releases[i].requires) {
			const struct requirement *req = requirement_parse(w->a, *text, NULL, NULL);
			const struct candidate *other =
				req ? solution_selected(w->solution, req->key) : NULL;

			if (other && other->v && strcmp(req->key, t->key) != 0 &&
			    is_pinned_for(w, t, c->v, req) && applies_here(w, t, req->marker) &&
			    is_bound_below(w, req, other->v))
				return arena_printf(w->a, "its later release %s requires %s%s",
						    p->releases[i].version, req->name,
						    specifiers_text(w->a, req->spec));
		}
	return NULL;
}

const char *
release_doubt(struct workspace *w, const struct solver_variable *t, const struct candidate *c)
{
	struct package_span span = release_span(w, t, c);
	const struct candidate *python = solution_selected(w->solution, "python");
	const char *name = NULL;

	if (python && is_python_unknown(w, facts_package(w->f, t->key), c, python->text))
		return arena_printf(w->a, "its support of Python %s is not in the knowledge base",
				    python->text);
	if (!span.older)
		return "the requirements of this release are not in the knowledge base";
	if (span.older != span.newer) {
		name = unmet(w, t, c->v, span.older, span.newer);
		name = name ? name : unmet(w, t, c->v, span.newer, span.older);
	}
	if (!name && span.wide)
		name = ever_required(w, t, c->v);
	return name ? arena_printf(w->a, "its requirement on %s is not in the knowledge base",
				   name) :
		      bounded_later(w, t, c);
}

/* --- packages newer than the release that requires them --- */

/* days: if a release line appears so much later, the release was not tested with it */
enum { LATER_DAYS = 186 };

/* torch's release lines are 2.1, 2.2, ...; the lines of a package are its major versions, or 0.1,
 * 0.2, ... */
static bool
same_line(const char *key, const char *x, const char *y)
{
	size_t major = strcspn(x, ".");

	if (!strcmp(key, "torch") || starts_with(x, "0."))
		return version_same_series(x, y);
	return major == strcspn(y, ".") && !strncmp(x, y, major);
}

/* Returns the day on which the line of a release began; 0: unknown. */
static long
line_day(struct workspace *w, const char *key, const char *version)
{
	bool torch = !strcmp(key, "torch");
	const struct python_package *p = torch ? NULL : facts_package(w->f, key);
	size_t n = p ? p->n : 0;
	const struct torch_release *const *all = torch ? facts_torch_all(w->f, &n) : NULL;
	long first = 0;

	for (size_t i = 0; i < n; i++) {
		const char *other = torch ? all[i]->version : p->releases[i].version;
		long day = torch ? all[i]->day : p->releases[i].day;

		if (day && (!first || day < first) && same_line(key, version, other) &&
		    !version_is_prerelease(facts_version(w->f, other)))
			first = day;
	}
	return first;
}

static bool
is_later(struct workspace *w, const char *key, const char *version, long day)
{
	return day && version && line_day(w, key, version) > day + LATER_DAYS;
}

const char *
release_later(struct workspace *w, const struct solver_variable *t, const struct candidate *c)
{
	const struct python_package *p = facts_package(w->f, t->key);
	const struct package_release *r = package_release(p, c->v);
	const struct package_span span = release_span(w, t, c);
	/* The knowledge base has no date for an unread release, but it is no later than the next
	 * one's. */
	long day = r && r->day ? r->day : span.newer ? span.newer->day : 0;

	for (size_t i = 0; span.older && i < span.older->requires.n; i++) {
		const struct requirement *req =
			requirement_parse(w->a, span.older->requires.at[i], NULL, NULL);
		const struct candidate *other =
			req ? solution_selected(w->solution, req->key) : NULL;

		if (other && other->v && !is_bounded(w, req->spec) &&
		    is_pinned_for(w, t, c->v, req) && applies_here(w, t, req->marker) &&
		    is_later(w, req->key, other->text, day))
			return arena_printf(w->a, "%s %s", req->name, other->text);
	}
	return NULL;
}

/* Returns true if somebody compiled a release with this torch: a user, or the project its wheel. */
static bool
is_tried(struct workspace *w, const struct extension_release *r, const char *torch)
{
	const struct wheel_list built = facts_extension_wheels(w->f, w->a, r);

	for (size_t i = 0; i < built.n; i++)
		for (size_t k = 0; k < built.rows[i].torch.n; k++)
			if (version_same_series(built.rows[i].torch.at[k], torch))
				return true;
	return r->torch_tried &&
	       (version_same_series(r->torch_tried, torch) ||
		version_cmp(facts_version(w->f, r->torch_tried), facts_version(w->f, torch)) > 0);
}

bool
extension_is_older(struct workspace *w, const struct stack_extension *x)
{
	const char *torch = w->s->torch.value;

	return x->release && x->source != SOURCE_WHEEL &&
	       is_later(w, "torch", torch, x->release->day) && !is_tried(w, x->release, torch);
}
