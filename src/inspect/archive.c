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

bool
unpack_open(struct unpack *u)
{
	u->next = 0;
	if (!(u->ar = archive_read_new()))
		BUG("libarchive has no reader");
	if (lseek(u->z->fd, 0, SEEK_SET) < 0 ||
	    archive_read_support_format_zip_seekable(u->ar) != ARCHIVE_OK ||
	    archive_read_open_fd(u->ar, u->z->fd, READ_BYTES) != ARCHIVE_OK)
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
