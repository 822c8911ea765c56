#ifndef HTTP_H
#define HTTP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/list.h"

/*
 * HTTP by libcurl.  TLS is checked; a redirect to another host, port or scheme takes no
 * credentials along (CVE-2018-1000007, 2022-27774, 2022-27776); at most HTTP_REDIRECTS of
 * them; http:// after https:// is refused.  A transient failure (no connection, 408, 429, 5xx)
 * is tried again, waiting as Retry-After says or 0.5, 1, 2 s.  Credentials: those in the URL
 * (masked in every message), else ~/.netrc.
 */
enum { HTTP_REDIRECTS = 5, HTTP_TRIES = 4 };

struct http_request {
	const char *method; /* "GET", "HEAD", "PUT", "POST", "PATCH", "DELETE" */
	const char *url;
	struct names headers; /* "Accept: application/json" */
	const char *body;     /* bytes to send; or NULL */
	size_t body_size;
	const char *body_path; /* or this file, streamed */
	const char *to_path;   /* the body goes into this file (by rename, when it is whole) */
	const char *sha256;    /* what the body must have, hex; or NULL */
	size_t max;            /* bytes of a body; more is an error */
	double timeout_s; /* of the whole request; 0: only a stall limit (60 s without a byte) */
	bool once;        /* not tried again */
};

struct http_answer {
	int status;           /* 200; 0: no answer, `why` says */
	const char *why;      /* curl's words, credentials masked */
	struct names headers; /* "name: value", names in lower case, of the last answer */
	const char *body;     /* NUL after it; NULL if it went to a file */
	size_t body_size;
	const char *url; /* the last one, after redirects, masked */
};

/*
 * http_do -- one request to its end.
 *
 *   out     *answer; true if there was an answer at all (any status)
 *   errors  none of its own: a caller knows what a 404 means
 *   memory  lives in a
 */
bool http_do(struct arena *a, const struct http_request *q, struct http_answer *answer);

/* The value of a header, or NULL. */
const char *http_header(const struct http_answer *answer, const char *name);

#endif
