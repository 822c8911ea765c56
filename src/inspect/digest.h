#ifndef INSPECT_DIGEST_H
#define INSPECT_DIGEST_H

#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"

/* The digests that a RECORD may hold: at least as strong as SHA-256 (PEP 427). */
enum digest_kind { DIGEST_NONE, DIGEST_SHA256, DIGEST_SHA384, DIGEST_SHA512 };

struct digest {
	enum digest_kind kind;
	SHA256_CTX of_256;
	SHA512_CTX of_512; /* SHA-384 too */
};

/* "sha256=..." -> its kind; DIGEST_NONE: another word.  *value is what follows the sign. */
enum digest_kind digest_kind(struct str text, struct str *value);

void digest_start(struct digest *d, enum digest_kind kind);
void digest_add(struct digest *d, const void *bytes, size_t n);
/* Bytes of the sum, at most SHA512_DIGEST_LENGTH. */
size_t digest_end(struct digest *d, unsigned char sum[SHA512_DIGEST_LENGTH]);

const char *digest_hex(struct arena *a, const unsigned char *sum, size_t n);
/* urlsafe base64 without padding, as RECORD has it. */
const char *digest_base64(struct arena *a, const unsigned char *sum, size_t n);

#endif
