#include "internal.h"

/*
 * Releases as the package index has them: which of them exist, for which Python, machine and
 * C library, and their requirements.  Wheels of an extension that this stack compiles are ignored.
 */

/* --- Python and machine --- */

/* Returns true if the package has wheels for Linux with compiled code: its sdist then needs
 * compilers, and often more. With wheels for other systems only, pip always takes the sdist. */
static bool
is_built(const struct package_release *r)
{
	for (size_t i = 0; i < r->wheels.n; i++)
		if (ends_with(r->wheels.at[i], "-any"))
			return false;
	return r->wheels.n || !r->sdist;
}

/* Returns the Pythons that a specifier allows; most packages have one of a few. */
static solve_word *
pythons_in(struct workspace *w, const char *spec)
{
	solve_word *set = map_get(&w->pythons_in, spec ? spec : "");

	if (!set)
		map_put(&w->pythons_in, spec ? spec : "",
			set = spec ? set_in(w, the_variable(w, VARIABLE_PYTHON), spec) :
				     set_all(w, the_variable(w, VARIABLE_PYTHON)));
	return set;
}

/* Returns the Pythons for which a release has a wheel on the recipe's machine, or needs none. */
static struct wheel_pythons
pythons_of_wheels(struct workspace *w, const struct package_release *r)
{
	const char *machine = recipe_machine(w->r);
	struct wheel_pythons pythons = { 0 };

	if (!r->wheels_known || (r->sdist && !is_built(r)))
		return (struct wheel_pythons){ ~(uint64_t)0, ~(uint64_t)0 };
	for (size_t i = 0; i < r->wheels.n; i++)
		if (wheel_fits_machine(r->wheels.at[i], machine))
			wheel_pythons_add(&pythons, r->wheels.at[i]);
	return pythons;
}

static bool
takes(struct workspace *w, const struct package_release *r, size_t python)
{
	struct wheel_pythons pythons;

	if (!solve_set_has(pythons_in(w, r->requires_python), python))
		return false;
	pythons = pythons_of_wheels(w, r);
	return wheel_pythons_have(&pythons,
				  variable_at(w, the_variable(w, VARIABLE_PYTHON))->c[python].text);
}

static bool
same_files(const struct package_release *x, const struct package_release *y)
{
	return x && x->requires_python == y->requires_python && x->wheels.at == y->wheels.at &&
	       x->wheels_known == y->wheels_known && x->sdist == y->sdist;
}

static solve_word *
candidates_for(struct workspace *w, unsigned variable, size_t python)
{
	const struct solver_variable *t = variable_at(w, variable);
	const struct package_release *before = NULL;
	solve_word *set = set_none(w, variable);

	for (size_t i = 0; i < t->n; i++) {
		const struct candidate *c = &t->c[i];
		bool good;

		/* Of a release that is not listed, the wheels are unknown. */
		if (!c->published)
			good = true;
		else if (same_files(before, c->published))
			good = solve_set_has(set, i - 1);
		else
			good = takes(w, c->published, python);
		if (good)
			solve_set_add(set, i);
		before = c->published;
	}
	return set;
}

/* Where releases without support for a Python are: above, between, or below those with support. */
enum { NEWER, AMONG, OLDER, PARTS };
struct refusal {
	const struct package_release *first,
		*last; /* the releases that support it; NULL: none known */
	const struct package_release
		*next[PARTS];       /* for each part, the next release with support */
	solve_word *without[PARTS]; /* the releases of each part; NULL: none */
};

static int
part_of(const struct refusal *f, const struct version *v)
{
	if (!f->last || version_cmp(v, f->last->v) > 0)
		return NEWER;
	return version_cmp(v, f->first->v) < 0 ? OLDER : AMONG;
}

