#include <string.h>

#include "base/fs.h"
#include "base/map.h"
#include "base/str.h"
#include "target.h"

/*
 * Writes the file that builds all cells of a recipe: a build definition, or the pipeline of a code
 * host.
 */

static const struct shape cell_shape[] = {
	{ "cell", VALUE_TEXT, "its name; missing without a matrix", 0 },
	{ "tag", VALUE_TEXT, "tag of its image", 0 },
	{ "dockerfile", VALUE_TEXT, "its Dockerfile, below the output directory", 0 },
	{ "image", VALUE_CODE, "HCL: its image, in ${REGISTRY}", 0 },
	{ "id", VALUE_TEXT, "its name, of letters, digits, _ and -", 0 },
	{ 0 },
};

static const struct shape context_shape[] = {
	{ "name", VALUE_TEXT, "its name in the Dockerfiles", 0 },
	{ "path", VALUE_TEXT, "its directory, from the recipe's one", 0 },
	{ 0 },
};

static const struct shape shard_shape[] = {
	{ "number", VALUE_TEXT, "2, 3, ...; missing in the first", 0 },
	{ "cells", VALUE_LIST, "its cells, at most 200", cell_shape },
	{ 0 },
};

const struct shape pipeline_shape[] = {
	{ "stack", VALUE_TEXT, "the stack's name, in lower case", 0 },
	{ "recipe", VALUE_TEXT, "path of the recipe, as on the command line", 0 },
	{ "paths", VALUE_LIST, "patterns of the files that decide the result", 0 },
	{ "version", VALUE_TEXT, "version of stackbuild", 0 },
	{ "out", VALUE_TEXT, "output directory of render: out/STACK", 0 },
	{ "variant", VALUE_TEXT, "the recipe's variant, if there is one", 0 },
	{ "platform", VALUE_TEXT, "the recipe's platform, if it names one", 0 },
	{ "generated", VALUE_TEXT, "program and recipe that generated the file", 0 },
	{ "contexts", VALUE_LIST, "build contexts besides the output directory", context_shape },
	{ "beside", VALUE_LIST, "those of them that are not in the recipe's directory", 0 },
	{ "secrets", VALUE_LIST, "names of the build secrets", 0 },
	{ "matrix", VALUE_FLAG, "the matrix has several cells", 0 },
	{ "cells", VALUE_LIST, "its cells, or the only one", cell_shape },
	{ "shards", VALUE_LIST, "the same cells, in groups that fit one job's matrix",
	  shard_shape },
	{ 0 },
};

/* The recipe must be in the checkout; both hosts expand a `$` in a name. */
static void
check_names(struct target *t)
{
	const struct recipes *cells = t->cells;
	const char *path = cells->at[0]->path, *odd = strchr(path, '$') ? path : NULL;
	struct span at = cells->at[0]->stack.at;

	for (size_t i = 0; i < cells->n; i++)
		if (cells->at[i]->cell && strchr(cells->at[i]->cell, '$'))
			odd = cells->at[i]->cell;
	if (odd)
		diag_help(diag_at(t->ds, E_TARGET_CANNOT, at,
				  "a pipeline would expand the `$` in `%s` as a variable", odd),
			  "rename the file or the cell");
	else if (*path == '/' || starts_with(path, "../") || !strcmp(path, "-"))
		diag_help(
			diag_at(t->ds, E_TARGET_CANNOT, at,
				"a pipeline works in a checkout, and `%s` is outside of it", path),
			"run render in the repository's directory, and name the recipe from there");
}

/* Returns a unique name for a target of bake, of letters, digits, _ and -. */
static const char *
id_of(struct arena *a, const char *name, size_t i, struct map *seen)
{
	char *id = arena_strdup(a, name);

	for (char *s = id; *s; s++)
		if (!is_alnum(*s) && *s != '_')
			*s = '-';
	return map_put(seen, id, id) ? arena_printf(a, "%s-%zu", id, i + 1) : id;
}

/* Adds a pattern that matches only the file: `+` and `{` are special in the patterns of a code
 * host. */
static void
add_pattern(struct target *t, struct map *seen, const char *path, const char *rest)
{
	struct buf b = BUF(t->a);

	for (const char *s = path; *s; s++)
		buf_printf(&b, strchr("*?+[]!{}\\", *s) ? "\\%c" : "%c", *s);
	buf_puts(&b, rest);
	if (!map_put(seen, buf_text(&b), t))
		scope_item_text(t->top, "paths", buf_text(&b), NOWHERE);
}

/* Adds patterns for a file and for a directory, since either may exist later. */
static void
add_path(struct target *t, struct map *seen, const struct recipe *r, const char *name)
{
	const char *path = fs_clean(t->a, fs_join(t->a, fs_dir(t->a, r->path), name));
	bool all = !strcmp(path, ".");

	/* bake runs in the recipe's directory. */
	if (t->language == LANG_YAML && own_code_outside(path)) {
		struct diag *d = diag_at(t->ds, E_TARGET_CANNOT, NOWHERE,
					 "`%s` is above the working directory", path);

		diag_why(d, "the paths of a pipeline are relative to the top of its repository");
		diag_help(d, "run stackbuild in the top directory of the repository");
		return;
	}
	if (!all)
		add_pattern(t, seen, path, "");
	if (!ends_with(path, ".py") && !ends_with(path, ".txt"))
		add_pattern(t, seen, all ? "" : path, all ? "**/*" : "/**/*");
}

