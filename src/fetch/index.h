#ifndef FETCH_INDEX_H
#define FETCH_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/list.h"
#include "python/python.h"

/* Package indexes: their pages, releases, source distributions, and wheels by ranges. */

enum {
	INDEX_TIMEOUT_S = 60,  /* time limit of a request for a page or METADATA, all tries */
	INDEX_TEXT_MAX = 1000, /* bytes of a text of a page */
};

/* An index, and the requests of a run. The caller sets the members of the first group. */
struct index_client {
	struct arena *a;       /* for the answers */
	const char *cache;     /* a directory for pages and METADATA; NULL: no cache */
	const char *netrc;     /* as in http_request */
	unsigned requests_max; /* maximum requests */
	double timeout_s;      /* time limit of a request */

	const char *url, *user; /* without a slash at its end; "name:password@", or "" */
	unsigned requests;
	const char *why; /* the reason of the last failure */
	bool missing;    /* the index does not have the package */
};

/*
 * index_open -- fills the URL of a client.
 *
 *   in      url: of a simple index; NULL: that of pip, see index_of_pip()
 *   errors  SB0286, false: there is none, or it is no URL
 */
bool index_open(struct diags *ds, struct index_client *x, const char *url);

/*
 * index_of_pip -- returns the index that pip uses: PIP_INDEX_URL, or `index-url` of pip's
 * configuration files; NULL if there is none.
 *
 *   out     its URL, with its credentials, if any
 *   memory  lives in a
 *   source  pip's documentation, "Configuration"; sections [global] and [install]
 */
const char *index_of_pip(struct arena *a);

/* A file on an index page. */
struct index_file {
	const char *name, *url; /* absolute, without user and password */
	const char *sha256;     /* 64 hex digits, or NULL */
	bool metadata;          /* METADATA is at url + ".metadata" */
	const char *metadata_sha256;
	const char *requires_python; /* or NULL */
	const char *yanked;          /* the reason, may be ""; NULL: not yanked */
	const char *date;            /* "2025-10-04", or NULL */
	uint64_t size;               /* 0: unknown */
};
struct index_files LIST(struct index_file);

struct index_page {
	struct index_files files;
	struct names versions; /* PEP 700, as written */
};

/*
 * index_page -- reads the page of a package.
 *
 *   in      package: normalised
 *   errors  NULL: x->why, x->missing
 *   memory  lives in x->a
 *   source  PEP 503, 592, 629, 658, 691, 700, 714
 */
const struct index_page *index_page(struct index_client *x, const char *package);

/*
 * index_ask -- reads the files on the page of a package, with one request.
 *
 *   in      url: of a simple index, credentials included; package: normalised; netrc: file of logins,
 *           or NULL
 *   out     INDEX_FOUND: *files; INDEX_FAILED: *why has the reason, credentials masked
 *   memory  lives in a
 */
enum index_answer { INDEX_FOUND, INDEX_MISSING, INDEX_FAILED };
enum index_answer index_ask(struct arena *a, const char *url, const char *package,
			    const char *netrc, double timeout_s, struct index_files *files,
			    const char **why);

/* --- releases --- */

struct index_release {
	const struct version *version;
	const char *text; /* as PEP 440 normalises it */
	const char *date, *requires_python, *yanked;
	struct names wheels; /* tags for CPython on Linux: "cp311-cp311-manylinux_2_17_x86_64" */
	bool any_wheel, sdist;
	bool kept_a_file;                /* at least one file is not yanked */
	const struct index_file *wheel;  /* the wheel to read; NULL: the release has none */
	const struct index_file *source; /* its source distribution, or NULL */
	int rank;                        /* of the wheel: pip prefers the highest one */
};
struct index_releases LIST(struct index_release);

/* Returns the releases of a page, oldest first; package: normalised. */
struct index_releases index_releases(struct arena *a, const struct index_page *page,
				     const char *package);

/*
 * index_metadata -- returns METADATA of a file that the index publishes apart, or that of a source
 * distribution.
 *
 *   out     "": only setup.py of a source distribution knows it, or the file is broken
 *   errors  NULL: x->why; without x->why: it must be read from the wheel itself
 */
const char *index_metadata(struct index_client *x, const struct index_file *file);
/* Saves METADATA that was read from a wheel, so that the next run costs no request. */
void index_keep_metadata(struct index_client *x, const struct index_file *file, const char *text);

/*
 * index_sdist -- reads the requirements of a source distribution, without those of extras.
 *
 *   in      url: as in index_open; package: normalised; spec: of its newest allowed release; NULL: any;
 *           a pre-release must be pinned
 *   out     its version
 *   errors  NULL: it cannot be read, or only its setup.py knows them
 *   memory  lives in a
 */
const char *index_sdist(struct arena *a, const char *url, const char *package,
			const struct specifiers *spec, struct names *requires_dist);

/* --- wheels by ranges --- */

/* A wheel on a server; read and expect are those of a struct wheel_source. */
struct index_wheel {
	const char *name, *url;  /* url: without user and password */
	uint64_t size;           /* bytes */
	const uint64_t *fetched; /* number of bytes fetched so far */
	bool (*read)(void *ctx, uint64_t at, void *to, size_t n);
	void (*expect)(void *ctx, uint64_t at, uint64_t n);
	void *ctx;
};

/* Fetches the end of a wheel, and with it the size; index_wheel_close() frees memory. false: x->why. */
bool index_wheel_open(struct index_client *x, const struct index_file *file,
		      struct index_wheel *wheel);
void index_wheel_close(struct index_wheel *wheel);

/*
 * index_wheel_read -- lets `reader` read a wheel by range requests.
 *
 *   in      what: a URL, NAME==VERSION (the wheel that pip prefers on Linux x86_64), or the file
 *           name of a wheel; url: as in index_open
 *   out     the reader's result
 *   errors  SB0813: not found, not reachable, or a server without ranges; SB0286: no index; those
 *           of the reader; false
 *   memory  the source lives until the reader returns
 *   source  RFC 9110, 14: range requests
 */
typedef bool index_wheel_reader(void *ctx, struct diags *ds, const struct index_wheel *wheel);
bool index_wheel_read(struct arena *a, struct diags *ds, const char *what, const char *url,
		      index_wheel_reader *reader, void *ctx);

#endif
