/* init: create a recipe from files, options or answers. */
#include "verbs.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/str.h"
#include "init/init.h"

/* Returns the FILE arguments and those of --from, which mean the same. */
static struct names
files_of(struct arena *a, const struct options *o)
{
	struct names all = { 0 };

	for (size_t i = 0; i < o->args.n; i++)
		list_push(a, &all, o->args.at[i]);
	for (size_t i = 0; i < o->froms.n; i++)
		list_push(a, &all, o->froms.at[i]);
	return all;
}

static bool
has_options(const struct options *o)
{
	return o->gpus.n || o->extensions.n || o->packages.n || o->torch || o->cuda || o->python ||
	       o->base;
}

/* Returns true if standard input is a file or a pipe: not a terminal, not /dev/null. */
static bool
stdin_is_sent(void)
{
	struct stat st;

	return fstat(0, &st) == 0 && !S_ISCHR(st.st_mode) && !S_ISDIR(st.st_mode);
}

/* --- files --- */

struct sources LIST(struct input {
	const struct source *src;
	const char *function; /* of a Modal app; or NULL */
});

static const struct source *
open_included(struct init *n, const char *path, struct span at)
{
	return fs_exists(path) ? fs_read(n->a, n->ds, path, fs_input_max(path), at) : NULL;
}

static bool
read_sources(struct run *r, const struct names *paths, struct init *n, bool *empty)
{
	struct sources sources = { 0 };
	struct names from = { 0 };

	for (size_t i = 0; i < paths->n; i++) {
		const char *function, *path = init_modal_path(n, paths->at[i], &function);
		const struct source *src = fs_read(r->a, &r->ds, path, fs_input_max(path), NOWHERE);

		/* An empty pipe is an error only without options. */
		if (src && !src->size && !strcmp(path, "-") && !files_of(r->a, r->o).n) {
			*empty = !has_options(r->o);
			return !*empty;
		}
		src = src ? init_text(n, src) : NULL;
		if (!src)
			return false;
		list_push(r->a, &sources, (struct input){ src, function });
		list_push(r->a, &from,
			  strcmp(path, "-") != 0     ? fs_name(src->path) :
			  init_is_dockerfile(n, src) ? "a Dockerfile" :
						       "a list of requirements");
	}
	n->from = from.n ? names_join(r->a, &from, " and ") : NULL;
	/* Reads images first, because other files override their versions. */
	list_each (x, &sources)
		if (init_is_modal(x->src)         ? !init_modal(n, x->src, x->function, paths) :
		    init_is_dockerfile(n, x->src) ? !init_dockerfile(n, x->src, paths) :
						    false)
			return false;
	for (size_t i = 0; i < sources.n; i++) {
		const struct source *src = sources.at[i].src;

		if (!(init_is_modal(src) || init_is_dockerfile(n, src) ? true :
		      init_is_toml(n, src)                             ? init_project(n, src) :
		      init_is_yaml(n, src)                             ? init_environment(n, src) :
									 init_requirements(n, src)))
			return false;
	}
	return true;
}

/* --- options --- */

static bool
answer(struct init *n, enum init_question q, const char *value, const char *option)
{
	const char *why = value ? init_answer(n, q, value) : NULL;

	if (why)
		usage_error("%s: %s", option, why);
	return !why;
}

static bool
take_options(const struct options *o, struct init *n)
{
	bool fine;

	/* A requested CUDA overrides the image of a file. */
	if (o->base || o->cuda)
		init_set(n, "base", o->base);
	if (o->cuda)
		init_set(n, "cuda", o->cuda);
	if (o->name)
		init_set(n, "stack", o->name);
	n->modal |= o->modal;
	fine = answer(n, ASK_PYTHON, o->python, "--python");
	for (size_t i = 0; i < o->gpus.n; i++)
		fine &= answer(n, ASK_GPUS, o->gpus.at[i], "--gpu");
	for (size_t i = 0; i < o->extensions.n; i++)
		fine &= answer(n, ASK_EXTENSIONS, o->extensions.at[i], "--extension");
	fine &= answer(n, ASK_TORCH, o->torch, "--torch");
	for (size_t i = 0; i < o->packages.n; i++)
		fine &= init_requirement(n, o->packages.at[i]);
	return fine;
}

/* --- questions on a terminal --- */

enum { ANSWER_MAX = 4096 };

/* Reads one line without its end, "" at the end of input. */
static void
read_answer(char line[ANSWER_MAX])
{
	size_t n;

	if (!fgets(line, ANSWER_MAX, stdin)) {
		fputc('\n', stderr);
		line[0] = '\0';
	}
	n = strlen(line);
	if (n && line[n - 1] == '\n')
		line[n - 1] = '\0';
	else if (n == ANSWER_MAX - 1)
		for (int c = getchar(); c != '\n' && c != EOF;)
			c = getchar();
}

/* Adds the Modal apps of this directory. */
static void
add_apps(struct arena *a, struct names *found)
{
	enum { LOOKED_AT = 100 };
	struct names all = { 0 };
	struct diags ds = DIAGS(ds, a);

	fs_list(a, &ds, ".", ".py", &all);
	for (size_t i = 0; i < all.n && i < LOOKED_AT; i++) {
		const struct source *src = fs_read_quiet(a, all.at[i], FS_READ_MAX);

		/* Apps of old clients have another class than App, but decorate functions alike. */
		if (src && init_imports_modal(src) &&
		    str_matches(src->text, "App[(]|[.](function|cls)[(]"))
			list_push(a, found, all.at[i]);
	}
}

