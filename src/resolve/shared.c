#include <stdlib.h>

#include "internal.h"

/* Queries of several rows about the recipe and the variables. */

const struct solver_variable *
solution_variable(const struct solution *solution, const char *key)
{
	int at = variable_find(solution->work, key);

	return at < 0 ? NULL : solution->work->all.at[at];
}

const struct candidate *
candidate_in(const struct workspace *w, const int *chosen, size_t n, int variable)
{
	if (variable < 0 || (size_t)variable >= n || chosen[variable] < 0)
		return NULL;
	return &w->all.at[variable]->c[chosen[variable]];
}

const struct candidate *
solution_selected(const struct solution *solution, const char *key)
{
	return candidate_in(solution->work, solution->chosen, solution->nchosen,
			    variable_find(solution->work, key));
}

int
text_version_order(struct workspace *w, const char *x, const char *y)
{
	const struct version *vx = facts_version(w->f, x), *vy = facts_version(w->f, y);

	return vx && vy ? version_cmp(vx, vy) : strcmp(x, y);
}

int
requested(const struct workspace *w, unsigned variable)
{
	size_t n = w->variables.at[variable]->t.n;

	list_each (p, &w->solver_pins) {
		if (p->variable != variable || solve_set_count(p->set, n) != 1)
			continue;
		for (size_t k = 0; k < n; k++)
			if (solve_set_has(p->set, k))
				return (int)k;
	}
	return -1;
}

solve_word *
set_same_series(struct workspace *w, unsigned variable)
{
	int asked = requested(w, variable);
	const struct candidate *was = asked < 0 ? NULL : &variable_at(w, variable)->c[asked];

	return was && was->v && !was->known ?
		       SET_WHERE(w, variable, c,
				 c->known && version_same_series(c->text, was->text)) :
		       set_none(w, variable);
}

bool
is_requested(const struct workspace *w, unsigned variable)
{
	return list_any(q, &w->requests, q->variable == variable && q->kind != REQUEST_NEED);
}

bool
recipe_has(const struct workspace *w, const char *key)
{
	return list_any(q, &w->r->packages, !strcmp(q->req->key, key)) ||
	       list_any(e, &w->r->extensions, !strcmp(e->key, key));
}

const struct recipe_index *
extra_index(const struct workspace *w, const char *key)
{
	/* If several indexes list the package, the last one applies. */
	for (size_t i = w->r->extras.n; i-- > 0;)
		for (size_t k = 0; k < w->r->extras.at[i].packages.n; k++)
			if (!strcmp(name_normalize(w->a, w->r->extras.at[i].packages.at[k].s), key))
				return &w->r->extras.at[i];
	return NULL;
}

bool
is_index_wheel(const struct workspace *w, const struct recipe_extension *e)
{
	return e->from == EXT_WHEEL && !e->url.s && extra_index(w, e->key);
}

bool
is_from_pypi(const struct workspace *w, const char *key)
{
	int variable = variable_find(w, key);

	return (variable < 0 || !w->variables.at[variable]->wheel) && source_variable(w, key) < 0 &&
	       !extra_index(w, key);
}

const struct setting *
setting_named(const struct settings *env, const char *name)
{
	return list_find(x, env, !strcmp(x->name.s, name));
}

const char *
env_value(const struct workspace *w, const char *name)
{
	const struct setting *found = setting_named(&w->r->env, name);

	return found ? found->value.s : NULL;
}

bool
env_is(const struct workspace *w, const char *name, const char *words)
{
	const struct names all = names_split(w->a, words, ' ');
	const char *value = env_value(w, name);

	return value && names_have(&all, value);
}

size_t
url_end(const char *url, size_t *last)
{
	size_t n = strlen(url);

	while (n && url[n - 1] == '/')
		n--;
	for (*last = n; *last && url[*last - 1] != '/';)
		--*last;
	return n;
}

const char *
torch_of_base(const struct workspace *w)
{
	const struct image_name *i = &w->image;
	bool open = i->own_torch || (i->repository && strchr(i->repository, '/') && !i->source);

	/* The recipe may set the version for an unknown image; the build compares it. */
	return w->r->torch.from != TORCH_BASE || !w->r->base.s ? NULL :
	       i->torch                                        ? i->torch :
	       open                                            ? w->r->torch.version.s :
								 NULL;
}

const char *
torch_checked_as(const struct workspace *w, const char *version)
{
	const struct version *v = facts_version(w->f, version);
	size_t n = strspn(version, "0123456789.");

	return v && version_is_prerelease(v) && is_digit(version[n - 1]) ?
		       arena_copy(w->a, version, n) :
		       version;
}

bool
has_own_build(const struct workspace *w)
{
	const char *url = w->r->torch.index.s, *known;
	size_t n, start;

	if (torch_of_base(w) && w->image.own_torch)
		return true;
	if (!url || !strstr(url, "://"))
		return false;
	n = url_end(url, &start);
	known = facts_torch_index(w->f, w->a, arena_copy(w->a, url + start, n - start));
	return strlen(known) != n || memcmp(known, url, n) != 0;
}

const char *
requested_cuda(const struct workspace *w)
{
	return w->r->cuda.s ? w->r->cuda.s : w->image.cuda;
}

