#include <string.h>

#include "base/fs.h"
#include "base/str.h"
#include "target.h"

/*
 * Writes a definition file for Apptainer (and SingularityCE): the chain of a plan as one %post.
 * %files copies the helpers before that. %post has no mounts, and therefore no caches and no
 * secrets.
 *
 * Source: Apptainer 1.4's documentation of definition files, and its parser
 * (pkg/build/types/parser/deffile.go, internal/pkg/build/args/reader.go): a line whose first word
 * starts with % begins a section, wherever it is; {{NAME}} is replaced by a build argument.
 */
enum { WIDTH = 100 };

static const struct shape file_shape[] = {
	{ "source", VALUE_CODE, "from the directory where apptainer runs", 0 },
	{ "target", VALUE_CODE, "in the image", 0 },
	{ 0 },
};

static const struct shape step_shape[] = {
	{ "comments", VALUE_LIST, "action and reason of the step, in lines", 0 },
	{ "commands", VALUE_CODE, "commands of the step, in order", 0 },
	{ 0 },
};

const struct shape apptainer_shape[] = {
	{ "title", VALUE_LIST, "name and contents of the stack, in lines", 0 },
	{ "generated", VALUE_LIST, "program and recipe that generated the file, in lines", 0 },
	{ "image", VALUE_TEXT, "file name of the image", 0 },
	{ "file", VALUE_TEXT, "name of this file, from the output directory", 0 },
	{ "gpu", VALUE_FLAG, "the image is for GPUs", 0 },
	{ "notes", VALUE_LIST, "parts of the recipe that Apptainer ignores, in lines", 0 },
	{ "base", VALUE_TEXT, "the base image", 0 },
	{ "nvcc", VALUE_FLAG, "the base image has an nvcc", 0 },
	{ "apt", VALUE_FLAG, "packages of the operating system are installed with apt", 0 },
	{ "dnf", VALUE_FLAG, "the same with dnf", 0 },
	{ "machine", VALUE_TEXT, "machine that uname -m must print; missing without `platform:`",
	  0 },
	{ "files", VALUE_LIST, "files to copy into the image", file_shape },
	{ "steps", VALUE_LIST, "the steps of the plan", step_shape },
	{ "cuda_home", VALUE_TEXT, "CUDA_HOME of the image", 0 },
	{ "environment", VALUE_LIST, "the recipe's env:", target_pair_shape },
	{ "name", VALUE_TEXT, "the stack's name", 0 },
	{ "digest", VALUE_TEXT, "of the recipe", 0 },
	{ "smoke", VALUE_FLAG, "the smoke kernel was compiled", 0 },
	{ "probe", VALUE_CODE, "command that compares the environment with the plan", 0 },
	{ "app", VALUE_FLAG, "the image has an application", 0 },
	{ "command", VALUE_LIST, "the words of app.command", 0 },
	{ "entrypoint", VALUE_LIST, "the words of app.entrypoint", 0 },
	{ 0 },
};

static struct shell
shell_of(const struct target *t, const struct step *s)
{
	return (struct shell){
		.ds = t->ds,
		.at = s->at,
		.language = LANG_SH,
		.places = { .src = arena_printf(t->a, "/opt/build/src/%s", s->id),
			    .wheels = arena_printf(t->a, "/opt/build/wheels/%s", s->id),
			    .share = "/opt/stackbuild",
			    .python = s->kind == STEP_CHECK ? "/opt/venv/bin/python" : "python",
			    .venv = "/opt/venv",
			    .prefix = "/opt/python",
			    .work = "/opt/build",
			    .app = "/app" },
		.indent = 4,
		.width = WIDTH - 4,
	};
}

/* --- checks for parts that a definition file cannot express --- */

static void
refuse(struct target *t, struct span at, const char *what, const char *help)
{
	if (!at.line)
		at = (struct span){ .src = t->plan->stack->recipe->src };
	diag_help(diag_at(t->ds, E_TARGET_CANNOT, at, "%s", what), "%s", help);
}

static const char *
checked(struct target *t, const char *text, struct span at)
{
	if (str_matches(text, "\\{\\{[ \t\n\f\r]*[A-Za-z0-9_]+[ \t\n\f\r]*\\}\\}"))
		refuse(t, at, "a definition file cannot contain a word in double braces",
		       "change the value: Apptainer replaces {{NAME}} with a build argument");
	if (str_matches(text, "(^|\n)[ \t\n\r]*%"))
		refuse(t, at, "a definition file cannot contain a line that starts with `%`",
		       "change the value: for Apptainer, the line starts a section");
	return text;
}

/* --- files --- */

