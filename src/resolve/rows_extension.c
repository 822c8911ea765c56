#include "internal.h"

/* Extensions: where a release can come from, and what its source asks of the rest. */

/* --- extension <-> its source --- */

/* Why releases cannot come from somewhere: what stands before and after their names. */
struct reason {
	const char *before, *after;
};

/* Releases that one reason holds for: one fact for all of them. */
struct group {
	struct reason why;
	solve_word *these;
	struct names versions;
	const char *source;
};
struct groups LIST(struct group);

/* Why PyPI has no source of it that can be compiled; before NULL: it may have. */
static struct reason
no_sdist(struct workspace *w, const struct release *x)
{
	const struct extension_release *r = x->r ? x->r : &x->e->any;

	if (x->e->pypi == PYPI_NONE)
		return (struct reason){ "PyPI has no release of ", "" };
	if (x->e->pypi == PYPI_OTHER)
		return (struct reason){ "on PyPI another project has the name of ", "" };
	if (x->e->pypi == PYPI_WHEEL)
		return (struct reason){
			"", " is a wheel on PyPI, with nothing to compile: it belongs in `packages`"
		};
	if (x->r && !x->r->on_pypi)
		return (struct reason){ "PyPI does not have ",
					x->r->git_tag ? ": it is a git tag, and nothing else" :
							"" };
	if (r->sdist_buildable != TRI_NO)
		return (struct reason){ NULL, NULL };
	return (struct reason){ "the source archive of ",
				arena_printf(w->a, " on PyPI cannot be compiled%s%s",
					     r->sdist_why ? ": " : "",
					     r->sdist_why ? r->sdist_why : "") };
}

/* Why its repository does not give it. */
static struct reason
no_tag(struct workspace *w, const struct release *x, const struct recipe_extension *asked)
{
	if (asked && (asked->ref.s || asked->git.s))
		return (struct reason){ NULL, NULL };
	if (!x->e->git)
		return (struct reason){ "no repository is known of ", "" };
	if (!x->r || !x->r->git_tag)
		return (struct reason){ "no git tag is known of ",
					arena_printf(w->a, "; `git: %s` takes a `ref:` of yours",
						     x->e->git) };
	return (struct reason){ NULL, NULL };
}

static void
add_to(struct query *q, struct groups *all, size_t candidate, const struct release *x,
       struct reason why)
{
	struct group *g = NULL;

	for (size_t i = 0; i < all->n && !g; i++)
		if (!strcmp(all->at[i].why.before, why.before) &&
		    !strcmp(all->at[i].why.after, why.after))
			g = &all->at[i];
	if (!g) {
		list_push(q->w->a, all,
			  (struct group){ .why = why,
					  .these = set_none(q->w, q->variable),
					  .source = x->r ? x->r->source : x->e->source });
		g = &all->at[all->n - 1];
	}
	solve_set_add(g->these, candidate);
	list_push(q->w->a, &g->versions, x->c->text);
}

/* "mamba-ssm 2.2.2" where that one is asked for, else the range from the last to the first. */
static const char *
group_words(struct query *q, const struct group *g)
{
	struct workspace *w = q->w;
	const struct solver_variable *t = variable_at(w, q->variable);
	int asked = requested(w, q->variable);
	const char *newest = g->versions.at[0], *oldest = g->versions.at[g->versions.n - 1];

	if (asked >= 0 && solve_set_has(g->these, (size_t)asked))
		return *t->c[asked].text ? arena_printf(w->a, "%s %s", t->key, t->c[asked].text) :
					   t->key;
	if (g->versions.n == t->n)
		return t->key;
	return g->versions.n == 1 ? arena_printf(w->a, "%s %s", t->key, newest) :
				    arena_printf(w->a, "%s %s to %s", t->key, oldest, newest);
}

static void
add_groups(struct query *q, const char *from, const struct groups *all)
{
	for (size_t i = 0; i < all->n; i++) {
		const struct group *g = &all->at[i];

		add_conflict(q, TERMS(IN(q->variable, g->these), comes_from(q, from)), g->source,
			     "%s%s%s", g->why.before, group_words(q, g), g->why.after);
	}
}

