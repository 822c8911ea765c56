#include <curl/curl.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/proc.h"
#include "base/str.h"
#include "http_internal.h"

struct transfer {
	struct http_exchange *x;
	CURL *curl;
	struct curl_slist *headers;
	FILE *body; /* of the request; libcurl reads and rewinds it */
	curl_off_t body_size;
	bool opened, full; /* full: enough was read of an answer that is no 2xx */
	char error[CURL_ERROR_SIZE];
};

/* One handle for the whole run: connections and TLS sessions are used again. */
static CURL *
handle(void)
{
	static CURL *curl;

	if (!curl) {
		curl_global_init(CURL_GLOBAL_DEFAULT);
		curl = curl_easy_init();
	} else {
		curl_easy_reset(curl);
	}
	return curl;
}

static size_t
on_header(char *line, size_t size, size_t n, void *ctx)
{
	struct transfer *t = ctx;
	struct http_exchange *x = t->x;
	size_t len = size * n, all = len;
	char *text, *colon;

	while (len && (line[len - 1] == '\n' || line[len - 1] == '\r'))
		len--;
	if (len > 5 && !memcmp(line, "HTTP/", 5)) {
		const char *space = memchr(line, ' ', len);

		/* An answer begins: what came before was 100, or another one's trailer. */
		x->headers = (struct names){ 0 };
		x->status = space ? (int)strtol(space + 1, NULL, 10) : 0;
		return all;
	}
	x->header_bytes += len;
	if (x->header_bytes > HTTP_HEADERS_MAX)
		return 0;
	text = arena_copy(x->a, line, len);
	colon = strchr(text, ':');
	if (!colon)
		return all;
	for (char *p = text; p < colon; p++)
		*p = to_lower(*p);
	*colon = '\0';
	for (colon++; *colon == ' ' || *colon == '\t'; colon++)
		;
	list_push(x->a, &x->headers, arena_printf(x->a, "%s: %s", text, colon));
	return all;
}

static size_t
on_body(char *bytes, size_t size, size_t n, void *ctx)
{
	struct transfer *t = ctx;
	struct http_exchange *x = t->x;
	size_t len = size * n;

	if (x->status / 100 != 2) {
		size_t room = HTTP_ERROR_MAX - x->error_body.n;

		buf_add(&x->error_body, bytes, len < room ? len : room);
		t->full = len > room;
		return t->full ? 0 : len;
	}
	if (!t->opened) {
		curl_off_t announced = 0;

		curl_easy_getinfo(t->curl, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &announced);
		if (!http_sink_open(&x->sink, x->a, x->q, announced > 0 ? (size_t)announced : 0))
			return 0;
	}
	t->opened = true;
	return http_sink_add(&x->sink, bytes, len) ? len : 0;
}

/* Ctrl-C ends a transfer too: libcurl asks here about once a second. */
static int
on_progress(void *ctx, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
	(void)ctx, (void)a, (void)b, (void)c, (void)d;
	return proc_interrupted() != 0;
}

/*
 * What may go along to another origin than the one that was asked; everything else may be a
 * credential: Authorization, Cookie, PRIVATE-TOKEN, X-JFrog-Art-Api ...
 */
static bool
is_harmless(const char *header)
{
	static const char *const names[] = { "accept:", "accept-language:", "content-type:",
					     "range:", "if-none-match:" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strncasecmp(header, names[i], strlen(names[i])))
			return true;
	return false;
}

static bool
set_headers(struct transfer *t)
{
	const struct http_request *q = t->x->q;
	bool authorized = false;

	/* No 100-continue (it waits), and no type that the caller did not give. */
	t->headers = curl_slist_append(NULL, "Expect:");
	for (size_t i = 0; i < q->headers.n; i++) {
		const char *h = q->headers.at[i];

		if (t->x->foreign && !is_harmless(h))
			continue;
		authorized |= !strncasecmp(h, "authorization:", 14);
		t->headers = curl_slist_append(t->headers, h);
	}
	curl_easy_setopt(t->curl, CURLOPT_HTTPHEADER, t->headers);
	return authorized;
}