/* Adds a file.  Apptainer splits the line at blanks and expands the source as bash does. */
static void
add_file(struct target *t, const char *source, const char *target, struct span at)
{
	struct scope *f;

	if (!str_matches(source, "^[A-Za-z0-9._/,=@+:-]*$"))
		refuse(t, at,
		       arena_printf(t->a,
				    "a definition file cannot copy `%s`: its name would be "
				    "split or expanded",
				    source),
		       "rename the file");
	f = scope_item(t->top, "files");
	scope_code(f, "source", source);
	scope_code(f, "target", target);
}

/* Returns whether a file is in a directory that is copied as well. */
static bool
lies_in(const char *file, const char *dir)
{
	size_t n = strlen(dir);

	return strcmp(file, dir) != 0 &&
	       (!strcmp(dir, ".") || (!strncmp(file, dir, n) && file[n] == '/'));
}

/* A file in a copied directory is not listed again, because cp would nest the two. */
static void
add_app_files(struct target *t)
{
	const struct recipe_app *app = &t->plan->stack->recipe->app;
	struct texts all = { 0 };

	for (size_t i = 0; i < app->copy.n + app->files.n + app->locals.n; i++) {
		struct text file = { .at = app->requirements.at };
		size_t n;

		if (i < app->copy.n)
			file = app->copy.at[i];
		else if (i < app->copy.n + app->files.n)
			file.s = app->files.at[i - app->copy.n];
		else
			file = app->locals.at[i - app->copy.n - app->files.n];
		n = strlen(file.s);
		while (n > 1 && file.s[n - 1] == '/')
			n--;
		file.s = arena_copy(t->a, file.s, n);
		list_push(t->a, &all, file);
	}
	for (size_t i = 0; i < all.n; i++) {
		bool covered = false;

		for (size_t k = 0; k < all.n; k++)
			covered |= lies_in(all.at[i].s, all.at[k].s) ||
				   (k < i && !strcmp(all.at[i].s, all.at[k].s));
		if (!covered)
			add_file(t, fs_join(t->a, "app", all.at[i].s),
				 fs_join(t->a, "/app", all.at[i].s), all.at[i].at);
	}
}

/* --- steps --- */

/* Adds comment lines to the commands; text: a fixed text without values of the recipe. */
static void
comment(struct buf *b, const char *text)
{
	struct buf wrapped = BUF(b->a);
	struct names lines;

	if (!text)
		return;
	buf_wrap(&wrapped, text, 0, WIDTH - 6);
	lines = names_split(b->a, buf_text(&wrapped), '\n');
	for (size_t i = 0; i < lines.n; i++)
		buf_printf(b, "# %s\n", lines.at[i]);
}

static void
add_commands(struct target *t, const struct shell *sh, struct operation op, struct buf *b)
{
	struct commands all;
	bool work = false;

	if (op.kind == OP_COMPILE) /* in a chain, nothing compiles next to it */
		op.compile.beside.n = 0;
	all = operation_commands(t->a, &op);
	for (size_t i = 0; i < all.n; i++) {
		if (all.at[i].work && !work)
			buf_printf(b, "mkdir -p %s\n", sh->places.work);
		work |= all.at[i].work;
		if (all.at[i].cwd)
			buf_printf(b, "cd %s\n", sh->places.app);
		shell_command(sh, &all.at[i], b);
		buf_putc(b, '\n');
	}
}

static void
add_operation(struct target *t, const struct step *s, const struct operation *op, struct buf *b)
{
	const struct shell sh = shell_of(t, s);
	size_t helpers = t->helpers.n;
	struct buf probe = BUF(t->a);
	const char *path, *helper;

	if (op->kind == OP_PROBE) {
		/* Apptainer runs %test at the end of a build, and for `apptainer test`. */
		shell_command(&sh, operation_commands(t->a, op).at, &probe);
		scope_code(t->top, "probe", buf_text(&probe));
	} else if (op->kind != OP_FILE) {
		comment(b, op->why);
		add_commands(t, &sh, *op, b);
		if (op->kind == OP_PYTHON)
			buf_puts(b, "export PATH=\"/opt/venv/bin:$PATH\"\n");
	} else if (op->file.helper) {
		path = shell_plain(t->a, &sh.places, op->file.path);
		helper = target_helper(t, op);
		if (t->helpers.n == helpers)
			return;
		if (op->file.program)
			buf_printf(b, "chmod 755 %s\n", path);
		add_file(t, helper, path, s->at);
	} else {
		shell_file(&sh, op, b);
		buf_putc(b, '\n');
	}
}

/* Returns the directory of the definition file in which own code must be. */
static const char *
own_place(struct target *t, const struct stack_extension *e)
{
	return own_code_outside(e->path) ? fs_join(t->a, RENDER_BESIDE, e->name) :
					   fs_join(t->a, "app", e->path);
}

