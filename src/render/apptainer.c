#include <string.h>

#include "base/fs.h"
#include "base/map.h"
#include "base/str.h"
#include "command.h"
#include "target.h"

/*
 * A definition file for Apptainer (and SingularityCE): the chain of a plan as one %post.  Helpers are
 * copied by %files, which comes before it.  Nothing is mounted while %post runs: caches are off, and
 * secrets do not exist.
 *
 * Source: Apptainer 1.4's documentation of definition files, and its parser
 * (pkg/build/types/parser/deffile.go, internal/pkg/build/args/reader.go): a line whose first word
 * starts with % begins a section, wherever it stands; {{NAME}} is replaced by a build argument.
 */
#define FILE_NAME "apptainer.def"

enum { WIDTH = 100 };

static const struct shape file_shape[] = {
	{ "source", VALUE_CODE, "from the directory where apptainer runs", 0 },
	{ "target", VALUE_CODE, "in the image", 0 },
	{ 0 },
};

static const struct shape step_shape[] = {
	{ "comments", VALUE_LIST, "what the step does and why, in lines", 0 },
	{ "commands", VALUE_CODE, "its commands, one after another", 0 },
	{ 0 },
};

static const struct shape apptainer_shape[] = {
	{ "title", VALUE_LIST, "the stack's name and what is in it, in lines", 0 },
	{ "generated", VALUE_LIST, "where the file comes from, in lines", 0 },
	{ "image", VALUE_TEXT, "name of the image's file", 0 },
	{ "file", VALUE_TEXT, "this file, from the output directory", 0 },
	{ "gpu", VALUE_FLAG, "the image is for GPUs", 0 },
	{ "notes", VALUE_LIST, "what the recipe says and Apptainer does otherwise, in lines", 0 },
	{ "base", VALUE_TEXT, "the base image", 0 },
	{ "nvcc", VALUE_FLAG, "the base image has an nvcc", 0 },
	{ "apt", VALUE_FLAG, "packages of the operating system are installed", 0 },
	{ "machine", VALUE_TEXT, "what uname -m must print; not there without platform:", 0 },
	{ "files", VALUE_LIST, "what is copied into the image", file_shape },
	{ "steps", VALUE_LIST, "the steps of the plan", step_shape },
	{ "cuda_home", VALUE_TEXT, "CUDA_HOME of the image", 0 },
	{ "environment", VALUE_LIST, "the recipe's env:", target_pair_shape },
	{ "name", VALUE_TEXT, "the stack's name", 0 },
	{ "digest", VALUE_TEXT, "of the recipe", 0 },
	{ "smoke", VALUE_FLAG, "the smoke kernel was compiled", 0 },
	{ "probe", VALUE_CODE, "the command that compares what is installed with the plan", 0 },
	{ "app", VALUE_FLAG, "the image has an application", 0 },
	{ "command", VALUE_LIST, "the words of app.command", 0 },
	{ 0 },
};

struct writer {
	struct arena *a;
	struct diags *ds;
	const struct plan *plan;
	const struct templates *templates;
	struct scope *top;
	struct rendereds *out;
	struct map copied;        /* sources */
	const char *image, *file; /* names of the image's file, and of the definition file */
};

static const struct span nowhere;

static struct places
places_of(struct writer *w, const struct step *s)
{
	return (struct places){
		.src = arena_printf(w->a, "/opt/build/src/%s", s->id),
		.wheels = arena_printf(w->a, "/opt/build/wheels/%s", s->id),
		.share = "/opt/stackbuild",
		.python = "python",
		.venv = "/opt/venv",
		.prefix = "/opt/python",
		.work = "/opt/build",
		.app = "/app",
	};
}

/* --- what a definition file cannot say --- */

static void
refuse(struct writer *w, struct span at, const char *what, const char *help)
{
	const struct recipe *r = w->plan->stack->recipe;

	if (!at.line)
		at = (struct span){ .src = r->src };
	diag_help(diag_at(w->ds, E_TARGET_CANNOT, at, "%s", what), "%s", help);
}

