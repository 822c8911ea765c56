#include <stdlib.h>

#include "internal.h"

/* CUDA: the base image's, the toolkits that a build of torch accepts, and drivers. */

/* Returns true for the image in the recipe, not for another one that a repair uses. */
static bool
as_written(const struct query *q)
{
	const char *base = q->w->r->base.s;

	return base && !strcmp(candidate_of(q)->text, base);
}

/* Returns true if the toolkit belongs to the image, which is the default. */
static bool
from_image(const struct workspace *w)
{
	return w->r->cuda_from == CUDA_AUTO || w->r->cuda_from == CUDA_IMAGE;
}

/* Limits the base of a repair: an image of NVIDIA is replaced by one of NVIDIA, which must
 * exist. */
void
constraint_base_other(struct query *q, struct workspace *w)
{
	unsigned cuda = the_variable(w, VARIABLE_CUDA);
	const struct solver_variable *t = variable_at(w, cuda);
	solve_word *made = set_none(w, cuda);

	if (as_written(q))
		return;
	if (torch_of_base(w))
		add_conflict(q, TERMS(THIS(q)), NULL, "torch comes from the base");
	if (!w->image.cuda || !from_image(w))
		return;
	for (size_t i = 0; i < t->n; i++) {
		const struct cuda_toolkit *toolkit = t->c[i].entry;

		if (!toolkit || !toolkit->image_os.n)
			continue;
		solve_set_add(made, i);
		add_conflict(q,
			     TERMS(THIS(q), IN(cuda, set_one(w, cuda, i)),
				   LACKS(w, VARIABLE_OS, set_named, &toolkit->image_os, false)),
			     toolkit->source, "NVIDIA has images of CUDA %s for %s",
			     toolkit->version, names_words(w->a, &toolkit->image_os, "and"));
	}
	add_requires(q, cuda, made, NULL, "another base image has a CUDA with images");
}

/* Pins the version, build and Python of the base image's torch if the stack uses it. */
void
constraint_base_torch(struct query *q, struct workspace *w)
{
	const struct image_name *i = &w->image;
	const char *torch = torch_of_base(w), *checked;

	if (!torch || !as_written(q))
		return;
	checked = torch_checked_as(w, torch);
	add_conflict(q, TERMS(THIS(q), IS_NOT(w, VARIABLE_TORCH, set_text, checked)), i->source,
		     "%s has torch %s", w->r->base.s, torch);
	if (i->cuda)
		add_conflict(q,
			     TERMS(THIS(q),
				   IS_NOT(w, VARIABLE_BUILD, set_text, cuda_tag(w->a, i->cuda))),
			     i->source, "the torch of %s is for CUDA %s", w->r->base.s, i->cuda);
	if (i->python)
		add_conflict(q, TERMS(THIS(q), IS_NOT(w, VARIABLE_PYTHON, set_text, i->python)),
			     i->source, "the torch of %s is for Python %s", w->r->base.s,
			     i->python);
}

/* Each row is a part of the image's content: its Python is only preferred, its CUDA has a code of
 * its own. */
void
constraint_base(struct query *q, struct workspace *w)
{
	const struct image_name *i = &w->image;
	const char *base = w->r->base.s;
	unsigned cuda = the_variable(w, VARIABLE_CUDA);

	if (!as_written(q))
		return;
	if (q->kind->code == E_CUDA_TWICE && i->cuda && from_image(w))
		add_requires(q, cuda, set_cuda(w, cuda, i->cuda), NULL, "%s brings CUDA %s", base,
			     i->cuda);
	else if (q->kind->code == E_CUDA_TWICE)
		return;
	else if (q->kind->strength == STRENGTH_ERROR && i->os)
		add_conflict(q, TERMS(THIS(q), IS_NOT(w, VARIABLE_OS, set_text, i->os)), NULL,
			     "%s is %s", base, i->os);
	else if (q->kind->strength == STRENGTH_SECONDARY && i->python)
		add_conflict(q, TERMS(THIS(q), IS_NOT(w, VARIABLE_PYTHON, set_text, i->python)),
			     NULL, "%s has Python %s", base, i->python);
}

