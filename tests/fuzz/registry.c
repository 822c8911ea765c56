/*
 * libFuzzer: answers of servers.  Transfers of libcurl are replaced: each one takes the next answer of
 * the input, "HTTP/1.1 200 OK", headers, an empty line and a body, up to a byte 0x1e.  libcurl still
 * parses the URLs.  The first byte selects the request, and the second the registry.
 *
 * Properties: a login goes only to the registry, or encrypted to its token server, and
 * never to another origin by a redirect; a token goes only to the registry; the number of
 * requests is bounded; no message contains a password or a control character.
 */
#include "fuzz.h"

#include <curl/curl.h>
#include <openssl/evp.h>
#include <stdarg.h>
#include <strings.h>

#include "base/str.h"
#include "fetch/oci_internal.h"
#include "store/internal.h"

#define PASSWORD "Pass-4711-word"
#define IDENTITY "Refresh-4711-token"
#define LOGIN "dXNlcjpQYXNzLTQ3MTEtd29yZA==" /* user:PASSWORD */

static const char logins[] = "{\"auths\": {\"localhost:5000\": {\"auth\": \"" LOGIN "\"},"
			     " \"registry.example\": {\"auth\": \"" LOGIN "\"},"
			     " \"token.example\": {\"identitytoken\": \"" IDENTITY "\"}}}";

/* The options that set_request and similar functions have set. */
static struct {
	const char *url, *user, *post;
	struct curl_slist *headers;
	size_t (*header)(char *, size_t, size_t, void *);
	size_t (*write)(char *, size_t, size_t, void *);
	void *header_ctx, *write_ctx;
	char *error;
	bool no_body, netrc;
} set;

static struct arena *arena; /* of this input */
static const char *script, *script_end;
static const char *first; /* the URL of http_do; NULL: a request to a registry */
static const char *base;  /* the registry's origin */
static unsigned requests;
static long long length; /* declared by the answer; -1: not declared */

#undef curl_easy_setopt
#undef curl_easy_getinfo

void
curl_easy_reset(CURL *curl)
{
	(void)curl;
	memset(&set, 0, sizeof(set));
}

CURLcode
curl_easy_setopt(CURL *curl, CURLoption option, ...)
{
	va_list ap;

	(void)curl;
	va_start(ap, option);
	switch (option) {
	case CURLOPT_URL: set.url = va_arg(ap, const char *); break;
	case CURLOPT_USERNAME: set.user = va_arg(ap, const char *); break;
	case CURLOPT_POSTFIELDS: set.post = va_arg(ap, const char *); break;
	case CURLOPT_HTTPHEADER: set.headers = va_arg(ap, struct curl_slist *); break;
	case CURLOPT_HEADERFUNCTION:
		set.header = va_arg(ap, size_t(*)(char *, size_t, size_t, void *));
		break;
	case CURLOPT_HEADERDATA: set.header_ctx = va_arg(ap, void *); break;
	case CURLOPT_WRITEFUNCTION:
		set.write = va_arg(ap, size_t(*)(char *, size_t, size_t, void *));
		break;
	case CURLOPT_WRITEDATA: set.write_ctx = va_arg(ap, void *); break;
	case CURLOPT_ERRORBUFFER: set.error = va_arg(ap, char *); break;
	case CURLOPT_NOBODY: set.no_body = true; break;
	case CURLOPT_NETRC: set.netrc = true; break;
	default: break;
	}
	va_end(ap);
	return CURLE_OK;
}

CURLcode
curl_easy_getinfo(CURL *curl, CURLINFO info, ...)
{
	va_list ap;
	curl_off_t *out;

	(void)curl;
	va_start(ap, info);
	out = va_arg(ap, curl_off_t *);
	/* Longer than http_do waits, so that no input takes time. */
	*out = info == CURLINFO_RETRY_AFTER ? 10 * HTTP_WAIT_MAX_S : length;
	va_end(ap);
	return CURLE_OK;
}

