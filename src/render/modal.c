#include "modal.h"

#include <string.h>

#include "base/sha256.h"
#include "base/str.h"

/*
 * An app file for Modal: the chain of a plan as one image, layer by layer, a smoke
 * test, and the recipe's own function.  What the client emits for each call, and what
 * Modal refuses, was tried with the clients that CHECKED names.
 */
#define FILE_NAME "modal_app.py" /* a second period would be refused */
#define CHECKED_OLD "1.5.4"
#define CHECKED_NEW "1.6.4"

static const struct shape shape[] = {
	{ "contents", VALUE_LIST, "what the image contains, in lines", 0 },
	{ "generated", VALUE_LIST, "where the file comes from, in lines", 0 },
	{ "usage", VALUE_LIST, "commands, a line each", 0 },
	{ "checklist", VALUE_LIST, "what must be so before the first run", 0 },
	{ "notes", VALUE_LIST, "limits, prices and versions, in lines", 0 },
	{ "builder", VALUE_TEXT, "version of Modal's image builder", 0 },
	{ "app", VALUE_TEXT, "name of the app", 0 },
	{ "cell", VALUE_FLAG, "a cell of a matrix: its helpers are in the directory above", 0 },
	{ "helpers", VALUE_FLAG, "helpers are copied into the image", 0 },
	{ "constrained", VALUE_FLAG, "pip calls follow constraints.txt", 0 },
	{ "compiler", VALUE_CODE, "CC, CXX and AR as a dict; not there with the base's Python", 0 },
	{ "heavy", VALUE_FLAG, "extensions compile in a build function", 0 },
	{ "sources", VALUE_LIST, "files and directories of the recipe's directory", 0 },
	{ "layers", VALUE_LIST, "the image up to the application, layer by layer",
	  modal_layer_shape },
	{ "app_layers", VALUE_LIST, "the application's layers", modal_layer_shape },
	{ "smoke", VALUE_CODE, "@app.function(...) of the smoke test", 0 },
	{ "nvcc", VALUE_CODE, "the call that compiles the smoke kernel; not there without nvcc",
	  0 },
	{ "probe", VALUE_CODE, "the call that runs probe.py", 0 },
	{ "torch_alone", VALUE_FLAG, "there is a GPU and torch, and no nvcc", 0 },
	{ "functions", VALUE_LIST, "the recipe's own functions", modal_function_shape },
	{ 0 },
};

/* --- names --- */

/* At most 64 of [A-Za-z0-9._-]; what is cut off is told apart by its digest. */
static const char *
app_name(const struct modal *m)
{
	const char *cell = m->recipe->cell;
	struct buf b = BUF(m->a);

	if (m->asked->app.s)
		return m->asked->app.s;
	buf_printf(&b, "%s%s%s", m->plan->name, cell ? "-" : "", cell ? cell : "");
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
	scope_item_text(m->values, "checklist", text, (struct span){ 0 });
}

/* A secret of the build: Modal gives it as a variable of the same name. */
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

	add_check(m, "`modal token info` shows a token of the right workspace");
	add_check(m, "`modal billing summary` shows credits");
	for (size_t i = 0; i < m->asked->secrets.n; i++)
		add_check(m, arena_printf(m->a, "`modal secret list` shows %s",
					  m->asked->secrets.at[i].s));
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
	target_lines(m->a, m->values, "notes", text);
}

static void
add_notes(struct modal *m)
{
	const char *client = facts_modal_builder_client(m->stack->facts, m->builder);
	const struct modal_limits *limits = facts_modal(m->stack->facts);
	struct names gpus = { 0 };

	for (size_t i = 0; i < m->gpus.n; i++)
		list_push(m->a, &gpus, m->gpus.at[i].s);
	if (gpus.n)
		add_note(m, arena_printf(m->a, "GPU: %s%s%s.", names_join(m->a, &gpus, ", else "),
					 m->gpu_why ? ", " : "", m->gpu_why ? m->gpu_why : ""));
	if (recipe_number(m->asked->timeout_s) == limits->timeout_max_s)
		add_note(m,
			 arena_printf(m->a,
				      "%u s is Modal's longest timeout: longer work must save its "
				      "state to a volume and start again.",
				      limits->timeout_max_s));
	if (m->heavy)
		add_note(m, "Extensions compile in a function of their own: Modal charges for its "
			    "processors and memory while it runs.");
	if (m->recipe->runtime.at.line)
		add_note(m, "The recipe's runtime stage has no effect here: a Modal image has one "
			    "stage.");
	add_note(m,
		 client ? arena_printf(m->a,
				       "Image builder %s needs modal %s or newer (tested with %s).",
				       m->builder, client, CHECKED_NEW) :
			  arena_printf(m->a, "Image builder %s (tested with modal %s and %s).",
				       m->builder, CHECKED_OLD, CHECKED_NEW));
}

