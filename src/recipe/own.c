#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "load.h"

/*
 * Checks on the disk the code that a recipe names: the directory of an extension's `path`, and what
 * the lines `-e .` and `./x` of the application's requirements name. A recipe at a git revision is
 * not on the disk.
 */

const char *
recipe_place(struct arena *a, const char *path, const char *name)
{
	return fs_clean(a, fs_join(a, strcmp(path, "-") != 0 ? fs_dir(a, path) : ".", name));
}

bool
path_is_below(const char *directory, const char *path)
{
	size_t n = strcmp(directory, ".") != 0 ? strlen(directory) : 0;

	if (!strcmp(directory, "/"))
		return *path == '/';
	if (strncmp(path, directory, n) != 0 || (n && path[n] && path[n++] != '/'))
		return false;
	/* In a clean path, ".." can only be at the start. */
	return path[n] != '/' && strcmp(path + n, "..") != 0 && !starts_with(path + n, "../");
}

bool
own_code_outside(const char *path)
{
	return !strcmp(path, "..") || starts_with(path, "../");
}

/* Returns where a path that exists leads outside of a directory; NULL: it does not. */
static const char *
leads_out(struct load *l, const char *directory, const char *path)
{
	char top[PATH_MAX], target[PATH_MAX];

	if (!realpath(directory, top) || !realpath(path, target) || path_is_below(top, target))
		return NULL;
	return arena_strdup(l->a, target);
}

/* Returns the top of the git repository that has the recipe's directory, or NULL. */
static const char *
repository_top(struct load *l)
{
	const char *dir = fs_real(l->a, recipe_place(l->a, l->o->path, "."));

	while (*dir == '/' && dir[1] && !fs_exists(fs_join(l->a, dir, ".git")))
		dir = fs_dir(l->a, dir);
	return *dir == '/' && dir[1] ? dir : NULL;
}

/* Checks that the path exists, and that no link on the way leads outside of the directory. */
static bool
is_inside(struct load *l, const char *key, struct text name, const char *path,
	  const char *directory)
{
	const char *target;

	if (!fs_exists(path))
		return reject(l, E_OWN_CODE, name.at,
			      arena_printf(l->a,
					   "paths are relative to the recipe's directory, `%s`",
					   recipe_place(l->a, l->o->path, ".")),
			      "`%s`: %s does not exist", key, shown(l->a, name.s));
	if ((target = leads_out(l, directory, path)))
		return reject(
			l, E_OWN_CODE, name.at,
			"copy the files into the recipe's directory, because a build has only "
			"its files",
			"`%s`: %s is a link to `%s`, outside of the recipe's directory", key,
			shown(l->a, name.s), target);
	return true;
}

/* Checks that a path beside the recipe's directory exists in the same git repository. */
static bool
is_in_repository(struct load *l, const char *key, struct text name, const char *path)
{
	const char *top = repository_top(l);

	if (!fs_exists(path) || !own_code_outside(name.s))
		return is_inside(l, key, name, path, recipe_place(l->a, l->o->path, "."));
	if (top && !leads_out(l, top, path))
		return true;
	return reject(l, E_OWN_CODE, name.at,
		      "put both into one git repository; or move the recipe into a directory that "
		      "contains the code",
		      "`%s`: %s leaves the recipe's directory and %s", key, shown(l->a, name.s),
		      top ? "its git repository" : "is in no git repository with it");
}

static bool
has_build_file(struct arena *a, const char *dir)
{
	return fs_exists(fs_join(a, dir, "setup.py")) ||
	       fs_exists(fs_join(a, dir, "pyproject.toml"));
}

bool
own_code_holds(struct load *l, const struct recipe_extension *e)
{
	const char *path, *top, *inside = e->subdirectory.s;
	struct diag *d;

	if (!e->path.s || !load_on_disk(l))
		return true;
	top = recipe_place(l->a, l->o->path, e->path.s);
	if (!is_in_repository(l, "extensions.path", e->path, top))
		return false;
	if (!fs_is_dir(top))
		return reject(l, E_OWN_CODE, e->path.at, "name the directory of its setup.py",
			      "`extensions.path`: %s is not a directory", shown(l->a, e->path.s));
	path = inside ? fs_join(l->a, top, inside) : top;
	if (inside &&
	    !is_inside(l, "extensions.subdirectory", e->subdirectory, path,
		       own_code_outside(e->path.s) ? top : recipe_place(l->a, l->o->path, ".")))
		return false;
	if (has_build_file(l->a, path))
		return true;
	d = fault(l, E_OWN_CODE, inside ? e->subdirectory.at : e->path.at,
		  "`%s` has neither setup.py nor pyproject.toml", path);
	diag_why(d, "stackbuild compiles own code with `pip wheel`, which needs one of them");
	if (!strcmp(fs_name(path), "csrc") && has_build_file(l->a, fs_dir(l->a, path)))
		diag_help(d, "name the directory above, `%s`, which has one",
			  fs_dir(l->a, inside ? inside : fs_clean(l->a, e->path.s)));
	else
		diag_help(d, "name the directory that has one of them");
	return false;
}

/* Returns whether the build of a directory imports torch. */
static bool
needs_torch(struct load *l, const char *dir)
{
	const struct source *setup =
		fs_read_quiet(l->a, fs_join(l->a, dir, "setup.py"), FS_READ_MAX);

	return setup && strstr(setup->text, "cpp_extension");
}

bool
app_local_holds(struct load *l, struct text name)
{
	const char *path = recipe_place(l->a, l->o->path, name.s);
	struct diag *d;

	if (!load_on_disk(l))
		return true;
	if (!is_inside(l, "app.requirements", name, path, recipe_place(l->a, l->o->path, ".")))
		return false;
	if (!needs_torch(l, path))
		return true;
	d = fault(l, W_OWN_ISOLATED, name.at, "pip builds %s in isolation, without torch",
		  shown(l->a, name.s));
	diag_why(d, "its setup.py uses torch.utils.cpp_extension");
	diag_help(
		d,
		"remove the line, and list the code in the recipe: extensions: [{name: NAME, path: "
		"%s}]",
		name.s);
	return true;
}
