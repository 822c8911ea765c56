/* Reads the files of layers, and finds the resulting file system. */
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/str.h"
#include "inspect/internal.h"
#include "inspect/tree_parts.h"
#include "inspect/wheel_parts.h"

enum {
	TEXT_MAX = 64 * 1024, /* maximum bytes of a text that is kept */
	TEXTS_MAX = 1000,     /* maximum number of them */
	CHUNK = 64 * 1024,
};
#define OBJECT_MAX ((uint64_t)4 << 30)

/* A whiteout deletes one path; an opaque one deletes everything in a directory from lower
 * layers. */
static const char whiteout[] = ".wh.", opaque[] = ".wh..wh..opq";

static bool
is_text_wanted(const char *path)
{
	return ends_with(path, "/torch/version.py") || !strcmp(path, "etc/os-release") ||
	       !strcmp(path, "usr/lib/os-release");
}

static bool
is_in_site(const char *path)
{
	return strstr(path, "site-packages/") || strstr(path, "dist-packages/");
}

/* Returns true for files of packages whose objects are not extensions. */
static bool
is_of_torch(const char *path)
{
	return strstr(path, "-packages/torch/") || strstr(path, "-packages/nvidia/") ||
	       strstr(path, "-packages/functorch/") || strstr(path, "-packages/triton/");
}

/* Reads the bytes of an entry; false after SB0814 or SB0100. */
static bool
entry_bytes(struct walk *w, struct arena *a, struct archive *ar, const char *path, uint64_t size,
	    struct spool *out)
{
	const char *name = arena_printf(a, "%s: %s", w->name, path);
	unsigned char *chunk = arena_alloc(a, CHUNK, 1);

	if (!spool_begin(out, a, w->ds, name, size))
		return false;
	while (out->at < size) {
		uint64_t left = size - out->at;
		la_ssize_t n = archive_read_data(ar, chunk, left < CHUNK ? left : CHUNK);

		if (n <= 0)
			return tree_refuse(w, "`%s` cannot be read: %s", path,
					   n ? archive_error_string(ar) :
					       "it is shorter than it declares");
		if (!spool_add(out, chunk, (size_t)n))
			return false;
	}
	return spool_end(out);
}

static bool
needs_torch(const struct elf *e)
{
	for (size_t i = 0; i < e->needed.n; i++)
		if (starts_with(e->needed.at[i], "libtorch") ||
		    starts_with(e->needed.at[i], "libc10"))
			return true;
	return false;
}

/* Reads an object; a broken one does not belong to an extension. */
static bool
read_object(struct walk *w, struct archive *ar, const char *path, uint64_t size)
{
	CLEANUP_ARENA struct arena *scratch = arena_new();
	CLEANUP_SPOOL struct spool s = { 0 };
	const unsigned char *bytes;
	bool wanted = w->want && w->want->object(w->want->ctx, path);
	struct wheel_object o = { .path = path, .size = size };
	struct diags unused = DIAGS(unused, scratch);

	if (!entry_bytes(w, scratch, ar, path, size, &s))
		return false;
	bytes = s.bytes;
	if (size < SELFMAG || memcmp(bytes, ELFMAG, SELFMAG) != 0)
		return true;
	/* Keeps only wanted objects, because the symbols of all files would need too much
	 * memory. */
	o.elf = elf_read(wanted ? w->a : scratch, &unused, path, bytes, size);
	if (o.elf && wanted)
		w->want->take(w->want->ctx, path, o.elf);
	if (!o.elf || is_of_torch(path) || !needs_torch(o.elf))
		return true;
	if (!wanted)
		o.elf = elf_read(w->a, &unused, path, bytes, size);
	gpu_codes_read(w->a, &unused, path, bytes, size, &o.codes);
	list_push(w->a, w->t->extensions, o);
	return true;
}

