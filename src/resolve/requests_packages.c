#include "internal.h"

/* What the recipe requests of packages and extensions. */

/* --- packages --- */

/* True if the knowledge can say anything of a package: releases, or what must fit to it. */
static bool
judged(const struct workspace *w, const char *key)
{
	size_t n;
	const struct pairing *all = facts_pairings(w->f, &n);

	if (facts_package(w->f, key) || facts_extension(w->f, key) || is_companion(key))
		return true;
	for (size_t i = 0; i < n; i++)
		if (!strcmp(all[i].name, key) || !strcmp(all[i].other, key))
			return true;
	return false;
}

/*
 * Returns false if a marker holds for no Python that the recipe allows.  What is pinned
 * afterwards counts for those that it holds for: w->when.
 */
static bool
applies(struct workspace *w, const struct marker *m)
{
	unsigned python = (unsigned)variable_find(w, "python");
	const char *asked = w->r->python.s;
	struct solve_term *when;
	solve_word *set;
	size_t n, held;

	w->when = NULL;
	if (!m)
		return true;
	set = set_pythons_where(w, m);
	n = variable_at(w, python)->n;
	held = solve_set_count(set, n);
	if (held && held < n) {
		when = arena_new_of(w->a, struct solve_term);
		*when = (struct solve_term){ .variable = python, .set = set };
		w->when = when;
	}
	return asked ? solve_set_has(set, variable_candidate(w, python, asked)) : held;
}

static void
unchecked(struct workspace *w, const char *name)
{
	list_push(w->a, &w->unchecked, (struct unchecked){ name, w->when });
}

/* A version in a range that no known release is in: the first of it, or one just below its end. */
static const char *
one_of(struct workspace *w, const char *spec)
{
	const char *from = strpbrk(spec, ">~"), *end = strchr(spec, '<');

	if (!from && !end)
		return NULL;
	if (!from)
		from = end;
	from += 1 + strspn(from + 1, "= ");
	return arena_printf(w->a, "%.*s%s", (int)strcspn(from, ", "), from,
			    from[-1] == '<' ? ".dev0" : "");
}

/*
 * torch's companions are written with the tag of their build, too, which is no release of its
 * own.
 */
static const char *
exact_text(struct workspace *w, unsigned variable, const struct version *exact)
{
	const char *key = variable_at(w, variable)->key;

	if (is_companion(key))
		return version_public(w->a, exact);
	return version_text(w->a, exact);
}

/* The releases that a specifier allows; one that is not known stands for those of an empty set. */
static solve_word *
allowed(struct workspace *w, unsigned variable, const struct specifiers *spec)
{
	const struct version *exact = specifiers_pin(spec);
	const char *text = specifiers_text(w->a, spec), *start;
	solve_word *set;
	size_t at;

	if (exact)
		return set_one(w, variable,
			       variable_candidate(w, variable, exact_text(w, variable, exact)));
	set = set_in(w, variable, text);
	if (solve_set_count(set, variable_at(w, variable)->n))
		return set;
	at = variable_candidate(w, variable, text);
	start = one_of(w, text);
	if (start)
		w->variables.at[variable]->list.at[at].v = version_parse(w->a, start);
	return set_one(w, variable, at);
}

static enum variable_kind
kind_of(const struct workspace *w, const char *key)
{
	return facts_extension(w->f, key) ? VARIABLE_EXTENSION : VARIABLE_PACKAGE;
}

/* Every release that is named, before the first set of releases is made: it is in some of them. */
void
name_requested_releases(struct workspace *w, const struct recipe_requirements *all)
{
	for (size_t i = 0; i < all->n; i++) {
		const struct requirement *req = all->at[i].req;
		unsigned variable;

		if (!specifiers_pin(req->spec) || !applies(w, req->marker) ||
		    !strcmp(req->key, "torch") || !judged(w, req->key))
			continue;
		variable = variable_get(w, kind_of(w, req->key), req->key);
		allowed(w, variable, req->spec);
	}
}

const char *
version_of_url(struct workspace *w, const char *url)
{
	const struct version *v;
	const char *name;

	return recipe_archive(w->a, url, &name, &v) ? version_public(w->a, v) : NULL;
}

/* A `torch` in packages: constrains the one of torch:.  A range without a known release does not. */
static bool
constrains_torch(struct workspace *w, const struct requirement *req)
{
	unsigned variable;

	if (!w->r->torch.at.line || req->url)
		return false;
	variable = variable_get(w, VARIABLE_TORCH, "torch");
	return solve_set_count(set_in(w, variable, specifiers_text(w->a, req->spec)),
			       variable_at(w, variable)->n) > 0;
}

