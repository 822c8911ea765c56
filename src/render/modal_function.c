#include "modal.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"

const struct shape modal_function_shape[] = {
	{ "name", VALUE_TEXT, "of the function: what `modal run FILE::NAME` calls", 0 },
	{ "decorator", VALUE_CODE, "@app.function(...)", 0 },
	{ "module", VALUE_TEXT, "the recipe's file that it loads; not there for a command", 0 },
	{ "function", VALUE_TEXT, "the function of that file", 0 },
	{ "command", VALUE_CODE, "the words of app.command", 0 },
	{ "any", VALUE_FLAG, "it runs whatever command it is given", 0 },
	{ 0 },
};

enum { SMOKE_TIMEOUT_S = 900 }; /* it compiles one kernel, runs it and imports the modules */

const char *
modal_entry_file(const struct modal *m)
{
	const char *entry = m->asked->entrypoint.s;
	const char *end = entry ? strstr(entry, "::") : NULL;

	return end ? arena_copy(m->a, entry, (size_t)(end - entry)) : NULL;
}

bool
modal_copies(const struct modal *m, const char *file)
{
	for (size_t i = 0; i < m->recipe->app.copy.n; i++) {
		const char *copy = m->recipe->app.copy.at[i].s;
		size_t n = strlen(copy);

		while (n && copy[n - 1] == '/')
			n--;
		if ((n == 1 && *copy == '.') ||
		    (!strncmp(copy, file, n) && (!file[n] || file[n] == '/')))
			return true;
	}
	return false;
}

/* --- the arguments of @app.function --- */

static void
gpu_option(struct modal *m, struct py_call *c)
{
	struct names *items = m->gpus.n > 1 ? py_items(c, "gpu", "[", "]") : NULL;

	if (m->gpus.n == 1)
		py_text(c, "gpu", m->gpus.at[0].s);
	for (size_t i = 0; items && i < m->gpus.n; i++)
		list_push(m->a, items, py_quoted(m->a, m->gpus.at[i].s));
}

static void
number_option(struct modal *m, struct py_call *c, const char *key, double n)
{
	if (n > 0)
		py_code(c, key, arena_printf(m->a, "%.15g", n));
}

/* What the recipe asks for the work. */
static void
work_options(struct modal *m, struct py_call *c)
{
	const struct recipe_modal *r = m->asked;
	struct names *items;

	number_option(m, c, "cpu", recipe_number(r->cpu));
	number_option(m, c, "memory", recipe_number(r->memory_mib));
	number_option(m, c, "timeout", recipe_number(r->timeout_s));
	number_option(m, c, "scaledown_window", recipe_number(r->scaledown_window_s));
	items = r->volumes.n ? py_items(c, "volumes", "{", "}") : NULL;
	for (size_t i = 0; i < r->volumes.n; i++)
		list_push(m->a, items,
			  arena_printf(m->a,
				       "%s: modal.Volume.from_name(%s, create_if_missing=True)",
				       py_quoted(m->a, r->volumes.at[i].name.s),
				       py_quoted(m->a, r->volumes.at[i].value.s)));
	items = r->secrets.n ? py_items(c, "secrets", "[", "]") : NULL;
	for (size_t i = 0; i < r->secrets.n; i++)
		list_push(m->a, items,
			  arena_printf(m->a, "modal.Secret.from_name(%s)",
				       py_quoted(m->a, r->secrets.at[i].s)));
}

static const char *
decorator(struct modal *m, bool smoke)
{
	struct py_call c = { .a = m->a };
	struct buf b = BUF(m->a);

	py_code(&c, "image", "image");
	gpu_option(m, &c);
	if (smoke)
		number_option(m, &c, "timeout", SMOKE_TIMEOUT_S);
	else
		work_options(m, &c);
	py_call(&c, "@app.function", &b);
	return buf_text(&b);
}

/* --- the functions --- */

/* A list of strings, on lines of their own where it is long. */
static const char *
words_code(struct modal *m, const struct names *words)
{
	struct py_call c = { .a = m->a };
	struct names *items = py_items(&c, NULL, "[", "]");
	struct buf b = BUF(m->a);

	for (size_t i = 0; i < words->n; i++)
		list_push(m->a, items, py_quoted(m->a, words->at[i]));
	py_code(&c, "check", "True");
	py_call(&c, "subprocess.run", &b);
	return buf_text(&b);
}

