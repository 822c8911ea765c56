/* Creates the directory of a build: its lock, its context, and the files of its secrets. */
#include "engine_parts.h"
#include "work.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/proc.h"
#include "base/str.h"

static bool
cannot(struct work *w, const char *what, const char *path)
{
	diag_at(w->ds, E_BUILD_FILES, NOWHERE, "cannot %s %s: %s", what, path, strerror(errno));
	return false;
}

bool
work_make(struct work *w, const char *path)
{
	struct stat st;

	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		return true;
	if (strcmp(path, fs_dir(w->a, path)) && !work_make(w, fs_dir(w->a, path)))
		return false;
	return mkdir(path, 0755) == 0 || errno == EEXIST || cannot(w, "create the directory", path);
}

const char *
work_stack_dir(struct work *w)
{
	return w->plan->stack->recipe->cell ? fs_dir(w->a, w->o->out) : w->o->out;
}

const char *
work_folder(struct work *w, const char *name)
{
	const char *path = fs_join(w->a, w->dir, name);

	if ((errno = fs_remove(path))) {
		cannot(w, "empty the directory", path);
		return NULL;
	}
	return work_make(w, path) ? path : NULL;
}

/* --- copying --- */

/*
 * Copies a file with its mode and time, like COPY from the user's directory: some engines treat a
 * new time as a change.
 */
static bool
keep_mode(struct work *w, const struct stat *st, const char *to)
{
	const struct timespec times[] = { st->st_atim, st->st_mtim };

	(void)!utimensat(AT_FDCWD, to, times, 0);
	return chmod(to, st->st_mode & 07777) == 0 || cannot(w, "write", to);
}

/* Returns true for files that a build leaves beside the recipe: they do not belong in an image, and
 * change with each build. */
static bool
is_ours(struct work *w, const struct stat *st)
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
		return cannot(w, "read", from);
	out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	n = out < 0 ? 1 : 0;
	while (out >= 0 && (n = read(in, block, sizeof(block))) > 0)
		if (!fs_write_all(out, block, (size_t)n))
			break;
	good = n == 0 || cannot(w, n < 0 ? "read" : "write", n < 0 ? from : to);
	close(in);
	if (out >= 0)
		good = (close(out) == 0 || cannot(w, "write", to)) && good;
	return good && keep_mode(w, &st, to);
}

static bool
copy_link(struct work *w, const char *from, const char *to)
{
	char target[4096];
	ssize_t n = readlink(from, target, sizeof(target) - 1);

	if (n < 0)
		return cannot(w, "read", from);
	target[n] = '\0';
	return symlink(target, to) == 0 || errno == EEXIST || cannot(w, "link", to);
}

static bool
copy_entry(struct work *w, FTS *walk, FTSENT *e, const char *to)
{
	switch (e->fts_info) {
	case FTS_D:
		e->fts_number = e->fts_level > 0 && is_ours(w, e->fts_statp);
		if (!e->fts_number)
			return work_make(w, to);
		return fts_set(walk, e, FTS_SKIP) == 0;
	case FTS_DP: return e->fts_number || keep_mode(w, e->fts_statp, to);
	case FTS_F: return copy_file(w, e->fts_accpath, to);
	case FTS_SL:
	case FTS_SLNONE: return copy_link(w, e->fts_accpath, to);
	case FTS_DEFAULT: return true; /* sockets and the like are in no image */
	default: errno = e->fts_errno; return cannot(w, "read", e->fts_path);
	}
}

