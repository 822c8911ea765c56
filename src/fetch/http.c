#include "http.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alive.h"
#include "base/fs.h"
#include "base/proc.h"
#include "base/sha256.h"
#include "base/str.h"

enum {
	ERROR_MAX = 64 * 1024,   /* maximum bytes of the body of an answer other than 2xx */
	HEADERS_MAX = 64 * 1024, /* maximum bytes of all headers of an answer */
	BODY_FIRST = 64 * 1024   /* first size of the memory of a body */
};

/* A try of a request: with redirects, a sequence of requests; and the last answer. */
struct transfer {
	struct arena *a;
	const struct http_request *q;
	CURL *curl;
	const char *url, *method; /* without user and password */
	struct http_user user;
	bool sends;   /* the request has a body */
	bool foreign; /* the origin differs from the requested one, and gets no credentials */
	double deadline;

	struct http_answer *answer;
	bool transient; /* the request may be tried again */
	double retry_after_s;
	size_t header_bytes;

	/* The body, in memory or, for a 2xx, in a file. */
	bool opened;
	struct buf body; /* its arena is its own, and is freed after each try; NULL: empty */
	size_t n;
	struct fs_temp temp;
	struct sha256 *sum;
	char error[CURL_ERROR_SIZE];
};

/* --- the body of a 2xx --- */

static bool
cannot_write(struct transfer *t)
{
	t->answer->why =
		arena_printf(t->a, "cannot write `%s`: %s", t->q->to_path, strerror(errno));
	return false;
}

static bool
refuse(struct transfer *t, const char *why)
{
	t->answer->why = why;
	t->answer->refused = true;
	return false;
}

/* Keeps the next bytes in memory. When the memory is full, a larger one replaces it. */
static void
body_keep(struct buf *b, const char *bytes, size_t n)
{
	if (b->n + n >= b->cap) {
		struct buf next = BUF(arena_new());

		next.cap = 2 * (b->n + n) + BODY_FIRST;
		next.p = arena_alloc(next.a, next.cap, 1);
		buf_add(&next, b->p, b->n);
		if (b->a)
			arena_free(b->a);
		*b = next;
	}
	buf_add(b, bytes, n);
}

/* Adds the next bytes; `announced`: the expected minimum of the whole body. */
static bool
body_add(struct transfer *t, const char *bytes, size_t n, size_t announced)
{
	size_t max = t->q->max ? t->q->max : HTTP_MAX;

	if (announced > max || n > max - t->n)
		return refuse(t, arena_printf(t->a, "the answer is larger than %zu bytes", max));
	if (!t->opened && t->q->sha256)
		t->sum = sha256_new(t->a);
	if (!t->opened && t->q->to_path && !fs_temp_file(t->a, t->q->to_path, 0644, &t->temp))
		return cannot_write(t);
	t->opened = true;
	t->n += n;
	if (t->sum)
		sha256_add(t->sum, bytes, n);
	if (!t->q->to_path)
		body_keep(&t->body, bytes, n);
	return !t->q->to_path || fs_write_all(t->temp.fd, bytes, n) || cannot_write(t);
}

/* Completes the body: checks its digest, and renames the file. */
static bool
body_end(struct transfer *t)
{
	const char *sum;

	/* An empty body creates an empty file. */
	if (!t->opened && !body_add(t, "", 0, 0))
		return false;
	sum = t->sum ? sha256_end(t->a, t->sum) : NULL;
	if (sum && strcasecmp(sum, t->q->sha256) != 0)
		return refuse(t, arena_printf(t->a, "its sha256 is %s, not %s", sum, t->q->sha256));
	return !t->q->to_path || fs_temp_keep(&t->temp, t->q->to_path, true) || cannot_write(t);
}

/* Discards a body. */
static void
body_drop(struct transfer *t)
{
	fs_temp_drop(&t->temp);
	t->sum = NULL;
	if (t->body.a)
		arena_free(t->body.a);
	t->body = BUF(NULL);
	t->n = 0;
	t->opened = false;
}

/* --- callbacks of libcurl --- */

