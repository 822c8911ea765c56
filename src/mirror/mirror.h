#ifndef MIRROR_H
#define MIRROR_H

#include "lock/lock.h"
#include "plan/plan.h"

/*
 * A directory with all files and repositories in locks, for builds without a network:
 *
 *     DIR/files/NAME.whl, NAME.tar.gz     wheels and sdists
 *     DIR/simple/                         their index: PEP 503 and 691
 *     DIR/archives/SHA256/NAME            files with a URL in a recipe, standalone Pythons
 *     DIR/git/NAME-HASH.git               bare repositories
 *     DIR/images/                         base images: an OCI layout
 *     DIR/debs/HASH/DIGEST/OS/            system packages, with their index: a repository of apt
 *     DIR/debs/HASH/DIGEST/SHA256SUMS     their digests; the lock has the digest of this file
 *
 * Each path follows from the lock.  A file gets its name after its digest was checked.
 */

struct mirror_how {
	const char *dir;
	struct names secrets; /* netrc texts: credentials of the indexes */
	double timeout_s;     /* time limit of a file or repository; 0: by its size */
	bool no_images;       /* omit files that only images need: base images, the Python build */
	bool quiet;           /* print no line for each download */
};

struct mirror_done {
	size_t fetched, had; /* number of files, repositories and images */
	double bytes;        /* bytes of fetched files */
};

/*
 * mirror_fill -- downloads the files and repositories of a lock into the mirror; may be called for
 * several locks. The caller holds fs_lock_dir of the directory.
 *
 *   in      l: lock of the stack s, which has the need for submodules of each extension
 *   out     *done: counts are added
 *   errors  SB1030 (one error for each failed file or repository; it tries all others), SB0406,
 *           SB055x (registries), false
 *   source  PEP 503, 691; image-spec 1.1 (image-layout.md)
 */
bool mirror_fill(struct arena *a, struct diags *ds, const struct lock *l, const struct stack *s,
		 const struct mirror_how *how, struct mirror_done *done);

/* System packages of the images of a plan. Their hash is that of the images and the commands. */
enum { DEBS_MAX = 4 };
struct debs {
	const char *path; /* path relative to the mirror: "debs/0123456789abcdef" */
	const char *sums; /* digest of their SHA256SUMS, 64 hex digits; NULL: not in the lock */
	const char *images[DEBS_MAX], *commands[DEBS_MAX];
	size_t n; /* 0: the images install none */
};

/*
 * debs_of -- returns the system packages of a plan's images.
 *
 *   in      p: as the lock l pins it
 *   errors  SB1031: packages of another archive than the distribution's, or of dnf; false
 *   memory  lives in a
 */
bool debs_of(struct arena *a, struct diags *ds, const struct plan *p, const struct lock *l,
	     struct debs *out);
/* Returns true if a mirror has them with the digest d->sums. */
bool debs_ready(struct arena *a, const char *dir, const struct debs *d);
/* Returns the shell script that fills the mirror in a container of d->images[i], in the order of i. The
 * last line of the output of the last one is the digest of SHA256SUMS. */
const char *debs_script(struct arena *a, const struct debs *d, size_t i);

/* Writes the index of all wheels and sdists of a mirror.  errors SB0100, SB0406, SB1030, false */
bool mirror_index(struct arena *a, struct diags *ds, const char *dir);

/* What builds from a mirror: a script on this host, or an engine that reads a Dockerfile. */
enum mirror_for {
	MIRROR_SCRIPT,
	MIRROR_LAYOUTS, /* FROM can name an OCI layout */
	MIRROR_LOADS,   /* FROM needs a local image, from an archive of `docker save` */
};

/* A checked file or directory of a mirror, or a new file. */
struct mirror_part {
	const char *path; /* path below the place where commands see it */
	const char *from; /* absolute path in the mirror; NULL: a new file */
	const char *text; /* the text of a new file */
};
struct mirror_parts LIST(struct mirror_part);

/* The settings with which a build uses a mirror. */
struct mirror_use {
	struct names env;      /* "NAME=value" for pip and git, of an environment */
	struct names from, to; /* URLs and images in commands, and the texts that replace them */
	struct mirror_parts parts; /* everything that commands may read; they see nothing else */
	struct names loads;        /* directories whose content is an archive of an image */
};
#define MIRROR_PLACE "/mnt/stackbuild"
#define MIRROR_CONTEXT ".stackbuild/mirror" /* the parts in the context of a build */

/*
 * mirror_use -- checks that a mirror has every file, repository and base image that a build needs.
 *
 *   in      p: as the lock pins it; place: for MIRROR_SCRIPT, the absolute path of the directory
 *           that will have the parts; images have them at MIRROR_PLACE
 *   out     *out
 *   errors  SB1031 with each part that is missing or has another digest, SB0406, false
 *   memory  lives in a
 */
bool mirror_use(struct arena *a, struct diags *ds, const struct lock *l, const struct plan *p,
		const char *dir, enum mirror_for user, const char *place, struct mirror_use *out);

/* Returns a text of *n bytes with m's file:// URLs instead of the others, and its new length. */
const char *mirror_text(struct arena *a, const struct mirror_use *m, const char *text, size_t *n);

/* A file of a bundle. */
struct bundle_file {
	const char *path; /* path in the bundle: "mirror/files/x.whl" */
	const char *from; /* path on disk */
};
struct bundle_files LIST(struct bundle_file);

/* Adds the files below a directory as PREFIX/...; omits hidden files. errors SB1032,
 * false */
bool bundle_add(struct arena *a, struct diags *ds, struct bundle_files *all, const char *dir,
		const char *prefix);

/*
 * bundle_write -- packs files into one archive (tar, zstd), which has equal bytes for equal files.
 *
 *   in      paths below "mirror/", "recipe/" or "proof/"
 *   out     `to` appears by rename
 *   errors  SB1032, false
 */
bool bundle_write(struct arena *a, struct diags *ds, struct bundle_files *files, const char *to);

/*
 * bundle_read -- unpacks an archive into a directory, and compares every file with the list in it.
 *
 *   in      dir: does not exist, or is empty
 *   out     dir appears by rename after all checks; *n: number of files
 *   errors  SB1032 unless the archive has exactly the regular files of the list, in its order, with
 *           their sizes and digests; false, and dir stays unchanged
 */
bool bundle_read(struct arena *a, struct diags *ds, const char *file, const char *dir, size_t *n);

#endif
