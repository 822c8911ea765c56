#include "internal.h"

/* from: release: the wheels that a project built of one of its releases. */

/* Every constraint of one release begins with: it is this one, and it comes from there. */
struct list {
	struct query *q;
	struct release x;
	struct wheel_list wheels;
	struct solve_term this, from;
};

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
	unsigned build = the_variable(w, VARIABLE_BUILD);
	unsigned python = the_variable(w, VARIABLE_PYTHON);
	const char *series = version_series(w->a, r->version);
	solve_word *one = set_one(w, torch, candidate);
	struct names builds = { 0 };

	for (size_t i = 0; i < r->nvariants; i++) {
		const struct torch_variant *v = &r->variants[i];
		struct names pythons = { 0 };

		if (!pythons_of(l, series, v, &pythons))
			continue;
		list_push(w->a, &builds, v->tag);
		add_conflict(l->q,
			     TERMS(l->this, l->from, IN(torch, one),
				   IN(build, set_text(w, build, v->tag)),
				   IN(python,
				      set_not(w, python, set_named(w, python, &pythons, false)))),
			     l->wheels.source,
			     "the project's wheels of %s for torch %s and %s are for Python %s",
			     l->x.name, series, v->tag, names_words(w->a, &pythons, "and"));
	}
	if (builds.n)
		add_conflict(
			l->q,
			TERMS(l->this, l->from, IN(torch, one),
			      IN(build, set_not(w, build, set_named(w, build, &builds, true)))),
			l->wheels.source,
			"the project built wheels of %s for torch %s only with %s", l->x.name,
			series, names_words(w->a, &builds, "and"));
	else
		add_conflict(
			l->q, TERMS(l->this, l->from, IN(torch, one)), l->wheels.source,
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
	unsigned torch = the_variable(w, VARIABLE_TORCH);
	const struct solver_variable *at = variable_at(w, torch);
	struct names series = series_of_list(l);
	solve_word *none = set_none(w, torch);

	for (size_t i = 0; i < at->n; i++) {
		const struct torch_release *r = at->c[i].entry;

		if (!names_have(&series, version_series(w->a, at->c[i].text)))
			solve_set_add(none, i);
		else if (r)
			for_torch(l, torch, i, r);
	}
	add_conflict(l->q, TERMS(l->this, l->from, IN(torch, none)), l->wheels.source,
		     "the project built wheels of %s only for torch %s", l->x.name,
		     names_words(w->a, &series, "and"));
}

static void
for_machine_and_system(struct list *l)
{
	struct workspace *w = l->q->w;
	unsigned machine = the_variable(w, VARIABLE_MACHINE);
	unsigned glibc = the_variable(w, VARIABLE_GLIBC);

	if (l->wheels.x86_64_only)
		add_conflict(
			l->q,
			TERMS(l->this, l->from,
			      IN(machine, set_not(w, machine, set_text(w, machine, "x86_64")))),
			l->x.r->source, "the project built wheels of %s only for x86_64",
			l->x.name);
	if (l->wheels.glibc_min)
		add_conflict(l->q,
			     TERMS(l->this, l->from,
				   IN(glibc, set_below(w, glibc, l->wheels.glibc_min))),
			     l->x.r->source, "the project's wheels of %s need glibc %s or newer",
			     l->x.name, l->wheels.glibc_min);
}

/* What comes from packages: has no source of its own: from NULL. */
static struct list
list_of(struct query *q, const char *from)
{
	struct list l = { .q = q, .x = release_of(q), .this = THIS(q) };

	l.from = from ? comes_from(q, from) : l.this;
	if (l.x.r)
		l.wheels = facts_extension_wheels(q->w->f, q->w->a, l.x.r);
	return l;
}

void
constraint_release_wheel(struct query *q)
{
	const struct recipe_extension *e = q->w->variables.at[q->variable]->asked;
	struct list l;

	if (!e || e->from != EXT_RELEASE)
		return;
	l = list_of(q, "release");
	if (l.wheels.never)
		add_conflict(q, TERMS(l.this, l.from), l.x.r->source,
			     "the wheels of %s are not at the address that their names give: %s",
			     l.x.name, l.wheels.never);
	else if (!l.wheels.n)
		add_conflict(q, TERMS(l.this, l.from), l.x.r ? l.x.r->source : NULL,
			     "no wheels are known of %s", l.x.name);
	else
		for_all_torches(&l);
	for_machine_and_system(&l);
}

static bool
is_wheel(const struct recipe_extension *e)
{
	return e && e->url.s && recipe_names_wheel(e->url.s);
}

/* A wheel that is labelled with a torch, and was built before that one was out. */
void
constraint_wheel_nightly(struct query *q)
{
	struct workspace *w = q->w;
	const struct domain *s = w->variables.at[q->variable];
	unsigned torch = the_variable(w, VARIABLE_TORCH);
	struct list l;

	if (!s->wheel && !is_wheel(s->asked))
		return;
	l = list_of(q, s->wheel ? NULL : "url");
	for (size_t i = 0; i < l.wheels.n; i++)
		for (size_t k = 0; l.wheels.rows[i].nightly && k < l.wheels.rows[i].torch.n; k++) {
			const char *series = l.wheels.rows[i].torch.at[k];

			add_conflict(q,
				     TERMS(l.this, l.from,
					   IN(torch, set_in(w, torch,
							    arena_printf(w->a, "==%s.*", series)))),
				     l.wheels.source,
				     "the project's wheel of %s for torch %s was built with a "
				     "nightly of it, before it was out",
				     l.x.name, series);
		}
}

/* What such a wheel asks of the system, where its name does not say. */
void
constraint_wheel_glibc(struct query *q)
{
	if (is_wheel(q->w->variables.at[q->variable]->asked)) {
		struct list l = list_of(q, "url");

		l.wheels.x86_64_only = false;
		for_machine_and_system(&l);
	}
}
