#ifndef PYTHON_UNICODE_H
#define PYTHON_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/list.h"

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

/* What stands for a NUL, which a Python string may hold and a C string may not. */
#define UNICODE_NUL "\xc0\x80"

/* strcmp in the order of Python's strings. */
int unicode_cmp(const char *x, const char *y);

/* Sorts texts in that order, and leaves each out that is there already. */
void unicode_sort(struct names *texts);

/* The classes of a code point. */
unsigned unicode_classes_of(uint32_t cp);

/* Bytes of the character at s[0..n), n > 0, and its code point (or UINT32_MAX). */
size_t unicode_next(const char *s, size_t n, uint32_t *cp);

/* Bytes that `cp` takes at `out` (4 at most). */
size_t unicode_put(char *out, uint32_t cp);

/* Bytes of the white space character that s[0..n) starts or ends with, or 0. */
size_t unicode_space(const char *s, size_t n);
size_t unicode_space_before(const char *s, size_t n);

/* str.lower(). */
char *unicode_lower_of(struct arena *a, const char *s, size_t n);

#endif
