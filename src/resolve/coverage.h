#ifndef RESOLVE_COVERAGE_H
#define RESOLVE_COVERAGE_H

#include "internal.h"

/* The coverage of the parts of a stack, and doubts about releases that were read. */

/* Adds a part of the stack, unless one with that name is there. */
void coverage_add(struct workspace *w, struct stack_part part);
/* Adds the packages that the recipe names, and those that others require. */
void coverage_packages(struct workspace *w);
/* Returns the selected release of a package or extension; NULL: the stack does not have it, or the
 * variable is something else. */
const struct candidate *selected_package(struct workspace *w, unsigned variable);
/* Returns the coverage of a release of a package. */
enum coverage coverage_of(struct workspace *w, const struct solver_variable *t,
			  const struct candidate *c);
/* Returns the last day in a source, "read 2026-11-20", or NULL. */
const char *coverage_date(struct arena *a, const char *source);
/* Returns the newest listed release if a candidate is an unlisted one above it, so that no range of
 * releases in the knowledge base includes it; else NULL. */
const char *candidate_beyond(struct workspace *w, const struct solver_variable *t,
			     const struct candidate *c);

/* --- later.c --- */

/* Returns "its later release 1.13.3 requires transformers<4.35": what a release soon after a candidate
 * excludes and the recipe pins, or NULL. */
const char *release_bounded(struct workspace *w, const struct solver_variable *t,
			    const struct candidate *c);
/* Returns a pinned package of a later line than a candidate that requires it without an upper bound. */
const char *release_later(struct workspace *w, const struct solver_variable *t,
			  const struct candidate *c);
/* Returns true if the stack compiles an extension released before the line of its torch. */
bool extension_is_older(struct workspace *w, const struct stack_extension *x);

#endif
