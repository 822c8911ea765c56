#include <stdlib.h>

#include "rows_help.h"

/* from: release: the wheels that a project built of one of its releases. */

/* What all facts of one release begin with: "it is this one, and it comes from there". */
struct list {
	struct query *q;
	struct release x;
	struct wheel_list wheels;
	int source;
	solve_word *from;
};

static struct terms
begin(const struct list *l)
{
	struct terms t = { 0 };

	terms_add_this(&t, l->q);
	terms_add(&t, (unsigned)l->source, l->from);
	return t;
}

/* A row is for the CUDA of a build: wheels are made once for a major. */
static bool
row_has_cuda(const struct wheel_row *row, const char *tag)
{
	for (size_t i = 0; i < row->cuda.n; i++)
		if (cuda_major_of_tag(tag) &&
		    cuda_major_of_tag(row->cuda.at[i]) == cuda_major_of_tag(tag))
			return true;
	return false;
}

static bool
row_has_abi(const struct wheel_row *row, enum tri abi)
{
	return abi == TRI_UNKNOWN || (abi == TRI_YES ? row->abi_new : row->abi_old);
}

/* Of one torch build: the Pythons that there is a wheel for; false if there is none at all. */
static bool
pythons_of(const struct list *l, const char *series, const struct torch_variant *v,
	   struct names *out)
{
	for (size_t i = 0; i < l->wheels.n; i++) {
		const struct wheel_row *row = &l->wheels.rows[i];

		if (row->nightly || !names_have(&row->torch, series) ||
		    !row_has_cuda(row, v->tag) || !row_has_abi(row, v->cxx11abi))
			continue;
		for (size_t k = 0; k < row->pythons.n; k++)
			if (!names_have(out, row->pythons.at[k]))
				list_push(l->q->w->a, out, row->pythons.at[k]);
	}
	return out->n;
}

/* A torch for which there is a wheel at all. */
static void
for_torch(struct list *l, unsigned torch, size_t candidate, const struct torch_release *r)
{
	struct workspace *w = l->q->w;
	unsigned build = variable_get(w, VARIABLE_BUILD, "torch build");
	unsigned python = variable_get(w, VARIABLE_PYTHON, "python");
	const char *series = version_series(w->a, r->version);
	struct names builds = { 0 };
	struct terms t;

	for (size_t i = 0; i < r->nvariants; i++) {
		const struct torch_variant *v = &r->variants[i];
		struct names pythons = { 0 }, tag = { 0 };

		if (!pythons_of(l, series, v, &pythons))
			continue;
		list_push(w->a, &builds, v->tag);
		list_push(w->a, &tag, v->tag);
		t = begin(l);
		terms_add(&t, torch, set_one(w, torch, candidate));
		terms_add(&t, build, set_named(w, build, &tag, false));
		terms_add(&t, python,
			  solve_set_not(w->a, set_named(w, python, &pythons, false),
					variable_at(w, python)->n));
		add_conflict(l->q, t.at, t.n, l->wheels.source,
			     "the project's wheels of %s for torch %s and %s are for Python %s",
			     l->x.name, series, v->tag, names_words(w->a, &pythons, "and"));
	}
	t = begin(l);
	terms_add(&t, torch, set_one(w, torch, candidate));
	terms_add(
		&t, build,
		solve_set_not(w->a, set_named(w, build, &builds, true), variable_at(w, build)->n));
	if (builds.n)
		add_conflict(
			l->q, t.at, t.n, l->wheels.source,
			"the project built wheels of %s for torch %s with %s, and with no other",
			l->x.name, series, names_words(w->a, &builds, "and"));
	else
		add_conflict(
			l->q, t.at, t.n - 1, l->wheels.source,
			"the project's wheels of %s for torch %s are of another C++ ABI or CUDA "
			"than any torch %s",
			l->x.name, series, series);
}

/* The torch series of the list, each once; those built with a nightly do not count. */
static struct names
series_of_list(const struct list *l)
{
	struct names all = { 0 };

	for (size_t i = 0; i < l->wheels.n; i++)
		for (size_t k = 0; !l->wheels.rows[i].nightly && k < l->wheels.rows[i].torch.n; k++)
			if (!names_have(&all, l->wheels.rows[i].torch.at[k]))
				list_push(l->q->w->a, &all, l->wheels.rows[i].torch.at[k]);
	return all;
}

static void
for_all_torches(struct list *l)
{
	struct workspace *w = l->q->w;
	unsigned torch = variable_get(w, VARIABLE_TORCH, "torch");
	const struct solver_variable *at = variable_at(w, torch);
	struct names series = series_of_list(l);
	solve_word *none = set_none(w, torch);
	struct terms t = begin(l);

	for (size_t i = 0; i < at->n; i++) {
		const struct torch_release *r = at->c[i].entry;

		if (!names_have(&series, version_series(w->a, at->c[i].text)))
			solve_set_add(none, i);
		else if (r)
			for_torch(l, torch, i, r);
	}
	terms_add(&t, torch, none);
	add_conflict(l->q, t.at, t.n, l->wheels.source,
		     "the project built wheels of %s for torch %s, and for no other", l->x.name,
		     names_words(w->a, &series, "and"));
}

