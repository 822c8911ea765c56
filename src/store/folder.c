/*
 * A directory as a store, which several writers share:
 *
 *   DIR/wheels/KEY[0:2]/KEY/   NAME.whl, entry.json; its time is the time of the last use
 *   DIR/tmp/                   entries being written or removed
 *   DIR/trash/                 an earlier tmp/, which any process may remove
 *   DIR/lock                   shared by writers; exclusive for gc, for a moment at a time
 *
 * An entry appears by one rename of its directory, after all of it is on the disk, and never
 * changes. A reader needs no lock: it keeps the directory open, and so reads a consistent entry
 * even if another process replaces it. A writer that was killed leaves a directory in tmp/ and no
 * lock, so a process with the exclusive lock may rename tmp/ to trash/, and remove that later.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/sha256.h"
#include "base/str.h"
#include "internal.h"

const char *
folder_of(struct arena *a, const struct store *s, const char *key)
{
	return arena_printf(a, "%s/wheels/%.2s/%s", s->where, key, key);
}

const char *
folder_wheel(struct arena *a, const struct store *s, const struct entry *e)
{
	return fs_join(a, folder_of(a, s, e->key), e->wheel);
}

/* --- files; a failure leaves errno --- */

/* Closes a file; close() reports errors that a full disk or a network file system delayed. */
static bool
finish(int fd, bool good)
{
	good = good && fsync(fd) == 0;
	return (close(fd) == 0) & good;
}

static bool
write_file(const char *path, const char *bytes, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

	return fd >= 0 && finish(fd, fs_write_all(fd, bytes, n));
}

struct copied {
	const char *sha256;
	size_t size;
	bool reading; /* reading `from` failed */
};

