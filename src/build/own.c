/* Own code: the files of a recipe's directory that an extension is compiled from (docs/own-code.md). */
#include "work.h"

#include <errno.h>
#include <fts.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "base/fs.h"
#include "base/sha256.h"
#include "base/str.h"
#include "fetch/fetch.h"

/* A directory that is being copied. */
struct own_code {
	struct work *w;
	const struct stack_extension *e;
	const char *top;   /* absolute, without links */
	const char *place; /* the same from the recipe's directory, for .dockerignore */
	const char *to;
	const struct ignore *ignore;
	const struct git_rules *git; /* or NULL */
	struct names lines; /* of each file: mode, digest and path, for the digest of all */
};

static bool
refuse(struct own_code *c, const char *help, const char *fmt, const char *path, const char *other)
{
	diag_help(diag_at(c->w->ds, E_OWN_CODE, c->e->asked->path.at, fmt, path, other), "%s",
		  help);
	return false;
}

/* Returns whether git or .dockerignore ignores an entry of the directory. */
static bool
is_ignored(struct own_code *c, const FTSENT *e, const char *inside)
{
	struct arena *a = c->w->a;

	if (!strcmp(e->fts_name, ".git") || !strcmp(e->fts_name, "__pycache__"))
		return true;
	if (c->git && git_rules_ignore(a, c->git, fs_join(a, c->top, inside), e->fts_info == FTS_D))
		return true;
	/* A later pattern can keep a file in an ignored directory. */
	return e->fts_info != FTS_D &&
	       ignore_has(c->ignore, fs_clean(a, fs_join(a, c->place, inside)));
}

/* Rejects a link that a copy of the directory could not follow. */
static bool
stays_inside(struct own_code *c, const FTSENT *e, const char *inside, const char *target)
{
	char real[PATH_MAX];
	size_t n = strlen(c->top);

	if (*target != '/' && (!realpath(e->fts_accpath, real) ||
			       (!strncmp(real, c->top, n) && (!real[n] || real[n] == '/'))))
		return true;
	return refuse(
		c,
		"copy the files; or set `path` to a directory that has both, and "
		"`subdirectory` to that of setup.py",
		"the link `%s` leads to `%s`, and a build has only the files of its directory",
		fs_join(c->w->a, c->e->path, inside), target);
}

/* Copies a file or link, and adds its line. */
static bool
copy(struct own_code *c, FTSENT *e, const char *inside)
{
	struct arena *a = c->w->a;
	const char *to = fs_join(a, c->to, inside), *mode = "120000", *digest;
	char target[4096];
	ssize_t n;

	if (e->fts_info != FTS_F) {
		n = readlink(e->fts_accpath, target, sizeof(target) - 1);
		if (n < 0)
			return work_cannot(c->w, "read", e->fts_path);
		target[n] = '\0';
		if (!stays_inside(c, e, inside, target))
			return false;
		digest = sha256_hex(a, target, (size_t)n);
	} else {
		mode = e->fts_statp->st_mode & S_IXUSR ? "100755" : "100644";
		if (!(digest = sha256_file(a, e->fts_accpath, &(size_t){ 0 })))
			return work_cannot(c->w, "read", e->fts_path);
	}
	list_printf(a, &c->lines, "%s %s %s", mode, digest, inside);
	return work_make(c->w, fs_dir(a, to)) && work_copy(c->w, e->fts_accpath, to);
}

static bool
copy_entry(struct own_code *c, FTS *walk, FTSENT *e)
{
	const char *inside = e->fts_path + strlen(c->top);

	inside += *inside == '/';
	switch (e->fts_info) {
	case FTS_D:
		if (e->fts_level && (work_is_ours(c->w, e->fts_statp) || is_ignored(c, e, inside)))
			return fts_set(walk, e, FTS_SKIP) == 0;
		return true;
	case FTS_F:
	case FTS_SL:
	case FTS_SLNONE: return is_ignored(c, e, inside) || copy(c, e, inside);
	case FTS_DP:
	case FTS_DEFAULT: return true;
	default: errno = e->fts_errno; return work_cannot(c->w, "read", e->fts_path);
	}
}

static int
by_name(const FTSENT **x, const FTSENT **y)
{
	return strcmp((*x)->fts_name, (*y)->fts_name);
}

static bool
copy_files(struct own_code *c)
{
	char *const roots[] = { arena_strdup(c->w->a, c->top), NULL };
	FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
	bool good = walk || work_cannot(c->w, "read", c->top);

	for (FTSENT *e; good && (e = fts_read(walk));)
		good = copy_entry(c, walk, e);
	if (walk)
		fts_close(walk);
	return good;
}

/* Rejects code whose setup.py was ignored. */
static bool
can_build(struct own_code *c)
{
	struct arena *a = c->w->a;
	const char *dir = c->e->subdirectory ? fs_join(a, c->to, c->e->subdirectory) : c->to;

	if (fs_exists(fs_join(a, dir, "setup.py")) || fs_exists(fs_join(a, dir, "pyproject.toml")))
		return true;
	return refuse(c, "add a line with ! and its path to that file",
		      "no setup.py or pyproject.toml of `%s` is left without the files that "
		      "%s ignores",
		      c->e->path, ".gitignore or .dockerignore");
}

