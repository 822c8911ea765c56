#include "modal.h"

#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"
#include "base/str.h"

/*
 * Writes an app file for Modal: the chain of a plan as one image, layer by layer, a smoke test, and
 * the recipe's own function. The calls, also those that Modal rejects, were tested with the clients
 * in CHECKED.
 */
#define CHECKED_OLD "1.5.4"
#define CHECKED_NEW "1.6.4"

static const struct shape function_shape[] = {
	{ "name", VALUE_TEXT, "name of the function, for `modal run FILE::NAME`", 0 },
	{ "decorator", VALUE_CODE, "@app.function(...)", 0 },
	{ "entry", VALUE_FLAG, "the function runs the entry point", 0 },
	{ "command", VALUE_FLAG, "the function runs the recipe's command", 0 },
	{ "any", VALUE_FLAG, "the function runs the command in its arguments", 0 },
	{ "file", VALUE_TEXT, "name of the app file", 0 },
	{ "call", VALUE_CODE, "the call that runs it", 0 },
	{ 0 },
};

const struct shape modal_shape[] = {
	{ "contents", VALUE_LIST, "contents of the image, in lines", 0 },
	{ "generated", VALUE_LIST, "program and recipe that generated the file, in lines", 0 },
	{ "usage", VALUE_LIST, "commands, one in a line", 0 },
	{ "checklist", VALUE_LIST, "preparations for the first run", 0 },
	{ "notes", VALUE_LIST, "limits, prices and versions, in lines", 0 },
	{ "builder", VALUE_TEXT, "version of Modal's image builder", 0 },
	{ "app", VALUE_TEXT, "name of the app; missing if the file has only the image", 0 },
	{ "cell", VALUE_FLAG, "a cell of a matrix: its helpers are in the directory above", 0 },
	{ "helpers", VALUE_FLAG, "helpers are copied into the image", 0 },
	{ "constrained", VALUE_FLAG, "pip is called", 0 },
	{ "locked", VALUE_FLAG, "packages come from a lock, without constraints.txt", 0 },
	{ "compiler", VALUE_CODE, "CC, CXX and AR as a dict; missing with the base's Python", 0 },
	{ "heavy", VALUE_FLAG, "extensions compile in a build function", 0 },
	{ "sources", VALUE_LIST, "files and directories of the recipe's directory", 0 },
	{ "own_code", VALUE_FLAG, "the image compiles own code", 0 },
	{ "layers", VALUE_LIST, "the image up to the application, layer by layer",
	  modal_layer_shape },
	{ "app_layers", VALUE_LIST, "the application's layers", modal_layer_shape },
	{ "smoke", VALUE_CODE, "@app.function(...) of the smoke test", 0 },
	{ "nvcc", VALUE_CODE, "call that compiles the smoke kernel; missing without nvcc", 0 },
	{ "probe", VALUE_CODE, "the call that runs probe.py", 0 },
	{ "torch_alone", VALUE_FLAG, "the stack has a GPU and torch, but no nvcc", 0 },
	{ "functions", VALUE_LIST, "the recipe's own functions", function_shape },
	{ "program", VALUE_FLAG, "there are such functions", 0 },
	{ "args", VALUE_CODE, "modal.args as a list; missing without it", 0 },
	{ "launch", VALUE_CODE, "the call of the local entry point", 0 },
	{ "loads", VALUE_FLAG, "there is a web function or a class", 0 },
	{ "web", VALUE_LIST, "the web function, if any", modal_web_shape },
	{ "class", VALUE_LIST, "the class, if any", modal_class_shape },
	{ 0 },
};

/* --- names --- */

/* Returns a name of at most 64 characters of [A-Za-z0-9._-]; a longer one ends with a digest. */
static const char *
app_name(const struct modal *m)
{
	const char *cell = m->recipe->cell;
	struct buf b = BUF(m->a);

	if (m->asked->app.s)
		return m->asked->app.s;
	buf_printf(&b, "%s%s%s", m->t->plan->name, cell ? "-" : "", cell ? cell : "");
	for (char *p = b.p; *p; p++)
		if (!is_alnum(*p) && !strchr("._-", *p))
			*p = '-';
	if (b.n <= 64)
		return b.p;
	return arena_printf(m->a, "%.55s-%.8s", b.p, sha256_hex(m->a, b.p, b.n));
}

/* --- the head of the file --- */

static void
add_check(struct modal *m, const char *text)
{
	scope_item_text(m->t->top, "checklist", text, NOWHERE);
}

