#include "extension.h"

/* Extensions: where a release can come from, and what its source asks of the rest. */

/* --- extension <-> its source --- */

static void
not_from(struct fit_ask *q, int source, const char *from, const char *claim, const char *sentence)
{
	struct fit_terms t = { 0 };

	fit_and_this(&t, q);
	fit_and(&t, (unsigned)source, fit_sources(q->w, (unsigned)source, &from, 1));
	fit_clash(q, t.at, t.n, claim, "%s", sentence);
}

/* Why PyPI has no source of it that can be compiled, as a sentence; NULL: it may have. */
static const char *
no_sdist(struct fit_work *w, const struct fit_release *x)
{
	const struct extension_release *r = x->r ? x->r : &x->e->any;

	if (x->e->pypi == PYPI_NONE)
		return arena_printf(w->a, "PyPI has no release of %s at all", x->e->name);
	if (x->e->pypi == PYPI_OTHER)
		return arena_printf(w->a, "on PyPI the name %s belongs to another project",
				    x->e->name);
	if (x->e->pypi == PYPI_WHEEL)
		return arena_printf(w->a,
				    "PyPI has %s as a wheel, with nothing to compile: it belongs "
				    "in `packages`",
				    x->e->name);
	if (x->r && !x->r->on_pypi)
		return arena_printf(w->a, "%s is not on PyPI%s", x->name,
				    x->r->git_tag ? ": it is a git tag, and nothing else" : "");
	if (r->sdist_buildable == TRI_NO && r->sdist_why)
		return arena_printf(w->a, "the source archive of %s on PyPI cannot be compiled: %s",
				    x->name, r->sdist_why);
	if (r->sdist_buildable == TRI_NO)
		return arena_printf(w->a, "the source archive of %s on PyPI cannot be compiled",
				    x->name);
	return NULL;
}

/* Why its repository does not give that release, as a sentence; NULL: it may. */
static const char *
no_tag(struct fit_work *w, const struct fit_release *x, const struct recipe_extension *asked)
{
	if (asked && (asked->ref.s || asked->git.s))
		return NULL;
	if (!x->e->git)
		return arena_printf(w->a, "no repository of %s is known", x->e->name);
	if (!x->r || !x->r->git_tag)
		return arena_printf(w->a, "no git tag of %s is known", x->name);
	return NULL;
}

void
fit_row_extension_source(struct fit_ask *q)
{
	struct fit_release x = fit_release_of(q);
	int source = fit_source_of(q->w, fit_at(q->w, q->thing)->key);
	const char *why, *claim;

	if (!x.e || source < 0)
		return;
	claim = x.r ? x.r->source : x.e->source;
	if ((why = no_sdist(q->w, &x)))
		not_from(q, source, "sdist", claim, why);
	if ((why = no_tag(q->w, &x, q->w->slots.at[source]->asked)))
		not_from(q, source, "git", claim, why);
}

/* In packages: pip asks PyPI, where some releases never were. */
void
fit_row_extension_on_pypi(struct fit_ask *q)
{
	struct fit_release x = fit_release_of(q);
	const struct fit_slot *s = q->w->slots.at[q->thing];
	struct fit_terms t = { 0 };

	if (!x.r || x.r->on_pypi || s->wheel || fit_source_of(q->w, s->t.key) >= 0)
		return;
	fit_and_this(&t, q);
	fit_clash(q, t.at, t.n, x.r->source, "pip takes packages from PyPI, and %s is not there%s",
		  x.name, x.r->git_tag ? ": it is a git tag, and nothing else" : "");
}

/* `from: wheel` without a url: nobody knows which file is meant. */
void
fit_row_wheel_named(struct fit_ask *q)
{
	const struct fit_slot *s = q->w->slots.at[q->thing];
	const char *url = "url";
	struct fit_terms t = { 0 };

	if (!s->asked || s->asked->from != EXT_WHEEL || s->asked->url.s)
		return;
	fit_and(&t, q->thing, fit_sources(q->w, q->thing, &url, 1));
	fit_clash(q, t.at, t.n, NULL,
		  "no address of a wheel of %s is known: give it as `url:`, or take `from: "
		  "release` for the project's own",
		  s->asked->name.s);
}