/* Known candidates are in order, newest first. */
static struct refusal
refusal_of(struct workspace *w, unsigned variable, size_t python)
{
	const struct solver_variable *t = variable_at(w, variable);
	const solve_word *with = candidates_for(w, variable, python);
	struct refusal f = { 0 };

	for (size_t i = 0; i < t->n; i++)
		if (t->c[i].published && solve_set_has(with, i)) {
			f.first = t->c[i].published;
			f.last = f.last ? f.last : f.first;
		}
	for (size_t i = 0; i < t->n; i++) {
		const struct candidate *c = &t->c[i];
		int part;

		if (solve_set_has(with, i))
			continue;
		part = part_of(&f, c->v);
		if (!f.without[part])
			f.without[part] = set_none(w, variable);
		solve_set_add(f.without[part], i);
		if (part == NEWER || !f.next[part])
			f.next[part] = c->published;
	}
	return f;
}

/* Returns "has wheels for", or "takes" if only its metadata rejects the Python. */
static const char *
verb_of(struct workspace *w, const struct package_release *r, const char *python)
{
	struct wheel_pythons pythons = pythons_of_wheels(w, r);

	return wheel_pythons_have(&pythons, python) ? "takes" : "has wheels for";
}

/* "numpy has wheels for Python 3.13 from 2.1.3 on": a fact about one Python and all releases. */
static void
add_part(struct query *q, const struct refusal *f, int part, size_t candidate)
{
	struct workspace *w = q->w;
	const struct solver_variable *t = variable_at(w, q->variable);
	unsigned python = the_variable(w, VARIABLE_PYTHON);
	const char *series = variable_at(w, python)->c[candidate].text, *on = "";
	const struct package_release *r = f->next[part];
	const char *verb = verb_of(w, r, series);
	int asked = requested_in(w, q->variable, f->without[part]);
	struct solve_term terms[2] = { IN(q->variable, f->without[part]),
				       IN(python, set_one(w, python, candidate)) };

	if (strcmp(verb, "takes") != 0 && strcmp(recipe_machine(w->r), "x86_64") != 0)
		on = arena_printf(w->a, " on %s", recipe_machine(w->r));
	if (!f->last && asked >= 0 && facts_package(w->f, t->key)->sample)
		add_conflict(q, terms, 2, package_release_source(w->f, r),
			     strcmp(verb, "takes") ? "%s %s has no wheel for Python %s%s" :
						     "%s %s does not support Python %s%s",
			     t->key, t->c[asked].text, series, on);
	else if (!f->last)
		add_conflict(q, terms, 2, package_release_source(w->f, r),
			     "no known release of %s %s Python %s%s", t->key, verb, series, on);
	else if (part == AMONG && asked >= 0)
		add_conflict(q, terms, 2, package_release_source(w->f, r),
			     "%s %s does not support Python %s%s", t->key, t->c[asked].text, series,
			     on);
	else if (part == AMONG)
		add_conflict(q, terms, 2, package_release_source(w->f, r),
			     "not all releases of %s from %s to %s support Python %s%s", t->key,
			     f->first->version, f->last->version, series, on);
	else
		add_conflict(q, terms, 2,
			     package_release_source(w->f, part == NEWER ? f->last : f->first),
			     part == NEWER ? "%s %s Python %s%s up to %s" :
					     "%s %s Python %s%s from %s on",
			     t->key, verb, series, on,
			     part == NEWER ? f->last->version : f->first->version);
}

/* Called when the solver has tried both the package and the Python: it never tries most Pythons. */
static void
add_refusal(struct query *q, size_t python)
{
	struct workspace *w = q->w;
	const struct domain *s = w->variables.at[q->variable];
	struct refusal f = { 0 };

	if (facts_package(w->f, s->t.key) && facts_package(w->f, s->t.key)->n &&
	    is_from_pypi(w, s->t.key))
		f = refusal_of(w, q->variable, python);
	for (int part = 0; part < PARTS; part++)
		if (f.without[part])
			add_part(q, &f, part, python);
}