/* A secret is in the text.  By hand and unseen by libFuzzer, which else learns what strstr looks for
 * and puts it into the answers. */
__attribute__((no_sanitize("coverage"))) static bool
leaks(const char *text)
{
	static const char *const secrets[] = { PASSWORD, IDENTITY, LOGIN };

	for (; *text; text++)
		for (size_t i = 0; i < sizeof(secrets) / sizeof(*secrets); i++) {
			size_t n = 0;

			while (secrets[i][n] && secrets[i][n] == text[n])
				n++;
			if (!secrets[i][n])
				return true;
		}
	return false;
}

/* Checks that a request sends its credentials only to permitted servers. */
static void
check_request(void)
{
	bool home = http_same_origin(arena, set.url, first ? first : base);
	const char *host = http_host(arena, set.url);

	must(host != NULL, "a URL without user and password");
	must(!leaks(set.url), "no secret in a URL");
	must(home || !first || (!set.user && !set.netrc), "no user for another origin");
	must(!set.post || !leaks(set.post) || starts_with(set.url, "https://"),
	     "a refresh token goes encrypted");
	for (const struct curl_slist *h = set.headers; h; h = h->next) {
		if (starts_with(h->data, "X-Token:"))
			must(home, "no header of the caller for another origin");
		if (starts_with(h->data, "Authorization: Bearer "))
			must(home, "a token goes to the registry alone");
		if (starts_with(h->data, "Authorization: Basic "))
			must(starts_with(set.url, "https://") ||
				     (http_is_loopback(host) &&
				      http_is_loopback(base + strlen("http://"))),
			     "a login goes encrypted, or stays on this machine");
	}
	must(++requests < 4000, "the number of requests is bounded");
}

/* Returns a line of the header with its end; NULL: the header has ended. */
static const char *
header_line(const char **at, const char *end)
{
	const char *line = *at, *eol = memchr(line, '\n', (size_t)(end - line));

	*at = eol ? eol + 1 : end;
	return *at - line > 1 ? arena_copy(arena, line, (size_t)(*at - line)) : NULL;
}

CURLcode
curl_easy_perform(CURL *curl)
{
	const char *end, *line;

	(void)curl;
	check_request();
	if (script >= script_end) {
		snprintf(set.error, CURL_ERROR_SIZE, "cannot ask %s", set.url);
		return CURLE_SSL_CONNECT_ERROR;
	}
	end = memchr(script, 0x1e, (size_t)(script_end - script));
	end = end ? end : script_end;
	length = -1;
	while (script < end && (line = header_line(&script, end))) {
		size_t n = strlen(line);

		if (!strncasecmp(line, "content-length:", 15))
			length = strtoll(line + 15, NULL, 10);
		if (n && set.header((char *)line, 1, n, set.header_ctx) != n)
			goto failed;
	}
	while (!set.no_body && script < end) {
		size_t n = (size_t)(end - script) < 512 ? (size_t)(end - script) : 512;

		if (set.write((char *)script, 1, n, set.write_ctx) != n)
			goto failed;
		script += n;
	}
	script = end + (end < script_end);
	return CURLE_OK;
failed:
	script = end + (end < script_end);
	return CURLE_WRITE_ERROR;
}

/* --- what is asked --- */

static void
ask_http(struct http_request q)
{
	struct http_answer answer;

	q.url = "https://user:" PASSWORD "@registry.example/start?x";
	first = "https://registry.example/start";
	list_push(arena, &q.headers, "X-Token: " PASSWORD);
	list_push(arena, &q.headers, "Accept: text/plain");
	must(http_do(arena, &q, &answer) == (answer.status != 0), "an answer has a status");
	must(answer.status || answer.why, "no answer has a reason");
	must(!answer.status || answer.body, "an answer has a body");
	must(!answer.why || !leaks(answer.why), "no password in a reason");
	must(answer.status / 100 == 2 || answer.body_size <= 64 * 1024,
	     "at most 64 KiB of an error");
	http_header(&answer, "location");
}

