#include <stdlib.h>

#include "fit_work.h"

/* CUDA: what the base image brings, which toolkit a build of torch takes, and drivers. */

/* The image as the recipe writes it, and not another that a repair would take. */
static bool
as_written(const struct fit_ask *q)
{
	const char *base = q->w->r->base.s;

	return base && !strcmp(fit_at(q->w, q->thing)->c[q->candidate].text, base);
}

/* The toolkit that compiles is the image's, unless the recipe takes it from elsewhere. */
static bool
from_image(const struct fit_work *w)
{
	return w->r->cuda_from == CUDA_AUTO || w->r->cuda_from == CUDA_IMAGE;
}

void
fit_row_base_cuda(struct fit_ask *q)
{
	struct fit_work *w = q->w;
	unsigned cuda = fit_slot(w, FIT_CUDA, "cuda");

	if (as_written(q) && w->image.cuda && from_image(w))
		fit_needs(q, cuda, fit_cuda_named(w, cuda, w->image.cuda), NULL,
			  "%s brings CUDA %s", w->r->base.s, w->image.cuda);
}

/* Instead of the one as written: an image of NVIDIA's again, if it was one, and one that exists. */
void
fit_row_base_other(struct fit_ask *q)
{
	struct fit_work *w = q->w;
	unsigned cuda = fit_slot(w, FIT_CUDA, "cuda"), os = fit_slot(w, FIT_OS, "os");
	const struct fit_thing *t = fit_at(w, cuda);
	solve_word *made = fit_none(w, cuda);

	if (as_written(q) || !w->image.cuda || !from_image(w))
		return;
	for (size_t i = 0; i < t->n; i++) {
		const struct cuda_toolkit *toolkit = t->c[i].entry;
		struct solve_term terms[3];

		if (!toolkit || !toolkit->image_os.n)
			continue;
		solve_set_add(made, i);
		terms[0] = fit_is(w, q->thing, q->candidate);
		terms[1] = fit_is(w, cuda, i);
		terms[2] = (struct solve_term){
			.thing = os, .not = true, .set = fit_named(w, os, &toolkit->image_os, false)
		};
		fit_clash(q, terms, 3, toolkit->source, "NVIDIA has images of CUDA %s for %s",
			  toolkit->version, names_words(w->a, &toolkit->image_os, "and"));
	}
	fit_needs(q, cuda, made, NULL, "another image brings a CUDA that there are images of");
}

void
fit_row_base_os(struct fit_ask *q)
{
	struct fit_work *w = q->w;
	unsigned os = fit_slot(w, FIT_OS, "os");
	struct names own = { 0 };

	if (!as_written(q) || !w->image.os)
		return;
	list_push(w->a, &own, w->image.os);
	fit_allows(q, os, fit_named(w, os, &own, false), NULL, "%s is %s", w->r->base.s,
		   w->image.os);
}

void
fit_row_base_python(struct fit_ask *q)
{
	struct fit_work *w = q->w;
	unsigned python = fit_slot(w, FIT_PYTHON, "python");
	struct names own = { 0 };

	if (!as_written(q) || !w->image.python)
		return;
	list_push(w->a, &own, w->image.python);
	fit_allows(q, python, fit_named(w, python, &own, false), NULL, "%s has Python %s",
		   w->r->base.s, w->image.python);
}

void
fit_row_cuda_never(struct fit_ask *q)
{
	struct fit_work *w = q->w;
	const struct fit_candidate *c = &fit_at(w, q->thing)->c[q->candidate];
	struct solve_term term = fit_is(w, q->thing, q->candidate);
	const char *why = c->known ? NULL : facts_cuda_impossible(w->f, c->text);

	if (why)
		fit_clash(q, &term, 1, "knowledge/cuda.yaml", "there is no CUDA %s: %s", c->text,
			  why);
}

/* --- a build of torch and the toolkit --- */

static const char *
build_text(const struct fit_ask *q)
{
	return fit_at(q->w, q->thing)->c[q->candidate].text;
}

/* Builds of one major are one fact; where the recipe asks for one of them it is named. */
void
fit_row_build_major(struct fit_ask *q)
{
	struct fit_work *w = q->w;
	unsigned cuda = fit_slot(w, FIT_CUDA, "cuda");
	const struct fit_thing *t = fit_at(w, cuda);

	if (!w->compiles)
		return;
	for (unsigned long m = FIT_CUDA_FIRST; m <= FIT_CUDA_LAST; m++) {
		solve_word *these = fit_builds_of(w, q->thing, m);
		solve_word *set = fit_none(w, cuda);

		if (!solve_set_count(these, fit_at(w, q->thing)->n))
			continue;
		for (size_t i = 0; i < t->n; i++)
			if (strtoul(t->c[i].text, NULL, 10) == m)
				solve_set_add(set, i);
		fit_allows_if(
			q, these, cuda, set, NULL,
			"%s compiles extensions with CUDA %lu alone: torch refuses a compiler "
			"of another major version than its own",
			fit_build_words(w, q->thing, m), m);
	}
}

