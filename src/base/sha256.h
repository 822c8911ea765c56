#ifndef SHA256_H
#define SHA256_H

#include <stddef.h>

#include "arena.h"

/*
 * SHA-256 (FIPS 180-4) by OpenSSL's static archive. It uses the low-level calls, because SHA256()
 * would link EVP and add 3.7 ms at start.
 */
enum { SHA256_HEX = 64 };

/* Returns the digest as 64 lower-case hex digits. */
const char *sha256_hex(struct arena *a, const void *bytes, size_t n);

/* Computes the digest in pieces, for data that does not fit into memory. */
struct sha256;
struct sha256 *sha256_new(struct arena *a);
void sha256_add(struct sha256 *s, const void *bytes, size_t n);
const char *sha256_end(struct arena *a, struct sha256 *s); /* call it once */

/* Returns the digest of a file, and its size in bytes; NULL: errno has the reason. */
const char *sha256_file(struct arena *a, const char *path, size_t *size);

#endif
