#include <stdlib.h>

#include "work.h"

/*
 * What two decisions together cannot be, as far as one fact says it.  These are warnings:
 * nothing is searched for that would fit instead.
 */

static void
judge_python(struct work *w)
{
	const struct stack *s = w->s;
	const struct torch_release *t = s->torch_release;
	struct buf has = BUF(w->a);
	struct diag *d;

	/* An index named by URL may have wheels of its own. */
	if (!t || !t->pythons.n || !s->python.value || names_have(&t->pythons, s->python.value) ||
	    (w->r->torch.index.s && strstr(w->r->torch.index.s, "://")))
		return;
	for (size_t i = 0; i < t->pythons.n; i++)
		buf_printf(&has, "%s%s", i ? ", " : "", t->pythons.at[i]);
	d = diag_at(w->ds, W_TORCH_PYTHON, s->python.at.line ? s->python.at : s->torch.at,
		    "torch %s has no wheel for Python %s", t->version, s->python.value);
	diag_why(d, "it has wheels for %s", buf_text(&has));
	if (s->torch.at.line && s->python.at.line)
		diag_note(d, s->torch.at, "torch is chosen here");
	diag_source(d, t->source);
}

/* The first release, or the last, whose nvcc compiles for that capability. */
static const struct cuda_toolkit *
toolkit_for(const struct work *w, const char *cc, bool newer)
{
	size_t n;
	const struct cuda_toolkit *const *all = facts_cuda_all(w->f, &n), *found = NULL;

	for (size_t i = 0; i < n; i++)
		if (names_have(&all[i]->archs, cc) &&
		    (version_order(w->a, all[i]->version, w->s->toolkit->version) > 0) == newer &&
		    (!found || !newer))
			found = all[i];
	return found;
}

static void
judge_gpus(struct work *w)
{
	const struct cuda_toolkit *t = w->s->toolkit, *other;

	for (size_t i = 0; t && t->archs.n && i < w->r->gpus.n; i++) {
		const struct recipe_gpu *g = &w->r->gpus.at[i];
		struct diag *d;

		if (names_have(&t->archs, g->cc))
			continue;
		d = diag_at(w->ds, W_GPU_TOOLKIT, g->text.at,
			    "CUDA %s does not compile for `%s` (compute capability %s)", t->version,
			    g->text.s, g->cc);
		if ((other = toolkit_for(w, g->cc, true)))
			diag_help(d, "CUDA %s is the next that does", other->version);
		else if ((other = toolkit_for(w, g->cc, false)))
			diag_help(d, "CUDA %s is the last that does", other->version);
		diag_source(d, t->source);
	}
}

/* torch compiles nothing with an nvcc of another major than its own. */
static void
judge_majors(struct work *w)
{
	const struct stack *s = w->s;
	const char *own = s->torch_variant ? s->torch_variant->cuda : NULL;
	struct diag *d;

	if (!own || !s->cuda.value || !resolve_compiles(w) || !w->r->torch.index.s ||
	    strtoul(own, NULL, 10) == strtoul(s->cuda.value, NULL, 10))
		return;
	d = diag_at(w->ds, W_TORCH_CUDA, w->r->torch.index.at,
		    "torch's %s build is for CUDA %s, and extensions are compiled with CUDA %s",
		    s->torch_tag, own, s->cuda.value);
	diag_why(d, "torch refuses to compile with another major version than its own");
	if (s->cuda.at.line)
		diag_note(d, s->cuda.at, "CUDA %s comes from here", s->cuda.value);
	diag_help(d, "take a build for CUDA %s, or a base with CUDA %s",
		  version_series(w->a, s->cuda.value), version_series(w->a, own));
	diag_source(d, s->torch_variant->source);
}

void
resolve_judge(struct work *w)
{
	judge_python(w);
	judge_gpus(w);
	judge_majors(w);
}