/* A build without CUDA is for those who ask for it. */
void
fit_row_build_gpu(struct fit_ask *q)
{
	struct fit_work *w = q->w;
	struct solve_term term = fit_is(w, q->thing, q->candidate);
	const char *sign = fit_gpu_sign(w);

	if (sign && !strcmp(build_text(q), "cpu"))
		fit_clash(q, &term, 1, NULL, "torch's cpu build uses no GPU, and the recipe %s",
			  sign);
}

/* The same series; and where the image is chosen here there is a toolkit for every build. */
void
fit_row_build_prefer_cuda(struct fit_ask *q)
{
	struct fit_work *w = q->w;
	const char *own = cuda_of_tag(w->a, build_text(q));
	unsigned cuda = fit_slot(w, FIT_CUDA, "cuda");
	solve_word *set;

	if (!own)
		return;
	set = fit_cuda_named(w, cuda, own);
	if (!solve_set_count(set, fit_at(w, cuda)->n))
		return;
	if (w->r->base.s)
		fit_allows(q, cuda, set, NULL, "torch's %s build is for CUDA %s", build_text(q),
			   own);
	else
		fit_needs(q, cuda, set, NULL, "torch's %s build is for CUDA %s", build_text(q),
			  own);
}

/* The toolkit that torch's wheel on PyPI pins: pip takes no other beside it. */
static void
pinned_toolkit(struct fit_ask *q)
{
	struct fit_work *w = q->w;
	const struct torch_release *t = fit_at(w, q->thing)->c[q->candidate].entry;
	const struct torch_variant *v = t ? torch_variant_on_pypi(t) : NULL;
	unsigned build = fit_slot(w, FIT_BUILD, "torch build"), cuda;
	struct names tag = { 0 };
	struct solve_term terms[3];
	solve_word *set;

	if (!v || !t->cuda_toolkit)
		return;
	cuda = fit_slot(w, FIT_CUDA, "cuda");
	set = fit_cuda_named(w, cuda, t->cuda_toolkit);
	if (!solve_set_count(set, fit_at(w, cuda)->n))
		return;
	list_push(w->a, &tag, v->tag);
	terms[0] = fit_is(w, q->thing, q->candidate);
	terms[1] = (struct solve_term){ .thing = build, .set = fit_named(w, build, &tag, false) };
	terms[2] = (struct solve_term){ .thing = cuda,
					.set = solve_set_not(w->a, set, fit_at(w, cuda)->n) };
	if (solve_set_count(terms[2].set, fit_at(w, cuda)->n))
		fit_clash(q, terms, 3, t->source,
			  "torch %s's %s build pins cuda-toolkit %s, and pip takes no other beside "
			  "it",
			  t->version, v->tag, t->cuda_toolkit);
}

void
fit_row_torch_toolkit(struct fit_ask *q)
{
	if (q->w->r->cuda_from == CUDA_WHEELS)
		pinned_toolkit(q);
}

/* A base without CUDA: the toolkit comes from PyPI's wheels if they have it. */
void
fit_row_torch_prefer_toolkit(struct fit_ask *q)
{
	const struct fit_work *w = q->w;

	if (w->r->cuda_from == CUDA_AUTO && w->r->base.s && !fit_cuda_asked(w))
		pinned_toolkit(q);
}

/* Of one that is named resolve/ says it, with the place to write `image`. */
void
fit_row_cuda_wheels(struct fit_ask *q)
{
	struct fit_work *w = q->w;
	const struct fit_thing *t = fit_at(w, q->thing);
	const struct cuda_toolkit *first = NULL;
	solve_word *without = fit_none(w, q->thing);
	struct solve_term term = { .thing = q->thing, .set = without };

	if (w->r->cuda_from != CUDA_WHEELS || w->r->cuda.s)
		return;
	for (size_t i = 0; i < t->n; i++) {
		const struct cuda_toolkit *c = t->c[i].entry;

		if (c && !c->wheels)
			solve_set_add(without, i);
		else if (c)
			first = c;
	}
	if (first && solve_set_count(without, t->n))
		fit_clash(q, &term, 1, first->source, "PyPI's wheels hold nvcc from CUDA %s on",
			  version_series(w->a, first->version));
}

/* --- images that are chosen here --- */

void
fit_row_cuda_os(struct fit_ask *q)
{
	struct fit_work *w = q->w;
	const struct cuda_toolkit *t = fit_at(w, q->thing)->c[q->candidate].entry;
	unsigned os = fit_slot(w, FIT_OS, "os");

	if (t && t->image_os.n && fit_chooses_image(w))
		fit_allows(q, os, fit_named(w, os, &t->image_os, false), t->source,
			   "NVIDIA has images of CUDA %s for %s", t->version,
			   names_words(w->a, &t->image_os, "and"));
}

void
fit_row_cuda_prefer_image(struct fit_ask *q)
{
	struct fit_work *w = q->w;
	const struct cuda_toolkit *t = fit_at(w, q->thing)->c[q->candidate].entry;
	struct solve_term term = fit_is(w, q->thing, q->candidate);

	if (t && !t->image_os.n && fit_chooses_image(w))
		fit_clash(q, &term, 1, t->source, "no image of CUDA %s is known", t->version);
}