/* --- extension <-> Python, torch's build, torch's headers --- */

void
fit_row_extension_python(struct fit_ask *q)
{
	struct fit_release x = fit_release_of(q);
	unsigned python = fit_slot(q->w, FIT_PYTHON, "python");

	if (!x.r || !x.r->requires_python)
		return;
	fit_allows(q, python, fit_in(q->w, python, x.r->requires_python), x.r->source,
		   "%s wants Python %s: its metadata says so", x.name, x.r->requires_python);
}

void
fit_row_extension_cpu(struct fit_ask *q)
{
	const struct fit_slot *s = q->w->slots.at[q->thing];
	const struct extension *e = s->entry;
	unsigned build;
	struct names cpu = { 0 };

	if (!e || e->cpu != TRI_NO)
		return;
	build = fit_slot(q->w, FIT_BUILD, "torch build");
	list_push(q->w->a, &cpu, "cpu");
	fit_allows_if(
		q, fit_all(q->w, q->thing), build,
		solve_set_not(q->w->a, fit_named(q->w, build, &cpu, false), fit_at(q->w, build)->n),
		e->source, "%s is CUDA code, and a CPU build of torch has no CUDA to run it",
		e->name);
}

/* An -std= of its own below which torch's headers stop with #error. */
void
fit_row_extension_std(struct fit_ask *q)
{
	struct fit_release x = fit_release_of(q);
	unsigned torch = fit_slot(q->w, FIT_TORCH, "torch");
	const struct fit_thing *t = fit_at(q->w, torch);
	solve_word *stop = fit_none(q->w, torch);
	const struct torch_release *first = NULL;
	struct fit_terms terms = { 0 };

	if (!x.r || !x.r->cxx_std)
		return;
	for (size_t i = 0; i < t->n; i++) {
		const struct torch_release *at = t->c[i].entry;

		if (!at || !at->cxx_std || strcmp(at->cxx_std, x.r->cxx_std) <= 0)
			continue;
		solve_set_add(stop, i);
		first = at;
	}
	fit_and_this(&terms, q);
	if (!first || !fit_and_compiled(&terms, q))
		return;
	fit_and(&terms, torch, stop);
	fit_clash(q, terms.at, terms.n, x.r->source,
		  "%s compiles as %s, and the headers of torch %s and newer refuse anything older "
		  "than %s",
		  x.name, x.r->cxx_std, first->version, first->cxx_std);
}

/* --- what guides where the recipe leaves the release open --- */

static bool
can_be_had(const struct extension_release *r)
{
	return r->git_tag || (r->on_pypi && r->sdist_buildable == TRI_YES);
}

void
fit_row_newest_major(struct fit_ask *q)
{
	struct fit_thing *t = fit_at(q->w, q->thing);
	solve_word *older = fit_none(q->w, q->thing);
	const struct version *newest = NULL;
	struct fit_terms terms = { 0 };

	for (size_t i = 0; i < t->n; i++) {
		const struct extension_release *r = t->c[i].entry;

		if (!r || !t->c[i].v || version_is_prerelease(t->c[i].v) || !can_be_had(r))
			continue;
		if (!newest)
			newest = t->c[i].v;
		if (version_release(t->c[i].v, 0) < version_release(newest, 0))
			solve_set_add(older, i);
	}
	if (fit_source_of(q->w, t->key) < 0 || !solve_set_count(older, t->n))
		return;
	fit_and(&terms, q->thing, older);
	fit_clash(q, terms.at, terms.n, NULL, "the newest %s is of the series %lu", t->key,
		  version_release(newest, 0));
}

void
fit_row_to_be_had(struct fit_ask *q)
{
	struct fit_release x = fit_release_of(q);
	struct fit_terms t = { 0 };

	if (!x.r || (can_be_had(x.r) && !(x.c->v && version_is_prerelease(x.c->v))))
		return;
	fit_and_this(&t, q);
	if (fit_and_compiled(&t, q))
		fit_clash(q, t.at, t.n, x.r->source, "%s is not known to be compiled by anybody",
			  x.name);
}
