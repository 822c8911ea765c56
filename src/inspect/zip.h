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

/* Reads n bytes at `at` of the file; false: it ends before, or SB0100. */
bool zip_bytes(const struct zip *z, uint64_t at, void *to, size_t n);

/*
 * zip_wide -- the sizes that a zip64 extra field (id 1) holds for those of `values` that are
 * all ones: unpacked, packed, offset, in that order.
 *
 *   in   extra[0..n): the extra fields of a header; a NULL value does not stand there
 *   out  false: fields that overrun, a zip64 field that is there twice or lacks a value, or a
 *        second name of the file (Info-ZIP's Unicode path), which some readers would take
 */
bool zip_wide(const unsigned char *extra, size_t n, uint64_t *values[3]);

/* zip_local -- do the local headers say what the central directory says? */
bool zip_local(struct zip *z);

#endif
