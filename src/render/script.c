#include <string.h>

#include "base/str.h"
#include "inputs.h"
#include "script.h"

/*
 * The chain as a shell script: a virtual environment on a machine that is there
 * already.  That machine takes the place of the base image: its packages are looked
 * for before any are installed, its Python and its CUDA toolkit are used.
 */

static const struct shape folder_shape[] = {
	{ "folder", VALUE_CODE, "a folder that must be empty, as a word", 0 },
	{ 0 },
};

const struct shape script_file_shape[] = {
	{ "path", VALUE_CODE, "where the file goes, as a word", 0 },
	{ "end", VALUE_TEXT, "a line that the file does not hold", 0 },
	{ "text", VALUE_CODE, "what is in it, without the last line end", 0 },
	{ "executable", VALUE_FLAG, "it is a program", 0 },
	{ 0 },
};

const struct shape script_command_shape[] = {
	{ "remarks", VALUE_LIST, "why, in lines", 0 },
	{ "command", VALUE_CODE, "the command", 0 },
	{ "smoke", VALUE_FLAG, "it needs an nvcc that may not be there", 0 },
	{ "probe", VALUE_FLAG, "it compares what is there with the plan", 0 },
	{ "plain", VALUE_FLAG, "it is neither", 0 },
	{ 0 },
};

static const struct shape step_shape[] = {
	{ "id", VALUE_TEXT, "\"torch\", \"causal-conv1d\"", 0 },
	{ "key", VALUE_TEXT, "what its result depends on, as a digest", 0 },
	{ "remarks", VALUE_LIST, "why it stands here, in lines", 0 },
	{ "always", VALUE_FLAG, "it is done every time", 0 },
	{ "starts", VALUE_FLAG, "the environment is made: what was there before goes", 0 },
	{ "host_python", VALUE_LIST, "the series to look for on this machine; one or none", 0 },
	{ "folders", VALUE_LIST, "folders that must be empty", folder_shape },
	{ "files", VALUE_LIST, "files that it writes first", script_file_shape },
	{ "secrets", VALUE_LIST, "names of secrets that must be there", 0 },
	{ "commands", VALUE_LIST, "its commands", script_command_shape },
	{ "replaces", VALUE_LIST, "packages whose other build would be left in place", 0 },
	{ "compiled", VALUE_FLAG, "it is an extension that is compiled: see sources", 0 },
	{ "reads", VALUE_FLAG, "the first of them: all inputs are read before it", 0 },
	{ "wheels", VALUE_CODE, "where its wheel is put, as a word", 0 },
	{ "installs", VALUE_LIST, "compiled: what installs its wheel", script_command_shape },
	{ 0 },
};

static const struct shape pair_shape[] = {
	{ "name", VALUE_TEXT, "its name", 0 },
	{ "value", VALUE_TEXT, "its value", 0 },
	{ 0 },
};

static const struct shape script_shape[] = {
	{ "name", VALUE_TEXT, "the stack's name", 0 },
	{ "contents", VALUE_LIST, "what is in it, in lines", 0 },
	{ "digest", VALUE_TEXT, "sha256 of the canonical recipe", 0 },
	{ "python", VALUE_TEXT, "the series of Python", 0 },
	{ "compiles", VALUE_FLAG, "an extension is compiled", 0 },
	{ "secrets", VALUE_LIST, "names of the secrets", 0 },
	{ "has_secrets", VALUE_FLAG, "there are any", 0 },
	{ "app", VALUE_FLAG, "the application has requirements", 0 },
	{ "unused", VALUE_LIST, "what the recipe says and a script cannot do", 0 },
	{ "apt_why", VALUE_TEXT, "why packages of the system are needed", 0 },
	{ "packages", VALUE_FLAG, "packages of the system are needed", 0 },
	{ "apt", VALUE_LIST, "those of all steps but Python's", 0 },
	{ "python_apt", VALUE_LIST, "those of the Python step", 0 },
	{ "cuda_host", VALUE_TEXT, "the CUDA that the machine's toolkit must be", 0 },
	{ "ids", VALUE_LIST, "the names of all steps", 0 },
	{ "reader", VALUE_LIST, "the program that reads inputs; one or none", script_file_shape },
	{ "sources", VALUE_LIST, "extensions that are compiled, in order", script_source_shape },
	{ "steps", VALUE_LIST, "the steps, in order", step_shape },
	{ "environment", VALUE_LIST, "the recipe's env", pair_shape },
	{ "command", VALUE_LIST, "the words of app's command", 0 },
	{ 0 },
};

