#include "inspect/digest.h"

static const struct {
	const char *name;
	enum digest_kind kind;
} kinds[] = {
	{ "sha256", DIGEST_SHA256 },
	{ "sha384", DIGEST_SHA384 },
	{ "sha512", DIGEST_SHA512 },
};

enum digest_kind
digest_kind(struct str text, struct str *value)
{
	const char *sign = memchr(text.p, '=', text.n);

	if (!sign)
		return DIGEST_NONE;
	*value = (struct str){ sign + 1, text.n - (size_t)(sign + 1 - text.p) };
	text.n = (size_t)(sign - text.p);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (str_is(text, kinds[i].name))
			return kinds[i].kind;
	return DIGEST_NONE;
}

void
digest_start(struct digest *d, enum digest_kind kind)
{
	d->kind = kind;
	if (kind == DIGEST_SHA256)
		SHA256_Init(&d->of_256);
	else if (kind == DIGEST_SHA384)
		SHA384_Init(&d->of_512);
	else
		SHA512_Init(&d->of_512);
}

void
digest_add(struct digest *d, const void *bytes, size_t n)
{
	if (d->kind == DIGEST_SHA256)
		SHA256_Update(&d->of_256, bytes, n);
	else
		SHA512_Update(&d->of_512, bytes, n);
}

size_t
digest_end(struct digest *d, unsigned char sum[SHA512_DIGEST_LENGTH])
{
	if (d->kind == DIGEST_SHA256) {
		SHA256_Final(sum, &d->of_256);
		return SHA256_DIGEST_LENGTH;
	}
	SHA512_Final(sum, &d->of_512);
	return d->kind == DIGEST_SHA384 ? SHA384_DIGEST_LENGTH : SHA512_DIGEST_LENGTH;
}

const char *
digest_hex(struct arena *a, const unsigned char *sum, size_t n)
{
	static const char digits[] = "0123456789abcdef";
	char *hex = arena_alloc(a, 2 * n + 1, 1);

	for (size_t i = 0; i < n; i++) {
		hex[2 * i] = digits[sum[i] >> 4];
		hex[2 * i + 1] = digits[sum[i] & 15];
	}
	return hex;
}

const char *
digest_base64(struct arena *a, const unsigned char *sum, size_t n)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	char *out = arena_alloc(a, (n + 2) / 3 * 4 + 1, 1), *p = out;

	for (size_t i = 0; i < n; i += 3) {
		unsigned b = (unsigned)sum[i] << 16 | (i + 1 < n ? (unsigned)sum[i + 1] << 8 : 0) |
			     (i + 2 < n ? sum[i + 2] : 0);

		*p++ = letters[b >> 18];
		*p++ = letters[b >> 12 & 63];
		if (i + 1 < n)
			*p++ = letters[b >> 6 & 63];
		if (i + 2 < n)
			*p++ = letters[b & 63];
	}
	return out;
}
