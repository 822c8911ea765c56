#include "internal.h"

/* Ordinary packages that pip does not install as such, and extensions that need no compiling. */

/* Adds a help that moves an item to another list, as a fix if the file can be edited that way. */
static void
help_move(struct arena *a, struct diag *d, struct span item, const char *from, const char *to,
	  const char *help)
{
	struct edits edits = { 0 };

	if (!edit_move(a, item, from, to, &edits)) {
		diag_help(d, "%s", help);
		return;
	}
	for (size_t i = 0; i < edits.n; i++)
		if (i)
			diag_fix_more(d, edits.at[i]->at, edits.at[i]->replacement);
		else
			diag_fix(d, edits.at[i]->at, edits.at[i]->replacement, "%s", help);
}

/* Returns true if env: disables build isolation, or sets another source of wheels. */
static bool
pip_is_told(const struct workspace *w)
{
	return env_value(w, "PIP_NO_BUILD_ISOLATION") || env_value(w, "PIP_FIND_LINKS") ||
	       env_value(w, "PIP_EXTRA_INDEX_URL") || env_value(w, "PIP_INDEX_URL");
}

static void
check_requirement(struct workspace *w, const struct recipe_requirement *q, const char *list)
{
	const struct requirement *req = q->req;
	const struct extension *e = facts_extension(w->f, req->key);
	const struct candidate *c = e ? decided(w, e->name) : NULL;
	const struct extension_release *r = c ? c->entry : NULL;
	struct diag *d;

	if (!e || e->pypi == PYPI_UNKNOWN || extension_is_package(e, r, req->key) ||
	    !marker_holds(w, req->marker) || (req->url && recipe_names_wheel(req->url)) ||
	    extra_index(w, req->key))
		return;
	if (w->r->index.url.s || pip_is_told(w)) {
		list_push(w->a, &w->unchecked,
			  (struct unchecked){
				  .what = q->text.s,
				  .why = "PyPI has no wheel of it, and the recipe's settings "
					 "of pip may select another source",
				  .by = pip_is_told(w) ? BY_NOTHING : BY_METADATA });
		return;
	}
	d = diag_at(w->ds, E_ISOLATED, q->text.at,
		    "`%s` cannot be installed as an ordinary package", q->text.s);
	diag_why(d, "%s is compiled against torch", e->name);
	diag_why(d, "%s",
		 !req->url && e->pypi == PYPI_NONE ?
			 "PyPI has no release of it" :
		 !req->url && e->pypi == PYPI_OTHER ?
			 "on PyPI that name belongs to another project" :
			 "pip compiles an ordinary package in an "
			 "isolated environment, which has no torch");
	if (e->subdirectory && req->url && !strstr(req->url, "subdirectory="))
		diag_why(d, "its setup.py is in %s, and pip finds it only with `#subdirectory=%s`",
			 e->subdirectory, e->subdirectory);
	help_move(w->a, d, q->text.at, list, "extensions", "move it to `extensions`");
	diag_source(d, r ? r->source : e->source);
}

void
check_isolated(struct workspace *w)
{
	for (size_t i = 0; i < w->r->packages.n; i++)
		check_requirement(w, &w->r->packages.at[i], "packages");
	for (size_t i = 0; i < w->r->torch.with.n; i++)
		check_requirement(w, &w->r->torch.with.at[i], "torch.with");
}

/*
 * "torchaudio==2.0.2+cu117": on import, it compares its CUDA with torch's: torchaudio compares the
 * series, torchvision the major version. Source: PyPI: torchvision/extension.py of 0.20.1 to
 * 0.29.2; https://github.com/mli/autocut/issues/106
 */
