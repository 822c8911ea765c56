#include <string.h>

#include "base/fs.h"
#include "load.h"

/* The entry point of the Modal app (a script, a function of a file, or a module), its web function and class. */

struct recipe_entry
recipe_entry(struct arena *a, const char *text)
{
	struct recipe_entry e = { 0 };
	const char *end = text ? strstr(text, "::") : NULL;
	struct buf path = BUF(a);

	if (!text)
		return e;
	if (starts_with(text, "-m ")) {
		e.module = text + 3;
		for (const char *p = e.module; *p; p++)
			buf_putc(&path, *p == '.' ? '/' : *p);
		e.file = arena_printf(a, "%s.py", buf_text(&path));
		return e;
	}
	e.file = fs_clean(a, end ? arena_copy(a, text, (size_t)(end - text)) : text);
	e.function = end ? end + 2 : NULL;
	return e;
}

bool
recipe_copies(struct arena *a, const struct recipe_app *app, const char *file)
{
	list_each (x, &app->copy) {
		const char *copy = fs_clean(a, x->s);
		size_t n = strlen(copy);

		if (!strcmp(copy, ".") || (!strncmp(copy, file, n) && (!file[n] || file[n] == '/')))
			return true;
	}
	return false;
}

enum { SOURCE_MAX = 4 * 1024 * 1024 };

/* Returns the path of a file of the recipe's directory. */
static const char *
beside(struct load *l, const char *file)
{
	return fs_clean(l->a, fs_join(l->a, fs_dir(l->a, l->o->path), file));
}

/* Returns the file of a module: "a/b.py" or "a/b/__main__.py"; NULL: neither exists. */
static const char *
module_file(struct load *l, const struct recipe_entry *e)
{
	const char *directory = arena_copy(l->a, e->file, strlen(e->file) - strlen(".py"));
	const char *package = fs_join(l->a, directory, "__main__.py");

	return fs_exists(beside(l, e->file)) ? e->file :
	       fs_exists(beside(l, package)) ? package :
					       NULL;
}

/* Returns whether the first part of a module's name is in the recipe's directory; a package of the
 * image may have another module. */
static bool
is_own(struct load *l, const struct recipe_entry *e)
{
	const char *first = arena_copy(l->a, e->module, strcspn(e->module, "."));

	return fs_is_dir(beside(l, first)) ||
	       fs_exists(beside(l, arena_printf(l->a, "%s.py", first)));
}

/* Reads the file once for all cells. */
static bool
has_function(struct load *l, const struct recipe_entry *e, struct span at)
{
	const char *key = arena_printf(l->a, "modal.entrypoint %s::%s", e->file, e->function);
	const char *before = map_put(&l->done, key, "read"), *near;
	const struct source *src;
	struct python_names found;

	if (before)
		return true;
	src = fs_read_quiet(l->a, beside(l, e->file), SOURCE_MAX);
	if (!src || strlen(src->text) != src->size)
		return true; /* not a text that can be judged */
	found = python_names(l->a, src->text);
	if (found.open || map_get(&found.bound, e->function))
		return true;
	near = str_nearest(e->function, found.names.at, found.names.n);
	return reject(l, E_ENTRYPOINT, at,
		      near ? arena_printf(l->a, "did you mean `%s`?", near) :
			     "define it at the top level of the file, or name another function",
		      "`%s` does not define `%s` at its top level", e->file, e->function);
}

/* Returns whether the files of the recipe are those on the disk. */
static bool
is_on_disk(const struct load *l)
{
	return strcmp(l->o->path, "-") != 0 && (l->open == extends_open_file || l->o->on_disk);
}

/* Checks the file of a web function or class, which render adds to the app without app.copy. */
static bool
member_read(struct load *l, const struct text *t)
{
	struct recipe_entry e = recipe_entry(l->a, t->s);

	if (!t->s || !e.function)
		return true;
	if (!fs_exists(beside(l, e.file)))
		return reject(l, E_ENTRYPOINT, t->at, "name it relative to the recipe's directory",
			      "`%s` does not exist", e.file);
	return has_function(l, &e, t->at);
}

static bool
entry_read(struct load *l, const struct recipe *r)
{
	const struct text *t = &r->modal.entrypoint;
	struct recipe_entry e = recipe_entry(l->a, t->s);
	const char *file = e.file;

	if (!t->s || (e.module && !(file = module_file(l, &e)) && !is_own(l, &e)))
		return true;
	if (!file || !fs_exists(beside(l, file)))
		return reject(l, E_ENTRYPOINT, t->at, "name it relative to the recipe's directory",
			      "`%s` does not exist", e.file);
	if ((e.module || r->app.copy.n) && !recipe_copies(l->a, &r->app, file))
		return reject(l, E_ENTRYPOINT, t->at,
			      arena_printf(l->a, "add `%s` or its directory to app.copy", file),
			      "app.copy does not contain `%s`", file);
	return !e.function || has_function(l, &e, t->at);
}

bool
entrypoint_read(struct load *l, const struct recipe *r)
{
	const struct recipe_argument *web;
	const char *call;
	bool good;

	if (!is_on_disk(l))
		return true;
	web = recipe_web_member(&r->modal, &call);
	good = entry_read(l, r);
	if (web)
		good &= member_read(l, &web->value);
	return member_read(l, &r->modal.class.object) && good;
}
