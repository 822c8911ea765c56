#include "find.h"

#include <string.h>

#include "base/diag.h"
#include "base/fs.h"
#include "base/str.h"

enum { PARENTS_MAX = 64 };

/*
 * Returns whether a file looks like a recipe: a line starts with one of these keys.
 */
static bool
looks_like_recipe(struct arena *a, const char *path)
{
	const struct source *src = fs_read_quiet(a, path, FS_READ_MAX);

	return src && str_matches(src->text, "(?m)^(stack|torch|base|extensions|gpus):");
}

/* Returns the recipes of a directory, sorted by name; their paths begin with it, unless it is
 * ".". */
static struct names
recipes_in(struct arena *a, const char *dir)
{
	struct names files = { 0 }, recipes = { 0 };
	struct diags ds = DIAGS(ds, a);

	fs_list(a, &ds, dir, ".yaml", &files);
	fs_list(a, &ds, dir, ".yml", &files);
	for (size_t i = 0; i < files.n; i++) {
		const char *path =
			strcmp(dir, ".") != 0 ? fs_join(a, dir, files.at[i]) : files.at[i];

		if (looks_like_recipe(a, path))
			list_push(a, &recipes, path);
	}
	return recipes;
}

/*
 * Returns the recipe of a directory: stack.yaml, or the only one; NULL: there is none, or *why
 * names several.
 */
static const char *
recipe_of(struct arena *a, const char *dir, const char **why)
{
	const char *stack = strcmp(dir, ".") != 0 ? fs_join(a, dir, "stack.yaml") : "stack.yaml";
	struct names recipes;

	if (fs_exists(stack))
		return stack;
	recipes = recipes_in(a, dir);
	if (recipes.n > 1)
		*why = arena_printf(a, "name one of the recipes of %s: %s",
				    strcmp(dir, ".") != 0 ? dir : "this directory",
				    names_join(a, &recipes, ", "));
	return recipes.n == 1 ? recipes.at[0] : NULL;
}

/* Returns the path of the repository's root from here, "../..", or ".": this is it, or there is
 * none. */
static const char *
repository_root(struct arena *a)
{
	const char *dir = ".";

	for (int i = 0; i < PARENTS_MAX; i++) {
		if (fs_exists(fs_join(a, dir, ".git")))
			return dir;
		dir = i ? fs_join(a, dir, "..") : "..";
	}
	return ".";
}

/* Returns the default recipe, of this directory or the nearest parent in the repository. */
static const char *
assumed_recipe(struct arena *a, const char **why)
{
	const char *root = repository_root(a), *dir = ".", *found;

	*why = NULL;
	while (!(found = recipe_of(a, dir, why)) && !*why && strlen(dir) < strlen(root))
		dir = strcmp(dir, ".") != 0 ? fs_join(a, dir, "..") : "..";
	if (!found && !*why)
		*why = strcmp(root, ".") != 0 ?
			       "name a recipe: neither this directory nor its parents in the "
			       "repository have one, and `stackbuild init` creates one" :
			       "name a recipe: this directory has none, and `stackbuild init` "
			       "creates one";
	return found;
}

static bool
is_yaml(const char *argument)
{
	return str_matches(argument, "\\.ya?ml$|^-$");
}

static bool
is_other_file(const char *argument)
{
	return fs_exists(argument) && !fs_is_dir(argument);
}

/* Moves the first of these arguments to the front. Returns whether there is one. */
static bool
move_first(struct names *args, bool (*is)(const char *argument))
{
	for (size_t i = 0; i < args->n; i++) {
		const char *recipe = args->at[i];

		if (!is(recipe))
			continue;
		memmove(args->at + 1, args->at, i * sizeof(args->at[0]));
		args->at[0] = recipe;
		return true;
	}
	return false;
}

/*
 * Returns whether an argument is the recipe, and moves it to the front: the one that ends in
 * .yaml, else an existing file, else by its place.
 */
