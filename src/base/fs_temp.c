/*
 * Temporary files and directories, beside their final place: ".stackbuild-PID-N.tmp".
 *
 * A process keeps the lock of its file (flock) until it has renamed or removed the file. The kernel ends
 * the lock with the process, so a file whose lock is free belongs to a process that was killed. A PID
 * alone says nothing: in a container, the next process has the same one.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fs.h"
#include "str.h"

#define PREFIX ".stackbuild-"
#define SUFFIX ".tmp"
enum { TRIES = 10000 };

/* Returns whether a name belongs to an open file; false: errno is ENOENT if it belongs to none or another. */
static bool
is_same(int fd, int dir, const char *name)
{
	struct stat held, named;

	if (fstat(fd, &held) < 0 || fstatat(dir, name, &named, AT_SYMLINK_NOFOLLOW) < 0)
		return false;
	errno = ENOENT;
	return held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

void
fs_temp_clean(struct arena *a, const char *path)
{
	int err = errno;
	DIR *dir = opendir(path);

	for (const struct dirent *e; dir && (e = readdir(dir));) {
		FS_FD int fd = -1;

		if (!starts_with(e->d_name, PREFIX) || !ends_with(e->d_name, SUFFIX))
			continue;
		fd = openat(dirfd(dir), e->d_name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
		/* The name may belong to another file by now, and the file be in its final place. */
		if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
		    is_same(fd, dirfd(dir), e->d_name))
			fs_remove(fs_join(a, path, e->d_name));
	}
	if (dir)
		closedir(dir);
	errno = err;
}

/* Cleans a directory, unless it was the last one that this process cleaned. */
static void
clean_once(struct arena *a, const char *dir)
{
	static struct stat last;
	struct stat st;

	if (stat(dir, &st) < 0 || (st.st_dev == last.st_dev && st.st_ino == last.st_ino))
		return;
	last = st;
	fs_temp_clean(a, dir);
}

/* Creates the file or directory; returns its descriptor, or -1. */
static int
create(const char *path, bool directory, unsigned mode)
{
	int fd, err;

	if (!directory)
		return open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	if (mkdir(path, mode) < 0)
		return -1;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	err = errno;
	if (fd < 0)
		rmdir(path);
	errno = err;
	return fd;
}

static bool
make(struct arena *a, const char *path, bool directory, unsigned mode, struct fs_temp *t)
{
	static unsigned count;
	const char *dir = fs_dir(a, path);

	clean_once(a, dir);
	for (unsigned i = 0; i < TRIES; i++) {
		t->path = fs_join(a, dir,
				  arena_printf(a, PREFIX "%ld-%u" SUFFIX, (long)getpid(), count++));
		t->fd = create(t->path, directory, mode);
		if (t->fd < 0 && errno != EEXIST)
			return false;
		if (t->fd < 0)
			continue;
		/* Another process may have taken the file for a stale one before it was locked. A file system
		 * without locks keeps stale files. */
		flock(t->fd, LOCK_EX);
		if (is_same(t->fd, AT_FDCWD, t->path))
			return true;
		if (errno != ENOENT) {
			fs_temp_drop(t);
			return false;
		}
		close(t->fd);
		t->fd = -1;
	}
	errno = EEXIST;
	return false;
}

bool
fs_temp_file(struct arena *a, const char *path, unsigned mode, struct fs_temp *t)
{
	return make(a, path, false, mode, t);
}

bool
fs_temp_dir(struct arena *a, const char *path, unsigned mode, struct fs_temp *t)
{
	return make(a, path, true, mode, t);
}

bool
fs_temp_keep(struct fs_temp *t, const char *path, bool sync)
{
	/* close() reports errors that a full disk or a network file system delayed. The first descriptor keeps
	 * the lock until the file has its name. */
	int copy = sync && fsync(t->fd) < 0 ? -1 : fcntl(t->fd, F_DUPFD_CLOEXEC, 0);
	bool good = copy >= 0 && close(copy) == 0 && rename(t->path, path) == 0;

	if (good)
		close(t->fd);
	else
		fs_temp_drop(t);
	t->fd = -1;
	return good;
}

void
fs_temp_drop(struct fs_temp *t)
{
	int err = errno;

	if (t->fd >= 0) {
		if (unlink(t->path) < 0) /* a directory */
			fs_remove(t->path);
		close(t->fd);
	}
	t->fd = -1;
	errno = err;
}