/* Returns the sum of the sizes in a RECORD, after the last comma of each line. */
static uint64_t
record_size(const char *text)
{
	uint64_t size = 0;

	for (const char *end; *text; text = *end ? end + 1 : end) {
		const char *comma;

		end = strchrnul(text, '\n');
		comma = memrchr(text, ',', (size_t)(end - text));
		size += comma ? strtoull(comma + 1, NULL, 10) : 0;
	}
	return size;
}

static bool
read_record(struct walk *w, struct archive *ar, const char *path, uint64_t size)
{
	CLEANUP_ARENA struct arena *scratch = arena_new();
	struct spool text; /* RECORD_MAX is at most SPOOL_MEMORY */
	uint64_t *sum;

	if (!entry_bytes(w, scratch, ar, path, size, &text))
		return false;
	sum = arena_new_of(w->a, uint64_t);
	*sum = record_size((const char *)text.bytes);
	map_put(&w->sizes, path, sum);
	return true;
}

static bool
keep_file(struct walk *w, struct archive *ar, const char *path, uint64_t size, size_t layer)
{
	struct tree_layer *l = &w->t->layers.at[layer];
	size_t before;
	bool object = wheel_object_name(path) && size < OBJECT_MAX &&
		      ((is_in_site(path) && !is_of_torch(path)) ||
		       (w->want && w->want->object(w->want->ctx, path)));

	list_push(w->a, &w->files, (struct tree_file){ path, size, layer });
	if (w->files.n > TREE_FILES_MAX)
		return tree_refuse(w, "it has more than %d files", TREE_FILES_MAX);
	before = (size_t)(uintptr_t)map_get(&w->latest, path);
	/* An archive may have its layers in a different order than the image. */
	if (!before || w->files.at[before - 1].layer <= layer)
		map_put(&w->latest, path, (void *)(uintptr_t)w->files.n);
	l->size += size;
	l->files++;
	if (ends_with(path, ".dist-info/RECORD") && size <= RECORD_MAX)
		return read_record(w, ar, path, size);
	if (is_text_wanted(path) && size <= TEXT_MAX && w->texts.n < TEXTS_MAX) {
		struct spool text;

		if (!entry_bytes(w, w->a, ar, path, size, &text))
			return false;
		map_put(&w->texts, path, text.bytes);
		return true;
	}
	return !object || read_object(w, ar, path, size);
}

static bool
keep_entry(struct walk *w, struct archive *ar, struct archive_entry *e, size_t layer, size_t strip)
{
	const char *path = archive_entry_pathname(e), *name;

	if (!path || strlen(path) < strip)
		return true;
	path += strip;
	while (starts_with(path, "./") || *path == '/')
		path += *path == '/' ? 1 : 2;
	name = fs_name(path);
	if (!strcmp(name, opaque) || starts_with(name, whiteout)) {
		size_t n = (size_t)(name - path);
		const char *dir =
			!strcmp(name, opaque) ?
				arena_copy(w->a, path, n - (name > path)) :
				arena_printf(w->a, "%.*s%s", (int)n, path, name + strlen(whiteout));

		if ((size_t)(uintptr_t)map_get(&w->deleted, dir) < layer + 1)
			map_put(&w->deleted, dir, (void *)(uintptr_t)(layer + 1));
		return true;
	}
	if (archive_entry_filetype(e) != AE_IFREG || archive_entry_hardlink(e))
		return true;
	return keep_file(w, ar, arena_strdup(w->a, path), (uint64_t)archive_entry_size(e), layer);
}

bool
walk_archive(struct walk *w, struct archive *ar, size_t layer, size_t strip)
{
	struct archive_entry *e = archive_entry_new();
	bool good = true;
	int r;

	while (good && (r = archive_read_next_header2(ar, e)) != ARCHIVE_EOF) {
		if (r < ARCHIVE_WARN)
			good = tree_refuse(w, "%s", archive_error_string(ar));
		else
			good = keep_entry(w, ar, e, layer, strip);
		if (w->disk)
			archive_read_disk_descend(ar);
	}
	archive_entry_free(e);
	return good;
}

/* --- after all layers were read --- */

