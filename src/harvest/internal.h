#ifndef HARVEST_INTERNAL_H
#define HARVEST_INTERNAL_H

#include "fetch/fetch.h"
#include "harvest.h"
#include "python/python.h"

/* Shared by the files of harvest/. */

struct index_page {
	struct index_files files;
	struct names versions; /* PEP 700, as written */
};

/*
 * page_parse -- parses the page of a project, in JSON or HTML.
 *
 *   in      type: its Content-Type; url: its URL
 *   out     *why: the reason why it is not a page
 *   errors  false
 *   memory  lives in a; borrows nothing
 */
bool page_parse(struct arena *a, const char *type, const char *url, const char *text, size_t n,
		struct index_page *page, const char **why);
bool page_parse_html(struct arena *a, const char *url, const char *text, size_t n,
		     struct index_page *page);

enum { PAGE_MAX = 16 * 1024 * 1024, PAGE_FILES_MAX = 100000, PAGE_TEXT_MAX = 1000 };

/* Adds a file; url as written. A file without a valid URL and name is omitted. */
void page_add(struct arena *a, struct index_page *page, const char *base, const char *url,
	      struct index_file file);
/* Returns 64 hex digits in lower case; NULL for another text. */
const char *page_sha256(struct arena *a, const char *text);

/* --- releases --- */

struct found_release {
	const struct version *version;
	const char *text; /* as PEP 440 normalises it */
	const char *date, *requires_python, *yanked;
	struct names wheels; /* tags, in the form of the file */
	bool any_wheel, sdist;
	bool listed;                     /* the file contains it */
	bool pinned;                     /* another package pins it */
	bool read;                       /* its METADATA can be read, but has not been read */
	bool kept_a_file;                /* at least one file is not yanked */
	const struct index_file *wheel;  /* the wheel to read; NULL: the release has none */
	const struct index_file *source; /* its source distribution, or NULL */
	int rank;
	bool has_metadata; /* requires and extras are known */
	/* The known release from whose own source they come; NULL: from METADATA. */
	const struct package_release *own;
	struct names requires, extras;
	const char *deep; /* YAML of the `deep` section, or NULL if the wheel was not inspected */
};
struct found_releases LIST(struct found_release);

/* Returns the releases of a page, oldest first; package: normalised. */
struct found_releases releases_of(struct arena *a, const struct index_page *page,
				  const char *package);

/*
 * releases_select -- marks the releases to list, and those whose METADATA can be read.
 *
 *   in      pins: versions that other packages pin
 */
void releases_select(struct arena *a, struct found_releases *all, const struct names *pins,
		     const struct harvest_how *how);

/*
 * releases_next -- returns the release whose METADATA adds most: a pinned one, the newest, the
 * oldest, then the middle one of the longest run between two different ones; NULL: no other release
 * adds facts.
 */
struct found_release *releases_next(const struct found_releases *all, bool every);

/* --- a run --- */

struct harvester {
	const struct facts *f;
	const struct harvest_how *how;
	const char *index, *user; /* user: "name:password@" of the index, or "" */
	unsigned requests;
	const struct names *packages;
};

/* The state for one package; `why` has the reason of a failure. */
struct work {
	struct harvester *h;
	struct arena *a;
	const char *package;
	const char *why;
	bool missing; /* net_page: the index does not have the package */
};

/*
 * net_get -- makes a request.
 *
 *   in      q: a URL without credentials, which come from the index if the origin is the same
 *   errors  false: w->why has the reason; also for a status other than `also` and 200 to 299
 */
bool net_get(struct work *w, struct http_request *q, int also, struct http_answer *answer);

struct segment {
	uint64_t at;
	const char *bytes;
	size_t n;
};

/* A wheel on a server. */
struct ranges {
	struct work *w;
	const struct index_file *file;
	uint64_t size, fetched; /* bytes */
	uint64_t kept;          /* number of bytes kept in memory */
	uint64_t until;         /* bytes before this are read in order and not kept */
	struct segment piece;   /* the newest of these bytes */
	struct arena *piece_arena;
	struct segments LIST(struct segment) have;
};

/* Fetches the end of the file, and with it the size; false: w->why. */
bool ranges_open(struct ranges *r);
/* Reads n bytes at `at`, and fetches what is missing; false: w->why.  A wheel_bytes. */
bool ranges_read(void *ctx, uint64_t at, void *to, size_t n);
/* Announces that n bytes at `at` are read in order, to fetch them with few requests and not keep
 * them. */
void ranges_expect(void *ctx, uint64_t at, uint64_t n);
void ranges_close(struct ranges *r);

/* Parses the URL of the index: without a slash at its end, and its user; false: it is no URL. */
bool harvester_index(struct arena *a, struct diags *ds, struct harvester *h);

/* Returns the page of the package; NULL: w->why. */
const struct index_page *net_page(struct work *w);
/* Returns METADATA of a wheel or a source distribution; NULL: w->why. */
const char *net_metadata(struct work *w, const struct index_file *file);

/* Returns METADATA of a source distribution; "": only its setup.py knows it, or it is broken. */
const char *sdist_text(struct work *w, const void *bytes, size_t n);
/* Downloads a source distribution of the index, and returns its METADATA; NULL: w->why. */
const char *sdist_metadata(struct work *w, const struct index_file *file);

/* Fills requires and extras of a release from METADATA; false: w->why. */
bool metadata_take(struct work *w, const char *text, struct found_release *r);
/* Fills the extras that the requirements of a release name. */
void extras_take(struct work *w, struct found_release *r);

/* Downloads the wheel of a release and fills `deep`; false: w->why. */
bool deep_read(struct work *w, struct found_release *r);

/* Writes the file as text. */
void releases_write(struct work *w, const struct found_releases *all, struct buf *out);

#endif
