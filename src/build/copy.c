/* Copies the user's files into the context of a build, as hard links if the file system allows it. */
#include "work.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/str.h"

/*
 * Copies a file with its mode and time, like COPY from the user's directory: some engines treat a
 * new time as a change.
 */
static bool
keep_mode(struct work *w, const struct stat *st, const char *to)
{
	const struct timespec times[] = { st->st_atim, st->st_mtim };

	(void)!utimensat(AT_FDCWD, to, times, 0);
	return chmod(to, st->st_mode & 07777) == 0 || work_cannot(w, "write", to);
}

bool
work_is_ours(struct work *w, const struct stat *st)
{
	const char *const ours[] = { work_stack_dir(w), w->o->out, w->dir };
	struct stat other;

	for (size_t i = 0; i < COUNT(ours); i++)
		if (stat(ours[i], &other) == 0 && other.st_dev == st->st_dev &&
		    other.st_ino == st->st_ino)
			return true;
	return false;
}

static bool
copy_file(struct work *w, const char *from, const char *to)
{
	char block[64 * 1024];
	struct stat st;
	bool good;
	int in, out;
	ssize_t n;

	/* EEXIST: `app` lists the file twice, for example as `.` and by its name. */
	if (link(from, to) == 0 || errno == EEXIST)
		return true;
	if ((in = open(from, O_RDONLY | O_CLOEXEC)) < 0 || fstat(in, &st) != 0)
		return work_cannot(w, "read", from);
	out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	n = out < 0 ? 1 : 0;
	while (out >= 0 && (n = read(in, block, sizeof(block))) > 0)
		if (!fs_write_all(out, block, (size_t)n))
			break;
	good = n == 0 || work_cannot(w, n < 0 ? "read" : "write", n < 0 ? from : to);
	close(in);
	if (out >= 0)
		good = (close(out) == 0 || work_cannot(w, "write", to)) && good;
	return good && keep_mode(w, &st, to);
}

static bool
copy_link(struct work *w, const char *from, const char *to)
{
	char target[4096];
	ssize_t n = readlink(from, target, sizeof(target) - 1);

	if (n < 0)
		return work_cannot(w, "read", from);
	target[n] = '\0';
	return symlink(target, to) == 0 || errno == EEXIST || work_cannot(w, "link", to);
}

static bool
copy_entry(struct work *w, FTS *walk, FTSENT *e, const char *to)
{
	switch (e->fts_info) {
	case FTS_D:
		e->fts_number = e->fts_level > 0 && work_is_ours(w, e->fts_statp);
		if (!e->fts_number)
			return work_make(w, to);
		return fts_set(walk, e, FTS_SKIP) == 0;
	case FTS_DP: return e->fts_number || keep_mode(w, e->fts_statp, to);
	case FTS_F: return copy_file(w, e->fts_accpath, to);
	case FTS_SL:
	case FTS_SLNONE: return copy_link(w, e->fts_accpath, to);
	case FTS_DEFAULT: return true; /* sockets and the like are in no image */
	default: errno = e->fts_errno; return work_cannot(w, "read", e->fts_path);
	}
}

bool
work_copy(struct work *w, const char *from, const char *to)
{
	char *const roots[] = { arena_strdup(w->a, from), NULL };
	FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	bool good = walk || work_cannot(w, "read", from);

	for (FTSENT *e; good && (e = fts_read(walk));)
		good = copy_entry(w, walk, e,
				  arena_printf(w->a, "%s%s", to, e->fts_path + strlen(from)));
	if (walk)
		fts_close(walk);
	return good;
}

bool
work_place(struct work *w, const char *from, const char *to)
{
	return work_make(w, fs_dir(w->a, to)) && copy_file(w, from, to);
}
