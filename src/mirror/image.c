/*
 * Writes base images as an OCI layout:
 *
 *     images/oci-layout, index.json, blobs/sha256/HEX
 *
 * For an image with several platforms, the layout has the list and only the image that the stack
 * needs. source: image-spec 1.1, image-layout.md
 */
#include <errno.h>
#include <jansson.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/sha256.h"
#include "base/str.h"
#include "fetch/fetch.h"
#include "internal.h"

enum { LAYERS_MAX = 1000, INDEX_MAX = 4 * 1024 * 1024 };
#define BLOB_BYTES_MAX ((size_t)64 << 30)
#define REF_NAME "org.opencontainers.image.ref.name"

static const char layout[] = "{\"imageLayoutVersion\": \"1.0.0\"}\n";

struct pulling {
	struct arena *a;
	struct diags *ds;
	const struct mirror_how *how;
	struct mirror_done *done;
	const char *dir, *name;
	struct oci_registry *registry;
};

static bool
wrong(struct pulling *p, const char *why)
{
	diag_at(p->ds, E_MIRROR, (struct span){ 0 }, "cannot mirror the image %s: %s", p->name,
		why);
	return false;
}

static const char *
blob_path(struct pulling *p, const char *digest)
{
	return arena_printf(p->a, "%s/blobs/sha256/%s", p->dir, digest + strlen("sha256:"));
}

/* Returns the text of a manifest, from the layout or the registry; NULL after an error. */
static const struct source *
pull_manifest(struct pulling *p, const char *digest)
{
	const char *path = blob_path(p, digest);
	struct oci_manifest m;
	bool missing;

	if (file_is(p->a, path, digest + strlen("sha256:"), 0))
		return fs_read(p->a, p->ds, path, INDEX_MAX, (struct span){ 0 });
	if (!oci_manifest(p->registry, p->a, p->ds, digest, &m, &missing)) {
		if (missing)
			wrong(p, arena_printf(p->a, "the registry does not have %s", digest));
		return NULL;
	}
	if (!fs_write(p->ds, path, m.text, m.size, 0644, true, NULL))
		return NULL;
	return fs_read(p->a, p->ds, path, INDEX_MAX, (struct span){ 0 });
}

static bool
pull_blob(struct pulling *p, const json_t *descriptor)
{
	json_int_t size = json_integer_value(json_object_get(descriptor, "size"));
	struct oci_blob blob = { .digest = fetch_json_text(p->a, descriptor, "digest"),
				 .size = size > 0 ? (size_t)size : 0 };
	const char *path;

	if (!blob.digest || !oci_is_digest(blob.digest) || !blob.size)
		return wrong(p, "a layer of its manifest has no digest of sha256 or no size");
	path = blob_path(p, blob.digest);
	if (file_is(p->a, path, blob.digest + strlen("sha256:"), blob.size))
		return true;
	if (!fs_make_parents(p->a, path))
		return wrong(p, arena_printf(p->a, "%s: %s", path, strerror(errno)));
	note(p->a, p->how, arena_printf(p->a, "%.19s of %s", blob.digest, p->name),
	     (double)blob.size);
	p->done->bytes += (double)blob.size;
	return oci_pull_blob(p->registry, p->a, p->ds, &blob, path, BLOB_BYTES_MAX);
}

/* Pulls the configuration and the layers of an image. */
static bool
pull_image(struct pulling *p, const json_t *manifest)
{
	const json_t *layers = json_object_get(manifest, "layers");
	size_t n = json_array_size(layers);
	bool good;

	if (!n || n > LAYERS_MAX)
		return wrong(p, "its manifest has no layers");
	good = pull_blob(p, json_object_get(manifest, "config"));
	for (size_t i = 0; i < n && good; i++)
		good = pull_blob(p, json_array_get(layers, i));
	return good;
}

/* Adds the image to index.json under its name; replaces an older one. */
static bool
name_image(struct pulling *p, const char *digest, const struct source *manifest)
{
	const char *path = fs_join(p->a, p->dir, "index.json"), *text;
	const struct source *old = fs_read_quiet(p->a, path, INDEX_MAX);
	json_t *index = old ? json_loadb(old->text, old->size, 0, NULL) : NULL, *each;
	json_t *all = json_array(), *own = json_loadb(manifest->text, manifest->size, 0, NULL);
	const char *type = fetch_json_text(p->a, own, "mediaType");
	bool good;
	size_t i, n;

	json_array_foreach(json_object_get(index, "manifests"), i, each)
	{
		const char *named =
			fetch_json_text(p->a, json_object_get(each, "annotations"), REF_NAME);

		if (!named || strcmp(named, p->name) != 0)
			json_array_append(all, each);
	}
	if (!type)
		type = json_object_get(own, "manifests") ?
			       "application/vnd.oci.image.index.v1+json" :
			       "application/vnd.oci.image.manifest.v1+json";
	json_array_append_new(all, json_pack("{s:s, s:s, s:I, s:{s:s}}", "mediaType", type,
					     "digest", digest, "size", (json_int_t)manifest->size,
					     "annotations", REF_NAME, p->name));
	json_decref(index);
	json_decref(own);
	index = json_pack("{s:i, s:s, s:o}", "schemaVersion", 2, "mediaType",
			  "application/vnd.oci.image.index.v1+json", "manifests", all);
	text = fetch_json_dump(p->a, index, JSON_INDENT(2), &n);
	json_decref(index);
	good = fs_write(p->ds, path, text, n, 0644, false, NULL);
	return fs_write(p->ds, fs_join(p->a, p->dir, "oci-layout"), layout, strlen(layout), 0644,
			false, NULL) &&
	       good;
}

