#include <stdlib.h>

#include "companions.h"

/* Ordinary packages: build requirements, the recipe's packages, requirements of extensions. */

/* Returns true if the Python is unknown, because the base image is unknown. */
static bool
applies(struct workspace *w, const struct requirement *req)
{
	return !w->s->python.value || marker_holds(w, req->marker);
}

const struct recipe_requirement *
package_asked(struct workspace *w, const char *key)
{
	const struct recipe_requirements *lists[] = { &w->r->packages, &w->r->torch.with };

	for (size_t k = 0; k < 2; k++)
		list_each (q, lists[k])
			if (!strcmp(q->req->key, key) && applies(w, q->req))
				return q;
	return NULL;
}

/* Returns the last entry: the recipe's entries precede added ones. */
static struct stack_package *
find(struct stack_packages *list, const char *key)
{
	for (size_t i = list->n; i-- > 0;)
		if (!strcmp(list->at[i].key, key))
			return &list->at[i];
	return NULL;
}

/* Returns true if clause x implies clause y: ">=77" implies ">=61", "<80" implies "<82". */
static bool
implies(struct workspace *w, const char *x, const char *y)
{
	size_t n = strspn(x, "=<>!~");
	int order;

	if (n != strspn(y, "=<>!~") || strncmp(x, y, n) != 0)
		return false;
	if (!strcmp(x, y))
		return true;
	order = text_version_order(w, x + n, y + n);
	return (*x == '>' && order >= 0) || (*x == '<' && order <= 0);
}

/* Returns the intersection of two sets of specifiers, without clauses that others imply. */
static const char *
both(struct workspace *w, const char *x, const char *y)
{
	struct buf b = BUF(w->a);
	struct names all =
		names_split(w->a, arena_printf(w->a, "%s%s%s", x, *x && *y ? "," : "", y), ',');

	for (size_t i = 0; i < all.n; i++) {
		bool needed = true;

		for (size_t k = 0; k < all.n; k++)
			if (k != i && implies(w, all.at[k], all.at[i]) &&
			    (k < i || !implies(w, all.at[i], all.at[k])))
				needed = false;
		if (needed)
			buf_printf(&b, "%s%s", b.n ? "," : "", all.at[i]);
	}
	return buf_text(&b);
}

/* --- build requirements, because build isolation is off --- */

static void
build_need(struct workspace *w, const char *requirement, const char *reason, const char *source)
{
	const struct requirement *req = requirement_parse(w->a, requirement, NULL, NULL);
	struct stack_packages *list = &w->s->build_deps;
	const struct recipe_requirement *own;
	struct stack_package *p;
	const char *spec;

	if (!req || !applies(w, req) || !strcmp(req->key, "torch"))
		return;
	spec = specifiers_text(w->a, req->spec);
	p = find(list, req->key);
	if (p && p->given)
		return;
	if (p) {
		const struct requirement *has = requirement_parse(w->a, p->requirement, NULL, NULL);
		const char *old = specifiers_text(w->a, has->spec);

		if (strcmp(both(w, old, spec), old) != 0) {
			p->requirement = arena_printf(w->a, "%s%s", p->key, both(w, old, spec));
			p->reason = *old ? arena_printf(w->a, "%s; %s", p->reason, reason) : reason;
			p->source = source ? source : p->source;
		}
		return;
	}
	own = package_asked(w, req->key);
	list_push(w->a, list,
		  own ? package_given(own, "as the recipe writes it") :
			(struct stack_package){ .requirement =
							arena_printf(w->a, "%s%s", req->key, spec),
						.key = req->key,
						.reason = reason,
						.source = source });
}

static int
by_key(const void *x, const void *y)
{
	return strcmp(((const struct stack_package *)x)->key,
		      ((const struct stack_package *)y)->key);
}

static void
build_needs(struct workspace *w)
{
	static const char *const always[] = { "ninja", "packaging", "setuptools", "wheel" };
	const struct torch_release *t = w->s->torch_release;
	struct stack_packages *list = &w->s->build_deps;

	if (!w->s->compiles)
		return;
	for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
		build_need(w, always[i], "no build isolation: setup.py must find it", NULL);
	list_each (e, &w->s->extensions)
		for (size_t k = 0; e->build && k < e->build->build_requires.n; k++)
			build_need(w, e->build->build_requires.at[k],
				   arena_printf(w->a, "%s needs it to build", e->name),
				   e->build->source);
	if (t && t->setuptools)
		build_need(w, t->setuptools, arena_printf(w->a, "torch %s needs it", t->version),
			   t->source);
	if (t && t->setuptools_build)
		build_need(w, t->setuptools_build,
			   arena_printf(w->a, "torch %s's cpp_extension needs it", t->version),
			   t->source);
	qsort(list->at, list->n, sizeof(*list->at), by_key);
}

/* --- ordinary packages --- */

