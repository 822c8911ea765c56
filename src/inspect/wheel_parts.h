#ifndef INSPECT_WHEEL_PARTS_H
#define INSPECT_WHEEL_PARTS_H

#include <openssl/evp.h>
#include <stdint.h>

#include "base/map.h"
#include "base/str.h"
#include "inspect/internal.h"

/*
 * The directory of a zip file, read twice: from its end (the central directory, which pip uses) and
 * entry by entry (local headers, which streaming readers use). Both must be equal and cover every
 * byte of the file.
 */

struct zip_entry {
	const char *name;
	unsigned flags, method, made_by, needs;
	uint32_t crc, attributes;
	uint64_t packed, size; /* bytes, packed and unpacked */
	uint64_t at, data;     /* offset of its local header and of its bytes */
	bool folder;
};
struct zip_entries LIST(struct zip_entry);

struct zip {
	struct arena *a;
	struct diags *ds;
	const char *path;
	int fd;                            /* borrowed */
	bool lenient;                      /* different tags are only a finding */
	const struct wheel_source *source; /* replaces the file; or NULL */
	uint64_t n;
	uint64_t directory;         /* offset of the central directory */
	struct zip_entries entries; /* in the order of the file */
};

/*
 * zip_read -- reads the directory of z->fd.
 *
 *   errors  SB0812, false
 *   source  APPNOTE.TXT 6.3 of PKWARE; CVE-2025-54368
 */
bool zip_read(struct zip *z);

/* Reads only the end of the file: not the local headers; `data` of entries is 0. */
bool zip_directory(struct zip *z);
/* Reads the local header of an entry of zip_directory(); false after SB0812. */
bool zip_locate(struct zip *z, struct zip_entry *e);

/* Reports "name: error[SB0812]: text" and returns false. */
#define zip_refuse(z, ...) inspect_refuse((z)->ds, E_WHEEL, (z)->path, __VA_ARGS__)

/* Reads n bytes at `at` of the file; false: the file is shorter, or after SB0100. */
bool zip_bytes(const struct zip *z, uint64_t at, void *to, size_t n);

/*
 * zip_unpack -- unpacks an entry, and adds its bytes to `sum` and `to`, which is prepared for its
 * size (each may be NULL).
 *
 *   errors  SB0812, false: broken, or its size or checksum differs from the directory; those of `to`
 */
bool zip_unpack(const struct zip *z, const struct zip_entry *e, EVP_MD_CTX *sum, struct spool *to);

/* Writes a little-endian number. */
static inline void
put_le(unsigned char *p, uint64_t value, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++, value >>= 8)
		p[i] = value & 0xff;
}

/* Opens z->path; the caller closes z->fd.  False after SB0812 or SB0100. */
bool wheel_open(struct zip *z);
/* Returns the only directory NAME.dist-info at the top; NULL after SB0812. */
const char *wheel_folder(const struct zip *z);
/* Returns a whole file; NULL after SB0812: missing, or larger than max bytes. */
const char *wheel_text(struct zip *z, const char *folder, const char *file, size_t max);
enum { RECORD_MAX = 16 * 1024 * 1024 }; /* bytes; the other texts: METADATA_MAX */
/* Returns a digest as URL-safe base64 without padding, as in a RECORD. */
const char *wheel_digest(struct arena *a, EVP_MD_CTX *d);

/* The files of .dist-info, as texts: RECORD, WHEEL and METADATA. */

struct record_row {
	const char *path;
	const EVP_MD *kind; /* kind of its digest; NULL: none */
	struct str digest;  /* base64, as written */
	bool has_size;
	uint64_t size;
	bool seen; /* the wheel has the file */
};
struct record_rows LIST(struct record_row *);

struct record {
	struct record_rows rows;
	struct map by_path;
};

/*
 * record_parse -- parses RECORD: rows of path, digest and size.
 *
 *   errors  SB0812, false: not CSV, a digest weaker than SHA-256, a path twice with different
 *           digests
 *   memory  lives in z->a; borrows text
 *   source  PEP 376, PEP 427
 */
bool record_parse(const struct zip *z, const char *text, struct record *out);

/*
 * wheel_metadata -- compares the file name of a wheel with METADATA and WHEEL.
 *
 *   out     *w: name, version, build, tags, requires
 *   errors  SB0812, false
 *   source  core metadata; PEP 427; PEP 425 (tags), PEP 440, PEP 503 (comparison)
 */
bool wheel_metadata(const struct zip *z, const char *dist_info, const char *metadata,
		    const char *wheel_text, struct wheel *w);

/* Returns true for the name of a shared object: "x.so", "libx.so.1". */
bool wheel_object_name(const char *path);

#endif