static void
check_recipe(struct writer *w)
{
	const struct stack *s = w->plan->stack;
	const struct names secrets = plan_secrets(w->a, w->plan);

	if (s->cuda.value && s->cuda_from == CUDA_HOST)
		refuse(w, s->recipe->cuda_from_at,
		       "an image has no host whose CUDA toolkit it could use",
		       "take the toolkit from an image, apt or wheels; or render the script: "
		       "-t script");
	if (secrets.n)
		refuse(w, nowhere,
		       arena_printf(w->a, "an Apptainer build has no secrets: it needs %s",
				    names_words(w->a, &secrets, "and")),
		       "build the image with another target and convert it: apptainer build x.sif "
		       "docker-archive:x.tar");
}

/* Whether Apptainer reads `{{ NAME }}` in a text: it replaces it by a build argument. */
static bool
has_argument(const char *text)
{
	while ((text = strstr(text, "{{"))) {
		const char *p = text + 2 + strspn(text + 2, " \t\n\f\r");
		const char *end = p;

		while (is_alnum(*end) || *end == '_')
			end++;
		if (end > p && starts_with(end + strspn(end, " \t\n\f\r"), "}}"))
			return true;
		text++;
	}
	return false;
}

/* Whether a line of a text would begin a section. */
static bool
has_section(const char *text)
{
	for (; text; text = strchr(text, '\n')) {
		text += strspn(text, "\n \t\r");
		if (*text == '%')
			return true;
	}
	return false;
}

static const char *
checked(struct writer *w, const char *text, struct span at)
{
	if (has_argument(text))
		refuse(w, at, "a definition file cannot hold a word in double braces",
		       "change the value: Apptainer replaces {{NAME}} by a build argument");
	if (has_section(text))
		refuse(w, at, "a definition file cannot hold a line that starts with `%`",
		       "change the value: Apptainer takes the line for the start of a section");
	return text;
}

/* --- files --- */

