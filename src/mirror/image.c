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

struct linking {
	struct arena *a;
	struct diags *ds;
	const struct lock_image *image;
	const char *mirror, *to; /* the layout of the mirror, and the new one */
	const char *why;         /* the reason of a failure without a diagnostic */
};

static bool
cannot_link(struct linking *l)
{
	l->why = arena_printf(l->a, "cannot make its layout below /tmp: %s", strerror(errno));
	return false;
}

/*
 * Compares a blob of the mirror with its descriptor, links it into the layout, and adds its path to *all.
 * docker load compares no digests.
 */
static bool
link_blob(struct linking *l, const json_t *descriptor, struct names *all)
{
	const char *digest = fetch_json_text(l->a, descriptor, "digest"), *hex, *path, *from, *to;
	const json_int_t size = json_integer_value(json_object_get(descriptor, "size"));

	if (!digest || !oci_is_digest(digest) || size <= 0) {
		l->why = "its manifest has a blob without a digest of sha256 or a size";
		return false;
	}
	hex = digest + strlen("sha256:");
	path = arena_printf(l->a, "blobs/sha256/%s", hex);
	from = fs_join(l->a, l->mirror, path);
	to = fs_join(l->a, l->to, path);
	list_push(l->a, all, path);
	if (!fs_exists(from))
		l->why = arena_printf(l->a, "`images/%s` does not exist", path);
	else if (!file_is(l->a, from, hex, (size_t)size))
		l->why = arena_printf(
			l->a, "`images/%s` has another digest or size than its manifest", path);
	return !l->why &&
	       ((fs_make_parents(l->a, to) && (symlink(from, to) == 0 || errno == EEXIST)) ||
		cannot_link(l));
}

/* Links the blobs of an image. */
static bool
link_blobs(struct linking *l, const struct source *m, const json_t *manifest, struct names *config,
	   struct names *layers)
{
	const json_t *all = json_object_get(manifest, "layers"), *layer;
	json_auto_t *own = json_pack("{s:s, s:I}", "digest", l->image->platform_digest, "size",
				     (json_int_t)m->size);
	size_t i;
	bool good;

	if (!json_is_object(json_object_get(manifest, "config")) || !json_array_size(all)) {
		l->why = "its manifest is not that of an image";
		return false;
	}
	good = link_blob(l, own, config) &&
	       link_blob(l, json_object_get(manifest, "config"), config);
	json_array_foreach(all, i, layer)
	{
		good = good && link_blob(l, layer, layers);
	}
	return good;
}

static bool
write_part(struct linking *l, const char *name, const char *bytes, size_t n)
{
	return fs_write(l->ds, fs_join(l->a, l->to, name), bytes, n, 0644, false, NULL);
}

/* Links the blobs of an image, and writes the files that describe them; false: l->why, or errors SB0406 */
static bool
write_layout(struct linking *l, const struct source *m)
{
	json_auto_t *manifest = json_loadb(m->text, m->size, 0, NULL);
	const char *type = fetch_json_text(l->a, manifest, "mediaType");
	struct buf index = BUF(l->a), archive = BUF(l->a);
	struct json j = json_to(&index);
	struct names config = { 0 }, layers = { 0 };

	if (!link_blobs(l, m, manifest, &config, &layers))
		return false;
	json_put(&j,
		 "{'schemaVersion': 2, 'manifests': [{'mediaType': %s, 'digest': %s, 'size': %d}]}",
		 type ? type : "application/vnd.oci.image.manifest.v1+json",
		 l->image->platform_digest, (int)m->size);
	j = json_to(&archive);
	json_put(&j, "[{'Config': %s, 'RepoTags': [%s], 'Layers': %n}]", config.at[1],
		 image_loaded(l->a, l->image), &layers);
	return write_part(l, "index.json", index.p, index.n) &&
	       write_part(l, "manifest.json", archive.p, archive.n) &&
	       write_part(l, "oci-layout", layout, strlen(layout));
}

/* The build does not read the list, but other tools take the image by it. */
static bool
list_is_right(struct linking *l)
{
	const char *digest = l->image->digest;

	return !digest ||
	       file_is(l->a,
		       arena_printf(l->a, "%s/blobs/sha256/%s", l->mirror, strchr(digest, ':') + 1),
		       strchr(digest, ':') + 1, 0);
}

const char *
image_layout(struct arena *a, struct diags *ds, const struct lock_image *image, const char *dir,
	     const char **why)
{
	struct linking l = {
		.a = a, .ds = ds, .image = image, .mirror = fs_real(a, fs_join(a, dir, "images"))
	};
	const char *digest = image->platform_digest, *hex = digest ? strchr(digest, ':') + 1 : "";
	const char *path = arena_printf(a, "%s/blobs/sha256/%s", l.mirror, hex);
	const struct source *m = digest ? fs_read_quiet(a, path, INDEX_MAX) : NULL;
	bool good = false;

	if (!digest)
		l.why = "the lock does not pin the image";
	else if (!m)
		l.why = "its manifest does not exist";
	else if (strcmp(sha256_hex(a, m->text, m->size), hex) != 0)
		l.why = "its manifest has another digest than the lock";
	else if (!list_is_right(&l))
		l.why = "its list of platforms does not exist, or has another digest than the lock";
	else if ((l.to = own_directory(a, arena_printf(a, "%s %s", l.mirror, hex))))
		good = write_layout(&l, m);
	else
		cannot_link(&l);
	*why = l.why;
	return good ? l.to : NULL;
}
