#include "oci.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/proc.h"
#include "base/sha256.h"
#include "base/str.h"
#include "fetch.h"
#include "oci_internal.h"

static const char accept[] = "Accept: " OCI_INDEX ", " OCI_IMAGE
			     ", application/vnd.docker.distribution.manifest.list.v2+json"
			     ", application/vnd.docker.distribution.manifest.v2+json";

struct oci_registry *
oci_open(struct arena *a, const struct oci_name *n, double timeout_s)
{
	struct oci_registry *r = arena_new_of(a, struct oci_registry);
	bool hub = !strcmp(n->registry, "docker.io");

	*r = (struct oci_registry){ .a = a, .name = n, .timeout_s = timeout_s };
	r->base = arena_printf(a, "%s://%s", http_is_loopback(n->registry) ? "http" : "https",
			       hub ? "registry-1.docker.io" : n->registry);
	return r;
}

static int
add_chunk(const char *bytes, size_t n, void *buf)
{
	buf_add(buf, bytes, n);
	return 0;
}

const char *
fetch_json_dump(struct arena *a, const json_t *value, size_t flags, size_t *n)
{
	struct buf b = BUF(a);

	if (json_dump_callback(value, add_chunk, &b, flags) < 0)
		return NULL;
	*n = b.n;
	return buf_text(&b);
}

json_t *
oci_json(const char *text, size_t n)
{
	json_t *root = json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL);

	if (json_is_object(root))
		return root;
	json_decref(root);
	return NULL;
}

/* Returns a path below /v2/NAME/, or a whole URL. */
static const char *
url_of(const struct oci_registry *r, struct arena *a, const char *path)
{
	if (strstr(path, "://"))
		return path;
	return arena_printf(a, "%s/v2/%s/%s", r->base, r->name->repository, path);
}

/* Sends one request, with a login if the registry requires it; its URL may be a path below
 * /v2/NAME/.  False: no answer at all. */
static bool
call(struct oci_registry *r, struct arena *a, const struct http_request *asked,
     struct http_answer *answer)
{
	const char *url = url_of(r, a, asked->url);
	bool ours = http_same_origin(a, url, r->base);
	bool push = strcmp(asked->method, "GET") != 0 && strcmp(asked->method, "HEAD") != 0;

	for (bool again = false;; again = true) {
		struct http_request q = *asked;

		q.url = url;
		q.timeout_s = r->timeout_s;
		if (ours && r->authorization)
			list_push(a, &q.headers, r->authorization);
		if (!http_do(a, &q, answer))
			return false;
		if (again || !ours || answer->status != 401 || !oci_authorize(r, answer, push))
			return true;
	}
}

/* Returns the registry's own message, {"errors": [{"code", "message"}]}, or its status. */
static const char *
error_text(struct arena *a, const struct http_answer *answer)
{
	json_auto_t *root = answer->body ? oci_json(answer->body, answer->body_size) : NULL;
	json_t *first = json_array_get(json_object_get(root, "errors"), 0);
	const char *code = json_string_value(json_object_get(first, "code"));
	const char *message = json_string_value(json_object_get(first, "message"));
	const char *said = message && *message ? message : code;

	return arena_printf(a, said ? "HTTP %d, %.200s" : "HTTP %d", answer->status, said);
}

static void
explain_login(struct oci_registry *r, struct diag *d)
{
	const char *host = strcmp(r->name->registry, "docker.io") != 0 ? r->name->registry : "";

	for (size_t i = 0; i < r->troubles.n; i++)
		diag_why(d, "%s", r->troubles.at[i]);
	if (r->login.where)
		diag_why(d, "the login in `%s` was used", r->login.where);
	else if (r->looked)
		diag_why(d, "there is no login for this registry");
	diag_help(d, "docker login%s%s, or podman login%s%s", *host ? " " : "", host,
		  *host ? " " : " ", *host ? host : "docker.io");
}

/* Adds the diagnostic of a failed call; what: "read the tag `x`". */
static void
refused(struct oci_registry *r, struct diags *ds, const struct http_answer *answer,
	const char *what)
{
	const char *host = r->name->registry;
	struct diag *d;

	if (!answer->status && answer->refused) {
		d = diag_at(ds, E_CONTENT, NOWHERE, "%s sent an invalid answer: %s: %s", host, what,
			    answer->why);
		diag_help(d, "connect without a proxy or mirror, or push the content again");
	} else if (!answer->status && proc_interrupted()) {
		diag_at(ds, E_REGISTRY_AWAY, NOWHERE,
			"interrupted: %s did not answer the request to %s", host, what);
	} else if (!answer->status) {
		d = diag_at(ds, E_REGISTRY_AWAY, NOWHERE, "%s cannot be reached: %s", host,
			    answer->why);
		diag_why(d, "the request was to %s", what);
		if (http_is_loopback(host))
			diag_help(d, "start the registry; stackbuild uses HTTP without TLS on this "
				     "machine");
		else
			diag_help(d, "check the host's name, the network and the proxy");
	} else {
		d = diag_at(ds, E_REGISTRY, NOWHERE, "%s denied the request to %s: %s", host, what,
			    error_text(r->a, answer));
		if (answer->status == 401 || answer->status == 403)
			explain_login(r, d);
		else if (answer->status == 429)
			diag_help(d,
				  "wait, or log in: registries allow more requests with a login");
		else if (answer->status == 405)
			diag_help(d, "enable it in the registry");
	}
}

