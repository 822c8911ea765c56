#include <errno.h>
#include <openssl/evp.h>
#include <string.h>

#include "inspect/tree_parts.h"
#include "inspect/wheel_parts.h"

/* Unpacks an entry with libarchive. */

enum { CHUNK = 64 * 1024, LOCAL_BYTES = 30 };

/* An entry as a separate zip file; its header has the values of the directory. */
struct stream {
	const struct zip *z;
	uint64_t at, left; /* packed bytes */
	bool begun;
	unsigned char header[LOCAL_BYTES + 1 +
			     20]; /* local header with a name of one byte, and zip64 sizes */
	unsigned char block[CHUNK];
};

static void
put_header(unsigned char *p, const struct zip_entry *e)
{
	put_le(p, 0x04034b50, 4);
	put_le(p + 4, 45, 2); /* the version with zip64 sizes */
	put_le(p + 8, e->method, 2);
	put_le(p + 14, e->crc, 4);
	put_le(p + 18, UINT64_MAX, 8);
	put_le(p + 26, 1, 2);
	put_le(p + 28, 20, 2);
	p[LOCAL_BYTES] = 'x';
	p += LOCAL_BYTES + 1;
	put_le(p, 1, 2);
	put_le(p + 2, 16, 2);
	put_le(p + 4, e->size, 8);
	put_le(p + 12, e->packed, 8);
}

static la_ssize_t
next_bytes(struct archive *ar, void *ctx, const void **p)
{
	struct stream *s = ctx;
	size_t n = s->left < CHUNK ? (size_t)s->left : CHUNK;

	*p = s->begun ? s->block : s->header;
	if (!s->begun) {
		s->begun = true;
		return sizeof(s->header);
	}
	if (!zip_bytes(s->z, s->at, s->block, n)) {
		archive_set_error(ar, EIO, "its bytes cannot be read");
		return -1;
	}
	s->at += n;
	s->left -= n;
	return (la_ssize_t)n;
}

bool
zip_unpack(const struct zip *z, const struct zip_entry *e, EVP_MD_CTX *sum, struct spool *to)
{
	CLEANUP_ARCHIVE struct archive *ar = archive_read_new();
	struct stream s = { .z = z, .at = e->data, .left = e->packed };
	struct archive_entry *unused;
	uint64_t got = 0;
	const void *p;
	la_int64_t at;
	size_t n;
	int r;

	archive_read_support_format_zip_streamable(ar);
	put_header(s.header, e);
	r = archive_read_open(ar, &s, NULL, next_bytes, NULL);
	if (r == ARCHIVE_OK)
		r = archive_read_next_header(ar, &unused);
	while (r == ARCHIVE_OK && (r = archive_read_data_block(ar, &p, &n, &at)) == ARCHIVE_OK) {
		if (n > e->size - got)
			return zip_refuse(
				z, "the size of `%s` differs from the directory of the archive",
				e->name);
		if (sum)
			EVP_DigestUpdate(sum, p, n);
		if (to && !spool_add(to, p, n))
			return false;
		got += n;
	}
	if (r != ARCHIVE_EOF)
		return zip_refuse(z, "`%s` cannot be unpacked: %s", e->name,
				  archive_error_string(ar));
	if (got != e->size || s.left)
		return zip_refuse(z, "the size of `%s` differs from the directory of the archive",
				  e->name);
	return !to || spool_end(to);
}