void
constraint_cuda_never(struct query *q, struct workspace *w)
{
	const struct candidate *c = candidate_of(q);
	const char *why = c->known ? NULL : facts_cuda_impossible(w->f, c->text);

	if (why)
		add_conflict(q, TERMS(THIS(q)), "knowledge/cuda.yaml", "there is no CUDA %s: %s",
			     c->text, why);
}

/* --- a build of torch and the toolkit --- */

/* A build without CUDA is selected only on request. */
void
constraint_build_gpu(struct query *q, struct workspace *w)
{
	const char *evidence = gpu_evidence(w);

	if (evidence && !strcmp(candidate_of(q)->text, "cpu"))
		add_conflict(q, TERMS(THIS(q)), NULL,
			     "torch's cpu build uses no GPU, and the recipe %s", evidence);
}

/* Prefers the same series; an image that stackbuild selects has a toolkit for every build. */
void
constraint_build_prefer_cuda(struct query *q, struct workspace *w)
{
	const char *build = candidate_of(q)->text, *own = cuda_of_tag(w->a, build);
	unsigned cuda = the_variable(w, VARIABLE_CUDA);
	solve_word *set = own ? set_cuda(w, cuda, own) : NULL;

	if (own && !set_is_empty(w, cuda, set))
		add_conflict(q,
			     TERMS(THIS(q), w->r->base.s ? IN(cuda, set_not(w, cuda, set)) :
							   NOT_IN(cuda, set)),
			     NULL, "torch's %s build is for CUDA %s", build, own);
}

/*
 * Pins the toolkit that torch's wheel on PyPI requires: pip accepts no other. On a base without
 * CUDA, this toolkit is only preferred: it then comes from PyPI's wheels, if they have it.
 */
void
constraint_torch_toolkit(struct query *q, struct workspace *w)
{
	const struct torch_release *t = ENTRY(q);
	const struct torch_variant *v = t ? torch_variant_on_pypi(t) : NULL;
	unsigned cuda;
	bool wheels = w->r->cuda_from == CUDA_WHEELS;
	bool open = w->r->cuda_from == CUDA_AUTO && w->r->base.s && !requested_cuda(w);
	solve_word *set;

	if (!v || !t->cuda_toolkit || !(q->kind->strength == STRENGTH_ERROR ? wheels : open))
		return;
	cuda = the_variable(w, VARIABLE_CUDA);
	set = set_cuda(w, cuda, t->cuda_toolkit);
	if (!set_is_empty(w, cuda, set))
		add_conflict(q,
			     TERMS(THIS(q), IS(w, VARIABLE_BUILD, set_text, v->tag),
				   IN(cuda, set_not(w, cuda, set))),
			     t->source,
			     "torch %s's %s build pins cuda-toolkit %s, and pip installs no other "
			     "version with it",
			     t->version, v->tag, t->cuda_toolkit);
}

/* Avoids CUDA releases without wheels; base.c reports a pinned one. */
void
constraint_cuda_wheels(struct query *q, struct workspace *w)
{
	const struct solver_variable *all = variable_at(w, q->variable);
	const struct cuda_toolkit *first = NULL;
	solve_word *without = set_none(w, q->variable);

	for (size_t i = 0; i < all->n; i++) {
		const struct cuda_toolkit *t = all->c[i].entry;

		if (t && t->wheels)
			first = t;
		else if (t)
			solve_set_add(without, i);
	}
	if (first && w->r->cuda_from == CUDA_WHEELS && !w->r->cuda.s)
		add_conflict(q, TERMS(IN(q->variable, without)), first->source,
			     "PyPI has wheels of nvcc from CUDA %s on",
			     version_series(w->a, first->version));
}

/* --- images that stackbuild selects --- */

