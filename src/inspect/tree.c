/* Directories, image layouts and archives, as layers of files. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/str.h"
#include "fetch/fetch.h"
#include "inspect/internal.h"
#include "inspect/tree_parts.h"

enum { BLOCK = 64 * 1024, JSON_MAX = 4 * 1024 * 1024, LAYERS_MAX = 1000, NESTED_MAX = 4 };
enum { JSON_MAX_ALL = 4 * JSON_MAX };

/* The places of an image's JSON files and layers. */
struct image_at {
	struct walk *w;
	const char *dir; /* an OCI layout; NULL: a tar file */
	const char *path;
	struct map json;     /* for a tar file: the texts of its JSON files, by name */
	size_t json_size;    /* bytes of these texts */
	struct names layers; /* the file names of the layers, lowest first */
};

/* --- directories --- */

static bool
read_directory(struct walk *w, const char *path)
{
	CLEANUP_ARCHIVE struct archive *ar = archive_read_disk_new();
	size_t strip = strlen(path);

	while (strip && path[strip - 1] == '/')
		strip--;
	w->disk = true;
	archive_read_disk_set_symlink_physical(ar);
	archive_read_disk_set_behavior(ar, ARCHIVE_READDISK_NO_XATTR | ARCHIVE_READDISK_NO_ACL |
						   ARCHIVE_READDISK_NO_FFLAGS);
	if (archive_read_disk_open(ar, path) != ARCHIVE_OK)
		return tree_refuse(w, "%s", archive_error_string(ar));
	list_push(w->a, &w->t->layers, (struct tree_layer){ .name = "" });
	return walk_archive(w, ar, 0, strip);
}

/* --- archives --- */

static struct archive *
new_archive(void)
{
	struct archive *ar = archive_read_new();

	archive_read_support_filter_gzip(ar);
	archive_read_support_filter_zstd(ar);
	archive_read_support_filter_xz(ar);
	archive_read_support_filter_bzip2(ar);
	archive_read_support_format_tar(ar);
	archive_read_support_format_empty(ar);
	return ar;
}

static struct archive *
open_archive(struct walk *w, const char *path)
{
	struct archive *ar = new_archive();

	if (archive_read_open_filename(ar, path, BLOCK) == ARCHIVE_OK)
		return ar;
	tree_refuse(w, "%s", archive_error_string(ar));
	archive_read_free(ar);
	return NULL;
}

/* A layer inside of an archive. */
struct inner {
	struct archive *outer;
	unsigned char block[BLOCK];
};

static la_ssize_t
next_block(struct archive *ar, void *ctx, const void **p)
{
	struct inner *in = ctx;
	la_ssize_t n = archive_read_data(in->outer, in->block, BLOCK);

	*p = in->block;
	if (n < 0)
		archive_set_error(ar, EIO, "%s", archive_error_string(in->outer));
	return n;
}

static bool
read_inner(struct walk *w, struct archive *outer, size_t layer)
{
	CLEANUP_ARCHIVE struct archive *ar = new_archive();
	struct inner in = { .outer = outer };

	if (archive_read_open(ar, &in, NULL, next_block, NULL) != ARCHIVE_OK)
		return tree_refuse(w, "layer %zu: %s", layer + 1, archive_error_string(ar));
	return walk_archive(w, ar, layer, 0);
}

/* --- manifests --- */

static const char *
json_file(const struct image_at *m, const char *name)
{
	const struct source *s;

	if (!m->dir)
		return map_get(&m->json, name);
	s = fs_read_quiet(m->w->a, fs_join(m->w->a, m->dir, name), JSON_MAX);
	return s ? s->text : NULL;
}

/* Returns "blobs/sha256/abc" for "sha256:abc"; NULL for a text that is not a digest. */
static const char *
blob_name(const struct image_at *m, const json_t *of)
{
	const char *digest = json_string_value(json_object_get(of, "digest"));

	return digest && oci_is_digest(digest) ?
		       arena_printf(m->w->a, "blobs/sha256/%s", digest + strlen("sha256:")) :
		       NULL;
}

/* Reads the layers of a manifest, or of the first image of an index. */
static bool
oci_layers(struct image_at *m, const char *name, unsigned depth)
{
	const char *text = name ? json_file(m, name) : NULL, *blob;
	json_auto_t *root = text ? json_loads(text, 0, NULL) : NULL;
	const json_t *manifests = json_object_get(root, "manifests");
	const json_t *layers = json_object_get(root, "layers");

	if (!root || depth > NESTED_MAX)
		return false;
	for (size_t i = 0; i < json_array_size(manifests); i++) {
		const json_t *of = json_array_get(manifests, i);
		const json_t *platform = json_object_get(of, "platform");
		const char *os = json_string_value(json_object_get(platform, "os"));

		/* BuildKit lists its attestations as images of the platform "unknown". */
		if ((!os || strcmp(os, "unknown") != 0) &&
		    oci_layers(m, blob_name(m, of), depth + 1))
			return true;
	}
	for (size_t i = 0; i < json_array_size(layers) && i < LAYERS_MAX; i++) {
		if (!(blob = blob_name(m, json_array_get(layers, i))))
			return false;
		list_push(m->w->a, &m->layers, blob);
	}
	return m->layers.n;
}