static bool
copy_tree(struct work *w, const char *from, const char *to)
{
	char *const roots[] = { arena_strdup(w->a, from), NULL };
	FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	bool good = walk || cannot(w, "read", from);

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

/* --- the user's .dockerignore, for a context with the user's files one directory deeper --- */

#define BLANKS " \t\r\v\f"
#define BOM "\xef\xbb\xbf"

/* Cleans a path below / like Go's filepath.Clean: "./a//b/../c" -> "a/c"; NULL: it leaves the
 * directory. */
static const char *
clean(struct arena *a, const char *pattern)
{
	const char *path = fs_clean(a, pattern + strspn(pattern, "/"));

	return !strcmp(path, ".")                              ? "" :
	       !strcmp(path, "..") || starts_with(path, "../") ? NULL :
								 arena_printf(a, "/%s", path);
}

static const char *
trimmed(struct arena *a, const char *s)
{
	size_t n;

	s += strspn(s, BLANKS);
	for (n = strlen(s); n && strchr(BLANKS, s[n - 1]);)
		n--;
	return arena_copy(a, s, n);
}

/*
 * Rewrites the patterns for app/, so that they cannot exclude stackbuild's own files.
 *
 * Source: moby patternmatcher/ignorefile: comments, !, filepath.Clean, one leading slash.
 */
static const char *
ignore_below(struct arena *a, const char *text)
{
	struct names lines =
		names_split(a, text + (starts_with(text, BOM) ? strlen(BOM) : 0), '\n');
	struct buf out = BUF(a);

	for (size_t i = 0; i < lines.n; i++) {
		const char *s = trimmed(a, lines.at[i]), *mark = *s == '!' ? "!" : "", *below;

		if (*lines.at[i] == '#' || !*s)
			continue;
		s = trimmed(a, s + strlen(mark));
		below = clean(a, s);
		/* Keeps a single "!", which the engine reports. */
		if (!*s)
			buf_printf(&out, "%s\n", mark);
		/* A pattern for the directory itself, or outside of it, matches nothing. */
		else if (below && *below)
			buf_printf(&out, "%s" RENDER_APP "%s\n", mark, below);
	}
	return buf_text(&out);
}

/* Writes both ignore files: podman and buildah read .containerignore, docker only .dockerignore. */
static bool
copy_ignore(struct work *w, const char *from)
{
	static const char *const names[] = { ".containerignore", ".dockerignore" };

	for (size_t i = 0; i < COUNT(names); i++) {
		const char *path = fs_join(w->a, from, names[i]), *text;
		const struct source *s;

		if (!fs_exists(path))
			continue;
		if (!(s = fs_read(w->a, w->ds, path, FS_READ_MAX, w->plan->stack->recipe->app.at)))
			return false;
		text = ignore_below(w->a, s->text);
		if (!fs_write(w->ds, fs_join(w->a, w->context, names[i]), text, strlen(text), 0644,
			      false, NULL))
			return false;
	}
	return true;
}

static bool
is_link(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
}

/* Copies the files of app: from the recipe's directory, and the ignore files. */
static bool
copy_application(struct work *w)
{
	const struct recipe *r = w->plan->stack->recipe;
	const char *from = strcmp(r->path, "-") ? fs_dir(w->a, r->path) : ".";
	struct names all = { 0 };

	for (size_t i = 0; i < r->app.copy.n; i++)
		list_push(w->a, &all, r->app.copy.at[i].s);
	for (size_t i = 0; i < r->app.files.n; i++)
		list_push(w->a, &all, r->app.files.at[i]);
	if (all.n && !copy_ignore(w, from))
		return false;
	for (size_t i = 0; i < all.n; i++) {
		const char *source = fs_join(w->a, from, all.at[i]);
		const char *to = fs_join(w->a, w->app, all.at[i]);

		if (!fs_exists(source)) {
			diag_help(diag_at(w->ds, E_BUILD_FILES, r->app.at,
					  "`app.copy` names %s, which does not exist", source),
				  "the paths of `app` are relative to the recipe's directory, %s",
				  from);
			return false;
		}
		if (is_link(to)) /* the copy of `.` brought it; writing would follow the link */
			continue;
		/* COPY follows a link that it names, and keeps links inside a directory. */
		if (is_link(source))
			source = fs_real(w->a, source);
		if (!work_make(w, fs_dir(w->a, to)) || !copy_tree(w, source, to))
			return false;
	}
	return true;
}

const char *
build_mirror_place(struct arena *a, const char *out)
{
	return fs_join(a, fs_join(a, fs_real(a, "."), out), ".build/mirror");
}

/* Places a part of the mirror: a link is enough for a script, but not for the context of an engine. */
static bool
place_part(struct work *w, const struct mirror_part *part, const char *to)
{
	if (!work_make(w, fs_dir(w->a, to)))
		return false;
	if (part->text)
		return fs_write(w->ds, to, part->text, strlen(part->text), 0644, false, NULL);
	if (w->o->engine->build)
		return copy_tree(w, part->from, to);
	return symlink(part->from, to) == 0 || cannot(w, "link", to);
}

/* Places the parts of the mirror that commands read: RUN mounts them from the context. */
static bool
place_mirror(struct work *w)
{
	const char *top = w->o->engine->build ? fs_join(w->a, w->context, MIRROR_CONTEXT) :
						work_folder(w, "mirror");

	if (!top || !work_make(w, top))
		return false;
	list_each (part, &w->o->mirror->parts)
		if (!place_part(w, part, fs_join(w->a, top, part->path)))
			return false;
	return true;
}

bool
work_load(struct work *w)
{
	list_each (dir, &w->o->mirror->loads) {
		struct engine_command load =
			engine_call(w->a, &w->o->state->at, w->o->engine->load, NULL, NULL);
		struct engine_command c = { .env = load.env };

		engine_add(w->a, &c, "sh", "-c",
			   "d=$1 && shift && tar -chC \"$d\" manifest.json blobs | \"$@\"", "sh",
			   *dir, NULL);
		for (size_t i = 0; i < load.argv.n; i++)
			list_push(w->a, &c.argv, load.argv.at[i]);
		if (!work_run(w, c))
			return false;
	}
	return true;
}

/* --- secrets --- */

static const char *
secret_given(const struct work *w, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < w->o->secrets.n; i++)
		if (!strncmp(w->o->secrets.at[i], name, n) && w->o->secrets.at[i][n] == '=')
			return w->o->secrets.at[i] + n + 1;
	return NULL;
}

