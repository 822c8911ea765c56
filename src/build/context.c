/* Creates the directory of a build: its lock, its context, and the files of its secrets. */
#include "engine_parts.h"
#include "work.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/proc.h"
#include "base/str.h"

bool
work_cannot(struct work *w, const char *what, const char *path)
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
	return mkdir(path, 0755) == 0 || errno == EEXIST ||
	       work_cannot(w, "create the directory", path);
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
		work_cannot(w, "empty the directory", path);
		return NULL;
	}
	return work_make(w, path) ? path : NULL;
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
	const char *from = recipe_place(w->a, r->path, ".");
	struct names all = { 0 };

	for (size_t i = 0; i < r->app.copy.n; i++)
		list_push(w->a, &all, r->app.copy.at[i].s);
	for (size_t i = 0; i < r->app.files.n; i++)
		list_push(w->a, &all, r->app.files.at[i]);
	list_each (local, &r->app.locals)
		list_push(w->a, &all, local->s);
	if (all.n && !ignore_copy(w, from))
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
		if (!work_make(w, fs_dir(w->a, to)) || !work_copy(w, source, to))
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
		return work_copy(w, part->from, to);
	return symlink(part->from, to) == 0 || work_cannot(w, "link", to);
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
		return work_cannot(w, "create a directory in", "/tmp");
	if (symlink(dir, fs_join(w->a, w->dir, "secrets-at")) != 0) {
		work_cannot(w, "create the link", fs_join(w->a, w->dir, "secrets-at"));
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
			good = work_cannot(w, "read the secret's file", file);
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
				work_cannot(w, "link", path)) &&
			       good;
		else
			good = fs_write(w->ds, path, value, strlen(value), 0600, false, NULL) &&
			       good;
		if (file && (held = fs_read_quiet(w->a, file, SECRET_MAX)))
			value = held->text;
		if (value)
			list_push(w->a, &w->masked, value);
		good = (!value || recipe_secret_fits(w->ds, w->plan->stack->recipe, name, value)) &&
		       good;
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
		return work_cannot(w, "write", path);
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
	return w->context && work_make(w, w->app) && copy_application(w) && own_code_copy(w) &&
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
