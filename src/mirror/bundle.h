#ifndef BUNDLE_H
#define BUNDLE_H

#include "mirror.h"

/* Shared by writing and reading a bundle. */

#define BUNDLE_LIST "bundle.json"

enum {
	BUNDLE_PATH_MAX = 1024,            /* maximum bytes of a path */
	BUNDLE_FILES_MAX = 200 * 1000,     /* maximum files in a bundle */
	BUNDLE_LIST_MAX = 64 * 1024 * 1024 /* maximum bytes of bundle.json */
};
#define BUNDLE_BYTES_MAX ((size_t)1 << 40) /* maximum bytes of all files */

/* Reports SB1032 and returns false. */
bool bundle_wrong(struct diags *ds, const char *file, const char *why);

/* Returns true for a path below mirror/, recipe/ or proof/ without "..". */
bool bundle_path_ok(const char *path);

#endif