static void
for_machine_and_system(struct list *l)
{
	struct workspace *w = l->q->w;
	unsigned machine = variable_get(w, VARIABLE_MACHINE, "machine");
	unsigned glibc = variable_get(w, VARIABLE_GLIBC, "glibc");
	struct terms terms = begin(l);

	if (l->wheels.x86_64_only) {
		terms_add(
			&terms, machine,
			solve_set_not(w->a,
				      set_one(w, machine, variable_candidate(w, machine, "x86_64")),
				      variable_at(w, machine)->n));
		add_conflict(l->q, terms.at, terms.n, l->x.r->source,
			     "the project built wheels of %s for x86_64 alone", l->x.name);
	}
	if (!l->wheels.glibc_min)
		return;
	terms = begin(l);
	terms_add(&terms, glibc, set_below(w, glibc, l->wheels.glibc_min));
	add_conflict(l->q, terms.at, terms.n, l->x.r->source,
		     "the project's wheels of %s need glibc %s or newer", l->x.name,
		     l->wheels.glibc_min);
}

/* Sets `l` up for the source of that name; false: the recipe asks for no such variable. */
static bool
list_of(struct query *q, const char *from, struct list *l)
{
	*l = (struct list){ .q = q, .x = release_of(q) };
	l->source = source_variable(q->w, variable_at(q->w, q->variable)->key);
	if (l->source < 0)
		return false;
	l->from = set_sources(q->w, (unsigned)l->source, &from, 1);
	if (l->x.r)
		l->wheels = facts_extension_wheels(q->w->f, q->w->a, l->x.r);
	return true;
}

static bool
asked_from(const struct query *q, enum extension_from from)
{
	const struct recipe_extension *e = q->w->variables.at[q->variable]->asked;

	return e && e->from == from;
}

void
constraint_release_wheel(struct query *q)
{
	struct terms t;
	struct list l;

	if (!asked_from(q, EXT_RELEASE) || !list_of(q, "release", &l))
		return;
	t = begin(&l);
	if (!l.x.r) {
		add_conflict(q, t.at, t.n, NULL, "no wheels are known of %s", l.x.name);
		return;
	}
	if (l.wheels.never)
		add_conflict(q, t.at, t.n, l.x.r->source,
			     "no wheel of %s lies where its name says: %s", l.x.name,
			     l.wheels.never);
	else if (!l.wheels.n)
		add_conflict(q, t.at, t.n, l.x.r->source, "no wheels are known of %s", l.x.name);
	else
		for_all_torches(&l);
	for_machine_and_system(&l);
}

static void
tell_nightly(const struct list *l, unsigned torch, const char *series)
{
	struct workspace *w = l->q->w;
	struct terms t = { 0 };

	terms_add_this(&t, l->q);
	if (l->from)
		terms_add(&t, (unsigned)l->source, l->from);
	terms_add(&t, torch, set_in(w, torch, arena_printf(w->a, "==%s.*", series)));
	add_conflict(
		l->q, t.at, t.n, l->wheels.source,
		"the project's wheel of %s for torch %s was built with a nightly of it, before it "
		"was out",
		l->x.name, series);
}

/* A wheel that is labelled with a torch, and was built before that one was out. */
void
constraint_wheel_nightly(struct query *q)
{
	struct workspace *w = q->w;
	const struct domain *s = w->variables.at[q->variable];
	const struct recipe_extension *e = s->asked;
	struct list l = { .q = q, .x = release_of(q) };

	if (s->wheel && l.x.r)
		l.wheels = facts_extension_wheels(w->f, w->a, l.x.r);
	else if (!e || !e->url.s || !recipe_names_wheel(e->url.s) || !list_of(q, "url", &l))
		return;
	for (size_t i = 0; i < l.wheels.n; i++)
		for (size_t k = 0; l.wheels.rows[i].nightly && k < l.wheels.rows[i].torch.n; k++)
			tell_nightly(&l, variable_get(w, VARIABLE_TORCH, "torch"),
				     l.wheels.rows[i].torch.at[k]);
}

/* What such a wheel asks of the system, where its name does not say. */
void
constraint_wheel_glibc(struct query *q)
{
	const struct recipe_extension *e = q->w->variables.at[q->variable]->asked;
	struct list l;

	if (e && e->url.s && recipe_names_wheel(e->url.s) && list_of(q, "url", &l) && l.x.r) {
		l.wheels.x86_64_only = false;
		for_machine_and_system(&l);
	}
}
