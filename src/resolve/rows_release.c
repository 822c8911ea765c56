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
row_is_for(const struct wheel_row *row, const char *series, const struct torch_variant *v)
{
	unsigned major = cuda_major_of_tag(v->tag);
	bool cuda = false;

	for (size_t i = 0; i < row->cuda.n; i++)
		cuda |= major && cuda_major_of_tag(row->cuda.at[i]) == major;
	return cuda && !row->nightly && names_have(&row->torch, series) &&
	       (v->cxx11abi == TRI_UNKNOWN ||
		(v->cxx11abi == TRI_YES ? row->abi_new : row->abi_old));
}

/* A torch for which there is a wheel at all: with which builds, and which Pythons. */
static void
for_torch(struct list *l, unsigned torch, size_t candidate, const struct torch_release *r)
{
	struct workspace *w = l->q->w;
	const char *series = version_series(w->a, r->version);
	struct solve_term one = IN(torch, set_one(w, torch, candidate));
	struct names builds = { 0 };

	for (const struct torch_variant *v = r->variants; v < r->variants + r->nvariants; v++) {
		struct names pythons = { 0 };

		for (size_t i = 0; i < l->wheels.n; i++) {
			const struct wheel_row *row = &l->wheels.rows[i];

			for (size_t k = 0; row_is_for(row, series, v) && k < row->pythons.n; k++)
				names_once(w->a, &pythons, row->pythons.at[k]);
		}
		if (!pythons.n)
			continue;
		list_push(w->a, &builds, v->tag);
		add_conflict(l->q,
			     TERMS(l->this, l->from, one, IS(w, VARIABLE_BUILD, set_text, v->tag),
				   IS_NOT(w, VARIABLE_PYTHON, set_named, &pythons, false)),
			     l->wheels.source,
			     "the project's wheels of %s for torch %s and %s are for Python %s",
			     l->x.name, series, v->tag, names_words(w->a, &pythons, "and"));
	}
	if (builds.n)
		add_conflict(l->q,
			     TERMS(l->this, l->from, one,
				   IS_NOT(w, VARIABLE_BUILD, set_named, &builds, true)),
			     l->wheels.source,
			     "the project built wheels of %s for torch %s only with %s", l->x.name,
			     series, names_words(w->a, &builds, "and"));
	else
		add_conflict(l->q, TERMS(l->this, l->from, one), l->wheels.source,
			     "the project's wheels of %s for torch %s are of another C++ ABI or "
			     "CUDA than any torch %s",
			     l->x.name, series, series);
}

static void
for_all_torches(struct list *l)
{
	struct workspace *w = l->q->w;
	unsigned torch = the_variable(w, VARIABLE_TORCH);
	const struct solver_variable *at = variable_at(w, torch);
	struct names series = { 0 };
	solve_word *none = set_none(w, torch);

	for (size_t i = 0; i < l->wheels.n; i++)
		for (size_t k = 0; !l->wheels.rows[i].nightly && k < l->wheels.rows[i].torch.n; k++)
			names_once(w->a, &series, l->wheels.rows[i].torch.at[k]);
	for (size_t i = 0; i < at->n; i++) {
		if (!names_have(&series, version_series(w->a, at->c[i].text)))
			solve_set_add(none, i);
		else if (at->c[i].entry)
			for_torch(l, torch, i, at->c[i].entry);
	}
	add_conflict(l->q, TERMS(l->this, l->from, IN(torch, none)), l->wheels.source,
		     "the project built wheels of %s only for torch %s", l->x.name,
		     names_words(w->a, &series, "and"));
}

static void
for_glibc(struct list *l)
{
	struct workspace *w = l->q->w;

	if (l->wheels.glibc_min)
		add_conflict(l->q,
			     TERMS(l->this, l->from,
				   IS(w, VARIABLE_GLIBC, set_below, l->wheels.glibc_min)),
			     l->x.r->source, "the project's wheels of %s need glibc %s or newer",
			     l->x.name, l->wheels.glibc_min);
}

/* from NULL: it comes from packages:, and has no source of its own. */
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
constraint_release_wheel(struct query *q, struct workspace *w)
{
	const struct recipe_extension *e = w->variables.at[q->variable]->asked;
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
	if (l.wheels.x86_64_only)
		add_conflict(
			q, TERMS(l.this, l.from, IS_NOT(w, VARIABLE_MACHINE, set_text, "x86_64")),
			l.x.r->source, "the project built wheels of %s only for x86_64", l.x.name);
	for_glibc(&l);
}

bool
is_wheel(const struct recipe_extension *e)
{
	return e && e->url.s && recipe_names_wheel(e->url.s);
}

/*
 * What is known of a project's wheel by its URL, where its name does not say: the system that it
 * needs; as a warning, that it is labelled with a torch, and was built before that one was out.
 */
void
constraint_wheel_of_project(struct query *q, struct workspace *w)
{
	const struct domain *s = w->variables.at[q->variable];
	bool warns = q->kind->strength == STRENGTH_WARNING;
	struct list l;

	if (!is_wheel(s->asked) && !(warns && s->wheel))
		return;
	l = list_of(q, warns && s->wheel ? NULL : "url");
	if (!warns)
		for_glibc(&l);
	for (const struct wheel_row *row = l.wheels.rows; row < l.wheels.rows + l.wheels.n; row++)
		for (size_t k = 0; warns && row->nightly && k < row->torch.n; k++)
			add_conflict(q,
				     TERMS(l.this, l.from,
					   IS(w, VARIABLE_TORCH, set_in,
					      arena_printf(w->a, "==%s.*", row->torch.at[k]))),
				     l.wheels.source,
				     "the project's wheel of %s for torch %s was built with a "
				     "nightly of it, before it was out",
				     l.x.name, row->torch.at[k]);
}
