#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sha256.h"
#include "inspect/archive.h"
#include "inspect/wheel_parts.h"

enum {
	TEXT_MAX = 64 * 1024 * 1024, /* bytes of RECORD or METADATA */
	CHUNK = 1 << 20,
};

static void
close_fd(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

#define CLEANUP_FD __attribute__((cleanup(close_fd)))

/* What is read first: the files that say what the others are. */
struct dist_info {
	const char *folder; /* "numpy-1.26.4.dist-info" */
	const char *record, *metadata, *wheel;
};

static bool
open_wheel(struct zip *z)
{
	struct stat st;

	z->fd = open(z->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (z->fd < 0 || fstat(z->fd, &st) < 0)
		return inspect_refuse(z->ds, z->fd < 0 && errno == ENOENT ? E_WHEEL : E_FILE,
				      z->path, "cannot be read: %s", strerror(errno));
	if (!S_ISREG(st.st_mode))
		return zip_refuse(z, "cannot be read: not a regular file");
	z->n = (uint64_t)st.st_size;
	return true;
}

static bool
sum_file(const struct zip *z, struct wheel *w)
{
	unsigned char *chunk = arena_alloc(z->a, CHUNK, 1);
	struct sha256 *sum = sha256_new(z->a);

	for (uint64_t at = 0; at < z->n;) {
		size_t n = z->n - at < CHUNK ? (size_t)(z->n - at) : CHUNK;

		if (!zip_bytes(z, at, chunk, n))
			return zip_refuse(z, "it cannot be read, or is being written");
		sha256_add(sum, chunk, n);
		at += n;
	}
	w->sha256 = sha256_end(z->a, sum);
	w->size = z->n;
	return true;
}

/* The one folder NAME.dist-info at the top. */
static bool
find_folder(const struct zip *z, struct dist_info *out)
{
	for (size_t i = 0; i < z->entries.n; i++) {
		const char *name = z->entries.at[i].name, *slash = strchr(name, '/');
		const char *folder = slash ? arena_copy(z->a, name, (size_t)(slash - name)) : "";

		if (!ends_with(folder, ".dist-info"))
			continue;
		if (out->folder && strcmp(out->folder, folder) != 0)
			return zip_refuse(z, "it has two .dist-info folders: `%s` and `%s`",
					  out->folder, folder);
		out->folder = folder;
	}
	return out->folder || zip_refuse(z, "it has no .dist-info folder: not a wheel");
}

/* The part of a path below the .dist-info folder, or "". */
static const char *
below(const struct dist_info *info, const char *path)
{
	size_t n = strlen(info->folder);

	return !strncmp(path, info->folder, n) && path[n] == '/' ? path + n + 1 : "";
}

static bool
read_info(const struct zip *z, struct dist_info *out)
{
	struct unpack u = { .z = z };
	CLEANUP_ARCHIVE struct archive *handle = NULL;
	const struct zip_entry *e;
	bool good = unpack_open(&u);

	handle = u.ar;
	if (!good || !find_folder(z, out))
		return false;
	while ((e = unpack_next(&u, &good))) {
		const char *name = below(out, e->name);
		const char **to = !strcmp(name, "RECORD")   ? &out->record :
				  !strcmp(name, "METADATA") ? &out->metadata :
				  !strcmp(name, "WHEEL")    ? &out->wheel :
							      NULL;

		if (!to)
			continue;
		if (!(*to = unpack_all(&u, z->a, e, TEXT_MAX)))
			return false;
		if (strlen(*to) != e->size)
			return zip_refuse(z, "its %s holds a NUL", name);
	}
	if (good && (!out->record || !out->metadata || !out->wheel))
		return zip_refuse(z, "it has no %s/%s", out->folder,
				  !out->record   ? "RECORD" :
				  !out->metadata ? "METADATA" :
						   "WHEEL");
	return good;
}

/* RECORD cannot hold its own digest, nor that of what signs it. */
static bool
is_outside_record(const char *name)
{
	return !strcmp(name, "RECORD") || !strcmp(name, "RECORD.jws") ||
	       !strcmp(name, "RECORD.p7s");
}

static bool
is_object_name(const char *path)
{
	const char *so = strstr(path, ".so");

	for (; so; so = strstr(so + 1, ".so"))
		if (!so[3] || (so[3] == '.' && !strchr(so, '/')))
			return true;
	return false;
}

/* What a shared object says; what only has the name of one is a file like others. */
static bool
read_object(const struct zip *z, const struct zip_entry *e, const unsigned char *bytes,
	    struct wheel *w)
{
	struct wheel_object o = { .path = e->name };
	const char *name = arena_printf(z->a, "%s: %s", z->path, e->name);

	if (e->size < SELFMAG || memcmp(bytes, ELFMAG, SELFMAG) != 0)
		return true;
	if (!(o.elf = elf_read(z->a, z->ds, name, bytes, e->size)) ||
	    !gpu_codes_read(z->a, z->ds, name, bytes, e->size, &o.codes))
		return false;
	list_push(z->a, &w->objects, o);
	return true;
}

static bool
compare(const struct zip *z, const struct zip_entry *e, const struct record_row *row,
	const char *digest)
{
	if (row->has_size && row->size != e->size)
		return zip_refuse(z, "`%s` has %llu bytes; its RECORD says %llu", e->name,
				  (unsigned long long)e->size, (unsigned long long)row->size);
	if (!str_is(row->digest, digest))
		return zip_refuse(z, "`%s` is not what its RECORD says: another digest", e->name);
	return true;
}

/* Reads one file: compares it with its row (NULL: RECORD has none), and keeps a shared object. */
static bool
read_member(struct unpack *u, const struct zip_entry *e, struct record_row *row, struct wheel *w)
{
	const struct zip *z = u->z;
	CLEANUP_ARENA struct arena *scratch = arena_new();
	CLEANUP_DIGEST EVP_MD_CTX *sum = digest_new(row ? row->kind : EVP_sha256());
	unsigned char *object = NULL;
	const void *p;
	size_t n, at = 0;

	if (is_object_name(e->name))
		object = arena_alloc(scratch, e->size + 1, 16);
	do {
		if (!unpack_bytes(u, e, &p, &n))
			return false;
		EVP_DigestUpdate(sum, p, n);
		if (object && n)
			memcpy(object + at, p, n);
		at += n;
	} while (n);
	return (!row || compare(z, e, row, digest_end(z->a, sum))) &&
	       (!object || read_object(z, e, object, w));
}

static bool
read_members(const struct zip *z, const struct dist_info *info, struct record *record,
	     struct wheel *w)
{
	struct unpack u = { .z = z };
	CLEANUP_ARCHIVE struct archive *handle = NULL;
	const struct zip_entry *e;
	bool good = unpack_open(&u);

	handle = u.ar;
	while (good && (e = unpack_next(&u, &good))) {
		struct record_row *row = map_get(&record->by_path, e->name);
		bool outside = is_outside_record(below(info, e->name));

		if (e->folder)
			continue;
		if (row)
			row->seen = true;
		if (!outside && (!row || !row->kind))
			return zip_refuse(z, "`%s` %s", e->name,
					  row ? "has no digest in RECORD" : "is not in RECORD");
		good = read_member(&u, e, outside ? NULL : row, w);
	}
	for (size_t i = 0; good && i < record->rows.n; i++)
		if (!record->rows.at[i]->seen)
			good = zip_refuse(z, "`%s` is in RECORD, but not in the wheel",
					  record->rows.at[i]->path);
	return good;
}

const struct wheel *
wheel_read(struct arena *a, struct diags *ds, const char *path)
{
	struct zip z = { .a = a, .ds = ds, .path = path, .fd = -1 };
	struct wheel *w = arena_new_of(a, struct wheel);
	struct dist_info info = { 0 };
	struct record record = { 0 };
	bool good = (errno = 0, open_wheel(&z));
	CLEANUP_FD int handle = z.fd;

	(void)handle;
	return good && zip_read(&z) && read_info(&z, &info) &&
			       wheel_metadata(&z, info.folder, info.metadata, info.wheel, w) &&
			       record_parse(&z, info.record, &record) && sum_file(&z, w) &&
			       read_members(&z, &info, &record, w) ?
		       w :
		       NULL;
}