/* --- other files that a compile read --- */

/* The list of the last compile: the text of PLAN_BUILT (plan.h). */
static const char *
list_path(struct work *w, const struct step *s)
{
	return fs_join(w->a, w->dir, arena_printf(w->a, "%s-" PLAN_BUILT, s->id));
}

/* A line: 64 hex digits, two blanks, a path; the wheel has a relative one. */
struct built {
	const char *digest, *path;
};

/* Returns the next line of a file outside of the code; false: there is none. */
static bool
next_built(struct arena *a, const char **text, struct built *out)
{
	while (**text) {
		size_t n = strcspn(*text, "\n");
		const char *line = arena_copy(a, *text, n);

		*text += n + ((*text)[n] == '\n');
		if (n > SHA256_HEX + 2 && line[SHA256_HEX + 2] == '/') {
			*out = (struct built){ arena_printf(a, "sha256:%.64s", line),
					       line + SHA256_HEX + 2 };
			return true;
		}
	}
	return false;
}

static void
read_list(struct work *w, const struct step *s)
{
	struct stack_extension *e = (struct stack_extension *)s->extension;
	const struct source *src = fs_read_quiet(w->a, list_path(w, s), FS_READ_MAX);
	const char *text = src ? src->text : "";

	e->outside = (struct names){ 0 };
	for (struct built one; next_built(w->a, &text, &one);)
		list_push(w->a, &e->outside, one.path);
}

bool
own_code_list(struct work *w, const struct wanted_wheel *one, const char *dir)
{
	const struct source *src =
		one->step->extension->path ?
			fs_read_quiet(w->a, list_path(w, one->step), FS_READ_MAX) :
			NULL;

	return !src || fs_write(w->ds, fs_join(w->a, dir, PLAN_BUILT), src->text, src->size, 0644,
				false, NULL);
}

bool
own_code_built(struct work *w, struct wanted_wheel *one, const char *dir)
{
	const struct source *src = fs_read_quiet(w->a, fs_join(w->a, dir, PLAN_BUILT), FS_READ_MAX);
	const char *text = src ? src->text : "", *key;
	struct diags found = DIAGS(found, w->a);
	json_auto_t *inputs = NULL;
	json_t *files;
	size_t n;

	if (!one->step->extension->path || !src)
		return true;
	fs_write(&found, list_path(w, one->step), src->text, src->size, 0644, false, NULL);
	if (!one->inputs || !(inputs = json_loads(one->inputs, 0, NULL)))
		return true;
	files = json_object();
	for (struct built file; next_built(w->a, &text, &file);)
		json_object_set_new(files, file.path, json_string(file.digest));
	if (json_object_size(files))
		json_object_set(json_object_get(inputs, "source"), "outside", files);
	else
		json_object_del(json_object_get(inputs, "source"), "outside");
	json_decref(files);
	if (!(text = fetch_json_dump(w->a, inputs, JSON_COMPACT | JSON_SORT_KEYS, &n)) ||
	    !(key = store_key(w->a, &found, text, n, NULL)))
		return false;
	one->inputs = text;
	one->key = key;
	return true;
}

/* --- all of it --- */

/* Returns a path below a directory, both without links; NULL: it is not below it. */
static const char *
below(const char *path, const char *directory)
{
	size_t n = strlen(directory);

	if (strncmp(path, directory, n) != 0 || (path[n] && path[n] != '/'))
		return NULL;
	return path[n] ? path + n + 1 : ".";
}

static bool
copy_code(struct work *w, const struct step *s)
{
	struct stack_extension *e = (struct stack_extension *)s->extension;
	const char *top = recipe_place(w->a, w->plan->stack->recipe->path, ".");
	const char *from = fs_clean(w->a, fs_join(w->a, top, e->path));
	/* docker applies .dockerignore of each build context. */
	struct ignore *ignore = ignore_read(w, own_code_outside(e->path) ? from : top);
	struct own_code c = { .w = w,
			      .e = e,
			      .top = fs_real(w->a, from), /* `path` may be a link */
			      .to = fs_join(w->a, w->context,
					    arena_printf(w->a, RENDER_OWN "/%s", s->id)),
			      .ignore = ignore };
	struct git_rules *git = git_rules_open(w->a, c.top);
	const char *all;
	bool good;

	c.place = own_code_outside(e->path) ? "." : below(c.top, fs_real(w->a, top));
	c.place = c.place ? c.place : e->path;
	c.git = git;
	good = work_make(w, c.to) && copy_files(&c) && can_build(&c);
	all = names_join(w->a, &c.lines, "\n");
	e->tree = sha256_hex(w->a, all, strlen(all));
	read_list(w, s);
	ignore_free(ignore);
	if (git)
		git_rules_close(git);
	return good;
}

bool
own_code_copy(struct work *w)
{
	for (const struct step *s = w->plan->steps; s < w->plan->steps + w->plan->n; s++)
		if (s->extension && s->extension->path && !copy_code(w, s))
			return false;
	return true;
}
