#include "modal.h"

#include <string.h>

#include "base/str.h"

const struct shape modal_function_shape[] = {
	{ "name", VALUE_TEXT, "of the function: what `modal run FILE::NAME` calls", 0 },
	{ "what", VALUE_TEXT, "what it does, in a few words", 0 },
	{ "options", VALUE_CODE, "the arguments of @app.function, one a line", 0 },
	{ "module", VALUE_TEXT, "the recipe's file that it loads; not there for a command", 0 },
	{ "function", VALUE_TEXT, "the function of that file", 0 },
	{ "command", VALUE_CODE, "the words of app.command; not there for an entry point", 0 },
	{ 0 },
};

/* Of a smoke test that stands beside the work: it compiles, runs and imports. */
enum { SMOKE_TIMEOUT_S = 900 };

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
gpu_option(struct modal *m, struct buf *b)
{
	if (m->gpus.n == 1)
		py_text(b, "gpu", m->gpus.at[0].s);
	else if (m->gpus.n)
		py_list(b, "gpu", &m->gpus);
}

static void
volumes_option(struct modal *m, struct buf *b)
{
	const struct settings *v = &m->asked->volumes;

	if (!v->n)
		return;
	buf_puts(b, "    volumes={\n");
	for (size_t i = 0; i < v->n; i++) {
		buf_puts(b, "        ");
		py_string(b, v->at[i].name.s);
		buf_puts(b, ": modal.Volume.from_name(");
		py_string(b, v->at[i].value.s);
		buf_puts(b, ", create_if_missing=True),\n");
	}
	buf_puts(b, "    },\n");
}

static void
secrets_option(struct modal *m, struct buf *b)
{
	const struct texts *secrets = &m->asked->secrets;

	if (!secrets->n)
		return;
	buf_puts(b, "    secrets=[\n");
	for (size_t i = 0; i < secrets->n; i++) {
		buf_puts(b, "        modal.Secret.from_name(");
		py_string(b, secrets->at[i].s);
		buf_puts(b, "),\n");
	}
	buf_puts(b, "    ],\n");
}

/* work: what the recipe asks for the work; else what a smoke test beside it needs. */
static const char *
function_options(struct modal *m, bool work, unsigned timeout_s)
{
	const struct recipe_modal *r = m->asked;
	struct buf b = BUF(m->a);

	py_code(&b, "image", "image");
	gpu_option(m, &b);
	if (work && r->cpu_n > 0)
		py_code(&b, "cpu", arena_printf(m->a, "%g", r->cpu_n));
	if (work && r->memory_n)
		py_code(&b, "memory", arena_printf(m->a, "%u", r->memory_n));
	if (timeout_s)
		py_code(&b, "timeout", arena_printf(m->a, "%u", timeout_s));
	if (work && r->scaledown_n)
		py_code(&b, "scaledown_window", arena_printf(m->a, "%u", r->scaledown_n));
	if (work) {
		volumes_option(m, &b);
		secrets_option(m, &b);
	}
	return buf_text(&b);
}

/* --- the functions --- */

static void
entry_function(struct modal *m)
{
	const char *file = modal_entry_file(m), *name;
	struct scope *f;

	if (!file)
		return;
	name = strstr(m->asked->entrypoint.s, "::") + 2;
	f = scope_item(m->values, "functions");
	scope_text(f, "name", name, m->asked->entrypoint.at);
	scope_text(f, "what", m->asked->entrypoint.s, m->asked->entrypoint.at);
	scope_code(f, "options", function_options(m, true, m->asked->timeout_n));
	scope_text(f, "module", file, m->asked->entrypoint.at);
	scope_text(f, "function", name, m->asked->entrypoint.at);
}

static void
command_function(struct modal *m)
{
	const struct texts *words = &m->recipe->app.command;
	struct buf b = BUF(m->a);
	struct scope *f;

	if (!words->n)
		return;
	buf_putc(&b, '[');
	for (size_t i = 0; i < words->n; i++) {
		buf_puts(&b, i ? ", " : "");
		py_string(&b, words->at[i].s);
	}
	buf_putc(&b, ']');
	f = scope_item(m->values, "functions");
	scope_text(f, "name", "command", words->at[0].at);
	scope_text(f, "what", "the recipe's command, in /app", words->at[0].at);
	scope_code(f, "options", function_options(m, true, m->asked->timeout_n));
	scope_code(f, "command", buf_text(&b));
}

/* The check's own call of nvcc once more, where the GPU is. */
static const char *
nvcc_words(struct modal *m)
{
	const struct plan *p = m->plan;
	struct buf b = BUF(m->a);

	for (size_t i = 0; p->nvcc && m->gpus.n && i < p->n; i++) {
		const struct step *s = &p->steps[i];

		for (size_t k = 0; s->kind == STEP_CHECK && k < s->commands.n; k++) {
			const struct words *w = &s->commands.at[k].argv;

			if (!w->n || strcmp(w->at[0].s, p->nvcc) != 0)
				continue;
			buf_puts(&b, "[\n");
			for (size_t j = 0; j < w->n; j++) {
				bool result =
					!w->at[j].verbatim && !strcmp(w->at[j].s, "{share}/smoke");

				buf_puts(&b, "        ");
				py_string(&b, result ? "/tmp/smoke" :
						       word_plain(m->a, &w->at[j], &modal_places));
				buf_puts(&b, ",\n");
			}
			buf_puts(&b, "    ]");
			return buf_text(&b);
		}
	}
	return NULL;
}

void
modal_add_functions(struct modal *m)
{
	bool alone = !m->asked->entrypoint.s;
	unsigned timeout_s = alone && m->asked->timeout_n ? m->asked->timeout_n : SMOKE_TIMEOUT_S;
	const char *nvcc = nvcc_words(m);

	scope_code(m->values, "smoke_options", function_options(m, alone, timeout_s));
	scope_code(m->values, "nvcc", nvcc);
	scope_flag(m->values, "torch_alone", !nvcc && m->gpus.n && m->stack->torch.value);
	entry_function(m);
	command_function(m);
}
