/*
 * Makes one call fail, with LD_PRELOAD: FAULT_CALL is its name, FAULT_N its number (from 1; 0: none), FAULT_ERRNO
 * the error.  With FAULT_STICKY, every later one fails, too.  At the end, the number of calls is written to
 * the file FAULT_COUNT.
 * It acts only in the program FAULT_PROGRAM, because its children are real engines and compilers with their own faults.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static long calls, wanted, sticky, code;
static const char *name, *program;
static int ready, inside;

static void
setup(void)
{
	const char *n = getenv("FAULT_N"), *e = getenv("FAULT_ERRNO");

	ready = 1;
	name = getenv("FAULT_CALL");
	program = getenv("FAULT_PROGRAM");
	if (program && strcmp(program, program_invocation_short_name) != 0)
		name = NULL;
	wanted = n ? strtol(n, NULL, 10) : 0;
	code = e ? strtol(e, NULL, 10) : EIO;
	sticky = getenv("FAULT_STICKY") != NULL;
}

static int
fails(const char *call)
{
	if (!ready)
		setup();
	if (inside || !name || strcmp(name, call))
		return 0;
	calls++;
	if (!wanted || calls < wanted || (calls > wanted && !sticky))
		return 0;
	errno = (int)code;
	return 1;
}

__attribute__((destructor)) static void
finish(void)
{
	const char *path = getenv("FAULT_COUNT");
	FILE *f;

	inside = 1;
	if (name && path && (f = fopen(path, "w"))) {
		fprintf(f, "%ld\n", calls);
		fclose(f);
	}
}

#define NEXT(type, symbol) \
	static type *next; \
	if (!next) { \
		inside++; \
		next = (type *)dlsym(RTLD_NEXT, symbol); \
		inside--; \
	}

typedef int open_type(const char *, int, ...);
typedef int openat_type(int, const char *, int, ...);

#define OPEN(symbol) \
	int symbol(const char *path, int flags, ...) \
	{ \
		mode_t mode = 0; \
		va_list ap; \
		NEXT(open_type, #symbol) \
		va_start(ap, flags); \
		if (flags & (O_CREAT | O_TMPFILE)) \
			mode = va_arg(ap, mode_t); \
		va_end(ap); \
		return fails("open") ? -1 : next(path, flags, mode); \
	}
OPEN(open)
OPEN(open64)

#define OPENAT(symbol) \
	int symbol(int dir, const char *path, int flags, ...) \
	{ \
		mode_t mode = 0; \
		va_list ap; \
		NEXT(openat_type, #symbol) \
		va_start(ap, flags); \
		if (flags & (O_CREAT | O_TMPFILE)) \
			mode = va_arg(ap, mode_t); \
		va_end(ap); \
		return fails("open") ? -1 : next(dir, path, flags, mode); \
	}
OPENAT(openat)
OPENAT(openat64)

ssize_t
read(int fd, void *to, size_t n)
{
	typedef ssize_t type(int, void *, size_t);
	NEXT(type, "read")
	return fails("read") ? -1 : next(fd, to, n);
}

#define PREAD(symbol, offset) \
	ssize_t symbol(int fd, void *to, size_t n, offset at) \
	{ \
		typedef ssize_t type(int, void *, size_t, offset); \
		NEXT(type, #symbol) \
		return fails("read") ? -1 : next(fd, to, n, at); \
	}
PREAD(pread, off_t)
PREAD(pread64, off64_t)

ssize_t
write(int fd, const void *from, size_t n)
{
	typedef ssize_t type(int, const void *, size_t);
	NEXT(type, "write")
	return fails("write") ? -1 : next(fd, from, n);
}

int
fsync(int fd)
{
	typedef int type(int);
	NEXT(type, "fsync")
	return fails("fsync") ? -1 : next(fd);
}

/* The descriptor is closed in any case, as on Linux. */
int
close(int fd)
{
	typedef int type(int);
	int bad;
	NEXT(type, "close")
	bad = fails("close");
	if (bad) {
		next(fd);
		errno = (int)code;
		return -1;
	}
	return next(fd);
}

int
rename(const char *from, const char *to)
{
	typedef int type(const char *, const char *);
	NEXT(type, "rename")
	return fails("rename") ? -1 : next(from, to);
}

int
link(const char *from, const char *to)
{
	typedef int type(const char *, const char *);
	NEXT(type, "link")
	return fails("rename") ? -1 : next(from, to);
}

int
mkdir(const char *path, mode_t mode)
{
	typedef int type(const char *, mode_t);
	NEXT(type, "mkdir")
	return fails("mkdir") ? -1 : next(path, mode);
}

int
fstat(int fd, struct stat *st)
{
	typedef int type(int, struct stat *);
	NEXT(type, "fstat")
	return fails("stat") ? -1 : next(fd, st);
}

int
stat(const char *path, struct stat *st)
{
	typedef int type(const char *, struct stat *);
	NEXT(type, "stat")
	return fails("stat") ? -1 : next(path, st);
}

DIR *
opendir(const char *path)
{
	typedef DIR *type(const char *);
	NEXT(type, "opendir")
	return fails("opendir") ? NULL : next(path);
}

struct dirent *
readdir(DIR *d)
{
	typedef struct dirent *type(DIR *);
	NEXT(type, "readdir")
	return fails("readdir") ? NULL : next(d);
}

int
scandir(const char *path, struct dirent ***list, int (*filter)(const struct dirent *),
	int (*compare)(const struct dirent **, const struct dirent **))
{
	typedef int type(const char *, struct dirent ***, int (*)(const struct dirent *),
			 int (*)(const struct dirent **, const struct dirent **));
	NEXT(type, "scandir")
	return fails("opendir") ? -1 : next(path, list, filter, compare);
}

/* malloc, calloc and realloc of src/base/arena.c call these, for the program and for its libraries. */
void *
__libc_malloc(size_t n)
{
	typedef void *type(size_t);
	NEXT(type, "__libc_malloc")
	return fails("malloc") ? NULL : next(n);
}

void *
__libc_calloc(size_t n, size_t size)
{
	typedef void *type(size_t, size_t);
	NEXT(type, "__libc_calloc")
	return fails("malloc") ? NULL : next(n, size);
}

void *
__libc_realloc(void *old, size_t n)
{
	typedef void *type(void *, size_t);
	NEXT(type, "__libc_realloc")
	return fails("malloc") ? NULL : next(old, n);
}
