#include "companions.h"
#include "needs.h"

/*
 * torch's companions: torchvision and torchaudio, which are compiled against one build of torch;
 * triton and NVIDIA's packages, of which torch requires one release.  PyPI has only one of torch's
 * builds, so the torch step installs companions from torch's index.  Sources:
 * torchvision/extension.py and torchaudio/_extension/utils.py, whose import fails beside another
 * CUDA; https://download.pytorch.org/whl: the local version of a file names its build.
 */

static const char *const keys[] = { "torchvision", "torchaudio" };

/* Since 1.10, the index of a build has torchaudio with the local version of the build. */
#define TORCHAUDIO_BUILDS "1.10"

static bool
is_listed(const struct stack_packages *list, const char *key)
{
	return list_any(p, list, !strcmp(p->key, key));
}

/* Returns true if the stack installs torch, instead of using the base image's. */
static bool
installs_torch(const struct workspace *w)
{
	return w->s->torch_packages.n && !w->s->torch_base;
}

bool
companion_is_with_torch(const struct workspace *w, const struct requirement *req)
{
	return is_companion(req->key) && installs_torch(w) && !req->url &&
	       !extra_index(w, req->key);
}

/* A bare `torchvision` gets the release that the solver selected for this torch. */
struct stack_package
companion_given(struct workspace *w, const struct recipe_requirement *q)
{
	const struct torch_release *t = w->s->torch_release;
	const struct candidate *c = decided(w, q->req->key);
	struct stack_package p = package_given(q, "installed together with torch");

	/* The torch of an image has the companions of that image. */
	if (t && c && !has_own_build(w) && torch_companion(t, p.key) &&
	    !strcmp(q->text.s, q->req->name)) {
		p.requirement = arena_printf(w->a, "%s==%s", q->text.s, c->text);
		p.reason = "the one release that was built for this torch";
		p.source = t->source;
		p.given = false;
	}
	return p;
}

/* Returns the sentence of a requirement on a package, "timm 1.0.11 requires torchvision". */
static const char *
requirement_on(struct workspace *w, const char *key)
{
	const struct constraints all = solution_limits(w->solution, key, false);

	return all.n ? all.at[0]->sentence : "a package of the stack requires it";
}

/* Adds a companion that another package requires, unless it has a place already. */
static void
bring(struct workspace *w, const char *key, const char *version, const char *reason)
{
	const struct torch_release *t = w->s->torch_release;

	if (!version || is_listed(&w->s->torch_packages, key) || package_asked(w, key) ||
	    extra_index(w, key))
		return;
	list_push(w->a, &w->s->torch_packages,
		  (struct stack_package){ .requirement = arena_printf(w->a, "%s==%s", key, version),
					  .key = key,
					  .reason = reason,
					  .source = t ? t->source : NULL });
}

void
resolve_companions(struct workspace *w)
{
	if (!installs_torch(w))
		return;
	list_each (q, &w->r->packages)
		if (companion_is_with_torch(w, q->req))
			list_push(w->a, &w->s->torch_packages, companion_given(w, q));
	for (size_t i = 0; i < COUNT(keys); i++) {
		const struct candidate *c = decided(w, keys[i]);

		if (c && facts_version(w->f, c->text))
			bring(w, keys[i], c->text, requirement_on(w, keys[i]));
	}
}

static bool requires(struct workspace *w, const char *package, const struct package_release *r,
		     const char *key)
{
	struct needs all = { 0 };

	if (r && list_any(text, &r->requires, starts_with(*text, key)))
		all = release_needs(w, package, r);
	return list_any(x, &all, !strcmp((*x)->req->key, key) && need_holds(w, *x));
}

/* Returns true if a package may require a companion: METADATA of its release is read, or that of a
 * release next to it, or, for a version that only pip selects, of the newest one. */
static bool
may_require(struct workspace *w, const char *package, const char *key)
{
	const struct python_package *p = facts_package(w->f, package);
	const struct candidate *c = solution_selected(w->solution, package);
	struct package_span span = { 0 };

	if (c)
		span = release_span(w, solution_variable(w->solution, package), c);
	for (size_t i = p ? p->n : 0; i-- > 0 && !span.older;)
		if (p->releases[i].requires_known)
			span.older = &p->releases[i];
	return requires(w, package, span.older, key) || requires(w, package, span.newer, key);
}

