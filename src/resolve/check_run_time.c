#include "needs.h"

/*
 * Packages that compile at run time: the runtime image must have their compilers.  stackbuild installs
 * gcc and headers there (apt.c), which is enough for triton; nvcc comes with the image.
 */

/* Tells whether the runtime image has nvcc; unknown if its name does not show it. */
static enum tri
has_nvcc(const struct workspace *w)
{
	const struct stack *s = w->s;
	const struct image_name n =
		s->runtime_base.value ? facts_image_name(w->f, s->runtime_base.value) : s->image;
	bool installed = !s->runtime_base.value && s->cuda.value && s->cuda_from != CUDA_IMAGE;

	if (installed || (n.flavour && !strcmp(n.flavour, "devel")))
		return TRI_YES;
	return n.flavour || (n.os && !n.cuda && !n.torch) ? TRI_NO : TRI_UNKNOWN;
}

/* Returns whether one of "NAME=VALUE" is set, or whether the stack also installs a package of that
 * name. */
static bool
is_compiled_before(const struct workspace *w, const struct extension *known,
		   const struct settings *env)
{
	for (size_t i = 0; i < known->jit_unless.n; i++) {
		const char *told = known->jit_unless.at[i];
		size_t n = strcspn(told, "=");
		const struct setting *s =
			env ? setting_named(env, arena_copy(w->a, told, n)) : NULL;

		if (s && told[n] && !strcmp(told + n + 1, s->value.s))
			return true;
	}
	return list_any(key, &known->jit_unless_with, recipe_has(w, *key));
}

static void
help_without_nvcc(struct workspace *w, struct diag *d, const struct extension *known,
		  bool extension)
{
	const char *told = extension && known->jit_unless.n ? known->jit_unless.at[0] : NULL;
	const char *runtime = w->r->runtime.at.line ? "remove `runtime`" : NULL, *devel;

	if (told) {
		diag_help(d,
			  "compile it at build time, with env: {%.*s: \"%s\"} of the extension%s%s",
			  (int)strcspn(told, "="), told, strchr(told, '=') + 1,
			  runtime ? "; or " : "", runtime ? runtime : "");
		return;
	}
	if (known->jit_unless_with.n)
		diag_help(d, "add %s to packages, which contains its compiled kernels",
			  known->jit_unless_with.at[0]);
	devel = w->r->base.s && !runtime ? resolve_image_devel(w) : NULL;
	if (runtime)
		diag_help(d, "%s: the first stage has everything that it needs", runtime);
	else if (devel)
		fix_scalar(w, d, w->r->base.at, devel, "use %s", devel);
	else
		diag_help(d, "use a base with nvcc, nvidia/cuda:...-devel-...");
}

/*
 * Checks one package; `env` belongs to its compile step if it is an extension. If another package
 * brings it, or if it also works without nvcc, the stack may never call nvcc: this is a warning.
 */
static void
check_package(struct workspace *w, const char *name, struct span at, const char *key,
	      const struct settings *env, bool brought)
{
	const struct extension *known = facts_extension(w->f, key);
	struct diag *d;

	if (!known || !known->jit_at_run_time || is_compiled_before(w, known, env))
		return;
	d = diag_at(w->ds, env || (known->jit_needed && !brought) ? E_JIT : W_JIT, at,
		    "`%s` compiles CUDA code at run time", name);
	diag_why(d, "it needs nvcc, ninja and g++ in the final image, and `%s` has no nvcc",
		 w->s->runtime_base.value ? w->s->runtime_base.value : w->s->base.value);
	if (w->r->runtime.at.line)
		diag_note(d, w->r->runtime.at, "the second stage has no nvcc");
	else if (w->r->base.s)
		diag_note(d, w->r->base.at, "the base is named here");
	help_without_nvcc(w, d, known, env != NULL);
	diag_source(d, known->source);
}

/* Lists packages that a package of the recipe always installs, as vllm installs
 * flashinfer-python. */
static void
check_brought(struct workspace *w, const struct recipe_requirement *q)
{
	const struct solver_variable *t = solution_variable(w->solution, q->req->key);
	const struct candidate *c = decided(w, q->req->key);
	const struct pairing *p;
	size_t i = 0;

	while (c && (p = pairing_next(w, t, c, &i)))
		if (!p->optional && !recipe_has(w, p->other))
			check_package(w, p->other, q->text.at, p->other, NULL, true);
}

void
check_run_time(struct workspace *w)
{
	const struct recipe *r = w->r;

	if (w->s->cuda_from == CUDA_HOST || !w->s->torch.value ||
	    (w->s->torch_tag && !strcmp(w->s->torch_tag, "cpu")) || has_nvcc(w) != TRI_NO)
		return;
	list_each (e, &r->extensions)
		if (extension_stays(w, e))
			check_package(w, e->name.s, e->at, e->key, &e->env, false);
	list_each (p, &r->packages)
		if (marker_holds(w, p->req->marker)) {
			check_package(w, p->req->name, p->text.at, p->req->key, NULL, false);
			check_brought(w, p);
		}
}

/* --- variables that keep a stack off the GPU --- */

static const char without_cuda[] = "it builds the extension without its CUDA code";

/* The ends of names, and whether the variable does harm if it is on, or if it is off. Sources: `env:` of
 * the files in knowledge/extensions. */
static const struct {
	const char *end;
	bool on;
	const char *why;
} switches[] = {
	{ "_SKIP_CUDA_BUILD", true, without_cuda },
	{ "NO_CUDA", true, without_cuda },
	{ "BUILD_CUDA_EXT", false, without_cuda },
	{ "FORCE_CUDA", false, without_cuda },
	{ "MMCV_WITH_OPS", false, "it builds mmcv without its operators" },
	{ "_FORCE_FALLBACK", true,
	  "it makes the extension use slower code instead of its CUDA code" },
};

/* Returns what a setting does to the GPU code of a stack; NULL: nothing. */
static const char *
harm_of(const char *name, const char *value)
{
	bool off = !strcmp(value, "0") || !strcmp(value, "FALSE") || !strcmp(value, "False");

	if (!strcmp(name, "CUDA_VISIBLE_DEVICES") && (!*value || !strcmp(value, "-1")))
		return "CUDA shows no GPU to a process with this value";
	for (size_t i = 0; *value && i < COUNT(switches); i++)
		if (ends_with(name, switches[i].end) && off != switches[i].on)
			return switches[i].why;
	return NULL;
}

static void
check_harm(struct workspace *w, const struct settings *env)
{
	list_each (x, env) {
		const char *why = harm_of(x->name.s, x->value.s ? x->value.s : "");
		struct diag *d;

		if (!why)
			continue;
		d = diag_at(w->ds, W_NO_KERNELS, x->name.at, "`%s` keeps the stack off the GPU",
			    x->name.s);
		diag_why(d, "%s", why);
		if (w->r->gpus.n)
			diag_note(d, w->r->gpus.at[0].text.at, "a GPU is named here");
		diag_help(d, "remove the variable, or build a CPU stack with `index: cpu`");
	}
}

void
check_kernels_off(struct workspace *w)
{
	if (!gpu_evidence(w))
		return;
	check_harm(w, &w->r->env);
	list_each (e, &w->s->extensions)
		check_harm(w, &e->asked->env);
}