static size_t
on_header(char *line, size_t size, size_t n, void *ctx)
{
	struct transfer *t = ctx;
	char *text = arena_copy(t->a, line, size * n), *colon;

	text[strcspn(text, "\r\n")] = '\0';
	/* Also counts the status lines of interim answers, of which a server may send any number. */
	if ((t->header_bytes += size * n) > HEADERS_MAX)
		return 0;
	if (starts_with(text, "HTTP/")) {
		const char *space = strchr(text, ' ');

		/* A new answer begins; the earlier one was a status 100 or a trailer. */
		t->answer->headers = (struct names){ 0 };
		t->answer->status = space ? (int)strtol(space + 1, NULL, 10) : 0;
		return size * n;
	}
	colon = strchr(text, ':');
	if (!colon)
		return size * n;
	for (char *p = text; p < colon; p++)
		*p = to_lower(*p);
	*colon++ = '\0';
	list_printf(t->a, &t->answer->headers, "%s: %s", text, colon + strspn(colon, " \t"));
	return size * n;
}

static size_t
on_body(char *bytes, size_t size, size_t n, void *ctx)
{
	struct transfer *t = ctx;
	size_t len = size * n;
	curl_off_t announced = 0;

	if (t->answer->status / 100 != 2) {
		size_t room = ERROR_MAX - t->body.n;

		body_keep(&t->body, bytes, len < room ? len : room);
		return len <= room ? len : 0;
	}
	curl_easy_getinfo(t->curl, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &announced);
	return body_add(t, bytes, len, announced > 0 ? (size_t)announced : 0) ? len : 0;
}

/* Ends a transfer after Ctrl-C; libcurl calls this about once a second. */
static int
on_progress(void *ctx, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
	(void)a, (void)b, (void)c, (void)d;
	alive_tick("fetching from", ctx ? ctx : "a server");
	return proc_interrupted() != 0;
}

/* --- one request to one server --- */

/* Returns the handle for the whole run, which reuses connections and TLS sessions. */
static CURL *
handle(void)
{
	static CURL *curl;

	if (!curl && curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK)
		curl = curl_easy_init();
	if (curl)
		curl_easy_reset(curl);
	return curl;
}

/*
 * Returns true for headers that another origin may get; any other header may be a credential:
 * Authorization, Cookie, PRIVATE-TOKEN, X-JFrog-Art-Api ...
 */
static bool
is_harmless(const char *header)
{
	return str_matches(header, "(?i)^(accept|content-type|if-none-match|range):");
}

static struct curl_slist *
set_headers(struct transfer *t)
{
	/* Disables 100-continue, which waits, and a content type that the caller did not set. */
	struct curl_slist *all = curl_slist_append(NULL, "Expect:");
	bool authorized = false;

	all = curl_slist_append(all, "Content-Type:");
	for (size_t i = 0; i < t->q->headers.n; i++) {
		const char *h = t->q->headers.at[i];

		if (t->foreign && !is_harmless(h))
			continue;
		authorized |= !strncasecmp(h, "authorization:", 14);
		all = curl_slist_append(all, h);
	}
	curl_easy_setopt(t->curl, CURLOPT_HTTPHEADER, all);
	if (authorized || t->foreign)
		return all;
	if (t->user.name) {
		curl_easy_setopt(t->curl, CURLOPT_USERNAME, t->user.name);
		curl_easy_setopt(t->curl, CURLOPT_PASSWORD,
				 t->user.password ? t->user.password : "");
	} else {
		curl_easy_setopt(t->curl, CURLOPT_NETRC, (long)CURL_NETRC_OPTIONAL);
		curl_easy_setopt(t->curl, CURLOPT_NETRC_FILE, t->q->netrc);
	}
	return all;
}

static void
set_limits(const struct transfer *t, double rest_s)
{
	const char *file = http_ca_file(), *dir = getenv("SSL_CERT_DIR");
	long stall = t->q->stall_s ? (long)t->q->stall_s : HTTP_STALL_S;
	CURL *c = t->curl;

	if (file)
		curl_easy_setopt(c, CURLOPT_CAINFO, file);
	if (dir && *dir)
		curl_easy_setopt(c, CURLOPT_CAPATH, dir);
	curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(c, CURLOPT_LOW_SPEED_LIMIT, (long)HTTP_SPEED_MIN);
	curl_easy_setopt(c, CURLOPT_LOW_SPEED_TIME, stall);
	curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT, stall < 30 ? stall : 30L);
	curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, (long)(rest_s * 1000) + 1);
}

