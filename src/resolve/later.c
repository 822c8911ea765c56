#include "coverage.h"
#include "needs.h"

/*
 * Doubts that the requirements of a release cannot settle: a later release excludes a package that
 * it allows, or it requires a package of a line that is newer than itself.
 */

/* Returns the selected release that meets a need of a release of t, if the recipe pins it; pip selects
 * unpinned ones. NULL: it does not, or the knowledge base has a pairing. */
static const struct candidate *
pinned_for(struct workspace *w, const struct solver_variable *t, const struct candidate *of,
	   const struct need *x)
{
	const char *key = x->req->key;
	const struct candidate *c = solution_selected(w->solution, key);
	bool torch = !strcmp(key, "torch") || is_companion(key);

	return c && c->v && requested(w, (unsigned)variable_find(w, key)) >= 0 &&
			       need_holds(w, x) && !has_pairing(w, t, of, torch ? "torch" : key) ?
		       c :
		       NULL;
}

static bool
is_bounded(struct workspace *w, const struct specifiers *s)
{
	return !specifiers_match(s, facts_version(w->f, "99999"));
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

const char *
release_bounded(struct workspace *w, const struct solver_variable *t, const struct candidate *c)
{
	const struct python_package *p = facts_package(w->f, t->key);
	size_t i = 0;

	while (i < p->n && version_cmp(p->releases[i].v, c->v) <= 0)
		i++;
	for (size_t end = i + BOUNDED_SOON; i < p->n && i < end; i++) {
		const struct needs all = release_needs(w, t->key, &p->releases[i]);

		list_each (x, &all) {
			const struct requirement *req = (*x)->req;
			const struct candidate *other = pinned_for(w, t, c, *x);

			if (other && strcmp(req->key, t->key) != 0 &&
			    is_bound_below(w, req, other->v))
				return arena_printf(w->a, "its later release %s requires %s%s",
						    p->releases[i].version, req->name,
						    specifiers_text(w->a, req->spec));
		}
	}
	return NULL;
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

	const struct needs all = release_needs(w, t->key, span.older);

	list_each (x, &all) {
		const struct requirement *req = (*x)->req;
		const struct candidate *other =
			is_bounded(w, req->spec) ? NULL : pinned_for(w, t, c, *x);

		if (other && is_later(w, req->key, other->text, day))
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
