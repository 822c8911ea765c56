#include "internal.h"

/* GPUs: what torch's build has code for, and what extensions are compiled for. */

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

static bool
ptx_runs(const struct torch_variant *v, const char *cc)
{
	return v->ptx && capability_order(v->ptx, cc) <= 0;
}

/* The toolkit of a build could not have compiled for that GPU, nor for an older one like it. */
static bool
toolkit_cannot(const struct workspace *w, const struct torch_variant *v, const char *cc)
{
	const struct cuda_toolkit *t = v->cuda ? facts_cuda(w->f, v->cuda) : NULL;

	if (!t && v->cuda)
		t = facts_cuda(w->f, version_series(w->a, v->cuda));
	return t && t->archs.n && !capability_runs(&t->archs, cc);
}

/* That an old GPU is left out is not read anywhere: only concluded. */
static bool
is_inferred(const struct workspace *w, const struct torch_variant *v, const char *cc)
{
	return v->archs_inferred && capability_order(cc, v->archs.at[0]) < 0 &&
	       !toolkit_cannot(w, v, cc);
}

/* torch releases whose build of one tag has the same code, none of it for one GPU. */
struct lacking {
	solve_word *torch;
	const struct torch_variant *first;
	const char *archs, *newest, *oldest;
};
struct lackings LIST(struct lacking);

static void
add_lacking(struct workspace *w, struct lackings *all, unsigned torch, size_t i,
	    const struct torch_variant *v)
{
	const char *version = variable_at(w, torch)->c[i].text;
	const char *archs = names_words(w->a, &v->archs, "and");
	struct lacking *l = NULL;

	for (size_t k = 0; k < all->n && !l; k++)
		if (!strcmp(all->at[k].archs, archs))
			l = &all->at[k];
	if (!l) {
		list_push(w->a, all,
			  (struct lacking){ .torch = set_none(w, torch),
					    .first = v,
					    .archs = archs,
					    .newest = version });
		l = &all->at[all->n - 1];
	}
	solve_set_add(l->torch, i);
	l->oldest = version;
}

/* "2.2.2" where that is asked for, else the range of them. */
static const char *
torch_words(struct workspace *w, unsigned torch, const struct lacking *l)
{
	int asked = requested_in(w, torch, l->torch);

	if (asked >= 0)
		return variable_at(w, torch)->c[asked].text;
	return !strcmp(l->oldest, l->newest) ? l->newest :
					       arena_printf(w->a, "%s to %s", l->oldest, l->newest);
}

/* The builds of one tag, of every torch. */
static void
code_for(struct query *q, size_t build, unsigned gpu, bool inferred)
{
	struct workspace *w = q->w;
	const char *tag = variable_at(w, q->variable)->c[build].text, *cc = cc_of(w, gpu);
	unsigned torch = the_variable(w, VARIABLE_TORCH);
	const struct solver_variable *at = variable_at(w, torch);
	struct lackings all = { 0 };

	for (size_t i = 0; i < at->n; i++) {
		const struct torch_release *r = at->c[i].entry;
		const struct torch_variant *v = r ? torch_variant(r, tag) : NULL;

		if (v && v->archs.n && (v->archs_inferred || !inferred) &&
		    !capability_runs(&v->archs, cc) && !ptx_runs(v, cc) &&
		    is_inferred(w, v, cc) == inferred)
			add_lacking(w, &all, torch, i, v);
	}
	for (size_t i = 0; i < all.n; i++)
		add_conflict(q,
			     TERMS(IN(q->variable, set_one(w, q->variable, build)),
				   IN(torch, all.at[i].torch), IN(gpu, set_all(w, gpu))),
			     all.at[i].first->source,
			     "the %s build of torch %s %s code for compute capability %s, and none "
			     "for %s",
			     tag, torch_words(w, torch, &all.at[i]),
			     inferred ? "seems to have" : "has", all.at[i].archs,
			     gpu_label(w, gpu));
}

void
constraint_gpu_torch(struct query *q)
{
	unsigned gpu;

	for (size_t i = 0; next_gpu(q->w, &i, &gpu);)
		for (size_t k = 0; k < variable_at(q->w, q->variable)->n; k++)
			code_for(q, k, gpu, q->kind->strength == STRENGTH_WARNING);
}

/* True if a build of that tag, of any torch, carries PTX that the GPU's driver could compile. */
static bool
any_ptx(struct workspace *w, const char *tag, const char *cc)
{
	size_t n;
	const struct torch_release *const *all = facts_torch_all(w->f, &n);

	for (size_t i = 0; i < n; i++) {
		const struct torch_variant *v = torch_variant(all[i], tag);

		if (v && ptx_runs(v, cc))
			return true;
	}
	return false;
}

