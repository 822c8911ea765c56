#ifndef PYTHON_VERSION_H
#define PYTHON_VERSION_H

#include <stdint.h>

#include "python/python.h"

/*
 * A version is kept as 64-bit words whose order, word by word, is PEP 440's:
 *
 *     key     = epoch release VERSION_END pre post dev
 *     epoch   = number
 *     release = number*        its last zeros are left out: `zeros` counts them
 *     pre     = rank << 61, and for a, b and rc the count in the bits below
 *     post    = 0 | number
 *     dev     = VERSION_NO_DEV | number
 *     number  = n + 1          up to 18 digits
 *             | VERSION_BIG + count of digits, then 18 digits a word, each word + 1
 *
 * VERSION_END is below every number, so that 1 < 1.0.1.  A count of more than 18
 * digits in `pre` sets VERSION_PRE_BIG and is followed by its digits likewise.  The
 * local part stands outside, as text.
 */
struct version {
	const uint64_t *key;
	size_t n;     /* words in key */
	size_t n_pre; /* words up to and with pre */
	size_t zeros;
	bool is_pre;
	bool huge; /* a number has more than VERSION_DIGITS_MAX digits: not to be compared */
	const char *local; /* normalised, or NULL */
};

enum version_rank { RANK_DEV_ONLY, RANK_A, RANK_B, RANK_RC, RANK_FINAL };

#define VERSION_RANK_SHIFT 61
#define VERSION_END UINT64_C(0)
#define VERSION_ZERO UINT64_C(1)
#define VERSION_NO_DEV UINT64_MAX
#define VERSION_BIG (UINT64_C(1) << 63)
#define VERSION_PRE_BIG (UINT64_C(1) << 60)

enum {
	VERSION_DIGITS = 18,       /* that fit a word */
	VERSION_DIGITS_MAX = 4300, /* what Python's int() takes */
	VERSION_WORDS = 8,         /* a key has at most that many words more than its text bytes */
};

/* Where version_read puts what it reads: text bytes + VERSION_WORDS, text bytes + 1. */
struct version_room {
	uint64_t *words;
	char *local;
};

/* Read a version, huge or not, that takes up all of s[0..n), white space round it apart. */
bool version_read(const char *s, size_t n, struct version_room room, struct version *out);

/* The same, into the arena; NULL: not a version. */
const struct version *version_of_any_size(struct arena *a, const char *s, size_t n);
/* NULL for a huge one as well. */
const struct version *version_of(struct arena *a, const char *s, size_t n);

/*
 * version_stem -- the words that a version must start with to match "V.*".
 *
 *   in   the version V; how many numbers at the end of its release do not count
 *   out  *n words: epoch and release with all its zeros
 */
const uint64_t *version_stem(struct arena *a, const struct version *v, size_t less, size_t *n);
bool version_has_stem(const struct version *v, const uint64_t *stem, size_t n);

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