/* Reads the layers in manifest.json of `docker save`. */
static bool
docker_layers(struct image_at *m)
{
	const char *text = json_file(m, "manifest.json");
	json_auto_t *root = text ? json_loads(text, 0, NULL) : NULL;
	const json_t *layers = json_object_get(json_array_get(root, 0), "Layers");

	for (size_t i = 0; i < json_array_size(layers) && i < LAYERS_MAX; i++) {
		const char *name = json_string_value(json_array_get(layers, i));

		if (!name)
			return false;
		list_push(m->w->a, &m->layers, arena_strdup(m->w->a, name));
	}
	return m->layers.n;
}

static void
name_layers(struct image_at *m)
{
	for (size_t i = 0; i < m->layers.n; i++) {
		const char *name = fs_name(m->layers.at[i]);

		if (!strcmp(name, "layer.tar"))
			name = fs_dir(m->w->a, m->layers.at[i]);
		list_push(m->w->a, &m->w->t->layers, (struct tree_layer){ .name = name });
	}
}

/* --- an OCI layout in a directory --- */

static bool
read_layout(struct image_at *m)
{
	if (!oci_layers(m, "index.json", 0))
		return tree_refuse(m->w, "its index.json lists no image with an existing manifest");
	name_layers(m);
	for (size_t i = 0; i < m->layers.n; i++) {
		CLEANUP_ARCHIVE struct archive *ar =
			open_archive(m->w, fs_join(m->w->a, m->dir, m->layers.at[i]));

		if (!ar || !walk_archive(m->w, ar, i, 0))
			return false;
	}
	return true;
}

/* --- an archive --- */

/* Keeps a file that begins like JSON; false: there are too many bytes of them. */
static bool
read_json_file(struct image_at *m, struct archive *ar, const char *name, size_t n)
{
	CLEANUP_ARENA struct arena *scratch = arena_new();
	char *text = arena_alloc(scratch, n + 1, 1);

	if (archive_read_data(ar, text, n) != (la_ssize_t)n || (*text != '{' && *text != '['))
		return true;
	m->json_size += n;
	map_put(&m->json, name, arena_copy(m->w->a, text, n));
	return m->json_size <= JSON_MAX_ALL;
}

/* Reads small files that begin like JSON. */
static bool
read_json_files(struct image_at *m)
{
	struct walk *w = m->w;
	CLEANUP_ARCHIVE struct archive *ar = open_archive(w, m->path);
	struct archive_entry *e;
	int r;

	while (ar && (r = archive_read_next_header(ar, &e)) != ARCHIVE_EOF) {
		la_int64_t n = archive_entry_size(e);
		const char *name = archive_entry_pathname(e);

		if (r < ARCHIVE_WARN)
			return tree_refuse(w, "%s", archive_error_string(ar));
		if (!name || n <= 1 || n > JSON_MAX || archive_entry_filetype(e) != AE_IFREG)
			continue;
		if (!strcmp(name, "etc/os-release") || starts_with(name, "usr/"))
			return true; /* a root file system, whose JSON files do not matter */
		if (!read_json_file(m, ar, arena_strdup(w->a, name), (size_t)n))
			return tree_refuse(w, "its JSON files have more than %d MiB",
					   JSON_MAX_ALL >> 20);
	}
	return ar;
}

static bool
read_layers(struct image_at *m)
{
	CLEANUP_ARCHIVE struct archive *ar = open_archive(m->w, m->path);
	struct archive_entry *e;
	size_t found = 0;
	int r;

	while (ar && (r = archive_read_next_header(ar, &e)) != ARCHIVE_EOF) {
		const char *name = archive_entry_pathname(e);

		if (r < ARCHIVE_WARN)
			return tree_refuse(m->w, "%s", archive_error_string(ar));

		for (size_t i = 0; name && i < m->layers.n; i++) {
			if (strcmp(name, m->layers.at[i]) != 0)
				continue;
			if (!read_inner(m->w, ar, i))
				return false;
			found++;
			break;
		}
	}
	return ar && (found == m->layers.n ||
		      tree_refuse(m->w, "it has %zu of the %zu layers that its manifest lists",
				  found, m->layers.n));
}

static bool
read_archive(struct image_at *m)
{
	struct walk *w = m->w;

	if (!read_json_files(m))
		return false;
	if (oci_layers(m, "index.json", 0) || docker_layers(m)) {
		name_layers(m);
		return read_layers(m);
	}
	CLEANUP_ARCHIVE struct archive *ar = open_archive(w, m->path);

	list_push(w->a, &w->t->layers, (struct tree_layer){ .name = fs_name(m->path) });
	return ar && walk_archive(w, ar, 0, 0);
}

const struct tree *
tree_read(struct arena *a, struct diags *ds, const char *path, const struct tree_want *want)
{
	struct tree *t = arena_new_of(a, struct tree);
	struct walk w = { .a = a, .ds = ds, .name = path, .want = want, .t = t };
	struct image_at m = { .w = &w, .path = path, .json = MAP(a) };
	bool good;

	w.latest = w.deleted = w.texts = w.sizes = MAP(a);
	t->extensions = arena_new_of(a, struct wheel_objects);
	if (fs_is_dir(path) && fs_exists(fs_join(a, path, "oci-layout"))) {
		m.dir = path;
		good = read_layout(&m);
	} else {
		good = fs_is_dir(path) ? read_directory(&w, path) : read_archive(&m);
	}
	if (!good)
		return NULL;
	walk_end(&w);
	return t;
}