static void
ask_manifest(struct oci_registry *r, struct diags *ds, const char *reference)
{
	struct oci_manifest m = { 0 };
	bool missing = false, good = oci_manifest(r, arena, ds, reference, &m, &missing);

	must(good || missing || ds->errors, "a manifest, or it is missing, or an error");
	if (!good)
		return;
	must(oci_is_digest(m.digest) && m.media_type, "a digest and a type");
	must(!starts_with(reference, "sha256:") || !strcmp(m.digest, reference),
	     "what was asked for");
}

static void
ask_blob(struct oci_registry *r, struct diags *ds, size_t size)
{
	struct oci_blob blob = { .digest = OCI_EMPTY_DIGEST, .size = size };
	bool good = oci_pull_blob(r, arena, ds, &blob, NULL, 4096);

	must(good != (ds->errors != 0), "a blob, or an error");
	must(!good || (blob.size == 2 && !memcmp(blob.bytes, "{}", 2)), "the bytes of its digest");
}

static void
ask_artifact(struct oci_registry *r, struct diags *ds)
{
	struct oci_artifact art = { .type = "application/vnd.stackbuild.proof.v1",
				    .subject = OCI_EMPTY_DIGEST };
	const char *digest;

	list_push(arena, &art.annotations, "org.opencontainers.image.created=now");
	digest = oci_push_artifact(r, arena, ds, &art);
	must(digest || ds->errors, "a digest, or an error");
}

/* The content that a registry reports, as a list and as JSON. */
static void
ask_store(struct diags *ds, bool as_json)
{
	struct store *s = store_open(arena, ds, "oci://localhost:5000/team/wheels");
	struct buf out = BUF(arena);
	json_t *root;

	base = "http://localhost:5000";
	must(s != NULL, "a store");
	if (!store_list(arena, ds, s, as_json, &out))
		must(ds->errors, "a list, or an error");
	must_be_inert(buf_text(&out), "\n");
	if (!as_json || !out.n)
		return;
	root = json_loadb(out.p, out.n, JSON_REJECT_DUPLICATES, NULL);
	must(root != NULL, "a list in JSON is JSON");
	json_decref(root);
}

static void
ask(uint8_t what, uint8_t where, struct diags *ds)
{
	static const char *const registries[] = { "localhost:5000", "registry.example",
						  "token.example" };
	const struct oci_name name = { .registry = registries[where % 3],
				       .repository = "me/stack" };
	struct oci_registry *r = oci_open(arena, &name, 0);

	base = r->base;
	switch (what) {
	case 'g': ask_http((struct http_request){ .method = "GET" }); break;
	case 'h': ask_http((struct http_request){ .method = "HEAD", .once = true }); break;
	case 'p':
		ask_http((struct http_request){ .method = "POST", .body = "x", .body_size = 1 });
		break;
	case 's':
		ask_http((struct http_request){
			.method = "GET", .max = 100, .sha256 = &OCI_EMPTY_DIGEST[7] });
		break;
	case 'm': ask_manifest(r, ds, "1.0"); break;
	case 'd': ask_manifest(r, ds, OCI_EMPTY_DIGEST); break;
	case 'b': ask_blob(r, ds, where & 4 ? 2 : 0); break;
	case 't': oci_tags(r, arena, ds); break;
	case 'a': ask_artifact(r, ds); break;
	case 'w': ask_store(ds, where & 1); break;
	default: break;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *said;
	struct diags ds;

	if (size < 2)
		return 0;
	arena = arena_new();
	ds = DIAGS(ds, arena);
	if (!getenv("REGISTRY_AUTH_FILE"))
		setenv("REGISTRY_AUTH_FILE",
		       scratch_file(arena, "auth.json", logins, sizeof(logins) - 1), 1);
	script = arena_copy(arena, (const char *)data + 2, size - 2);
	script_end = script + size - 2;
	first = NULL;
	requests = 0;
	ask(data[0], data[1], &ds);
	said = printed(arena, &ds);
	must(!leaks(said), "no secret in a message");
	arena_free(arena);
	return 0;
}