static const char *
digest_of(struct arena *a, const char *bytes, size_t n)
{
	return arena_printf(a, "sha256:%s", sha256_hex(a, bytes, n));
}

static bool
can_check(struct diags *ds, const char *digest)
{
	if (!oci_is_digest(digest))
		diag_at(ds, E_CONTENT, NOWHERE, "only sha256 digests can be checked: `%s`", digest);
	return oci_is_digest(digest);
}

/* Returns the digest that the registry reports for a manifest if it differs, otherwise NULL. */
static const char *
other_digest(const struct http_answer *answer, const char *digest)
{
	const char *said = http_header(answer, "docker-content-digest");

	return said && starts_with(said, "sha256:") && strcmp(said, digest) != 0 ? said : NULL;
}

/* --- manifests --- */

bool
oci_manifest(struct oci_registry *r, struct arena *a, struct diags *ds, const char *reference,
	     struct oci_manifest *out, bool *missing)
{
	const char *what = arena_printf(a, "read the manifest `%s`", reference), *said;
	struct http_request q = { .method = "GET",
				  .url = arena_printf(a, "manifests/%s", reference),
				  .sha256 = oci_is_digest(reference) ? reference + 7 : NULL,
				  .max = OCI_MANIFEST_MAX };
	struct http_answer answer;

	*missing = false;
	if (strchr(reference, ':') && !can_check(ds, reference))
		return false;
	list_push(a, &q.headers, accept);
	if (!call(r, a, &q, &answer) || answer.status != 200) {
		*missing = answer.status == 404;
		if (!*missing)
			refused(r, ds, &answer, what);
		return false;
	}
	*out = (struct oci_manifest){ .digest = digest_of(a, answer.body, answer.body_size),
				      .media_type = http_header(&answer, "content-type"),
				      .text = answer.body,
				      .size = answer.body_size };
	if ((said = other_digest(&answer, out->digest))) {
		diag_at(ds, E_CONTENT, NOWHERE,
			"%s sent an invalid answer: %s: its digest is %s, not %s",
			r->name->registry, what, out->digest, said);
		return false;
	}
	if (!out->media_type)
		out->media_type = OCI_IMAGE;
	out->media_type = arena_copy(a, out->media_type, strcspn(out->media_type, "; "));
	return true;
}

const char *
oci_platform_digest(struct arena *a, const struct oci_manifest *m, const char *platform,
		    struct names *platforms)
{
	json_auto_t *root = json_loadb(m->text, m->size, 0, NULL);
	json_t *each;
	const char *digest = NULL;
	size_t i;

	json_array_foreach(json_object_get(root, "manifests"), i, each)
	{
		const json_t *on = json_object_get(each, "platform");
		const char *os = fetch_json_text(a, on, "os"),
			   *arch = fetch_json_text(a, on, "architecture"),
			   *found = fetch_json_text(a, each, "digest"), *here;

		if (!os || !arch || !found || !oci_is_digest(found) || !strcmp(os, "unknown"))
			continue;
		here = arena_printf(a, "%s/%s", os, arch);
		if (platforms)
			names_once(a, platforms, here);
		if (!digest && !strcmp(here, platform))
			digest = found;
	}
	/* The manifest of a single image has no list. */
	if (root && !json_object_get(root, "manifests"))
		digest = m->digest;
	return digest;
}

const char *
oci_push_manifest(struct oci_registry *r, struct arena *a, struct diags *ds, const char *media_type,
		  const char *text, size_t n, const char *tag)
{
	const char *digest = digest_of(a, text, n), *said;
	struct http_request q = { .method = "PUT",
				  .url = arena_printf(a, "manifests/%s", tag ? tag : digest),
				  .body = text,
				  .body_size = n };
	struct http_answer answer;

	list_printf(a, &q.headers, "Content-Type: %s", media_type);
	if (!call(r, a, &q, &answer) || answer.status / 100 != 2) {
		refused(r, ds, &answer,
			arena_printf(a, "receive the manifest `%s`", tag ? tag : digest));
		return NULL;
	}
	if ((said = other_digest(&answer, digest))) {
		diag_at(ds, E_CONTENT, NOWHERE,
			"%s stored another manifest than the uploaded one: %s, not %s",
			r->name->registry, said, digest);
		return NULL;
	}
	/* With the header OCI-Subject, the registry itself lists it among the referrers of that
	 * digest. */
	r->listed = http_header(&answer, "oci-subject") != NULL;
	return digest;
}