/* Returns the files of this directory that init can read. */
static struct names
files_here(struct arena *a)
{
	static const char *const files[] = { "uv.lock",          "pylock.toml",
					     "pyproject.toml",   "Dockerfile",
					     "requirements.txt", "environment.yml",
					     "environment.yaml", "cog.yaml" };
	struct names found = { 0 };

	for (size_t i = 0; i < COUNT(files); i++)
		if (fs_exists(files[i]))
			list_push(a, &found, files[i]);
	add_apps(a, &found);
	return found;
}

bool
init_reads_modal(const struct options *o)
{
	struct arena *a = arena_new();
	struct names files = { 0 };

	if (o->verb == VERB_init) {
		files = files_of(a, o);
		/* Only a terminal lets the user choose a file of this directory. */
		if (!files.n && isatty(0))
			add_apps(a, &files);
	}
	const bool any = list_any(x, &files, strstr(*x, ".py::") || ends_with(*x, ".py"));

	arena_free(a);
	return any;
}

/* Offers the files of this directory; returns the chosen one, or NULL for questions. */
static const char *
ask_file(struct arena *a)
{
	struct names files = files_here(a);
	char line[ANSWER_MAX] = "";
	struct buf first = BUF(a);

	if (!files.n)
		return NULL;
	diag_tell("This directory has %s.", names_join(a, &files, ", "));
	diag_inert(diag_one_line(a, files.at[0]), &first);
	fprintf(stderr, "file to create the recipe from, or `none` for a few questions [%s]: ",
		buf_text(&first));
	fflush(stderr);
	read_answer(line);
	if (!strcmp(line, "none"))
		return NULL;
	return *line ? arena_strdup(a, line) : files.at[0];
}

/* Asks a question on standard error, because the recipe may go to standard output. */
static void
ask_all(struct init *n)
{
	char line[ANSWER_MAX] = "";

	fputs("A recipe from a few questions.  Enter accepts the default in brackets.\n\n", stderr);
	for (enum init_question q = 0; q < ASK_COUNT; q++) {
		const char *question = init_ask(n, q), *why;

		do {
			fputs(question, stderr);
			fflush(stderr);
			read_answer(line);
			why = init_answer(n, q, line);
			if (why)
				fprintf(stderr, "  %s\n", why);
		} while (why);
	}
	fputc('\n', stderr);
}

/* --- the result --- */

static const char *
what_is_missing(struct arena *a)
{
	struct names found = files_here(a);

	if (found.n)
		return arena_printf(
			a,
			"init needs an input, and this directory has %s: run `stackbuild init %s`",
			names_join(a, &found, ", "), found.at[0]);
	return "init needs an input: `pip freeze | stackbuild init`, `stackbuild init Dockerfile`, "
	       "--torch 2.2.2 --extension mamba-ssm, or answers on a terminal";
}

int
verb_init(struct run *r)
{
	const char *path = r->o->out ? r->o->out : "stack.yaml", *text, *file;
	const struct stack *s;
	struct init n = { .a = r->a,
			  .ds = &r->ds,
			  .f = r->facts,
			  .open = open_included,
			  .chain = world_modal_chain };
	struct names paths = files_of(r->a, r->o);
	unsigned warnings;
	bool ask = false, empty = false;

	list_each (x, &r->o->project_extras)
		list_push(r->a, &n.extras, name_normalize(r->a, *x));
	if (!paths.n && stdin_is_sent())
		list_push(r->a, &paths, "-");
	else if (!paths.n && !has_options(r->o))
		ask = isatty(0);
	if (!paths.n && !has_options(r->o) && !ask)
		return usage_error("%s", what_is_missing(r->a));
	if (strcmp(path, "-") != 0 && fs_exists(path)) {
		diag_help(diag_at(&r->ds, E_INIT_EXISTS, NOWHERE, "`%s` exists already", path),
			  "name another file with -o, or print the recipe with -o -");
		return EXIT_DIAGNOSED;
	}
	if (ask && (file = ask_file(r->a))) {
		list_push(r->a, &paths, file);
		ask = false;
	}
	if (ask)
		ask_all(&n);
	else if (!read_sources(r, &paths, &n, &empty))
		return empty ? usage_error("%s", what_is_missing(r->a)) : EXIT_DIAGNOSED;
	else if (!take_options(r->o, &n))
		return r->ds.errors ? EXIT_DIAGNOSED : EXIT_USAGE;
	if (ask && r->o->name)
		init_set(&n, "stack", r->o->name);
	text = init_recipe(&n, path, &s, &warnings);
	if (!text)
		return EXIT_DIAGNOSED;
	if (!strcmp(path, "-")) {
		buf_puts(&r->out, text);
		return EXIT_DONE;
	}
	if (!fs_create(&r->ds, path, text, strlen(text), 0644))
		return EXIT_DIAGNOSED;
	buf_printf(&r->out, "%s: %s\n  next: stackbuild check %s%s\n", path, stack_summary(r->a, s),
		   path,
		   warnings == 1 ? "; it has a warning" :
		   warnings      ? arena_printf(r->a, "; it has %u warnings", warnings) :
				   "");
	return EXIT_DONE;
}
