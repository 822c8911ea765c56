#include "internal.h"

/* Extensions: the sources of a release, and their requirements. */

/* --- extension <-> its source --- */

/* Returns why PyPI has no source that compiles, with {} for the release; NULL: it may have one. */
static const char *
no_sdist(struct workspace *w, const struct release *x)
{
	const struct extension_release *r = x->r ? x->r : &x->e->any;

	if (x->e->pypi == PYPI_NONE)
		return "PyPI has no release of {}";
	if (x->e->pypi == PYPI_OTHER)
		return "on PyPI another project has the name of {}";
	if (x->e->pypi == PYPI_WHEEL)
		return "PyPI has a compiled wheel of {}: list it under `packages`";
	if (x->r && !x->r->on_pypi)
		return x->r->git_tag ? "PyPI does not have {}: it exists only as a git tag" :
				       "PyPI does not have {}";
	if (r->sdist_buildable != TRI_NO)
		return NULL;
	return arena_printf(w->a, "the source archive of {} on PyPI cannot be compiled%s%s",
			    r->sdist_why ? ": " : "", r->sdist_why ? r->sdist_why : "");
}

/* Returns why the repository has no source of a release. */
static const char *
no_tag(struct workspace *w, const struct release *x, const struct recipe_extension *asked)
{
	if ((asked && (asked->ref.s || asked->git.s)) || (x->r && x->r->git_tag && x->e->git))
		return NULL;
	return x->e->git ? arena_printf(w->a,
					"the knowledge base has no git tag of {}; use `git: %s` "
					"with your own `ref:`",
					x->e->git) :
			   "the knowledge base has no repository of {}";
}

/* Adds one fact for all releases with the same reason. */
static void
add_groups(struct query *q, const char *from, const struct groups *all)
{
	const struct solver_variable *t = variable_at(q->w, q->variable);

	for (const struct group *g = all->at; g && g < all->at + all->n; g++) {
		bool every = requested_in(q->w, q->variable, g->these) < 0 &&
			     solve_set_count(g->these, t->n) == t->n;
		const char *which = every ? "" : group_label(q->w, q->variable, g);
		const char *place = strstr(g->why, "{}");

		add_conflict(q, TERMS(IN(q->variable, g->these), comes_from(q, from)), g->source,
			     "%.*s%s%s%s%s", (int)(place - g->why), g->why, t->key,
			     *which ? " " : "", which, place + strlen("{}"));
	}
}

void
constraint_extension_source(struct query *q, struct workspace *w)
{
	const struct domain *s = w->variables.at[q->variable];
	int source = source_variable(w, s->t.key);
	struct groups all[2] = { 0 };

	for (q->candidate = 0; s->entry && source >= 0 && q->candidate < s->t.n; q->candidate++) {
		const struct release x = { s->entry, s->t.c[q->candidate].entry, NULL };
		const struct recipe_extension *asked = w->variables.at[source]->asked;
		const char *why[] = { no_sdist(w, &x), no_tag(w, &x, asked) };

		for (size_t i = 0; i < 2; i++)
			if (why[i])
				group_add(w, &all[i], q->variable, q->candidate, why[i],
					  x.r ? x.r->source : x.e->source);
	}
	add_groups(q, "sdist", &all[0]);
	add_groups(q, "git", &all[1]);
}

/* For `packages`, pip uses PyPI, which lacks some releases; check_isolated() checks the other
 * cases. */
void
constraint_extension_on_pypi(struct query *q, struct workspace *w)
{
	struct release x = release_of(q);
	const struct domain *s = w->variables.at[q->variable];

	if (x.r && !x.r->on_pypi && extension_is_package(x.e, x.r, s->t.key) && !s->wheel &&
	    source_variable(w, s->t.key) < 0)
		add_conflict(q, TERMS(THIS(q)), x.r->source,
			     "pip installs packages from PyPI, and %s is not on PyPI%s", x.name,
			     x.r->git_tag ? ": it exists only as a git tag" : "");
}

/*
 * `from: wheel` without a url or an index: the file is unknown.  A prebuilt wheel, by URL or of the project, is
 * used only if the recipe requests it.
 */
void
constraint_wheel_named(struct query *q, struct workspace *w)
{
	const struct recipe_extension *asked = w->variables.at[q->variable]->asked;

	if (!asked)
		return;
	if (!asked->url.s && !is_index_wheel(w, asked))
		add_conflict(q, TERMS(IN(q->variable, set_text(w, q->variable, "url"))), NULL,
			     "the knowledge base has no URL of a wheel of %s: set `url:`, name its "
			     "index in `index.extra`, or use `from: release` for the project's own "
			     "wheel",
			     asked->name.s);
	if (!asked->path.s)
		add_conflict(q, TERMS(IN(q->variable, set_text(w, q->variable, "path"))), NULL,
			     "stackbuild compiles your own code for %s only with `path`",
			     asked->name.s);
	if (asked->from != EXT_RELEASE)
		add_conflict(q, TERMS(IN(q->variable, set_text(w, q->variable, "release"))), NULL,
			     "stackbuild installs the project's own wheel of %s only with `from: "
			     "release`",
			     asked->name.s);
}

/* --- extension <-> Python, torch's build, torch's headers --- */

void
constraint_extension_python(struct query *q, struct workspace *w)
{
	struct release x = release_of(q);

	if (x.r && x.r->requires_python)
		add_conflict(
			q, TERMS(THIS(q), IS_NOT(w, VARIABLE_PYTHON, set_in, x.r->requires_python)),
			x.r->source, "the metadata of %s requires Python %s", x.name,
			spec_label(w->a, x.r->requires_python));
}

/* Excludes a fixed -std= that is too old for torch's headers, which stop with #error. */
void
constraint_extension_std(struct query *q, struct workspace *w)
{
	struct release x = release_of(q);
	const char *own = x.r && x.r->cxx_std ? x.r->cxx_std + strlen("c++") : NULL;

	if (own)
		add_conflict(q,
			     TERMS(THIS(q), compiled(q),
				   IS(w, VARIABLE_STD, set_in, arena_printf(w->a, ">%s", own))),
			     x.r->source, "%s is compiled as C++%s", x.name, own);
}

/* --- preferences for an unpinned release --- */

static bool
can_be_had(const struct extension_release *r)
{
	return r->git_tag || (r->on_pypi && r->sdist_buildable == TRI_YES);
}

void
constraint_newest_major(struct query *q, struct workspace *w)
{
	struct solver_variable *t = variable_at(w, q->variable);
	solve_word *older = set_none(w, q->variable);
	const struct version *newest = NULL;

	for (size_t i = 0; i < t->n; i++) {
		const struct extension_release *r = t->c[i].entry;

		if (!r || !t->c[i].v || version_is_prerelease(t->c[i].v) || !can_be_had(r))
			continue;
		if (!newest)
			newest = t->c[i].v;
		if (version_release(t->c[i].v, 0) < version_release(newest, 0))
			solve_set_add(older, i);
	}
	if (newest && source_variable(w, t->key) >= 0)
		add_conflict(q, TERMS(IN(q->variable, older)), NULL,
			     "the newest %s has the series %lu", t->key,
			     version_release(newest, 0));
}

void
constraint_to_be_had(struct query *q, struct workspace *w)
{
	struct release x = release_of(q);

	(void)w;
	if (x.r && !can_be_had(x.r))
		add_conflict(q, TERMS(THIS(q), compiled(q)), x.r->source,
			     "the knowledge base has no source from which %s can be compiled",
			     x.name);
}