bool
selects_image(const struct workspace *w)
{
	return !w->r->base.s && (w->r->cuda_from == CUDA_AUTO || w->r->cuda_from == CUDA_IMAGE);
}

solve_word *
set_cuda(struct workspace *w, unsigned cuda, const char *version)
{
	bool series = !strcmp(version_series(w->a, version), version);

	return SET_WHERE(w, cuda, c,
			 series ? version_same_series(c->text, version) :
				  !text_version_order(w, c->text, version));
}

bool
is_compiled(const struct recipe_extension *e)
{
	return e->from != EXT_WHEEL && e->from != EXT_RELEASE &&
	       !(e->url.s && recipe_names_wheel(e->url.s));
}

const char *
torch_companion(const struct torch_release *t, const char *key)
{
	return !strcmp(key, "torchvision") ? t->torchvision :
	       !strcmp(key, "torchaudio")  ? t->torchaudio :
					     NULL;
}

bool
is_companion(const char *key)
{
	return !strcmp(key, "torchvision") || !strcmp(key, "torchaudio");
}

const struct names *
build_archs(const struct workspace *w, const struct torch_variant *v)
{
	return strcmp(recipe_machine(w->r), "aarch64") ? &v->archs : &v->archs_aarch64;
}

/* Returns the environment of a Python with an extra or ""; "3.13t" counts as 3.13. */
static const struct marker_env *
environment_of(struct workspace *w, const char *python, const char *extra)
{
	const char *key = *extra ? arena_printf(w->a, "%s[%s]", python, extra) : python;
	struct marker_env *env = map_get(&w->environments, key);

	if (!env) {
		env = arena_new_of(w->a, struct marker_env);
		*env = marker_env_linux(w->a,
					arena_copy(w->a, python, strspn(python, "0123456789.")),
					recipe_machine(w->r), extra);
		map_put(&w->environments, key, env);
	}
	return env;
}

/* Unknown values, such as the host's kernel, count as true. */
static bool
holds_for(struct workspace *w, const struct marker *m, const char *python,
	  const struct names *extras)
{
	bool any = false, holds;

	/* Tries without an extra, then with each one. */
	for (size_t i = 0; !any && i <= extras->n; i++)
		any = !marker_eval(m, environment_of(w, python, i ? extras->at[i - 1] : ""),
				   &holds) ||
		      holds;
	return any;
}

solve_word *
set_pythons_with(struct workspace *w, const struct marker *m, const struct names *extras)
{
	return SET_WHERE(w, the_variable(w, VARIABLE_PYTHON), c,
			 !m || holds_for(w, m, c->text, extras));
}

solve_word *
set_pythons_where(struct workspace *w, const struct marker *m)
{
	return set_pythons_with(w, m, &(struct names){ 0 });
}

/* Returns true if the recipe requires a build without CUDA, or with an unknown CUDA. */
static bool
takes_cpu(struct workspace *w)
{
	int build = variable_find(w, "torch build");
	int asked = build < 0 ? -1 : requested(w, (unsigned)build);

	return has_own_build(w) ||
	       (asked >= 0 && !cuda_of_tag(w->a, variable_at(w, (unsigned)build)->c[asked].text));
}

const char *
gpu_evidence(struct workspace *w)
{
	return takes_cpu(w)      ? NULL :
	       w->r->gpus.n      ? "names GPUs" :
	       w->r->driver.s    ? "names a driver" :
	       w->r->modal.gpu.s ? "runs on a GPU at Modal" :
	       w->compiles       ? "compiles extensions" :
	       requested_cuda(w) ? "requires CUDA" :
				   NULL;
}

const char *
version_of_url(struct workspace *w, const char *url)
{
	const struct version *v;
	const char *name;

	return recipe_archive(w->a, url, &name, &v) ? version_public(w->a, v) : NULL;
}

const solve_word *
releases_wanted(void *ctx, unsigned variable)
{
	struct workspace *w = ctx;
	struct domain *s = w->variables.at[variable];

	if (!s->read && s->t.kind == VARIABLE_PACKAGE && requested(w, variable) < 0 &&
	    is_from_pypi(w, s->t.key) && !facts_package_independent(w->f, s->t.key))
		s->read = SET_WHERE(w, variable, c, c->published && c->published->read);
	return s->read;
}

/* --- packages that only requirements of other packages name --- */

/* Records what the packages of a list require in any release that was read; neighbours share a list. */
static void
note_bounds(struct workspace *w, const struct recipe_requirements *all)
{
	list_each (q, all) {
		const struct python_package *p = facts_package(w->f, q->req->key);
		const char *const *before = NULL;

		for (size_t k = 0; p && k < p->n; before = p->releases[k++].requires.at)
			if (p->releases[k].requires.at != before)
				list_each (x, &p->releases[k].requires)
					map_put(&w->bounded,
						arena_copy(w->a, *x, strcspn(*x, "[<>=!~; @")), w);
	}
}

bool
bounds_count(struct workspace *w, const char *key)
{
	if (is_tracked(w, key))
		return true;
	if (!w->bounded.n) {
		map_put(&w->bounded, "", w);
		note_bounds(w, &w->r->torch.with);
		note_bounds(w, &w->r->packages);
	}
	return map_get(&w->bounded, key);
}
