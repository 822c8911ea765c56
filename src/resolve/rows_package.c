#include "internal.h"

/*
 * What the knowledge says must fit between two packages, whoever brings them.
 *
 * A pairing is one fact for a whole range of releases, not one for each: what follows from
 * it is then learnt once.  Where the recipe requires one release of the range its sentence
 * names that one, for that is what the reader has before his eyes.
 */

/*
 * Releases in the range; of what is not known none: a commit, or releases that are newer than all
 * that are known.  What is true of every release is true of the one that pip will take, too.
 */
static solve_word *
numbered_in(struct workspace *w, unsigned variable, const char *spec)
{
	const struct solver_variable *t = variable_at(w, variable);
	solve_word *set = set_in(w, variable, spec);

	for (size_t i = 0; i < t->n; i++) {
		const struct candidate *c = &t->c[i];

		if ((*c->text || strcmp(spec, ">=0") != 0) &&
		    (!c->v ||
		     (!c->known && !facts_version(w->f, c->text) && strpbrk(c->text, ">~"))))
			solve_set_remove(set, i);
	}
	return set;
}

static const char *
sentence(struct query *q, const struct pairing *p, const solve_word *these, const char *other)
{
	struct workspace *w = q->w;
	int asked = requested_in(w, q->variable, these);
	const char *of =
		asked >= 0 ? variable_at(w, q->variable)->c[asked].text : spec_label(w->a, p->spec);

	return arena_printf(w->a, "%s%s%s needs %s %s: %s", p->name, *of ? " " : "", of, other,
			    spec_label(w->a, p->needs), p->why);
}

/* Asked of the variable on the left: what need not be there is made known, not needed. */
void
constraint_pairs(struct query *q, struct workspace *w)
{
	const char *key = variable_at(w, q->variable)->key;
	bool inferred = q->kind->strength == STRENGTH_WARNING;
	size_t n;
	const struct pairing *all = key ? facts_pairings(w->f, key, &n) : NULL;

	for (const struct pairing *p = all; p < all + n; p++) {
		solve_word *these, *those;
		unsigned other;

		/* torch says of numpy release by release what it takes (torch_numpy). */
		if (p->inferred != inferred ||
		    (!strcmp(p->name, "numpy") && !strcmp(p->other, "torch")))
			continue;
		these = numbered_in(w, q->variable, p->spec);
		if (set_is_empty(w, q->variable, these))
			continue;
		other = variable_named(w, p->other);
		those = set_in(w, other, p->needs);
		add_conflict(q,
			     TERMS(IN(q->variable, these),
				   p->optional ? IN(other, set_not(w, other, those)) :
						 NOT_IN(other, those)),
			     p->source, "%s", sentence(q, p, these, variable_at(w, other)->label));
	}
}

/* --- torchvision and torchaudio --- */

/* True if a range in the knowledge says which torch a release takes. */
static bool
has_pairing(struct workspace *w, const char *key, const struct version *v)
{
	size_t n;
	const struct pairing *all = facts_pairings(w->f, key, &n);

	for (size_t i = 0; i < n; i++)
		if (!strcmp(all[i].other, "torch") &&
		    specifiers_match(facts_specifiers(w->f, all[i].spec), v, PRE_YES))
			return true;
	return false;
}

/*
 * Each release was built for one torch, which its metadata pins.  Of one that is no pair's
 * at least the series tells for which it cannot be.
 */
void
constraint_companion(struct query *q, struct workspace *w)
{
	const struct solver_variable *own = variable_at(w, q->variable), *t;
	const struct candidate *c = &own->c[q->candidate];
	unsigned torch = the_variable(w, VARIABLE_TORCH);
	const char *first = NULL, *source = NULL;
	solve_word *those = set_none(w, torch);

	if (!is_companion(own->key) || !c->v || has_pairing(w, own->key, c->v))
		return;
	t = variable_at(w, torch);
	for (size_t i = 0; i < t->n; i++) {
		const struct torch_release *r = t->c[i].entry;
		const char *pair = r ? torch_companion(r, own->key) : NULL;

		if (!r || (pair && (c->known ? !text_version_order(w, pair, c->text) :
					       version_same_series(pair, c->text)))) {
			solve_set_add(those, i);
			if (r) {
				first = r->version;
				source = r->source;
			}
		}
	}
	if (first)
		add_allows(q, torch, those, source, "%s %s was built only for torch %s", own->key,
			   c->text, c->known ? first : version_series(w->a, first));
}

/* The pair of a torch, where more than one would do. */
void
constraint_companion_pair(struct query *q, struct workspace *w)
{
	static const char *const keys[] = { "torchvision", "torchaudio" };
	const struct torch_release *t = ENTRY(q);

	for (size_t i = 0; t && i < 2; i++) {
		const char *pair = torch_companion(t, keys[i]);
		int other = variable_find(w, keys[i]);

		if (pair && other >= 0)
			add_allows(q, (unsigned)other, set_text(w, (unsigned)other, pair),
				   t->source, "%s %s is the pair of torch %s", keys[i], pair,
				   t->version);
	}
}

/* --- ordinary packages: which Python a release has wheels for, and takes at all --- */

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
