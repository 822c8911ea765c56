#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "oci_internal.h"

/*
 * What is attached to a manifest: distribution-spec 1.1, "Listing Referrers" and, for registries
 * without that, "Referrers Tag Schema": an image index under the tag sha256-HEX of the subject, kept by
 * those who push.
 */

static const char *
text_in(struct arena *a, const json_t *map, const char *key)
{
	const char *s = json_string_value(json_object_get(map, key));

	return s ? arena_strdup(a, s) : NULL;
}

static void
take(struct arena *a, struct oci_blobs *out, const json_t *root, const char *type)
{
	const json_t *m;
	size_t i;

	json_array_foreach(json_object_get(root, "manifests"), i, m)
	{
		const json_int_t size = json_integer_value(json_object_get(m, "size"));
		const struct oci_blob b = { .media_type = text_in(a, m, "mediaType"),
					    .digest = text_in(a, m, "digest"),
					    .size = size > 0 ? (size_t)size : 0,
					    .artifact_type = text_in(a, m, "artifactType") };

		if (!b.digest || !oci_is_digest(b.digest) || !b.media_type)
			continue;
		if (!type || (b.artifact_type && !strcmp(b.artifact_type, type)))
			list_push(a, out, b);
	}
}

static const char *
referrers_tag(struct arena *a, const char *digest)
{
	char *tag = arena_strdup(a, digest);

	tag[strcspn(tag, ":")] = '-';
	return tag;
}

/* The index under the tag; NULL and no error: there is none. */
static json_t *
read_index(struct oci_registry *r, struct arena *a, struct diags *ds, const char *tag)
{
	struct oci_manifest m;
	bool missing;
	json_t *root;

	if (!oci_manifest(r, a, ds, tag, &m, &missing))
		return NULL;
	root = !strcmp(m.media_type, OCI_INDEX) ? oci_json(m.text, m.size) : NULL;
	if (!root)
		diag_at(ds, E_REGISTRY, (struct span){ 0 },
			"the tag `%s` of %s/%s is no index of referrers", tag, r->name->registry,
			r->name->repository);
	return root;
}

struct oci_blobs
oci_referrers(struct oci_registry *r, struct arena *a, struct diags *ds, const char *digest,
	      const char *type)
{
	const char *path = arena_printf(a, "referrers/%s%s%s", digest, type ? "?artifactType=" : "",
					type ? oci_escape(a, type) : "");
	const char *url = oci_url(r, a, path);
	struct oci_blobs all = { 0 };

	for (unsigned page = 0; url && page < OCI_PAGES_MAX; page++) {
		const struct oci_call c = { .method = "GET",
					    .path = url,
					    .header = "Accept: " OCI_INDEX,
					    .max = OCI_MANIFEST_MAX };
		struct http_answer answer;
		json_t *root = NULL;

		if (oci_call(r, a, &c, &answer) && answer.status == 404) {
			root = read_index(r, a, ds, referrers_tag(a, digest));
			url = NULL;
		} else if (answer.status == 200) {
			root = oci_json(answer.body, answer.body_size);
			url = oci_next_page(r, a, url, &answer);
		} else {
			oci_refused(r, ds, &answer, "list what is attached");
			return all;
		}
		take(a, &all, root, type);
		json_decref(root);
	}
	return all;
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

static json_t *
descriptor(struct arena *a, const struct oci_blob *b, const struct names *annotations)
{
	json_t *d = json_pack("{s:s, s:s, s:I}", "mediaType", b->media_type, "digest", b->digest,
			      "size", (json_int_t)b->size);
	json_t *all = json_object();

	json_object_set_new(d, "artifactType", json_string(b->artifact_type));
	for (size_t i = 0; i < annotations->n; i++) {
		const char *eq = strchr(annotations->at[i], '=');

		if (eq)
			json_object_set_new(all,
					    arena_copy(a, annotations->at[i],
						       (size_t)(eq - annotations->at[i])),
					    json_string(eq + 1));
	}
	if (json_object_size(all))
		json_object_set(d, "annotations", all);
	json_decref(all);
	return d;
}

static bool
write_index(struct oci_registry *r, struct arena *a, struct diags *ds, const char *tag,
	    json_t *index, const struct oci_blob *b, const struct names *annotations)
{
	json_t *manifests = json_object_get(index, "manifests");
	size_t n;
	char *text;

	if (!json_is_array(manifests)) {
		manifests = json_array();
		json_object_set_new(index, "manifests", manifests);
	}
	json_array_append_new(manifests, descriptor(a, b, annotations));
	n = json_dumpb(index, NULL, 0, JSON_COMPACT);
	text = arena_alloc(a, n + 1, 1);
	json_dumpb(index, text, n, JSON_COMPACT);
	return oci_push_manifest(r, a, ds, OCI_INDEX, text, n, tag) != NULL;
}

/* Two who add at once may overwrite each other: it is read again, and added again. */
bool
oci_referrers_add(struct oci_registry *r, struct arena *a, struct diags *ds, const char *subject,
		  const struct oci_blob *b, const struct names *annotations)
{
	const char *tag = referrers_tag(a, subject);
	bool there = false, good = true;

	for (unsigned try = 0; try < 4 && good && !there; try++) {
		unsigned errors = ds->errors;
		json_t *index = read_index(r, a, ds, tag);

		good = ds->errors == errors;
		there = index && holds(index, b->digest);
		if (good && !there) {
			if (!index)
				index = json_pack("{s:i, s:s, s:[]}", "schemaVersion", 2,
						  "mediaType", OCI_INDEX, "manifests");
			good = write_index(r, a, ds, tag, index, b, annotations);
		}
		json_decref(index);
	}
	if (good && !there)
		diag_at(ds, E_REGISTRY, (struct span){ 0 },
			"%s/%s: others change the tag `%s` all the time", r->name->registry,
			r->name->repository, tag);
	return good && there;
}
