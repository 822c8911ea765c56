/* Requests to a package index: pages and METADATA, and the cache of the answers. */
#include <errno.h>
#include <string.h>

#include "base/fs.h"
#include "base/proc.h"
#include "base/sha256.h"
#include "base/str.h"
#include "index_internal.h"

enum { STALL_S = 20, ETAG_MAX = 1000 };

static const char accept[] = "Accept: application/vnd.pypi.simple.v1+json, "
			     "application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.01";

/* Returns the URL with the index's user and password if the origin is the same. */
static const char *
with_user(struct index_client *x, const char *url)
{
	const char *host = strstr(url, "://");

	if (!*x->user || !host || !http_same_origin(x->a, x->url, url))
		return url;
	host += strlen("://");
	return arena_printf(x->a, "%.*s%s%s", (int)(host - url), url, x->user, host);
}

bool
index_get(struct index_client *x, struct http_request *q, int also, struct http_answer *answer)
{
	const char *url = q->url;

	if (x->requests >= x->requests_max) {
		x->why = arena_printf(x->a, "the limit of %u requests is reached", x->requests_max);
		return false;
	}
	x->requests++;
	q->method = "GET";
	q->url = with_user(x, url);
	q->stall_s = STALL_S;
	q->netrc = x->netrc;
	if (!q->timeout_s)
		q->timeout_s = x->timeout_s;
	http_do(x->a, q, answer);
	q->url = url;
	url = mask_credentials(x->a, url);
	if (proc_interrupted())
		x->why = "interrupted";
	else if (!answer->status)
		x->why = arena_printf(x->a, "cannot read %s: %s", url, answer->why);
	else if (answer->status / 100 != 2 && answer->status != also)
		x->why = arena_printf(x->a, "cannot read %s: the server answers with status %d%s",
				      url, answer->status,
				      answer->status == 401 || answer->status == 403 ?
					      " (it requires a login, or refuses this one)" :
					      "");
	else
		return true;
	return false;
}

bool
index_open(struct diags *ds, struct index_client *x, const char *url)
{
	struct arena *a = x->a;
	const char *given = url ? url : index_of_pip(a);
	const char *shown, *host, *at;
	struct http_user user;
	size_t n;

	if (!given) {
		diag_help(diag_at(ds, E_HARVEST, NOWHERE,
				  "neither --index nor pip's configuration names a package index"),
			  "pass --index URL, or set PIP_INDEX_URL or `index-url` in pip.conf");
		return false;
	}
	shown = mask_credentials(a, given);
	url = http_split(a, given, &user);
	x->user = "";
	if (!url) {
		diag_help(diag_at(ds, E_HARVEST, NOWHERE,
				  "the index `%s` is not an http or https URL", shown),
			  "name the URL of a simple index, such as https://example.org/simple");
		return false;
	}
	host = strstr(given, "://") + strlen("://");
	at = memrchr(host, '@', strcspn(host, "/?#"));
	if (at)
		x->user = arena_copy(a, host, (size_t)(at + 1 - host));
	for (n = strlen(url); n && url[n - 1] == '/';)
		n--;
	x->url = arena_copy(a, url, n);
	return true;
}

/* --- the cache --- */

static const char *
cache_path(struct index_client *x, const char *kind, const char *key)
{
	return arena_printf(x->a, "%s/%s-%s", x->cache, kind, key);
}

/* Returns the cached text of a key, or NULL. */
static const char *
cache_get(struct index_client *x, const char *kind, const char *key, size_t *n)
{
	const struct source *s = !x->cache || !key ? NULL :
						     fs_read_quiet(x->a, cache_path(x, kind, key),
								   PAGE_MAX + 3 * ETAG_MAX);

	*n = s ? s->size : 0;
	return s ? s->text : NULL;
}

/* Saves a page in the cache; a failure only costs a request later. */
static void
cache_put(struct index_client *x, const char *kind, const char *key, const char *text, size_t n)
{
	struct diags unused = DIAGS(unused, x->a);

	if (!x->cache || !key)
		return;
	fs_write(&unused, cache_path(x, kind, key), text, n, 0600, false, NULL);
}

/* --- the page --- */

/* The format of a cached page: three lines (ETag, type, URL), then the page. */
struct kept_page {
	const char *etag, *type, *url, *text;
	size_t n;
};