/* A build that nothing is known of: the CUDA that it is made with makes no code for the GPU. */
void
constraint_gpu_build(struct query *q)
{
	struct workspace *w = q->w;
	const char *tag = candidate_of(q)->text, *series = cuda_of_tag(w->a, tag);
	const struct cuda_toolkit *made = series ? facts_cuda(w->f, series) : NULL;
	unsigned torch = the_variable(w, VARIABLE_TORCH), gpu;
	solve_word *without = SET_WHERE(w, torch, c, !c->entry || !torch_variant(c->entry, tag));

	for (size_t i = 0; made && made->archs.n && next_gpu(w, &i, &gpu);)
		if (!capability_runs(&made->archs, cc_of(w, gpu)) &&
		    !any_ptx(w, tag, cc_of(w, gpu)))
			add_conflict(q,
				     TERMS(THIS(q), IN(torch, without), IN(gpu, set_all(w, gpu))),
				     made->source,
				     "CUDA %s, which a %s build is made with, makes no code for %s",
				     series, tag, gpu_label(w, gpu));
}

/* PTX is compiled by the driver, which must be as new as the toolkit that made it. */
void
constraint_gpu_ptx(struct query *q)
{
	struct workspace *w = q->w;
	const struct torch_release *r = ENTRY(q);
	unsigned build = the_variable(w, VARIABLE_BUILD), gpu;
	int driver = variable_find(w, "driver");
	const struct candidate *d = driver < 0 ? NULL : &variable_at(w, (unsigned)driver)->c[0];

	for (size_t i = 0; r && d && d->v && next_gpu(w, &i, &gpu);)
		for (size_t k = 0; k < r->nvariants; k++) {
			const struct torch_variant *v = &r->variants[k];
			const struct cuda_toolkit *made =
				v->cuda ? facts_cuda(w->f, v->cuda) : NULL;
			const struct version *least =
				made && made->driver_min ? facts_version(w->f, made->driver_min) :
							   NULL;

			if (!v->archs.n || capability_runs(&v->archs, cc_of(w, gpu)) ||
			    !ptx_runs(v, cc_of(w, gpu)) || !least || version_cmp(d->v, least) >= 0)
				continue;
			add_conflict(
				q,
				TERMS(THIS(q), IN(build, set_text(w, build, v->tag)),
				      IN(gpu, set_all(w, gpu)),
				      IN((unsigned)driver, set_one(w, (unsigned)driver, 0))),
				v->source,
				"the %s build of torch %s reaches %s only through PTX, which a "
				"driver older than %s does not compile",
				v->tag, r->version, gpu_label(w, gpu), made->driver_min);
		}
}

/* --- extension <-> nvcc --- */

static const struct cuda_toolkit *
toolkit(const struct solver_variable *cuda, size_t i)
{
	const struct cuda_toolkit *t = cuda->c[i].entry;

	return t && t->archs.n ? t : NULL;
}

/* Whether setup.py gives nvcc of a series the i-th of the release's capabilities. */
static bool
is_given(struct workspace *w, const struct extension_release *r, size_t i, const char *series)
{
	const char *spec = i < r->archs_nvcc.n ? r->archs_nvcc.at[i] : "";

	return !*spec ||
	       specifiers_match(facts_specifiers(w->f, spec), facts_version(w->f, series), PRE_YES);
}

static bool
is_fixed(const struct extension_release *r)
{
	return r->archs.n && r->honours_arch_list == TRI_NO && !r->arch_env;
}

/* Toolkits of one series are alike: what was found for the one before holds for the next. */
static bool
same_as_before(const struct solver_variable *cuda, size_t i)
{
	return i && version_same_series(cuda->c[i].text, cuda->c[i - 1].text);
}

/* The first capability that setup.py always names and this nvcc does not know, or NULL. */
static const char *
unknown_to(struct workspace *w, const struct extension_release *r, const struct cuda_toolkit *t,
	   const char *series)
{
	for (size_t i = 0; i < r->archs.n; i++)
		if (!names_have(&t->archs, r->archs.at[i]) && is_given(w, r, i, series))
			return r->archs.at[i];
	return NULL;
}

void
constraint_extension_archs(struct query *q)
{
	struct workspace *w = q->w;
	struct release x = release_of(q);
	unsigned cuda = the_variable(w, VARIABLE_CUDA);
	const struct solver_variable *at = variable_at(w, cuda);
	solve_word *refused = set_none(w, cuda);
	const char *arch = NULL, *found = NULL;

	if (!x.r || !is_fixed(x.r))
		return;
	for (size_t i = 0; i < at->n; i++) {
		if (!toolkit(at, i))
			continue;
		if (!same_as_before(at, i))
			found = unknown_to(w, x.r, toolkit(at, i),
					   version_series(w->a, at->c[i].text));
		if (found) {
			solve_set_add(refused, i);
			arch = found;
		}
	}
	if (arch)
		add_conflict(q, TERMS(THIS(q), compiled(q), IN(cuda, refused)), x.r->source,
			     "%s always compiles for compute capability %s, which the nvcc of CUDA "
			     "%s does not know",
			     x.name, arch, cuda_label(w, refused));
}

