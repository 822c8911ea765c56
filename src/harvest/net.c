/* Requests to an index: pages and METADATA, and the cache of the answers. */
#include <errno.h>
#include <string.h>

#include "base/fs.h"
#include "base/proc.h"
#include "base/sha256.h"
#include "base/str.h"
#include "inspect/inspect.h"
#include "internal.h"

enum { STALL_S = 20, ETAG_MAX = 1000 };

static const char accept[] = "Accept: application/vnd.pypi.simple.v1+json, "
			     "application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.01";

/* Returns the URL with the index's user and password if the origin is the same. */
static const char *
with_user(struct work *w, const char *url)
{
	const char *host = strstr(url, "://");

	if (!*w->h->user || !host || !http_same_origin(w->a, w->h->index, url))
		return url;
	host += strlen("://");
	return arena_printf(w->a, "%.*s%s%s", (int)(host - url), url, w->h->user, host);
}

bool
net_get(struct work *w, struct http_request *q, int also, struct http_answer *answer)
{
	const char *url = q->url;

	if (w->h->requests >= w->h->how->requests_max) {
		w->why = arena_printf(w->a, "the limit of %u requests is reached",
				      w->h->how->requests_max);
		return false;
	}
	w->h->requests++;
	q->method = "GET";
	q->url = with_user(w, url);
	q->stall_s = STALL_S;
	q->netrc = w->h->how->netrc;
	if (!q->timeout_s)
		q->timeout_s = w->h->how->timeout_s;
	http_do(w->a, q, answer);
	q->url = url;
	url = mask_credentials(w->a, url);
	if (proc_interrupted())
		w->why = "interrupted";
	else if (!answer->status)
		w->why = arena_printf(w->a, "cannot read %s: %s", url, answer->why);
	else if (answer->status / 100 != 2 && answer->status != also)
		w->why = arena_printf(w->a, "cannot read %s: the server answers with status %d%s",
				      url, answer->status,
				      answer->status == 401 || answer->status == 403 ?
					      " (it requires a login, or refuses this one)" :
					      "");
	else
		return true;
	return false;
}

/* --- the cache --- */

static const char *
cache_path(struct work *w, const char *kind, const char *key)
{
	return arena_printf(w->a, "%s/%s-%s", w->h->how->cache, kind, key);
}

/* Returns the cached text of a key, or NULL. */
static const char *
cache_get(struct work *w, const char *kind, const char *key, size_t *n)
{
	const struct source *s =
		!w->h->how->cache || !key ?
			NULL :
			fs_read_quiet(w->a, cache_path(w, kind, key), PAGE_MAX + 3 * ETAG_MAX);

	*n = s ? s->size : 0;
	return s ? s->text : NULL;
}

/* Saves a page in the cache; a failure only costs a request later. */
static void
cache_put(struct work *w, const char *kind, const char *key, const char *text, size_t n)
{
	struct diags unused = DIAGS(unused, w->a);

	if (!w->h->how->cache || !key)
		return;
	fs_write(&unused, cache_path(w, kind, key), text, n, 0600, false, NULL);
}

/* --- the page --- */

/* The format of a cached page: three lines (ETag, type, URL), then the page. */
struct kept_page {
	const char *etag, *type, *url, *text;
	size_t n;
};

static const char *
take_line(struct work *w, const char **at, const char *end)
{
	const char *eol = memchr(*at, '\n', (size_t)(end - *at));
	const char *line = eol ? arena_copy(w->a, *at, (size_t)(eol - *at)) : NULL;

	*at = eol ? eol + 1 : end;
	return line;
}

static bool
kept_page(struct work *w, const char *key, struct kept_page *p)
{
	size_t n;
	const char *text = cache_get(w, "page", key, &n), *end = text + n;

	if (!text)
		return false;
	p->etag = take_line(w, &text, end);
	p->type = take_line(w, &text, end);
	p->url = take_line(w, &text, end);
	p->text = text;
	p->n = (size_t)(end - text);
	return p->etag && p->type && p->url && *p->etag;
}

static void
keep_page(struct work *w, const char *key, const struct kept_page *p)
{
	struct buf b = BUF(w->a);

	if (!p->etag || strlen(p->etag) > ETAG_MAX || !p->type || strlen(p->type) > ETAG_MAX ||
	    strlen(p->url) > ETAG_MAX)
		return;
	buf_printf(&b, "%s\n%s\n%s\n", p->etag, p->type, p->url);
	buf_add(&b, p->text, p->n);
	cache_put(w, "page", key, buf_text(&b), b.n);
}

const struct index_page *
net_page(struct work *w)
{
	const char *url = arena_printf(w->a, "%s/%s/", w->h->index, w->package), *why;
	const char *key = sha256_hex(w->a, url, strlen(url));
	struct index_page *page = arena_new_of(w->a, struct index_page);
	struct http_request q = { .url = url, .max = PAGE_MAX };
	struct kept_page kept = { 0 };
	struct http_answer answer = { 0 };
	bool have = kept_page(w, key, &kept);

	list_push(w->a, &q.headers, accept);
	if (have)
		list_printf(w->a, &q.headers, "If-None-Match: %s", kept.etag);
	if (!net_get(w, &q, have ? 304 : 0, &answer)) {
		w->missing = answer.status == 404 || answer.status == 410;
		if (w->missing)
			w->why = "the index has no package of that name";
		return NULL;
	}
	if (answer.status != 304) {
		kept = (struct kept_page){
			.etag = http_header(&answer, "etag"),
			.type = http_header(&answer, "content-type"),
			.url = answer.url,
			.text = answer.body,
			.n = answer.body_size,
		};
	}
	if (!page_parse(w->a, kept.type, kept.url, kept.text, kept.n, page, &why)) {
		w->why = arena_printf(w->a, "cannot use %s: %s", mask_credentials(w->a, url), why);
		return NULL;
	}
	if (answer.status != 304)
		keep_page(w, key, &kept);
	return page;
}

/* --- METADATA --- */

static const char *
by_ranges(struct work *w, const struct index_file *file)
{
	struct ranges r = { .w = w, .file = file };
	const char *text = NULL;
	struct diags ds = DIAGS(ds, w->a);

	if (ranges_open(&r))
		text = wheel_metadata_text(
			w->a, &ds,
			&(struct wheel_source){ file->name, r.size, ranges_read, NULL, &r });
	if (!text && !w->why)
		w->why = arena_printf(w->a, "cannot read %s: %s", file->name,
				      ds.head ? ds.head->text : "it is broken");
	return text;
}

const char *
net_metadata(struct work *w, const struct index_file *file)
{
	struct http_request q = { .url = arena_printf(w->a, "%s.metadata", file->url),
				  .max = METADATA_MAX,
				  .sha256 = file->metadata_sha256 };
	struct http_answer answer = { 0 };
	size_t n;
	const char *text = cache_get(w, "metadata", file->sha256, &n);

	if (text)
		return text;
	if (file->metadata && net_get(w, &q, 404, &answer) && answer.status != 404)
		text = answer.body;
	if (text && strlen(text) != answer.body_size) {
		w->why = arena_printf(w->a, "%s holds a NUL", q.url);
		return NULL;
	}
	/* An index may announce a file that it does not have. */
	if (!text && !w->why)
		text = ends_with(file->name, ".whl") ? by_ranges(w, file) : sdist_metadata(w, file);
	if (text)
		cache_put(w, "metadata", file->sha256, text, strlen(text));
	return text;
}
