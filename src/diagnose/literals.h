#ifndef DIAGNOSE_LITERALS_H
#define DIAGNOSE_LITERALS_H

#include "base/list.h"
#include "base/str.h"

/*
 * Finds all places of many texts in another text in one pass, ignoring the case of ASCII letters
 * (Wu and Manber 1994: blocks of three bytes decide how far the window moves).
 */
struct literals;

enum { LITERAL_MIN = 5 }; /* minimum bytes of a text */

/* Prepares a search, in the arena a; omits texts shorter than LITERAL_MIN. */
struct literals *literals_new(struct arena *a, const struct names *texts);

/*
 * literals_find -- calls found() for each text that begins in p[from..to), in the order of the
 * places.
 *
 *   in   n: bytes of p; to <= n: a text that begins before `to` may end after it found: gets the
 *        index of the text in `texts` and its place
 */
typedef void literals_found(void *ctx, size_t text, size_t at);
void literals_find(const struct literals *s, const char *p, size_t n, size_t from, size_t to,
		   literals_found *found, void *ctx);

#endif
