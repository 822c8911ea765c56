#ifndef PYTHON_MARKER_H
#define PYTHON_MARKER_H

#include "python/specifier.h"

/* A text that is read from left to right; `at` stops where it is wrong. */
struct scan {
	struct arena *a;
	const char *p, *end;
	const char *why; /* what is wrong at `p` */
};

/* NULL with s->why and s->p where it is wrong. */
struct marker *marker_read(struct scan *s);

void scan_blank(struct scan *s);                  /* skip spaces and tabs */
void *scan_fail(struct scan *s, const char *why); /* NULL */

/*
 * literal_value -- a Python string literal as ast.literal_eval() reads it.
 *
 *   in   s[0..n): with its quotes; no such quote inside
 *   out  its value, or NULL: an escape that does not exist, a line end, a NUL
 */
const char *literal_value(struct arena *a, const char *s, size_t n);

#endif
