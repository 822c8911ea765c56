#include "modal.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"

/* A compute capability: "8.6" is 8 and 6; what follows ("9.0a") does not count. */
struct cc {
	unsigned long major, minor;
};

static struct cc
cc_of(const char *s)
{
	char *end;
	struct cc cc = { .major = strtoul(s, &end, 10) };

	if (*end == '.')
		cc.minor = strtoul(end + 1, NULL, 10);
	return cc;
}

enum fit { FIT_NOT, FIT_RUNS, FIT_EXACT };

/* Code for x.y runs on x.z with z >= y; PTX for x.y on everything from x.y on. */
static enum fit
fit(const struct stack *s, const char *name)
{
	struct cc gpu = cc_of(name);
	enum fit best = FIT_NOT;

	for (size_t i = 0; i < s->archs.n; i++) {
		struct cc code = cc_of(s->archs.at[i].value);

		if (code.major == gpu.major && code.minor == gpu.minor)
			return FIT_EXACT;
		if (code.major == gpu.major && code.minor < gpu.minor)
			best = FIT_RUNS;
	}
	for (const char *p = s->arch_list, *end; *p; p = *end ? end + 1 : end) {
		struct cc code = cc_of(p);

		end = p + strcspn(p, ";");
		if (end - p > 4 && !strncmp(end - 4, "+PTX", 4) &&
		    (code.major < gpu.major ||
		     (code.major == gpu.major && code.minor <= gpu.minor)))
			best = FIT_RUNS;
	}
	return best;
}

/* The worst of what a name may stand for: "B200+" may be given a B300. */
static enum fit
fit_modal(const struct stack *s, const struct modal_gpu *g)
{
	enum fit worst = FIT_EXACT;

	for (size_t i = 0; i < g->ccs.n; i++) {
		enum fit f = fit(s, g->ccs.at[i]);

		worst = f < worst ? f : worst;
	}
	return worst;
}

static const char *
joined(struct arena *a, struct names names)
{
	struct buf b = BUF(a);

	for (size_t i = 0; i < names.n; i++)
		buf_printf(&b, "%s%s", i ? ", " : "", names.at[i]);
	return buf_text(&b);
}

static const char *
arch_names(const struct modal *m)
{
	struct buf b = BUF(m->a);

	for (size_t i = 0; i < m->stack->archs.n; i++)
		buf_printf(&b, "%s%s", i ? ", " : "", m->stack->archs.at[i].value);
	return buf_text(&b);
}

/* "a100-80gb:2" as Modal writes it; reports a GPU that would not run the kernels. */
static struct text
asked_gpu(struct modal *m, struct text asked)
{
	const char *colon = strchr(asked.s, ':');
	size_t n = colon ? (size_t)(colon - asked.s) : strlen(asked.s);
	const struct modal_gpu *g = facts_modal_gpu(m->stack->facts, arena_copy(m->a, asked.s, n));
	struct diag *d;

	if (!g)
		return asked;
	if (!m->stack->archs.n && m->stack->torch_tag && !strcmp(m->stack->torch_tag, "cpu")) {
		d = diag_at(m->ds, E_MODAL_GPU, asked.at,
			    "the CPU build of torch leaves the GPU %s idle", g->name);
		diag_help(d, "remove modal.gpu, or take a CUDA build of torch");
	} else if (m->stack->archs.n && fit_modal(m->stack, g) == FIT_NOT) {
		d = diag_at(m->ds, E_MODAL_GPU, asked.at, "kernels for %s do not run on Modal's %s",
			    arch_names(m), g->name);
		diag_why(d, "%s is %s", g->name, joined(m->a, g->ccs));
		diag_note(d, m->stack->archs.at[0].at, "%s", m->stack->archs.at[0].reason);
		diag_help(d, "add %s to gpus, or ask Modal for another GPU", g->ccs.at[0]);
		diag_source(d, g->source);
	}
	return (struct text){ arena_printf(m->a, "%s%s", g->name, colon ? colon : ""), asked.at };
}

/* The smallest that is one of the stack's own GPUs, else the smallest that runs its code. */
static bool
smallest_gpu(struct modal *m)
{
	const struct modal_gpu *best = NULL, *all;
	enum fit best_fit = FIT_NOT;
	size_t n;
	struct diag *d;

	all = facts_modal_gpus(m->stack->facts, &n);
	for (size_t i = 0; i < n; i++) {
		enum fit f = fit_modal(m->stack, &all[i]);

		if (f > best_fit ||
		    (f == best_fit && best && f != FIT_NOT && all[i].size_rank < best->size_rank)) {
			best = &all[i];
			best_fit = f;
		}
	}
	if (best) {
		list_push(m->a, &m->gpus, (struct text){ .s = best->name });
		m->gpu_why = arena_printf(m->a, "the smallest of Modal's that runs code for %s",
					  arch_names(m));
		return true;
	}
	d = diag_at(m->ds, E_MODAL_GPU, m->stack->archs.at[0].at,
		    "none of Modal's GPUs runs kernels for %s", arch_names(m));
	diag_help(d, "add a GPU that Modal has to gpus, such as %s", n ? all[0].ccs.at[0] : "8.0");
	return false;
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
		return smallest_gpu(m);
	return m->ds->errors == before;
}
