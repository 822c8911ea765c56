/* Unpacks the listed files of a bundle into a new directory. */
#include <archive.h>
#include <archive_entry.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alive.h"
#include "base/fs.h"
#include "base/map.h"
#include "base/proc.h"
#include "base/sha256.h"
#include "base/str.h"
#include "bundle.h"

struct listed {
	const char *path, *sha256;
	size_t size;
};
struct unpacking {
	struct arena *a;
	struct diags *ds;
	const char *file, *dir;
	struct archive *from;
	struct listeds LIST(struct listed) list;
};

static bool
wrong(struct unpacking *u, const char *why)
{
	return bundle_wrong(u->ds, u->file, why);
}

/* Reads the next header of the archive, which must be a regular file with this path and size (0:
 * any). */
static bool
next_file(struct unpacking *u, const char *path, size_t size)
{
	struct archive_entry *e;
	const char *found;

	switch (archive_read_next_header(u->from, &e)) {
	case ARCHIVE_OK:
	case ARCHIVE_WARN:
		break; /* a name that the locale cannot express: its bytes are unchanged */
	case ARCHIVE_EOF: return wrong(u, arena_printf(u->a, "`%s` is missing", path));
	default:
		return wrong(u, arena_printf(u->a, "it is not a bundle, or damaged: %s",
					     archive_error_string(u->from)));
	}
	found = archive_entry_pathname(e);
	if (!found || strcmp(found, path) != 0)
		return wrong(u, arena_printf(u->a, "it has `%s` instead of `%s`",
					     found ? found : "a file without a name", path));
	if (archive_entry_filetype(e) != AE_IFREG || archive_entry_hardlink(e) ||
	    archive_entry_symlink(e) || archive_entry_sparse_count(e) > 0)
		return wrong(u, arena_printf(u->a, "`%s` is not a regular file", path));
	if (size && (size_t)archive_entry_size(e) != size)
		return wrong(u,
			     arena_printf(u->a, "`%s` does not have the size of the list", path));
	return true;
}

/* Copies the bytes of the file to fd, or (fd -1) to text.  Returns the digest; NULL after an error. */
static const char *
take_bytes(struct unpacking *u, const char *path, size_t max, int fd, struct buf *text)
{
	struct sha256 *sum = sha256_new(u->a);
	char block[64 * 1024];
	la_ssize_t n;

	while ((n = archive_read_data(u->from, block, sizeof(block))) > 0) {
		alive_tick("unpacking", path);
		if (proc_interrupted()) {
			wrong(u, "interrupted: no directory was made");
			return NULL;
		}
		if ((size_t)n > max) {
			wrong(u, arena_printf(u->a, "`%s` is too large", path));
			return NULL;
		}
		max -= (size_t)n;
		sha256_add(sum, block, (size_t)n);
		if (fd >= 0 && !fs_write_all(fd, block, (size_t)n)) {
			wrong(u,
			      arena_printf(u->a, "cannot write `%s`: %s", path, strerror(errno)));
			return NULL;
		}
		if (fd < 0)
			buf_add(text, block, (size_t)n);
	}
	if (n == 0)
		return sha256_end(u->a, sum);
	wrong(u, arena_printf(u->a, "`%s` is damaged: %s", path, archive_error_string(u->from)));
	return NULL;
}

static bool
read_list(struct unpacking *u, const json_t *root)
{
	const json_t *files = json_object_get(root, "files");
	struct map seen = MAP(u->a);
	size_t n = json_array_size(files), total = 0;

	if (json_integer_value(json_object_get(root, "format")) != 1 || !n || n > BUNDLE_FILES_MAX)
		return wrong(u, "its list is not of format 1, or has no files or too many");
	for (size_t i = 0; i < n; i++) {
		const json_t *one = json_array_get(files, i);
		const char *path = json_string_value(json_object_get(one, "path"));
		const char *sum = json_string_value(json_object_get(one, "sha256"));
		const json_t *size = json_object_get(one, "size");

		if (!path || !bundle_path_ok(path) || map_put(&seen, path, u))
			return wrong(u, "its list has a path that is not allowed, or duplicate");
		if (!sum || !str_matches(sum, "^[0-9a-f]{64}$") || !json_is_integer(size) ||
		    json_integer_value(size) < 0 ||
		    (size_t)json_integer_value(size) > BUNDLE_BYTES_MAX - total)
			return wrong(u, "its list has a malformed digest or size");
		total += (size_t)json_integer_value(size);
		list_push(u->a, &u->list,
			  (struct listed){ arena_strdup(u->a, path), arena_strdup(u->a, sum),
					   (size_t)json_integer_value(size) });
	}
	return true;
}

