#include "coverage.h"

/*
 * Pairings of two packages in the knowledge base, from any source.
 *
 * A pairing is one fact for a whole range of releases, so that the solver learns its consequences
 * once. If the recipe requires one release of the range, the sentence names only that release.
 */

static bool
includes(struct workspace *w, const struct pairing *p, const struct specifiers *spec,
	 const struct solver_variable *t, const struct candidate *c)
{
	/* A fact about every release also holds for the one that pip selects. */
	if (!*c->text)
		return !strcmp(p->spec, ">=0");
	return c->v && specifiers_match(spec, c->v) &&
	       (specifiers_pin(spec) || !candidate_beyond(w, t, c)) &&
	       (c->known || facts_version(w->f, c->text) || !strpbrk(c->text, ">~"));
}

bool
pairing_includes(struct workspace *w, const struct solver_variable *t, const struct candidate *c,
		 const struct pairing *p)
{
	return includes(w, p, facts_specifiers(w->f, p->spec), t, c);
}

const struct pairing *
pairing_next(struct workspace *w, const struct solver_variable *t, const struct candidate *c,
	     size_t *i)
{
	size_t n;
	const struct pairing *all = facts_pairings(w->f, t->key, &n);

	while (*i < n && !pairing_includes(w, t, c, &all[*i]))
		++*i;
	return *i < n ? &all[(*i)++] : NULL;
}

bool
has_pairing(struct workspace *w, const struct solver_variable *t, const struct candidate *c,
	    const char *other)
{
	const struct pairing *p;
	size_t i = 0;

	while ((p = pairing_next(w, t, c, &i)))
		if (!strcmp(p->other, other))
			return true;
	return false;
}

static const char *
sentence(struct workspace *w, const struct pairing *p, unsigned own, const solve_word *these,
	 const char *other)
{
	int asked = requested_in(w, own, these);
	const char *of =
		asked >= 0 ? variable_at(w, own)->c[asked].text : spec_label(w->a, p->spec);

	return arena_printf(w->a, "%s%s%s needs %s %s: %s", p->name, *of ? " " : "", of, other,
			    spec_label(w->a, p->needs), p->why);
}

static void
add_pair(struct query *q, const struct pairing *p, unsigned own)
{
	struct workspace *w = q->w;
	const struct solver_variable *t = variable_at(w, own);
	const struct specifiers *spec = facts_specifiers(w->f, p->spec);
	solve_word *these = SET_WHERE(w, own, c, includes(w, p, spec, t, c)), *those;
	struct constraint *why;
	unsigned other;

	if (set_is_empty(w, own, these))
		return;
	other = variable_named(w, p->other);
	those = set_in(w, other, p->needs);
	/* A release that the knowledge base only names may be in the set, and pip selects it. */
	if (variable_at(w, other)->kind == VARIABLE_PACKAGE && set_is_empty(w, other, those) &&
	    !is_requested(w, other)) {
		list_push(w->a, &w->unlisted, (struct waiting_pair){ p, own });
		return;
	}
	why = add_conflict(q,
			   TERMS(IN(own, these), p->optional ? IN(other, set_not(w, other, those)) :
							       NOT_IN(other, those)),
			   p->source, "%s",
			   sentence(w, p, own, these, variable_at(w, other)->label));
	if (why)
		why->needs = p->needs;
}

/* The pairings of an absent optional package wait until another package requires it. */
static bool
may_wait(const struct workspace *w, const struct pairing *p)
{
	return p->optional && strcmp(p->other, "torch") != 0 && strcmp(p->other, "python") != 0 &&
	       variable_find(w, p->other) < 0;
}

/* The pairing is added for the left variable, or for the right one if the solver decides it
 * later. */
void
constraint_pairs(struct query *q, struct workspace *w)
{
	const char *key = variable_at(w, q->variable)->key;
	bool inferred = q->kind->strength == STRENGTH_WARNING;
	size_t n = 0;
	const struct pairing *all = key ? facts_pairings(w->f, key, &n) : NULL;

	for (const struct pairing *p = all; p && p < all + n; p++) {
		/* torch's own limits on numpy are in torch_numpy. */
		if (p->inferred != inferred ||
		    (!strcmp(p->name, "numpy") && !strcmp(p->other, "torch")))
			continue;
		if (may_wait(w, p))
			list_push(w->a, &w->waiting, (struct waiting_pair){ p, q->variable });
		else
			add_pair(q, p, q->variable);
	}
	for (size_t i = 0; key && i < w->waiting.n; i++) {
		const struct waiting_pair *one = &w->waiting.at[i];

		if (one->pairing->inferred == inferred && !strcmp(one->pairing->other, key))
			add_pair(q, one->pairing, one->own);
	}
}

/* --- torchvision and torchaudio --- */

/*
 * Each release was built for one torch, which its metadata pins. For a release without a pair, its
 * series excludes at least some torch releases.
 */
void
constraint_companion(struct query *q, struct workspace *w)
{
	const struct solver_variable *own = variable_at(w, q->variable), *t;
	const struct candidate *c = &own->c[q->candidate];
	unsigned torch = the_variable(w, VARIABLE_TORCH);
	const char *first = NULL, *source = NULL;
	solve_word *those = set_none(w, torch);

	if (!is_companion(own->key) || !c->v || has_pairing(w, own, c, "torch"))
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

/* Prefers the release that was built for a torch, if several are compatible. */
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
				   t->source, "%s %s is the release for torch %s", keys[i], pair,
				   t->version);
	}
}

/* --- releases that are selected only on request --- */

void
constraint_final_release(struct query *q, struct workspace *w)
{
	const struct candidate *c = candidate_of(q);

	if (c->v && version_is_prerelease(c->v))
		add_conflict(q, TERMS(THIS(q)), NULL, "%s %s is a pre-release",
			     variable_at(w, q->variable)->label, c->text);
}

/* Excludes a tag that was never uploaded: pip does not find it, and it is untested. */
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
			     "if no release of %s is named, stackbuild selects one that PyPI has",
			     s->t.key);
}

/* Avoids free-threaded Pythons ("3.13t"): few packages have wheels for them. */
void
constraint_python_usual(struct query *q, struct workspace *w)
{
	const char *series = candidate_of(q)->text;

	if (ends_with(series, "t"))
		add_conflict(q, TERMS(THIS(q)), NULL, "Python %s is the free-threaded build",
			     series);
	else if (text_version_order(w, series, PYTHON_OLDEST) < 0 && w->r->python_from != PYTHON_OS)
		add_conflict(q, TERMS(THIS(q)), NULL, "the Python project no longer maintains %s",
			     series);
}
