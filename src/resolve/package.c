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

/* Extensions are installed without dependencies, so their requirements are added here. */
static void
run_needs(struct workspace *w, const struct stack_extension *e)
{
	const struct torch_release *t = w->s->torch_release;
	const struct names all = extension_requires(w, e->build, e->asked);

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
		list_push(w->a, &w->s->packages, p);
	}
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
	resolve_constraints(w);
}
