#include "base/fs.h"
#include "load.h"

/*
 * Reads the application's requirements like pip: its file, and the files that this one includes.
 * They are checked with the stack; pip installs them in the last layer.
 */

enum { APP_FILES_MAX = 32 };

/* The file of app.requirements, and its parsed content. */
struct reading {
	struct load *l;
	struct recipe_needs needs;
	struct texts locals;
	struct names files; /* relative to the recipe's directory */
	bool good;
};

static void read_file(struct reading *x, struct text name);

static void
leave(struct reading *x, struct text line, const char *why)
{
	list_push(x->l->a, &x->needs.lines, (struct recipe_line){ line, why });
}

/*
 * Reads the path of a line such as "-e .[dev]" or "./my_ops": pip finds it in the directory in which
 * the application's files are, because stackbuild copies it there.
 */
static void
read_local(struct reading *x, struct text line, const char *name)
{
	struct text path = { arena_copy(x->l->a, name, strcspn(name, "[;# \t")), line.at };

	leave(x, line, "its requirements are unknown before the build");
	if (*path.s == '/' || strstr(path.s, "://") || starts_with(path.s, "file:") || !*path.s)
		return;
	if (!text_holds(x->l, grammar_path, "app.requirements", path) ||
	    !app_local_holds(x->l, path))
		x->good = false;
	else {
		path.s = fs_clean(x->l->a, path.s);
		list_push(x->l->a, &x->locals, path);
	}
}

/* Reads "-r other.txt", relative to the including file. */
static void
include(struct reading *x, const char *from, struct text line, const char *name)
{
	const char *directory = fs_dir(x->l->a, from);
	struct text file = { fs_clean(x->l->a, fs_join(x->l->a, directory, name)), line.at };

	if (strstr(name, "://"))
		leave(x, line, "a file at a URL is not read");
	else if (text_holds(x->l, grammar_path, "app.requirements", file))
		read_file(x, file);
	else
		x->good = false;
}

static void
read_option(struct reading *x, const char *from, struct text line, enum pip_option option,
	    const char *value)
{
	switch (option) {
	case PIP_REQUIREMENTS: include(x, from, line, value); break;
	case PIP_CONSTRAINTS: leave(x, line, "constraints of the application are not read"); break;
	case PIP_EDITABLE: read_local(x, line, value); break;
	case PIP_INDEX:
	case PIP_EXTRA_INDEX:
	case PIP_LINKS:
		leave(x, line, "the packages of this index are not in the knowledge base");
		break;
	default: break; /* does not affect the installed packages */
	}
}

/* Reads a requirement without the options of pip after it. */
static void
read_requirement(struct reading *x, struct text line)
{
	struct load *l = x->l;
	const char *options = strstr(line.s, " --"), *why = NULL;
	struct text t = { options ? arena_copy(l->a, line.s, (size_t)(options - line.s)) : line.s,
			  line.at };
	const struct requirement *req = requirement_parse(l->a, t.s, &why, NULL);

	if (req)
		list_push(l->a, &x->needs.requirements, (struct recipe_requirement){ t, req });
	else if (strpbrk(t.s, "/\\") || *t.s == '.')
		read_local(x, t, t.s);
	else
		x->good = reject(l, E_REQUIREMENT, t.at,
				 "write it in the form of PEP 508: name[extra]>=1,<2; marker",
				 "%s is not a requirement%s%s", shown(l->a, t.s), why ? ": " : "",
				 why ? why : "");
}

static void
read_lines(struct reading *x, const struct source *src, const char *from)
{
	struct load *l = x->l;
	const char *text = arena_copy(l->a, src->text, src->size), *value;
	uint32_t number = 1;

	if (strlen(text) != src->size) {
		x->good = reject(l, E_FILE, (struct span){ .src = src }, NULL,
				 "cannot be read: it is not a text file");
		return;
	}
	for (const char *p = text; *p && !load_full(l);) {
		struct text line = requirements_line(l->a, src, &p, &number);
		size_t n = strcspn(line.s, " \t");
		enum pip_option o = pip_option(l->a, arena_copy(l->a, line.s, n), &value);

		value = value ? value : line.s + n;
		if (o == PIP_NONE && *line.s)
			read_requirement(x, line);
		else if (*line.s)
			read_option(x, from, line, o, value + strspn(value, " \t"));
		if (x->needs.requirements.n + x->needs.lines.n > ITEMS_MAX) {
			x->good = within_limit(l, line.at, ITEMS_MAX + 1, ITEMS_MAX,
					       "lines of requirements");
			return;
		}
	}
}

static void
read_file(struct reading *x, struct text name)
{
	struct load *l = x->l;
	const struct source *src;

	if (names_have(&x->files, name.s))
		return;
	list_push(l->a, &x->files, name.s);
	if (!within_limit(l, name.at, x->files.n, APP_FILES_MAX, "requirements files")) {
		x->good = false;
		return;
	}
	src = l->open(l->ctx, l->a, l->ds, recipe_place(l->a, l->o->path, name.s), name.at);
	if (src)
		read_lines(x, src, name.s);
	else
		x->good = false;
}

bool
app_read(struct load *l, struct recipe_app *app)
{
	const char *name = app->requirements.s, *key;
	struct reading *x;

	if (!name)
		return true;
	if (!l->o->application) {
		list_push(l->a, &app->files, name);
		return true;
	}
	key = arena_printf(l->a, "app.requirements %s", name);
	x = map_get(&l->done, key);
	if (!x) {
		x = arena_new_of(l->a, struct reading);
		*x = (struct reading){ .l = l, .good = true };
		map_put(&l->done, key, x);
		read_file(x, app->requirements);
	}
	app->files = x->files;
	app->needs = &x->needs;
	app->locals = x->locals;
	return x->good;
}

struct texts
recipe_command(struct arena *a, const struct recipe *r)
{
	struct texts all = { 0 };

	list_each (x, &r->app.entrypoint)
		list_push(a, &all, *x);
	list_each (x, &r->app.command)
		list_push(a, &all, *x);
	return all;
}
