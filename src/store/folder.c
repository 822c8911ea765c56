/*
 * A folder as a store, shared by whoever can write to it:
 *
 *   DIR/wheels/KEY[0:2]/KEY/   NAME.whl, entry.json; its time is that of the last use
 *   DIR/tmp/                   what is being written, and what is being thrown out
 *   DIR/lock                   writers hold it together, gc alone
 *
 * An entry appears by one rename of its folder, when all of it is on the disk; nobody ever
 * writes into one.  A reader needs no lock: it holds the folder open, so what it reads is of
 * one entry even if that is replaced meanwhile.  A writer that was killed leaves a folder in
 * tmp/ and an unlocked lock: whoever can lock alone knows that what is in tmp/ is nobody's.
 */
#include "folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/str.h"
#include "file.h"

const char *
folder_of(struct arena *a, const struct store *s, const char *key)
{
	return arena_printf(a, "%s/wheels/%.2s/%s", s->where, key, key);
}

/* --- reading --- */

/* entry.json of an open folder, as text; NULL: errno says why. */
static const char *
read_text(struct arena *a, int dir, struct stat *st, size_t *n)
{
	STORE_FD fd = openat(dir, "entry.json", O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	struct buf b = { .a = a, .max = STORE_JSON_MAX + 1 };
	char chunk[16 * 1024];
	ssize_t got;

	if (fd < 0 || fstat(fd, st) < 0)
		return NULL;
	while (!b.over && (got = read(fd, chunk, sizeof(chunk))) != 0) {
		if (got < 0)
			return NULL;
		buf_add(&b, chunk, (size_t)got);
	}
	*n = b.n;
	return buf_text(&b);
}

/* Thrown out meanwhile by somebody else: then it is a miss, and no fault. */
static bool
is_gone(const char *path, unsigned long long id)
{
	struct stat st;

	return stat(path, &st) < 0 ? errno == ENOENT : st.st_ino != id;
}

static enum store_answer
unreadable(struct diags *ds, const struct store *s, const char *path)
{
	if (errno == ENOENT)
		return STORE_MISS;
	diag_at(ds, E_STORE_UNREACHABLE, (struct span){ 0 },
		"`%s` of the store %s cannot be read: %s", path, s->name, strerror(errno));
	return STORE_UNREACHABLE;
}

/* What is no file, or a link to one, was not written by a store. */
static bool
is_damage(int err)
{
	return err == ENOENT || err == ELOOP || err == EISDIR;
}

static enum store_answer
find(struct arena *a, struct diags *ds, struct store *s, const char *key, const struct entry **e)
{
	const char *path = folder_of(a, s, key), *text, *why = "it has no entry";
	STORE_FD dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct entry *mine = NULL;
	struct stat st, at;
	size_t n;

	*e = NULL;
	if (dir < 0 || fstat(dir, &at) < 0)
		return unreadable(ds, s, path);
	text = read_text(a, dir, &st, &n);
	if (!text && !is_damage(errno))
		return unreadable(ds, s, fs_join(a, path, "entry.json"));
	if (text && (mine = entry_read(a, text, n, key, &why))) {
		mine->used = st.st_mtime;
		mine->id = at.st_ino;
		*e = mine;
		return STORE_HIT;
	}
	if (is_gone(path, at.st_ino))
		return STORE_MISS;
	store_refuse(ds, s, key, why);
	return STORE_REFUSED;
}

static enum store_answer
fetch(struct arena *a, struct diags *ds, struct store *s, const struct entry *e, const char *folder)
{
	const char *path = folder_of(a, s, e->key), *sha256;
	STORE_FD dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool reading = true;
	struct stat st;
	size_t size;

	if (dir < 0 || fstat(dir, &st) < 0)
		return unreadable(ds, s, path);
	if (st.st_ino != e->id)
		return STORE_MISS;
	if (store_copy_file(a, dir, e->wheel, fs_join(a, folder, e->wheel), &sha256, &size,
			    &reading)) {
		if (size == e->size && !strcmp(sha256, e->sha256))
			return STORE_HIT;
		store_refuse(ds, s, e->key,
			     size != e->size ?
				     arena_printf(a, "it has %zu bytes, and its entry says %zu",
						  size, e->size) :
				     "its digest is not the one of its entry");
		return STORE_REFUSED;
	}
	if (!reading) {
		diag_at(ds, E_STORE_UNREACHABLE, (struct span){ 0 },
			"no wheel of %s can be brought to `%s`: %s", s->name, folder,
			strerror(errno));
		return STORE_UNREACHABLE;
	}
	if (is_gone(path, e->id))
		return STORE_MISS;
	if (!is_damage(errno))
		return unreadable(ds, s, fs_join(a, path, e->wheel));
	store_refuse(ds, s, e->key, errno == ENOENT ? "its file is missing" : "it is no file");
	return STORE_REFUSED;
}

static const char *
wheel_path(struct arena *a, const struct store *s, const struct entry *e)
{
	return fs_join(a, folder_of(a, s, e->key), e->wheel);
}

static void
used(struct arena *a, struct store *s, const char *key)
{
	/* A store that may only be read keeps no account of it. */
	utimensat(AT_FDCWD, fs_join(a, folder_of(a, s, key), "entry.json"), NULL,
		  AT_SYMLINK_NOFOLLOW);
}

bool
folder_keys(struct arena *a, struct diags *ds, struct store *s, struct names *keys)
{
	const char *wheels = fs_join(a, s->where, "wheels"), *at = wheels;
	struct names heads = { 0 };
	bool good = store_list_dir(a, wheels, &heads);

	for (size_t i = 0; good && i < heads.n; i++) {
		struct names all = { 0 };

		at = fs_join(a, wheels, heads.at[i]);
		/* A stray file beside the directories is no part of the store. */
		good = store_list_dir(a, at, &all) || errno == ENOTDIR;
		for (size_t k = 0; k < all.n; k++)
			if (store_is_key(all.at[k]) && starts_with(all.at[k], heads.at[i]))
				list_push(a, keys, all.at[k]);
	}
	if (!good)
		unreadable(ds, s, at);
	names_sort(keys);
	return good;
}

/* --- throwing out --- */

int
folder_lock(struct arena *a, const struct store *s, int how)
{
	int fd = open(fs_join(a, s->where, "lock"), O_RDWR | O_CREAT | O_CLOEXEC, 0666);

	while (fd >= 0 && flock(fd, how) < 0) {
		int err = errno;

		if (err == EINTR)
			continue;
		close(fd);
		errno = err;
		return -1;
	}
	return fd;
}

/* A name in tmp/ that nobody else takes. */
static const char *
temp_name(struct arena *a, const struct store *s, const char *key)
{
	static unsigned count;

	return arena_printf(a, "%s/tmp/%.12s.%ld.%u", s->where, key, (long)getpid(), count++);
}

bool
folder_throw_out(struct arena *a, const struct store *s, const char *key)
{
	for (int i = 0; i < 100; i++) {
		const char *temp = temp_name(a, s, key);

		if (rename(folder_of(a, s, key), temp) == 0) {
			store_remove(temp);
			return true;
		}
		if (errno == ENOENT && fs_make_parents(a, temp) && !fs_exists(folder_of(a, s, key)))
			return true;
		if (errno != ENOTEMPTY && errno != EEXIST && errno != ENOENT)
			break;
	}
	return false;
}

/* Unless another has taken its place: that one is not judged yet. */
static void
drop(struct arena *a, struct store *s, const char *key, unsigned long long id)
{
	STORE_FD lock = folder_lock(a, s, LOCK_SH);

	if (lock >= 0 && (!id || !is_gone(folder_of(a, s, key), id)))
		folder_throw_out(a, s, key);
}

void
folder_clear_temp(struct arena *a, const struct store *s)
{
	const char *tmp = fs_join(a, s->where, "tmp");
	struct names all = { 0 };

	if (store_list_dir(a, tmp, &all))
		for (size_t i = 0; i < all.n; i++)
			store_remove(fs_join(a, tmp, all.at[i]));
}

const struct store_kind store_folder = {
	.find = find,
	.fetch = fetch,
	.save = folder_save,
	.keys = folder_keys,
	.drop = drop,
	.path = wheel_path,
	.used = used,
};