/* --- the file --- */

static void
add_sources(struct modal *m)
{
	const struct recipe_app *app = &m->recipe->app;
	const char *entry = modal_entry_file(m);
	struct span none = { 0 };

	for (size_t i = 0; i < app->copy.n; i++)
		scope_item_text(m->values, "sources", app->copy.at[i].s, none);
	if (app->requirements.s)
		scope_item_text(m->values, "sources", app->requirements.s, none);
	if (entry && !modal_copies(m, entry))
		scope_item_text(m->values, "sources", entry, none);
}

static void
fill(struct modal *m)
{
	struct scope *v = m->values;

	scope_text(v, "builder", m->builder, m->asked->builder.at);
	scope_text(v, "app", app_name(m), m->asked->app.at);
	scope_flag(v, "cell", m->recipe->cell != NULL);
	scope_flag(v, "heavy", m->heavy);
	if (m->python)
		scope_code(v, "compiler",
			   arena_printf(m->a, "{\"CC\": %s, \"CXX\": %s, \"AR\": \"ar\"}",
					py_quoted(m->a, m->stack->cc),
					py_quoted(m->a, m->stack->cxx)));
	target_lines(
		m->a, v, "contents",
		target_title(m->a, m->plan, arena_printf(m->a, "on %s", m->stack->base.value)));
	target_lines(m->a, v, "generated", target_generated(m->a, m->plan));
	add_checklist(m);
	add_notes(m);
	add_sources(m);
}

static struct modal
modal_of(struct arena *a, struct diags *ds, const struct plan *p, const struct templates *t)
{
	const struct stack *s = p->stack;
	const struct recipe_modal *asked = &s->recipe->modal;

	return (struct modal){
		.a = a,
		.ds = ds,
		.plan = p,
		.stack = s,
		.recipe = s->recipe,
		.asked = asked,
		.templates = t,
		.builder = asked->builder.s ? asked->builder.s :
					      facts_modal(s->facts)->builder_default,
		.python = s->python_from == PYTHON_BASE ? NULL : s->python.value,
		.heavy = asked->build.s && !strcmp(asked->build.s, "heavy"),
		.values = scope_new(a, shape),
		.written = MAP(a),
	};
}

void
modal_judge(struct arena *a, struct diags *ds, const struct plan *p)
{
	struct modal m = modal_of(a, ds, p, NULL);

	modal_allows(&m);
	modal_choose_gpus(&m);
}

bool
modal_render(struct arena *a, struct diags *ds, const struct plan *p, const struct templates *t,
	     struct rendereds *out)
{
	struct modal m = modal_of(a, ds, p, t);
	struct rendered r = { .path = FILE_NAME, .mode = 0644, .next = "modal deploy {path}" };
	struct rendereds helpers = { 0 };
	unsigned before = ds->errors;
	bool allowed = modal_allows(&m);

	if (!modal_choose_gpus(&m) || !allowed)
		return false;
	m.helpers = &helpers;
	fill(&m);
	modal_add_layers(&m);
	scope_flag(m.values, "helpers", helpers.n > 0);
	modal_add_functions(&m);
	r.summary = arena_printf(a, "%zu layers", m.layers);
	if (ds->errors > before || !target_expand(a, ds, t, LANG_PYTHON, m.values, r, out))
		return false;
	for (size_t i = 0; i < helpers.n; i++)
		list_push(a, out, helpers.at[i]);
	return true;
}