/* Returns true for the visible file of a path: the newest one, not deleted later. */
static bool
is_shown(const struct walk *w, size_t i)
{
	const struct tree_file *f = &w->files.at[i];
	char *path;

	if ((size_t)(uintptr_t)map_get(&w->latest, f->path) != i + 1)
		return false;
	if (!w->deleted.n)
		return true;
	path = arena_strdup(w->a, f->path);
	for (char *slash = path + strlen(path); slash; slash = strrchr(path, '/')) {
		*slash = '\0';
		if ((size_t)(uintptr_t)map_get(&w->deleted, path) > f->layer + 1)
			return false;
	}
	return true;
}

/* Returns the kind of a file that a runtime image does not need, by the first matching row. */
static const struct {
	const char *what, *pattern;
} classes[] = {
	{ "package lists and caches of apt, pip, uv and conda",
	  "^(var/lib/apt/lists|var/cache/apt|(root|home/[^/]+)/\\.cache|opt/conda/pkgs)/" },
	{ "compilers of CUDA (nvcc, ptxas, nvvm)",
	  "^usr/local/cuda[^/]*/(bin|nvvm|nvvm-prev|extras|compute-sanitizer|nsight[^/"
	  "]*|libnvvp)/" },
	{ "profilers (Nsight)", "^opt/nvidia/nsight" },
	{ "static libraries", "\\.a$" },
	{ "headers (Triton needs those of Python, and of CUDA to compile its launcher)",
	  "(^|/)include/.*\\.(h|hpp|hh|cuh|inl|inc|ipp|tcc)$|^usr/include/" },
	{ "C and C++ compilers (Triton needs one)",
	  "^usr/(lib|libexec)/gcc/|^usr/bin/[a-z0-9_-]*(gcc|g\\+\\+|cpp|clang)[a-z0-9.-]*$" },
	{ "documentation and translations", "^usr/share/(doc|man|locale|info)/" },
	{ "bytecode that Python writes again", "(^|/)__pycache__/[^/]+\\.pyc$" },
	{ "tests of Python packages", "-packages/(.*/)?tests?/" },
	{ "git repositories", "(^|/)\\.git/" },
};

enum { CLASSES = COUNT(classes) };

static void
share_add(struct tree_share *s, uint64_t size)
{
	s->size += size;
	s->files++;
}

static int
largest_first(const void *px, const void *py)
{
	const struct tree_share *x = px, *y = py;

	return x->size > y->size ? -1 : x->size < y->size;
}

/* Adds up the sizes of the layers, of hidden files, and of files that could be dropped. */
static void
sum_up(struct walk *w)
{
	struct tree_share all[CLASSES + 1] = { { 0 } };
	struct tree *t = w->t;

	all[CLASSES].what = "files of one layer that a later layer replaces or deletes";
	for (size_t i = 0; i < w->files.n; i++) {
		const struct tree_file *f = &w->files.at[i];

		if (!is_shown(w, i)) {
			t->layers.at[f->layer].hidden += f->size;
			share_add(&all[CLASSES], f->size);
			continue;
		}
		t->size += f->size;
		t->files++;
		for (size_t k = 0; k < CLASSES; k++) {
			all[k].what = classes[k].what;
			if (str_matches(f->path, classes[k].pattern)) {
				share_add(&all[k], f->size);
				break;
			}
		}
	}
	qsort(all, CLASSES + 1, sizeof(*all), largest_first);
	for (size_t k = 0; k <= CLASSES && all[k].size; k++)
		list_push(w->a, &t->shares, all[k]);
}