/* pip does not install an extension of the stack, or what must be one, as a package. */
static bool
is_extension(const struct workspace *w, const char *key)
{
	const struct extension *known = facts_extension(w->f, key);

	return list_any(e, &w->s->extensions, !strcmp(e->name, key)) ||
	       (known && !extension_is_package(known, NULL, key));
}

/* Returns the version after ">=" or "<" of a range, or NULL. */
static const char *
end_of(struct arena *a, const char *spec, const char *op)
{
	const struct names clauses = names_split(a, spec, ',');

	return clause_version(a, &clauses, op);
}

static bool
is_apart(struct workspace *w, const struct pairing *p)
{
	const struct candidate *other = decided(w, p->other);

	return other && other->v && !specifiers_match(facts_specifiers(w->f, p->needs), other->v);
}

/*
 * Adds an upper bound below excluded releases: "<5.1" for a package whose 5.1 requires another
 * torch. If the range ends before the newest releases, it adds a bound only if these are excluded,
 * too.
 */
static void
bound(struct workspace *w, struct stack_package *p)
{
	const struct requirement *req = requirement_parse(w->a, p->requirement, NULL, NULL);
	const char *was = specifiers_text(w->a, req->spec), *below = NULL, *spec;
	size_t n;
	const struct pairing *all = facts_pairings(w->f, p->key, &n), *because = NULL, *last;

	do {
		last = because;
		for (size_t i = 0; i < n; i++) {
			const char *from = end_of(w->a, all[i].spec, ">=");
			const char *to = end_of(w->a, all[i].spec, "<");

			to = to ? to : end_of(w->a, all[i].spec, "<=");
			if (!from || (below && text_version_order(w, from, below) >= 0) ||
			    (to && (!below || text_version_order(w, to, below) < 0)) ||
			    !is_apart(w, &all[i]))
				continue;
			below = from;
			because = &all[i];
		}
	} while (because != last);
	spec = below ? both(w, was, arena_printf(w->a, "<%s", below)) : was;
	if (!strcmp(spec, was) || req->marker)
		return;
	p->requirement = arena_printf(w->a, "%s%s", p->key, spec);
	p->reason = arena_printf(w->a, "%s; newer ones need %s%s", p->reason, because->other,
				 because->needs);
}

/* Returns the run-time requirements of its release, and of the extras in the recipe. */
static struct names
requires_of(struct workspace *w, const struct stack_extension *e)
{
	struct names all = { 0 };

	for (size_t i = 0; e->build && i < e->build->run_requires.n; i++)
		list_push(w->a, &all, e->build->run_requires.at[i]);
	for (size_t i = 0; i < e->asked->extras.n; i++) {
		struct names more = extra_requires(w, e->build, e->asked->extras.at[i]);

		for (size_t k = 0; k < more.n; k++)
			names_once(w->a, &all, more.at[k]);
	}
	return all;
}

/* Adds the bounds of the knowledge base that the extension's own requirement does not have. */
static void
bound_for(struct workspace *w, const struct stack_extension *e, struct stack_package *p)
{
	const struct candidate *own = decided(w, e->name);
	const struct requirement *req = requirement_parse(w->a, p->requirement, NULL, NULL);
	const char *was = specifiers_text(w->a, req->spec), *spec = was;
	size_t n;
	const struct pairing *all = facts_pairings(w->f, e->name, &n);

	for (size_t i = 0; own && own->v && i < n; i++)
		if (!all[i].inferred && !strcmp(all[i].other, p->key) &&
		    specifiers_match(facts_specifiers(w->f, all[i].spec), own->v))
			spec = both(w, spec, all[i].needs);
	if (strcmp(spec, was) != 0 && !req->marker && !specifiers_pin(req->spec))
		p->requirement = arena_printf(w->a, "%s%s", p->key, spec);
}

/* Extensions are installed without dependencies, so their requirements are added here. */
static void
run_needs(struct workspace *w, const struct stack_extension *e)
{
	const struct torch_release *t = w->s->torch_release;
	const struct names all = requires_of(w, e);

	for (size_t i = 0; i < all.n; i++) {
		const char *text = all.at[i];
		const struct requirement *req = requirement_parse(w->a, text, NULL, NULL);
		struct stack_package p = { .requirement = text, .source = e->build->source };
		const struct stack_package *there = req ? find(&w->s->packages, req->key) : NULL;

		if (!req || !applies(w, req) || package_asked(w, req->key) ||
		    is_extension(w, req->key) || !strcmp(req->key, "torch") ||
		    (there && !there->given))
			continue;
		p.key = req->key;
		p.reason = arena_printf(w->a, "%s needs it to run", e->name);
		if (!strcmp(p.key, "triton") && t && t->triton) {
			p.requirement = t->triton;
			p.reason = arena_printf(w->a, "%s, and it is the one of torch %s", p.reason,
						t->version);
		}
		if (companion_add(w, req, p))
			continue;
		bound_for(w, e, &p);
		bound(w, &p);
		list_push(w->a, &w->s->packages, p);
	}
}

/* --- versions that no call of pip may change --- */

