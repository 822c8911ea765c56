#include "file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/sha256.h"

void
store_close(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

/* close reports what a full disk or a network file system held back. */
static bool
finish(int fd, bool good)
{
	good = good && fsync(fd) == 0;
	return (close(fd) == 0) & good;
}

static bool
copy(struct sha256 *sum, int from, int to, size_t *size, bool *reading)
{
	char chunk[64 * 1024];
	ssize_t got;

	while ((got = read(from, chunk, sizeof(chunk))) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			*reading = true;
			return false;
		}
		sha256_add(sum, chunk, (size_t)got);
		*size += (size_t)got;
		if (!fs_write_all(to, chunk, (size_t)got))
			return false;
	}
	return true;
}

bool
store_copy_file(struct arena *a, int dir_fd, const char *from, const char *to, const char **sha256,
		size_t *size, bool *reading)
{
	STORE_FD in = openat(dir_fd, from, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct sha256 *sum = sha256_new(a);
	struct stat st;
	bool good;
	int out;

	*size = 0;
	*reading = in < 0 || fstat(in, &st) < 0;
	if (!*reading && !S_ISREG(st.st_mode)) {
		errno = EISDIR;
		*reading = true;
	}
	if (*reading)
		return false;
	out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (out < 0)
		return false;
	good = copy(sum, in, out, size, reading);
	*sha256 = sha256_end(a, sum);
	return finish(out, good);
}

bool
store_write_file(const char *path, const char *bytes, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

	return fd >= 0 && finish(fd, fs_write_all(fd, bytes, n));
}

bool
store_sync_folder(const char *path)
{
	STORE_FD fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	/* Some network file systems have no such thing for a folder. */
	return fd >= 0 && (fsync(fd) == 0 || errno == EINVAL || errno == EROFS);
}

bool
store_list_dir(struct arena *a, const char *path, struct names *out)
{
	DIR *d = opendir(path);
	struct dirent *e;
	int err;

	if (!d)
		return errno == ENOENT;
	for (errno = 0; (e = readdir(d)); errno = 0)
		if (*e->d_name != '.')
			list_push(a, out, arena_strdup(a, e->d_name));
	err = errno;
	closedir(d);
	errno = err;
	return !err;
}

static void
empty(int fd, const char *name, unsigned deep)
{
	int inner = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = inner < 0 ? NULL : fdopendir(inner);

	if (!d) {
		store_close(&inner);
		return;
	}
	for (struct dirent *e; (e = readdir(d));) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		if (unlinkat(inner, e->d_name, 0) == 0 || !deep)
			continue;
		empty(inner, e->d_name, deep - 1);
		unlinkat(inner, e->d_name, AT_REMOVEDIR);
	}
	closedir(d);
}

void
store_remove(const char *path)
{
	int err = errno;

	empty(AT_FDCWD, path, 2);
	rmdir(path);
	errno = err;
}
