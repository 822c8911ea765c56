#include <curl/curl.h>
#include <string.h>
#include <strings.h>

#include "base/str.h"
#include "http_internal.h"

static void
cleanup_url(CURLU **u)
{
	curl_url_cleanup(*u);
}

#define CLEANUP_URL __attribute__((cleanup(cleanup_url)))

/* A part of a URL in the arena; NULL: it has none. */
static const char *
part(struct arena *a, CURLU *u, CURLUPart which, unsigned flags)
{
	const char *copy = NULL;
	char *s = NULL;

	if (curl_url_get(u, which, &s, flags) == CURLUE_OK)
		copy = arena_strdup(a, s);
	curl_free(s);
	return copy;
}

static const char *
clean(struct arena *a, CURLU *u)
{
	const char *scheme = part(a, u, CURLUPART_SCHEME, 0);

	if (!scheme || (strcmp(scheme, "http") != 0 && strcmp(scheme, "https") != 0))
		return NULL;
	curl_url_set(u, CURLUPART_USER, NULL, 0);
	curl_url_set(u, CURLUPART_PASSWORD, NULL, 0);
	curl_url_set(u, CURLUPART_FRAGMENT, NULL, 0);
	return part(a, u, CURLUPART_URL, 0);
}

const char *
http_split(struct arena *a, const char *url, struct http_user *user)
{
	CLEANUP_URL CURLU *u = curl_url();

	if (!u || curl_url_set(u, CURLUPART_URL, url, 0) != CURLUE_OK)
		return NULL;
	user->name = part(a, u, CURLUPART_USER, CURLU_URLDECODE);
	user->password = part(a, u, CURLUPART_PASSWORD, CURLU_URLDECODE);
	return clean(a, u);
}

const char *
http_host(struct arena *a, const char *url)
{
	CLEANUP_URL CURLU *u = curl_url();

	if (!u || curl_url_set(u, CURLUPART_URL, url, 0) != CURLUE_OK ||
	    part(a, u, CURLUPART_USER, 0) || part(a, u, CURLUPART_PASSWORD, 0) || !clean(a, u))
		return NULL;
	return part(a, u, CURLUPART_HOST, 0);
}

const char *
http_resolve(struct arena *a, const char *base, const char *reference)
{
	CLEANUP_URL CURLU *u = curl_url();

	if (!u || curl_url_set(u, CURLUPART_URL, base, 0) != CURLUE_OK ||
	    curl_url_set(u, CURLUPART_URL, reference, 0) != CURLUE_OK)
		return NULL;
	return clean(a, u);
}

bool
http_same_origin(struct arena *a, const char *x, const char *y)
{
	static const CURLUPart parts[] = { CURLUPART_SCHEME, CURLUPART_HOST, CURLUPART_PORT };
	CLEANUP_URL CURLU *u = curl_url();
	CLEANUP_URL CURLU *v = curl_url();

	if (!u || !v || curl_url_set(u, CURLUPART_URL, x, 0) != CURLUE_OK ||
	    curl_url_set(v, CURLUPART_URL, y, 0) != CURLUE_OK)
		return false;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		const char *p = part(a, u, parts[i], CURLU_DEFAULT_PORT);
		const char *q = part(a, v, parts[i], CURLU_DEFAULT_PORT);

		if (!p || !q || strcasecmp(p, q) != 0)
			return false;
	}
	return true;
}

/* "127.0.0.1", "127.1.2.3": four numbers up to 255, the first 127. */
static bool
is_127(struct str host)
{
	unsigned numbers = 1, value = 0, digits = 0;

	if (host.n < 4 || memcmp(host.p, "127.", 4) != 0)
		return false;
	for (size_t i = 4; i < host.n; i++) {
		if (host.p[i] == '.') {
			if (!digits)
				return false;
			numbers++;
			value = digits = 0;
		} else if (is_digit(host.p[i])) {
			value = value * 10 + (unsigned)(host.p[i] - '0');
			if (++digits > 3 || value > 255)
				return false;
		} else {
			return false;
		}
	}
	return numbers == 3 && digits;
}

bool
http_is_loopback(const char *host)
{
	const char *colon = strchr(host, ':');
	struct str name = { host, colon ? (size_t)(colon - host) : strlen(host) };

	if (*host == '[')
		return starts_with(host, "[::1]") && (!host[5] || host[5] == ':');
	return str_is(name, "localhost") || is_127(name);
}