/* Adds a line of a constraints file: a version without extras. */
static void
constrain(struct workspace *w, struct map *seen, const char *requirement)
{
	const struct requirement *req = requirement_parse(w->a, requirement, NULL, NULL);
	const char *spec = req ? specifiers_text(w->a, req->spec) : "";
	char *line;

	if (!*spec || req->url)
		return;
	line = arena_printf(w->a, "%s%s%s%s", req->key, spec, req->marker ? "; " : "",
			    req->marker ? marker_text(w->a, req->marker) : "");
	if (!map_put(seen, line, line))
		list_push(w->a, &w->s->constraints, line);
}

static void
constrain_packages(struct workspace *w, struct map *seen, const struct stack_packages *list)
{
	for (size_t i = 0; i < list->n; i++)
		constrain(w, seen, list->at[i].requirement);
}

/* Returns true if the requirement of a package limits its version. */
static bool
has_version(struct workspace *w, const struct stack_package *p)
{
	const struct requirement *req = requirement_parse(w->a, p->requirement, NULL, NULL);

	return *specifiers_text(w->a, req->spec);
}

/* pip takes the newest release: this excludes those that break a pinned package or an extension. */
static void
constrain_others(struct workspace *w, struct map *seen, const char *key, bool extension)
{
	const struct candidate *own = decided(w, key);
	const struct recipe_requirement *other;
	size_t n;
	const struct pairing *all = facts_pairings(w->f, key, &n);

	for (size_t i = 0; own && own->v && i < n; i++) {
		const struct pairing *p = &all[i];

		if (p->inferred || !strcmp(p->other, "torch") || !strcmp(p->other, "python") ||
		    !specifiers_match(facts_specifiers(w->f, p->spec), own->v))
			continue;
		other = package_asked(w, p->other);
		if (other ? !specifiers_pin(other->req->spec) : !extension)
			constrain(w, seen, arena_printf(w->a, "%s%s", p->other, p->needs));
	}
}

/* Each list of constraints starts with the previous one. */
static void
constrain_all(struct workspace *w)
{
	struct stack *s = w->s;
	struct map seen = MAP(w->a);
	const struct names versions = companion_versions(w);

	constrain_packages(w, &seen, &s->torch_packages);
	list_each (line, &versions)
		constrain(w, &seen, *line);
	if (s->numpy.value)
		constrain(w, &seen, s->numpy.value);
	if (s->cuda_wheels.value)
		constrain(w, &seen, s->cuda_wheels.value);
	/* The first one is torch, whose limits are variables of their own. */
	for (size_t i = 1; i < s->torch_packages.n; i++)
		if (has_version(w, &s->torch_packages.at[i]))
			constrain_others(w, &seen, s->torch_packages.at[i].key, false);
	s->torch_constraints = s->constraints;
	s->guards = companion_guards(w);
	list_each (line, &s->guards)
		constrain(w, &seen, *line);
	constrain_packages(w, &seen, &s->build_deps);
	constrain_packages(w, &seen, &s->packages);
	for (size_t i = 0; i < s->packages.n; i++) {
		const struct stack_package *p = &s->packages.at[i];
		size_t n;

		/* The search for pairings is the cheapest condition, and most packages have none. */
		facts_pairings(w->f, p->key, &n);
		if (n && package_asked(w, p->key) && has_version(w, p))
			constrain_others(w, &seen, p->key, false);
	}
	for (size_t i = 0; i < s->extensions.n; i++)
		constrain_others(w, &seen, s->extensions.at[i].name, true);
	s->package_constraints = s->constraints;
	for (size_t i = 0; i < s->extensions.n; i++)
		constrain(w, &seen, s->extensions.at[i].requirement);
}

/* pip evaluates markers, and skips a requirement whose marker is false. */
static void
mark_left_out(struct workspace *w, struct stack_packages *list)
{
	for (size_t i = 0; i < list->n; i++) {
		struct stack_package *p = &list->at[i];
		const struct requirement *req =
			strchr(p->requirement, ';') ?
				requirement_parse(w->a, p->requirement, NULL, NULL) :
				NULL;

		p->left_out = req && req->marker &&
			      (!w->s->python.value || !marker_holds(w, req->marker));
	}
}

void
resolve_packages(struct workspace *w)
{
	struct stack *s = w->s;

	list_each (p, &w->r->packages)
		if (!companion_is_with_torch(w, p->req))
			list_push(w->a, &s->packages, package_given(p, "the recipe lists it"));
	for (size_t i = 0; i < s->extensions.n; i++)
		run_needs(w, &s->extensions.at[i]);
	companions_of_packages(w);
	for (size_t i = 0; i < s->packages.n; i++) {
		const struct recipe_index *x = extra_index(w, s->packages.at[i].key);

		s->packages.at[i].index = x ? x->url.s : NULL;
		s->packages.at[i].index_secret = x ? x->secret.s : NULL;
	}
	build_needs(w);
	mark_left_out(w, &s->torch_packages);
	mark_left_out(w, &s->packages);
	constrain_all(w);
}
