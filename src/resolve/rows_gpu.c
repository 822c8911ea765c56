#include "internal.h"

/* GPUs: the code in torch's build, and the targets of extensions. */

static const char *
cc_of(struct workspace *w, unsigned gpu)
{
	return variable_at(w, gpu)->c[0].text;
}

const char *
gpu_label(struct workspace *w, unsigned gpu)
{
	const struct solver_variable *t = variable_at(w, gpu);

	return !strcmp(t->label, t->c[0].text) ?
		       arena_printf(w->a, "compute capability %s", t->label) :
		       arena_printf(w->a, "`%s` (compute capability %s)", t->label, t->c[0].text);
}

/* --- GPU <-> torch's build --- */

/* An unknown list counts as code that runs on the GPU; resolve_coverage() reports it. */
static bool
runs(const struct workspace *w, const struct torch_variant *v, const char *cc)
{
	const struct names *archs = build_archs(w, v);

	return !archs->n || capability_runs(archs, cc);
}

/* Returns the PTX of the wheels for x86_64: the inspected wheels for aarch64 contain none. */
static const char *
ptx_of(const struct workspace *w, const struct torch_variant *v)
{
	return build_archs(w, v) == &v->archs ? v->ptx : NULL;
}

/*
 * Returns true if the missing support of an old GPU is only inferred: no source states it, unless
 * the toolkit of the build could not compile for this GPU or a similar older one.
 */
static bool
is_inferred(const struct workspace *w, const struct torch_variant *v, const char *cc)
{
	const struct cuda_toolkit *t;

	if (!v->archs_inferred || build_archs(w, v) != &v->archs ||
	    capability_order(cc, v->archs.at[0]) >= 0)
		return false;
	t = v->cuda ? facts_cuda(w->f, version_series(w->a, v->cuda)) : NULL;
	return !t || !t->archs.n || capability_runs(&t->archs, cc);
}

/* Finds the builds of a tag, over all torch releases, that have the same code and none for the
 * GPU. */
static void
code_for(struct query *q, unsigned gpu, bool inferred)
{
	struct workspace *w = q->w;
	const char *tag = candidate_of(q)->text, *cc = cc_of(w, gpu);
	unsigned torch = the_variable(w, VARIABLE_TORCH);
	const struct solver_variable *at = variable_at(w, torch);
	struct groups all = { 0 };

	for (size_t i = 0; i < at->n; i++) {
		const struct torch_release *r = at->c[i].entry;
		const struct torch_variant *v = r ? torch_variant(r, tag) : NULL;

		if (v && !runs(w, v, cc) && !capability_ptx_runs(ptx_of(w, v), cc) &&
		    is_inferred(w, v, cc) == inferred)
			group_add(w, &all, torch, i, names_words(w->a, build_archs(w, v), "and"),
				  v->source);
	}
	list_each (x, &all)
		add_conflict(q, TERMS(THIS(q), IN(torch, x->these), THERE(w, gpu)), x->source,
			     "the %s build of torch %s %s code for compute capability %s, and none "
			     "for %s",
			     tag, group_label(w, torch, x), inferred ? "seems to have" : "has",
			     x->why, gpu_label(w, gpu));
}

void
constraint_gpu_torch(struct query *q, struct workspace *w)
{
	unsigned gpu;

	if (torch_of_base(w) && w->image.own_torch)
		return;
	for (size_t i = 0; next_gpu(w, &i, &gpu);)
		code_for(q, gpu, q->kind->strength == STRENGTH_WARNING);
}

/*
 * Rejects an unknown build: its CUDA cannot compile for the GPU, and no torch has a build of that
 * tag with PTX that the GPU's driver could compile.
 */
