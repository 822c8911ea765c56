#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "oci_internal.h"

static void
put_annotations(struct json *j, const struct names *all)
{
	if (!all->n)
		return;
	json_map(j, "annotations");
	for (size_t i = 0; i < all->n; i++) {
		const char *eq = strchr(all->at[i], '=');

		if (eq)
			json_text(j, arena_copy(j->out->a, all->at[i], (size_t)(eq - all->at[i])),
				  eq + 1);
	}
	json_end(j);
}

static void
put_descriptor(struct json *j, const char *key, const struct oci_blob *b)
{
	json_map(j, key);
	json_text(j, "mediaType", b->media_type);
	json_text(j, "digest", b->digest);
	json_int(j, "size", (long long)b->size);
	if (b->artifact_type)
		json_text(j, "artifactType", b->artifact_type);
	if (b->title) {
		json_map(j, "annotations");
		json_text(j, "org.opencontainers.image.title", b->title);
		json_end(j);
	}
	json_end(j);
}

static bool
push_blobs(struct oci_registry *r, struct arena *a, struct diags *ds, struct oci_artifact *art)
{
	/* image-spec 1.1, "Guidelines for Artifact Usage": what has no content is the empty one. */
	const struct oci_blob empty = { .media_type = OCI_EMPTY, .bytes = "{}", .size = 2 };

	if (!art->config.bytes)
		art->config = empty;
	if (!art->layers.n)
		list_push(a, &art->layers, empty);
	if (!oci_push_blob(r, a, ds, &art->config))
		return false;
	for (size_t i = 0; i < art->layers.n; i++)
		if (!oci_push_blob(r, a, ds, &art->layers.at[i]))
			return false;
	return true;
}

static bool
subject_of(struct oci_registry *r, struct arena *a, struct diags *ds, const char *digest,
	   struct oci_blob *out)
{
	struct oci_manifest m;
	bool missing;

	if (!oci_manifest(r, a, ds, digest, &m, &missing)) {
		if (missing)
			diag_at(ds, E_REGISTRY, (struct span){ 0 },
				"%s/%s has no `%s` that something could be attached to",
				r->name->registry, r->name->repository, digest);
		return false;
	}
	*out = (struct oci_blob){ .media_type = m.media_type, .digest = m.digest, .size = m.size };
	return true;
}

static const char *
artifact_text(struct arena *a, const struct oci_artifact *art, const struct oci_blob *subject,
	      size_t *n)
{
	struct buf b = BUF(a);
	struct json j = json_flat_to(&b);

	json_map(&j, NULL);
	json_int(&j, "schemaVersion", 2);
	json_text(&j, "mediaType", OCI_IMAGE);
	json_text(&j, "artifactType", art->type);
	put_descriptor(&j, "config", &art->config);
	json_list(&j, "layers");
	for (size_t i = 0; i < art->layers.n; i++)
		put_descriptor(&j, NULL, &art->layers.at[i]);
	json_end(&j);
	if (subject)
		put_descriptor(&j, "subject", subject);
	put_annotations(&j, &art->annotations);
	json_end(&j);
	*n = b.n;
	return buf_text(&b);
}

const char *
oci_push_artifact(struct oci_registry *r, struct arena *a, struct diags *ds,
		  struct oci_artifact *art)
{
	struct oci_blob subject, self;
	const char *text, *digest;
	size_t n;

	if (art->subject && !subject_of(r, a, ds, art->subject, &subject))
		return NULL;
	if (!push_blobs(r, a, ds, art))
		return NULL;
	text = artifact_text(a, art, art->subject ? &subject : NULL, &n);
	digest = oci_push_manifest(r, a, ds, OCI_IMAGE, text, n, art->tag);
	if (!digest || !art->subject || r->listed)
		return digest;
	self = (struct oci_blob){
		.media_type = OCI_IMAGE, .digest = digest, .size = n, .artifact_type = art->type
	};
	return oci_referrers_add(r, a, ds, art->subject, &self, &art->annotations) ? digest : NULL;
}