/* --- extension <-> GPU --- */

/* Code of the release for that GPU, if a toolkit of that series compiles it. */
static bool
has_code(struct workspace *w, const struct extension_release *r, const struct cuda_toolkit *t,
	 const char *series, const char *cc)
{
	for (size_t i = 0; i < r->archs.n; i++) {
		const struct names code = { &r->archs.at[i], 1, 1 };

		if (capability_runs(&code, cc) && (!t || names_have(&t->archs, r->archs.at[i])) &&
		    (!series || is_given(w, r, i, series)))
			return true;
	}
	return false;
}

/* Toolkits that make no code of it for that GPU. */
static solve_word *
without_code(struct workspace *w, const struct extension_release *r, unsigned cuda, const char *cc)
{
	const struct solver_variable *at = variable_at(w, cuda);
	solve_word *set = set_none(w, cuda);
	bool lacks = false;

	for (size_t i = 0; i < at->n; i++) {
		if (!toolkit(at, i))
			continue;
		if (!same_as_before(at, i))
			lacks = !has_code(w, r, toolkit(at, i), version_series(w->a, at->c[i].text),
					  cc);
		if (lacks)
			solve_set_add(set, i);
	}
	return set;
}

static void
release_on_gpu(struct query *q, const struct release *x, unsigned gpu)
{
	struct workspace *w = q->w;
	unsigned cuda = the_variable(w, VARIABLE_CUDA);
	struct solve_term is_there = IN(gpu, set_all(w, gpu));
	solve_word *lack;

	if (!has_code(w, x->r, NULL, NULL, cc_of(w, gpu))) {
		add_conflict(q, TERMS(THIS(q), is_there), x->r->source,
			     "%s has code for compute capability %s, and none that runs on %s",
			     x->name, names_words(w->a, &x->r->archs, "and"), gpu_label(w, gpu));
		return;
	}
	lack = without_code(w, x->r, cuda, cc_of(w, gpu));
	add_conflict(q, TERMS(THIS(q), is_there, compiled(q), IN(cuda, lack)), x->r->source,
		     "compiled with CUDA %s, %s has no code that runs on %s", cuda_label(w, lack),
		     x->name, gpu_label(w, gpu));
}

void
constraint_gpu_extension(struct query *q)
{
	struct release x = release_of(q);
	unsigned gpu;

	if (!x.r || !x.r->archs.n || x.r->honours_arch_list != TRI_NO)
		return;
	for (size_t i = 0; next_gpu(q->w, &i, &gpu);)
		release_on_gpu(q, &x, gpu);
}

/* --- GPU <-> nvcc, for extensions that are compiled for the GPUs asked for --- */

/* The recipe itself says what is compiled for. */
static bool
is_steered(const struct workspace *w, const struct recipe_extension *e)
{
	static const char list[] = "TORCH_CUDA_ARCH_LIST";

	for (size_t i = 0; e && i < e->env.n; i++)
		if (!strcmp(e->env.at[i].name.s, list))
			return true;
	return env_value(w, list) != NULL;
}

static bool
lacks_arch(const struct cuda_toolkit *t, const char *cc)
{
	return t && t->archs.n && !names_have(&t->archs, cc);
}

void
constraint_gpu_nvcc(struct query *q)
{
	struct workspace *w = q->w;
	const struct domain *s = w->variables.at[q->variable];
	struct release x = release_of(q);
	const struct extension_release *r = x.r ? x.r : x.e ? &x.e->any : NULL;
	unsigned cuda = the_variable(w, VARIABLE_CUDA), gpu;

	if (is_steered(w, s->asked) || (x.e && x.e->pypi == PYPI_WHEEL) ||
	    (r && r->archs.n && r->honours_arch_list == TRI_NO))
		return;
	for (size_t i = 0; next_gpu(w, &i, &gpu);) {
		solve_word *refuse = SET_WHERE(w, cuda, c, lacks_arch(c->entry, cc_of(w, gpu)));

		add_conflict(
			q, TERMS(THIS(q), compiled(q), IN(cuda, refuse), IN(gpu, set_all(w, gpu))),
			NULL, "%s is compiled for %s, and the nvcc of CUDA %s does not know that",
			x.name, gpu_label(w, gpu), cuda_label(w, refuse));
	}
}