void
companions_of_packages(struct workspace *w)
{
	const struct torch_release *t = w->s->torch_release;

	for (size_t i = 0; t && installs_torch(w) && i < COUNT(keys); i++)
		list_each (p, &w->s->packages)
			if (may_require(w, p->key, keys[i]))
				bring(w, keys[i], torch_companion(t, keys[i]),
				      arena_printf(w->a, "%s may require it", p->key));
}

/* Returns true if torch itself requires its triton in this stack: the CPU builds do not. */
static bool
brings_triton(struct workspace *w)
{
	const struct torch_release *t = w->s->torch_release;
	const char *tag = w->s->torch_tag;

	return t && t->triton && installs_torch(w) && !has_own_build(w) &&
	       !(tag && !strcmp(tag, "cpu")) &&
	       marker_holds(w, t->triton_marker ? marker_parse(w->a, t->triton_marker) : NULL);
}

bool
companion_add(struct workspace *w, const struct requirement *req, struct stack_package p)
{
	const struct torch_release *t = w->s->torch_release;
	const char *pair = t ? torch_companion(t, req->key) : NULL;

	if (!strcmp(req->key, "triton"))
		return brings_triton(w);
	if (!companion_is_with_torch(w, req))
		return false;
	if (is_listed(&w->s->torch_packages, req->key))
		return true;
	if (pair && !has_own_build(w))
		p.requirement = arena_printf(w->a, "%s==%s", req->key, pair);
	list_push(w->a, &w->s->torch_packages, p);
	return true;
}

struct names
companion_versions(struct workspace *w)
{
	struct names all = { 0 };

	list_each (p, &w->s->torch_packages) {
		const struct candidate *c = is_companion(p->key) ? decided(w, p->key) : NULL;
		const struct requirement *req = requirement_parse(w->a, p->requirement, NULL, NULL);

		if (c && facts_version(w->f, c->text) && installs_torch(w) && !has_own_build(w) &&
		    !specifiers_pin(req->spec) && !req->url && marker_holds(w, req->marker))
			list_printf(w->a, &all, "%s==%s", p->key, c->text);
	}
	return all;
}

static bool
is_pinned(struct workspace *w, const char *key)
{
	const struct recipe_requirement *q = package_asked(w, key);

	return q && (q->req->url || specifiers_pin(q->req->spec));
}

/* Returns the only version that an unexpected installation may have: "0.20.1+cu118". */
static const char *
only_version(struct workspace *w, const char *key, const char *pair)
{
	const struct stack *s = w->s;
	bool builds = strcmp(key, "torchaudio") != 0 ||
		      text_version_order(w, s->torch.value, TORCHAUDIO_BUILDS) >= 0;

	/* PyPI's files have no local version. */
	return s->torch_index.value && s->torch_tag && builds ?
		       arena_printf(w->a, "%s+%s", pair, s->torch_tag) :
		       pair;
}

struct names
companion_guards(struct workspace *w)
{
	const struct stack *s = w->s;
	const struct torch_release *t = s->torch_release;
	struct names all = { 0 };
	const char *source;

	for (size_t i = 0; t && installs_torch(w) && i < COUNT(keys); i++) {
		const char *pair = torch_companion(t, keys[i]);

		if (pair && !is_listed(&s->torch_packages, keys[i]) && !package_asked(w, keys[i]) &&
		    !extra_index(w, keys[i]))
			list_printf(w->a, &all, "%s==%s", keys[i], only_version(w, keys[i], pair));
	}
	if (brings_triton(w) && !is_pinned(w, "triton"))
		list_push(w->a, &all, t->triton);
	for (size_t i = 0; t && installs_torch(w) && i < w->solution->nvariables; i++) {
		const char *key = w->solution->variables[i]->key, *spec = NULL;

		if (starts_with(key, "nvidia-") && solution_selected(w->solution, key) &&
		    s->torch_variant && !has_own_build(w) && !is_pinned(w, key) &&
		    !strcmp(recipe_machine(w->r), "x86_64"))
			spec = facts_torch_nvidia(w->f, t->version, s->torch_variant->tag, key,
						  &source);
		if (spec)
			list_printf(w->a, &all, "%s%s", key, spec);
	}
	return all;
}
