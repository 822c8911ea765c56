#ifndef INSPECT_ZIP_H
#define INSPECT_ZIP_H

#include <stdint.h>

#include "inspect/internal.h"

/*
 * The directory of a zip file, read twice: from its end (the central directory, what pip and
 * libarchive go by) and entry by entry (local headers, what a reader that streams goes by).
 * Only a file in which both say the same is taken, without a byte that neither speaks of.
 */

struct zip_entry {
	const char *name;
	unsigned flags, method, made_by, needs;
	uint32_t crc, attributes;
	uint64_t packed, size; /* bytes, in the file and unpacked */
	uint64_t at, data;     /* where its local header and its bytes begin */
	bool folder;
};
struct zip_entries LIST(struct zip_entry);

struct zip {
	struct arena *a;
	struct diags *ds;
	const char *path;
	int fd; /* borrowed */
	uint64_t n;
	uint64_t directory;         /* where the central directory begins */
	struct zip_entries entries; /* as they lie in the file */
};

/*
 * zip_read -- the directory of z->fd.
 *
 *   errors  SB0812, false
 *   source  APPNOTE.TXT 6.3 of PKWARE; CVE-2025-54368
 */
bool zip_read(struct zip *z);

/* "name: error[SB0812]: text"; false. */
#define zip_refuse(z, ...) inspect_refuse((z)->ds, E_WHEEL, (z)->path, __VA_ARGS__)

/* n bytes at `at` of the file. */
bool zip_bytes(const struct zip *z, uint64_t at, void *to, size_t n);

static inline unsigned
le16(const unsigned char *p)
{
	return p[0] | (unsigned)p[1] << 8;
}

static inline uint32_t
le32(const unsigned char *p)
{
	return le16(p) | (uint32_t)le16(p + 2) << 16;
}

static inline uint64_t
le64(const unsigned char *p)
{
	return le32(p) | (uint64_t)le32(p + 4) << 32;
}

/*
 * zip_wide -- the sizes that a zip64 extra field (id 1) holds for those of `values` that are
 * all ones: unpacked, packed, offset, in that order.
 *
 *   in   extra[0..n): the extra fields of a header; wide[i]: may values[i] stand there?
 *   out  false: fields that overrun, one twice, or a value that is not there
 */
bool zip_wide(const unsigned char *extra, size_t n, uint64_t *values[3]);

/* zip_local -- do the local headers say what the central directory says? */
bool zip_local(struct zip *z);

#endif
