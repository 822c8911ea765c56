#include "internal.h"

/* torch: the builds and Pythons of a release, its dependencies, and limits on other packages. */

/*
 * A private index can have any build, and check_vendor() rejects those for GPUs of other vendors. If it lists only PyPI's build of a release, others may exist: an unlisted build is
 * then only a warning.
 */
void
constraint_torch_build(struct query *q, struct workspace *w)
{
	const struct torch_release *t = ENTRY(q);
	unsigned build = the_variable(w, VARIABLE_BUILD);
	bool custom = has_own_build(w), warns = q->kind->strength == STRENGTH_WARNING;
	struct names tags = { 0 };
	size_t with_cuda = 0;

	for (size_t i = 0; t && i < t->nvariants; i++) {
		list_push(w->a, &tags, t->variants[i].tag);
		with_cuda += t->variants[i].cuda != NULL;
	}
	if (warns && tags.n && !custom)
		add_allows(q, build,
			   SET_WHERE(w, build, c,
				     names_have(&tags, c->text) || is_other_vendor(c->text)),
			   t->source, "the knowledge base lists torch %s only as %s", t->version,
			   names_words(w->a, &tags, "and"));
	else if (!warns && t)
		add_requires(q, build,
			     SET_WHERE(w, build, c,
				       custom || with_cuda < 2 || !cuda_of_tag(w->a, c->text) ||
					       names_have(&tags, c->text)),
			     t->source, "torch %s was published only as %s", t->version,
			     names_words(w->a, &tags, "and"));
}

void
constraint_torch_python(struct query *q, struct workspace *w)
{
	const struct torch_release *t = ENTRY(q);

	if (!t || !t->pythons.n || has_own_build(w))
		return;
	add_conflict(q, TERMS(THIS(q), IS_NOT(w, VARIABLE_PYTHON, set_named, &t->pythons, false)),
		     t->source, "torch %s has wheels for Python %s", t->version,
		     names_words(w->a, &t->pythons, "and"));
}

/* Selects the build that `index: pypi` means; it depends on the release. */
void
constraint_torch_pypi(struct query *q, struct workspace *w)
{
	const struct torch_release *t = ENTRY(q);
	const struct torch_variant *v = t ? torch_variant_on_pypi(t) : NULL;
	int index = variable_find(w, "torch index");

	if (v && index >= 0)
		add_conflict(q,
			     TERMS(THIS(q), THERE(w, (unsigned)index),
				   LACKS(w, VARIABLE_BUILD, set_text, v->tag)),
			     v->source, "PyPI's torch %s is the %s build", t->version, v->tag);
}

/*
 * Returns true for a release that never existed: PyPI has only the listed ones between the oldest
 * and the newest.
 */
bool
torch_never(struct workspace *w, const char *version, const char *nearest[2])
{
	const struct version *v = facts_version(w->f, version);
	size_t n, i = 0;
	const struct torch_release *const *all = facts_torch_all(w->f, &n);

	if (!v || version_is_prerelease(v) || has_own_build(w) || torch_of_base(w))
		return false;
	while (i < n && text_version_order(w, all[i]->version, version) < 0)
		i++;
	if (!i || i == n || !text_version_order(w, all[i]->version, version))
		return false;
	nearest[0] = all[i - 1]->version;
	nearest[1] = all[i]->version;
	return true;
}

void
constraint_torch_exists(struct query *q, struct workspace *w)
{
	const struct candidate *c = candidate_of(q);
	const char *nearest[2];

	if (!c->known && c->v && !strpbrk(c->text, "<>~!") && torch_never(w, c->text, nearest))
		add_conflict(q, TERMS(THIS(q)), facts_torch(w->f, nearest[0])->source,
			     "torch has no release %s: the nearest are %s and %s", c->text,
			     nearest[0], nearest[1]);
}

/* --- preferences --- */

/* Returns the build for a CUDA series, or NULL; it prefers PyPI's build. */
static const struct torch_variant *
build_for(const struct torch_release *t, const char *cuda)
{
	const struct torch_variant *found = NULL;

	for (const struct torch_variant *v = t->variants; v < t->variants + t->nvariants; v++)
		if (version_same_series(v->cuda, cuda) && (!found || v->on_pypi))
			found = v;
	return found;
}

/* Prefers the build for the required CUDA, or PyPI's. */
void
constraint_torch_prefer_build(struct query *q, struct workspace *w)
{
	const struct torch_release *t = ENTRY(q);
	const struct torch_variant *v = t ? build_for(t, requested_cuda(w)) : NULL;

	if (!v)
		v = t ? torch_variant_on_pypi(t) : NULL;
	if (v && !w->r->torch.index.s)
		add_conflict(q, TERMS(THIS(q), IS_NOT(w, VARIABLE_BUILD, set_text, v->tag)),
			     v->source,
			     v->on_pypi ? "the %s build of torch %s is the one on PyPI" :
					  "the %s build of torch %s is for the required CUDA",
			     v->tag, t->version);
}

/* Prefers a release with a build for the required CUDA. */
void
constraint_torch_prefer_cuda(struct query *q, struct workspace *w)
{
	const struct torch_release *t = ENTRY(q);
	const char *cuda = requested_cuda(w);

	if (t && cuda && !is_requested(w, q->variable) && !build_for(t, cuda) &&
	    !set_is_empty(w, q->variable,
			  SET_WHERE(w, q->variable, c, c->entry && build_for(c->entry, cuda))))
		add_conflict(q, TERMS(THIS(q)), t->source, "torch %s has no build for CUDA %s",
			     t->version, cuda);
}

/* --- its limits on other packages --- */

void
constraint_torch_numpy(struct query *q, struct workspace *w)
{
	const struct torch_release *t = ENTRY(q);
	unsigned numpy = variable_get(w, VARIABLE_PACKAGE, "numpy");

	if (t && t->numpy2 == TRI_NO)
		add_allows(q, numpy, set_in(w, numpy, "<2"), t->source,
			   "torch %s was compiled against numpy 1 and does not work with numpy 2",
			   t->version);
}

/* torch's wheels for x86_64 pin NVIDIA's packages, which other packages require, too. */
void
constraint_torch_nvidia(struct query *q, struct workspace *w)
{
	unsigned torch = the_variable(w, VARIABLE_TORCH);
	const struct solver_variable *t = variable_at(w, torch), *own = variable_at(w, q->variable);
	const struct candidate *c = candidate_of(q);

	if (!starts_with(own->key, "nvidia-") || !c->v || torch_of_base(w) || has_own_build(w) ||
	    strcmp(recipe_machine(w->r), "x86_64") != 0)
		return;
	for (size_t i = 0; i < t->n; i++) {
		const struct torch_release *r = t->c[i].entry;

		for (size_t k = 0; r && k < r->nvariants; k++) {
			const char *tag = r->variants[k].tag, *source;
			const char *spec =
				facts_torch_nvidia(w->f, r->version, tag, own->key, &source);

			if (spec && !specifiers_match(facts_specifiers(w->f, spec), c->v))
				add_conflict(q,
					     TERMS(THIS(q), IN(torch, set_one(w, torch, i)),
						   IS(w, VARIABLE_BUILD, set_text, tag)),
					     source, "the %s build of torch %s requires %s%s", tag,
					     r->version, own->key, spec);
		}
	}
}
