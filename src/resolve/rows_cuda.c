#include <stdlib.h>

#include "internal.h"

/* CUDA: what the base image brings, which toolkit a build of torch takes, and drivers. */

/* The image as the recipe writes it, and not another that a repair would take. */
static bool
as_written(const struct query *q)
{
	const char *base = q->w->r->base.s;

	return base && !strcmp(variable_at(q->w, q->variable)->c[q->candidate].text, base);
}

/* The toolkit that compiles is the image's, unless the recipe takes it from elsewhere. */
static bool
from_image(const struct workspace *w)
{
	return w->r->cuda_from == CUDA_AUTO || w->r->cuda_from == CUDA_IMAGE;
}

void
constraint_base_cuda(struct query *q)
{
	struct workspace *w = q->w;
	unsigned cuda = variable_get(w, VARIABLE_CUDA, "cuda");

	if (as_written(q) && w->image.cuda && from_image(w))
		add_requires(q, cuda, set_cuda(w, cuda, w->image.cuda), NULL, "%s brings CUDA %s",
			     w->r->base.s, w->image.cuda);
}

/* Instead of the one as written: an image of NVIDIA's again, if it was one, and one that exists. */
void
constraint_base_other(struct query *q)
{
	struct workspace *w = q->w;
	unsigned cuda = variable_get(w, VARIABLE_CUDA, "cuda"),
		 os = variable_get(w, VARIABLE_OS, "os");
	const struct solver_variable *t = variable_at(w, cuda);
	solve_word *made = set_none(w, cuda);

	if (as_written(q) || !w->image.cuda || !from_image(w))
		return;
	for (size_t i = 0; i < t->n; i++) {
		const struct cuda_toolkit *toolkit = t->c[i].entry;
		struct solve_term terms[3];

		if (!toolkit || !toolkit->image_os.n)
			continue;
		solve_set_add(made, i);
		terms[0] = term_is(w, q->variable, q->candidate);
		terms[1] = term_is(w, cuda, i);
		terms[2] =
			(struct solve_term){ .variable = os,
					     .not = true,
					     .set = set_named(w, os, &toolkit->image_os, false) };
		add_conflict(q, terms, 3, toolkit->source, "NVIDIA has images of CUDA %s for %s",
			     toolkit->version, names_words(w->a, &toolkit->image_os, "and"));
	}
	add_requires(q, cuda, made, NULL, "another image brings a CUDA that there are images of");
}

void
constraint_base_os(struct query *q)
{
	struct workspace *w = q->w;
	unsigned os = variable_get(w, VARIABLE_OS, "os");
	struct names own = { 0 };

	if (!as_written(q) || !w->image.os)
		return;
	list_push(w->a, &own, w->image.os);
	add_allows(q, os, set_named(w, os, &own, false), NULL, "%s is %s", w->r->base.s,
		   w->image.os);
}

void
constraint_base_python(struct query *q)
{
	struct workspace *w = q->w;
	unsigned python = variable_get(w, VARIABLE_PYTHON, "python");
	struct names own = { 0 };

	if (!as_written(q) || !w->image.python)
		return;
	list_push(w->a, &own, w->image.python);
	add_allows(q, python, set_named(w, python, &own, false), NULL, "%s has Python %s",
		   w->r->base.s, w->image.python);
}

void
constraint_cuda_never(struct query *q)
{
	struct workspace *w = q->w;
	const struct candidate *c = &variable_at(w, q->variable)->c[q->candidate];
	struct solve_term term = term_is(w, q->variable, q->candidate);
	const char *why = c->known ? NULL : facts_cuda_impossible(w->f, c->text);

	if (why)
		add_conflict(q, &term, 1, "knowledge/cuda.yaml", "there is no CUDA %s: %s", c->text,
			     why);
}

/* --- a build of torch and the toolkit --- */

static const char *
build_text(const struct query *q)
{
	return variable_at(q->w, q->variable)->c[q->candidate].text;
}

/* A build without CUDA is for those who ask for it. */
void
constraint_build_gpu(struct query *q)
{
	struct workspace *w = q->w;
	struct solve_term term = term_is(w, q->variable, q->candidate);
	const char *sign = gpu_evidence(w);

	if (sign && !strcmp(build_text(q), "cpu"))
		add_conflict(q, &term, 1, NULL, "torch's cpu build uses no GPU, and the recipe %s",
			     sign);
}

