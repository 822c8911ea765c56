/*
 * Replaces a file while a program reads it, with LD_PRELOAD: before the SWAP_N-th time that the program opens a file named
 * SWAP_NAME for reading, the file SWAP_WITH takes its place.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int
open_at(int dir, const char *path, int flags, mode_t mode)
{
	static int (*real)(int, const char *, int, ...);
	static int opened;
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;

	if ((flags & O_ACCMODE) == O_RDONLY && !strcmp(name, getenv("SWAP_NAME")) &&
	    ++opened == atoi(getenv("SWAP_N")))
		renameat(AT_FDCWD, getenv("SWAP_WITH"), dir, path);
	if (!real)
		real = (int (*)(int, const char *, int, ...))dlsym(RTLD_NEXT, "openat");
	return real(dir, path, flags, mode);
}

static mode_t
mode_of(int flags, va_list ap)
{
	return flags & O_CREAT ? va_arg(ap, mode_t) : 0;
}

int
openat(int dir, const char *path, int flags, ...)
{
	va_list ap;
	int fd;

	va_start(ap, flags);
	fd = open_at(dir, path, flags, mode_of(flags, ap));
	va_end(ap);
	return fd;
}

int
open(const char *path, int flags, ...)
{
	va_list ap;
	int fd;

	va_start(ap, flags);
	fd = open_at(AT_FDCWD, path, flags, mode_of(flags, ap));
	va_end(ap);
	return fd;
}