bool
image_fill(struct arena *a, struct diags *ds, const struct lock_image *image,
	   const struct mirror_how *how, struct mirror_done *done)
{
	struct pulling p = { .a = a,
			     .ds = ds,
			     .how = how,
			     .done = done,
			     .dir = fs_join(a, how->dir, "images"),
			     .name = image->name };
	const struct source *manifest, *list;
	struct oci_name name;
	double before = done->bytes;
	json_t *root;
	bool good;

	if (!image->name || !image->digest || !image->platform_digest)
		return true;
	if (!oci_name_parse(a, ds, image->name, (struct span){ 0 }, &name))
		return false;
	p.registry = oci_open(a, &name, how->timeout_s);
	if (!(list = pull_manifest(&p, image->digest)) ||
	    !(manifest = pull_manifest(&p, image->platform_digest)))
		return false;
	root = json_loadb(manifest->text, manifest->size, 0, NULL);
	good = pull_image(&p, root) && name_image(&p, image->digest, list);
	json_decref(root);
	if (good)
		*(done->bytes > before ? &done->fetched : &done->had) += 1;
	return good;
}

/* --- using it --- */

/*
 * podman and buildah name a base after the path of its layout, so the path has small letters only, and is the
 * same in the next build.
 */
static const char *
own_directory(struct arena *a, const char *of)
{
	const char *path = arena_printf(a, "/tmp/stackbuild-%u-%.16s", (unsigned)geteuid(),
					sha256_hex(a, of, strlen(of)));
	struct stat st;

	if (mkdir(path, 0700) != 0 && errno != EEXIST)
		return NULL;
	errno = EPERM;
	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
			       !(st.st_mode & 077) ?
		       path :
		       NULL;
}

const char *
image_loaded(struct arena *a, const struct lock_image *image)
{
	return arena_printf(a, "stackbuild-base:%.16s", image->platform_digest + strlen("sha256:"));
}

/* Links a blob of the mirror into a layout, and adds its path to *all. */
static bool
link_blob(struct arena *a, const char *mirror, const char *to, const json_t *descriptor,
	  struct names *all)
{
	const char *digest = fetch_json_text(a, descriptor, "digest"), *path;

	errno = EBADMSG;
	if (!digest || !oci_is_digest(digest))
		return false;
	path = arena_printf(a, "blobs/sha256/%s", digest + strlen("sha256:"));
	list_push(a, all, path);
	return fs_make_parents(a, fs_join(a, to, path)) &&
	       (symlink(fs_join(a, mirror, path), fs_join(a, to, path)) == 0 || errno == EEXIST);
}

static const char *
cannot_link(struct arena *a)
{
	return arena_printf(a, "cannot make its layout below /tmp: %s", strerror(errno));
}

/* Links the blobs of an image, and writes the files that describe them; false: *why, or errors SB0406 */
static bool
write_layout(struct arena *a, struct diags *ds, const struct lock_image *image, const char *mirror,
	     const struct source *m, const char *to, const char **why)
{
	json_auto_t *manifest = json_loadb(m->text, m->size, 0, NULL), *own;
	const char *type = fetch_json_text(a, manifest, "mediaType");
	struct buf index = BUF(a), archive = BUF(a);
	struct json j = json_to(&index);
	struct names config = { 0 }, layers = { 0 };
	const json_t *layer;
	size_t i;
	bool good;

	own = json_pack("{s:s}", "digest", image->platform_digest);
	good = link_blob(a, mirror, to, own, &config) &&
	       link_blob(a, mirror, to, json_object_get(manifest, "config"), &config);
	json_array_foreach(json_object_get(manifest, "layers"), i, layer)
	{
		good = good && link_blob(a, mirror, to, layer, &layers);
	}
	if (!good) {
		*why = cannot_link(a);
		return false;
	}
	json_put(&j,
		 "{'schemaVersion': 2, 'manifests': [{'mediaType': %s, 'digest': %s, 'size': %d}]}",
		 type ? type : "application/vnd.oci.image.manifest.v1+json", image->platform_digest,
		 (int)m->size);
	j = json_to(&archive);
	json_put(&j, "[{'Config': %s, 'RepoTags': [%s], 'Layers': %n}]", config.at[1],
		 image_loaded(a, image), &layers);
	return fs_write(ds, fs_join(a, to, "index.json"), index.p, index.n, 0644, false, NULL) &&
	       fs_write(ds, fs_join(a, to, "manifest.json"), archive.p, archive.n, 0644, false,
			NULL) &&
	       fs_write(ds, fs_join(a, to, "oci-layout"), layout, strlen(layout), 0644, false,
			NULL);
}

const char *
image_layout(struct arena *a, struct diags *ds, const struct lock_image *image, const char *dir,
	     const char **why)
{
	const char *mirror = fs_real(a, fs_join(a, dir, "images")), *to;
	const char *hex =
		(image->platform_digest ? image->platform_digest : "sha256:") + strlen("sha256:");
	const char *path = arena_printf(a, "%s/blobs/sha256/%s", mirror, hex);
	const struct source *m = *hex ? fs_read_quiet(a, path, INDEX_MAX) : NULL;

	*why = !*hex                           ? "the lock does not pin the image" :
	       !m                              ? "its manifest does not exist" :
	       !file_is(a, path, hex, m->size) ? "its manifest has another digest than the lock" :
						 NULL;
	if (*why)
		return NULL;
	to = own_directory(a, arena_printf(a, "%s %s", mirror, hex));
	if (!to)
		*why = cannot_link(a);
	return to && write_layout(a, ds, image, mirror, m, to, why) ? to : NULL;
}
