#ifndef HTTP_H
#define HTTP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/list.h"

/*
 * HTTP by libcurl. TLS is checked; a redirect to another host, port or scheme gets no credentials
 * (CVE-2018-1000007, 2022-27774, 2022-27776). It follows at most HTTP_REDIRECTS, and none from
 * https:// to http://. A transient failure (no connection, 408, 429, 5xx) is tried again after the
 * time in Retry-After, or after 0.5, 1, 2 s. Credentials come from the URL (masked in every
 * message) or ~/.netrc. Certificates are checked against the system's, or $CURL_CA_BUNDLE,
 * $SSL_CERT_FILE or $SSL_CERT_DIR; proxies are set as for curl.
 */
enum {
	HTTP_REDIRECTS = 5,
	HTTP_TRIES = 4,
	HTTP_STALL_S = 60,
	HTTP_LIMIT_S = 3600,        /* limit of a request, plus a second for each HTTP_FAIR bytes */
	HTTP_FAIR = 256 * 1024,     /* bytes */
	HTTP_SPEED_MIN = 1024,      /* bytes a second, on average over stall_s */
	HTTP_WAIT_MAX_S = 60,       /* maximum wait for Retry-After */
	HTTP_MAX = 16 * 1024 * 1024 /* bytes */
};

struct http_request {
	const char *method; /* "GET", "HEAD", "PUT", "POST", "PATCH", "DELETE" */
	const char *url;
	struct names headers; /* "Accept: application/json" */
	const char *body;     /* bytes to send; or NULL */
	size_t body_size;
	const char *body_path; /* or this file, streamed */
	const char *to_path;   /* file for the body (by rename, when it is complete) */
	const char *sha256;    /* required digest of the body, hex; or NULL */
	const char *netrc;     /* file that replaces ~/.netrc, see http_logins(); or NULL */
	size_t max;            /* maximum bytes of a body; 0: HTTP_MAX */
	double timeout_s; /* limit of all attempts together; 0: HTTP_LIMIT_S and the size decide */
	unsigned stall_s; /* limit below HTTP_SPEED_MIN, or for a connection; 0: HTTP_STALL_S */
	bool once;        /* do not try again */
};

struct http_answer {
	int status;           /* 200; 0: no answer, and `why` has the reason */
	const char *url;      /* URL that answered, after redirects; without user and password */
	const char *why;      /* curl's message, with masked credentials */
	bool refused;         /* status is 0: the body has the wrong size or digest */
	struct names headers; /* "name: value", names in lower case, of the last answer */
	const char *body; /* body and a NUL; NULL if it is in a file; at most 64 KiB unless 2xx */
	size_t body_size;
};

/*
 * http_do -- completes a request.
 *
 *   out     *answer; true for any answer (any status). A file appears at to_path
 *           only for a 2xx whose length and digest are right
 *   errors  adds no diagnostic: the caller knows what a 404 means
 *   memory  lives in a
 */
bool http_do(struct arena *a, const struct http_request *q, struct http_answer *answer);

/* Disables retries for all later requests of this process. */
void http_never_again(void);

/*
 * Returns the time limit of a request in seconds: its own, or HTTP_LIMIT_S plus time for its size.
 */
double http_limit_s(const struct http_request *q);

struct http_user {
	const char *name, *password; /* name NULL: none */
};

/* Returns the URL without user and password, and both of them; NULL: no http or https URL. */
const char *http_split(struct arena *a, const char *url, struct http_user *user);
/*
 * Resolves a reference (RFC 3986, 5) against a URL, without its user and password. NULL: the result
 * is not an http or https URL.
 */
const char *http_resolve(struct arena *a, const char *base, const char *reference);
/* Returns true if scheme, host and port are the same. */
bool http_same_origin(struct arena *a, const char *x, const char *y);
/*
 * Returns the host of a URL, without its port; NULL: no http or https URL, or one with a user or
 * password.
 */
const char *http_host(struct arena *a, const char *url);
/* Returns true for localhost, 127.0.0.0/8 or [::1], with or without a port. */
bool http_is_loopback(const char *host);

/* Returns the file of CA certificates: CURL_CA_BUNDLE, SSL_CERT_FILE, or the system's if libcurl
 * was built without its path (Debian and Alpine, Fedora and RHEL, openSUSE). NULL: libcurl's own,
 * or SSL_CERT_DIR. */
const char *http_ca_file(void);
/*
 * Returns the CA certificates of this machine, for a child process that brings its own: the file of
 * http_ca_file or libcurl's own. NULL: SSL_CERT_FILE or SSL_CERT_DIR, which the child reads itself, is
 * set, or there is no such file.
 */
const char *http_ca_child(void);

/* Returns the value of a header, name in lower case; or NULL. */
const char *http_header(const struct http_answer *answer, const char *name);

/* Returns a file with lines of a netrc, which only this process can read, until it ends; NULL: there are no
 * lines, or no memory for them. */
const char *http_logins(struct arena *a, const struct names *texts);

#endif
