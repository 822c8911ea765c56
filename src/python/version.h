#ifndef PYTHON_VERSION_H
#define PYTHON_VERSION_H

#include "python/python.h"

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

/* V.dev0, the first version that belongs to V, which is no pre-release itself. */
const struct version *version_first_dev(struct arena *a, const struct version *v);

/* As version_cmp, but without the local parts. */
int version_cmp_public(const struct version *x, const struct version *y);

/* Do both have the same epoch, release and a, b or rc? */
bool version_same_pre(const struct version *x, const struct version *y);

#endif
