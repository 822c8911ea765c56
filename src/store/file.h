#ifndef STORE_FILE_H
#define STORE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/list.h"

/* Files and folders of the folder store.  What fails leaves errno. */

void store_close(const int *fd);
#define STORE_FD __attribute__((cleanup(store_close))) int

/*
 * A regular file's bytes into a new one, durable when it returns.
 *
 *   in      from: a path below the folder dir_fd (AT_FDCWD: any)
 *   out     *sha256, *size of what was copied; *reading: it was `from` that failed
 */
bool store_copy_file(struct arena *a, int dir_fd, const char *from, const char *to,
		     const char **sha256, size_t *size, bool *reading);
bool store_write_file(const char *path, const char *bytes, size_t n);
bool store_sync_folder(const char *path);

/* The names in a directory, hidden ones left out; none if it does not exist.  False: errno. */
bool store_list_dir(struct arena *a, const char *path, struct names *out);

/* A folder and what is in it; two levels deep, as deep as a store is. */
void store_remove(const char *path); /* errno stays */

#endif
