#ifndef BUNDLE_H
#define BUNDLE_H

#include "mirror.h"

/* Shared by the two directions of a bundle. */

#define BUNDLE_LIST "bundle.json"

enum {
	BUNDLE_PATH_MAX = 1024,            /* bytes */
	BUNDLE_FILES_MAX = 200 * 1000,     /* in a bundle */
	BUNDLE_LIST_MAX = 64 * 1024 * 1024 /* bytes of bundle.json */
};
#define BUNDLE_BYTES_MAX ((size_t)1 << 40) /* of all files */

/* SB1032.  Returns false. */
bool bundle_wrong(struct diags *ds, const char *file, const char *why);

/* True for a path below mirror/, recipe/ or proof/, without parts that climb. */
bool bundle_path_ok(const char *path);

#endif
