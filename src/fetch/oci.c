#include "oci.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/sha256.h"
#include "base/str.h"
#include "oci_internal.h"

static const char accept[] = "Accept: " OCI_INDEX ", " OCI_IMAGE
			     ", application/vnd.docker.distribution.manifest.list.v2+json"
			     ", application/vnd.docker.distribution.manifest.v2+json";

struct oci_registry *
oci_open(struct arena *a, struct diags *ds, const struct oci_name *n)
{
	struct oci_registry *r = arena_new_of(a, struct oci_registry);
	bool hub = !strcmp(n->registry, "docker.io");

	(void)ds;
	*r = (struct oci_registry){ .a = a, .name = n };
	r->base = arena_printf(a, "%s://%s", http_is_loopback(n->registry) ? "http" : "https",
			       hub ? "registry-1.docker.io" : n->registry);
	return r;
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

const char *
oci_url(struct oci_registry *r, struct arena *a, const char *path)
{
	if (strstr(path, "://"))
		return path;
	return arena_printf(a, "%s/v2/%s/%s", r->base, r->name->repository, path);
}

bool
oci_call(struct oci_registry *r, struct arena *a, const struct oci_call *c,
	 struct http_answer *answer)
{
	struct http_request q = { .method = c->method,
				  .url = oci_url(r, a, c->path),
				  .body = c->body,
				  .body_size = c->body_size,
				  .body_path = c->body_path,
				  .to_path = c->to_path,
				  .sha256 = c->sha256,
				  .max = c->max,
				  .once = c->once };
	bool ours = http_same_origin(a, q.url, r->base);
	bool push = strcmp(c->method, "GET") != 0 && strcmp(c->method, "HEAD") != 0;

	for (bool again = false;; again = true) {
		const char *headers[] = { c->header, ours ? r->authorization : NULL };

		q.headers = (struct names){ 0 };
		for (size_t i = 0; i < sizeof(headers) / sizeof(*headers); i++)
			if (headers[i])
				list_push(a, &q.headers, headers[i]);
		if (!http_do(a, &q, answer))
			return false;
		if (again || !ours || answer->status != 401 || !oci_authorize(r, answer, push))
			return true;
	}
}

/* The registry's own error_text: {"errors": [{"code", "message"}]}; else its status. */
static const char *
error_text(struct arena *a, const struct http_answer *answer)
{
	json_t *root = answer->body ? oci_json(answer->body, answer->body_size) : NULL;
	json_t *first = json_array_get(json_object_get(root, "errors"), 0);
	const char *code = json_string_value(json_object_get(first, "code"));
	const char *message = json_string_value(json_object_get(first, "message"));
	const char *said = message && *message ? message : code;

	said = said ? arena_printf(a, "HTTP %d, %.200s", answer->status, said) :
		      arena_printf(a, "HTTP %d", answer->status);
	json_decref(root);
	return said;
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
		diag_why(d, "nobody is logged in there");
	diag_help(d, "docker login%s%s, or podman login%s%s", *host ? " " : "", host,
		  *host ? " " : " ", *host ? host : "docker.io");
}

void
oci_refused(struct oci_registry *r, struct diags *ds, const struct http_answer *answer,
	    const char *what)
{
	const struct span nowhere = { 0 };
	const char *host = r->name->registry;
	struct diag *d;

	if (!answer->status && answer->refused) {
		d = diag_at(ds, E_CONTENT, nowhere, "%s did not send what it should: %s: %s", host,
			    what, answer->why);
		diag_help(d, "ask it without a proxy or mirror between, or push the content again");
	} else if (!answer->status) {
		d = diag_at(ds, E_REGISTRY_AWAY, nowhere, "%s cannot be reached: %s", host,
			    answer->why);
		diag_why(d, "it was asked to %s", what);
		if (http_is_loopback(host))
			diag_help(
				d,
				"start the registry; on this machine it is spoken to without TLS");
		else
			diag_help(d, "check the host's name, the network and the proxy");
	} else {
		d = diag_at(ds, E_REGISTRY, nowhere, "%s refuses to %s: %s", host, what,
			    error_text(r->a, answer));
		if (answer->status == 401 || answer->status == 403)
			explain_login(r, d);
		else if (answer->status == 429)
			diag_help(d, "wait, or log in: who is known may ask more often");
		else if (answer->status == 405)
			diag_help(d, "switch it on in the registry: it is off there");
	}
}

static const char *
digest_of(struct arena *a, const char *bytes, size_t n)
{
	return arena_printf(a, "sha256:%s", sha256_hex(a, bytes, n));
}

bool
oci_manifest(struct oci_registry *r, struct arena *a, struct diags *ds, const char *reference,
	     struct oci_manifest *out, bool *missing)
{
	const char *what = arena_printf(a, "read the manifest `%s`", reference), *said;
	bool by_digest = strchr(reference, ':') != NULL;
	const struct oci_call c = { .method = "GET",
				    .path = arena_printf(a, "manifests/%s", reference),
				    .header = accept,
				    .sha256 = oci_is_digest(reference) ? reference + 7 : NULL,
				    .max = OCI_MANIFEST_MAX };
	struct http_answer answer;

	*missing = false;
	if (by_digest && !oci_is_digest(reference)) {
		diag_at(ds, E_CONTENT, (struct span){ 0 },
			"only sha256 digests can be checked: `%s`", reference);
		return false;
	}
	if (!oci_call(r, a, &c, &answer) || answer.status != 200) {
		*missing = answer.status == 404;
		if (!*missing)
			oci_refused(r, ds, &answer, what);
		return false;
	}
	*out = (struct oci_manifest){ .digest = digest_of(a, answer.body, answer.body_size),
				      .media_type = http_header(&answer, "content-type"),
				      .text = answer.body,
				      .size = answer.body_size };
	said = http_header(&answer, "docker-content-digest");
	if (said && starts_with(said, "sha256:") && strcmp(said, out->digest) != 0) {
		diag_at(ds, E_CONTENT, (struct span){ 0 },
			"%s did not send what it should: %s: its digest is %s, not %s",
			r->name->registry, what, out->digest, said);
		return false;
	}
	if (!out->media_type)
		out->media_type = OCI_IMAGE;
	out->media_type = arena_copy(a, out->media_type, strcspn(out->media_type, "; "));
	return true;
}

const char *
oci_push_manifest(struct oci_registry *r, struct arena *a, struct diags *ds, const char *media_type,
		  const char *text, size_t n, const char *tag)
{
	const char *digest = digest_of(a, text, n);
	const struct oci_call c = { .method = "PUT",
				    .path = arena_printf(a, "manifests/%s", tag ? tag : digest),
				    .header = arena_printf(a, "Content-Type: %s", media_type),
				    .body = text,
				    .body_size = n };
	struct http_answer answer;
	const char *said;

	if (!oci_call(r, a, &c, &answer) || answer.status / 100 != 2) {
		oci_refused(r, ds, &answer,
			    arena_printf(a, "take the manifest `%s`", tag ? tag : digest));
		return NULL;
	}
	said = http_header(&answer, "docker-content-digest");
	if (said && starts_with(said, "sha256:") && strcmp(said, digest) != 0) {
		diag_at(ds, E_CONTENT, (struct span){ 0 },
			"%s keeps another manifest than it was given: %s, not %s",
			r->name->registry, said, digest);
		return NULL;
	}
	/* OCI-Subject: the registry lists it among the referrers of that digest itself. */
	r->listed = http_header(&answer, "oci-subject") != NULL;
	return digest;
}

/* The URL of the next page of a list; NULL: there is none. */
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
	const char *url = oci_url(r, a, "tags/list?n=1000");
	struct names tags = { 0 };

	for (unsigned page = 0; url && page < OCI_PAGES_MAX; page++) {
		const struct oci_call c = { .method = "GET", .path = url };
		struct http_answer answer;
		json_t *root, *tag;
		size_t i;

		if (!oci_call(r, a, &c, &answer) || answer.status != 200) {
			/* A repository without anything in it is not known to the registry. */
			if (answer.status != 404)
				oci_refused(r, ds, &answer, "list its tags");
			return tags;
		}
		root = oci_json(answer.body, answer.body_size);
		json_array_foreach(json_object_get(root, "tags"), i,
				   tag) if (json_string_value(tag))
			list_push(a, &tags, arena_strdup(a, json_string_value(tag)));
		json_decref(root);
		url = next_page(r, a, url, &answer);
	}
	return tags;
}
