#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/sha256.h"
#include "inspect/wheel_parts.h"
#include "python/python.h"

enum {
	CHUNK = 1 << 20,
	LOCAL_MOST = 1024, /* usual maximum bytes of a local header */
};

static void
free_digest(EVP_MD_CTX **d)
{
	EVP_MD_CTX_free(*d);
}

const char *
wheel_digest(struct arena *a, EVP_MD_CTX *d)
{
	unsigned char sum[EVP_MAX_MD_SIZE];
	unsigned n = 0;
	char *text = arena_alloc(a, EVP_MAX_MD_SIZE * 2, 1);

	EVP_DigestFinal_ex(d, sum, &n);
	EVP_EncodeBlock((unsigned char *)text, sum, (int)n);
	for (char *p = text; *p; p++)
		*p = *p == '+' ? '-' : *p == '/' ? '_' : *p;
	text[strcspn(text, "=")] = '\0';
	return text;
}

bool
wheel_open(struct zip *z)
{
	struct stat st;

	z->fd = open(z->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (z->fd < 0 || fstat(z->fd, &st) < 0)
		return inspect_refuse(z->ds, z->fd < 0 && errno == ENOENT ? E_WHEEL : E_FILE,
				      z->path, "cannot be read: %s", strerror(errno));
	if (!S_ISREG(st.st_mode))
		return zip_refuse(z, "cannot be read: not a regular file");
	z->n = (uint64_t)st.st_size;
	return true;
}

static bool
sum_file(const struct zip *z, struct wheel *w)
{
	unsigned char *chunk = arena_alloc(z->a, CHUNK, 1);
	struct sha256 *sum = sha256_new(z->a);

	for (uint64_t at = 0; at < z->n;) {
		size_t n = z->n - at < CHUNK ? (size_t)(z->n - at) : CHUNK;

		if (!zip_bytes(z, at, chunk, n))
			return zip_refuse(z, "it cannot be read, or is being written");
		sha256_add(sum, chunk, n);
		at += n;
	}
	w->sha256 = sha256_end(z->a, sum);
	w->size = z->n;
	return true;
}

const char *
wheel_folder(const struct zip *z)
{
	const char *found = NULL;

	for (size_t i = 0; i < z->entries.n; i++) {
		const char *name = z->entries.at[i].name, *slash = strchr(name, '/');
		const char *folder = slash ? arena_copy(z->a, name, (size_t)(slash - name)) : "";

		if (!ends_with(folder, ".dist-info"))
			continue;
		if (found && strcmp(found, folder) != 0) {
			zip_refuse(z, "it has two .dist-info directories: `%s` and `%s`", found,
				   folder);
			return NULL;
		}
		found = folder;
	}
	if (!found)
		zip_refuse(z, "it has no .dist-info directory: not a wheel");
	return found;
}

/* Returns the entry of a file; NULL after SB0812: missing, or larger than max bytes. */
static struct zip_entry *
wheel_entry(const struct zip *z, const char *folder, const char *file, size_t max)
{
	const char *name = arena_printf(z->a, "%s/%s", folder, file);

	for (size_t i = 0; i < z->entries.n; i++) {
		struct zip_entry *e = &z->entries.at[i];

		if (strcmp(e->name, name) != 0)
			continue;
		if (e->size <= max)
			return e;
		zip_refuse(z, "`%s` is larger than %zu bytes", name, max);
		return NULL;
	}
	zip_refuse(z, "it has no %s", name);
	return NULL;
}

/* Returns the text of a file; NULL after SB0812. */
static const char *
entry_text(const struct zip *z, const struct zip_entry *e)
{
	struct spool text; /* RECORD_MAX is at most SPOOL_MEMORY */

	if (!spool_begin(&text, z->a, z->ds, z->path, e->size) || !zip_unpack(z, e, NULL, &text))
		return NULL;
	if (strlen((const char *)text.bytes) == e->size)
		return (const char *)text.bytes;
	zip_refuse(z, "its %s contains a NUL character", strchr(e->name, '/') + 1);
	return NULL;
}

/* Finds the bytes of an entry in a wheel that is read in parts. */
static bool
locate(struct zip *z, struct zip_entry *e)
{
	/* The local header may have longer extra fields than the directory. */
	if (z->source->expect)
		z->source->expect(z->source->ctx, e->at, e->packed + LOCAL_MOST);
	return zip_locate(z, e);
}

const char *
wheel_text(struct zip *z, const char *folder, const char *file, size_t max)
{
	struct zip_entry *e = wheel_entry(z, folder, file, max);

	return e && (!z->source || locate(z, e)) ? entry_text(z, e) : NULL;
}

/* Returns true for RECORD and its signature, whose digests RECORD cannot contain. */
static bool
is_outside_record(const char *folder, const char *path)
{
	size_t n = strlen(folder);
	const char *name = !strncmp(path, folder, n) && path[n] == '/' ? path + n + 1 : "";

	return !strcmp(name, "RECORD") || !strcmp(name, "RECORD.jws") ||
	       !strcmp(name, "RECORD.p7s");
}

bool
wheel_object_name(const char *path)
{
	const char *so = strstr(path, ".so");

	for (; so; so = strstr(so + 1, ".so"))
		if (!so[3] || (so[3] == '.' && !strchr(so, '/')))
			return true;
	return false;
}

/* Returns what diagnostics call an object of a wheel. */
static const char *
object_name(const struct zip *z, const struct zip_entry *e)
{
	return arena_printf(z->a, "%s: %s", z->path, e->name);
}

/* Reads a shared object; a file with only the name of one is an ordinary file. */
static bool
read_object(const struct zip *z, const struct zip_entry *e, const unsigned char *bytes,
	    struct wheel *w)
{
	struct wheel_object o = { .path = e->name, .size = e->size };
	const char *name = object_name(z, e);

	if (e->size < SELFMAG || memcmp(bytes, ELFMAG, SELFMAG) != 0)
		return true;
	if (!(o.elf = elf_read(z->a, z->ds, name, bytes, e->size)) ||
	    !gpu_codes_read(z->a, z->ds, name, bytes, e->size, &o.codes))
		return false;
	list_push(z->a, &w->objects, o);
	return true;
}

static bool
compare_size(const struct zip *z, const struct zip_entry *e, const struct record_row *row)
{
	return !row || !row->has_size || row->size == e->size ||
	       zip_refuse(z, "`%s` has %llu bytes; the RECORD lists %llu", e->name,
			  (unsigned long long)e->size, (unsigned long long)row->size);
}

static bool
compare(const struct zip *z, const struct zip_entry *e, const struct record_row *row,
	const char *digest)
{
	if (!compare_size(z, e, row))
		return false;
	if (!str_is(row->digest, digest))
		return zip_refuse(z, "the digest of `%s` differs from the RECORD", e->name);
	return true;
}

/* Reads one file, compares it with its row (NULL: missing in RECORD), and keeps a shared object. */
static bool
read_member(const struct zip *z, const struct zip_entry *e, const struct record_row *row,
	    struct wheel *w)
{
	CLEANUP_ARENA struct arena *scratch = arena_new();
	__attribute__((cleanup(free_digest))) EVP_MD_CTX *sum = EVP_MD_CTX_new();
	CLEANUP_SPOOL struct spool object = { 0 };
	bool keep = wheel_object_name(e->name);

	if (!sum || !EVP_DigestInit_ex(sum, row ? row->kind : EVP_sha256(), NULL))
		BUG("libcrypto has no digest");
	if (keep && !spool_begin(&object, scratch, z->ds, object_name(z, e), e->size))
		return false;
	return zip_unpack(z, e, sum, keep ? &object : NULL) &&
	       (!row || compare(z, e, row, wheel_digest(z->a, sum))) &&
	       (!keep || read_object(z, e, object.bytes, w));
}

static bool
read_members(const struct zip *z, const char *folder, struct record *record, struct wheel *w)
{
	list_each (e, &z->entries) {
		struct record_row *row = map_get(&record->by_path, e->name);
		bool outside = is_outside_record(folder, e->name);

		if (e->folder)
			continue;
		list_push(z->a, &w->members, (struct wheel_member){ e->name, e->size, e->packed });
		if (row)
			row->seen = true;
		if (!outside && (!row || !row->kind))
			return zip_refuse(z, "`%s` %s", e->name,
					  row ? "has no digest in RECORD" : "is not in RECORD");
		if (z->source ? !compare_size(z, e, row) :
				!read_member(z, e, outside ? NULL : row, w))
			return false;
	}
	for (size_t i = 0; i < record->rows.n; i++)
		if (!record->rows.at[i]->seen)
			return zip_refuse(z, "`%s` is in RECORD, but not in the wheel",
					  record->rows.at[i]->path);
	return true;
}

/* Reads the texts of .dist-info. */
static bool
read_dist_info(struct zip *z, struct wheel *w, const char **folder, struct record *record)
{
	const char *record_text, *tags;

	return (*folder = wheel_folder(z)) &&
	       (record_text = wheel_text(z, *folder, "RECORD", RECORD_MAX)) &&
	       (w->metadata = wheel_text(z, *folder, "METADATA", METADATA_MAX)) &&
	       (tags = wheel_text(z, *folder, "WHEEL", METADATA_MAX)) &&
	       wheel_metadata(z, *folder, w->metadata, tags, w) &&
	       record_parse(z, record_text, record);
}

static bool
read_wheel(struct zip *z, struct wheel *w)
{
	const char *folder;
	struct record record = { 0 };

	return wheel_open(z) && zip_read(z) && read_dist_info(z, w, &folder, &record) &&
	       sum_file(z, w) && read_members(z, folder, &record, w);
}

const struct wheel *
wheel_read(struct arena *a, struct diags *ds, const char *path, bool lenient)
{
	struct zip z = { .a = a, .ds = ds, .path = path, .fd = -1, .lenient = lenient };
	struct wheel *w = arena_new_of(a, struct wheel);
	bool good = read_wheel(&z, w);

	fs_close(&z.fd);
	return good ? w : NULL;
}

const char *
wheel_metadata_text(struct arena *a, struct diags *ds, const struct wheel_source *s)
{
	struct zip z = { .a = a, .ds = ds, .path = s->name, .n = s->size, .source = s };
	const char *folder = zip_directory(&z) ? wheel_folder(&z) : NULL;

	return folder ? wheel_text(&z, folder, "METADATA", METADATA_MAX) : NULL;
}

const struct wheel *
wheel_read_parts(struct arena *a, struct diags *ds, const struct wheel_source *s)
{
	struct zip z = {
		.a = a, .ds = ds, .path = s->name, .n = s->size, .source = s, .lenient = true
	};
	struct wheel *w = arena_new_of(a, struct wheel);
	struct record record = { 0 };
	const char *folder;

	w->size = s->size;
	return zip_directory(&z) && read_dist_info(&z, w, &folder, &record) &&
			       read_members(&z, folder, &record, w) ?
		       w :
		       NULL;
}

/* Returns the entry of that name; NULL after SB0812. */
static struct zip_entry *
find_member(struct zip *z, const char *member)
{
	struct names all = { 0 };
	const char *near;

	for (size_t i = 0; i < z->entries.n; i++) {
		if (!strcmp(z->entries.at[i].name, member) && !z->entries.at[i].folder)
			return &z->entries.at[i];
		list_push(z->a, &all, z->entries.at[i].name);
	}
	near = str_nearest(member, all.at, all.n);
	zip_refuse(z, "it has no member `%s`%s%s%s", member, near ? "; did you mean `" : "",
		   near ? near : "", near ? "`?" : "");
	return NULL;
}

bool
wheel_member_read(struct arena *a, struct diags *ds, const struct wheel_source *s,
		  const char *member,
		  void (*announce)(const char *member, uint64_t packed, uint64_t size),
		  member_reader *reader, void *ctx)
{
	struct zip z = { .a = a, .ds = ds, .path = s->name, .n = s->size, .fd = -1 };
	CLEANUP_ARENA struct arena *scratch = arena_new();
	CLEANUP_SPOOL struct spool bytes = { 0 };
	struct zip_entry *e;
	bool good = false;

	if (s->read)
		z.source = s;
	if ((z.source || wheel_open(&z)) && zip_directory(&z) && (e = find_member(&z, member))) {
		announce(member, e->packed, e->size);
		good = (z.source ? locate(&z, e) : zip_locate(&z, e)) &&
		       spool_begin(&bytes, scratch, ds, object_name(&z, e), e->size) &&
		       zip_unpack(&z, e, NULL, &bytes) &&
		       reader(ctx, ds, object_name(&z, e), bytes.bytes, bytes.n);
	}
	fs_close(&z.fd);
	return good;
}
