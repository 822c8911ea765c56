#ifndef PYTHON_SPECIFIER_H
#define PYTHON_SPECIFIER_H

#include "python/version.h"

/* How two values are compared; the last two are of markers alone. */
enum clause_op {
	OP_LE,
	OP_LT,
	OP_NE,
	OP_EQ,
	OP_GE,
	OP_GT,
	OP_COMPATIBLE,
	OP_ARBITRARY,
	OP_IN,
	OP_NOT_IN,
};

/* One of ">=2,<3". */
struct clause {
	enum clause_op op;
	bool wildcard;               /* ==V.* and !=V.* */
	bool unusable;               /* it matches no version; see specifiers_match */
	bool canonical;              /* ===: `asked` is how version_text writes v */
	const char *text;            /* operator and version, as written but for white space */
	const char *asked;           /* ===: what it asks for, lower case */
	const struct version *v;     /* NULL: === with what is not a version */
	const struct version *bound; /* <: all that it takes is below */
	const unsigned char *stem;   /* V.* and ~= */
	size_t n_stem;
};

struct specifiers {
	size_t n;
	bool arbitrary; /* one of them is === */
	bool unusable;  /* one of them is */
	struct clause at[];
};

/* "<="; and the bytes of the operator that s[0..n) starts with, or 0: "in" and "not in" are none. */
const char *op_text(enum clause_op op);
size_t op_read(const char *s, size_t n, enum clause_op *op);

/* Read the one clause that takes up all of s[0..n), white space round it apart. */
bool clause_read(struct arena *a, const char *s, size_t n, struct clause *out);

/* Does the clause take the version?  `lower` is its text in lower case, for ===. */
bool clause_match(const struct clause *c, const struct version *v);
bool clause_match_text(const struct clause *c, const struct version *v, const char *lower);

/* specifiers_parse for s[0..n). */
const struct specifiers *specifiers_of(struct arena *a, const char *s, size_t n);

#endif
