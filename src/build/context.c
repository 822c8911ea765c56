/* The folder of a build: its lock, its context, and its secrets' files. */
#include "work.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/str.h"

static bool
cannot(struct work *w, const char *what, const char *path)
{
	diag_at(w->ds, E_BUILD_FILES, (struct span){ 0 }, "cannot %s %s: %s", what, path,
		strerror(errno));
	return false;
}

static int
remove_entry(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st, (void)at;
	(void)(kind == FTW_DP ? rmdir(path) : unlink(path));
	return 0;
}

/* What lies in a folder that may not be written could not be removed. */
static int
open_folder(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)at;
	if ((kind == FTW_D || kind == FTW_DNR) && (st->st_mode & 0700) != 0700)
		chmod(path, 0700);
	return 0;
}

static void
remove_tree(const char *path)
{
	nftw(path, open_folder, 16, FTW_PHYS | FTW_MOUNT);
	nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

static bool
make_folders(struct work *w, const char *path)
{
	struct stat st;

	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		return true;
	if (strcmp(path, fs_dir(w->a, path)) && !make_folders(w, fs_dir(w->a, path)))
		return false;
	return mkdir(path, 0755) == 0 || errno == EEXIST || cannot(w, "make the folder", path);
}

bool
work_make(struct work *w, const char *path)
{
	return make_folders(w, path);
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

	remove_tree(path);
	if (fs_exists(path)) {
		cannot(w, "empty the folder", path);
		return NULL;
	}
	return make_folders(w, path) ? path : NULL;
}

/* --- copying --- */

static bool
copy_bytes(struct work *w, int in, int out, const char *from, const char *to)
{
	char block[64 * 1024];
	ssize_t n;

	while ((n = read(in, block, sizeof(block))) > 0)
		if (!fs_write_all(out, block, (size_t)n))
			return cannot(w, "write", to);
	return n == 0 || cannot(w, "read", from);
}

/* Some engines take a file with another time for another file. */
static void
keep_times(int fd, const struct stat *st)
{
	const struct timespec times[] = { st->st_atim, st->st_mtim };

	(void)!futimens(fd, times);
}

/* As COPY would take it from the user's folder. */
static bool
keep_mode(struct work *w, const char *from, const char *to)
{
	struct stat st;
	int fd = open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool good = fd >= 0 && stat(from, &st) == 0;

	if (good)
		keep_times(fd, &st);
	good = good && fchmod(fd, st.st_mode & 07777) == 0;
	if (fd >= 0)
		close(fd);
	return good || cannot(w, "write", to);
}

static bool
is_same(const char *path, const struct stat *st)
{
	struct stat other;

	return stat(path, &other) == 0 && other.st_dev == st->st_dev && other.st_ino == st->st_ino;
}

static bool
copy_file(struct work *w, const char *from, const char *to)
{
	int in, out;
	struct stat st;
	bool good;

	/* There already: app: names it twice, say `.` and a file of it. */
	if (link(from, to) == 0 || errno == EEXIST)
		return true;
	if ((in = open(from, O_RDONLY | O_CLOEXEC)) < 0 || fstat(in, &st) != 0) {
		cannot(w, "read", from);
		if (in >= 0)
			close(in);
		return false;
	}
	if ((out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, st.st_mode & 0777)) < 0) {
		cannot(w, "write", to);
		close(in);
		return false;
	}
	good = copy_bytes(w, in, out, from, to);
	keep_times(out, &st);
	close(in);
	return (close(out) == 0 || cannot(w, "write", to)) && good;
}

static bool copy_tree(struct work *w, const char *from, const char *to);

