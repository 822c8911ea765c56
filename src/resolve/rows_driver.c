#include <stdlib.h>

#include "internal.h"

/* The oldest driver that the stack must run on: what it starts, and what it runs. */

/* Drivers, of which there is one, that are as new as that; "580.65" is any 580.65.x. */
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
			      "%s needs driver %s or newer, as all does that is made with CUDA %lu",
			      build_label(w, q->variable, these, own), t->driver_compat, own);
	}
}

/*
 * The driver of the first release of a series: its images start from that one on.  Where none
 * is known it is at least that of the series before: drivers are numbered as CUDA is.
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

	/* The container runtime does not look where NVIDIA_DISABLE_REQUIRE says so. */
	if (driver >= 0 && least && !env_is(w, "NVIDIA_DISABLE_REQUIRE", "1 true") &&
	    (selects_image(w) || w->image.cuda))
		add_allows(q, (unsigned)driver, drivers_from(w, (unsigned)driver, least), t->source,
			   "an image with CUDA %s does not start on a driver before %s", series,
			   least);
}
