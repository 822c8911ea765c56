#include "http.h"

#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/proc.h"
#include "base/str.h"
#include "http_internal.h"

static double
http_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
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

static bool
fail(struct http_exchange *x, const char *why)
{
	x->why = why;
	x->status = 0;
	x->transient = false;
	return false;
}

/* The next hop, if the answer is a redirect that is followed. */
static bool
redirect(struct http_exchange *x, unsigned *count)
{
	const struct http_answer seen = { .headers = x->headers };
	const char *location = http_header(&seen, "location"), *url;
	int s = x->status;

	if ((s != 301 && s != 302 && s != 303 && s != 307 && s != 308) || !location)
		return false;
	if (++*count > HTTP_REDIRECTS)
		return fail(x, "more than 5 redirects");
	url = http_resolve(x->a, x->url, location);
	if (!url)
		return fail(x, "a redirect to what is no http or https URL");
	if (starts_with(x->url, "https:") && !starts_with(url, "https:"))
		return fail(x, "a redirect from https to http is not followed");
	if (!http_same_origin(x->a, x->url, url))
		x->foreign = true;
	/* RFC 9110, 15.4: 303 asks for the result; 301 and 302 turn a POST into a GET by custom. */
	if ((s == 303 && strcmp(x->method, "HEAD") != 0) ||
	    (s != 307 && s != 308 && !strcmp(x->method, "POST"))) {
		x->method = "GET";
		x->sends = false;
	}
	x->url = url;
	return true;
}

/* One try: the server asked, and those it sends us to. */
static void
follow(struct http_exchange *x, double deadline)
{
	unsigned redirects = 0;

	do {
		x->status = 0;
		x->header_bytes = 0;
		x->headers = (struct names){ 0 };
		x->remaining_s = deadline - http_now();
		if (x->remaining_s <= 0) {
			fail(x, "the time limit was reached");
			return;
		}
		http_exchange(x);
	} while (x->status && redirect(x, &redirects));
}

static bool
has_body(const struct http_request *q)
{
	return q->body || q->body_path || !strcmp(q->method, "PUT") || !strcmp(q->method, "POST") ||
	       !strcmp(q->method, "PATCH");
}

/* False: it is not waited for, the time is over or the user ended it. */
static bool
wait_for(double seconds, double deadline)
{
	double until = http_now() + seconds;

	if (seconds > HTTP_WAIT_MAX_S || until >= deadline)
		return false;
	while (http_now() < until && !proc_interrupted())
		nanosleep(&(struct timespec){ .tv_nsec = 20 * 1000 * 1000 }, NULL);
	return !proc_interrupted();
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
	double deadline = http_now() + http_limit_s(q);
	struct http_user user = { 0 };
	const char *url = http_split(a, q->url, &user);
	struct http_exchange x = { .a = a };

	*answer = (struct http_answer){ .why = "it is no http or https URL" };
	if (!url)
		return false;
	for (unsigned try = 0;; try++) {
		double wait = 0.5 * (double)(1U << try);

		x = (struct http_exchange){ .a = a,
					    .q = q,
					    .url = url,
					    .method = q->method,
					    .sends = has_body(q),
					    .user = user };
		follow(&x, deadline);
		if (!x.transient || q->once || try + 1 == HTTP_TRIES)
			break;
		if (!wait_for(x.retry_after_s > 0 ? x.retry_after_s : wait, deadline))
			break;
	}
	*answer = (struct http_answer){
		.status = x.status, .why = x.why, .refused = x.refused, .headers = x.headers
	};
	if (x.status && x.status / 100 != 2) {
		answer->body = buf_text(&x.error_body);
		answer->body_size = x.error_body.n;
	} else if (x.status && !q->to_path) {
		answer->body = buf_text(&x.sink.body);
		answer->body_size = x.sink.body.n;
	}
	return x.status != 0;
}
