#ifndef HARVEST_H
#define HARVEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/list.h"
#include "facts/facts.h"
#include "inspect/inspect.h"

/* Reads a package index, and writes the releases of each package to releases/NAME.yaml. */

enum {
	HARVEST_LIMIT = 20,     /* maximum releases of a package whose METADATA is read */
	HARVEST_REQUESTS = 500, /* maximum requests of a run */
	HARVEST_TIMEOUT_S = 60, /* time limit of a request for a page or METADATA, all tries */
};

struct harvest_how {
	const char *index;     /* URL of a simple index; NULL: pip's, see harvest_index() */
	const char *dir;       /* a knowledge directory; files are written to its releases/ */
	const char *day;       /* today, "2026-11-23" */
	const char *cache;     /* a directory for pages and METADATA; NULL: no cache */
	bool all;              /* list and read every final release */
	bool deep;             /* download and inspect the wheels, too */
	bool known;            /* take the requirements of a release from f if f has them */
	unsigned limit;        /* maximum releases of a package whose METADATA is read */
	unsigned requests_max; /* maximum requests of the run */
	double timeout_s;      /* time limit of a request */
	const char *netrc;     /* as in http_request */
	void (*tell)(void *ctx, const char *line); /* called for each finished package */
	void *ctx;
};

/*
 * harvest -- reads the packages from an index, one after the other, and writes a file for each.
 *
 *   in      packages: names; f: decides which requirements are kept out DIR/releases/NAME.yaml for
 *           each package that was read completely; the files of the others stay unchanged
 *   errors  SB0286 for each package that failed; false
 *   source  PEP 503, 592, 629, 658, 691, 700, 714; core metadata
 */
bool harvest(struct arena *a, struct diags *ds, const struct facts *f, const struct names *packages,
	     const struct harvest_how *how);

/*
 * harvest_index -- returns the index that pip uses: PIP_INDEX_URL, or `index-url` of pip's
 * configuration files; NULL if there is none.
 *
 *   out     its URL, with its credentials, if any
 *   memory  lives in a
 *   source  pip's documentation, "Configuration"; sections [global] and [install]
 */
const char *harvest_index(struct arena *a);

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

/*
 * harvest_files -- reads the page of a package.
 *
 *   in      index: URL of a simple index, credentials included; package: normalised; netrc: file of
 *           logins, or NULL
 *   out     HARVEST_FOUND: *files; HARVEST_FAILED: *why has the reason, credentials masked
 *   memory  lives in a
 */
enum harvest_answer { HARVEST_FOUND, HARVEST_MISSING, HARVEST_FAILED };
enum harvest_answer harvest_files(struct arena *a, const char *index, const char *package,
				  const char *netrc, double timeout_s, struct index_files *files,
				  const char **why);

/*
 * harvest_sdist -- reads the requirements of a source distribution, without those of extras.
 *
 *   in      index: as in struct harvest_how; package: normalised; spec: of its newest allowed release;
 *           NULL: any; a pre-release must be pinned
 *   out     its version
 *   errors  NULL: it cannot be read, or only its setup.py knows them
 *   memory  lives in a
 */
const char *harvest_sdist(struct arena *a, const char *index, const char *package,
			  const struct specifiers *spec, struct names *requires_dist);

/* A wheel on a server. */
struct remote_seen {
	const char *url;         /* without user and password */
	const uint64_t *fetched; /* number of bytes fetched so far */
	struct wheel_source source;
};
typedef bool remote_reader(void *ctx, struct diags *ds, const struct remote_seen *wheel);

/*
 * remote_wheel -- lets `reader` read a wheel by range requests.
 *
 *   in      what: a URL, NAME==VERSION (the wheel that pip prefers on Linux x86_64), or the file
 *           name of a wheel; index: as in struct harvest_how out the reader's result
 *   errors  SB0813: not found, not reachable, or a server without ranges; SB0286: no index; those
 *           of the reader; false
 *   memory  the source lives until the reader returns
 *   source  RFC 9110, 14: range requests
 */
bool remote_wheel(struct arena *a, struct diags *ds, const char *what, const char *index,
		  remote_reader *reader, void *ctx);

#endif