/* Adds a secret of the build: Modal passes it as a variable of the same name. */
static void
add_build_secret(struct modal *m, const char *name, bool netrc)
{
	if (name)
		add_check(m,
			  arena_printf(m->a, "`modal secret list` shows %s, with the key %s%s",
				       name, name,
				       netrc ? ": a netrc line (machine HOST login USER password "
					       "TOKEN)" :
					       ""));
}

static void
add_checklist(struct modal *m)
{
	const struct recipe *r = m->recipe;
	const struct texts none = { 0 };
	const struct recipe_arguments no_buckets = { 0 };

	add_check(m, "`modal token info` shows a token of the right workspace");
	add_check(m, "`modal billing summary` shows credits");
	list_each (x, m->alone ? &none : &m->asked->secrets)
		add_check(m, arena_printf(m->a, "`modal secret list` shows %s", x->s));
	list_each (b, m->alone ? &no_buckets : &m->asked->buckets) {
		const struct recipe_argument *secret = recipe_argument(&b->below, "secret");

		if (secret)
			add_check(m,
				  arena_printf(
					  m->a,
					  "`modal secret list` shows %s, with the keys of a bucket",
					  secret->value.s));
	}
	for (size_t i = 0; i < r->secrets.n; i++)
		add_build_secret(m, r->secrets.at[i].s, false);
	add_build_secret(m, r->index.secret.s, true);
	for (size_t i = 0; i < r->extras.n; i++)
		add_build_secret(m, r->extras.at[i].secret.s, true);
	if (!m->python && !m->stack->image.python)
		add_check(m, "the base image has python and pip on its PATH");
}

static void
add_note(struct modal *m, const char *text)
{
	target_lines(m->t->top, "notes", text);
}

static void
add_notes(struct modal *m)
{
	const char *client = modal_client(m);
	const struct modal_limits *limits = facts_modal(m->stack->facts);
	struct names gpus = list_names(m->a, g, &m->gpus, g->s);

	if (gpus.n && !m->alone)
		add_note(m, arena_printf(m->a, "GPU: %s%s%s.", names_join(m->a, &gpus, ", else "),
					 m->gpu_why ? ", " : "", m->gpu_why ? m->gpu_why : ""));
	if (!m->alone && recipe_number(m->asked->timeout_s) == limits->timeout_max_s)
		add_note(m, arena_printf(m->a,
					 "%u s is Modal's longest timeout: longer work must save "
					 "its state to a volume and start again.",
					 limits->timeout_max_s));
	if (modal_compile_note(m))
		add_note(m, modal_compile_note(m));
	if (m->heavy)
		add_note(m, "Extensions compile in a function of their own: Modal charges for its "
			    "processors and memory while it runs.");
	if (m->recipe->runtime.at.line)
		add_note(m, "The recipe's runtime stage has no effect here: a Modal image has one "
			    "stage.");
	add_note(m, client ? arena_printf(
				     m->a,
				     "Image builder %s; needs modal %s or newer (tested with %s).",
				     m->builder, client, CHECKED_NEW) :
			     arena_printf(m->a, "Image builder %s (tested with modal %s and %s).",
					  m->builder, CHECKED_OLD, CHECKED_NEW));
}

/* --- the functions --- */

enum {
	SMOKE_TIMEOUT_S = 900
}; /* the smoke test compiles a kernel, runs it and imports the modules */

void
modal_decorator(struct modal *m, enum modal_callee callee, struct py_call *c)
{
	struct names gpus = list_names(c->a, g, &m->gpus, py_quoted(c->a, g->s));

	py_code(c, "image", "image");
	if (gpus.n == 1)
		py_code(c, "gpu", gpus.at[0]);
	else
		py_list(c, "gpu", "[]", &gpus);
	if (callee == MODAL_SMOKE)
		py_code(c, "timeout", arena_printf(c->a, "%d", SMOKE_TIMEOUT_S));
	else
		modal_work_options(m, callee, c);
}

/* Returns @app.function(...) for the smoke test or the recipe's own function. */
static const char *
decorator(struct modal *m, bool smoke)
{
	struct py_call c = { .a = m->a };

	modal_decorator(m, smoke ? MODAL_SMOKE : MODAL_PROGRAM, &c);
	return py_call(&c, "@app.function");
}

