#include "modal.h"

#include <stdlib.h>
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

static const struct shape check_shape[] = {
	{ "held", VALUE_FLAG, "the file itself sees to it", 0 },
	{ "text", VALUE_TEXT, "what must be so", 0 },
	{ 0 },
};

static const struct shape shape[] = {
	{ "name", VALUE_TEXT, "the stack's name", 0 },
	{ "contents", VALUE_LIST, "what is in it, in lines", 0 },
	{ "file", VALUE_TEXT, "name of the file", 0 },
	{ "gpu", VALUE_TEXT, "the GPUs, and why these; not there without a GPU", 0 },
	{ "checklist", VALUE_LIST, "what must be so before the first run", check_shape },
	{ "costs", VALUE_LIST, "hours and price, in lines", 0 },
	{ "digest", VALUE_TEXT, "of the recipe", 0 },
	{ "builder", VALUE_TEXT, "version of Modal's image builder", 0 },
	{ "app", VALUE_TEXT, "name of the app", 0 },
	{ "compiler", VALUE_CODE, "CC, CXX and AR as a dict; not there with the base's Python", 0 },
	{ "heavy", VALUE_FLAG, "extensions compile in a build function", 0 },
	{ "local", VALUE_FLAG, "files of the recipe's folder are used", 0 },
	{ "sources", VALUE_LIST, "these files and folders", 0 },
	{ "layers", VALUE_LIST, "the image, layer by layer", modal_layer_shape },
	{ "smoke_options", VALUE_CODE, "the arguments of @app.function of the smoke test", 0 },
	{ "nvcc", VALUE_CODE, "the words that compile the smoke kernel; not there without nvcc",
	  0 },
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

static const char *
gpu_text(struct modal *m)
{
	struct buf b = BUF(m->a);

	for (size_t i = 0; i < m->gpus.n; i++)
		buf_printf(&b, "%s%s", i ? ", else " : "", m->gpus.at[i].s);
	if (m->gpu_why)
		buf_printf(&b, ": %s", m->gpu_why);
	return b.n ? b.p : NULL;
}

/* --- what the file says of itself --- */

static void
add_contents(struct modal *m)
{
	const struct stack *s = m->stack;
	const char *client = facts_modal_builder_client(s->facts, m->builder);
	struct buf b = BUF(m->a);

	if (s->torch.value)
		buf_printf(&b, "torch %s%s%s, ", s->torch.value, s->torch_tag ? "+" : "",
			   s->torch_tag ? s->torch_tag : "");
	buf_printf(&b, "python %s", s->python.value ? s->python.value : "of the base");
	if (s->cuda.value)
		buf_printf(&b, ", CUDA %s", s->cuda.value);
	for (size_t i = 0; i < s->extensions.n; i++) {
		const struct stack_extension *e = &s->extensions.at[i];

		buf_printf(&b, ", %s%s%s", e->name, e->version ? " " : "",
			   e->version ? e->version : "");
	}
	for (size_t i = 0; i < s->archs.n; i++)
		buf_printf(&b, "%s%s", i ? ", " : ", for ", s->archs.at[i].value);
	modal_lines(m, m->values, "contents", buf_text(&b));
	modal_lines(m, m->values, "contents",
		    client ? arena_printf(m->a, "image builder %s: needs modal>=%s; tried with %s",
					  m->builder, client, CHECKED_NEW) :
			     arena_printf(m->a, "image builder %s; tried with modal %s and %s",
					  m->builder, CHECKED_OLD, CHECKED_NEW));
	if (s->recipe->runtime.at.line)
		modal_lines(
			m, m->values, "contents",
			"one stage: the recipe's runtime stage is for engines that have stages");
}

static void
check(struct modal *m, bool held, const char *text)
{
	struct scope *item = scope_item(m->values, "checklist");

	scope_flag(item, "held", held);
	scope_text(item, "text", text, (struct span){ 0 });
}

/* A secret of the build: Modal gives it as a variable of the same name. */
static void
add_build_secret(struct modal *m, const char *name, bool netrc)
{
	check(m, false,
	      arena_printf(m->a, "modal secret list: has %s, with the key %s%s", name, name,
			   netrc ? ": a netrc (machine HOST login USER password TOKEN)" : ""));
}

static void
add_secret_checks(struct modal *m)
{
	const struct recipe *r = m->recipe;
	struct buf b = BUF(m->a);

	for (size_t i = 0; i < m->asked->secrets.n; i++)
		buf_printf(&b, "%s%s", i ? ", " : "", m->asked->secrets.at[i].s);
	if (b.n)
		check(m, false, arena_printf(m->a, "modal secret list: has %s", buf_text(&b)));
	for (size_t i = 0; i < r->secrets.n; i++)
		add_build_secret(m, r->secrets.at[i].s, false);
	if (r->index.secret.s)
		add_build_secret(m, r->index.secret.s, true);
	for (size_t i = 0; i < r->extras.n; i++)
		if (r->extras.at[i].secret.s)
			add_build_secret(m, r->extras.at[i].secret.s, true);
}

static void
add_checklist(struct modal *m)
{
	const struct stack *s = m->stack;
	const char *cuda = s->torch_variant ? s->torch_variant->cuda : NULL;

	check(m, false, "modal token info: this computer has a token, of the right workspace");
	check(m, false, "modal billing summary: credits are left");
	add_secret_checks(m);
	if (!m->python && !s->image.python)
		check(m, false, "the base image has python and pip on its PATH");
	if (s->extensions.n)
		check(m, true, "compilers and build requirements come before what is compiled");
	if (cuda && s->cuda.value)
		check(m, version_same_series(cuda, s->cuda.value),
		      arena_printf(m->a, "torch is a build for CUDA %s, nvcc is of CUDA %s", cuda,
				   s->cuda.value));
	if (s->extensions.n)
		check(m, true,
		      "the image is not built unless every extension compiles and imports");
	check(m, false, "smoke succeeds");
}

static const char *
duration(struct modal *m, unsigned seconds)
{
	if (seconds < 60)
		return arena_printf(m->a, "%u s", seconds);
	if (seconds < 7200 && seconds != 3600)
		return arena_printf(m->a, "%u minutes", seconds / 60);
	return arena_printf(m->a, "%.3g h", seconds / 3600.0);
}

static void
add_costs(struct modal *m)
{
	const struct modal_limits *limits = facts_modal(m->stack->facts);
	unsigned limit_s = m->asked->timeout_n ? m->asked->timeout_n : limits->timeout_default_s;
	const char *gpu = m->gpus.n ? m->gpus.at[0].s : NULL;
	size_t n = gpu ? strcspn(gpu, ":") : 0;
	const struct modal_gpu *g =
		gpu ? facts_modal_gpu(m->stack->facts, arena_copy(m->a, gpu, n)) : NULL;
	double price = g ? g->usd_per_hour * (gpu[n] ? strtod(gpu + n + 1, NULL) : 1) : 0;
	struct buf b = BUF(m->a);

	buf_printf(&b, "A call may take %s", duration(m, limit_s));
	if (price > 0)
		buf_printf(&b, ": about $%.*f for %s alone, at $%.2f an hour",
			   price * limit_s < 36000 ? 2 : 0, price * limit_s / 3600, gpu, price);
	else if (gpu)
		buf_printf(&b, "; the price of %s is not known here: modal billing rates", gpu);
	if (limit_s == limits->timeout_max_s)
		buf_printf(&b, ". That is Modal's maximum: longer work saves its "
			       "state to a volume, and is started again");
	modal_lines(m, m->values, "costs", buf_text(&b));
	if (m->heavy)
		modal_lines(m, m->values, "costs",
			    "Extensions compile in a function of their own: its processors and "
			    "memory are paid while it runs");
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
	scope_flag(m->values, "local", app->copy.n || app->requirements.s || entry);
}

static void
fill(struct modal *m)
{
	struct scope *v = m->values;
	struct span none = { 0 };

	scope_text(v, "name", m->plan->name, none);
	scope_text(v, "file", FILE_NAME, none);
	scope_text(v, "gpu", gpu_text(m), none);
	scope_text(v, "digest", m->recipe->digest, none);
	scope_text(v, "builder", m->builder, m->asked->builder.at);
	scope_text(v, "app", app_name(m), m->asked->app.at);
	scope_flag(v, "heavy", m->heavy);
	if (m->python) {
		struct buf b = BUF(m->a);

		buf_puts(&b, "{\"CC\": ");
		py_string(&b, m->stack->cc);
		buf_puts(&b, ", \"CXX\": ");
		py_string(&b, m->stack->cxx);
		buf_puts(&b, ", \"AR\": \"ar\"}");
		scope_code(v, "compiler", buf_text(&b));
	}
	add_contents(m);
	add_checklist(m);
	add_costs(m);
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
	struct buf b = BUF(a);
	unsigned before = ds->errors;
	bool allowed = modal_allows(&m);

	if (!modal_choose_gpus(&m) || !allowed)
		return false;
	fill(&m);
	modal_add_layers(&m);
	modal_add_functions(&m);
	if (ds->errors > before || !template_expand(ds, t, FILE_NAME, LANG_PYTHON, m.values, &b))
		return false;
	list_push(a, out,
		  (struct rendered){ .path = FILE_NAME,
				     .text = buf_text(&b),
				     .size = b.n,
				     .mode = 0644,
				     .summary = arena_printf(a, "%zu layers", m.layers),
				     .next = "modal deploy {path}" });
	return true;
}
