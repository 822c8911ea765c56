#include "modal.h"

#include <string.h>

#include "base/str.h"
#include "cuda/cuda.h"

/* Returns the place of a value in the recipe; without one, its `modal` section or the file. */
static struct span
place(const struct modal *m, struct span at)
{
	if (at.line)
		return at;
	if (m->asked->at.line)
		return m->asked->at;
	return (struct span){ .src = m->recipe->src };
}

/* Adds a diagnostic at the place of a value, or of its replacement. */
#define refuse(m, code, at, ...) diag_at((m)->t->ds, (code), place((m), (at)), __VA_ARGS__)

static void
check_host(struct modal *m)
{
	if (strcmp(m->stack->platform, "linux/amd64"))
		diag_help(refuse(m, E_MODAL_HOST, m->recipe->platform.at,
				 "Modal runs linux/amd64 images, not %s", m->stack->platform),
			  "omit the target: -t dockerfile");
	if (m->stack->cuda.value && m->stack->cuda_from == CUDA_HOST)
		diag_help(refuse(m, E_MODAL_HOST, m->recipe->cuda_from_at,
				 "a Modal image cannot use the CUDA toolkit of a host"),
			  "install the toolkit from an image, apt or wheels");
	if (m->stack->user.value)
		diag_help(refuse(m, W_MODAL_USER, m->stack->user.at,
				 "on Modal the user is root: `%s` has no effect there",
				 m->stack->user.value),
			  "nothing, if root is acceptable; or render without Modal: -t dockerfile");
}

static void
check_python(struct modal *m)
{
	const struct facts *f = m->stack->facts;
	const struct choice *python = &m->stack->python;
	const struct names series = facts_modal_pythons(f, m->builder);
	const char *source = NULL, *client = NULL;

	if (m->python && series.n && !names_have(&series, m->python))
		diag_help(
			diag_why(refuse(m, E_MODAL_PYTHON, python->at,
					"Modal's image builder %s has no Python %s", m->builder,
					m->python),
				 "it has %s", names_join(m->a, &series, ", ")),
			"use one of these, or an image with its own Python (python: {from: base})");
	if (python->value)
		client = facts_modal_python_end(f, python->value, &source);
	if (client)
		diag_source(
			diag_help(refuse(m, W_MODAL_PYTHON, python->at,
					 "Modal's client %s and later do not accept images with "
					 "Python %s",
					 client, python->value),
				  "use a newer Python; until then, deploy with an older client"),
			source);
}

/* Modal's builder expands $ inside single quotes, and allows no quote or backslash in ENV. */
static void
check_env(struct modal *m)
{
	list_each (s, &m->recipe->env) {
		const char *bad = strpbrk(s->value.s, "$\"'\\");

		if (bad)
			diag_help(diag_why(refuse(m, E_MODAL_ENV, s->value.at,
						  "an image variable for Modal cannot contain "
						  "`%c`: %s",
						  *bad, s->name.s),
					   "its image builder expands or drops it"),
				  "write the full value without it, or set %s with a Modal secret",
				  s->name.s);
	}
}

/* Rejects URLs that need an ssh key or a password, which a build does not have. */
static void
check_sources(struct modal *m)
{
	list_each (e, &m->stack->extensions)
		if (e->source == SOURCE_GIT && !starts_with(e->url, "https://") &&
		    !starts_with(e->url, "git+https://"))
			diag_help(refuse(m, E_MODAL_SOURCE, e->asked->git.at,
					 "a Modal build has no ssh key to fetch `%s`", e->url),
				  "use an https:// address, or a wheel by URL");
}

/* The class has the name of the recipe's class, and only the entry point may have another name. */
static void
check_class(struct modal *m)
{
	struct text object = m->asked->class.object;
	const char *name = object.s ? strstr(object.s, "::") + 2 : NULL;

	if (name && (modal_entry_taken(name) || (m->worker && !strcmp(m->worker, name))))
		diag_help(refuse(m, E_MODAL_NAME, object.at,
				 "an app file cannot define a class `%s`", name),
			  "give the class another name");
	list_each (x, &m->asked->class.call)
		if (modal_entry_taken(x->s))
			diag_help(refuse(m, E_MODAL_NAME, x->at,
					 "an app file cannot define a method `%s`", x->s),
				  "give the method another name");
}

/* --- selection of the GPU --- */

enum covers { COVERS_NOT, COVERS_RUNS, COVERS_EXACT };

/*
 * Returns whether code runs on a GPU: code for x.y runs on x.z with z >= y, and PTX for x.y on x.y
 * and newer. A name counts as the least compatible of its GPUs: for "B200+", Modal may provide a
 * B300.
 */
