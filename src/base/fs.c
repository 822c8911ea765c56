#include "fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buf.h"
#include "str.h"

void
fs_close(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

/* Returns the rest of `fd`, at most max bytes, into src; returns the reason of a failure, or
 * NULL. */
static const char *
read_all(struct arena *a, int fd, size_t max, struct source *src)
{
	struct buf b = BUF(a);
	char chunk[16 * 1024];
	ssize_t got;

	while ((got = read(fd, chunk, sizeof(chunk))) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return strerror(errno);
		if ((size_t)got > max - b.n)
			return arena_printf(a, "it is larger than %zu KiB", max / 1024);
		buf_add(&b, chunk, (size_t)got);
	}
	src->text = buf_text(&b);
	src->size = b.n;
	return NULL;
}

static const char *
why_not_regular(mode_t mode)
{
	return S_ISDIR(mode)  ? "it is a directory" :
	       S_ISFIFO(mode) ? "it is a FIFO, not a file" :
				"it is not a regular file";
}

const struct source *
fs_read(struct arena *a, struct diags *ds, const char *path, size_t max, struct span at)
{
	struct source *src = arena_new_of(a, struct source);
	bool from_stdin = !strcmp(path, "-");
	const char *why = NULL;
	struct stat st;
	FS_FD int fd = -1;

	src->path = arena_strdup(a, path);
	/* Calls stat before open, because opening a device can have an effect. */
	if (!from_stdin && stat(path, &st) < 0)
		why = strerror(errno);
	else if (!from_stdin && !S_ISREG(st.st_mode))
		why = why_not_regular(st.st_mode);
	/* O_NONBLOCK: if the file is now a FIFO, open() must not wait for a writer. */
	else if ((fd = from_stdin ? dup(0) :
				    open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) < 0 ||
		 fstat(fd, &st) < 0)
		why = strerror(errno);
	else if (S_ISDIR(st.st_mode) || (!from_stdin && !S_ISREG(st.st_mode)))
		why = why_not_regular(st.st_mode);
	else if (S_ISREG(st.st_mode) && st.st_size > (off_t)max)
		why = arena_printf(a, "it is larger than %zu KiB", max / 1024);
	else
		why = read_all(a, fd, max, src);
	if (!why)
		return src;
	if (at.src)
		diag_at(ds, E_FILE, at, "cannot read `%s`: %s", path, why);
	else
		diag_at(ds, E_FILE, (struct span){ .src = src }, "cannot be read: %s", why);
	return NULL;
}

const struct source *
fs_read_quiet(struct arena *a, const char *path, size_t max)
{
	struct diags unused = DIAGS(unused, a);

	return fs_read(a, &unused, path, max, NOWHERE);
}

bool
fs_exists(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

bool
fs_is_dir(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool
fs_list(struct arena *a, struct diags *ds, const char *dir, const char *suffix, struct names *out)
{
	DIR *d = opendir(dir);
	int err = d ? 0 : errno;

	for (struct dirent *e; d && (errno = 0, e = readdir(d));)
		if (*e->d_name != '.' && ends_with(e->d_name, suffix))
			list_push(a, out, arena_strdup(a, e->d_name));
	err = d ? errno : err;
	if (d)
		closedir(d);
	names_sort(out);
	if (!err || err == ENOENT || err == ENOTDIR)
		return true;
	diag_at(ds, E_FILE, NOWHERE, "cannot read `%s`: %s", dir, strerror(err));
	return false;
}

bool
fs_make_parents(struct arena *a, const char *path)
{
	char *p = arena_strdup(a, path), *last = strrchr(p, '/');
	int err;

	/* Usually, only the last directory is missing: the cells of a matrix share their parent
	 * directory. */
	if (last && last > p) {
		*last = '\0';
		if (mkdir(p, 0777) == 0)
			return true;
		*last = '/';
	}
	for (char *slash = strchr(p + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		/* The reason is that of mkdir, because stat reports only that nothing exists. */
		if (mkdir(p, 0777) < 0 && (err = errno) != EEXIST && !fs_is_dir(p)) {
			errno = err;
			return false;
		}
		*slash = '/';
	}
	return true;
}

bool
fs_holds(const char *path, const char *bytes, size_t n)
{
	FS_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	char chunk[16 * 1024];
	struct stat st;
	ssize_t got;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size != (off_t)n)
		return false;
	for (size_t at = 0; at < n; at += (size_t)got) {
		got = read(fd, chunk, sizeof(chunk));
		if (got <= 0 || (size_t)got > n - at || memcmp(chunk, bytes + at, (size_t)got))
			return false;
	}
	return true;
}

size_t
fs_input_max(const char *path)
{
	return str_matches(fs_name(path),
			   "[.]lock([.]ya?ml)?$|^pylock[.](.*[.])?toml$|conda-lock[.]ya?ml$") ?
		       FS_LOCK_MAX :
		       FS_READ_MAX;
}

bool
fs_write_all(int fd, const char *bytes, size_t n)
{
	while (n) {
		ssize_t put = write(fd, bytes, n);

		if (put < 0 && errno == EAGAIN)
			poll(&(struct pollfd){ .fd = fd, .events = POLLOUT }, 1, 1000);
		else if (put < 0 && errno != EINTR)
			return false;
		if (put > 0) {
			bytes += put;
			n -= (size_t)put;
		}
	}
	return true;
}

/* Writes the bytes of a temporary file; like: the file that it replaces, or NULL. */
static bool
write_temp(struct fs_temp *t, const char *bytes, size_t n, const struct stat *like)
{
	/* Sets the owner before the mode, because chown clears the set-user-id bit. Only root can
	 * change owners. */
	if (like && ((fchown(t->fd, like->st_uid, like->st_gid) < 0 && errno != EPERM) ||
		     fchmod(t->fd, like->st_mode & 07777) < 0))
		return false;
	return fs_write_all(t->fd, bytes, n);
}

static bool
cannot_write(struct diags *ds, const char *path, const char *why)
{
	diag_at(ds, E_WRITE, NOWHERE, "cannot write `%s`: %s", path, why);
	return false;
}

/* Ends the temporary file that was written, or not. */
static bool
appear(struct diags *ds, struct fs_temp *t, bool written, const char *path, bool sync,
       const char *shown)
{
	if (written && fs_temp_keep(t, path, sync))
		return true;
	fs_temp_drop(t);
	return cannot_write(ds, shown, strerror(errno));
}

bool
fs_write(struct diags *ds, const char *path, const char *bytes, size_t n, unsigned mode, bool sync,
	 bool *changed)
{
	bool same = fs_holds(path, bytes, n), made;
	struct fs_temp t = { .fd = -1 };

	if (changed)
		*changed = !same;
	if (same)
		return true;
	/* Makes directories only after a write has failed. */
	made = fs_temp_file(ds->arena, path, mode, &t) ||
	       (errno == ENOENT && fs_make_parents(ds->arena, path) &&
		fs_temp_file(ds->arena, path, mode, &t));
	return appear(ds, &t, made && write_temp(&t, bytes, n, NULL), path, sync, path);
}

int
fs_lock_dir(struct arena *a, const char *dir)
{
	int fd = fs_make_parents(a, fs_join(a, dir, "x")) ?
			 open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) :
			 -1;

	if (fd >= 0)
		flock(fd, LOCK_EX);
	return fd;
}

bool
fs_create(struct diags *ds, const char *path, const char *bytes, size_t n, unsigned mode)
{
	struct fs_temp t = { .fd = -1 };
	/* link(2), unlike rename(2), replaces nothing. */
	bool good = fs_make_parents(ds->arena, path) && fs_temp_file(ds->arena, path, mode, &t) &&
		    write_temp(&t, bytes, n, NULL) && link(t.path, path) == 0;

	fs_temp_drop(&t);
	return good || cannot_write(ds, path, strerror(errno));
}

bool
fs_replace(struct diags *ds, const char *path, const char *old, size_t old_size, const char *bytes,
	   size_t n)
{
	char real[PATH_MAX];
	struct fs_temp t = { .fd = -1 };
	struct stat st;
	bool written;

	if (!realpath(path, real) || stat(real, &st) < 0 || access(real, W_OK) < 0)
		return cannot_write(ds, path, strerror(errno));
	if (!fs_holds(real, old, old_size))
		return cannot_write(ds, path, "another process changed it");
	written = fs_temp_file(ds->arena, real, 0600, &t) && write_temp(&t, bytes, n, &st);
	return appear(ds, &t, written, real, true, path);
}

const char *
fs_clean(struct arena *a, const char *path)
{
	struct names parts = { 0 };

	for (const char *p = path; *p;) {
		size_t n = strcspn(p, "/");
		const char *part = arena_copy(a, p, n);

		p += n + (p[n] == '/');
		if (!n || !strcmp(part, "."))
			continue;
		if (!strcmp(part, "..") && parts.n && strcmp(parts.at[parts.n - 1], "..") != 0)
			parts.n--;
		else
			list_push(a, &parts, part);
	}
	if (*path != '/' && !parts.n)
		return ".";
	return arena_printf(a, "%s%s", *path == '/' ? "/" : "", names_join(a, &parts, "/"));
}

const char *
fs_join(struct arena *a, const char *dir, const char *name)
{
	if (*name == '/' || !*dir || !strcmp(dir, "."))
		return name;
	return arena_printf(a, "%s%s%s", dir, dir[strlen(dir) - 1] == '/' ? "" : "/", name);
}

const char *
fs_real(struct arena *a, const char *path)
{
	char real[PATH_MAX];

	return arena_strdup(a, realpath(path, real) ? real : path);
}

const char *
fs_dir(struct arena *a, const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return ".";
	return slash == path ? "/" : arena_copy(a, path, (size_t)(slash - path));
}

const char *
fs_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

const char *
fs_stem(struct arena *a, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const char *dot = strrchr(name, '.');

	return arena_copy(a, name, dot && dot > name ? (size_t)(dot - name) : strlen(name));
}

/* Removes a file, or a directory of that device with its content; files cannot be removed from a
 * read-only directory. Returns the errno of the first failure. */
static int
remove_at(int parent, const char *name, dev_t device)
{
	struct stat st;
	DIR *dir = NULL;
	int fd, err = 0, inner;

	if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW))
		return errno;
	if (st.st_dev != device)
		return EXDEV;
	if (!S_ISDIR(st.st_mode))
		return unlinkat(parent, name, 0) ? errno : 0;
	if ((st.st_mode & 0700) != 0700)
		fchmodat(parent, name, 0700, 0);
	fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || !(dir = fdopendir(fd)))
		err = errno;
	if (fd >= 0 && !dir)
		close(fd);
	for (const struct dirent *e; dir && (e = readdir(dir));)
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..") &&
		    (inner = remove_at(fd, e->d_name, device)) && !err)
			err = inner;
	if (dir)
		closedir(dir);
	if (unlinkat(parent, name, AT_REMOVEDIR) == 0)
		return 0;
	return err ? err : errno;
}

int
fs_remove(const char *path)
{
	struct stat st;
	int err = errno, failed = 0;

	if (!lstat(path, &st))
		failed = remove_at(AT_FDCWD, path, st.st_dev);
	else if (errno != ENOENT)
		failed = errno;
	errno = err;
	return failed;
}