void
constraint_gpu_build(struct query *q, struct workspace *w)
{
	const char *tag = candidate_of(q)->text, *series = cuda_of_tag(w->a, tag);
	const struct cuda_toolkit *made = series ? facts_cuda(w->f, series) : NULL;
	unsigned torch = the_variable(w, VARIABLE_TORCH), gpu;
	solve_word *without = SET_WHERE(w, torch, c, !c->entry || !torch_variant(c->entry, tag));
	const struct torch_variant *v;

	for (size_t i = 0; made && made->archs.n && next_gpu(w, &i, &gpu);) {
		const char *cc = cc_of(w, gpu);
		solve_word *ptx = SET_WHERE(w, torch, c,
					    c->entry && (v = torch_variant(c->entry, tag)) &&
						    capability_ptx_runs(ptx_of(w, v), cc));

		if (!capability_runs(&made->archs, cc) && set_is_empty(w, torch, ptx))
			add_conflict(
				q, TERMS(THIS(q), IN(torch, without), THERE(w, gpu)), made->source,
				"CUDA %s, the toolkit of a %s build, cannot compile code for %s",
				series, tag, gpu_label(w, gpu));
	}
}

/* The driver compiles PTX, so it must be as new as the toolkit that made the PTX. */
void
constraint_gpu_ptx(struct query *q, struct workspace *w)
{
	const struct torch_release *r = ENTRY(q);
	unsigned gpu;
	int driver = r && !has_own_build(w) ? variable_find(w, "driver") : -1;
	const char *cc;

	for (size_t i = 0; driver >= 0 && next_gpu(w, &i, &gpu);)
		for (size_t k = 0; k < r->nvariants; k++) {
			const struct torch_variant *v = &r->variants[k];
			const struct cuda_toolkit *made =
				v->cuda ? facts_cuda(w->f, v->cuda) : NULL;

			cc = cc_of(w, gpu);
			if (made && made->driver_min && !runs(w, v, cc) &&
			    capability_ptx_runs(ptx_of(w, v), cc))
				add_conflict(
					q,
					TERMS(THIS(q), IS(w, VARIABLE_BUILD, set_text, v->tag),
					      THERE(w, gpu),
					      IN((unsigned)driver,
						 set_below(w, (unsigned)driver, made->driver_min))),
					v->source,
					"the %s build of torch %s reaches %s only through "
					"PTX, which a driver older than %s does not compile",
					v->tag, r->version, gpu_label(w, gpu), made->driver_min);
		}
}

/* --- extension <-> nvcc, GPU --- */

/*
 * Returns why a toolkit cannot compile a release for a GPU. With cc NULL, checks the first
 * capability that setup.py always names and the toolkit's nvcc does not support. NULL: it can.
 */
static const char *
lack_of(struct workspace *w, const struct extension_release *r, const struct cuda_toolkit *t,
	const char *cc)
{
	const struct version *series = facts_version(w->f, version_series(w->a, t->version));

	for (size_t i = 0; i < r->archs.n; i++) {
		const char *spec = i < r->archs_nvcc.n ? r->archs_nvcc.at[i] : "";
		const struct names code = { &r->archs.at[i], 1, 1 };

		if (cc && !capability_runs(&code, cc))
			continue;
		if (names_have(&t->archs, r->archs.at[i]) != (cc != NULL))
			continue;
		/* setup.py names this capability only for some releases of nvcc. */
		if (!*spec || specifiers_match(facts_specifiers(w->f, spec), series))
			return cc ? NULL : r->archs.at[i];
	}
	return cc;
}

/* Returns lack_of() for each toolkit; those of one series are alike. */
static const char **
lacks(struct workspace *w, const struct extension_release *r, const char *cc)
{
	const struct solver_variable *at = variable_at(w, the_variable(w, VARIABLE_CUDA));
	const char **found = arena_array_of(w->a, const char *, at->n);
	const struct cuda_toolkit *t, *before = NULL;

	for (size_t i = 0; i < at->n; before = t, i++) {
		t = at->c[i].entry;
		if (!t || !t->archs.n)
			found[i] = NULL;
		else if (before && version_same_series(t->version, before->version))
			found[i] = found[i - 1];
		else
			found[i] = lack_of(w, r, t, cc);
	}
	return found;
}

