#define OPENSSL_SUPPRESS_DEPRECATED
#include "sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/sha.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct sha256 {
	SHA256_CTX c;
};

struct sha256 *
sha256_new(struct arena *a)
{
	struct sha256 *s = arena_new_of(a, struct sha256);

	SHA256_Init(&s->c);
	return s;
}

void
sha256_add(struct sha256 *s, const void *bytes, size_t n)
{
	SHA256_Update(&s->c, bytes, n);
}

const char *
sha256_end(struct arena *a, struct sha256 *s)
{
	static const char digits[] = "0123456789abcdef";
	unsigned char sum[SHA256_DIGEST_LENGTH];
	char *hex = arena_alloc(a, SHA256_HEX + 1, 1);

	SHA256_Final(sum, &s->c);
	for (size_t i = 0; i < sizeof(sum); i++) {
		hex[2 * i] = digits[sum[i] >> 4];
		hex[2 * i + 1] = digits[sum[i] & 15];
	}
	return hex;
}

const char *
sha256_hex(struct arena *a, const void *bytes, size_t n)
{
	struct sha256 s;

	SHA256_Init(&s.c);
	sha256_add(&s, bytes, n);
	return sha256_end(a, &s);
}

const char *
sha256_file(struct arena *a, const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), err;
	struct sha256 s;
	struct stat st;
	char block[64 * 1024];
	ssize_t n = -1;

	*size = 0;
	SHA256_Init(&s.c);
	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) == 0 && !S_ISREG(st.st_mode))
		errno = EISDIR;
	else
		while ((n = read(fd, block, sizeof(block))) > 0 || (n < 0 && errno == EINTR))
			if (n > 0) {
				sha256_add(&s, block, (size_t)n);
				*size += (size_t)n;
			}
	err = errno;
	close(fd);
	errno = err;
	return n == 0 ? sha256_end(a, &s) : NULL;
}
