#ifndef INSPECT_ARCHIVE_H
#define INSPECT_ARCHIVE_H

#include <archive.h>

#include "inspect/zip.h"

/*
 * The files of a zip, unpacked one after the other by libarchive, each held to what the
 * directory says of it (zip.h): libarchive checks the checksum, we the size.
 */

static inline void
archive_close(struct archive **ar)
{
	if (*ar)
		archive_read_free(*ar);
}

#define CLEANUP_ARCHIVE __attribute__((cleanup(archive_close)))

struct unpack {
	const struct zip *z;
	struct archive *ar; /* the caller's, CLEANUP_ARCHIVE */
	size_t next;        /* of z->entries */
	uint64_t got;       /* bytes of the present one */
	uint64_t at;        /* where libarchive reads on */
	unsigned char *block;
};

/* Begin; z->fd must stay open.  SB0812, false. */
bool unpack_open(struct unpack *u);

/* The next entry, or NULL with *good telling whether that is the end. */
const struct zip_entry *unpack_next(struct unpack *u, bool *good);

/* The next bytes of it, borrowed until the next call; *n is 0 at its end.  SB0812, false. */
bool unpack_bytes(struct unpack *u, const struct zip_entry *e, const void **p, size_t *n);

/* All of it, in `a`, with a NUL behind; NULL: SB0812, also if there is more than max. */
const char *unpack_all(struct unpack *u, struct arena *a, const struct zip_entry *e, size_t max);

#endif
