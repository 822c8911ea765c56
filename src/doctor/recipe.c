#include "internal.h"

#include <stdlib.h>

#include "cuda/cuda.h"

/* Checks this host for every cell of a recipe. */

static void
check_driver_for(struct look *l, const struct stack *s)
{
	const char *level = driver_cuda(l),
		   *cuda = s->torch_tag ? cuda_of_tag(l->a, s->torch_tag) : NULL, *runs = NULL;

	if (!cuda)
		cuda = s->cuda.value;
	if (!cuda || !level)
		return;
	if (strtoul(level, NULL, 10) < strtoul(cuda, NULL, 10))
		found(l, FINDING_ERROR, "recipe-driver",
		      "torch finds no GPU: the driver is too old for its CUDA",
		      "update the driver, or use an older CUDA: stackbuild choose torch "
		      "--driver VERSION",
		      "%s needs CUDA %s, but driver %s supports CUDA %s", s->recipe->path, cuda,
		      l->gpus.driver ? l->gpus.driver : "", level);
	else if (version_order(l, level, cuda) < 0)
		found(l, FINDING_WARNING, "recipe-driver-minor",
		      "code that must be compiled from PTX does not run",
		      "update the driver, or use only GPUs for which the wheels have code",
		      "%s is built for CUDA %s, and driver %s is for CUDA %s", s->recipe->path,
		      cuda, l->gpus.driver ? l->gpus.driver : "", level);
	else
		runs = arena_printf(l->a, "driver %s supports CUDA %s of %s",
				    l->gpus.driver ? l->gpus.driver : "", cuda, s->recipe->path);
	if (runs && !names_have(&l->out->fine, runs))
		list_push(l->a, &l->out->fine, runs);
}

static void
check_gpus_for(struct look *l, const struct stack *s)
{
	struct names archs = { 0 };

	for (size_t i = 0; i < s->archs.n; i++)
		list_push(l->a, &archs, s->archs.at[i].value);
	for (size_t i = 0; archs.n && i < l->gpus.list.n; i++) {
		const struct host_gpu *g = &l->gpus.list.at[i];
		const char *cc = arena_printf(l->a, "%u.%u", g->major, g->minor);

		if (g->major && !capability_runs(&archs, cc))
			found(l, FINDING_ERROR, "recipe-gpu",
			      "extensions fail: no kernel image is available for execution",
			      arena_printf(l->a, "add \"%s\" to gpus: of the recipe", cc),
			      "GPU %zu (%s) has compute capability %s, and %s compiles for %s", i,
			      g->name, cc, s->recipe->path, names_join(l->a, &archs, ", "));
	}
}

static void
check_stack(struct look *l, const struct stack *s)
{
	size_t mib;

	check_driver_for(l, s);
	check_gpus_for(l, s);
	list_each (x, &s->extensions)
		if (x->source != SOURCE_WHEEL && x->mem_mib_per_job > l->host->mem_free_mib)
			found(l, FINDING_ERROR, "recipe-memory", "the kernel kills the compiler",
			      "free memory, or use the wheel of a store: build --store LOCATION",
			      "one compile job of %s takes %u MiB, and %zu MiB are available",
			      x->name, x->mem_mib_per_job, l->host->mem_free_mib);
	/* An image for one GPU had 6.1 GB; 15 GiB is an estimate, not a measurement. */
	if (s->torch_tag && cuda_of_tag(l->a, s->torch_tag) && free_mib(l, l->cwd, &mib) &&
	    mib < 15360)
		found(l, FINDING_WARNING, "recipe-disk",
		      "the build may fail: No space left on device",
		      "free some space, or build elsewhere",
		      "%zu MiB are free in %s, and a build with CUDA and torch takes about 15 GiB",
		      mib, l->cwd);
}

/* The cells of the matrix with a finding. */
struct cells {
	size_t n;
	const char *first;
};
struct cells_all LIST(struct cells);

/* Removes findings since `from` that an earlier cell already has, and counts the cells of each
 * finding. */
static void
merge(struct look *l, size_t first, size_t from, const char *cell, struct cells_all *cells)
{
	struct host_findings *all = &l->out->all;
	size_t n = from;

	for (size_t k = from; k < all->n; k++) {
		const struct host_finding f = all->at[k];
		size_t i = first;

		while (i < n &&
		       (strcmp(all->at[i].id, f.id) || strcmp(all->at[i].evidence, f.evidence)))
			i++;
		if (i < n) {
			l->out->errors -= f.level == FINDING_ERROR;
		} else {
			all->at[n++] = f;
			list_push(l->a, cells, (struct cells){ .first = cell });
		}
		cells->at[i - first].n++;
	}
	all->n = n;
}

void
check_recipe_host(struct look *l)
{
	struct host_findings *all = &l->out->all;
	const size_t first = all->n, n = l->o->stacks.n;
	struct cells_all cells = { 0 };

	for (size_t i = 0; i < n; i++) {
		const struct stack *s = l->o->stacks.at[i];
		size_t from = all->n;

		check_stack(l, s);
		merge(l, first, from, s->recipe->cell, &cells);
	}
	for (size_t i = 0; n > 1 && i < cells.n; i++)
		all->at[first + i].evidence = arena_printf(
			l->a, "%s (%zu of %zu cells, the first: %s)", all->at[first + i].evidence,
			cells.at[i].n, n, cells.at[i].first);
}