static enum covers
covers(const struct names *code, const char *ptx, const struct modal_gpu *g)
{
	enum covers worst = COVERS_EXACT;

	for (size_t i = 0; i < g->ccs.n; i++) {
		const char *cc = g->ccs.at[i];

		if (names_have(code, cc))
			continue;
		if (!capability_runs(code, cc) && !capability_ptx_runs(ptx, cc))
			return COVERS_NOT;
		worst = COVERS_RUNS;
	}
	return worst;
}

/* Returns an extension that compiles only for the stack's GPUs, or NULL. */
static const struct stack_extension *
compiled_for_these(const struct modal *m)
{
	return list_find(e, &m->stack->extensions,
			 e->source != SOURCE_WHEEL &&
				 (!strcmp(e->arch_flags, "honoured") || e->nvcc_env ||
				  (e->release && e->release->arch_env)));
}

/* Rejects a GPU without code; some extensions compile for every GPU that they support. */
static void
judge_gpu(struct modal *m, const struct modal_gpu *g, struct span at)
{
	const struct stack *s = m->stack;
	const struct torch_variant *v = s->torch_variant;
	const struct stack_extension *e = compiled_for_these(m);
	const struct names archs = target_archs(m->a, s);
	const char *ccs = names_join(m->a, &g->ccs, ", ");
	struct diag *d;

	if (s->torch_tag && !strcmp(s->torch_tag, "cpu")) {
		diag_help(refuse(m, W_MODAL_GPU, at, "the CPU build of torch leaves the %s idle",
				 g->name),
			  "remove modal.gpu, or use a CUDA build of torch");
	} else if (v && v->cuda && v->archs.n && covers(&v->archs, v->ptx, g) == COVERS_NOT) {
		d = refuse(m, E_MODAL_GPU, at, "torch %s+%s has no code for Modal's %s",
			   s->torch.value, v->tag, g->name);
		diag_why(d, "the %s is %s", g->name, ccs);
		diag_why(d, "that build has %s", names_join(m->a, &v->archs, ", "));
		diag_help(d, "use another GPU of Modal, or another build of torch");
		diag_source(d, v->source);
	} else if (archs.n && covers(&archs, NULL, g) == COVERS_NOT) {
		d = refuse(m, e ? E_MODAL_GPU : W_MODAL_GPU, at,
			   "kernels for %s do not run on Modal's %s",
			   names_join(m->a, &archs, ", "), g->name);
		diag_why(d, "the %s is %s", g->name, ccs);
		if (e)
			diag_why(d, "%s is compiled only for these", e->name);
		if (s->archs.at[0].at.line)
			diag_note(d, s->archs.at[0].at, "the GPUs are listed here");
		diag_help(d, "add %s to gpus, or use another GPU of Modal", g->ccs.at[0]);
		diag_source(d, g->source);
	}
}

/* Adds a GPU such as "a100-80gb:2" in Modal's spelling. */
static void
asked_gpu(struct modal *m, struct text asked)
{
	size_t n = strcspn(asked.s, ":");
	const struct modal_gpu *g = facts_modal_gpu(m->stack->facts, arena_copy(m->a, asked.s, n));

	if (g) {
		judge_gpu(m, g, asked.at);
		asked.s = arena_printf(m->a, "%s%s", g->name, asked.s + n);
	}
	list_push(m->a, &m->gpus, asked);
}

/* Selects the smallest of the stack's own GPUs, otherwise the smallest one that runs its code. */
static void
smallest_gpu(struct modal *m)
{
	const struct names archs = target_archs(m->a, m->stack);
	const char *code = names_join(m->a, &archs, ", ");
	const struct modal_gpu *best = NULL, *all;
	struct span at = m->stack->archs.at[0].at;
	enum covers most = COVERS_NOT;
	size_t n;

	all = facts_modal_gpus(m->stack->facts, &n);
	for (size_t i = 0; i < n; i++) {
		enum covers f = covers(&archs, NULL, &all[i]);

		if (f > most || (best && f == most && all[i].size_rank < best->size_rank)) {
			best = &all[i];
			most = f;
		}
	}
	if (!best) {
		diag_help(refuse(m, E_MODAL_GPU, at, "none of Modal's GPUs runs kernels for %s",
				 code),
			  "add a GPU of Modal to gpus");
		return;
	}
	judge_gpu(m, best, at);
	list_push(m->a, &m->gpus, (struct text){ .s = best->name });
	m->gpu_why = arena_printf(m->a, "the smallest GPU of Modal that runs code for %s", code);
}

void
modal_check(struct modal *m)
{
	const struct texts *gpus = &m->asked->gpus;

	check_host(m);
	check_python(m);
	check_env(m);
	check_sources(m);
	check_class(m);
	for (size_t i = 0; i < gpus->n; i++)
		asked_gpu(m, gpus->at[i]);
	if (!gpus->n && m->asked->gpu.s)
		asked_gpu(m, m->asked->gpu);
	else if (!gpus->n && m->stack->archs.n)
		smallest_gpu(m);
	modal_entry_check(m);
}