void
constraint_release_python(struct query *q, struct workspace *w)
{
	const struct domain *python = w->variables.at[the_variable(w, VARIABLE_PYTHON)];

	for (size_t i = 0; python->given && i < python->t.n; i++)
		if (python->given[i].made)
			add_refusal(q, i);
}

void
constraint_python_release(struct query *q, struct workspace *w)
{
	for (unsigned i = 0; i < w->variables.n; i++) {
		const struct domain *s = w->variables.at[i];
		struct query of = *q;

		of.variable = i;
		if ((s->t.kind == VARIABLE_PACKAGE || s->t.kind == VARIABLE_EXTENSION) &&
		    s->given && s->given[s->t.n].made)
			add_refusal(&of, q->candidate);
	}
}

/* --- C library --- */

/* Requires the C library of the most portable wheel for a Python that the recipe allows. */
void
constraint_release_glibc(struct query *q, struct workspace *w)
{
	const struct package_release *r = candidate_of(q)->published;
	unsigned glibc = the_variable(w, VARIABLE_GLIBC), python = the_variable(w, VARIABLE_PYTHON);
	int asked = requested(w, python);
	const char *series = asked < 0 ? NULL : variable_at(w, python)->c[asked].text;
	unsigned long least = 0;
	struct wheel_pythons pythons;

	if (!r || !is_built(r) || !is_from_pypi(w, variable_at(w, q->variable)->key))
		return;
	for (size_t i = 0; i < r->wheels.n; i++) {
		const char *tag = r->wheels.at[i];
		unsigned long minor = wheel_glibc(tag);

		pythons = (struct wheel_pythons){ 0 };
		wheel_pythons_add(&pythons, tag);
		if (!wheel_fits_machine(tag, recipe_machine(w->r)) ||
		    (series && !wheel_pythons_have(&pythons, series)))
			continue;
		if (!minor)
			return;
		least = !least || minor < least ? minor : least;
	}
	if (least)
		add_allows(q, glibc, set_in(w, glibc, arena_printf(w->a, ">=2.%lu", least)),
			   package_release_source(w->f, r),
			   "the wheels of %s %s need glibc 2.%lu or newer",
			   variable_at(w, q->variable)->label, r->version, least);
}

/* --- existence --- */

/* pip selects a withdrawn release only if a requirement pins it. */
void
constraint_release_yanked(struct query *q, struct workspace *w)
{
	const struct package_release *r = candidate_of(q)->published;

	if (r && r->yanked && requested(w, q->variable) != (int)q->candidate)
		add_conflict(q, TERMS(THIS(q)), package_release_source(w->f, r),
			     "%s %s was withdrawn", variable_at(w, q->variable)->label, r->version);
}

/* Returns the listed releases before and after a version: "the nearest are 1.26.4 and 2.0.0". */
static const char *
neighbours(struct workspace *w, const struct python_package *p, const struct version *v)
{
	struct names all = { 0 };
	size_t i = 0;

	while (i < p->n && version_cmp(p->releases[i].v, v) < 0)
		i++;
	if (i)
		list_push(w->a, &all, p->releases[i - 1].version);
	if (i < p->n)
		list_push(w->a, &all, p->releases[i].version);
	return arena_printf(w->a, "the nearest %s %s", all.n > 1 ? "are" : "is",
			    names_words(w->a, &all, "and"));
}

/* Rejects a version in the recipe that the index never had. */
void
constraint_release_exists(struct query *q, struct workspace *w)
{
	const struct domain *s = w->variables.at[q->variable];
	const struct candidate *c = candidate_of(q);
	const struct python_package *p = facts_package(w->f, s->t.key);

	if (c->known || !c->v || !p || strpbrk(c->text, "<>~!") || !is_from_pypi(w, s->t.key) ||
	    !package_lacks(w->f, p, c->v))
		return;
	add_conflict(q, TERMS(THIS(q)), p->source, "%s has no release %s: %s", s->t.label, c->text,
		     neighbours(w, p, c->v));
}
