#include "inspect/digest.h"

const EVP_MD *
digest_kind(struct str text, struct str *value)
{
	const char *sign = memchr(text.p, '=', text.n);
	struct str name = { text.p, sign ? (size_t)(sign - text.p) : 0 };

	if (sign)
		*value = (struct str){ sign + 1, text.n - name.n - 1 };
	return str_is(name, "sha256") ? EVP_sha256() :
	       str_is(name, "sha384") ? EVP_sha384() :
	       str_is(name, "sha512") ? EVP_sha512() :
					NULL;
}

/* libcrypto 3.0 crashes where its first allocations fail. */
static void *
allocate(size_t n, const char *file, int line)
{
	(void)file, (void)line;
	return memory_alloc(n);
}

static void *
reallocate(void *p, size_t n, const char *file, int line)
{
	(void)file, (void)line;
	return memory_realloc(p, n);
}

static void
release(void *p, const char *file, int line)
{
	(void)file, (void)line;
	memory_free(p);
}

EVP_MD_CTX *
digest_new(const EVP_MD *kind)
{
	EVP_MD_CTX *d;

	CRYPTO_set_mem_functions(allocate, reallocate, release); /* only the first call counts */
	d = EVP_MD_CTX_new();

	if (!d || !EVP_DigestInit_ex(d, kind, NULL))
		BUG("libcrypto has no digest");
	return d;
}

const char *
digest_end(struct arena *a, EVP_MD_CTX *d)
{
	unsigned char sum[EVP_MAX_MD_SIZE];
	unsigned n = 0;
	char *text = arena_alloc(a, EVP_MAX_MD_SIZE * 2, 1);

	EVP_DigestFinal_ex(d, sum, &n);
	EVP_EncodeBlock((unsigned char *)text, sum, (int)n);
	for (char *p = text; *p; p++)
		*p = *p == '+' ? '-' : *p == '/' ? '_' : *p;
	text[strcspn(text, "=")] = '\0';
	return text;
}
