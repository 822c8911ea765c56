#ifndef INSPECT_TREE_H
#define INSPECT_TREE_H

#include "base/buf.h"
#include "base/diag.h"
#include "base/json.h"
#include "base/list.h"
#include "base/map.h"

struct elf;
struct wheel_objects;

/* Reads many files: an image, layer by layer, or a directory such as a virtual environment. */

struct tree_layer {
	const char *name; /* digest or file name; "" for a directory */
	uint64_t size;    /* bytes of its files */
	size_t files;
	uint64_t hidden; /* bytes of files that later layers replace or delete */
};
struct tree_layers LIST(struct tree_layer);

struct tree_package {                       /* a Python distribution */
	const char *name, *version, *where; /* where: the site-packages directory */
	uint64_t size; /* bytes of its files according to RECORD; 0: no RECORD */
};
struct tree_packages LIST(struct tree_package);

struct tree_share { /* files that a runtime image does not need */
	const char *what;
	uint64_t size;
	size_t files;
};
struct tree_shares LIST(struct tree_share);

struct tree {
	const char *system;               /* "Debian GNU/Linux 12 (bookworm)"; or NULL */
	struct names pythons;             /* "3.11 in opt/venv" */
	const char *torch, *torch_cuda;   /* "2.2.2+cu121", "12.1"; or NULL */
	struct names toolkits;            /* "usr/local/cuda-12.1" */
	struct tree_packages packages;    /* by name */
	struct wheel_objects *extensions; /* objects outside of torch that need its libraries */
	struct tree_layers layers;
	struct tree_shares shares; /* largest first */
	uint64_t size;
	size_t files;
};

/*
 * Returns true for an object to read in addition to extensions; called for each file with the name
 * of an object.
 */
struct tree_want {
	bool (*object)(void *ctx, const char *path);
	void (*take)(void *ctx, const char *path,
		     const struct elf *e); /* e is in the tree's arena */
	void *ctx;
};

/*
 * tree_read -- reads a directory, an OCI layout in a directory, or a tar file: an OCI or docker
 * archive (`docker save`), otherwise a root file system (`docker export`).
 *
 *   in      want: NULL: only extensions
 *   errors  SB0814, NULL: not readable, no tar file, or more than TREE_FILES_MAX files
 *   memory  lives in a; objects are read one at a time
 *   source  OCI image-spec: image-layout.md, layer.md (whiteouts); docker's image specification
 *           v1.2
 */
enum { TREE_FILES_MAX = 4000000 };
const struct tree *tree_read(struct arena *a, struct diags *ds, const char *path,
			     const struct tree_want *want);

void tree_text(struct arena *a, const char *path, const struct tree *t, struct buf *out);
void tree_json(struct arena *a, const struct tree *t, struct json *j);

#endif
