#ifndef HTTP_INTERNAL_H
#define HTTP_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/sha256.h"
#include "http.h"

/* Inside http: where a body goes, one exchange with one server, and URLs in parts. */

enum {
	HTTP_ERROR_MAX = 64 * 1024,  /* bytes of the body of an answer that is no 2xx */
	HTTP_HEADERS_MAX = 64 * 1024 /* bytes of all headers of an answer */
};

struct http_sink {
	struct arena *a;
	const struct http_request *q;
	int fd; /* of temp; -1: into memory */
	const char *temp;
	struct buf body;
	size_t n;
	struct sha256 *sum;
	const char *why; /* it cannot go on; NULL: all is well */
	bool refused;    /* why is about the body, not about the disk */
};

/* The body of a 2xx begins, of `announced` bytes (0: not told); false: why says. */
bool http_sink_open(struct http_sink *k, struct arena *a, const struct http_request *q,
		    size_t announced);
bool http_sink_add(struct http_sink *k, const char *bytes, size_t n);
/* It has ended: the digest is checked, the file gets its name. */
bool http_sink_end(struct http_sink *k);
/* Nothing of it stays. */
void http_sink_drop(struct http_sink *k);

struct http_user {
	const char *name, *password; /* name NULL: none */
};

/* One request to one server and its answer. */
struct http_exchange {
	struct arena *a;
	const struct http_request *q;
	const char *url, *method; /* without user and password */
	bool sends;               /* the request has a body */
	bool foreign;             /* another origin than the one asked: no credentials go there */
	struct http_user user;
	double remaining_s; /* of the whole request */
	/* out */
	int status;
	const char *why;
	bool refused, transient;
	double retry_after_s;
	struct names headers;
	struct buf error_body;
	struct http_sink sink;
	size_t header_bytes;
};
void http_exchange(struct http_exchange *x);

/* Seconds that a request may take: its own limit, else HTTP_LIMIT_S and what its size adds. */
double http_limit_s(const struct http_request *q);

/* The URL without user and password, and these; NULL: no http or https URL. */
const char *http_split(struct arena *a, const char *url, struct http_user *user);

#endif
