#ifndef FS_H
#define FS_H

#include <stdbool.h>
#include <stddef.h>

#include "arena.h"
#include "diag.h"
#include "list.h"

/* Reads whole files up to a maximum size, and writes files by rename. No network, no child
 * processes. */

/* Maximum sizes in bytes: of a recipe, template or knowledge file; of a lock file. */
enum { FS_READ_MAX = 1024 * 1024, FS_LOCK_MAX = 16 * 1024 * 1024 };

/* Returns the maximum size of an input: more for lock files of any tool, by their name, such as
 * uv.lock. */
size_t fs_input_max(const char *path);

/*
 * fs_read -- reads a whole regular file.
 *
 *   in      path: "-" reads standard input; at: the place of the error; a span without src names
 *           only the path
 *   errors  SB0100, NULL: missing, unreadable, a directory, FIFO or device, or
 *           larger than max bytes; does not wait for a FIFO
 *   memory  lives in a; one NUL follows the text
 */
const struct source *fs_read(struct arena *a, struct diags *ds, const char *path, size_t max,
			     struct span at);
/* Reads a file without a diagnostic if it is missing. */
const struct source *fs_read_quiet(struct arena *a, const char *path, size_t max);

/* Returns true if a file of that name exists (of any kind). */
bool fs_exists(const char *path);
bool fs_is_dir(const char *path);

/* Adds the names in a directory that end in `suffix`, hidden ones left out, and sorts `out` by
 * bytes; none if there is no directory.  False after SB0100: it cannot be read. */
bool fs_list(struct arena *a, struct diags *ds, const char *dir, const char *suffix,
	     struct names *out);

/* Returns a path by its text alone without ".", doubled slashes and inner "..": "a/./b/../c" -> "a/c". */
const char *fs_clean(struct arena *a, const char *path);

/* Makes a directory and locks it against others that lock it, until the descriptor is closed; -1:
 * it cannot be made or read. */
int fs_lock_dir(struct arena *a, const char *dir);

/* A temporary file or directory of this process. */
struct fs_temp {
	const char *path;
	int fd; /* of the file, for writing, or of the directory; -1: none */
};

/*
 * fs_temp_file, fs_temp_dir -- make a temporary file or directory beside `path`, with a hidden unique name.
 *
 *   in      mode: as for open(2)
 *   out     *t: fs_temp_keep or fs_temp_drop ends it. If the process is killed before, the next one that makes
 *           a temporary file in that directory removes it.
 *   errors  false: errno has the reason, and t->fd is -1
 *   memory  t->path lives in a
 */
bool fs_temp_file(struct arena *a, const char *path, unsigned mode, struct fs_temp *t);
bool fs_temp_dir(struct arena *a, const char *path, unsigned mode, struct fs_temp *t);
/* Renames a temporary file to `path`, after fsync if sync; false: errno has the reason, and it is removed. */
bool fs_temp_keep(struct fs_temp *t, const char *path, bool sync);
/* Removes a temporary file or directory, if there is one; keeps errno. */
void fs_temp_drop(struct fs_temp *t);
/* Removes the temporary files of killed processes from a directory; keeps errno. */
void fs_temp_clean(struct arena *a, const char *dir);

/*
 * Writes a new file and its missing parent directories. Returns false after SB0406, also if another
 * process created the file first.
 */
bool fs_create(struct diags *ds, const char *path, const char *bytes, size_t n, unsigned mode);

/* Returns whether a regular file has exactly these bytes. */
bool fs_holds(const char *path, const char *bytes, size_t n);

/*
 * fs_write -- replaces a file atomically: afterwards it has these bytes, or its old content.
 *
 *   in      directories on the way are made; mode as for open(2), say 0644; sync: fsync
 *           before the rename, for files that must survive a power failure
 *   out     *changed (may be NULL): false if it held these bytes already, and
 *           then nothing was written
 *   errors  SB0406, false
 */
bool fs_write(struct diags *ds, const char *path, const char *bytes, size_t n, unsigned mode,
	      bool sync, bool *changed);

/*
 * fs_replace -- replaces an existing file atomically, keeping its mode and owner.
 *
 *   in      a regular file; a link is followed to it; old: the content that it must still have
 *   out     mode and, where that is allowed, owner stay; fsync before the rename
 *   errors  SB0406: not writable, changed meanwhile, no room; false
 */
bool fs_replace(struct diags *ds, const char *path, const char *old, size_t old_size,
		const char *bytes, size_t n);

/* Writes all bytes, also after signals and on a full pipe; false: errno has the reason. */
bool fs_write_all(int fd, const char *bytes, size_t n);

/* FS_FD int fd = open(...): the descriptor is closed at the end of its block; -1: none. */
void fs_close(const int *fd);
#define FS_FD __attribute__((cleanup(fs_close)))

/* Creates the missing directories above `path`; false: errno has the reason. */
bool fs_make_parents(struct arena *a, const char *path);

/* Removes a file, or a directory with its content on this file system; links are not followed. Returns
 * 0, also if nothing exists, or the errno of the first failure. Keeps errno. */
int fs_remove(const char *path);

/* Returns "a/b" for "a" and "b"; `name` alone if it is absolute, or if dir is empty or ".". */
const char *fs_join(struct arena *a, const char *dir, const char *name);
/* Returns the absolute path without links; the path itself if nothing exists there. */
const char *fs_real(struct arena *a, const char *path);
/* Returns the directory part of a path: "a" of "a/b", "." of "b". */
const char *fs_dir(struct arena *a, const char *path);
/* Returns the last part of a path: "x.yaml" of "recipes/x.yaml". */
const char *fs_name(const char *path);
/* Returns the last part of a path, without the ending: "x" of "recipes/x.yaml". */
const char *fs_stem(struct arena *a, const char *path);

#endif