enum { SECRET_MAX = 64 * 1024 }; /* bytes; a larger file is not a secret */

/* Makes the directory of the secrets, in memory if possible and never in the image's context. If
 * this build is killed, the next one finds it by a link. */
static bool
secrets_folder(struct work *w)
{
	const char *run = getenv("XDG_RUNTIME_DIR");
	const char *dir = proc_temp(w->a, run && *run ? run : "/dev/shm", "stackbuild");

	if (!dir && !(dir = proc_temp(w->a, "/tmp", "stackbuild")))
		return cannot(w, "create a directory in", "/tmp");
	if (symlink(dir, fs_join(w->a, w->dir, "secrets-at")) != 0) {
		cannot(w, "create the link", fs_join(w->a, w->dir, "secrets-at"));
		rmdir(dir);
		return false;
	}
	w->secrets = dir;
	return true;
}

/* Removes the files of a build that was killed. */
static void
forget_secrets(struct work *w)
{
	const char *link = fs_join(w->a, w->dir, "secrets-at"), *name;
	char dir[PATH_MAX];
	ssize_t n = readlink(link, dir, sizeof(dir) - 1);
	struct stat st;

	if (n <= 0)
		return;
	dir[n] = '\0';
	name = strrchr(dir, '/');
	if (name && starts_with(name + 1, "stackbuild-") &&
	    strlen(name + 1) == strlen("stackbuild-XXXXXX") && lstat(dir, &st) == 0 &&
	    S_ISDIR(st.st_mode) && st.st_uid == geteuid())
		fs_remove(dir);
	unlink(link);
}

bool
work_secrets(struct work *w)
{
	struct names needed = plan_secrets(w->a, w->plan);
	const struct texts *listed = &w->plan->stack->recipe->secrets;
	bool good = true;

	for (size_t i = 0; i < listed->n; i++)
		names_once(w->a, &needed, listed->at[i].s);
	for (size_t i = 0; i < needed.n; i++) {
		const char *name = needed.at[i], *file = secret_given(w, name);
		const char *value = file ? NULL : getenv(name), *path;
		const struct source *held;

		if (file && access(file, R_OK) != 0) {
			good = cannot(w, "read the secret's file", file);
			continue;
		}
		if (!file && !value) {
			diag_help(diag_at(w->ds, E_SECRET_MISSING, NOWHERE,
					  "the build needs the secret %s, which is not set", name),
				  "pass --secret %s=FILE, or set the environment variable %s", name,
				  name);
			good = false;
			continue;
		}
		if (!w->secrets && !secrets_folder(w))
			return false;
		path = fs_join(w->a, w->secrets, name);
		if (file)
			good = (symlink(fs_real(w->a, file), path) == 0 ||
				cannot(w, "link", path)) &&
			       good;
		else
			good = fs_write(w->ds, path, value, strlen(value), 0600, false, NULL) &&
			       good;
		if (file && (held = fs_read_quiet(w->a, file, SECRET_MAX)))
			value = held->text;
		if (value)
			list_push(w->a, &w->masked, value);
		list_printf(w->a, &w->secret_files, "%s=%s", name, file ? file : path);
	}
	return good;
}

/* --- the directory --- */

bool
work_open(struct work *w)
{
	const char *path;

	w->lock = -1;
	w->dir = fs_join(w->a, w->o->out, ".build");
	if (!work_make(w, w->dir))
		return false;
	/* Keeps the lock file, because another process may already wait for it. */
	path = fs_join(w->a, w->dir, "lock");
	w->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (w->lock < 0)
		return cannot(w, "write", path);
	if (flock(w->lock, LOCK_EX | LOCK_NB) != 0) {
		diag_help(diag_at(w->ds, E_BUILD_RUNNING, NOWHERE,
				  "another build of %s is running in %s", w->plan->name, w->o->out),
			  "wait for it, or build in another directory with -o");
		close(w->lock);
		w->lock = -1;
		return false;
	}
	w->dockerfile = fs_join(w->a, w->dir, "Dockerfile");
	forget_secrets(w);
	w->context = work_folder(w, "context");
	w->app = w->context ? fs_join(w->a, w->context, RENDER_APP) : NULL;
	return w->context && work_make(w, w->app) && copy_application(w) &&
	       (!w->o->mirror || place_mirror(w));
}

void
work_close(struct work *w)
{
	static const char *const ours[] = { "context", "inputs", "mirror", "wheels", "venv" };

	for (size_t i = 0; w->lock >= 0 && !w->o->keep_context && i < COUNT(ours); i++)
		fs_remove(fs_join(w->a, w->dir, ours[i]));
	if (w->secrets)
		forget_secrets(w);
	if (w->lock >= 0)
		close(w->lock);
	w->lock = -1;
}
