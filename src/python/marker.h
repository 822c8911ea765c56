#ifndef PYTHON_MARKER_H
#define PYTHON_MARKER_H

#include "python/specifier.h"

/* PEP 508's variables, and what a marker may compare them with. */
struct operand {
	bool variable;
	const char *text;
};

enum marker_op {
	MARK_IN,
	MARK_NOT_IN,
	MARK_LT,
	MARK_LE,
	MARK_EQ,
	MARK_NE,
	MARK_GE,
	MARK_GT,
	MARK_COMPATIBLE,
	MARK_ARBITRARY,
};

enum marker_kind { MARKER_ITEM, MARKER_LIST };

/*
 * A marker is a list of items and lists with "and" and "or" between them, as it was
 * written: "and" binds closer, parentheses make a list.
 */
struct marker {
	enum marker_kind kind;
	bool or_before;      /* "or" stands before it, not "and" */
	struct marker *next; /* in the same list */

	struct marker *first; /* MARKER_LIST */

	struct operand lhs, rhs; /* MARKER_ITEM */
	enum marker_op op;
	const struct clause *clause; /* variable op "...": what it says as a specifier, or NULL */
};

/* Is the variable's value a name (or a set of them)?  A version? */
bool marker_names(const char *variable);
bool marker_versions(const char *variable);

const char *marker_op_text(enum marker_op op);

/* The comparison as a specifier, or NULL: it is one of texts. */
const struct clause *marker_clause(struct arena *a, enum marker_op op, const char *version);

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
