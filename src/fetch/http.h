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
 * (masked in every message), else ~/.netrc.  Certificates are checked against the system's, or
 * $CURL_CA_BUNDLE, $SSL_CERT_FILE or $SSL_CERT_DIR; proxies as curl reads them.
 */
enum {
	HTTP_REDIRECTS = 5,
	HTTP_TRIES = 4,
	HTTP_STALL_S = 60,
	HTTP_LIMIT_S = 3600,        /* of a whole request, plus a second for each HTTP_FAIR bytes */
	HTTP_FAIR = 256 * 1024,     /* bytes */
	HTTP_SPEED_MIN = 1024,      /* bytes a second, on average over stall_s */
	HTTP_WAIT_MAX_S = 60,       /* a longer Retry-After is not waited for */
	HTTP_MAX = 16 * 1024 * 1024 /* bytes */
};

struct http_request {
	const char *method; /* "GET", "HEAD", "PUT", "POST", "PATCH", "DELETE" */
	const char *url;
	struct names headers; /* "Accept: application/json" */
	const char *body;     /* bytes to send; or NULL */
	size_t body_size;
	const char *body_path; /* or this file, streamed */
	const char *to_path;   /* the body goes into this file (by rename, when it is whole) */
	const char *sha256;    /* required digest of the body, hex; or NULL */
	const char *netrc;     /* file of logins in place of ~/.netrc; or NULL */
	size_t max;            /* bytes of a body; more is an error; 0: HTTP_MAX */
	double timeout_s; /* of the whole request, all tries; 0: by HTTP_LIMIT_S and its size */
	unsigned stall_s; /* below HTTP_SPEED_MIN, or connecting; 0: HTTP_STALL_S */
	bool once;        /* not tried again */
};

struct http_answer {
	int status;      /* 200; 0: no answer, and `why` has the reason */
	const char *url; /* that answered, after redirects; without user and password */
	const char *why; /* curl's words, credentials masked */
	bool refused;    /* with status 0: it came and was not taken: too large, another digest */
	struct names headers; /* "name: value", names in lower case, of the last answer */
	const char *body; /* NUL after it; NULL if it went to a file (a 2xx); of others 64 KiB */
	size_t body_size;
};

/*
 * http_do -- one request to its end.
 *
 *   out     *answer; true if there was an answer at all (any status).  A file appears at to_path
 *           only for a 2xx whose length and digest are right
 *   errors  adds no diagnostic: the caller knows what a 404 means
 *   memory  lives in a
 */
bool http_do(struct arena *a, const struct http_request *q, struct http_answer *answer);

/*
 * Returns seconds that a request may take: its own limit, else HTTP_LIMIT_S and what its size adds.
 */
double http_limit_s(const struct http_request *q);

struct http_user {
	const char *name, *password; /* name NULL: none */
};

/* Returns the URL without user and password, and these; NULL: no http or https URL. */
const char *http_split(struct arena *a, const char *url, struct http_user *user);
/*
 * Returns a reference (RFC 3986, 5) against a URL; without its user and password.  NULL: the result
 * is not an http or https URL.
 */
const char *http_resolve(struct arena *a, const char *base, const char *reference);
/* Returns the last part of the path of a URL or reference, with `%2B` decoded. */
const char *http_file_name(struct arena *a, const char *url);
/* Scheme, host and port are the same. */
bool http_same_origin(struct arena *a, const char *x, const char *y);
/*
 * Returns the host of a URL, without its port; NULL: no http or https URL, or one with a user or
 * password.
 */
const char *http_host(struct arena *a, const char *url);
/* Loopback: localhost, 127.0.0.0/8 or [::1], with or without a port. */
bool http_is_loopback(const char *host);

/* Returns the file of CA certificates: CURL_CA_BUNDLE, SSL_CERT_FILE, or the system's where libcurl was built without
 * its place (Debian and Alpine, Fedora and RHEL, openSUSE).  NULL: libcurl's own, or SSL_CERT_DIR. */
const char *http_ca_file(void);

/* Returns the value of a header, name in lower case; or NULL. */
const char *http_header(const struct http_answer *answer, const char *name);

#endif