static void
set_credentials(struct transfer *t, bool authorized)
{
	const struct http_exchange *x = t->x;

	if (authorized || x->foreign)
		return;
	curl_easy_setopt(t->curl, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
	if (x->user.name) {
		curl_easy_setopt(t->curl, CURLOPT_USERNAME, x->user.name);
		curl_easy_setopt(t->curl, CURLOPT_PASSWORD,
				 x->user.password ? x->user.password : "");
	} else {
		curl_easy_setopt(t->curl, CURLOPT_NETRC, (long)CURL_NETRC_OPTIONAL);
	}
}

static void
set_trust(CURL *curl)
{
	const char *file = getenv("CURL_CA_BUNDLE"), *dir = getenv("SSL_CERT_DIR");

	if (!file || !*file)
		file = getenv("SSL_CERT_FILE");
	if (file && *file)
		curl_easy_setopt(curl, CURLOPT_CAINFO, file);
	if (dir && *dir)
		curl_easy_setopt(curl, CURLOPT_CAPATH, dir);
}

static void
set_limits(struct transfer *t)
{
	const struct http_exchange *x = t->x;
	long stall = x->q->stall_s ? (long)x->q->stall_s : HTTP_STALL_S;

	curl_easy_setopt(t->curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(t->curl, CURLOPT_LOW_SPEED_LIMIT, (long)HTTP_SPEED_MIN);
	curl_easy_setopt(t->curl, CURLOPT_LOW_SPEED_TIME, stall);
	curl_easy_setopt(t->curl, CURLOPT_CONNECTTIMEOUT, stall < 30 ? stall : 30L);
	curl_easy_setopt(t->curl, CURLOPT_TIMEOUT_MS, (long)(x->remaining_s * 1000) + 1);
#if LIBCURL_VERSION_NUM >= 0x075500
	curl_easy_setopt(t->curl, CURLOPT_PROTOCOLS_STR, "http,https");
#else
	curl_easy_setopt(t->curl, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
}

static bool
open_body(struct transfer *t)
{
	const struct http_request *q = t->x->q;
	struct stat st;

	t->body_size = q->body ? (curl_off_t)q->body_size : 0;
	if (!q->body_path) {
		t->body = t->body_size ? fmemopen((char *)(uintptr_t)q->body, q->body_size, "r") :
					 fopen("/dev/null", "re");
		return t->body;
	}
	t->body = fopen(q->body_path, "rbe");
	if (t->body && fstat(fileno(t->body), &st) == 0 && S_ISREG(st.st_mode)) {
		t->body_size = st.st_size;
		return true;
	}
	t->x->why = arena_printf(t->x->a, "cannot read `%s`: %s", q->body_path,
				 t->body ? "it is not a regular file" : strerror(errno));
	return false;
}

static void
set_request(struct transfer *t)
{
	const struct http_exchange *x = t->x;
	CURL *c = t->curl;

	curl_easy_setopt(c, CURLOPT_URL, x->url);
	curl_easy_setopt(c, CURLOPT_ERRORBUFFER, t->error);
	curl_easy_setopt(c, CURLOPT_USERAGENT, "stackbuild/" STACKBUILD_VERSION);
	curl_easy_setopt(c, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
	curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(c, CURLOPT_HEADERDATA, t);
	curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(c, CURLOPT_WRITEDATA, t);
	curl_easy_setopt(c, CURLOPT_XFERINFOFUNCTION, on_progress);
	curl_easy_setopt(c, CURLOPT_NOPROGRESS, 0L);
	if (!strcmp(x->method, "HEAD")) {
		curl_easy_setopt(c, CURLOPT_NOBODY, 1L);
		return;
	}
	if (x->sends) {
		curl_easy_setopt(c, CURLOPT_UPLOAD, 1L);
		curl_easy_setopt(c, CURLOPT_READDATA, t->body);
		curl_easy_setopt(c, CURLOPT_INFILESIZE_LARGE, t->body_size);
	}
	curl_easy_setopt(c, CURLOPT_CUSTOMREQUEST, x->method);
}

static bool
is_transient(CURLcode rc)
{
	switch (rc) {
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_RESOLVE_PROXY:
	case CURLE_COULDNT_CONNECT:
	case CURLE_PARTIAL_FILE:
	case CURLE_OPERATION_TIMEDOUT:
	case CURLE_GOT_NOTHING:
	case CURLE_SEND_ERROR:
	case CURLE_RECV_ERROR:
	case CURLE_HTTP2:
	case CURLE_HTTP2_STREAM: return true;
	default: return false;
	}
}

/* What came of it, in the exchange. */
static void
conclude(struct transfer *t, CURLcode rc)
{
	struct http_exchange *x = t->x;
	curl_off_t wait = 0;
	bool ended = x->status && (rc == CURLE_OK || t->full), good = x->status / 100 == 2;

	/* A file of no bytes is a file too. */
	if (ended && good && !t->opened)
		t->opened = http_sink_open(&x->sink, x->a, x->q, 0);
	if (ended && (!good || (t->opened && http_sink_end(&x->sink)))) {
		curl_easy_getinfo(t->curl, CURLINFO_RETRY_AFTER, &wait);
		x->retry_after_s = (double)wait;
		x->transient = x->status == 408 || x->status == 429 || x->status / 100 == 5;
		return;
	}
	x->why = x->sink.why                        ? x->sink.why :
		 proc_interrupted()                 ? "interrupted" :
		 x->header_bytes > HTTP_HEADERS_MAX ? "the answer has more than 64 KiB of headers" :
		 rc == CURLE_OK                     ? "there was no status line" :
		 *t->error                          ? t->error :
						      curl_easy_strerror(rc);
	x->why = mask_credentials(x->a, arena_strdup(x->a, x->why));
	x->refused = x->sink.refused;
	x->transient = !x->sink.why && !proc_interrupted() && is_transient(rc);
	x->status = 0;
	if (t->opened)
		http_sink_drop(&x->sink);
}

void
http_exchange(struct http_exchange *x)
{
	struct transfer t = { .x = x, .curl = handle() };

	x->error_body = BUF(x->a);
	x->sink = (struct http_sink){ .a = x->a, .fd = -1, .body = BUF(x->a) };
	if (!t.curl) {
		x->why = "libcurl does not start";
		return;
	}
	if (open_body(&t)) {
		set_credentials(&t, set_headers(&t));
		set_trust(t.curl);
		set_limits(&t);
		set_request(&t);
		conclude(&t, curl_easy_perform(t.curl));
	}
	curl_slist_free_all(t.headers);
	if (t.body)
		fclose(t.body);
}