static bool
copy_folder(struct work *w, const char *from, const char *to)
{
	DIR *d = opendir(from);
	const struct dirent *e;
	bool good = true;

	if (!d)
		return cannot(w, "read the folder", from);
	good = make_folders(w, to);
	while (good && (e = readdir(d))) {
		const char *source = fs_join(w->a, from, e->d_name);
		struct stat st;

		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		/* What a build leaves beside the recipe is of no image, and changes each time. */
		if (!lstat(source, &st) && (is_same(work_stack_dir(w), &st) ||
					    is_same(w->o->out, &st) || is_same(w->dir, &st)))
			continue;
		good = copy_tree(w, source, fs_join(w->a, to, e->d_name));
	}
	closedir(d);
	return good && keep_mode(w, from, to);
}

static bool
copy_tree(struct work *w, const char *from, const char *to)
{
	struct stat st;
	char target[4096];
	ssize_t n;

	if (lstat(from, &st) != 0)
		return cannot(w, "read", from);
	if (S_ISDIR(st.st_mode))
		return copy_folder(w, from, to);
	if (S_ISREG(st.st_mode))
		return copy_file(w, from, to);
	if (!S_ISLNK(st.st_mode))
		return true; /* sockets and the like are in no image */
	if ((n = readlink(from, target, sizeof(target) - 1)) < 0)
		return cannot(w, "read", from);
	target[n] = '\0';
	return symlink(target, to) == 0 || errno == EEXIST || cannot(w, "link", to);
}

bool
work_place(struct work *w, const char *from, const char *to)
{
	return make_folders(w, fs_dir(w->a, to)) && copy_file(w, from, to);
}

