#ifndef INSPECT_WHEEL_PARTS_H
#define INSPECT_WHEEL_PARTS_H

#include "base/map.h"
#include "inspect/digest.h"
#include "inspect/zip.h"

/* The files of .dist-info, as texts: RECORD, WHEEL and METADATA. */

struct record_row {
	const char *path;
	const EVP_MD *kind; /* of its digest; NULL: none is given */
	struct str digest;  /* base64, as written */
	bool has_size;
	uint64_t size;
	bool seen; /* a file of the wheel */
};
struct record_rows LIST(struct record_row *);

struct record {
	struct record_rows rows;
	struct map by_path;
};

/*
 * record_parse -- RECORD: rows of path, digest and size.
 *
 *   errors  SB0812, false: not CSV, a digest weaker than SHA-256, a path twice with different
 *           digests
 *   memory  lives in z->a; borrows text
 *   source  PEP 376, PEP 427
 */
bool record_parse(const struct zip *z, const char *text, struct record *out);

/*
 * wheel_metadata -- is the wheel what its file name says, by METADATA and WHEEL?
 *
 *   out     *w: name, version, build, tags, requires
 *   errors  SB0812, false
 *   source  core metadata; PEP 427; PEP 425 (tags), PEP 440, PEP 503 (how they are compared)
 */
bool wheel_metadata(const struct zip *z, const char *dist_info, const char *metadata,
		    const char *wheel_text, struct wheel *w);

#endif
