#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/sha256.h"
#include "base/str.h"
#include "oci_internal.h"

bool
oci_pull_blob(struct oci_registry *r, struct arena *a, struct diags *ds, struct oci_blob *blob,
	      const char *to_path, size_t max)
{
	const char *what = arena_printf(a, "send the blob `%s`", blob->digest);
	const struct oci_call c = { .method = "GET",
				    .path = arena_printf(a, "blobs/%s", blob->digest),
				    .to_path = to_path,
				    .sha256 = blob->digest + 7,
				    .max = blob->size && blob->size < max ? blob->size : max };
	struct http_answer answer;

	if (!oci_is_digest(blob->digest)) {
		diag_at(ds, E_CONTENT, (struct span){ 0 },
			"only sha256 digests can be checked: `%s`", blob->digest);
		return false;
	}
	if (blob->size > max) {
		diag_at(ds, E_CONTENT, (struct span){ 0 },
			"the blob `%s` has %zu bytes: more than the %zu that are taken",
			blob->digest, blob->size, max);
		return false;
	}
	if (!oci_call(r, a, &c, &answer) || answer.status != 200) {
		oci_refused(r, ds, &answer, what);
		return false;
	}
	/* The digest is right, so only what the descriptor says of the size can be wrong. */
	if (!to_path) {
		blob->bytes = answer.body;
		blob->size = answer.body_size;
	} else {
		struct stat st;

		blob->path = to_path;
		blob->size = stat(to_path, &st) == 0 ? (size_t)st.st_size : 0;
	}
	return true;
}

/* Digest and size of what is to be pushed. */
static bool
measure(struct arena *a, struct diags *ds, struct oci_blob *blob)
{
	struct sha256 *sum = sha256_new(a);
	char chunk[64 * 1024];
	FILE *f = NULL;
	size_t n;
	bool good;

	if (!blob->path) {
		sha256_add(sum, blob->bytes, blob->size);
		blob->digest = arena_printf(a, "sha256:%s", sha256_end(a, sum));
		return true;
	}
	f = fopen(blob->path, "rbe");
	blob->size = 0;
	while (f && (n = fread(chunk, 1, sizeof(chunk), f)) > 0) {
		sha256_add(sum, chunk, n);
		blob->size += n;
	}
	good = f && !ferror(f);
	if (!good)
		diag_at(ds, E_FILE, (struct span){ 0 }, "cannot read `%s`: %s", blob->path,
			strerror(errno));
	if (f)
		fclose(f);
	blob->digest = arena_printf(a, "sha256:%s", sha256_end(a, sum));
	return good;
}

/* Where an upload goes: the registry says it; the digest is added to its query. */
static const char *
upload_url(struct oci_registry *r, struct arena *a, const struct http_answer *answer,
	   const char *digest)
{
	const char *location = http_header(answer, "location"), *url;

	if (!location)
		return NULL;
	url = http_resolve(a, oci_url(r, a, "blobs/uploads/"), location);
	if (!url || (starts_with(r->base, "https:") && !starts_with(url, "https:")))
		return NULL;
	return arena_printf(a, "%s%cdigest=%s", url, strchr(url, '?') ? '&' : '?',
			    oci_escape(a, digest));
}

/* One upload from its start; an upload that broke off cannot be gone on with, only begun again. */
static bool
upload(struct oci_registry *r, struct arena *a, const struct oci_blob *blob,
       struct http_answer *answer)
{
	const struct oci_call begin = { .method = "POST", .path = "blobs/uploads/" };
	struct oci_call put = { .method = "PUT",
				.header = "Content-Type: application/octet-stream",
				.body = blob->path ? NULL : blob->bytes,
				.body_size = blob->path ? 0 : blob->size,
				.body_path = blob->path,
				.once = true };

	if (!oci_call(r, a, &begin, answer) || answer->status != 202)
		return false;
	put.path = upload_url(r, a, answer, blob->digest);
	if (!put.path) {
		answer->status = 0;
		answer->why = "it does not say where the upload goes (Location)";
		return false;
	}
	return oci_call(r, a, &put, answer) && answer->status / 100 == 2;
}

bool
oci_push_blob(struct oci_registry *r, struct arena *a, struct diags *ds, struct oci_blob *blob)
{
	struct http_answer answer;
	struct oci_call head = { .method = "HEAD" };
	unsigned tries = 0;
	bool again;

	if (!measure(a, ds, blob))
		return false;
	head.path = arena_printf(a, "blobs/%s", blob->digest);
	if (oci_call(r, a, &head, &answer) && answer.status == 200)
		return true;
	do {
		if (upload(r, a, blob, &answer))
			return true;
		again = !answer.status || answer.status / 100 == 5 || answer.status == 404 ||
			answer.status == 416;
	} while (again && ++tries < 2);
	oci_refused(r, ds, &answer, arena_printf(a, "take the blob `%s`", blob->digest));
	return false;
}
