#ifndef SHA256_H
#define SHA256_H

#include <stddef.h>

#include "arena.h"

/*
 * SHA-256 (FIPS 180-4) by OpenSSL's static archive.  The low-level calls, because
 * the one-shot SHA256() pulls in EVP and 3.7 ms of start-up.
 */
enum { SHA256_HEX = 64 };

/* The digest as 64 lower-case hex digits. */
const char *sha256_hex(struct arena *a, const void *bytes, size_t n);

#endif