/* Adds the package of "a/site-packages/numpy-1.26.4.dist-info/METADATA". */
static void
note_package(struct walk *w, const char *path)
{
	const char *end = strstr(path, ".dist-info/METADATA"), *slash, *dash;
	const uint64_t *size;
	struct tree_package p;

	if (!end || end[strlen(".dist-info/METADATA")] || !is_in_site(path))
		return;
	slash = memrchr(path, '/', (size_t)(end - path));
	dash = slash ? memchr(slash, '-', (size_t)(end - slash)) : NULL;
	if (!dash)
		return;
	p.name = arena_copy(w->a, slash + 1, (size_t)(dash - slash - 1));
	p.version = arena_copy(w->a, dash + 1, (size_t)(end - dash - 1));
	p.where = arena_copy(w->a, path, (size_t)(slash - path));
	size = map_get(&w->sizes,
		       arena_printf(w->a, "%.*s.dist-info/RECORD", (int)(end - path), path));
	p.size = size ? *size : 0;
	if (!strcmp(p.name, "torch") && !w->t->torch)
		w->t->torch = p.version;
	list_push(w->a, &w->t->packages, p);
}

/* Returns the quoted text after `key` at the beginning of a line, or NULL. */
static const char *
quoted(struct arena *a, const char *text, const char *key)
{
	for (const char *p = text; p; p = (p = strchr(p, '\n')) ? p + 1 : NULL) {
		const char *from = starts_with(p, key) ? p + strcspn(p, "\"'\n") : "";
		const char *to = *from == '"' || *from == '\'' ? strchr(from + 1, *from) : NULL;

		if (to)
			return arena_copy(a, from + 1, (size_t)(to - from - 1));
	}
	return NULL;
}

static void
note_text(struct walk *w, const char *path, const char *text)
{
	const char *v;

	if (ends_with(path, "os-release") && !w->t->system)
		w->t->system = quoted(w->a, text, "PRETTY_NAME=");
	if (!ends_with(path, "/torch/version.py"))
		return;
	if ((v = quoted(w->a, text, "__version__")))
		w->t->torch = v;
	if ((v = quoted(w->a, text, "cuda")))
		w->t->torch_cuda = v;
}

/* Adds "3.11 in opt/venv" for "opt/venv/lib/python3.11/site-packages/...", and CUDA's
 * directories. */
static void
note_place(struct walk *w, const char *path, struct map *seen)
{
	const char *lib = strstr(path, "lib/python3"), *end = lib ? strchr(lib + 4, '/') : NULL;
	const char *cuda = "usr/local/cuda-";
	const char *row = NULL;
	struct names *to = &w->t->pythons;

	if (end && is_in_site(end))
		row = arena_printf(w->a, "%.*s in %.*s", (int)(end - lib - 10), lib + 10,
				   lib > path ? (int)(lib - path - 1) : 1, lib > path ? path : ".");
	if (starts_with(path, cuda) && (end = strchr(path + strlen(cuda), '/'))) {
		row = arena_copy(w->a, path, (size_t)(end - path));
		to = &w->t->toolkits;
	}
	if (row && !map_put(seen, row, w))
		list_push(w->a, to, row);
}

static int
by_name(const void *px, const void *py)
{
	const struct tree_package *x = px, *y = py;
	int order = strcasecmp(x->name, y->name);

	return order ? order : strcmp(x->where, y->where);
}

void
walk_end(struct walk *w)
{
	struct map seen = MAP(w->a);
	struct wheel_objects *all = w->t->extensions, shown = { 0 };

	for (size_t i = 0; i < w->files.n; i++) {
		const char *path = w->files.at[i].path, *text;

		if (!is_shown(w, i))
			continue;
		note_place(w, path, &seen);
		note_package(w, path);
		if ((text = map_get(&w->texts, path)))
			note_text(w, path, text);
	}
	for (size_t i = 0; i < all->n; i++) {
		size_t at = (size_t)(uintptr_t)map_get(&w->latest, all->at[i].path);

		if (at && is_shown(w, at - 1) && w->files.at[at - 1].path == all->at[i].path)
			list_push(w->a, &shown, all->at[i]);
	}
	*all = shown;
	names_sort(&w->t->pythons);
	names_sort(&w->t->toolkits);
	if (w->t->packages.n)
		qsort(w->t->packages.at, w->t->packages.n, sizeof(*w->t->packages.at), by_name);
	sum_up(w);
}
