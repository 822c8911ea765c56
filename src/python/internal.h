#ifndef PYTHON_INTERNAL_H
#define PYTHON_INTERNAL_H

#include <stdint.h>

#include "python/python.h"

/* --- text --- */

/* Returns true for ASCII's white space, as str.strip() removes it. */
static inline bool
is_space(char c)
{
	return c == ' ' || (c >= 9 && c <= 13) || (c >= 0x1c && c <= 0x1f);
}

/* Removes the white space around s[0..n). */
void trim(const char **s, size_t *n);

/* --- versions --- */

/*
 * A version is stored as bytes whose order is that of PEP 440:
 *
 *     key     = epoch release KEY_END pre post dev local
 *     epoch   = number
 *     release = number*        without trailing zeros, which `zeros` counts
 *     pre     = rank, and for a, b and rc the count: number
 *     post    = KEY_END | number
 *     dev     = KEY_NO_DEV | number
 *     local   = (KEY_WORD letter* KEY_END | KEY_DIGITS number)* KEY_END
 *     number  = KEY_NUMBER + count of the digits, then the digits without zeros in front
 *
 * KEY_END is below every number, so that 1 < 1.0.1; the rank of a version with only a dev part is
 * below those of a, b and rc.
 */
struct version {
	const unsigned char *key;
	size_t n;        /* bytes in key */
	size_t n_public; /* bytes without the local part */
	size_t n_pre;    /* bytes up to and including pre */
	size_t zeros;
	bool is_pre;
	const char *local; /* normalised, or NULL */
};

enum { VERSION_DIGITS_MAX = 100 }; /* of a number, without zeros in front */

/* Parses s[0..n) as a version, which white space may surround; NULL: not a version. */
const struct version *version_of(struct arena *a, const char *s, size_t n);

/*
 * version_stem -- returns the bytes at the start of every version that matches "V.*".
 *
 *   in   the version V; less: how many numbers at the end of its release to ignore
 *   out  *n bytes: epoch and release with all its zeros
 */
const unsigned char *version_stem(struct arena *a, const struct version *v, size_t less, size_t *n);
bool version_has_stem(const struct version *v, const unsigned char *stem, size_t n);

/* Return true for a version of only epoch, release and an optional local part; for one with a post
 * part; with a dev part. */
bool version_is_release(const struct version *v);
bool version_has_post_or_dev(const struct version *v);

/* Returns V.dev0, the first version of V, which must not be a pre-release itself. */
const struct version *version_first_dev(struct arena *a, const struct version *v);

/* Compares like version_cmp, but without the local parts. */
int version_cmp_public(const struct version *x, const struct version *y);

/* Returns true if both have the same epoch, release and a, b or rc. */
bool version_same_pre(const struct version *x, const struct version *y);

/* --- specifiers --- */

/* The comparisons of two values; only markers have the last two. */
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

/* A clause of ">=2,<3". */
struct clause {
	enum clause_op op;
	bool wildcard;               /* ==V.* and !=V.* */
	bool canonical;              /* ===: `asked` is the normalised form of v */
	const char *text;            /* operator and version, without white space */
	const char *asked;           /* ===: the required text, in lower case */
	const struct version *v;     /* NULL: === with a text that is not a version */
	const struct version *bound; /* <: accepts versions below this one */
	const unsigned char *stem;   /* V.* and ~= */
	size_t n_stem;
};

struct specifiers {
	size_t n;
	struct clause at[];
};

/* Return the text of an operator, "<="; and the bytes of the one at the start of s[0..n), or 0
 * (also for "in" and "not in"). */
const char *op_text(enum clause_op op);
size_t op_read(const char *s, size_t n, enum clause_op *op);

/* Parses s[0..n) as a clause, which white space may surround. */
bool clause_read(struct arena *a, const char *s, size_t n, struct clause *out);

/* Returns true if the clause accepts the version. */
bool clause_match(const struct clause *c, const struct version *v);

/* Parses s[0..n) like specifiers_parse. */
const struct specifiers *specifiers_of(struct arena *a, const char *s, size_t n);

/* --- requirements and markers --- */

/* A text that is read from left to right; `at` stops at an error. */
struct scan {
	struct arena *a;
	const char *p, *end;
	const char *why; /* the error at `p` */
};

/* Reads a marker; NULL: s->why and s->p have the error. */
struct marker *marker_read(struct scan *s);

/* Skips spaces and tabs. */
void scan_blank(struct scan *s);
/* Records the error at the current position, and returns NULL. */
void *scan_fail(struct scan *s, const char *why);

#endif
