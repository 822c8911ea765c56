#include "internal.h"

/* Ordinary packages: which Python a release has wheels for, and takes at all. */

/*
 * Of a release that is not listed the next newer one still says where its wheels end: an
 * older release is not built for a Python that came after it.  Candidates are the newest first.
 */
static bool
may_take(struct workspace *w, const struct solver_variable *t, const struct version *v,
	 const char *python)
{
	const struct package_release *next = NULL;
	bool may;

	for (size_t i = 0; i < t->n; i++)
		if (t->c[i].entry && t->c[i].v && version_cmp(t->c[i].v, v) > 0)
			next = t->c[i].entry;
	may = !next || !next->pythons.n;
	for (size_t i = 0; !may && i < next->pythons.n; i++)
		may = text_version_order(w, next->pythons.at[i], python) >= 0;
	return may;
}

static bool
takes(struct workspace *w, const struct solver_variable *t, const struct candidate *c,
      const struct candidate *python)
{
	const struct package_release *r = c->entry;
	const struct specifiers *s;

	if (!r)
		return !c->v || !python->v || may_take(w, t, c->v, python->text);
	if (r->pythons.n && !names_have(&r->pythons, python->text))
		return false;
	s = r->requires_python && python->v ? facts_specifiers(w->f, r->requires_python) : NULL;
	return !s || specifiers_match(s, python->v, PRE_YES);
}

/*
 * "numpy has wheels for Python 3.13 from 2.1.3 on": one fact for a Python, whichever releases
 * the recipe allows.  Candidates are the newest first, but for those that are not known.
 */
static void
wheels_for(struct query *q, const struct package_release *any, unsigned python, size_t series)
{
	struct workspace *w = q->w;
	const struct solver_variable *t = variable_at(w, q->variable);
	const struct candidate *p = &variable_at(w, python)->c[series];
	const struct package_release *first = NULL, *last = NULL;
	solve_word *without = set_none(w, q->variable);
	struct solve_term terms[2] = { IN(q->variable, without),
				       IN(python, set_one(w, python, series)) };
	const char *has;
	bool newer = false;

	for (size_t i = 0; i < t->n; i++) {
		const struct package_release *r = t->c[i].entry;

		if (!takes(w, t, &t->c[i], p)) {
			solve_set_add(without, i);
			newer |= r && !last;
		} else if (r) {
			first = r;
			last = last ? last : r;
		}
	}
	has = any->pythons.n ? "has wheels for" : "takes";
	if (!first)
		add_conflict(q, terms, 2, any->source, "no known release of %s %s Python %s",
			     t->key, has, p->text);
	else
		add_conflict(q, terms, 2, newer ? last->source : first->source,
			     newer ? "%s %s Python %s up to %s" : "%s %s Python %s from %s on",
			     t->key, has, p->text, newer ? last->version : first->version);
}

void
constraint_package_python(struct query *q, struct workspace *w)
{
	unsigned python = the_variable(w, VARIABLE_PYTHON);
	const struct solver_variable *t = variable_at(w, q->variable);
	const struct package_release *any = NULL;

	for (size_t i = 0; i < t->n; i++)
		any = t->c[i].entry ? t->c[i].entry : any;
	for (size_t i = 0; any && i < variable_at(w, python)->n; i++)
		wheels_for(q, any, python, i);
}

/* --- what nobody gets who did not ask for it --- */

void
constraint_final_release(struct query *q, struct workspace *w)
{
	const struct candidate *c = candidate_of(q);

	if (c->v && version_is_prerelease(c->v))
		add_conflict(q, TERMS(THIS(q)), NULL, "%s %s is a pre-release",
			     variable_at(w, q->variable)->label, c->text);
}

/* A tag that was never uploaded: pip would not take it, and nobody has tried it since. */
void
constraint_extension_published(struct query *q, struct workspace *w)
{
	const struct domain *s = w->variables.at[q->variable];
	const struct extension *e = s->entry;
	solve_word *tags = set_none(w, q->variable);
	bool any = false;

	if (!e || requested(w, q->variable) >= 0 ||
	    (s->asked && (s->asked->git.s || s->asked->ref.s)))
		return;
	for (size_t i = 0; i < s->t.n; i++) {
		const struct extension_release *r = s->t.c[i].entry;

		if (r && r->on_pypi)
			any = true;
		else if (r)
			solve_set_add(tags, i);
	}
	if (any)
		add_conflict(q, TERMS(IN(q->variable, tags)), e->source,
			     "where no release of %s is named one that PyPI has is taken",
			     s->t.key);
}

/* "3.13t": few wheels are made for it. */
void
constraint_python_usual(struct query *q, struct workspace *w)
{
	const char *series = candidate_of(q)->text;

	if (ends_with(series, "t"))
		add_conflict(q, TERMS(THIS(q)), NULL, "Python %s is the free-threaded one", series);
	else if (text_version_order(w, series, PYTHON_OLDEST) < 0 && w->r->python_from != PYTHON_OS)
		add_conflict(q, TERMS(THIS(q)), NULL, "Python's makers do not mend %s any more",
			     series);
}
