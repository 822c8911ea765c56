#ifndef FETCH_INDEX_INTERNAL_H
#define FETCH_INDEX_INTERNAL_H

#include "fetch/fetch.h"

/* Shared by the files of fetch/ for package indexes. */

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

enum { PAGE_MAX = 16 * 1024 * 1024, PAGE_FILES_MAX = 100000 };

/* Adds a file; url as written. A file without a valid URL and name is omitted. */
void page_add(struct arena *a, struct index_page *page, const char *base, const char *url,
	      struct index_file file);
/* Returns 64 hex digits in lower case; NULL for another text. */
const char *page_sha256(struct arena *a, const char *text);

/*
 * index_get -- makes a request.
 *
 *   in      q: a URL without credentials, which come from the index if the origin is the same
 *   errors  false: x->why has the reason; also for a status other than `also` and 200 to 299
 */
bool index_get(struct index_client *x, struct http_request *q, int also,
	       struct http_answer *answer);

/* Returns METADATA of a source distribution; "": only its setup.py knows it, or it is broken. */
const char *sdist_text(struct arena *a, const void *bytes, size_t n);
/* Downloads a source distribution of the index, and returns its METADATA; NULL: x->why. */
const char *sdist_metadata(struct index_client *x, const struct index_file *file);

#endif