/* podman and buildah read the first, docker only the second. */
static bool
copy_ignore(struct work *w, const char *from)
{
	static const char *const names[] = { ".containerignore", ".dockerignore" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const char *path = fs_join(w->a, from, names[i]), *text;
		const struct source *s;

		if (!fs_exists(path))
			continue;
		if (!(s = fs_read(w->a, w->ds, path, FS_READ_MAX, w->plan->stack->recipe->app.at)))
			return false;
		text = ignore_written(w->a, s->text);
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

/* COPY follows a link that it is told to copy, and keeps those inside of a folder. */
static const char *
behind_link(struct work *w, const char *path)
{
	return is_link(path) ? fs_real(w->a, path) : path;
}

/* What app: copies, from the recipe's folder, and the files that say what is left out. */
static bool
copy_application(struct work *w)
{
	const struct recipe *r = w->plan->stack->recipe;
	const char *from = strcmp(r->path, "-") ? fs_dir(w->a, r->path) : ".";
	struct names all = { 0 };

	for (size_t i = 0; i < r->app.copy.n; i++)
		list_push(w->a, &all, r->app.copy.at[i].s);
	if (r->app.requirements.s)
		list_push(w->a, &all, r->app.requirements.s);
	if (all.n && !copy_ignore(w, from))
		return false;
	for (size_t i = 0; i < all.n; i++) {
		const char *source = fs_join(w->a, from, all.at[i]);
		const char *to = fs_join(w->a, w->app, all.at[i]);

		if (!fs_exists(source)) {
			diag_help(diag_at(w->ds, E_BUILD_FILES, r->app.at,
					  "app: copies %s, which is not there", source),
				  "paths of app: start at the recipe's folder, %s", from);
			return false;
		}
		if (is_link(to)) /* it came with `.`: nothing is written through it */
			continue;
		if (!make_folders(w, fs_dir(w->a, to)) || !copy_tree(w, behind_link(w, source), to))
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

static bool
write_secret(struct work *w, const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	size_t n = strlen(value);
	bool good = fd >= 0 && write(fd, value, n) == (ssize_t)n;

	if (fd >= 0)
		good = close(fd) == 0 && good;
	return good || cannot(w, "write", path);
}

/* What a secret's file holds, for the mask: one that is larger is no secret but a file. */
static const char *
secret_value(struct work *w, const char *file)
{
	struct diags quiet;
	const struct source *s;

	diags_init(&quiet, w->a);
	s = fs_read(w->a, &quiet, file, 64 * 1024, (struct span){ 0 });
	return s ? s->text : "";
}

#define SECRETS "stackbuild-XXXXXX"

/* In memory where there is such a folder: never in the image's context.  A link tells the next build
 * of it, if this one is killed. */
static bool
secrets_folder(struct work *w)
{
	const char *run = getenv("XDG_RUNTIME_DIR");
	char *dir = arena_printf(w->a, "%s/" SECRETS, run && *run ? run : "/dev/shm");

	if (!mkdtemp(dir) && !mkdtemp(dir = arena_strdup(w->a, "/tmp/" SECRETS)))
		return cannot(w, "make the folder", dir);
	if (symlink(dir, fs_join(w->a, w->dir, "secrets-at")) != 0) {
		cannot(w, "write the link", fs_join(w->a, w->dir, "secrets-at"));
		rmdir(dir);
		return false;
	}
	w->secrets = dir;
	return true;
}

/* What a build that was killed left of them. */
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
	if (name && starts_with(name + 1, "stackbuild-") && strlen(name + 1) == strlen(SECRETS) &&
	    lstat(dir, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid())
		remove_tree(dir);
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
		const char *value = file ? NULL : getenv(name);

		if (file && access(file, R_OK) != 0) {
			good = cannot(w, "read the secret's file", file);
			continue;
		}
		if (!file && !value) {
			diag_help(diag_at(w->ds, E_SECRET_MISSING, (struct span){ 0 },
					  "the build needs the secret %s, and nobody gave it",
					  name),
				  "--secret %s=FILE, or a variable %s in the environment", name,
				  name);
			good = false;
			continue;
		}
		if (!file && !w->secrets && !secrets_folder(w))
			return false;
		if (!file) {
			file = fs_join(w->a, w->secrets, name);
			good = write_secret(w, file, value) && good;
		}
		list_push(w->a, &w->masked, value ? value : secret_value(w, file));
		list_push(w->a, &w->secret_files, arena_printf(w->a, "%s=%s", name, file));
	}
	return good;
}

/* --- the folder --- */

bool
work_open(struct work *w)
{
	const char *path;

	w->lock = -1;
	w->dir = fs_join(w->a, w->o->out, ".build");
	if (!make_folders(w, w->dir))
		return false;
	/* The lock's file stays: who removed it would take it from under the next one. */
	path = fs_join(w->a, w->dir, "lock");
	w->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (w->lock < 0)
		return cannot(w, "write", path);
	if (flock(w->lock, LOCK_EX | LOCK_NB) != 0) {
		diag_help(diag_at(w->ds, E_BUILD_RUNNING, (struct span){ 0 },
				  "another build of %s is running in %s", w->plan->name, w->o->out),
			  "wait for it, or build into another folder with -o");
		close(w->lock);
		w->lock = -1;
		return false;
	}
	w->dockerfile = fs_join(w->a, w->dir, "Dockerfile");
	forget_secrets(w);
	w->context = work_folder(w, "context");
	w->app = w->context ? fs_join(w->a, w->context, RENDER_APP) : NULL;
	return w->context && make_folders(w, w->app) && copy_application(w);
}

void
work_close(struct work *w)
{
	static const char *const ours[] = { "context", "inputs", "wheels", "secrets" };

	for (size_t i = 0; w->lock >= 0 && !w->o->keep_context && i < sizeof(ours) / sizeof(*ours);
	     i++)
		remove_tree(fs_join(w->a, w->dir, ours[i]));
	if (w->secrets)
		forget_secrets(w);
	if (w->lock >= 0)
		close(w->lock);
	w->lock = -1;
}

const char *
work_read(struct work *w, const char *path, size_t *n)
{
	struct diags quiet;
	const struct source *s;

	diags_init(&quiet, w->a);
	if (!(s = fs_read(w->a, &quiet, path, FS_READ_MAX, (struct span){ 0 }))) {
		diag_at(w->ds, E_INPUTS, (struct span){ 0 }, "cannot read %s", path);
		return NULL;
	}
	*n = s->size;
	return s->text;
}
