/*
 * Bundles: a tar archive of regular files, compressed with zstd:
 *
 *     bundle.json     {"format": 1, "files": [{"path", "size", "sha256"}, ...]}
 *     mirror/...      the other files, in the order of the list
 */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alive.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/proc.h"
#include "base/sha256.h"
#include "base/str.h"
#include "bundle.h"

bool
bundle_wrong(struct diags *ds, const char *file, const char *why)
{
	diag_at(ds, E_BUNDLE, (struct span){ 0 }, "%s: %s", file, why);
	return false;
}

bool
bundle_path_ok(const char *path)
{
	return strlen(path) <= BUNDLE_PATH_MAX &&
	       str_matches(path,
			   "^(mirror|recipe|proof)(/(?!\\.{1,2}(/|$))[^/\\\\\\x00-\\x1f\\x7f]{1,"
			   "255})+$");
}

static bool
is_utf8(const char *s)
{
	uint32_t point;
	size_t n = 1;

	for (; *s && n; s += n)
		n = utf8_decode(s, strlen(s), &point);
	return n;
}

bool
bundle_add(struct arena *a, struct diags *ds, struct bundle_files *all, const char *dir,
	   const char *prefix)
{
	char *const roots[] = { (char *)(uintptr_t)dir, NULL };
	FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	bool good = walk || bundle_wrong(ds, dir, strerror(errno));

	for (FTSENT *e; walk && good && (e = fts_read(walk));) {
		const char *inside = e->fts_path + strlen(dir);

		if (e->fts_level > 0 && *e->fts_name == '.')
			fts_set(walk, e, FTS_SKIP);
		else if (e->fts_info == FTS_F)
			list_push(a, all,
				  (struct bundle_file){ arena_printf(a, "%s/%s", prefix,
								     inside + strspn(inside, "/")),
							arena_strdup(a, e->fts_path) });
		else if (e->fts_info != FTS_D && e->fts_info != FTS_DP)
			good = bundle_wrong(ds, e->fts_path,
					    "it is neither a regular file nor a directory");
	}
	if (walk)
		fts_close(walk);
	return good;
}

/* --- writing --- */

static int
by_path(const void *x, const void *y)
{
	return strcmp(((const struct bundle_file *)x)->path, ((const struct bundle_file *)y)->path);
}

static bool
put_header(struct archive *to, const char *path, size_t size)
{
	struct archive_entry *e = archive_entry_new();
	bool good;

	archive_entry_set_pathname(e, path);
	archive_entry_set_size(e, (la_int64_t)size);
	archive_entry_set_filetype(e, AE_IFREG);
	archive_entry_set_perm(e, 0644);
	archive_entry_set_mtime(e, 0, 0);
	good = archive_write_header(to, e) == ARCHIVE_OK;
	archive_entry_free(e);
	return good;
}

/*
 * Reads a file into its digest, or (sum NULL) into the archive.  False: a signal came, or errno or
 * the archive has the reason.
 */
static bool
read_file(struct archive *to, const char *path, struct sha256 *sum, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	char block[64 * 1024];
	bool good = fd >= 0;
	ssize_t n = 1;

	*size = 0;
	while (good && n && !proc_interrupted()) {
		alive_tick("packing", path);
		good = (n = read(fd, block, sizeof(block))) >= 0 &&
		       (sum || archive_write_data(to, block, (size_t)n) == n);
		if (sum && n > 0)
			sha256_add(sum, block, (size_t)n);
		*size += good ? (size_t)n : 0;
	}
	if (fd >= 0)
		close(fd);
	return good && !n;
}

/* Copies a file, which must still have its size. Returns the reason of a failure, or NULL. */
static const char *
put_file(struct archive *to, const struct bundle_file *f, size_t size)
{
	size_t now;
	bool good;

	errno = 0;
	good = put_header(to, f->path, size) && read_file(to, f->from, NULL, &now);
	if (good && now == size)
		return NULL;
	return archive_error_string(to) ? archive_error_string(to) :
	       !good && errno           ? strerror(errno) :
					  "it changed meanwhile";
}

static bool
put_all(struct arena *a, struct diags *ds, struct archive *to, const struct bundle_files *files,
	const char *name)
{
	size_t *sizes = arena_array_of(a, size_t, files->n);
	struct buf list = BUF(a);
	const char *why;
	struct json j = json_to(&list);

	json_put(&j, "{'format': 1, 'files': [");
	for (size_t i = 0; i < files->n; i++) {
		const struct bundle_file *f = &files->at[i];
		struct sha256 *sum = sha256_new(a);

		if (!is_utf8(f->path))
			return bundle_wrong(ds, f->path,
					    "a bundle cannot have this path: it is not UTF-8");
		if (!bundle_path_ok(f->path))
			return bundle_wrong(ds, f->path, "a bundle cannot have this path");
		if (!read_file(to, f->from, sum, &sizes[i]))
			return bundle_wrong(ds, f->from, strerror(errno));
		json_put(&j, "('path': %s, 'size': %f, 'sha256': %s)", f->path, (double)sizes[i],
			 sha256_end(a, sum));
	}
	json_put(&j, "]}");
	if (!put_header(to, BUNDLE_LIST, list.n) ||
	    archive_write_data(to, list.p, list.n) != (la_ssize_t)list.n)
		return bundle_wrong(ds, name, archive_error_string(to));
	for (size_t i = 0; i < files->n; i++)
		if ((why = put_file(to, &files->at[i], sizes[i])))
			return bundle_wrong(ds, files->at[i].path, why);
	return archive_write_close(to) == ARCHIVE_OK ||
	       bundle_wrong(ds, name, archive_error_string(to));
}

bool
bundle_write(struct arena *a, struct diags *ds, struct bundle_files *files, const char *to)
{
	struct archive *ar = archive_write_new();
	struct diags own = DIAGS(own, a);
	struct fs_temp temp;
	bool good;

	qsort(files->at, files->n, sizeof(*files->at), by_path);
	if (!fs_make_parents(a, to) || !fs_temp_file(a, to, 0666, &temp))
		return bundle_wrong(ds, to, strerror(errno));
	/* ARCHIVE_WARN: a libarchive without zstd starts the program. BINARY: otherwise, libarchive converts
	 * names from the character set of the locale, which is C. */
	good = (archive_write_set_format_pax_restricted(ar) == ARCHIVE_OK &&
		archive_write_set_options(ar, "hdrcharset=BINARY") == ARCHIVE_OK &&
		archive_write_add_filter_zstd(ar) >= ARCHIVE_WARN &&
		archive_write_open_fd(ar, temp.fd) == ARCHIVE_OK) ||
	       bundle_wrong(ds, to, archive_error_string(ar));
	good = good && put_all(a, &own, ar, files, to);
	if (!good && proc_interrupted())
		bundle_wrong(ds, to, "interrupted: no bundle was written; the mirror is complete");
	else
		diags_append(ds, &own);
	archive_write_free(ar);
	if (good)
		return fs_temp_keep(&temp, to, false) || bundle_wrong(ds, to, strerror(errno));
	fs_temp_drop(&temp);
	return false;
}
