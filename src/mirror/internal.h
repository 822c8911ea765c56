#ifndef MIRROR_INTERNAL_H
#define MIRROR_INTERNAL_H

#include "fetch/fetch.h"
#include "mirror.h"

/* A file of a lock. */
struct item {
	const char *what; /* "numpy 2.4.6" */
	const char *url, *sha256;
	size_t size;      /* bytes; 0: unknown */
	const char *path; /* path relative to the mirror */
	bool by_url;      /* commands contain its URL */
	bool image;       /* only image builds need it */
};
struct items LIST(struct item);

/* A commit of a repository. */
struct repository {
	const char *url, *ref, *commit; /* ref: a tag, or NULL */
	const char *path; /* path relative to the mirror: "git/mamba-0123456789ab.git" */
	bool submodules;
};

/* Returns the pinned files of a lock.  errors SB1030 for a URL without a file name */
struct items items_of(struct arena *a, struct diags *ds, const struct lock *l);

/* Sets *out to the repository of a source; false: it has none, or it is not pinned. */
bool repository_of(struct arena *a, const struct lock_source *source, const struct stack *s,
		   struct repository *out);
/* Returns the repository of a submodule. */
struct repository repository_of_module(struct arena *a, const struct git_module *m);
enum { MIRROR_DEPTH_MAX = 8 }; /* maximum depth of submodules */

/* Returns true if a file has this digest and size (0: any). */
bool file_is(struct arena *a, const char *path, const char *sha256, size_t size);

/* Pulls an image into the layout DIR/images.  errors SB0406, SB055x, SB1030, false */
bool image_fill(struct arena *a, struct diags *ds, const struct lock_image *image,
		const struct mirror_how *how, struct mirror_done *done);

/*
 * Writes an OCI layout with one image of a lock, and returns its directory: below /tmp, and the same for
 * the same image.  The blobs are links to those of the mirror.  With manifest.json, the directory is also
 * the content of an archive of `docker save` with the name image_loaded().  NULL: *why has the reason, or
 * errors SB0406
 */
const char *image_layout(struct arena *a, struct diags *ds, const struct lock_image *image,
			 const char *dir, const char **why);

/* Returns the name that an image of a lock gets when docker loads it. */
const char *image_loaded(struct arena *a, const struct lock_image *image);

/* Compares the system packages of a mirror with the digest in the lock; adds a fault for each difference, and
 * the path of each file to *files. */
void debs_check(struct arena *a, const char *dir, const struct debs *d, struct names *files,
		struct names *faults);
/* Makes apt use them. */
void debs_use(struct arena *a, const struct debs *d, struct mirror_use *u);
/* Returns apt's settings, or its list of sources, for the packages in the directory `os` of a mirror. */
const char *debs_settings(struct arena *a, const char *os);
const char *debs_sources(struct arena *a, const char *os);

/* Prints that a download starts. */
void note(struct arena *a, const struct mirror_how *how, const char *what, double bytes);

#endif