static const struct span nowhere;

enum { WIDTH = 92 };

static struct places
places_of(struct script_writer *w, const struct step *s)
{
	return (struct places){
		.src = arena_printf(w->a, "$share/src/%s", s->id),
		.wheels = arena_printf(w->a, "$share/wheels/%s", s->id),
		.share = "$share",
		.python = "$python",
		.venv = "$venv",
		.prefix = "$venv/python",
		.work = "$work",
		.app = "$app",
		.secrets = "$secrets",
		.inputs = "$inputs",
	};
}

const char *
script_word(struct script_writer *w, const struct step *s, const char *text)
{
	struct layout l = { .language = LANG_SH, .places = places_of(w, s) };
	struct buf b = BUF(w->a);

	w->good = word_text(w->ds, &(struct word){ .s = text }, &l, s->at, &b) && w->good;
	return buf_text(&b);
}

/* --- files --- */

static bool
has_line(const char *text, const char *line)
{
	size_t n = strlen(line);

	for (const char *p = text; (p = strstr(p, line)); p++)
		if ((p == text || p[-1] == '\n') && (p[n] == '\n' || !p[n]))
			return true;
	return false;
}

struct scope *
script_file(struct script_writer *w, const struct step *s, const char *path, struct str text,
	    const char *list, struct scope *out)
{
	struct scope *f = scope_item(out, list);
	const char *end = "END_OF_FILE", *body;

	body = arena_copy(w->a, text.p, text.n && text.p[text.n - 1] == '\n' ? text.n - 1 : text.n);
	while (has_line(body, end))
		end = arena_printf(w->a, "%s_", end);
	scope_code(f, "path", script_word(w, s, path));
	scope_text(f, "end", end, nowhere);
	scope_code(f, "text", body);
	return f;
}

struct str
script_template(struct script_writer *w, const char *name)
{
	const struct source *src = templates_text(w->templates, name);

	return (struct str){ src->text, src->size };
}

static void
add_files(struct script_writer *w, const struct step *s, struct scope *out)
{
	for (size_t i = 0; i < s->files.n; i++) {
		const struct step_file *f = &s->files.at[i];

		scope_flag(
			script_file(w, s, f->path,
				    f->template ? script_template(w, f->template) : str_of(f->text),
				    "files", out),
			"executable", f->program);
	}
}

/* --- commands --- */

/* The same command as it must be here: secrets lie elsewhere, the toolkit is the host's. */
static struct command
for_host(struct script_writer *w, const struct command *from, bool *smoke)
{
	const struct plan *p = w->plan;
	bool own_toolkit = p->stack->cuda_from == CUDA_WHEELS;
	struct command c = *from;

	c.env = (struct variables){ 0 };
	for (size_t i = 0; i < from->env.n; i++) {
		struct variable v = from->env.at[i];

		if (!strcmp(v.name, "CUDA_HOME") && !v.verbatim && !own_toolkit)
			continue;
		for (size_t k = 0; k < from->mounts.n; k++)
			if (from->mounts.at[k].kind == MOUNT_SECRET &&
			    !strcmp(from->mounts.at[k].target, v.value))
				v = (struct variable){
					v.name,
					arena_printf(w->a, "{secrets}/%s", from->mounts.at[k].id),
					false,
				};
		list_push(w->a, &c.env, v);
	}
	*smoke = p->nvcc && !own_toolkit && !strcmp(from->argv.at[0].s, p->nvcc);
	if (*smoke) {
		c.argv = (struct words){ 0 };
		list_push(w->a, &c.argv, (struct word){ "nvcc", false });
		for (size_t i = 1; i < from->argv.n; i++)
			list_push(w->a, &c.argv, from->argv.at[i]);
	}
	return c;
}

static void
name_secrets(struct script_writer *w, const struct command *c, struct scope *out)
{
	for (size_t i = 0; i < c->mounts.n; i++) {
		const struct mount *m = &c->mounts.at[i];

		if (m->kind != MOUNT_SECRET)
			continue;
		scope_item_text(out, "secrets", m->id, nowhere);
		if (!map_put(&w->secrets, m->id, (void *)m))
			scope_item_text(w->top, "secrets", m->id, nowhere);
		scope_flag(w->top, "has_secrets", true);
	}
}

