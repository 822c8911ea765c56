#include <string.h>

#include "base/str.h"
#include "fetch.h"
#include "oci_internal.h"

/* Returns "key=value" texts as a map; NULL if there are none. */
static json_t *
annotations_of(struct arena *a, const struct names *all)
{
	json_t *map = all->n ? json_object() : NULL;

	for (size_t i = 0; i < all->n; i++) {
		size_t n = strcspn(all->at[i], "=");

		json_object_set_new(map, arena_copy(a, all->at[i], n),
				    json_string(all->at[i] + n + 1));
	}
	return map;
}

/* Returns a descriptor, as in image-spec.  Takes over `annotations`. */
static json_t *
descriptor(const struct oci_blob *b, json_t *annotations)
{
	return json_pack("{s:s, s:s, s:I, s:s*, s:o*}", "mediaType", b->media_type, "digest",
			 b->digest, "size", (json_int_t)b->size, "artifactType", b->artifact_type,
			 "annotations", annotations);
}

/* Returns the JSON text of a map, and frees the map. */
static const char *
text_of(struct arena *a, json_t *map, size_t *n)
{
	const char *text = fetch_json_dump(a, map, JSON_COMPACT, n);

	json_decref(map);
	return text;
}

/* --- referrers: distribution-spec 1.1, "Referrers Tag Schema" --- */

static bool
fail(struct oci_registry *r, struct diags *ds, const char *tag, const char *why)
{
	diag_at(ds, E_REGISTRY, NOWHERE, "the tag `%s` of %s/%s %s", tag, r->name->registry,
		r->name->repository, why);
	return false;
}

/* Returns the index under the tag, or a new one if there is none; NULL after a diagnostic. */
static json_t *
read_index(struct oci_registry *r, struct arena *a, struct diags *ds, const char *tag)
{
	struct oci_manifest m;
	bool missing;
	json_t *root;

	if (!oci_manifest(r, a, ds, tag, &m, &missing))
		return missing ? json_pack("{s:i, s:s, s:[]}", "schemaVersion", 2, "mediaType",
					   OCI_INDEX, "manifests") :
				 NULL;
	root = !strcmp(m.media_type, OCI_INDEX) ? oci_json(m.text, m.size) : NULL;
	if (json_is_array(json_object_get(root, "manifests")))
		return root;
	json_decref(root);
	fail(r, ds, tag, "is not an index of referrers");
	return NULL;
}

static bool
holds(const json_t *index, const char *digest)
{
	const json_t *m;
	size_t i;

	json_array_foreach(json_object_get(index, "manifests"), i, m)
	{
		const char *d = json_string_value(json_object_get(m, "digest"));

		if (d && !strcmp(d, digest))
			return true;
	}
	return false;
}

/*
 * Adds a referrer to the index. Two writers may overwrite each other, so it reads the index again,
 * and repeats if necessary.
 */
static bool
add_referrer(struct oci_registry *r, struct arena *a, struct diags *ds, const char *subject,
	     const struct oci_blob *b, const struct names *annotations)
{
	char *tag = arena_strdup(a, subject);

	tag[strcspn(tag, ":")] = '-';
	for (unsigned try = 0; try < 4; try++) {
		json_t *index = read_index(r, a, ds, tag);
		const char *text;
		size_t n;

		if (!index)
			return false;
		if (holds(index, b->digest)) {
			json_decref(index);
			return true;
		}
		json_array_append_new(json_object_get(index, "manifests"),
				      descriptor(b, annotations_of(a, annotations)));
		text = text_of(a, index, &n);
		if (!oci_push_manifest(r, a, ds, OCI_INDEX, text, n, tag))
			return false;
	}
	return fail(r, ds, tag, "changes all the time");
}

/* --- the artifact --- */

static bool
push_blobs(struct oci_registry *r, struct arena *a, struct diags *ds, struct oci_artifact *art)
{
	/*
	 * image-spec 1.1, "Guidelines for Artifact Usage": an empty content is the empty
	 * descriptor.
	 */
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
			diag_at(ds, E_REGISTRY, NOWHERE, "%s/%s has no `%s` to attach the file to",
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
	json_t *layers = json_array();

	list_each (b, &art->layers)
		json_array_append_new(
			layers, descriptor(b, b->title ? json_pack("{s:s}",
								   "org.opencontainers.image.title",
								   b->title) :
							 NULL));
	return text_of(a,
		       json_pack("{s:i, s:s, s:s, s:o, s:o, s:o*, s:o*}", "schemaVersion", 2,
				 "mediaType", OCI_IMAGE, "artifactType", art->type, "config",
				 descriptor(&art->config, NULL), "layers", layers, "subject",
				 subject ? descriptor(subject, NULL) : NULL, "annotations",
				 annotations_of(a, &art->annotations)),
		       n);
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
	return add_referrer(r, a, ds, art->subject, &self, &art->annotations) ? digest : NULL;
}