/* Returns the call that runs a command. */
static const char *
run_code(struct modal *m, const struct words *words)
{
	struct py_call c = { .a = m->a };
	struct names items = { 0 };

	for (size_t i = 0; i < words->n; i++) {
		const char *s = words->at[i].s;

		if (!words->at[i].verbatim)
			s = shell_plain(c.a, &modal_places, s);
		list_push(c.a, &items, py_quoted(c.a, s));
	}
	py_list(&c, NULL, "[]", &items);
	py_code(&c, "check", "True");
	return py_call(&c, "subprocess.run");
}

static void
add_function(struct modal *m, const char *kind, const char *name, const struct texts *words)
{
	struct scope *f = scope_item(m->t->top, "functions");

	scope_flag(f, kind, true);
	scope_text(f, "name", name, NOWHERE);
	scope_text(f, "file", m->t->file.path, NOWHERE);
	scope_code(f, "decorator", decorator(m, false));
	scope_code(f, "call", modal_entry_call(m, words));
}

static const char *
duration(struct modal *m, unsigned seconds)
{
	if (seconds < 60)
		return arena_printf(m->a, "%u s", seconds);
	if (seconds < 7200 && seconds != 3600)
		return arena_printf(m->a, "%u min", seconds / 60);
	return arena_printf(m->a, "%.3g h", seconds / 3600.0);
}

/* Returns how often Modal may start the program: once, and its retries. */
static unsigned
attempts(const struct modal *m)
{
	const struct recipe_argument *x = recipe_argument(&m->asked->function, "retries");

	if (x && x->below.n)
		x = recipe_argument(&x->below, "max_retries");
	return x && x->value.s ? 1 + (unsigned)recipe_number(x->value) : 1;
}

/* Adds a command, with the most time and cost of one call: "at most 24 h, about $60 for the GPU". */
static void
usage(struct modal *m, const char *command, const char *what, enum modal_callee callee,
      unsigned limit_s)
{
	unsigned n = callee == MODAL_PROGRAM ? attempts(m) : 1;
	const char *all = "";

	if (n > 1)
		all = arena_printf(m->a, "; all %u attempts: at most %s%s", n,
				   duration(m, n * limit_s),
				   modal_cost(m, callee, (double)n * limit_s));
	scope_item_text(m->t->top, "usage",
			arena_printf(m->a, "%-41s %s; at most %s%s%s", command, what,
				     duration(m, limit_s), modal_cost(m, callee, limit_s), all),
			NOWHERE);
}

/* Adds the functions for the recipe's program; `modal run FILE` starts the first one. */
static void
work_functions(struct modal *m)
{
	const struct texts words = recipe_command(m->a, m->recipe), none = { 0 };
	const char *file = m->t->file.path, *first = NULL;
	unsigned limit_s = m->asked->timeout_s.s ? recipe_number(m->asked->timeout_s) :
						   facts_modal(m->stack->facts)->timeout_max_s;
	const char *all = m->asked->args.n ? "[ARGS]" : "ARGS";

	if (m->worker) {
		add_function(m, "entry", first = m->worker, NULL);
		usage(m, arena_printf(m->a, "modal run --detach %s %s", file, all),
		      arena_printf(m->a, "run %s", m->asked->entrypoint.s), MODAL_PROGRAM, limit_s);
	}
	if (words.n) {
		add_function(m, "command", "command", &words);
		usage(m,
		      arena_printf(m->a, "modal run --detach %s%s", file, first ? "::command" : ""),
		      "run the recipe's command", MODAL_PROGRAM, limit_s);
		first = first ? first : "command";
	}
	if (!first && m->asked->at.line) {
		add_function(m, "any", first = "run", &none);
		usage(m, arena_printf(m->a, "modal run --detach %s COMMAND", file),
		      "run a command in the image", MODAL_PROGRAM, limit_s);
	}
	if (first)
		modal_entry_launch(m, first);
}

/* Repeats the commands of the check on the GPU. */
static void
smoke_function(struct modal *m)
{
	const struct step *check = plan_step(m->t->plan, "check");
	bool kernel = false;

	list_each (op, &check->operations) {
		if ((op->kind != OP_SMOKE || !m->gpus.n) && op->kind != OP_PROBE)
			continue;
		scope_code(m->t->top, op->kind == OP_SMOKE ? "nvcc" : "probe",
			   run_code(m, &operation_commands(m->a, op).at[0].argv));
		kernel |= op->kind == OP_SMOKE;
	}
	scope_code(m->t->top, "smoke", decorator(m, true));
	scope_flag(m->t->top, "torch_alone", !kernel && m->gpus.n && m->stack->torch.value);
}