/* Returns the toolkits for which `found` has `lack`, or for NULL, anything. */
static solve_word *
lacking(struct workspace *w, const char *const *found, const char *lack)
{
	unsigned cuda = the_variable(w, VARIABLE_CUDA);
	solve_word *set = set_none(w, cuda);

	for (size_t i = 0; i < variable_at(w, cuda)->n; i++)
		if (found[i] && (!lack || found[i] == lack))
			solve_set_add(set, i);
	return set;
}

/* Returns true for an extension that always compiles for its own list. */
static bool
is_fixed(const struct extension_release *r)
{
	return r && r->archs.n && r->honours_arch_list == TRI_NO;
}

void
constraint_extension_archs(struct query *q, struct workspace *w)
{
	struct release x = release_of(q);
	unsigned cuda = the_variable(w, VARIABLE_CUDA);
	const char **found;

	if (!is_fixed(x.r) || x.r->arch_env)
		return;
	found = lacks(w, x.r, NULL);
	for (size_t i = 0; i < variable_at(w, cuda)->n; i++) {
		size_t first = 0;
		solve_word *set;

		while (found[first] != found[i])
			first++;
		if (!found[i] || first < i)
			continue;
		set = lacking(w, found, found[i]);
		add_conflict(q, TERMS(THIS(q), compiled(q), IN(cuda, set)), x.r->source,
			     "%s always compiles for compute capability %s, which the nvcc of CUDA "
			     "%s does not support",
			     x.name, found[i], cuda_label(w, set));
	}
}

void
constraint_gpu_extension(struct query *q, struct workspace *w)
{
	struct release x = release_of(q);
	unsigned cuda = the_variable(w, VARIABLE_CUDA), gpu;

	for (size_t i = 0; is_fixed(x.r) && next_gpu(w, &i, &gpu);) {
		const char *cc = cc_of(w, gpu);
		solve_word *set;

		if (!capability_runs(&x.r->archs, cc)) {
			add_conflict(q, TERMS(THIS(q), THERE(w, gpu)), x.r->source,
				     "%s has code for compute capability %s, and none that runs "
				     "on %s",
				     x.name, names_words(w->a, &x.r->archs, "and"),
				     gpu_label(w, gpu));
			continue;
		}
		set = lacking(w, lacks(w, x.r, cc), NULL);
		add_conflict(q, TERMS(THIS(q), THERE(w, gpu), compiled(q), IN(cuda, set)),
			     x.r->source, "compiled with CUDA %s, %s has no code that runs on %s",
			     cuda_label(w, set), x.name, gpu_label(w, gpu));
	}
}

/* --- GPU <-> nvcc, for extensions that are compiled for the recipe's GPUs --- */

void
constraint_gpu_nvcc(struct query *q, struct workspace *w)
{
	const struct domain *s = w->variables.at[q->variable];
	struct release x = release_of(q);
	const struct extension_release *r = x.r ? x.r : x.e ? &x.e->any : NULL;
	unsigned cuda = the_variable(w, VARIABLE_CUDA), gpu;

	/* The recipe itself may set the target architectures. */
	if (env_value(w, "TORCH_CUDA_ARCH_LIST") ||
	    (s->asked && setting_named(&s->asked->env, "TORCH_CUDA_ARCH_LIST")) ||
	    (x.e && x.e->pypi == PYPI_WHEEL) || is_fixed(r))
		return;
	for (size_t i = 0; next_gpu(w, &i, &gpu);) {
		const char *cc = cc_of(w, gpu);
		const struct extension_release one = { .archs = { &cc, 1, 1 } };
		solve_word *refuse = lacking(w, lacks(w, &one, NULL), NULL);

		add_conflict(q, TERMS(THIS(q), compiled(q), IN(cuda, refuse), THERE(w, gpu)), NULL,
			     "%s is compiled for %s, which the nvcc of CUDA %s does not support",
			     x.name, gpu_label(w, gpu), cuda_label(w, refuse));
	}
}