/* Returns the URL of the next page of a list, or NULL. */
static const char *
next_page(struct oci_registry *r, struct arena *a, const char *url,
	  const struct http_answer *answer)
{
	const char *link = http_header(answer, "link"), *end;

	if (!link || *link != '<' || !strstr(link, "rel=\"next\""))
		return NULL;
	end = strchr(link, '>');
	url = end ? http_resolve(a, url, arena_copy(a, link + 1, (size_t)(end - link - 1))) : NULL;
	return url && http_same_origin(a, url, r->base) ? url : NULL;
}

struct names
oci_tags(struct oci_registry *r, struct arena *a, struct diags *ds)
{
	const char *url = url_of(r, a, "tags/list?n=1000");
	struct names tags = { 0 };

	for (unsigned page = 0; url && page < OCI_PAGES_MAX; page++) {
		const struct http_request q = { .method = "GET", .url = url };
		struct http_answer answer;
		json_auto_t *root = NULL;
		json_t *list;

		if (!call(r, a, &q, &answer) || answer.status != 200) {
			/* A registry does not know an empty repository. */
			if (answer.status != 404)
				refused(r, ds, &answer, "list its tags");
			return tags;
		}
		root = oci_json(answer.body, answer.body_size);
		list = json_object_get(root, "tags");
		for (size_t i = 0; i < json_array_size(list); i++)
			if (json_is_string(json_array_get(list, i)))
				list_push(a, &tags,
					  arena_strdup(a,
						       json_string_value(json_array_get(list, i))));
		url = next_page(r, a, url, &answer);
	}
	return tags;
}

/* --- blobs --- */

bool
oci_pull_blob(struct oci_registry *r, struct arena *a, struct diags *ds, struct oci_blob *blob,
	      const char *to_path, size_t max)
{
	const struct http_request q = { .method = "GET",
					.url = arena_printf(a, "blobs/%s", blob->digest),
					.to_path = to_path,
					.sha256 = blob->digest + 7,
					.max = blob->size && blob->size < max ? blob->size : max };
	struct http_answer answer;

	if (!can_check(ds, blob->digest))
		return false;
	if (blob->size > max) {
		diag_at(ds, E_CONTENT, NOWHERE, "the blob `%s` has %zu bytes, and the limit is %zu",
			blob->digest, blob->size, max);
		return false;
	}
	if (!call(r, a, &q, &answer) || answer.status != 200) {
		refused(r, ds, &answer, arena_printf(a, "send the blob `%s`", blob->digest));
		return false;
	}
	/* The digest is right, so only the size in the descriptor can be wrong. */
	blob->bytes = answer.body;
	if (!to_path)
		blob->size = answer.body_size;
	return true;
}

/* Returns the URL of an upload: the registry's URL with the digest in its query. */
static const char *
upload_url(struct oci_registry *r, struct arena *a, const struct http_answer *answer,
	   const char *digest)
{
	const char *location = http_header(answer, "location"), *url;

	if (!location)
		return NULL;
	url = http_resolve(a, url_of(r, a, "blobs/uploads/"), location);
	if (!url || (starts_with(r->base, "https:") && !starts_with(url, "https:")))
		return NULL;
	return arena_printf(a, "%s%cdigest=%s", url, strchr(url, '?') ? '&' : '?',
			    oci_escape(a, digest));
}

/* Uploads once from the start; an interrupted upload cannot be continued, only repeated. */
static bool
upload(struct oci_registry *r, struct arena *a, const struct oci_blob *blob,
       struct http_answer *answer)
{
	const struct http_request begin = { .method = "POST", .url = "blobs/uploads/" };
	struct http_request put = { .method = "PUT",
				    .body = blob->bytes,
				    .body_size = blob->path ? 0 : blob->size,
				    .body_path = blob->path,
				    .once = true };

	if (!call(r, a, &begin, answer) || answer->status != 202)
		return false;
	if (!(put.url = upload_url(r, a, answer, blob->digest))) {
		answer->status = 0;
		answer->why = "its answer has no upload URL (Location)";
		return false;
	}
	list_push(a, &put.headers, "Content-Type: application/octet-stream");
	return call(r, a, &put, answer) && answer->status / 100 == 2;
}

bool
oci_push_blob(struct oci_registry *r, struct arena *a, struct diags *ds, struct oci_blob *blob)
{
	struct http_request head = { .method = "HEAD" };
	struct http_answer answer;

	if (!blob->path)
		blob->digest = digest_of(a, blob->bytes, blob->size);
	head.url = arena_printf(a, "blobs/%s", blob->digest);
	if (call(r, a, &head, &answer) && answer.status == 200)
		return true;
	for (unsigned try = 0; try < 2; try++) {
		if (upload(r, a, blob, &answer))
			return true;
		if (answer.status && answer.status / 100 != 5 && answer.status != 404 &&
		    answer.status != 416)
			break;
	}
	refused(r, ds, &answer, arena_printf(a, "receive the blob `%s`", blob->digest));
	return false;
}