static struct scope *
add_function(struct modal *m, const char *name, struct span at)
{
	struct scope *f = scope_item(m->values, "functions");

	scope_text(f, "name", name, at);
	scope_code(f, "decorator", decorator(m, false));
	return f;
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

/* "at most 24 h, about $60": what one call may take and cost. */
static const char *
cost(struct modal *m, unsigned limit_s)
{
	const char *gpu = m->gpus.n ? m->gpus.at[0].s : NULL;
	size_t n = gpu ? strcspn(gpu, ":") : 0;
	const struct modal_gpu *g =
		gpu ? facts_modal_gpu(m->stack->facts, arena_copy(m->a, gpu, n)) : NULL;
	double price = g ? g->usd_per_hour * (gpu[n] ? strtod(gpu + n + 1, NULL) : 1) : 0;
	double usd = price * limit_s / 3600;

	if (price > 0)
		return arena_printf(m->a, "at most %s, about $%.*f for the GPU",
				    duration(m, limit_s), usd < 10 ? 2 : 0, usd);
	return arena_printf(m->a, "at most %s", duration(m, limit_s));
}

static void
usage(struct modal *m, const char *command, const char *what, unsigned limit_s)
{
	scope_item_text(m->values, "usage",
			arena_printf(m->a, "%-41s %s; %s", command, what, cost(m, limit_s)),
			(struct span){ 0 });
}

static void
work_function(struct modal *m)
{
	const struct texts *words = &m->recipe->app.command;
	const char *entry = modal_entry_file(m), *name = "run";
	unsigned limit_s = m->asked->timeout_s.s ? recipe_number(m->asked->timeout_s) :
						   facts_modal(m->stack->facts)->timeout_default_s;
	struct span at = entry ? m->asked->entrypoint.at : (struct span){ 0 };
	struct names all = { 0 };
	struct scope *f;

	if (entry) {
		name = strstr(m->asked->entrypoint.s, "::") + 2;
		f = add_function(m, name, at);
		scope_text(f, "module", entry, at);
		scope_text(f, "function", name, at);
		usage(m, arena_printf(m->a, "modal run --detach modal_app.py::%s", name),
		      arena_printf(m->a, "call %s", m->asked->entrypoint.s), limit_s);
	}
	if (words->n) {
		f = add_function(m, "command", words->at[0].at);
		for (size_t i = 0; i < words->n; i++)
			list_push(m->a, &all, words->at[i].s);
		scope_code(f, "command", words_code(m, &all));
		usage(m, "modal run --detach modal_app.py::command", "run the recipe's command",
		      limit_s);
	}
	if (!entry && !words->n && m->asked->at.line) {
		scope_flag(add_function(m, name, at), "any", true);
		usage(m, "modal run --detach modal_app.py::run CMD", "run a command in the image",
		      limit_s);
	}
}

/* The check's own commands once more, where the GPU is. */
static void
smoke_function(struct modal *m)
{
	bool kernel = false;

	for (size_t i = 0; i < m->plan->n; i++)
		for (size_t k = 0; k < m->plan->steps[i].operations.n; k++) {
			const struct operation *op = &m->plan->steps[i].operations.at[k];
			struct names words = { 0 };
			struct commands all;

			if ((op->kind != OP_SMOKE || !m->gpus.n) && op->kind != OP_PROBE)
				continue;
			all = operation_commands(m->a, op);
			for (size_t w = 0; w < all.at[0].argv.n; w++)
				list_push(m->a, &words,
					  word_plain(m->a, &all.at[0].argv.at[w], &modal_places));
			scope_code(m->values, op->kind == OP_SMOKE ? "nvcc" : "probe",
				   words_code(m, &words));
			kernel |= op->kind == OP_SMOKE;
		}
	scope_code(m->values, "smoke", decorator(m, true));
	scope_flag(m->values, "torch_alone", !kernel && m->gpus.n && m->stack->torch.value);
}

void
modal_add_functions(struct modal *m)
{
	usage(m, "modal run modal_app.py::smoke", "build the image and test it", SMOKE_TIMEOUT_S);
	work_function(m);
	scope_item_text(
		m->values, "usage",
		arena_printf(m->a, "%-41s deploy the functions", "modal deploy modal_app.py"),
		(struct span){ 0 });
	smoke_function(m);
}
