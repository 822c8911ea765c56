#include "coverage.h"
#include "needs.h"

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
