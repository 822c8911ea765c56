#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "load.h"

/* Maximum number of files of a recipe, and maximum depth of `extends`. */
enum { FILES_MAX = 64, DEPTH_MAX = 16 };

/* A file of the recipe: its merged map (NULL while it is read), and its first reference. */
struct file {
	const char *path;
	struct span asked;
	const struct source *src;
	const struct node *root;
	bool open;
};

struct chain {
	struct load *l;
	const char *directory; /* directory that `extends` must not leave */
	struct map files;
	size_t n;
	const struct source *src; /* source of the recipe itself */
};

const struct source *
extends_open_file(void *ctx, struct arena *a, struct diags *ds, const char *path, struct span at)
{
	(void)ctx;
	return fs_read(a, ds, path, fs_input_max(path), at);
}

/* Checks the name, and for files on disk also the target of links. */
static bool
stays_inside(struct chain *c, const char *path)
{
	char directory[PATH_MAX], target[PATH_MAX];

	if (!path_is_below(c->directory, path))
		return false;
	if (!load_on_disk(c->l) || !realpath(path, target))
		return true; /* a missing file has its own error */
	return realpath(c->directory, directory) && path_is_below(directory, target);
}

static const struct node *load_file(struct chain *c, const char *path, struct span at,
				    unsigned depth);

static const struct node *
too_many(struct chain *c, struct span at)
{
	reject(c->l, E_YAML_LIMIT, at, "put what they share into one file",
	       "`extends` includes more than %d files, or is more than %d deep", FILES_MAX,
	       DEPTH_MAX);
	return NULL;
}

static const struct node *
load_base(struct chain *c, const struct file *from, const struct node *name, unsigned depth)
{
	struct text t = node_text(name);
	const char *path;

	if (name->kind != NODE_SCALAR || node_is_null(name) || !*t.s) {
		reject(c->l, E_TYPE, name->at, NULL, "`extends` must be the name of a file, not %s",
		       node_kind_name(name));
		return NULL;
	}
	if (!text_holds(c->l, NULL, "extends", t))
		return NULL;
	path = fs_clean(c->l->a, fs_join(c->l->a, fs_dir(c->l->a, from->path), t.s));
	if (!strcmp(path, "-"))
		path = "./-"; /* a file named "-", not standard input */
	if (!c->l->o->extends_anywhere && !stays_inside(c, path)) {
		reject(c->l, E_EXTENDS_OUTSIDE, t.at,
		       "move it below the recipe's directory, or allow it with --extends-anywhere",
		       "`extends`: %s lies outside `%s`", shown(c->l->a, t.s), c->directory);
		return NULL;
	}
	return load_file(c, path, t.at, depth);
}

/* Returns the bases, merged in order, with the file merged over them. */
static const struct node *
apply_extends(struct chain *c, struct file *file, unsigned depth)
{
	const struct node *root = file->root, *extends = node_get(root, "extends"), *base = NULL;
	const struct node *names;
	bool good = true;

	if (!extends)
		return root;
	names = extends->kind == NODE_LIST ? extends : list_of_one(c->l, extends);
	if (node_is_null(extends)) {
		reject(c->l, E_EMPTY, extends->at, "name a file, or remove the key",
		       "`extends` has no value");
		return NULL;
	}
	if (names->n > FILES_MAX)
		return too_many(c, extends->at);
	for (size_t i = 0; i < names->n; i++) {
		const struct node *one = load_base(c, file, names->items[i], depth + 1);

		if (one)
			base = merge(c->l, &key_root, base, one);
		good &= one != NULL;
	}
	return good ? merge(c->l, &key_root, base, map_without(c->l, root, "extends")) : NULL;
}

/* Returns the map in a file; an empty map for an empty file. */
static const struct node *
read_root(struct load *l, const struct source *src)
{
	const struct node *root = yaml_read(l->a, l->ds, src, YAML_LIMITS_DEFAULT);

	if (!root || root->kind == NODE_MAP)
		return root;
	if (node_is_null(root))
		return map_of(l, root->at, 0);
	reject(l, E_TYPE, root->at, "write `key: value` lines, such as `torch: 2.2.2`",
	       "a recipe is a map, not %s", node_kind_name(root));
	return NULL;
}

static const struct node *
load_file(struct chain *c, const char *path, struct span at, unsigned depth)
{
	struct file *file = map_get(&c->files, path);
	struct diag *d;

	if (file && file->open) {
		d = fault(c->l, E_EXTENDS, at, "`extends` leads back to `%s`", path);
		if (file->asked.line)
			diag_note(d, file->asked, "this entry includes it");
		else
			diag_note(d, (struct span){ .src = file->src },
				  "which is the recipe itself");
		return NULL;
	}
	if (file)
		return file->root;
	if (++c->n > FILES_MAX || depth > DEPTH_MAX)
		return too_many(c, at);
	file = arena_new_of(c->l->a, struct file);
	*file = (struct file){ .path = path, .asked = at, .open = true };
	map_put(&c->files, path, file);
	list_push(c->l->a, &c->l->files, path);
	/* Diagnostics show the recipe's path as on the command line. */
	file->src = c->l->open(c->l->ctx, c->l->a, c->l->ds, depth ? path : c->l->o->path, at);
	if (!depth)
		c->src = file->src;
	if (file->src)
		file->root = read_root(c->l, file->src);
	if (file->root)
		file->root = apply_extends(c, file, depth);
	file->open = false;
	return file->root;
}

const struct node *
extends_load(struct load *l, const struct source **src)
{
	const char *path = l->o->path;
	struct chain c = { .l = l, .files = MAP(l->a) };
	const struct node *root;

	c.directory = fs_clean(l->a, fs_dir(l->a, path));
	root = load_file(&c, strcmp(path, "-") != 0 ? fs_clean(l->a, path) : path,
			 (struct span){ 0 }, 0);
	*src = c.src;
	return root;
}