/* Sets the body of the request. *file: the caller closes it. False: it cannot be read. */
static bool
set_body(struct transfer *t, FILE **file)
{
	const struct http_request *q = t->q;
	struct stat st;

	if (!q->body_path) {
		curl_easy_setopt(t->curl, CURLOPT_POSTFIELDS, q->body ? q->body : "");
		curl_easy_setopt(t->curl, CURLOPT_POSTFIELDSIZE_LARGE,
				 (curl_off_t)(q->body ? q->body_size : 0));
		return true;
	}
	*file = fopen(q->body_path, "rbe");
	if (!*file || fstat(fileno(*file), &st) < 0 || !S_ISREG(st.st_mode)) {
		t->answer->why = arena_printf(t->a, "cannot read `%s`: %s", q->body_path,
					      *file ? "it is not a regular file" : strerror(errno));
		return false;
	}
	curl_easy_setopt(t->curl, CURLOPT_UPLOAD, 1L);
	curl_easy_setopt(t->curl, CURLOPT_READDATA, *file); /* libcurl reads and rewinds it */
	curl_easy_setopt(t->curl, CURLOPT_INFILESIZE_LARGE, (curl_off_t)st.st_size);
	return true;
}

static void
set_request(struct transfer *t)
{
	CURL *c = t->curl;

	curl_easy_setopt(c, CURLOPT_URL, t->url);
	curl_easy_setopt(c, CURLOPT_ERRORBUFFER, t->error);
	curl_easy_setopt(c, CURLOPT_USERAGENT, "stackbuild/" STACKBUILD_VERSION);
	curl_easy_setopt(c, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
	curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(c, CURLOPT_HEADERDATA, t);
	curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(c, CURLOPT_WRITEDATA, t);
	curl_easy_setopt(c, CURLOPT_XFERINFOFUNCTION, on_progress);
	curl_easy_setopt(c, CURLOPT_XFERINFODATA, http_host(t->a, t->url));
	curl_easy_setopt(c, CURLOPT_NOPROGRESS, 0L);
	if (!strcmp(t->method, "HEAD"))
		curl_easy_setopt(c, CURLOPT_NOBODY, 1L);
	else
		curl_easy_setopt(c, CURLOPT_CUSTOMREQUEST, t->method);
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

/* Fills in the result of the transfer. */
static void
conclude(struct transfer *t, CURLcode rc)
{
	struct http_answer *got = t->answer;
	/* For an answer other than 2xx, a part of the body is enough. */
	bool full = got->status / 100 != 2 && t->body.n == ERROR_MAX;
	int s = rc == CURLE_OK || full ? got->status : 0;
	curl_off_t wait = 0;

	if (s && (s / 100 != 2 || (!got->why && body_end(t)))) {
		curl_easy_getinfo(t->curl, CURLINFO_RETRY_AFTER, &wait);
		t->retry_after_s = (double)wait;
		t->transient = s == 408 || s == 429 || s / 100 == 5;
		return;
	}
	t->transient = !got->why && !proc_interrupted() && is_transient(rc);
	if (!got->why)
		got->why = proc_interrupted() ? "interrupted" :
			   t->header_bytes > HEADERS_MAX ?
						"the answer has more than 64 KiB of headers" :
			   rc == CURLE_OK ? "there was no status line" :
			   *t->error      ? t->error :
					    curl_easy_strerror(rc);
	got->why = mask_credentials(t->a, arena_strdup(t->a, got->why));
	got->status = 0;
	body_drop(t);
}

static void
exchange(struct transfer *t)
{
	double rest_s = t->deadline - proc_clock_s();
	struct curl_slist *headers = NULL;
	FILE *file = NULL;

	body_drop(t);
	t->answer->status = 0;
	t->answer->url = t->url;
	t->answer->headers = (struct names){ 0 };
	t->header_bytes = 0;
	t->curl = handle();
	if (rest_s <= 0) {
		t->answer->why = "the time limit was reached";
	} else if (!t->curl) {
		t->answer->why = "libcurl does not start";
	} else if (!t->sends || set_body(t, &file)) {
		headers = set_headers(t);
		set_limits(t, rest_s);
		set_request(t);
		conclude(t, curl_easy_perform(t->curl));
	}
	curl_slist_free_all(headers);
	if (file)
		fclose(file);
}

/* --- redirects, tries --- */

/* Follows a redirect; false: the answer is no redirect, or it must not be followed. */
static bool
redirect(struct transfer *t, unsigned count)
{
	const char *location = http_header(t->answer, "location"), *url;
	int s = t->answer->status;

	if ((s != 301 && s != 302 && s != 303 && s != 307 && s != 308) || !location)
		return false;
	url = http_resolve(t->a, t->url, location);
	t->answer->why = count >= HTTP_REDIRECTS ? "more than 5 redirects" :
			 !url ? "a redirect to a URL that is neither http nor https" :
			 starts_with(t->url, "https:") && !starts_with(url, "https:") ?
				"a redirect from https to http is not followed" :
				NULL;
	if (t->answer->why) {
		t->answer->status = 0;
		return false;
	}
	if (!http_same_origin(t->a, t->url, url))
		t->foreign = true;
	/* RFC 9110, 15.4: 303 means GET of the result; 301 and 302 turn a POST into a GET by custom. */
	if ((s == 303 && strcmp(t->method, "HEAD") != 0) ||
	    (s != 307 && s != 308 && !strcmp(t->method, "POST"))) {
		t->method = "GET";
		t->sends = false;
	}
	t->url = url;
	return true;
}

/* Waits before the next try; false: the wait is too long, the time is over, or the user ended
 * it. */
static bool
wait_for(double seconds, double deadline)
{
	double until = proc_clock_s() + seconds;

	if (seconds > HTTP_WAIT_MAX_S || until >= deadline)
		return false;
	while (proc_clock_s() < until && !proc_interrupted()) {
		nanosleep(&(struct timespec){ .tv_nsec = 20 * 1000 * 1000 }, NULL);
		alive_tick("waiting before the next request", NULL);
	}
	return !proc_interrupted();
}

static bool never_again;

void
http_never_again(void)
{
	never_again = true;
}

double
http_limit_s(const struct http_request *q)
{
	double bytes = (double)(q->max ? q->max : HTTP_MAX) + (double)q->body_size;
	struct stat st;

	if (q->body_path && stat(q->body_path, &st) == 0)
		bytes += (double)st.st_size;
	return q->timeout_s > 0 ? q->timeout_s : HTTP_LIMIT_S + bytes / HTTP_FAIR;
}

bool
http_do(struct arena *a, const struct http_request *q, struct http_answer *answer)
{
	struct transfer first = {
		.a = a,
		.q = q,
		.method = q->method,
		.answer = answer,
		.temp = { .fd = -1 },
		.deadline = proc_clock_s() + http_limit_s(q),
	};
	struct transfer t = first;

	*answer = (struct http_answer){ .why = "it is not an http or https URL" };
	if (!(first.url = http_split(a, q->url, &first.user)))
		return false;
	first.sends = q->body || q->body_path || !strcmp(q->method, "PUT") ||
		      !strcmp(q->method, "POST") || !strcmp(q->method, "PATCH");
	for (unsigned try = 0;; try++) {
		unsigned redirects = 0;

		body_drop(&t);
		t = first;
		*answer = (struct http_answer){ 0 };
		do
			exchange(&t);
		while (answer->status && redirect(&t, redirects++));
		if (!t.transient || q->once || never_again || try + 1 == HTTP_TRIES ||
		    !wait_for(t.retry_after_s > 0 ? t.retry_after_s : 0.5 * (double)(1U << try),
			      t.deadline))
			break;
	}
	if (answer->status && (answer->status / 100 != 2 || !q->to_path)) {
		answer->body = arena_copy(a, t.body.p, t.body.n);
		answer->body_size = t.body.n;
	}
	body_drop(&t);
	return answer->status != 0;
}