/* Adds a file once.  Apptainer splits the line at blanks and expands the source as bash does. */
static void
add_file(struct writer *w, const char *source, const char *target, struct span at)
{
	static const char safe[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/,=@+:-";
	struct scope *f;

	if (map_put(&w->copied, source, w))
		return;
	if (source[strspn(source, safe)])
		refuse(w, at,
		       arena_printf(w->a,
				    "a definition file cannot copy `%s`: its name would be "
				    "split or expanded",
				    source),
		       "rename the file");
	f = scope_item(w->top, "files");
	scope_code(f, "source", source);
	scope_code(f, "target", target);
}

/* Whether a file lies in a directory that is copied as well. */
static bool
lies_in(const char *file, const char *dir)
{
	size_t n = strlen(dir);

	return strcmp(file, dir) != 0 &&
	       (!strcmp(dir, ".") || (!strncmp(file, dir, n) && file[n] == '/'));
}

/* Adds the application's files.  What lies in a directory comes with it: cp would nest the two. */
static void
add_app_files(struct writer *w)
{
	const struct recipe_app *app = &w->plan->stack->recipe->app;
	struct texts all = { 0 };

	for (size_t i = 0; i <= app->copy.n; i++) {
		struct text file = i < app->copy.n ? app->copy.at[i] : app->requirements;
		size_t n = file.s ? strlen(file.s) : 0;

		while (n > 1 && file.s[n - 1] == '/')
			n--;
		if (n)
			list_push(w->a, &all,
				  (struct text){ arena_copy(w->a, file.s, n), file.at });
	}
	for (size_t i = 0; i < all.n; i++) {
		bool covered = false;

		for (size_t k = 0; k < all.n; k++)
			covered |= lies_in(all.at[i].s, all.at[k].s);
		if (!covered)
			add_file(w, fs_join(w->a, "app", all.at[i].s),
				 fs_join(w->a, "/app", all.at[i].s), all.at[i].at);
	}
}

/* --- steps --- */

/* The probe runs at the end of a build, and by `apptainer test`. */
static void
add_test(struct writer *w, const struct step *s, const struct operation *op)
{
	struct layout l = { LANG_SH, places_of(w, s), 0, 4, WIDTH - 4 };
	struct buf b = BUF(w->a);

	l.places.python = "/opt/venv/bin/python";
	command_text(w->ds, operation_commands(w->a, op).at, &l, s->at, &b);
	scope_code(w->top, "probe", buf_text(&b));
}

/* Adds comment lines to the commands; text: one of the plan's own, without values of the recipe. */
static void
comment(struct buf *b, const char *text)
{
	struct buf lines = BUF(b->a);

	if (!text)
		return;
	buf_wrap(&lines, text, 0, WIDTH - 6);
	for (const char *line = buf_text(&lines); *line;
	     line += line[strcspn(line, "\n")] == '\n') {
		buf_printf(b, "# %.*s\n", (int)strcspn(line, "\n"), line);
		line += strcspn(line, "\n");
	}
}

static void
add_commands(struct writer *w, const struct step *s, const struct operation *op, struct buf *b)
{
	struct layout l = { LANG_SH, places_of(w, s), 0, 4, WIDTH - 4 };
	struct operation alone = *op;
	struct commands all;
	bool work = false;

	if (op->kind == OP_COMPILE) /* in a chain, nothing compiles beside it */
		alone.compile.nbeside = 0;
	all = operation_commands(w->a, &alone);
	for (size_t i = 0; i < all.n; i++) {
		if (all.at[i].work && !work)
			buf_printf(b, "mkdir -p %s\n", l.places.work);
		work |= all.at[i].work;
		if (all.at[i].cwd)
			buf_printf(b, "cd %s\n", l.places.app);
		command_text(w->ds, &all.at[i], &l, s->at, b);
		buf_putc(b, '\n');
	}
}

static void
add_operation(struct writer *w, const struct step *s, const struct operation *op, struct buf *b)
{
	struct layout l = { LANG_SH, places_of(w, s), 0, 4, WIDTH - 4 };
	const char *path, *helper;

	if (op->kind == OP_PROBE) {
		add_test(w, s, op);
		return;
	}
	if (op->kind != OP_FILE) {
		comment(b, op->why);
		add_commands(w, s, op, b);
		if (op->kind == OP_PYTHON)
			buf_puts(b, "export PATH=\"/opt/venv/bin:$PATH\"\n");
		return;
	}
	path = word_plain(w->a, &(struct word){ .s = op->file.path }, &l.places);
	if (op->file.helper) {
		helper = target_helper(w->a, w->plan, w->templates, op, w->out);
		if (op->file.program && !map_get(&w->copied, helper))
			buf_printf(b, "chmod 755 %s\n", path);
		add_file(w, helper, path, s->at);
	} else {
		file_text(w->ds, op, &l, s->at, b);
		buf_putc(b, '\n');
	}
}

/* Why a step stands here, in a chain. */
static const char *
why(struct writer *w, const struct step *s)
{
	const struct stack_extension *e = s->extension;

	if (!e || e->source == SOURCE_WHEEL)
		return s->why;
	return arena_printf(w->a, "%s%scompiled against what is installed above",
			    e->version ? e->version : "", e->version ? ", " : "");
}

static void
add_step(struct writer *w, const struct step *s)
{
	struct buf b = BUF(w->a);
	struct scope *out;

	if (s->extension)
		comment(&b, own_gpus(w->a, w->plan->stack, s->extension));
	for (size_t i = 0; i < s->operations.n; i++)
		add_operation(w, s, &s->operations.at[i], &b);
	if (s->kind == STEP_TORCH && w->plan->cuda_home) {
		struct places places = places_of(w, s);
		const char *home =
			word_plain(w->a, &(struct word){ .s = w->plan->cuda_home }, &places);

		buf_printf(&b, "export CUDA_HOME=%s\n", home);
		scope_text(w->top, "cuda_home", home, s->at);
	}
	if (!b.n)
		return;
	b.p[--b.n] = '\0';
	out = scope_item(w->top, "steps");
	target_lines(w->a, out, "comments", arena_printf(w->a, "%s: %s", s->id, why(w, s)));
	scope_code(out, "commands", checked(w, buf_text(&b), s->at));
}

/* --- the rest --- */

static const char *
machine(const char *platform)
{
	return !platform ? NULL : starts_with(platform, "linux/arm64") ? "aarch64" : "x86_64";
}

static void
note(struct writer *w, bool holds, const char *text)
{
	if (holds)
		target_lines(w->a, w->top, "notes", text);
}

static void
head(struct writer *w)
{
	const struct stack *s = w->plan->stack;
	const struct recipe *r = s->recipe;

	target_lines(w->a, w->top, "title",
		     target_title(w->a, w->plan, arena_printf(w->a, "on %s", s->base.value)));
	target_lines(w->a, w->top, "generated", target_generated(w->a, w->plan));
	scope_text(w->top, "name", w->plan->name, r->stack.at);
	scope_text(w->top, "image", w->image, nowhere);
	scope_text(w->top, "file", w->file, nowhere);
	scope_flag(w->top, "gpu", s->archs.n > 0);
	note(w, s->user.value,
	     "Apptainer runs a container as the user who starts it: `user` of the recipe has no "
	     "effect.");
	note(w, r->runtime.at.line,
	     "The image has one stage: `runtime` of the recipe has no effect.");
	note(w, r->app.copy.n || r->app.requirements.s,
	     "Put the application's files, which the recipe names, below app/ in this directory.");
	/* Apptainer takes a tag or a digest. */
	scope_text(w->top, "base",
		   s->image.tag && s->image.digest ?
			   arena_printf(w->a, "%s@%s", s->image.repository, s->image.digest) :
			   s->base.value,
		   s->base.at);
	scope_text(w->top, "machine", machine(r->platform.s), r->platform.at);
	scope_text(w->top, "digest", r->digest, nowhere);
	scope_flag(w->top, "smoke", w->plan->nvcc != NULL);
	scope_flag(w->top, "nvcc", w->plan->nvcc && !strcmp(w->plan->nvcc, "nvcc"));
	scope_flag(w->top, "apt", s->apt.n > 0);
	for (size_t i = 0; i < r->env.n; i++) {
		struct scope *item = scope_item(w->top, "environment");

		scope_text(item, "name", r->env.at[i].name.s, r->env.at[i].name.at);
		scope_text(item, "value", checked(w, r->env.at[i].value.s, r->env.at[i].value.at),
			   r->env.at[i].value.at);
	}
	scope_flag(w->top, "app", r->app.at.line != 0);
	for (size_t i = 0; i < r->app.command.n; i++)
		scope_item_text(w->top, "command",
				checked(w, r->app.command.at[i].s, r->app.command.at[i].at),
				r->app.command.at[i].at);
}

bool
apptainer_render(struct arena *a, struct diags *ds, const struct plan *p, const struct templates *t,
		 struct rendereds *out)
{
	const char *cell = p->stack->recipe->cell;
	struct rendereds helpers = { 0 };
	struct writer w = {
		a, ds, p, t, scope_new(a, apptainer_shape), &helpers, MAP(a), NULL, NULL
	};
	struct rendered r = { .path = FILE_NAME, .mode = 0644 };
	unsigned before = ds->errors;

	w.image = arena_printf(a, "%s.sif", cell ? cell : p->name);
	w.file = cell ? fs_join(a, cell, FILE_NAME) : FILE_NAME;
	check_recipe(&w);
	head(&w);
	for (size_t i = 0; i < p->n; i++)
		add_step(&w, &p->steps[i]);
	add_app_files(&w);
	r.summary = arena_printf(a, "%zu steps", p->n);
	r.next = arena_printf(a, "cd {out} && apptainer build %s %s", w.image, w.file);
	if (ds->errors > before || !target_expand(a, ds, t, LANG_SH, w.top, r, out))
		return false;
	for (size_t i = 0; i < helpers.n; i++)
		list_push(a, out, helpers.at[i]);
	return true;
}
