#ifndef PYTHON_INTERNAL_H
#define PYTHON_INTERNAL_H

#include <stdint.h>

#include "python/python.h"

/* --- text --- */

/*
 * UTF-8 text with the semantics of Python's str methods and regular expressions. A byte that is not
 * part of UTF-8 is a separate character without a class. Surrogates, which a Python string may
 * contain, count as characters.
 *
 *   source: Unicode 14.0, through tests/python/unicode_table.py
 */

enum unicode_class {
	UNI_WORD = 1,     /* \w */
	UNI_ID_START = 2, /* str.isidentifier(): first character */
	UNI_ID_PART = 4,  /* str.isidentifier(): other characters */
	UNI_SPACE = 8,    /* \s, str.strip() */
	UNI_CASED = 16,
	UNI_IGNORED = 32, /* case-ignorable */
};

/* Replaces a NUL, which a Python string may contain and a C string may not. */
#define UNICODE_NUL "\xc0\x80"

/* Compares texts in the order of Python's strings. */
int unicode_cmp(const char *x, const char *y);

/* Sorts texts in that order, and removes duplicates. */
void unicode_sort(struct names *texts);

/* Returns the classes of a code point. */
unsigned unicode_classes_of(uint32_t cp);

/* Returns the number of bytes of the character at s[0..n), n > 0, and its code point (or
 * UINT32_MAX). */
size_t unicode_next(const char *s, size_t n, uint32_t *cp);

/* Writes `cp` to `out` and returns its number of bytes (at most 4). */
size_t unicode_put(char *out, uint32_t cp);

/* Return the number of bytes of the white space at the start or end of s[0..n), or 0. */
size_t unicode_space(const char *s, size_t n);
size_t unicode_space_before(const char *s, size_t n);

/* Returns the text in lower case, like str.lower(). */
char *unicode_lower_of(struct arena *a, const char *s, size_t n);

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
 *     number  = KEY_MORE*      for each KEY_DIGITS_MAX digits
 *               KEY_NUMBER + count of the other digits, then all digits without zeros in front
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
	bool huge; /* a number has more than VERSION_DIGITS_MAX digits, and cannot be compared */
	const char *local; /* normalised, or NULL */
};

enum { VERSION_DIGITS_MAX = 4300 }; /* limit of Python's int() */

/* Parses s[0..n) as a version, which white space may surround; NULL: not a version. */
const struct version *version_of_any_size(struct arena *a, const char *s, size_t n);
/* The same; also NULL for a huge version. */
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
	bool unusable;               /* it matches no version; see specifiers_match */
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
	bool unusable; /* one of them is unusable */
	struct clause at[];
};

/* Return the text of an operator, "<="; and the bytes of the one at the start of s[0..n), or 0
 * (also for "in" and "not in"). */
const char *op_text(enum clause_op op);
size_t op_read(const char *s, size_t n, enum clause_op *op);

/* Parses s[0..n) as a clause, which white space may surround. */
bool clause_read(struct arena *a, const char *s, size_t n, struct clause *out);

/* Returns true if the clause accepts the version; `lower` is its text in lower case, for ===. */
bool clause_match(const struct clause *c, const struct version *v);
bool clause_match_text(const struct clause *c, const struct version *v, const char *lower);

/* Does the same as specifiers_parse for s[0..n). */
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

void scan_blank(struct scan *s);                  /* skip spaces and tabs */
void *scan_fail(struct scan *s, const char *why); /* NULL */

/*
 * literal_value -- returns the value of a Python string literal, like ast.literal_eval().
 *
 *   in   s[0..n): with its quotes; no such quote inside
 *   out  its value, or NULL: an escape that does not exist, a line end, a NUL
 */
const char *literal_value(struct arena *a, const char *s, size_t n);

#endif