/* --- the file --- */

static void
head(struct modal *m)
{
	const struct recipe_app *app = &m->recipe->app;
	const struct texts files = modal_member_files(m);
	struct scope *v = m->t->top;

	scope_text(v, "builder", m->builder, m->asked->builder.at);
	if (!m->alone)
		scope_text(v, "app", app_name(m), m->asked->app.at);
	scope_flag(v, "cell", m->recipe->cell != NULL);
	scope_flag(v, "heavy", m->heavy);
	if (m->python)
		scope_code(v, "compiler",
			   arena_printf(m->a, "{\"CC\": %s, \"CXX\": %s, \"AR\": \"ar\"}",
					py_quoted(m->a, m->stack->cc),
					py_quoted(m->a, m->stack->cxx)));
	target_title(m->t, "contents", arena_printf(m->a, "on %s", m->stack->base.value));
	add_checklist(m);
	add_notes(m);
	scope_texts(v, "sources", &app->copy);
	for (size_t i = 0; i < app->files.n; i++)
		scope_item_text(v, "sources", app->files.at[i], NOWHERE);
	list_each (local, &app->locals)
		scope_item_text(v, "sources", local->s, local->at);
	list_each (e, &m->stack->extensions)
		if (e->path)
			scope_item_text(v, "sources", e->path, e->asked->path.at);
	if (m->entry && !m->copied && !m->alone)
		scope_item_text(v, "sources", m->entry, NOWHERE);
	if (!m->alone)
		scope_texts(v, "sources", &files);
}

static struct modal
checked(struct target *t, bool alone)
{
	const struct stack *s = t->plan->stack;
	const struct recipe_modal *asked = &s->recipe->modal;
	struct modal m = {
		.t = t,
		.a = t->a,
		.stack = s,
		.recipe = s->recipe,
		.asked = asked,
		.builder = asked->builder.s ? asked->builder.s :
					      facts_modal(s->facts)->builder_default,
		.python = s->python_from == PYTHON_BASE ? NULL : s->python.value,
		.alone = alone,
		.heavy = asked->build.s && !strcmp(asked->build.s, "heavy"),
		.written = MAP(t->a),
	};

	modal_entry_read(&m);
	modal_check(&m);
	return m;
}

void
modal_judge(struct target *t)
{
	checked(t, false);
}

void
modal_fill(struct target *t)
{
	struct modal m = checked(t, false);
	const char *hour;

	if (t->ds->errors)
		return;
	hour = modal_cost(&m, MODAL_WEB, 3600);
	hour = *hour ? hour : NULL;
	head(&m);
	modal_add_layers(&m);
	scope_flag(t->top, "helpers", t->helpers.n > 0);
	usage(&m, arena_printf(t->a, "modal run %s::smoke", t->file.path),
	      "build the image and test it", MODAL_SMOKE, SMOKE_TIMEOUT_S);
	work_functions(&m);
	if (m.asked->web.n)
		scope_item_text(t->top, "usage",
				arena_printf(t->a, "%-41s serve the web function until Ctrl-C%s",
					     arena_printf(t->a, "modal serve %s", t->file.path),
					     hour ? arena_printf(t->a, "; an hour%s", hour) : ""),
				NOWHERE);
	scope_item_text(t->top, "usage",
			arena_printf(t->a, "%-41s deploy the functions",
				     arena_printf(t->a, "modal deploy %s", t->file.path)),
			NOWHERE);
	smoke_function(&m);
	modal_add_members(&m);
	t->file.summary = arena_printf(t->a, "%zu layers", m.layers);
	if (m.worker || m.recipe->app.command.n)
		t->file.next = "modal run --detach {path}";
	else if (m.asked->at.line)
		t->file.next = "modal run {path}"; /* without arguments: the smoke test */
}

void
modal_image_fill(struct target *t)
{
	struct modal m = checked(t, true);
	const char *lines[] = { "from modal_image import image", "app = modal.App(\"my-app\")", "",
				"@app.function(image=image)" };

	if (t->ds->errors)
		return;
	head(&m);
	modal_add_layers(&m);
	scope_flag(t->top, "helpers", t->helpers.n > 0);
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		scope_item_text(t->top, "usage", lines[i], NOWHERE);
	t->file.summary = arena_printf(t->a, "%zu layers", m.layers);
}