void
request_requirement(struct workspace *w, const struct recipe_requirement *q)
{
	const struct requirement *req = q->req;
	const char *key = req->key;
	const char *wheel;
	unsigned variable;

	if (!applies(w, req->marker) || (!strcmp(key, "torch") && !constrains_torch(w, req)))
		return;
	wheel = req->url && recipe_names_wheel(req->url) ? version_of_url(w, req->url) : NULL;
	if (!wheel && !judged(w, key)) {
		unchecked(w, req->name);
		return;
	}
	variable = variable_get(w, kind_of(w, key), key);
	if (wheel)
		w->variables.at[variable]->wheel = req->url;
	request_add(w,
		    (struct request){
			    .kind = REQUEST_REQUIREMENT,
			    .variable = variable,
			    .at = q->text.at,
			    .text = q->text.s,
			    .note = arena_printf(w->a, "%s is required here", req->name),
			    .sentence = arena_printf(w->a, "the recipe requires %s", q->text.s),
			    .requirement = q },
		    wheel    ? set_one(w, variable, variable_candidate(w, variable, wheel)) :
		    req->url ? set_all(w, variable) :
			       allowed(w, variable, req->spec),
		    LIGHT);
}

/* --- extensions --- */

bool
extension_applies(struct workspace *w, const struct recipe_extension *e)
{
	return applies(w, e->marker.s ? marker_parse(w->a, e->marker.s) : NULL);
}

static void
add_for_extension(struct workspace *w, enum request_kind kind, const struct recipe_extension *e,
		  unsigned variable, struct text t, const char *shown, const solve_word *set)
{
	request_add(w,
		    (struct request){ .kind = kind,
				      .variable = variable,
				      .at = t.at.line ? t.at : e->at,
				      .text = t.s,
				      .note = arena_printf(w->a, "%s is required here", e->name.s),
				      .sentence = arena_printf(w->a, "the recipe requires %s %s",
							       e->name.s, shown),
				      .extension = e },
		    set, kind == REQUEST_FROM ? SOURCE : LIGHT);
}

/* The release that a git ref is; a commit is a release of which nothing is known. */
static const char *
release_of_ref(struct workspace *w, const struct recipe_extension *e)
{
	const struct extension *known = facts_extension(w->f, e->key);
	const struct extension_release *r = known ? extension_release(known, e->ref.s) : NULL;

	return r ? r->version : e->ref.s;
}

static void
add_release(struct workspace *w, const struct recipe_extension *e, unsigned variable)
{
	const struct specifiers *spec =
		e->specifier.s ? specifiers_parse(w->a, e->specifier.s) : NULL;
	const char *in_url = e->url.s ? version_of_url(w, e->url.s) : NULL;

	if (e->version.s)
		add_for_extension(
			w, REQUEST_VERSION, e, variable, e->version, e->version.s,
			set_one(w, variable, variable_candidate(w, variable, e->version.s)));
	else if (e->ref.s)
		add_for_extension(w, REQUEST_REF, e, variable, e->ref, e->ref.s,
				  set_one(w, variable,
					  variable_candidate(w, variable, release_of_ref(w, e))));
	else if (in_url)
		add_for_extension(w, REQUEST_URL, e, variable, e->url, in_url,
				  set_one(w, variable, variable_candidate(w, variable, in_url)));
	else if (spec && !e->url.s)
		add_for_extension(w, REQUEST_VERSION, e, variable, e->specifier, e->specifier.s,
				  allowed(w, variable, spec));
	else if (!variable_at(w, variable)->n)
		add_for_extension(w, REQUEST_NEED, e, variable, e->name, "",
				  set_one(w, variable, variable_candidate(w, variable, "")));
	else
		request_need(w, variable, arena_printf(w->a, "the recipe requires %s", e->name.s));
}

/* Unless the recipe says so nothing that somebody else built is taken. */
static solve_word *
open_sources(struct workspace *w, unsigned source)
{
	solve_word *set = set_none(w, source);

	solve_set_add(set, variable_candidate(w, source, "sdist"));
	solve_set_add(set, variable_candidate(w, source, "git"));
	return set;
}

void
request_extension(struct workspace *w, const struct recipe_extension *e)
{
	static const char *const from[] = { [EXT_GIT] = "git",
					    [EXT_SDIST] = "sdist",
					    [EXT_RELEASE] = "release",
					    [EXT_WHEEL] = "url" };
	const struct extension *known = facts_extension(w->f, e->key);
	const char *key = known ? known->name : e->key;
	const char *where = e->url.s ? "url" : e->git.s || e->ref.s ? "git" : from[e->from];
	unsigned variable = variable_get(w, VARIABLE_EXTENSION, key), source;

	w->variables.at[variable]->asked = e;
	if (!known)
		unchecked(w, e->name.s);
	add_release(w, e, variable);
	source = variable_get(w, VARIABLE_SOURCE, arena_printf(w->a, "%s source", key));
	w->variables.at[source]->of = key;
	w->variables.at[source]->asked = e;
	variable_at(w, source)->label = arena_printf(w->a, "%s from", e->name.s);
	if (where)
		add_for_extension(w, REQUEST_FROM, e, source,
				  (struct text){ where, e->from_at.line ? e->from_at :
							e->url.s        ? e->url.at :
									  e->at },
				  arena_printf(w->a, "from %s", where),
				  set_one(w, source, variable_candidate(w, source, where)));
	else
		request_add(
			w,
			(struct request){ .kind = REQUEST_NEED,
					  .variable = source,
					  .text = "",
					  .extension = e,
					  .sentence = arena_printf(
						  w->a, "%s comes from its sdist or its repository",
						  e->name.s) },
			open_sources(w, source), HEAVY);
}