static const char *
take_line(struct index_client *x, const char **at, const char *end)
{
	const char *eol = memchr(*at, '\n', (size_t)(end - *at));
	const char *line = eol ? arena_copy(x->a, *at, (size_t)(eol - *at)) : NULL;

	*at = eol ? eol + 1 : end;
	return line;
}

static bool
kept_page(struct index_client *x, const char *key, struct kept_page *p)
{
	size_t n;
	const char *text = cache_get(x, "page", key, &n), *end = text + n;

	if (!text)
		return false;
	p->etag = take_line(x, &text, end);
	p->type = take_line(x, &text, end);
	p->url = take_line(x, &text, end);
	p->text = text;
	p->n = (size_t)(end - text);
	return p->etag && p->type && p->url && *p->etag;
}

static void
keep_page(struct index_client *x, const char *key, const struct kept_page *p)
{
	struct buf b = BUF(x->a);

	if (!p->etag || strlen(p->etag) > ETAG_MAX || !p->type || strlen(p->type) > ETAG_MAX ||
	    strlen(p->url) > ETAG_MAX)
		return;
	buf_printf(&b, "%s\n%s\n%s\n", p->etag, p->type, p->url);
	buf_add(&b, p->text, p->n);
	cache_put(x, "page", key, buf_text(&b), b.n);
}

const struct index_page *
index_page(struct index_client *x, const char *package)
{
	const char *url = arena_printf(x->a, "%s/%s/", x->url, package), *why;
	const char *key = sha256_hex(x->a, url, strlen(url));
	struct index_page *page = arena_new_of(x->a, struct index_page);
	struct http_request q = { .url = url, .max = PAGE_MAX };
	struct kept_page kept = { 0 };
	struct http_answer answer = { 0 };
	bool have = kept_page(x, key, &kept);

	list_push(x->a, &q.headers, accept);
	if (have)
		list_printf(x->a, &q.headers, "If-None-Match: %s", kept.etag);
	if (!index_get(x, &q, have ? 304 : 0, &answer)) {
		x->missing = answer.status == 404 || answer.status == 410;
		if (x->missing)
			x->why = "the index has no package of that name";
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
	if (!page_parse(x->a, kept.type, kept.url, kept.text, kept.n, page, &why)) {
		x->why = arena_printf(x->a, "cannot use %s: %s", mask_credentials(x->a, url), why);
		return NULL;
	}
	if (answer.status != 304)
		keep_page(x, key, &kept);
	return page;
}

enum index_answer
index_ask(struct arena *a, const char *url, const char *package, const char *netrc,
	  double timeout_s, struct index_files *files, const char **why)
{
	struct index_client x = {
		.a = a, .timeout_s = timeout_s, .netrc = netrc, .requests_max = 1
	};
	const struct index_page *page;
	struct diags own = DIAGS(own, a);

	if (!index_open(&own, &x, url)) {
		*why = own.head->text;
		return INDEX_FAILED;
	}
	page = index_page(&x, package);
	*why = x.why;
	if (page)
		*files = page->files;
	return page ? INDEX_FOUND : x.missing ? INDEX_MISSING : INDEX_FAILED;
}

/* --- METADATA --- */

const char *
index_metadata(struct index_client *x, const struct index_file *file)
{
	struct http_request q = { .url = arena_printf(x->a, "%s.metadata", file->url),
				  .max = METADATA_MAX,
				  .sha256 = file->metadata_sha256 };
	struct http_answer answer = { 0 };
	size_t n;
	const char *text = cache_get(x, "metadata", file->sha256, &n);

	if (text)
		return text;
	if (file->metadata && index_get(x, &q, 404, &answer) && answer.status != 404)
		text = answer.body;
	if (text && strlen(text) != answer.body_size) {
		x->why = arena_printf(x->a, "%s holds a NUL", q.url);
		return NULL;
	}
	/* An index may announce a file that it does not have. */
	if (!text && !x->why && !ends_with(file->name, ".whl"))
		text = sdist_metadata(x, file);
	if (text)
		index_keep_metadata(x, file, text);
	return text;
}

void
index_keep_metadata(struct index_client *x, const struct index_file *file, const char *text)
{
	cache_put(x, "metadata", file->sha256, text, strlen(text));
}