void
script_command(struct script_writer *w, const struct step *s, const struct command *from,
	       const char *list, struct scope *out)
{
	struct layout l = { LANG_SH, places_of(w, s), 0, 4, WIDTH };
	struct scope *item = scope_item(out, list);
	struct buf b = BUF(w->a);
	struct command c;
	bool smoke, probe;

	c = for_host(w, from, &smoke);
	name_secrets(w, from, out);
	if (c.comment)
		scope_item_text(item, "remarks", c.comment, nowhere);
	if (c.cwd)
		buf_printf(&b, "(cd %s && ", script_word(w, s, c.cwd));
	w->good = command_text(w->ds, &c, &l, s->at, &b) && w->good;
	if (c.cwd)
		buf_putc(&b, ')');
	scope_code(item, "command", buf_text(&b));
	probe = c.argv.n > 1 && ends_with(c.argv.at[1].s, "/probe.py");
	scope_flag(item, "smoke", smoke);
	scope_flag(item, "probe", probe);
	scope_flag(item, "plain", !smoke && !probe);
}

/* --- steps --- */

const char *
script_key(struct script_writer *w, const struct step *s)
{
	return arena_copy(w->a, s->key, 16);
}

/* The machine's own Python, unless the recipe names where another one comes from. */
static void
python_step(struct script_writer *w, struct scope *out, bool *commands)
{
	const struct stack *s = w->plan->stack;
	enum python_from from = s->recipe->python_from;
	bool fetched = s->python_from == PYTHON_STANDALONE || s->python_from == PYTHON_UV;

	scope_flag(out, "starts", true);
	*commands = fetched || !s->python.value;
	if (s->python.value && !(fetched && from != PYTHON_AUTO))
		scope_item_text(out, "host_python", s->python.value, s->python.at);
}

static void
add_folder(struct script_writer *w, const struct step *s, const char *place, struct scope *out)
{
	scope_code(scope_item(out, "folders"), "folder", script_word(w, s, place));
}

static void
add_step(struct script_writer *w, const struct step *s)
{
	struct scope *out = scope_item(w->top, "steps");
	bool commands = true;

	scope_text(out, "id", s->id, s->at);
	scope_text(out, "key", script_key(w, s), nowhere);
	scope_item_text(w->top, "ids", s->id, nowhere);
	scope_item_text(out, "remarks", s->why, s->at);
	scope_flag(out, "always", s->kind == STEP_CHECK || s->kind == STEP_APP);
	if (s->kind == STEP_PYTHON)
		python_step(w, out, &commands);
	if (s->kind == STEP_EXTENSION) {
		const char *gpus = own_gpus(w->a, w->plan->stack, s->extension);

		if (gpus)
			scope_item_text(out, "remarks", gpus, s->at);
		if (compile_of(s)) {
			script_compile(w, s, out);
			return;
		}
		add_folder(w, s, "{src}", out);
		add_folder(w, s, "{wheels}", out);
	}
	/* pip takes torch 2.2.2 made with another CUDA for the one that is asked for. */
	for (size_t i = 0; s->kind == STEP_TORCH && i < s->packages.n; i++)
		scope_item_text(out, "replaces", s->packages.at[i].key, nowhere);
	add_files(w, s, out);
	for (size_t i = 0; commands && i < s->commands.n; i++)
		script_command(w, s, &s->commands.at[i], "commands", out);
}

/* --- the head of the file --- */

static void
say_unused(struct script_writer *w, const struct text *value, const char *what)
{
	if (value->s)
		scope_item_text(w->top, "unused", arena_printf(w->a, "%s %s", what, value->s),
				value->at);
}

static void
add_contents(struct script_writer *w)
{
	const struct stack *s = w->plan->stack;
	struct buf b = BUF(w->a);

	if (s->torch.value)
		buf_printf(&b, "torch %s%s%s", s->torch.value, s->torch_tag ? "+" : "",
			   s->torch_tag ? s->torch_tag : "");
	if (s->python.value)
		buf_printf(&b, "%sPython %s", b.n ? ", " : "", s->python.value);
	for (size_t i = 0; i < s->extensions.n; i++) {
		const struct stack_extension *e = &s->extensions.at[i];

		buf_printf(&b, ", %s%s%s", e->name, e->version ? " " : "",
			   e->version ? e->version : "");
	}
	scope_item_text(w->top, "contents", buf_text(&b), nowhere);
}

