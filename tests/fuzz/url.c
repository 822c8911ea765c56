/*
 * libFuzzer: URLs and references.  The first byte selects the input: "u" a URL, a NUL, and a reference
 * against it; "n" an image reference; "l" a login file of docker and podman.
 *
 * Properties: an accepted URL is http or https, without user and password, and
 * unchanged if it is parsed again; one with a user has no host, so it cannot pass for another; an accepted
 * image reference is equal after it is printed and parsed again; a login has its secret.
 */
#include "fuzz.h"

#include <strings.h>

#include "base/str.h"
#include "fetch/oci_internal.h"

static void
check_accepted(struct arena *a, const char *url)
{
	const char *rest = strstr(url, "://"), *again;
	struct http_user user = { 0 };
	size_t n;

	must(starts_with(url, "http://") || starts_with(url, "https://"), "http or https");
	n = strcspn(rest + 3, "/?#");
	must(!memchr(rest + 3, '@', n), "no user and no password in it");
	must_be_inert(url, "");
	again = http_split(a, url, &user);
	must(again && !strcmp(again, url) && !user.name && !user.password, "accepted as the same");
	must(http_same_origin(a, url, url), "its own origin");
	must(http_host(a, url) != NULL, "a host");
}

static void
check_url(struct arena *a, const char *url, const char *reference)
{
	struct http_user user = { 0 };
	const char *clean = http_split(a, url, &user), *host = http_host(a, url), *to;

	must(!host || clean, "a host only of a URL");
	must(!host || (!user.name && !user.password), "no host of a URL with a user");
	if (!clean)
		return;
	check_accepted(a, clean);
	must(http_same_origin(a, url, clean), "the same origin");
	must(host || user.name || user.password, "a host of a URL without a user");
	to = http_resolve(a, url, reference);
	if (to)
		check_accepted(a, to);
	/* A reference with its own host has another origin, unless the host is the same. */
	if (to && http_same_origin(a, clean, to))
		must(!strcasecmp(http_host(a, clean), http_host(a, to)), "one origin, one host");
	http_is_loopback(url);
}

static void
check_name(struct arena *a, const char *text)
{
	struct oci_name n, again;
	const char *full;
	struct diags ds;

	ds = DIAGS(ds, a);
	if (!oci_name_parse(a, &ds, text, (struct span){ 0 }, &n)) {
		must(ds.errors == 1, "not a reference: one error");
		printed(a, &ds);
		return;
	}
	must(!ds.errors && *n.registry && *n.repository, "a registry and a repository");
	must(!strstr(n.repository, "..") && *n.repository != '/', "no way out of a path");
	full = oci_name_text(a, &n);
	must(oci_name_parse(a, &ds, full, (struct span){ 0 }, &again), "prints as a reference");
	must(!strcmp(oci_name_text(a, &again), full), "that is read as the same");
	must(oci_open(a, &n, 0) != NULL, "a session");
}

static void
check_logins(struct arena *a, const char *text, size_t n)
{
	static const struct oci_name names[] = {
		{ .registry = "docker.io", .repository = "library/ubuntu" },
		{ .registry = "ghcr.io", .repository = "me/stack" },
		{ .registry = "localhost:5000", .repository = "x" },
	};
	const char *path = scratch_file(a, "auth.json", text, n);

	/* An empty PATH: no helper is installed. */
	setenv("PATH", scratch(), 1);
	setenv("HOME", scratch(), 1);
	setenv("REGISTRY_AUTH_FILE", path, 1);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct names troubles = { 0 };
		struct oci_login l = oci_login_find(a, &names[i], &troubles);

		must(!l.where || l.identity || (l.user && l.secret), "a login is whole");
		must(!l.where || !strcmp(l.where, path), "it comes from that file");
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new();
	const char *text = size ? arena_copy(a, (const char *)data + 1, size - 1) : "", *nul;

	nul = text + strlen(text);
	if (size && *data == 'u')
		check_url(a, text, nul < text + size - 1 ? nul + 1 : "");
	else if (size && *data == 'n')
		check_name(a, text);
	else if (size && *data == 'l')
		check_logins(a, text, size - 1);
	arena_free(a);
	return 0;
}
