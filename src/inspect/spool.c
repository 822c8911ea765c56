/* Holds the bytes of a member while they are read: a torch wheel has an object of 0.9 GB. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/str.h"
#include "inspect/internal.h"

enum { TMPFS = 0x01021994 }; /* of linux/magic.h */

/* Returns true if a directory has room for a file of that size. */
static bool
has_room(const char *dir, uint64_t size)
{
	struct statvfs st;

	return !statvfs(dir, &st) && st.f_bavail >= size / st.f_frsize + 1;
}

static bool
is_memory(const char *dir)
{
	struct statfs st;

	return !statfs(dir, &st) && st.f_type == TMPFS;
}

/* Opens a file without a name in a directory; -1: errno has the reason. */
static int
open_nameless(struct arena *a, const char *dir)
{
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	char *path;

	/* Some file systems do not have such files: NFS, and overlayfs of older kernels. */
	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
		return fd;
	path = arena_printf(a, "%s/stackbuild-XXXXXX", dir);
	if ((fd = mkostemp(path, O_CLOEXEC)) >= 0)
		unlink(path);
	return fd;
}

/*
 * Opens a file in $TMPDIR, /var/tmp or /tmp. A directory on a disk comes first, because a file in a
 * tmpfs needs as much memory as the bytes themselves.
 */
static bool
open_file(struct spool *s)
{
	const char *tmp = getenv("TMPDIR");
	const char *const dirs[] = { tmp && *tmp ? tmp : "/var/tmp", "/var/tmp", "/tmp" };

	s->dir = arena_strdup(s->a, dirs[0]);
	errno = ENOSPC;
	for (unsigned memory = 0; memory < 2 && s->fd < 0; memory++)
		for (size_t i = 0; i < COUNT(dirs) && s->fd < 0; i++)
			if (is_memory(dirs[i]) == memory && has_room(dirs[i], s->n)) {
				s->dir = arena_strdup(s->a, dirs[i]);
				s->fd = open_nameless(s->a, s->dir);
			}
	return s->fd >= 0;
}

static bool
no_room(struct spool *s)
{
	struct source *src = arena_new_of(s->ds->arena, struct source);
	const char *why = strerror(errno);

	src->path = arena_strdup(s->ds->arena, s->name);
	diag_help(diag_at(s->ds, E_FILE, (struct span){ .src = src },
			  "its %llu MiB cannot be unpacked to a temporary file in `%s`: %s",
			  (unsigned long long)(s->n >> 20), s->dir, why),
		  "set TMPDIR to a directory on a disk with more free space");
	return false;
}

bool
spool_begin(struct spool *s, struct arena *a, struct diags *ds, const char *name, uint64_t n)
{
	*s = (struct spool){ .a = a, .ds = ds, .name = name, .n = n, .fd = -1 };
	if (n <= SPOOL_MEMORY) {
		s->bytes = arena_alloc(a, n + 1, 16);
		return true;
	}
	return open_file(s) || no_room(s);
}

bool
spool_add(struct spool *s, const void *bytes, size_t n)
{
	if (s->fd < 0 && n) /* an empty block may have no address */
		memcpy(s->bytes + s->at, bytes, n);
	s->at += n;
	return s->fd < 0 || fs_write_all(s->fd, bytes, n) || no_room(s);
}

bool
spool_end(struct spool *s)
{
	void *p;

	if (s->fd < 0)
		return true;
	p = mmap(NULL, s->n, PROT_READ, MAP_PRIVATE, s->fd, 0);
	if (p == MAP_FAILED)
		return no_room(s);
	s->mapped = s->bytes = p;
	return true;
}

void
spool_free(struct spool *s)
{
	if (s->mapped)
		munmap(s->mapped, s->n);
	if (s->a)
		fs_close(&s->fd);
}