static bool
unpack_one(struct unpacking *u, const struct listed *l)
{
	const char *path = fs_join(u->a, u->dir, l->path), *sum;
	int fd;

	if (!next_file(u, l->path, l->size))
		return false;
	if (!fs_make_parents(u->a, path) ||
	    (fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644)) < 0)
		return wrong(u, arena_printf(u->a, "cannot write `%s`: %s", path, strerror(errno)));
	sum = take_bytes(u, l->path, l->size, fd, NULL);
	if (close(fd) != 0 && sum)
		return wrong(u, arena_printf(u->a, "cannot write `%s`: %s", path, strerror(errno)));
	return sum &&
	       (!strcmp(sum, l->sha256) ||
		wrong(u, arena_printf(u->a, "`%s` does not have the digest of the list", l->path)));
}

static bool
unpack(struct unpacking *u)
{
	struct buf text = { .a = u->a, .max = BUNDLE_LIST_MAX };
	struct archive_entry *e;
	json_t *root;
	bool good;

	if (!next_file(u, BUNDLE_LIST, 0) ||
	    !take_bytes(u, BUNDLE_LIST, BUNDLE_LIST_MAX, -1, &text))
		return false;
	root = json_loadb(buf_text(&text), text.n, JSON_REJECT_DUPLICATES, NULL);
	good = json_is_object(root) ? read_list(u, root) : wrong(u, "its list is not JSON");
	json_decref(root);
	for (size_t i = 0; i < u->list.n && good; i++)
		good = unpack_one(u, &u->list.at[i]);
	if (good && archive_read_next_header(u->from, &e) != ARCHIVE_EOF)
		good = wrong(u, "it has more files than its list, or its end is damaged");
	return good;
}

static bool
is_empty(const char *dir)
{
	DIR *d = opendir(dir);
	size_t n = 0;

	while (d && n <= 2 && readdir(d))
		n++;
	if (d)
		closedir(d);
	return d ? n == 2 : !fs_exists(dir);
}

bool
bundle_read(struct arena *a, struct diags *ds, const char *file, const char *dir, size_t *n)
{
	struct fs_temp temp;
	struct unpacking u = { .a = a, .ds = ds, .file = file };
	bool good;

	*n = 0;
	if (!is_empty(dir))
		return wrong(&u, arena_printf(a, "%s exists and is not empty", dir));
	if (!fs_make_parents(a, dir) || !fs_temp_dir(a, dir, 0777, &temp))
		return wrong(&u, arena_printf(a, "cannot write %s: %s", dir, strerror(errno)));
	u.dir = temp.path;
	proc_remove_at_exhaustion(u.dir);
	u.from = archive_read_new();
	archive_read_support_format_tar(u.from);
	archive_read_support_filter_zstd(u.from);
	good = archive_read_open_filename(u.from, file, 64 * 1024) == ARCHIVE_OK ?
		       unpack(&u) :
		       wrong(&u, arena_printf(a, "it is not a bundle: %s",
					      archive_error_string(u.from)));
	archive_read_free(u.from);
	if (!good)
		fs_temp_drop(&temp);
	else if (!fs_temp_keep(&temp, dir, false))
		good = wrong(&u, arena_printf(a, "cannot write %s: %s", dir, strerror(errno)));
	*n = u.list.n;
	return good;
}