static bool
name_recipe(struct options *o)
{
	struct names *args = &o->args;
	const char *dir = args->n ? args->at[0] : NULL;

	switch (o->verb) {
	case VERB_lock:
	case VERB_upgrade:
	case VERB_add:
	case VERB_publish: return move_first(args, is_yaml) || move_first(args, is_other_file);
	case VERB_why:
		return move_first(args, is_yaml) || move_first(args, is_other_file) || args->n > 1;
	case VERB_mirror:
		if (move_first(args, is_yaml) || args->n < 2)
			return args->n && is_yaml(args->at[0]);
		args->at[0] = args->at[1];
		args->at[1] = dir;
		return true;
	default: return args->n > 0;
	}
}

/* Replaces each directory of `check` by the recipes in it. */
static bool
expand_directories(struct arena *a, struct options *o, const char **why)
{
	struct names args = { 0 };

	for (size_t i = 0; i < o->args.n; i++) {
		const char *arg = o->args.at[i];
		struct names in;

		if (!fs_is_dir(arg)) {
			list_push(a, &args, arg);
			continue;
		}
		in = recipes_in(a, arg);
		if (!in.n) {
			*why = arena_printf(a, "the directory `%s` has no recipe", arg);
			return false;
		}
		for (size_t k = 0; k < in.n; k++)
			list_push(a, &args, in.at[k]);
	}
	o->args = args;
	return true;
}

/* Returns whether a file is one that `init` reads, such as a list of requirements. */
static bool
is_for_init(struct arena *a, const char *path)
{
	const struct source *src;

	if (!is_other_file(path) || looks_like_recipe(a, path))
		return false;
	if (!is_yaml(path))
		return str_matches(fs_name(path),
				   "(?i)\\.(txt|toml|lock|py|cfg)$|^(docker|container)file");
	src = fs_read_quiet(a, path, FS_READ_MAX);
	return src && str_matches(src->text, "(?m)^(dependencies|build):");
}

/* Uses the recipe of this directory or a parent. */
static bool
assume_recipe(struct arena *a, struct options *o, const char **why)
{
	struct names args = { 0 };

	o->assumed = assumed_recipe(a, why);
	if (!o->assumed)
		return false;
	list_push(a, &args, o->assumed);
	for (size_t i = 0; i < o->args.n; i++)
		list_push(a, &args, o->args.at[i]);
	o->args = args;
	return true;
}

/* Returns what a command with only a recipe needs, with an example; NULL: nothing. */
static const char *
also_needed(struct arena *a, enum verb v, const char *recipe)
{
	switch (v) {
	case VERB_publish:
		return arena_printf(a, "the image: stackbuild publish %s HOST/NAME:TAG", recipe);
	case VERB_mirror: return arena_printf(a, "the directory: stackbuild mirror DIR %s", recipe);
	case VERB_add: return arena_printf(a, "a package: stackbuild add %s einops", recipe);
	case VERB_why: return arena_printf(a, "a package: stackbuild why %s numpy", recipe);
	default: return NULL;
	}
}

bool
find_recipe(struct arena *a, struct options *o, const char **why)
{
	const char *also;
	bool named;

	if (o->unpack || !verb_takes(o->verb, "variant"))
		return true;
	if (o->verb == VERB_check && !expand_directories(a, o, why))
		return false;
	named = name_recipe(o);
	for (size_t i = 0; named && i < (o->verb == VERB_check ? o->args.n : 1); i++)
		if (is_for_init(a, o->args.at[i])) {
			*why = arena_printf(a,
					    "`%s` is not a recipe; `stackbuild init %s` makes one",
					    o->args.at[i], o->args.at[i]);
			return false;
		}
	if (!named)
		return assume_recipe(a, o, why);
	also = o->args.n == 1 ? also_needed(a, o->verb, o->args.at[0]) : NULL;
	if (also) {
		*why = arena_printf(a, "also name %s", also);
		return false;
	}
	return true;
}