void
constraint_extension_source(struct query *q)
{
	const struct solver_variable *t = variable_at(q->w, q->variable);
	int source = source_variable(q->w, t->key);
	struct groups sdist = { 0 }, git = { 0 };

	if (!q->w->variables.at[q->variable]->entry || source < 0)
		return;
	for (q->candidate = 0; q->candidate < t->n; q->candidate++) {
		struct release x = release_of(q);
		struct reason why = no_sdist(q->w, &x);

		if (why.before)
			add_to(q, &sdist, q->candidate, &x, why);
		why = no_tag(q->w, &x, q->w->variables.at[source]->asked);
		if (why.before)
			add_to(q, &git, q->candidate, &x, why);
	}
	add_groups(q, "sdist", &sdist);
	add_groups(q, "git", &git);
}

/* In packages: pip asks PyPI, where some releases never were. */
void
constraint_extension_on_pypi(struct query *q)
{
	struct release x = release_of(q);
	const struct domain *s = q->w->variables.at[q->variable];

	if (x.r && !x.r->on_pypi && !s->wheel && source_variable(q->w, s->t.key) < 0)
		add_conflict(q, TERMS(THIS(q)), x.r->source,
			     "pip installs packages from PyPI, and %s is not on PyPI%s", x.name,
			     x.r->git_tag ? ": it is a git tag, and nothing else" : "");
}

/* `from: wheel` without a url: nobody knows which file is meant. */
void
constraint_wheel_named(struct query *q)
{
	const struct recipe_extension *asked = q->w->variables.at[q->variable]->asked;

	if (asked && asked->from == EXT_WHEEL && !asked->url.s)
		add_conflict(q, TERMS(IN(q->variable, set_text(q->w, q->variable, "url"))), NULL,
			     "no address of a wheel of %s is known: give it as `url:`, or take "
			     "`from: release` for the project's own",
			     asked->name.s);
}

/* --- extension <-> Python, torch's build, torch's headers --- */

void
constraint_extension_python(struct query *q)
{
	struct release x = release_of(q);
	unsigned python = the_variable(q->w, VARIABLE_PYTHON);

	if (x.r && x.r->requires_python)
		add_allows(q, python, set_in(q->w, python, x.r->requires_python), x.r->source,
			   "the metadata of %s requires Python %s", x.name,
			   spec_label(q->w->a, x.r->requires_python));
}

/* An -std= of its own, below which torch's headers stop with #error. */
void
constraint_extension_std(struct query *q)
{
	struct workspace *w = q->w;
	struct release x = release_of(q);
	unsigned std = the_variable(w, VARIABLE_STD);
	const char *own = x.r && x.r->cxx_std ? x.r->cxx_std + strlen("c++") : NULL;

	if (own)
		add_conflict(q,
			     TERMS(THIS(q), compiled(q),
				   IN(std, set_in(w, std, arena_printf(w->a, ">%s", own)))),
			     x.r->source, "%s is compiled as C++%s", x.name, own);
}

/* --- what guides where the recipe leaves the release open --- */

static bool
can_be_had(const struct extension_release *r)
{
	return r->git_tag || (r->on_pypi && r->sdist_buildable == TRI_YES);
}

void
constraint_newest_major(struct query *q)
{
	struct solver_variable *t = variable_at(q->w, q->variable);
	solve_word *older = set_none(q->w, q->variable);
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
	if (newest && source_variable(q->w, t->key) >= 0)
		add_conflict(q, TERMS(IN(q->variable, older)), NULL,
			     "the newest %s is of the series %lu", t->key,
			     version_release(newest, 0));
}

void
constraint_to_be_had(struct query *q)
{
	struct release x = release_of(q);

	if (x.r && !can_be_had(x.r))
		add_conflict(q, TERMS(THIS(q), compiled(q)), x.r->source,
			     "%s is not known to be compiled by anybody", x.name);
}
