#include <stdlib.h>

#include "internal.h"

/* The oldest driver that the stack must run on: what it starts, and what it runs. */

/* A driver that is written short, "580.65", is any of those: it is compared as far as it goes. */
static const char *
as_far_as(struct workspace *w, const char *least, const char *written)
{
	size_t n = 0, dots = 0;

	for (const char *p = written; *p; p++)
		dots += *p == '.';
	for (dots++; least[n] && (least[n] != '.' || --dots); n++)
		;
	return arena_copy(w->a, least, n);
}

/* Drivers, of which there is one, that are as new as that. */
static solve_word *
drivers_from(struct workspace *w, unsigned driver, const char *least)
{
	return SET_WHERE(w, driver, c,
			 text_version_order(w, c->text, as_far_as(w, least, c->text)) >= 0);
}

void
constraint_build_driver(struct query *q)
{
	struct workspace *w = q->w;
	int driver = variable_find(w, "driver");

	for (unsigned long m = CUDA_MAJOR_FIRST; driver >= 0 && m <= CUDA_MAJOR_LAST; m++) {
		const struct cuda_toolkit *t = facts_cuda(w->f, arena_printf(w->a, "%lu.0", m));
		solve_word *these = set_builds_of(w, q->variable, m);

		for (unsigned minor = 1; !t && minor < 10; minor++)
			t = facts_cuda(w->f, arena_printf(w->a, "%lu.%u", m, minor));
		if (t && t->driver_compat)
			add_allows_if(q, these, (unsigned)driver,
				      drivers_from(w, (unsigned)driver, t->driver_compat),
				      t->source,
				      "%s needs driver %s or newer, as all does that is made with "
				      "CUDA %lu",
				      build_label(w, q->variable, m), t->driver_compat, m);
	}
}

/*
 * The driver of the first release of a series: its images start from that one on.  Where none
 * is known it is at least that of the series before: drivers are numbered as CUDA is.
 */
static const char *
driver_of_series(struct workspace *w, const char *version)
{
	const char *series = version_series(w->a, version), *of = NULL, *driver = NULL;
	size_t n;
	const struct cuda_toolkit *const *all = facts_cuda_all(w->f, &n);

	for (size_t i = 0; i < n; i++) {
		const char *own = version_series(w->a, all[i]->version);

		if (!all[i]->driver_min || (of && !strcmp(of, own)) ||
		    text_version_order(w, own, series) > 0)
			continue;
		of = own;
		driver = all[i]->driver_min;
	}
	return driver;
}

/* The container runtime does not look where NVIDIA_DISABLE_REQUIRE says so. */
static bool
looks_at_driver(const struct workspace *w)
{
	const char *off = env_value(w, "NVIDIA_DISABLE_REQUIRE");

	return !off || (strcmp(off, "1") != 0 && strcmp(off, "true") != 0);
}

void
constraint_cuda_driver(struct query *q)
{
	struct workspace *w = q->w;
	const struct cuda_toolkit *t = ENTRY(q);
	int driver = variable_find(w, "driver");
	const char *least = t ? driver_of_series(w, t->version) : NULL;

	if (driver < 0 || !least || !looks_at_driver(w) || (!selects_image(w) && !w->image.cuda))
		return;
	add_allows(q, (unsigned)driver, drivers_from(w, (unsigned)driver, least), t->source,
		   "an image with CUDA %s does not start on a driver before %s",
		   version_series(w->a, t->version), least);
}
