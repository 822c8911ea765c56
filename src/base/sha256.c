#define OPENSSL_SUPPRESS_DEPRECATED
#include "sha256.h"

#include <openssl/sha.h>
#include <string.h>

const char *
sha256_hex(struct arena *a, const void *bytes, size_t n)
{
	static const char digits[] = "0123456789abcdef";
	unsigned char sum[SHA256_DIGEST_LENGTH];
	char *hex = arena_alloc(a, SHA256_HEX + 1, 1);
	SHA256_CTX c;

	SHA256_Init(&c);
	SHA256_Update(&c, bytes, n);
	SHA256_Final(sum, &c);
	for (size_t i = 0; i < sizeof(sum); i++) {
		hex[2 * i] = digits[sum[i] >> 4];
		hex[2 * i + 1] = digits[sum[i] & 15];
	}
	return hex;
}