/* The same series; and where the image is chosen here there is a toolkit for every build. */
void
constraint_build_prefer_cuda(struct query *q)
{
	struct workspace *w = q->w;
	const char *own = cuda_of_tag(w->a, build_text(q));
	unsigned cuda = variable_get(w, VARIABLE_CUDA, "cuda");
	solve_word *set;

	if (!own)
		return;
	set = set_cuda(w, cuda, own);
	if (!solve_set_count(set, variable_at(w, cuda)->n))
		return;
	if (w->r->base.s)
		add_allows(q, cuda, set, NULL, "torch's %s build is for CUDA %s", build_text(q),
			   own);
	else
		add_requires(q, cuda, set, NULL, "torch's %s build is for CUDA %s", build_text(q),
			     own);
}

/* The toolkit that torch's wheel on PyPI pins: pip takes no other beside it. */
static void
pinned_toolkit(struct query *q)
{
	struct workspace *w = q->w;
	const struct torch_release *t = variable_at(w, q->variable)->c[q->candidate].entry;
	const struct torch_variant *v = t ? torch_variant_on_pypi(t) : NULL;
	unsigned build = variable_get(w, VARIABLE_BUILD, "torch build"), cuda;
	struct names tag = { 0 };
	struct solve_term terms[3];
	solve_word *set;

	if (!v || !t->cuda_toolkit)
		return;
	cuda = variable_get(w, VARIABLE_CUDA, "cuda");
	set = set_cuda(w, cuda, t->cuda_toolkit);
	if (!solve_set_count(set, variable_at(w, cuda)->n))
		return;
	list_push(w->a, &tag, v->tag);
	terms[0] = term_is(w, q->variable, q->candidate);
	terms[1] =
		(struct solve_term){ .variable = build, .set = set_named(w, build, &tag, false) };
	terms[2] = (struct solve_term){ .variable = cuda,
					.set = solve_set_not(w->a, set, variable_at(w, cuda)->n) };
	if (solve_set_count(terms[2].set, variable_at(w, cuda)->n))
		add_conflict(
			q, terms, 3, t->source,
			"torch %s's %s build pins cuda-toolkit %s, and pip takes no other beside "
			"it",
			t->version, v->tag, t->cuda_toolkit);
}

void
constraint_torch_toolkit(struct query *q)
{
	if (q->w->r->cuda_from == CUDA_WHEELS)
		pinned_toolkit(q);
}

/* A base without CUDA: the toolkit comes from PyPI's wheels if they have it. */
void
constraint_torch_prefer_toolkit(struct query *q)
{
	const struct workspace *w = q->w;

	if (w->r->cuda_from == CUDA_AUTO && w->r->base.s && !requested_cuda(w))
		pinned_toolkit(q);
}

/* Of one that is named resolve/ says it, with the place to write `image`. */
void
constraint_cuda_wheels(struct query *q)
{
	struct workspace *w = q->w;
	const struct solver_variable *t = variable_at(w, q->variable);
	const struct cuda_toolkit *first = NULL;
	solve_word *without = set_none(w, q->variable);
	struct solve_term term = { .variable = q->variable, .set = without };

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
		add_conflict(q, &term, 1, first->source, "PyPI's wheels hold nvcc from CUDA %s on",
			     version_series(w->a, first->version));
}

/* --- images that are chosen here --- */

void
constraint_cuda_os(struct query *q)
{
	struct workspace *w = q->w;
	const struct cuda_toolkit *t = variable_at(w, q->variable)->c[q->candidate].entry;
	unsigned os = variable_get(w, VARIABLE_OS, "os");

	if (t && t->image_os.n && selects_image(w))
		add_allows(q, os, set_named(w, os, &t->image_os, false), t->source,
			   "NVIDIA has images of CUDA %s for %s", t->version,
			   names_words(w->a, &t->image_os, "and"));
}

void
constraint_cuda_prefer_image(struct query *q)
{
	struct workspace *w = q->w;
	const struct cuda_toolkit *t = variable_at(w, q->variable)->c[q->candidate].entry;
	struct solve_term term = term_is(w, q->variable, q->candidate);

	if (t && !t->image_os.n && selects_image(w))
		add_conflict(q, &term, 1, t->source, "no image of CUDA %s is known", t->version);
}
