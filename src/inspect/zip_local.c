#include "inspect/zip.h"

#include <string.h>

/*
 * What lies between the beginning of the file and the central directory: for each entry, one
 * after the other and with nothing between them,
 *
 *     local header, name, extra fields, packed bytes [, descriptor]
 *
 * The descriptor repeats crc and sizes where the header was written before they were known
 * (flag bit 3): with or without a signature, sizes of 4 or of 8 bytes.
 */
enum {
	LOCAL_BYTES = 30,
	DESCRIPTOR_MAX = 24,
	NAMES_MAX = 2 * UINT16_MAX, /* a name and its extra fields */
	FLAG_LATER = 1 << 3,
	FLAGS_THAT_MATTER = 1 << 0 | FLAG_LATER | 1 << 6 | 1 << 11 | 1 << 13,
};

static bool
differs(struct zip *z, const struct zip_entry *e, const char *what)
{
	return zip_refuse(z,
			  "its directory and the header before the file disagree on the %s of `%s`",
			  what, e->name);
}

static bool
check_sizes(struct zip *z, const struct zip_entry *e, const unsigned char *p,
	    const unsigned char *extra, size_t extra_bytes)
{
	uint64_t packed = le32(p + 18), size = le32(p + 22);
	uint32_t crc = le32(p + 14);

	if (!zip_wide(extra, extra_bytes, (uint64_t *[]){ &size, &packed, NULL }))
		return zip_refuse(z, "the extra fields of `%s` are broken", e->name);
	if (e->flags & FLAG_LATER && !crc && !packed && !size)
		return true;
	if (crc != e->crc)
		return differs(z, e, "checksum");
	if (packed != e->packed || size != e->size)
		return differs(z, e, "size");
	return true;
}

static bool
check_header(struct zip *z, struct zip_entry *e, uint64_t end)
{
	unsigned char p[LOCAL_BYTES], names[NAMES_MAX];
	size_t name, extra;

	if (!fits(e->at, 1, sizeof(p), end) || !zip_bytes(z, e->at, p, sizeof(p)) ||
	    le32(p) != 0x04034b50)
		return zip_refuse(z, "`%s` does not lie where the directory says", e->name);
	name = le16(p + 26);
	extra = le16(p + 28);
	e->data = e->at + sizeof(p) + name + extra;
	if (!fits(e->data, e->packed, 1, end))
		return zip_refuse(z, "`%s` overlaps what follows it", e->name);
	if (name != strlen(e->name))
		return differs(z, e, "name");
	if (!zip_bytes(z, e->at + sizeof(p), names, name + extra))
		return zip_refuse(z, "it cannot be read");
	if (memcmp(names, e->name, name) != 0)
		return differs(z, e, "name");
	if (le16(p + 8) != e->method)
		return differs(z, e, "method");
	if ((le16(p + 6) ^ e->flags) & FLAGS_THAT_MATTER)
		return differs(z, e, "flags");
	return check_sizes(z, e, p, names + name, extra);
}

/* What lies between the bytes of an entry and the next: nothing, or its descriptor. */
static bool
check_gap(struct zip *z, const struct zip_entry *e, uint64_t end)
{
	unsigned char p[DESCRIPTOR_MAX];
	uint64_t n = end - e->data - e->packed;
	size_t at = n % 8 == 4 ? 0 : 4; /* 12 and 20 bytes have no signature */

	if (!(e->flags & FLAG_LATER))
		return !n || zip_refuse(z, "behind `%s` lie bytes that belong to no file", e->name);
	if ((n != 12 && n != 16 && n != 20 && n != 24) || !zip_bytes(z, e->data + e->packed, p, n))
		return zip_refuse(z, "behind `%s` lie bytes that belong to no file", e->name);
	if ((at && le32(p) != 0x08074b50) || le32(p + at) != e->crc)
		return differs(z, e, "checksum");
	if (n - at == 12 ? le32(p + at + 4) != e->packed || le32(p + at + 8) != e->size :
			   le64(p + at + 4) != e->packed || le64(p + at + 12) != e->size)
		return differs(z, e, "size");
	return true;
}

bool
zip_local(struct zip *z)
{
	for (size_t i = 0; i < z->entries.n; i++) {
		struct zip_entry *e = &z->entries.at[i];
		uint64_t end = i + 1 < z->entries.n ? e[1].at : z->directory;

		if (!i && e->at)
			return zip_refuse(z, "before its first file lie bytes that belong to none");
		if (!check_header(z, e, end) || !check_gap(z, e, end))
			return false;
	}
	return true;
}
