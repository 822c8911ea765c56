#include <arpa/inet.h>
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/str.h"
#include "http.h"

struct url {
	const char *scheme, *host, *port;
	struct http_user user;
	const char *text; /* without user, password and fragment */
};

/* Returns a part of a URL in the arena, or NULL. */
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

/*
 * Parses a URL, or resolves a reference (NULL: none) against it; false: the result is not an http
 * or https URL.
 */
static bool
parse(struct arena *a, const char *url, const char *reference, struct url *out)
{
	CURLU *u = curl_url();

	*out = (struct url){ 0 };
	if (u && curl_url_set(u, CURLUPART_URL, url, 0) == CURLUE_OK &&
	    (!reference || curl_url_set(u, CURLUPART_URL, reference, 0) == CURLUE_OK)) {
		out->scheme = part(a, u, CURLUPART_SCHEME, 0);
		out->host = part(a, u, CURLUPART_HOST, 0);
		out->port = part(a, u, CURLUPART_PORT, CURLU_DEFAULT_PORT);
		out->user.name = part(a, u, CURLUPART_USER, CURLU_URLDECODE);
		out->user.password = part(a, u, CURLUPART_PASSWORD, CURLU_URLDECODE);
		curl_url_set(u, CURLUPART_USER, NULL, 0);
		curl_url_set(u, CURLUPART_PASSWORD, NULL, 0);
		curl_url_set(u, CURLUPART_FRAGMENT, NULL, 0);
		out->text = part(a, u, CURLUPART_URL, 0);
	}
	curl_url_cleanup(u);
	return out->text && out->host && out->port &&
	       (!strcmp(out->scheme, "http") || !strcmp(out->scheme, "https"));
}

const char *
http_split(struct arena *a, const char *url, struct http_user *user)
{
	struct url u;

	if (!parse(a, url, NULL, &u))
		return NULL;
	*user = u.user;
	return u.text;
}

const char *
http_host(struct arena *a, const char *url)
{
	struct url u;

	return parse(a, url, NULL, &u) && !u.user.name && !u.user.password ? u.host : NULL;
}

const char *
http_resolve(struct arena *a, const char *base, const char *reference)
{
	struct url u;

	return parse(a, base, reference, &u) ? u.text : NULL;
}

bool
http_same_origin(struct arena *a, const char *x, const char *y)
{
	struct url u, v;

	return parse(a, x, NULL, &u) && parse(a, y, NULL, &v) && !strcmp(u.scheme, v.scheme) &&
	       !strcasecmp(u.host, v.host) && !strcmp(u.port, v.port);
}

bool
http_is_loopback(const char *host)
{
	char name[INET_ADDRSTRLEN];
	struct in_addr ip;
	size_t n = strcspn(host, ":");

	if (*host == '[')
		return starts_with(host, "[::1]") && (!host[5] || host[5] == ':');
	snprintf(name, sizeof(name), "%.*s", (int)n, host);
	return n < sizeof(name) &&
	       (!strcmp(name, "localhost") ||
		(inet_pton(AF_INET, name, &ip) == 1 && ntohl(ip.s_addr) >> 24 == IN_LOOPBACKNET));
}

const char *
http_header(const struct http_answer *answer, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < answer->headers.n; i++) {
		const char *h = answer->headers.at[i];

		if (!strncmp(h, name, n) && h[n] == ':')
			return h + n + 2;
	}
	return NULL;
}

const char *
http_ca_file(void)
{
	static const char *const places[] = {
		"/etc/ssl/certs/ca-certificates.crt",
		"/etc/pki/tls/certs/ca-bundle.crt",
		"/etc/ssl/ca-bundle.pem",
	};
	static const char *const variables[] = { "CURL_CA_BUNDLE", "SSL_CERT_FILE" };
	const curl_version_info_data *v = curl_version_info(CURLVERSION_NOW);
	const char *dir = getenv("SSL_CERT_DIR");

	for (size_t i = 0; i < COUNT(variables); i++)
		if (getenv(variables[i]) && *getenv(variables[i]))
			return getenv(variables[i]);
	if (dir && *dir)
		return NULL;
	for (size_t i = 0; !v->cainfo && !v->capath && i < COUNT(places); i++)
		if (!access(places[i], R_OK))
			return places[i];
	return NULL;
}

const char *
http_ca_child(void)
{
	const char *file = getenv("SSL_CERT_FILE"), *dir = getenv("SSL_CERT_DIR");

	if ((file && *file) || (dir && *dir))
		return NULL;
	file = http_ca_file();
	if (!file)
		file = curl_version_info(CURLVERSION_NOW)->cainfo;
	return file && !access(file, R_OK) ? file : NULL;
}

const char *
http_logins(struct arena *a, const struct names *texts)
{
	const char *text = names_join(a, texts, "\n");
	int fd = texts->n ? memfd_create("netrc", MFD_CLOEXEC) : -1;

	if (fd < 0 || !fs_write_all(fd, text, strlen(text)))
		return NULL;
	return arena_printf(a, "/proc/self/fd/%d", fd);
}
