#include "modal.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "cuda/cuda.h"

enum covers { COVERS_NOT, COVERS_RUNS, COVERS_EXACT };

/* Code for x.y runs on x.z with z >= y; PTX for x.y on everything from x.y on. */
static enum covers
covers(const struct names *code, const char *ptx, const char *name)
{
	enum covers best = COVERS_NOT;

	if (names_have(code, name))
		return COVERS_EXACT;
	if (capability_runs(code, name) || capability_ptx_runs(ptx, name))
		best = COVERS_RUNS;
	return best;
}

/* The worst of what a name may stand for: "B200+" may be given a B300. */
static enum covers
gpu_covers(const struct names *code, const char *ptx, const struct modal_gpu *g)
{
	enum covers worst = COVERS_EXACT;

	for (size_t i = 0; i < g->ccs.n; i++) {
		enum covers f = covers(code, ptx, g->ccs.at[i]);

		worst = f < worst ? f : worst;
	}
	return worst;
}

static struct names
stack_archs(const struct modal *m)
{
	struct names archs = { 0 };

	for (size_t i = 0; i < m->stack->archs.n; i++)
		list_push(m->a, &archs, m->stack->archs.at[i].value);
	return archs;
}

/* An extension that compiles for the stack's GPUs and no others, or NULL. */
static const struct stack_extension *
compiled_for_these(const struct modal *m)
{
	for (size_t i = 0; i < m->stack->extensions.n; i++) {
		const struct stack_extension *e = &m->stack->extensions.at[i];

		if (e->source != SOURCE_WHEEL &&
		    (!strcmp(e->arch_flags, "honoured") || e->nvcc_env ||
		     (e->release && e->release->arch_env)))
			return e;
	}
	return NULL;
}

/*
 * A GPU that torch has no code for is useless; so is one that an extension has none for,
 * but some compile for every GPU they know, whatever they are told.
 */
static void
judge_gpu(struct modal *m, const struct modal_gpu *g, struct span at)
{
	const struct stack *s = m->stack;
	const struct torch_variant *v = s->torch_variant;
	const struct stack_extension *e = compiled_for_these(m);
	struct names archs = stack_archs(m);
	struct diag *d;

	if (s->torch_tag && !strcmp(s->torch_tag, "cpu")) {
		d = diag_at(m->ds, W_MODAL_GPU, at, "the CPU build of torch leaves the %s idle",
			    g->name);
		diag_help(d, "remove modal.gpu, or take a CUDA build of torch");
	} else if (v && v->cuda && v->archs.n && gpu_covers(&v->archs, v->ptx, g) == COVERS_NOT) {
		d = diag_at(m->ds, E_MODAL_GPU, at, "torch %s+%s has no code for Modal's %s",
			    s->torch.value, v->tag, g->name);
		diag_why(d, "the %s is %s", g->name, names_join(m->a, &g->ccs, ", "));
		diag_why(d, "that build has %s", names_join(m->a, &v->archs, ", "));
		diag_help(d, "ask Modal for another GPU, or take another build of torch");
		diag_source(d, v->source);
	} else if (archs.n && gpu_covers(&archs, NULL, g) == COVERS_NOT) {
		d = diag_at(m->ds, e ? E_MODAL_GPU : W_MODAL_GPU, at,
			    "kernels for %s do not run on Modal's %s",
			    names_join(m->a, &archs, ", "), g->name);
		diag_why(d, "the %s is %s", g->name, names_join(m->a, &g->ccs, ", "));
		if (e)
			diag_why(d, "%s is compiled for these and no others", e->name);
		if (s->archs.at[0].at.line)
			diag_note(d, s->archs.at[0].at, "the GPUs are asked for here");
		diag_help(d, "add %s to gpus, or ask Modal for another GPU", g->ccs.at[0]);
		diag_source(d, g->source);
	}
}

/* "a100-80gb:2" as Modal writes it. */
static struct text
asked_gpu(struct modal *m, struct text asked)
{
	size_t n = strcspn(asked.s, ":");
	const struct modal_gpu *g = facts_modal_gpu(m->stack->facts, arena_copy(m->a, asked.s, n));

	if (!g)
		return asked;
	judge_gpu(m, g, asked.at);
	return (struct text){ arena_printf(m->a, "%s%s", g->name, asked.s + n), asked.at };
}

/* The smallest that is one of the stack's own GPUs, else the smallest that runs its code. */
static void
smallest_gpu(struct modal *m)
{
	struct names archs = stack_archs(m);
	const struct modal_gpu *best = NULL, *all;
	enum covers best_covers = COVERS_NOT;
	struct diag *d;
	struct span at;
	size_t n;

	all = facts_modal_gpus(m->stack->facts, &n);
	for (size_t i = 0; i < n; i++) {
		enum covers f = gpu_covers(&archs, NULL, &all[i]);

		if (f > best_covers ||
		    (f == best_covers && best && all[i].size_rank < best->size_rank)) {
			best = &all[i];
			best_covers = f;
		}
	}
	at = modal_place(m, m->stack->archs.at[0].at);
	if (!best) {
		d = diag_at(m->ds, E_MODAL_GPU, at, "none of Modal's GPUs runs kernels for %s",
			    names_join(m->a, &archs, ", "));
		diag_help(d, "add a GPU that Modal has to gpus");
		return;
	}
	judge_gpu(m, best, at);
	list_push(m->a, &m->gpus, (struct text){ .s = best->name });
	m->gpu_why = arena_printf(m->a, "the smallest of Modal's that runs code for %s",
				  names_join(m->a, &archs, ", "));
}

bool
modal_choose_gpus(struct modal *m)
{
	unsigned before = m->ds->errors;

	if (m->asked->gpus.n)
		for (size_t i = 0; i < m->asked->gpus.n; i++)
			list_push(m->a, &m->gpus, asked_gpu(m, m->asked->gpus.at[i]));
	else if (m->asked->gpu.s)
		list_push(m->a, &m->gpus, asked_gpu(m, m->asked->gpu));
	else if (m->stack->archs.n)
		smallest_gpu(m);
	return m->ds->errors == before;
}