static void
check_companion_build(struct workspace *w, const struct recipe_requirement *q)
{
	const struct version *pin = specifiers_pin(q->req->spec);
	const char *own = pin ? version_local(w->a, pin) : NULL, *torch = w->s->torch_tag;
	unsigned major = own ? cuda_major_of_tag(own) : 0;
	bool series = !strcmp(q->req->key, "torchaudio");
	struct diag *d;

	if (!major || !torch || !cuda_major_of_tag(torch) || !is_companion(q->req->key) ||
	    has_own_build(w) || !marker_holds(w, q->req->marker) ||
	    (series ? !strcmp(own, torch) : major == cuda_major_of_tag(torch)))
		return;
	d = diag_at(w->ds, E_FIT_PAIR, q->text.at,
		    "`%s` is not compatible with the %s build of torch", q->text.s, torch);
	diag_why(d, "the import of %s fails if its CUDA has another %s than that of torch",
		 q->req->key, series ? "version" : "major version");
	diag_help(d, "write %s==%s, which is on the index of torch", q->req->name,
		  version_public(w->a, pin));
}

void
check_companion_builds(struct workspace *w)
{
	for (size_t i = 0; i < w->r->packages.n; i++)
		check_companion_build(w, &w->r->packages.at[i]);
	for (size_t i = 0; i < w->r->torch.with.n; i++)
		check_companion_build(w, &w->r->torch.with.at[i]);
}

/* Returns true if PyPI has only wheels of an extension and the recipe names no other source. */
static bool
is_only_wheel(const struct extension *e, const struct recipe_extension *asked)
{
	return e && e->pypi == PYPI_WHEEL && asked &&
	       (asked->from == EXT_AUTO || asked->from == EXT_SDIST) && !asked->git.s &&
	       !asked->ref.s && !asked->branch.s && !asked->url.s;
}

/* Returns the requirement of a package that is listed under extensions: and nobody compiles. */
static struct recipe_requirement *
as_requirement(struct arena *a, const struct facts *f, const struct recipe_extension *e)
{
	struct recipe_requirement *q;
	bool plain = !e->extras.n && !e->env.n && !e->sha256.s && !e->from_at.line;

	if (!is_only_wheel(facts_extension(f, e->key), e) || (!e->written.s && !plain))
		return NULL; /* The keys of an extension mean nothing for a package. */
	q = arena_new_of(a, struct recipe_requirement);
	q->text = e->written;
	if (!q->text.s)
		q->text = (struct text){
			arena_printf(a, "%s%s%s%s%s", e->key, e->version.s ? "==" : "",
				     e->version.s ? e->version.s : "", e->marker.s ? "; " : "",
				     e->marker.s ? e->marker.s : ""),
			e->at
		};
	q->req = requirement_parse(a, q->text.s, NULL, NULL);
	return q->req ? q : NULL;
}

const struct recipe *
recipe_without_wheels(struct arena *a, const struct facts *f, const struct recipe *r)
{
	struct recipe *changed;

	if (!list_any(e, &r->extensions, as_requirement(a, f, e)))
		return r;
	changed = arena_new_of(a, struct recipe);
	*changed = *r;
	changed->extensions = (struct recipe_extensions){ 0 };
	changed->packages = (struct recipe_requirements){ 0 };
	list_each (q, &r->packages)
		list_push(a, &changed->packages, *q);
	list_each (e, &r->extensions) {
		const struct recipe_requirement *q = as_requirement(a, f, e);

		if (q)
			list_push(a, &changed->packages, *q);
		else
			list_push(a, &changed->extensions, *e);
	}
	return changed;
}

void
check_wheel_extensions(struct workspace *w, const struct recipe *written)
{
	list_each (e, &written->extensions) {
		const struct extension *known = facts_extension(w->f, e->key);
		struct diag *d;

		if (!as_requirement(w->a, w->f, e))
			continue;
		d = diag_at(w->ds, W_ONLY_WHEEL, e->at,
			    "`%s` is not an extension: nothing is compiled", e->name.s);
		diag_why(d, "PyPI has a compiled wheel of %s, which pip installs like any package",
			 known->name);
		if (e->written.s)
			help_move(w->a, d, e->written.at, "extensions", "packages",
				  "move it to `packages`");
		else
			diag_help(d, "list it in `packages`; or give `git:` and `ref:` to compile "
				     "it");
		diag_source(d, known->source);
	}
}