/* "12.1" of "12.1.1"; NULL if nothing here is made with the machine's toolkit. */
static const char *
host_cuda(struct script_writer *w)
{
	const struct stack *s = w->plan->stack;
	size_t n;

	if (!s->cuda.value || s->cuda_from == CUDA_WHEELS || !w->plan->nvcc)
		return NULL;
	n = strcspn(s->cuda.value, ".");
	if (s->cuda.value[n])
		n += 1 + strcspn(s->cuda.value + n + 1, ".");
	return arena_copy(w->a, s->cuda.value, n);
}

static void
head(struct script_writer *w)
{
	const struct stack *s = w->plan->stack;
	const struct recipe *r = s->recipe;
	bool compiles = false;

	scope_text(w->top, "name", w->plan->name, r->stack.at);
	add_contents(w);
	scope_text(w->top, "digest", r->digest, nowhere);
	scope_text(w->top, "python", s->python.value, s->python.at);
	for (size_t i = 0; i < s->extensions.n; i++)
		compiles |= s->extensions.at[i].source != SOURCE_WHEEL;
	scope_flag(w->top, "compiles", compiles);
	scope_flag(w->top, "app", r->app.requirements.s != NULL);
	say_unused(w, &r->base, "this machine is the base, not");
	say_unused(w, &r->runtime.base, "there is no second stage on");
	say_unused(w, &r->user, "who calls it is the user, not");
	scope_text(w->top, "cuda_host", host_cuda(w), nowhere);
	for (size_t i = 0; i < r->env.n; i++) {
		struct scope *item = scope_item(w->top, "environment");

		scope_text(item, "name", r->env.at[i].name.s, r->env.at[i].name.at);
		scope_text(item, "value", r->env.at[i].value.s, r->env.at[i].value.at);
	}
	for (size_t i = 0; i < r->app.command.n; i++)
		scope_item_text(w->top, "command", r->app.command.at[i].s, r->app.command.at[i].at);
}

/* The system's Python is only installed if this machine has none that will do. */
static void
add_packages(struct script_writer *w, const struct step *s)
{
	scope_item_text(w->top, "ids", s->id, nowhere);
	scope_text(w->top, "apt_why", s->why, s->at);
	scope_flag(w->top, "packages", s->apt.n > 0);
	for (size_t i = 0; i < s->apt.n; i++)
		scope_item_text(w->top, starts_with(s->apt.at[i], "python") ? "python_apt" : "apt",
				s->apt.at[i], s->at);
}

static bool
is_last(const struct step *s)
{
	return s->kind == STEP_CHECK || s->kind == STEP_APP;
}

static void
add_any(struct script_writer *w, const struct step *s)
{
	if (s->kind == STEP_APT)
		add_packages(w, s);
	else if (s->kind != STEP_BASE)
		add_step(w, s);
}

bool
script_render(struct arena *a, struct diags *ds, const struct plan *p, const struct templates *t,
	      struct rendereds *out)
{
	struct script_writer w = { a, ds, p, t, MAP(a), scope_new(a, script_shape), true };
	struct buf text = BUF(a);

	head(&w);
	for (size_t i = 0; i < p->n; i++)
		if (compile_of(&p->steps[i]))
			script_source(&w, &p->steps[i]);
	/* What a wheel depends on is read before anything compiles, after all else. */
	for (size_t i = 0; i < p->n; i++)
		if (!compile_of(&p->steps[i]) && !is_last(&p->steps[i]))
			add_any(&w, &p->steps[i]);
	for (size_t i = 0; i < p->n; i++)
		if (compile_of(&p->steps[i]))
			add_any(&w, &p->steps[i]);
	for (size_t i = 0; i < p->n; i++)
		if (is_last(&p->steps[i]))
			add_any(&w, &p->steps[i]);
	if (!template_expand(ds, t, "setup.sh", LANG_SH, w.top, &text) || !w.good)
		return false;
	list_push(a, out,
		  (struct rendered){
			  .path = "setup.sh",
			  .text = buf_text(&text),
			  .size = text.n,
			  .mode = 0755,
			  .summary = arena_printf(a, "%zu steps", p->n - 1),
			  .next = "{path}",
		  });
	return true;
}
