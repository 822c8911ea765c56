#ifndef INSPECT_DIGEST_H
#define INSPECT_DIGEST_H

#include <openssl/evp.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/str.h"

static inline void
digest_free(EVP_MD_CTX **d)
{
	EVP_MD_CTX_free(*d);
}

#define CLEANUP_DIGEST __attribute__((cleanup(digest_free)))

/* "sha256=..." -> the algorithm, and in *value what follows the sign.  NULL: the algorithm is
 * unknown or weaker than SHA-256, which PEP 427 requires of a RECORD. */
const EVP_MD *digest_kind(struct str text, struct str *value);

EVP_MD_CTX *digest_new(const EVP_MD *kind);
/* URL-safe base64 without padding, as in a RECORD. */
const char *digest_end(struct arena *a, EVP_MD_CTX *d);

#endif
