/*
 * Writes a wheel again under a version with a local label: its file name, its .dist-info and .data
 * directories, METADATA and RECORD change; all other members are copied without decompression.
 */
#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include <zlib.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/sha256.h"
#include "inspect/wheel_parts.h"
#include "python/python.h"

enum {
	CHUNK = 64 * 1024,
	LOCAL_BYTES = 30,
	CENTRAL_BYTES = 46,
	END_BYTES = 22,
	VERSION_MADE = 20, /* version times ten: deflate and directories */
	FLAG_UTF8 = 1 << 11,
	DATE_FIRST = 0x21,        /* 1980-01-01, as in reproducible wheels */
	ROOM = 256 * 1024 * 1024, /* for METADATA, RECORD and the directory of the new file */
};

struct copy {
	const struct zip *z;
	const struct wheel_label *label;
	const char *from, *to; /* "tiny-1.0", "tiny-1.0+torch2.11" */
	const char *version;   /* "1.0+torch2.11" */
	FILE *f;
	struct sha256 *sum;
	struct buf directory;
	uint64_t at;
	size_t entries;
};

/* Returns the path of a member in the new wheel. */
static const char *
renamed(const struct copy *c, const char *path)
{
	size_t n = strlen(c->from);
	bool mine = !strncmp(path, c->from, n) &&
		    (starts_with(path + n, ".dist-info/") || starts_with(path + n, ".data/"));

	return mine ? arena_printf(c->z->a, "%s%s", c->to, path + n) : path;
}

/* --- the two texts --- */

static const char *
new_metadata(const struct copy *c, const char *text)
{
	struct buf b = BUF(c->z->a);
	bool done = false;

	while (*text) {
		size_t n = strcspn(text, "\n") + (strchr(text, '\n') != NULL);

		if (!done && !strncasecmp(text, "Version:", 8)) {
			buf_printf(&b, "Version: %s\nRequires-Dist: %s\n", c->version,
				   c->label->requires);
			done = true;
		} else
			buf_add(&b, text, n);
		text += n;
	}
	return buf_text(&b);
}

/* Returns "sha256=...,SIZE", as in a RECORD. */
static const char *
digest_of(struct arena *a, const char *text)
{
	EVP_MD_CTX *sum = EVP_MD_CTX_new();
	const char *digest;

	if (!sum || !EVP_DigestInit_ex(sum, EVP_sha256(), NULL))
		BUG("libcrypto has no digest");
	EVP_DigestUpdate(sum, text, strlen(text));
	digest = wheel_digest(a, sum);
	EVP_MD_CTX_free(sum);
	return arena_printf(a, "sha256=%s,%zu", digest, strlen(text));
}

/* A row begins with its path, which may be quoted. */
static const char *
new_record(const struct copy *c, const char *text, const char *metadata)
{
	const char *own = arena_printf(c->z->a, "%s.dist-info/METADATA", c->from);
	struct buf b = BUF(c->z->a);

	while (*text) {
		size_t n = strcspn(text, "\n") + (strchr(text, '\n') != NULL);
		size_t quote = *text == '"';
		const char *row = arena_copy(c->z->a, text + quote, n - quote);

		if (starts_with(row, own) && strchr(",\"", row[strlen(own)]))
			buf_printf(&b, "%s,%s\n", renamed(c, own), digest_of(c->z->a, metadata));
		else
			buf_printf(&b, "%s%s", quote ? "\"" : "", renamed(c, row));
		text += n;
	}
	return buf_text(&b);
}

/* --- the file --- */

static void
put(struct copy *c, const void *bytes, size_t n)
{
	sha256_add(c->sum, bytes, n);
	fwrite(bytes, 1, n, c->f); /* ferror() reports errors later */
	c->at += n;
}

/* Writes the fields that local and directory headers share, starting with the needed version. */
static void
put_common(unsigned char *p, const struct zip_entry *e, size_t name)
{
	put_le(p, VERSION_MADE, 2);
	put_le(p + 2, e->flags & FLAG_UTF8, 2);
	put_le(p + 4, e->method, 2);
	put_le(p + 8, DATE_FIRST, 2);
	put_le(p + 10, e->crc, 4);
	put_le(p + 14, e->packed, 4);
	put_le(p + 18, e->size, 4);
	put_le(p + 22, name, 2);
}

/* Writes the headers of a member; its bytes follow. */
static void
put_member(struct copy *c, const struct zip_entry *e)
{
	unsigned char local[LOCAL_BYTES] = { 0 }, central[CENTRAL_BYTES] = { 0 };
	const char *name = renamed(c, e->name);

	put_le(local, 0x04034b50, 4);
	put_common(local + 4, e, strlen(name));
	put_le(central, 0x02014b50, 4);
	put_le(central + 4, (e->made_by << 8) + VERSION_MADE, 2);
	put_common(central + 6, e, strlen(name));
	put_le(central + 38, e->attributes, 4);
	put_le(central + 42, c->at, 4);
	buf_add(&c->directory, (const char *)central, sizeof(central));
	buf_puts(&c->directory, name);
	c->entries++;
	put(c, local, sizeof(local));
	put(c, name, strlen(name));
}

