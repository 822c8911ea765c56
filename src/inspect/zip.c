#include "inspect/wheel_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/map.h"
#include "base/str.h"

enum {
	END_BYTES = 22,
	END64_BYTES = 56,
	LOCATOR_BYTES = 20,
	CENTRAL_BYTES = 46,
	CENTRAL_MAX = 16 * 1024 * 1024, /* maximum bytes of a central directory */
	RATIO_FROM = 24 * 1024 * 1024,  /* unpacked bytes that are always allowed */
	NAME_MAX_BYTES = 4096,
	DEFLATE_MOST = 1032, /* maximum ratio of deflate */
	FLAG_ENCRYPTED = 1 << 0 | 1 << 6 | 1 << 13,
	UNIX = 3,
	UNICODE_PATH = 0x7075, /* an extra field */
	VERSION_MOST = 63,     /* version of the newest APPNOTE, times ten */
	LOCAL_BYTES = 30,
	DESCRIPTOR_MAX = 24,
	NAMES_MAX = 2 * UINT16_MAX, /* maximum bytes of a name and its extra fields */
	FLAG_LATER = 1 << 3,
	FLAGS_THAT_MATTER = 1 << 0 | FLAG_LATER | 1 << 6 | 1 << 11 | 1 << 13,
};

bool
zip_bytes(const struct zip *z, uint64_t at, void *to, size_t n)
{
	unsigned char *p = to;

	if (z->source)
		return z->source->read(z->source->ctx, at, to, n);
	while (n) {
		ssize_t got = pread(z->fd, p, n, (off_t)at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return inspect_refuse(z->ds, E_FILE, z->path, "cannot be read: %s",
					      strerror(errno));
		if (!got)
			return false;
		p += got;
		at += (uint64_t)got;
		n -= (size_t)got;
	}
	return true;
}

/* Returns true for UTF-8 without control characters. */
static bool
is_text(const char *s)
{
	uint32_t point;

	for (size_t rest = strlen(s), n; rest; s += n, rest -= n)
		if (!(n = utf8_decode(s, rest, &point)) || point < 0x20 || point == 0x7f)
			return false;
	return true;
}

/* Returns true for a normalised path that stays below its directory. */
static bool
is_safe(const char *name)
{
	const char *end;

	if (!is_text(name) || strchr(name, '\\') || (name[0] && name[1] == ':'))
		return false;
	for (const char *p = name; *p; p = end + 1) {
		size_t n;

		end = strchrnul(p, '/');
		n = (size_t)(end - p);
		if (!n || n > 255 || (n == 1 && *p == '.') ||
		    (n == 2 && p[0] == '.' && p[1] == '.'))
			return false;
		if (!*end || !end[1])
			break;
	}
	return *name;
}

/*
 * Reads the sizes in a zip64 extra field (id 1), for each of `values` whose bits are all ones:
 * unpacked, packed, offset, in that order; a NULL value is not in the field. False: fields that
 * overrun, a zip64 field that is duplicate or lacks a value, or a second name of the file
 * (Info-ZIP's Unicode path), which some readers would use.
 */
static bool
zip_wide(const unsigned char *extra, size_t n, uint64_t *values[3])
{
	bool seen = false;

	while (n) {
		size_t size, at = 4;

		if (n < 4 || (size = le16(extra + 2)) > n - 4 || le16(extra) == UNICODE_PATH)
			return false;
		if (le16(extra) == 1) {
			if (seen)
				return false;
			seen = true;
			for (unsigned i = 0; i < 3; i++) {
				if (!values[i] || *values[i] != UINT32_MAX)
					continue;
				if (at + 8 > 4 + size)
					return false;
				*values[i] = le64(extra + at);
				at += 8;
			}
		}
		extra += 4 + size;
		n -= 4 + size;
	}
	return true;
}

static bool
check_entry(struct zip *z, const struct zip_entry *e)
{
	unsigned kind = e->made_by == UNIX ? e->attributes >> 16 & S_IFMT : 0;

	if (!is_safe(e->name))
		return zip_refuse(z, "`%s` is not a path inside the wheel", e->name);
	if (e->flags & FLAG_ENCRYPTED)
		return zip_refuse(z, "`%s` is encrypted", e->name);
	if (kind && kind != S_IFREG && kind != S_IFDIR)
		return zip_refuse(z, "`%s` is a link or a device, not a file", e->name);
	if ((kind == S_IFDIR) > e->folder || (e->folder && (e->size || e->packed > 2)))
		return zip_refuse(z, "`%s` is both a directory and a file", e->name);
	if (e->needs > VERSION_MOST)
		return zip_refuse(z, "`%s` needs a reader for zip %u.%u", e->name, e->needs / 10,
				  e->needs % 10);
	if (e->method != 0 && e->method != 8)
		return zip_refuse(z, "`%s` is compressed with method %u; wheels use deflate",
				  e->name, e->method);
	if (e->method == 0 ? e->size != e->packed : e->size / DEFLATE_MOST > e->packed)
		return zip_refuse(z, "`%s` cannot have the size that it claims", e->name);
	return true;
}

/* Reads one header of the central directory; returns its size in bytes, or 0 if it is rejected. */
static size_t
read_entry(struct zip *z, const unsigned char *p, size_t n, struct zip_entry *e)
{
	size_t name, extra, all;

	if (n < CENTRAL_BYTES || le32(p) != 0x02014b50) {
		zip_refuse(z, "its directory is broken");
		return 0;
	}
	name = le16(p + 28);
	extra = le16(p + 30);
	all = CENTRAL_BYTES + name + extra + le16(p + 32);
	if (all > n || !name || name > NAME_MAX_BYTES ||
	    memchr(p + CENTRAL_BYTES, '\0', name) != NULL) {
		zip_refuse(z, "its directory is broken");
		return 0;
	}
	*e = (struct zip_entry){
		.name = arena_copy(z->a, (const char *)p + CENTRAL_BYTES, name),
		.made_by = p[5],
		.needs = p[6],
		.flags = le16(p + 8),
		.method = le16(p + 10),
		.crc = le32(p + 16),
		.packed = le32(p + 20),
		.size = le32(p + 24),
		.attributes = le32(p + 38),
		.at = le32(p + 42),
		.folder = p[CENTRAL_BYTES + name - 1] == '/',
	};
	p += CENTRAL_BYTES + name;
	if (!zip_wide(p, extra, (uint64_t *[]){ &e->size, &e->packed, &e->at })) {
		zip_refuse(z, "the extra fields of `%s` are broken", e->name);
		return 0;
	}
	return check_entry(z, e) ? all : 0;
}

/* Returns true if no name is a duplicate, or a directory of another one. */
static bool
names_are_apart(struct zip *z)
{
	CLEANUP_ARENA struct arena *scratch = arena_new();
	struct map names = MAP(scratch);
	char key[NAME_MAX_BYTES + 1];

	for (size_t i = 0; i < z->entries.n; i++) {
		struct zip_entry *e = &z->entries.at[i];
		char *own = arena_strdup(scratch, e->name);

		if (e->folder)
			own[strlen(own) - 1] = '\0';
		if (map_put(&names, own, e))
			return zip_refuse(z, "it contains `%s` twice", e->name);
	}
	for (size_t i = 0; i < z->entries.n; i++) {
		memcpy(key, z->entries.at[i].name, strlen(z->entries.at[i].name) + 1);
		for (char *slash = strchr(key, '/'); slash; slash = strchr(slash + 1, '/')) {
			const struct zip_entry *above;

			*slash = '\0';
			above = map_get(&names, key);
			if (above && !above->folder)
				return zip_refuse(z, "`%s` is both a directory and a file", key);
			*slash = '/';
		}
	}
	return true;
}

struct end {
	uint64_t at; /* offset of the directory's end */
	uint64_t count, size, offset;
};

/*
 * Reads the zip64 record before the usual one, if any; values other than ~0 must be equal in both.
 */
static bool
read_end64(struct zip *z, struct end *end)
{
	unsigned char locator[LOCATOR_BYTES], p[END64_BYTES];
	struct end wide;

	if (end->at < LOCATOR_BYTES + END64_BYTES ||
	    !zip_bytes(z, end->at - LOCATOR_BYTES, locator, sizeof(locator)) ||
	    le32(locator) != 0x07064b50)
		return true;
	wide.at = end->at - LOCATOR_BYTES - END64_BYTES;
	if (!zip_bytes(z, wide.at, p, sizeof(p)) || le32(p) != 0x06064b50 ||
	    le64(p + 4) != END64_BYTES - 12 || le64(locator + 8) != wide.at || le32(p + 16) ||
	    le32(p + 20) || le32(locator + 4) || le64(p + 24) != le64(p + 32))
		return zip_refuse(z, "its zip64 record is broken");
	wide.count = le64(p + 32);
	wide.size = le64(p + 40);
	wide.offset = le64(p + 48);
	if ((end->count != UINT16_MAX && end->count != wide.count) ||
	    (end->size != UINT32_MAX && end->size != wide.size) ||
	    (end->offset != UINT32_MAX && end->offset != wide.offset))
		return zip_refuse(z, "its zip64 record does not match its end record");
	*end = wide;
	return true;
}

static bool
read_end(struct zip *z, struct end *end)
{
	unsigned char p[END_BYTES];

	if (z->n < END_BYTES || !zip_bytes(z, z->n - END_BYTES, p, sizeof(p)) ||
	    le32(p) != 0x06054b50 || le16(p + 20))
		return zip_refuse(z, "not a zip file, or truncated: it has no end record");
	*end = (struct end){ z->n - END_BYTES, le16(p + 10), le32(p + 12), le32(p + 16) };
	if (le16(p + 4) || le16(p + 6) || le16(p + 8) != end->count)
		return zip_refuse(z, "it is one part of a multi-part archive");
	if (!read_end64(z, end))
		return false;
	if (end->offset > end->at || end->size != end->at - end->offset ||
	    end->size > CENTRAL_MAX || end->count > WHEEL_FILES_MAX)
		return zip_refuse(z,
				  "its directory is not at the recorded offset, or is too large");
	z->directory = end->offset;
	return true;
}

/* --- the local headers --- */

/*
 * The bytes before the central directory: for each entry, in order and without gaps,
 *
 *     local header, name, extra fields, packed bytes [, descriptor]
 *
 * The descriptor has crc and sizes if they were unknown when the header was written (flag bit 3):
 * with or without a signature, and with sizes of 4 or 8 bytes.
 */
/* Reports `what` and returns false; true if it is NULL. */
static bool
differs(struct zip *z, const struct zip_entry *e, const char *what)
{
	return !what ||
	       zip_refuse(z, "its directory and the file's header differ in the %s of `%s`", what,
			  e->name);
}

static bool
check_header(struct zip *z, struct zip_entry *e, uint64_t end)
{
	unsigned char p[LOCAL_BYTES], names[NAMES_MAX];
	uint64_t packed, size;
	size_t name, extra;
	bool later;

	if (!fits(e->at, 1, sizeof(p), end) || !zip_bytes(z, e->at, p, sizeof(p)) ||
	    le32(p) != 0x04034b50)
		return zip_refuse(z, "`%s` is not at the offset in the directory", e->name);
	name = le16(p + 26);
	extra = le16(p + 28);
	packed = le32(p + 18);
	size = le32(p + 22);
	e->data = e->at + sizeof(p) + name + extra;
	if (!fits(e->data, e->packed, 1, end))
		return zip_refuse(z, "`%s` overlaps the next file", e->name);
	if (!zip_bytes(z, e->at + sizeof(p), names, name + extra))
		return zip_refuse(z, "it cannot be read");
	if (name != strlen(e->name) || memcmp(names, e->name, name) != 0)
		return differs(z, e, "name");
	if (!zip_wide(names + name, extra, (uint64_t *[]){ &size, &packed, NULL }))
		return zip_refuse(z, "the extra fields of `%s` are broken", e->name);
	later = e->flags & FLAG_LATER && !le32(p + 14) && !packed && !size;
	return differs(z, e,
		       le16(p + 8) != e->method                     ? "method" :
		       (le16(p + 6) ^ e->flags) & FLAGS_THAT_MATTER ? "flags" :
		       later                                        ? NULL :
		       le32(p + 14) != e->crc                       ? "checksum" :
		       packed != e->packed || size != e->size       ? "size" :
								      NULL);
}

/* Checks the bytes between an entry and the next one: none, or its descriptor. */
static bool
check_gap(struct zip *z, const struct zip_entry *e, uint64_t end)
{
	unsigned char p[DESCRIPTOR_MAX];
	uint64_t n = end - e->data - e->packed;
	size_t at = n % 8 == 4 ? 0 : 4; /* descriptors of 12 and 20 bytes have no signature */

	if (!(e->flags & FLAG_LATER))
		return !n || zip_refuse(z, "unknown bytes follow the file `%s`", e->name);
	if ((n != 12 && n != 16 && n != 20 && n != 24) || !zip_bytes(z, e->data + e->packed, p, n))
		return zip_refuse(z, "unknown bytes follow the file `%s`", e->name);
	if ((at && le32(p) != 0x08074b50) || le32(p + at) != e->crc)
		return differs(z, e, "checksum");
	if (n - at == 12 ? le32(p + at + 4) != e->packed || le32(p + at + 8) != e->size :
			   le64(p + at + 4) != e->packed || le64(p + at + 12) != e->size)
		return differs(z, e, "size");
	return true;
}

static bool
check_local(struct zip *z)
{
	for (size_t i = 0; i < z->entries.n; i++) {
		struct zip_entry *e = &z->entries.at[i];
		uint64_t end = i + 1 < z->entries.n ? e[1].at : z->directory;

		if (!i && e->at)
			return zip_refuse(z, "unknown bytes precede its first file");
		if (!check_header(z, e, end) || !check_gap(z, e, end))
			return false;
	}
	return true;
}

static int
by_place(const void *px, const void *py)
{
	const struct zip_entry *x = px, *y = py;

	return x->at < y->at ? -1 : x->at > y->at;
}

bool
zip_directory(struct zip *z)
{
	CLEANUP_ARENA struct arena *scratch = arena_new();
	struct end end = { 0 };
	unsigned char *bytes;
	size_t at = 0;
	uint64_t unpacked = 0;

	if (!read_end(z, &end))
		return false;
	bytes = arena_alloc(scratch, end.size + 1, 1);
	if (!zip_bytes(z, end.offset, bytes, end.size))
		return zip_refuse(z, "it cannot be read");
	for (uint64_t i = 0; i < end.count; i++) {
		struct zip_entry e;
		size_t took = read_entry(z, bytes + at, end.size - at, &e);

		if (!took)
			return false;
		at += took;
		if (e.size > WHEEL_MAX || (unpacked += e.size) > WHEEL_MAX)
			return zip_refuse(z, "it unpacks to more than %zu GiB", WHEEL_MAX >> 30);
		list_push(z->a, &z->entries, e);
	}
	if (at != end.size)
		return zip_refuse(z, "its directory has more entries than it declares");
	if (unpacked > RATIO_FROM && unpacked / WHEEL_RATIO_MAX > z->n)
		return zip_refuse(z, "it unpacks to %llu MiB, more than %d times its size",
				  (unsigned long long)(unpacked >> 20), WHEEL_RATIO_MAX);
	if (z->entries.n)
		qsort(z->entries.at, z->entries.n, sizeof(*z->entries.at), by_place);
	return names_are_apart(z);
}

bool
zip_read(struct zip *z)
{
	return zip_directory(z) && check_local(z);
}

bool
zip_locate(struct zip *z, struct zip_entry *e)
{
	const struct zip_entry *last = &z->entries.at[z->entries.n - 1];

	return check_header(z, e, e == last ? z->directory : e[1].at);
}
