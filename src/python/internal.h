#ifndef PYTHON_INTERNAL_H
#define PYTHON_INTERNAL_H

#include <stdint.h>

#include "python/python.h"

/* --- text --- */

/*
 * UTF-8 text as Python's str methods and regular expressions see it.  A byte that
 * is not part of UTF-8 is a character of its own that belongs to no class.
 * Surrogates (which a Python string may hold) count as characters.
 *
 *   source: Unicode 14.0, through tests/python/unicode_table.py
 */

enum unicode_class {
	UNI_WORD = 1,     /* \w */
	UNI_ID_START = 2, /* str.isidentifier(), the first character */
	UNI_ID_PART = 4,  /* and the others */
	UNI_SPACE = 8,    /* \s, str.strip() */
	UNI_CASED = 16,
	UNI_IGNORED = 32, /* case-ignorable */
};

/* Replaces a NUL, which a Python string may contain and a C string may not. */
#define UNICODE_NUL "\xc0\x80"

/* strcmp in the order of Python's strings. */
int unicode_cmp(const char *x, const char *y);

/* Sorts texts in that order, and removes duplicates. */
void unicode_sort(struct names *texts);

/* Returns the classes of a code point. */
unsigned unicode_classes_of(uint32_t cp);

/* Returns bytes of the character at s[0..n), n > 0, and its code point (or UINT32_MAX). */
size_t unicode_next(const char *s, size_t n, uint32_t *cp);

/* Returns bytes that `cp` takes at `out` (4 at most). */
size_t unicode_put(char *out, uint32_t cp);

/* Returns bytes of the white space character that s[0..n) starts or ends with, or 0. */
size_t unicode_space(const char *s, size_t n);
size_t unicode_space_before(const char *s, size_t n);

/* str.lower(). */
char *unicode_lower_of(struct arena *a, const char *s, size_t n);

/* --- versions --- */

/*
 * A version is kept as bytes whose order is PEP 440's:
 *
 *     key     = epoch release KEY_END pre post dev local
 *     epoch   = number
 *     release = number*        its last zeros are left out: `zeros` counts them
 *     pre     = rank, and for a, b and rc the count: number
 *     post    = KEY_END | number
 *     dev     = KEY_NO_DEV | number
 *     local   = (KEY_WORD letter* KEY_END | KEY_DIGITS number)* KEY_END
 *     number  = KEY_MORE*      for each KEY_DIGITS_MAX digits that are left
 *               KEY_NUMBER + count of the other digits, then all digits without zeros in front
 *
 * KEY_END is below every number, so that 1 < 1.0.1; the rank of a version that has a dev part
 * alone is below those of a, b and rc.
 */
struct version {
	const unsigned char *key;
	size_t n;        /* bytes in key */
	size_t n_public; /* bytes without the local part */
	size_t n_pre;    /* bytes up to and with pre */
	size_t zeros;
	bool is_pre;
	bool huge; /* a number has more than VERSION_DIGITS_MAX digits: not to be compared */
	const char *local; /* normalised, or NULL */
};

enum { VERSION_DIGITS_MAX = 4300 }; /* what Python's int() takes */

/* Reads a version that takes up all of s[0..n), white space round it apart, into the arena; NULL:
 * not a version. */
const struct version *version_of_any_size(struct arena *a, const char *s, size_t n);
/* NULL for a huge one as well. */
const struct version *version_of(struct arena *a, const char *s, size_t n);

/*
 * version_stem -- the bytes that a version must start with to match "V.*".
 *
 *   in   the version V; how many numbers at the end of its release do not count
 *   out  *n bytes: epoch and release with all its zeros
 */
const unsigned char *version_stem(struct arena *a, const struct version *v, size_t less, size_t *n);
bool version_has_stem(const struct version *v, const unsigned char *stem, size_t n);

/* Nothing but epoch and release, and perhaps a local part?  A post or dev part? */
bool version_is_release(const struct version *v);
bool version_has_post_or_dev(const struct version *v);

/* V.dev0, the first version that belongs to V, which is not a pre-release itself. */
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

/* One of ">=2,<3". */
struct clause {
	enum clause_op op;
	bool wildcard;               /* ==V.* and !=V.* */
	bool unusable;               /* it matches no version; see specifiers_match */
	bool canonical;              /* ===: `asked` is how version_text writes v */
	const char *text;            /* operator and version, as written but for white space */
	const char *asked;           /* ===: the required text, in lower case */
	const struct version *v;     /* NULL: === with a text that is not a version */
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

/* Returns true if the clause accepts the version; `lower` is its text in lower case, for ===. */
bool clause_match(const struct clause *c, const struct version *v);
bool clause_match_text(const struct clause *c, const struct version *v, const char *lower);

/* specifiers_parse for s[0..n). */
const struct specifiers *specifiers_of(struct arena *a, const char *s, size_t n);

/* --- requirements and markers --- */

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