/* Avoids releases without any image. */
void
constraint_cuda_image(struct query *q, struct workspace *w)
{
	const struct cuda_toolkit *t = ENTRY(q);

	if (!t || !selects_image(w))
		return;
	if (t->image_os.n && q->kind->strength == STRENGTH_ERROR)
		add_conflict(q,
			     TERMS(THIS(q), IS_NOT(w, VARIABLE_OS, set_named, &t->image_os, false)),
			     t->source, "NVIDIA has images of CUDA %s for %s", t->version,
			     names_words(w->a, &t->image_os, "and"));
	else if (!t->image_os.n && q->kind->strength != STRENGTH_ERROR)
		add_conflict(q, TERMS(THIS(q)), t->source,
			     "the knowledge base has no image with CUDA %s", t->version);
}

/* --- the oldest supported driver: which images start on it, and which code runs --- */

/* Returns the set of the drivers from a release on; "580.65" includes every 580.65.x. */
static solve_word *
drivers_from(struct workspace *w, unsigned driver, const char *least)
{
	return SET_WHERE(w, driver, c,
			 text_version_order(w, c->text, least) >= 0 ||
				 starts_with(least, arena_printf(w->a, "%s.", c->text)));
}

static const char *
build_label(struct workspace *w, unsigned build, const solve_word *set, unsigned long major)
{
	int asked = requested_in(w, build, set);

	return asked < 0 ?
		       arena_printf(w->a, "torch built for CUDA %lu", major) :
		       arena_printf(w->a, "torch's %s build", variable_at(w, build)->c[asked].text);
}

void
constraint_build_driver(struct query *q, struct workspace *w)
{
	int driver = variable_find(w, "driver");
	unsigned long major = 0, own;
	size_t n;
	const struct cuda_toolkit *const *all = facts_cuda_all(w->f, &n);

	for (size_t i = 0; driver >= 0 && i < n; i++, major = own) {
		const struct cuda_toolkit *t =
			facts_cuda(w->f, version_series(w->a, all[i]->version));
		solve_word *these;

		own = strtoul(all[i]->version, NULL, 10);
		if (own == major || !t->driver_compat)
			continue;
		these = SET_WHERE(w, q->variable, c, cuda_major_of_tag(c->text) == own);
		add_allows_if(q, these, (unsigned)driver,
			      drivers_from(w, (unsigned)driver, t->driver_compat), t->source,
			      "%s needs driver %s or newer, like every build for CUDA %lu",
			      build_label(w, q->variable, these, own), t->driver_compat, own);
	}
}

/*
 * Returns the driver of the first release of a series, with which its images start. If it is
 * unknown, it is at least that of the series before, since driver numbers follow CUDA.
 */
static const char *
driver_of_series(struct workspace *w, const char *series)
{
	const char *of = NULL, *driver = NULL;
	size_t n;
	const struct cuda_toolkit *const *all = facts_cuda_all(w->f, &n);

	for (size_t i = 0; i < n; i++)
		if (all[i]->driver_min && !version_same_series(all[i]->version, of) &&
		    text_version_order(w, version_series(w->a, all[i]->version), series) <= 0) {
			of = all[i]->version;
			driver = all[i]->driver_min;
		}
	return driver;
}

void
constraint_cuda_driver(struct query *q, struct workspace *w)
{
	const struct cuda_toolkit *t = ENTRY(q);
	int driver = variable_find(w, "driver");
	const char *series = t ? version_series(w->a, t->version) : NULL;
	const char *least = t ? driver_of_series(w, series) : NULL;

	/* With NVIDIA_DISABLE_REQUIRE, the container runtime does not check the driver. */
	if (driver >= 0 && least && !env_is(w, "NVIDIA_DISABLE_REQUIRE", "1 true") &&
	    (selects_image(w) || w->image.cuda))
		add_allows(q, (unsigned)driver, drivers_from(w, (unsigned)driver, least), t->source,
			   "an image with CUDA %s does not start on a driver before %s", series,
			   least);
}