static void
add_step(struct target *t, const struct step *s)
{
	const struct stack_extension *e = s->extension;
	const struct shell sh = shell_of(t, s);
	struct buf b = BUF(t->a);
	const char *why = s->why;
	struct scope *out;

	if (e && e->source != SOURCE_WHEEL)
		why = arena_printf(t->a, "%s%scompiled against the packages above",
				   e->version ? e->version : "", e->version ? ", " : "");
	if (e)
		comment(&b, target_own_gpus(t, e));
	if (e && e->path)
		add_file(t, own_place(t, e), sh.places.src, e->asked->path.at);
	for (size_t i = 0; i < s->operations.n; i++)
		add_operation(t, s, &s->operations.at[i], &b);
	if (s->kind == STEP_TORCH && t->plan->cuda_home) {
		const char *home = shell_plain(t->a, &sh.places, t->plan->cuda_home);

		buf_printf(&b, "export CUDA_HOME=%s\n", home);
		scope_text(t->top, "cuda_home", home, s->at);
	}
	if (!b.n)
		return;
	b.p[--b.n] = '\0';
	out = scope_item(t->top, "steps");
	target_lines(out, "comments", arena_printf(t->a, "%s: %s", s->id, why));
	scope_code(out, "commands", checked(t, buf_text(&b), s->at));
}

/* --- the other sections --- */

static void
head(struct target *t, const char *image, const char *file)
{
	const struct stack *s = t->plan->stack;
	const struct recipe *r = s->recipe;
	const char *platform = r->platform.s;
	const struct texts command = recipe_command(t->a, r);

	target_title(t, "title", arena_printf(t->a, "on %s", s->base.value));
	scope_text(t->top, "name", t->plan->name, r->stack.at);
	scope_text(t->top, "image", image, NOWHERE);
	scope_text(t->top, "file", file, NOWHERE);
	scope_flag(t->top, "gpu", s->archs.n > 0);
	if (s->user.value)
		target_lines(t->top, "notes",
			     "Apptainer runs a container as the user who starts it: `user` of the "
			     "recipe has no effect.");
	if (r->runtime.at.line)
		target_lines(t->top, "notes",
			     "The image has one stage: `runtime` of the recipe has no effect.");
	if (target_needs_app(r))
		target_lines(t->top, "notes",
			     "Copy the application's files, which the recipe names, to app/ in "
			     "this directory.");
	list_each (e, &s->extensions)
		if (e->path)
			target_lines(t->top, "notes",
				     arena_printf(t->a,
						  "Copy your own code in %s to %s, without files "
						  "that git ignores.",
						  e->path, own_place(t, e)));
	/* Apptainer accepts a tag or a digest, not both. */
	scope_text(t->top, "base",
		   s->image.tag && s->image.digest ?
			   arena_printf(t->a, "%s@%s", s->image.repository, s->image.digest) :
			   s->base.value,
		   s->base.at);
	if (platform)
		scope_text(t->top, "machine", recipe_machine(r), r->platform.at);
	scope_text(t->top, "digest", r->digest, NOWHERE);
	scope_flag(t->top, "smoke", t->plan->nvcc != NULL);
	scope_flag(t->top, "nvcc", t->plan->nvcc && !strcmp(t->plan->nvcc, "nvcc"));
	scope_flag(t->top, "apt", s->apt.n > 0 && !s->dnf);
	scope_flag(t->top, "dnf", s->dnf);
	target_environment(t->top, r);
	for (size_t i = 0; i < r->env.n; i++)
		checked(t, r->env.at[i].value.s, r->env.at[i].value.at);
	scope_flag(t->top, "app", r->app.at.line != 0);
	scope_texts(t->top, "command", &r->app.command);
	scope_texts(t->top, "entrypoint", &r->app.entrypoint);
	list_each (x, &command)
		checked(t, x->s, x->at);
}

void
apptainer_fill(struct target *t)
{
	const struct names secrets = plan_secrets(t->a, t->plan);
	const char *cell = t->plan->stack->recipe->cell, *file = t->file.path;
	const char *image = arena_printf(t->a, "%s.sif", cell ? cell : t->plan->name);

	if (cell)
		file = fs_join(t->a, cell, file);
	target_refuse_host(t);
	if (secrets.n)
		refuse(t, NOWHERE,
		       arena_printf(t->a,
				    "an Apptainer build has no secrets, and the recipe needs %s",
				    names_words(t->a, &secrets, "and")),
		       "build the image with another target and convert it: apptainer build x.sif "
		       "docker-archive:x.tar");
	head(t, image, file);
	for (size_t i = 0; i < t->plan->n; i++)
		add_step(t, &t->plan->steps[i]);
	add_app_files(t);
	t->file.summary = arena_printf(t->a, "%zu steps", t->plan->n);
	t->file.next = arena_printf(t->a, "cd {out} && apptainer build %s %s", image, file);
}