static void
put_text(struct copy *c, const struct zip_entry *old, const char *text)
{
	struct zip_entry e = *old;

	e.method = 0;
	e.packed = e.size = strlen(text);
	e.crc = (uint32_t)crc32(0, (const Bytef *)text, (uInt)e.size);
	put_member(c, &e);
	put(c, text, e.size);
}

static bool
put_copied(struct copy *c, const struct zip_entry *e)
{
	unsigned char chunk[CHUNK];

	put_member(c, e);
	for (uint64_t done = 0; done < e->packed;) {
		size_t n = e->packed - done < CHUNK ? (size_t)(e->packed - done) : CHUNK;

		if (!zip_bytes(c->z, e->data + done, chunk, n))
			return zip_refuse(c->z, "it cannot be read, or is being written");
		put(c, chunk, n);
		done += n;
	}
	return true;
}

static void
put_end(struct copy *c)
{
	unsigned char end[END_BYTES] = { 0 };

	put_le(end, 0x06054b50, 4);
	put_le(end + 8, c->entries, 2);
	put_le(end + 10, c->entries, 2);
	put_le(end + 12, c->directory.n, 4);
	put_le(end + 16, c->at, 4);
	put(c, c->directory.p, c->directory.n);
	put(c, end, sizeof(end));
}

static bool
put_all(struct copy *c, const char *metadata, const char *record)
{
	const char *own = arena_printf(c->z->a, "%s.dist-info/METADATA", c->from);
	const char *list = arena_printf(c->z->a, "%s.dist-info/RECORD", c->from);
	const char *text = new_metadata(c, metadata);

	list_each (e, &c->z->entries)
		if (!strcmp(e->name, own))
			put_text(c, e, text);
		else if (!strcmp(e->name, list))
			put_text(c, e, new_record(c, record, text));
		else if (!put_copied(c, e))
			return false;
	put_end(c);
	return true;
}

/* Reads the parts that determine the new names. False after SB0812 or SB0100. */
static bool
prepare(struct copy *c, struct zip *z, const char **metadata, const char **record)
{
	const char *folder, *text;
	const struct version *v;

	if (!wheel_open(z) || !zip_read(z) || !(folder = wheel_folder(z)) ||
	    !(*metadata = wheel_text(z, folder, "METADATA", METADATA_MAX)) ||
	    !(*record = wheel_text(z, folder, "RECORD", RECORD_MAX)))
		return false;
	if (z->n > UINT32_MAX - ROOM || z->entries.n >= UINT16_MAX)
		return zip_refuse(z, "it is larger than 4 GiB, or has more than 65,534 files");
	for (size_t i = 0; i < z->entries.n; i++)
		if (z->entries.at[i].size >= UINT32_MAX)
			return zip_refuse(z, "`%s` is larger than 4 GiB", z->entries.at[i].name);
	text = metadata_values(z->a, *metadata, "Version").at[0];
	v = version_parse(z->a, text);
	c->version = arena_printf(z->a, "%s%c%s", version_text(z->a, v),
				  version_local(z->a, v) ? '.' : '+', c->label->local);
	c->from = arena_copy(z->a, folder, strlen(folder) - strlen(".dist-info"));
	c->to = arena_printf(z->a, "%.*s-%s", (int)strcspn(folder, "-"), folder, c->version);
	return true;
}

static bool
write_copy(struct copy *c, const char *path, const char *metadata, const char *record)
{
	struct fs_temp temp = { .fd = -1 };
	bool whole = true, good = false;
	int copy = -1;

	c->sum = sha256_new(c->z->a);
	c->directory = BUF(c->z->a);
	if (fs_make_parents(c->z->a, path) && fs_temp_file(c->z->a, path, 0666, &temp))
		copy = fcntl(temp.fd, F_DUPFD_CLOEXEC, 0);
	c->f = copy >= 0 ? fdopen(copy, "wb") : NULL;
	if (c->f) {
		whole = put_all(c, metadata, record);
		good = !ferror(c->f);
		good = (fclose(c->f) == 0) & good;
	}
	if (whole && good && fs_temp_keep(&temp, path, false))
		return true;
	if (whole)
		inspect_refuse(c->z->ds, E_WRITE, path, "cannot be written: %s", strerror(errno));
	fs_temp_drop(&temp);
	return false;
}

const char *
wheel_relabel(struct arena *a, struct diags *ds, const char *path, const struct wheel_label *label,
	      const char *dir, const char **sha256)
{
	struct zip z = { .a = a, .ds = ds, .path = path, .fd = -1 };
	struct copy c = { .z = &z, .label = label };
	const char *metadata, *record, *name = NULL, *rest = fs_name(path);

	if (prepare(&c, &z, &metadata, &record)) {
		rest = strchr(strchr(rest, '-') + 1, '-');
		name = arena_printf(a, "%s%s", c.to, rest);
		if (write_copy(&c, fs_join(a, dir, name), metadata, record))
			*sha256 = sha256_end(a, c.sum);
		else
			name = NULL;
	}
	fs_close(&z.fd);
	return name;
}