/* Adds the lock; one pattern matches the locks of all cells, which may be hundreds. */
static void
add_lock(struct target *t, struct map *seen, const struct recipe *r)
{
	struct recipe whole = *r;
	const char *path;

	whole.cell = NULL;
	path = fs_clean(t->a, lock_path(t->a, &whole));
	add_pattern(t, seen, arena_copy(t->a, path, strlen(path) - strlen(".toml")),
		    r->cell ? "-*.toml" : ".toml");
}

/* Adds the files of all cells: the recipe, the files that it extends, its lock (which may be added
 * later), the application's files, and verify's probes. */
static void
add_paths(struct target *t)
{
	struct map seen = MAP(t->a);

	for (size_t c = 0; c < t->cells->n; c++) {
		const struct recipe *r = t->cells->at[c];

		for (size_t i = 0; i < r->files.n; i++)
			add_pattern(t, &seen, r->files.at[i], "");
		add_lock(t, &seen, r);
		for (size_t i = 0; i < r->app.copy.n; i++)
			add_path(t, &seen, r, r->app.copy.at[i].s);
		for (size_t i = 0; i < r->app.files.n; i++)
			add_path(t, &seen, r, r->app.files.at[i]);
		list_each (local, &r->app.locals)
			add_path(t, &seen, r, local->s);
		list_each (e, &r->extensions)
			if (e->path.s)
				add_path(t, &seen, r, e->path.s);
		for (size_t i = 0; i < r->verify.probes.n; i++)
			add_path(t, &seen, r, r->verify.probes.at[i].s);
	}
}

/* Maximum cells in a matrix of jobs: GitHub allows 256, GitLab 200. */
enum { SHARD_CELLS = 200 };

static void
fill_cell(struct target *t, struct scope *item, const char *stack, size_t i, struct map *seen)
{
	const char *cell = t->cells->at[i]->cell, *tag = ":latest";

	if (cell)
		tag = strchr(docker_image_tag(t->a, t->cells->at[i]), ':');
	scope_text(item, "cell", cell, NOWHERE);
	scope_text(item, "tag", tag + 1, NOWHERE);
	scope_text(item, "dockerfile", cell ? fs_join(t->a, cell, "Dockerfile") : "Dockerfile",
		   NOWHERE);
	scope_code(item, "image", arena_printf(t->a, "\"${REGISTRY}%s%s\"", stack, tag));
	scope_text(item, "id", id_of(t->a, cell ? cell : stack, i, seen), NOWHERE);
}

static void
add_context(struct target *t, const char *name, const char *path)
{
	struct scope *item = scope_item(t->top, "contexts");

	scope_text(item, "name", name, NOWHERE);
	scope_text(item, "path", path, NOWHERE);
	if (own_code_outside(path))
		scope_item_text(t->top, "beside", path, NOWHERE);
}

/* Adds the build contexts of the recipe's directory, in which bake runs, and of own code beside it. */
static void
add_contexts(struct target *t)
{
	struct map seen = MAP(t->a);

	for (size_t i = 0; i < t->cells->n; i++) {
		const struct recipe *r = t->cells->at[i];

		if (target_needs_app(r) && !map_put(&seen, RENDER_APP, t))
			add_context(t, RENDER_APP, ".");
		list_each (e, &r->extensions)
			if (e->path.s && own_code_outside(e->path.s) &&
			    !map_put(&seen, target_own_context(t->a, e), t))
				add_context(t, target_own_context(t->a, e),
					    fs_clean(t->a, e->path.s));
	}
}

void
pipeline_fill(struct target *t)
{
	const struct recipe *first = t->cells->at[0];
	const char *image = docker_image_tag(t->a, first);
	const char *stack = arena_copy(t->a, image, strcspn(image, ":"));
	struct map seen = MAP(t->a), again = MAP(t->a);
	struct scope *shard = NULL;

	if (t->language == LANG_YAML)
		check_names(t);
	scope_text(t->top, "stack", stack, first->stack.at);
	scope_text(t->top, "recipe", first->path, NOWHERE);
	add_paths(t);
	scope_text(t->top, "version", STACKBUILD_VERSION, NOWHERE);
	scope_text(t->top, "out", fs_join(t->a, "out", first->stack.s), NOWHERE);
	scope_text(t->top, "variant", first->variant, NOWHERE);
	scope_text(t->top, "platform", first->platform.s, first->platform.at);
	for (size_t i = 0; i < t->secrets->n; i++)
		scope_item_text(t->top, "secrets", t->secrets->at[i], NOWHERE);
	scope_text(t->top, "generated", target_generated(t->a, first), NOWHERE);
	add_contexts(t);
	scope_flag(t->top, "matrix", first->cell != NULL);
	for (size_t i = 0; i < t->cells->n; i++) {
		size_t n = i / SHARD_CELLS;

		if (i % SHARD_CELLS == 0) {
			shard = scope_item(t->top, "shards");
			scope_text(shard, "number", n ? arena_printf(t->a, "%zu", n + 1) : NULL,
				   NOWHERE);
		}
		fill_cell(t, scope_item(shard, "cells"), stack, i, &again);
		fill_cell(t, scope_item(t->top, "cells"), stack, i, &seen);
	}
	if (!t->file.next)
		t->file.next = arena_printf(t->a,
					    "mkdir -p .github/workflows && cp {path} "
					    ".github/workflows/%s.yml",
					    stack);
	t->file.summary =
		arena_printf(t->a, "%zu image%s", t->cells->n, t->cells->n == 1 ? "" : "s");
}
