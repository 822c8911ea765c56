#include "inspect/archive.h"

#include <string.h>
#include <unistd.h>

enum { READ_BYTES = 1 << 20 };

static bool
failed(struct unpack *u, const char *name)
{
	const char *why = archive_error_string(u->ar);

	return zip_refuse(u->z, "`%s` cannot be unpacked: %s", name, why ? why : "it is broken");
}

/* Not archive_read_open_fd: libarchive takes a failed read for a damaged file. */
static la_ssize_t
on_read(struct archive *ar, void *ctx, const void **p)
{
	struct unpack *u = ctx;
	uint64_t rest = u->z->n - u->at;
	size_t n = rest < READ_BYTES ? (size_t)rest : READ_BYTES;

	(void)ar;
	if (!zip_bytes(u->z, u->at, u->block, n))
		return -1;
	*p = u->block;
	u->at += n;
	return (la_ssize_t)n;
}

static la_int64_t
on_seek(struct archive *ar, void *ctx, la_int64_t offset, int whence)
{
	struct unpack *u = ctx;
	la_int64_t from =
		whence == SEEK_SET ? 0 : (la_int64_t)(whence == SEEK_END ? u->z->n : u->at);

	(void)ar;
	if (from + offset < 0 || (uint64_t)(from + offset) > u->z->n)
		return ARCHIVE_FATAL;
	u->at = (uint64_t)(from + offset);
	return (la_int64_t)u->at;
}

bool
unpack_open(struct unpack *u)
{
	u->next = u->at = 0;
	u->block = arena_alloc(u->z->a, READ_BYTES, 1);
	if (!(u->ar = archive_read_new()))
		BUG("libarchive has no reader");
	archive_read_set_read_callback(u->ar, on_read);
	archive_read_set_seek_callback(u->ar, on_seek);
	archive_read_set_callback_data(u->ar, u);
	if (archive_read_support_format_zip_seekable(u->ar) != ARCHIVE_OK ||
	    archive_read_open1(u->ar) != ARCHIVE_OK)
		return zip_refuse(u->z, "it cannot be read: %s", archive_error_string(u->ar));
	return true;
}

const struct zip_entry *
unpack_next(struct unpack *u, bool *good)
{
	struct archive_entry *unused;
	const struct zip_entry *e = NULL;
	int r;

	*good = true;
	/* libarchive goes by where entries lie, as z->entries does, and every name of those has
	 * been compared already.  Its warnings are about names in this locale. */
	r = archive_read_next_header(u->ar, &unused);
	if (r == ARCHIVE_EOF && u->next == u->z->entries.n)
		return NULL;
	if (u->next < u->z->entries.n)
		e = &u->z->entries.at[u->next++];
	*good = e && (r == ARCHIVE_OK || r == ARCHIVE_WARN);
	u->got = 0;
	if (!*good)
		failed(u, e ? e->name : "the archive");
	return *good ? e : NULL;
}

bool
unpack_bytes(struct unpack *u, const struct zip_entry *e, const void **p, size_t *n)
{
	la_int64_t at;
	int r;

	/* An empty block is not the end. */
	do
		r = archive_read_data_block(u->ar, p, n, &at);
	while (r == ARCHIVE_OK && !*n);
	if (r == ARCHIVE_EOF)
		*n = 0;
	else if (r != ARCHIVE_OK)
		return failed(u, e->name);
	u->got += *n;
	if (r == ARCHIVE_EOF ? u->got != e->size : u->got > e->size)
		return zip_refuse(u->z, "`%s` has not the size that the directory says", e->name);
	return true;
}

const char *
unpack_all(struct unpack *u, struct arena *a, const struct zip_entry *e, size_t max)
{
	char *all;
	const void *p;
	size_t n, at = 0;

	if (e->size > max) {
		zip_refuse(u->z, "`%s` is larger than %zu bytes", e->name, max);
		return NULL;
	}
	all = arena_alloc(a, e->size + 1, 1);
	while (unpack_bytes(u, e, &p, &n)) {
		if (!n)
			return all;
		memcpy(all + at, p, n);
		at += n;
	}
	return NULL;
}