/* Copies a regular file below dir_fd to a new one, and syncs that to the disk. */
static bool
copy_file(struct arena *a, int dir_fd, const char *from, const char *to, struct copied *c)
{
	FS_FD int in = openat(dir_fd, from, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct sha256 *sum = sha256_new(a);
	char chunk[64 * 1024];
	bool good = true;
	struct stat st;
	ssize_t got;
	int out;

	*c = (struct copied){ .reading = true };
	if (in < 0 || fstat(in, &st) < 0)
		return false;
	if (!S_ISREG(st.st_mode)) {
		errno = EISDIR;
		return false;
	}
	c->reading = false;
	out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (out < 0)
		return false;
	while (good && (got = read(in, chunk, sizeof(chunk))) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		c->reading = got < 0;
		good = got > 0 && fs_write_all(out, chunk, (size_t)got);
		sha256_add(sum, chunk, got > 0 ? (size_t)got : 0);
		c->size += got > 0 ? (size_t)got : 0;
	}
	c->sha256 = sha256_end(a, sum);
	return finish(out, good);
}

static bool
sync_folder(const char *path)
{
	FS_FD int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	/* Some network file systems do not support fsync for a directory. */
	return fd >= 0 && (fsync(fd) == 0 || errno == EINVAL || errno == EROFS);
}

/* --- reading --- */

/* Reads entry.json of an open directory; NULL: errno has the reason. */
static const char *
read_text(struct arena *a, int dir, struct stat *st, size_t *n)
{
	FS_FD int fd = openat(dir, "entry.json", O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
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

static enum store_answer
unreadable(struct arena *a, struct store *s, const char *path)
{
	if (errno == ENOENT)
		return STORE_MISS;
	s->why = arena_printf(a, "`%s` of the store %s cannot be read: %s", path, s->name,
			      strerror(errno));
	return STORE_UNREACHABLE;
}

/* Returns true if another process has removed the entry, which is a miss and not an error. */
static bool
is_gone(struct arena *a, const struct store *s, const char *key)
{
	struct stat st;

	return stat(folder_of(a, s, key), &st) < 0 ? errno == ENOENT : st.st_ino != s->id;
}

/* Answers for a file that cannot be opened: a link or directory counts as damage. */
static enum store_answer
damaged(struct arena *a, struct store *s, const char *key, const char *file, const char *why)
{
	if (errno != ENOENT && errno != ELOOP && errno != EISDIR)
		return unreadable(a, s, fs_join(a, folder_of(a, s, key), file));
	s->why = why;
	return is_gone(a, s, key) ? STORE_MISS : STORE_REFUSED;
}

static enum store_answer
read_entry(struct arena *a, struct store *s, const char *key, struct entry_file *out)
{
	const char *path = folder_of(a, s, key);
	FS_FD int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	if (dir < 0 || fstat(dir, &st) < 0)
		return unreadable(a, s, path);
	s->id = st.st_ino;
	out->text = read_text(a, dir, &st, &out->n);
	out->used = st.st_mtime;
	return out->text ? STORE_HIT : damaged(a, s, key, "entry.json", "it has no entry");
}

static enum store_answer
fetch(struct arena *a, struct store *s, const struct entry *e, const char *to)
{
	FS_FD int dir = open(folder_of(a, s, e->key), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct copied c;
	struct stat st;

	if (dir < 0 || fstat(dir, &st) < 0)
		return unreadable(a, s, folder_of(a, s, e->key));
	if (st.st_ino != s->id)
		return STORE_MISS;
	if (copy_file(a, dir, e->wheel, to, &c)) {
		s->why = c.size != e->size ?
				 arena_printf(a, "it has %zu bytes, and its entry has %zu", c.size,
					      e->size) :
				 "its digest differs from its entry";
		return c.size == e->size && !strcmp(c.sha256, e->sha256) ? STORE_HIT :
									   STORE_REFUSED;
	}
	if (c.reading)
		return damaged(a, s, e->key, e->wheel,
			       errno == ENOENT ? "its file is missing" : "it is not a file");
	s->why = arena_printf(a, "the wheels of %s cannot be copied to `%s`: %s", s->name,
			      fs_dir(a, to), strerror(errno));
	return STORE_UNREACHABLE;
}

static void
used(struct arena *a, struct store *s, const char *key)
{
	/* A read-only store does not record the use. */
	utimensat(AT_FDCWD, fs_join(a, folder_of(a, s, key), "entry.json"), NULL,
		  AT_SYMLINK_NOFOLLOW);
}

static enum store_answer
keys(struct arena *a, struct store *s, struct names *out)
{
	const char *wheels = fs_join(a, s->where, "wheels");
	struct names heads = { 0 };
	struct diags mine = DIAGS(mine, a);
	bool good = fs_list(a, &mine, wheels, "", &heads);

	for (size_t i = 0; good && i < heads.n; i++) {
		struct names all = { 0 };

		/* Ignores other files next to the directories. */
		good = fs_list(a, &mine, fs_join(a, wheels, heads.at[i]), "", &all);
		for (size_t k = 0; k < all.n; k++)
			if (store_is_key(all.at[k]) && starts_with(all.at[k], heads.at[i]))
				list_push(a, out, all.at[k]);
	}
	names_sort(out);
	s->why = good ? NULL : mine.head->text;
	return good ? STORE_HIT : STORE_UNREACHABLE;
}

/* --- removing --- */

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

const char *
folder_temp(struct arena *a, const struct store *s, const char *key)
{
	for (unsigned i = 0; i < 10000; i++) {
		const char *temp =
			arena_printf(a, "%s/tmp/%.12s.%ld.%u", s->where, key, (long)getpid(), i);

		if (mkdir(temp, 0777) == 0)
			return temp;
		if (errno == ENOENT ? !fs_make_parents(a, temp) : errno != EEXIST)
			return NULL;
	}
	return NULL;
}

/* Removes an entry by a rename into tmp/, then file by file. False: errno has the reason. */
static bool
throw_out(struct arena *a, const struct store *s, const char *key)
{
	const char *temp = folder_temp(a, s, key);
	bool good = temp && (rename(folder_of(a, s, key), temp) == 0 || errno == ENOENT);

	if (temp)
		fs_remove(temp);
	return good;
}

const char *
folder_sweep(struct arena *a, const struct store *s)
{
	const char *trash = fs_join(a, s->where, "trash");

	/* If an earlier trash/ still has files, tmp/ stays for the next time. */
	(void)!rename(fs_join(a, s->where, "tmp"), trash);
	return trash;
}

/* Removes the entry, unless a new one that has not been checked has replaced it. */
static void
drop(struct arena *a, struct store *s, const char *key)
{
	FS_FD int lock = folder_lock(a, s, LOCK_SH);

	if (lock >= 0 && !is_gone(a, s, key))
		throw_out(a, s, key);
}

/* --- saving --- */

static bool
not_saved(struct diags *ds, const struct store *s, const struct entry *e, const char *why)
{
	bool full = errno == ENOSPC || errno == EDQUOT;

	diag_help(store_not_saved(ds, s, e, why ? why : strerror(errno)), "%s",
		  full ? "free disk space: stackbuild store gc --days 7" :
			 "pass a writable store with --store");
	return false;
}

/* Records the use of an existing entry; false: gc has removed it meanwhile. With the lock, gc sees the
 * new time before it removes the entry. */
static bool
still_used(struct arena *a, struct store *s, const char *key)
{
	FS_FD int lock = folder_lock(a, s, LOCK_SH); /* -1: a read-only store, where no gc runs */

	(void)lock;
	used(a, s, key);
	return !is_gone(a, s, key);
}

/* Writes the files of an entry to the disk before the rename; the wheel is the inspected one. */
static bool
fill(struct arena *a, const struct entry *e, const char *path, const char *temp, const char **why)
{
	const char *text = entry_text(a, e);
	struct copied c;

	*why = NULL;
	if (!copy_file(a, AT_FDCWD, path, fs_join(a, temp, e->wheel), &c))
		return false;
	if (strcmp(c.sha256, e->sha256)) {
		*why = "another process changed it";
		return false;
	}
	return write_file(fs_join(a, temp, "entry.json"), text, strlen(text)) && sync_folder(temp);
}

/* Keeps an existing entry that is a hit or cannot be read, and replaces any other. */
static enum store_answer
there(struct arena *a, struct diags *ds, struct store *s, const struct entry *e)
{
	const struct entry *old;
	const char *path;
	struct diags mine = DIAGS(mine, a);
	enum store_answer answer;

	answer = store_take(a, &mine, s, e->key, NULL, NULL, &old, &path);
	if (answer == STORE_UNREACHABLE)
		diags_append(ds, &mine);
	return answer;
}

static bool
publish(struct arena *a, struct diags *ds, struct store *s, const struct entry *e, const char *temp)
{
	const char *to = folder_of(a, s, e->key), *head = fs_dir(a, to);

	for (int i = 0; i < 3; i++) {
		if (!fs_make_parents(a, to))
			return false;
		if (rename(temp, to) == 0)
			return sync_folder(head) && sync_folder(fs_dir(a, head)) &&
			       sync_folder(s->where);
		if (errno != ENOTEMPTY && errno != EEXIST)
			return false;
		switch (there(a, ds, s, e)) {
		case STORE_HIT: fs_remove(temp); return true;
		case STORE_UNREACHABLE: return false;
		default:
			if (!throw_out(a, s, e->key))
				return false;
		}
	}
	return false;
}

static bool
save(struct arena *a, struct diags *ds, struct store *s, const struct entry *e, const char *path)
{
	const char *temp, *trash = NULL, *why = NULL;
	FS_FD int lock = -1;

	switch (there(a, ds, s, e)) {
	case STORE_HIT:
		if (still_used(a, s, e->key))
			return true;
		break;
	case STORE_UNREACHABLE: return false;
	default: break;
	}
	if (!fs_make_parents(a, fs_join(a, s->where, "lock")))
		return not_saved(ds, s, e, NULL);
	/* With the exclusive lock, everything in tmp/ belongs to writers that were killed. */
	lock = folder_lock(a, s, LOCK_EX | LOCK_NB);
	if (lock >= 0)
		trash = folder_sweep(a, s);
	else if (errno == EWOULDBLOCK)
		lock = folder_lock(a, s, LOCK_SH);
	if (lock < 0 || flock(lock, LOCK_SH) < 0 || !(temp = folder_temp(a, s, e->key)))
		return not_saved(ds, s, e, NULL);
	if (trash)
		fs_remove(trash);
	if (fill(a, e, path, temp, &why) && publish(a, ds, s, e, temp))
		return true;
	fs_remove(temp);
	return not_saved(ds, s, e, why);
}

const struct store_kind store_folder = {
	.read = read_entry,
	.fetch = fetch,
	.save = save,
	.keys = keys,
	.drop = drop,
	.used = used,
};
