#include "modal.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"

/*
 * The recipe's program: its functions in the app file, and the local entry point, which starts one
 * of them. templates/modal_entry.py passes the arguments on, here and in the container.
 */

/* Python's keywords, and other names in the app file. */
static const char taken[] =
	"False None True and as assert async await break class continue def del elif else except "
	"finally for from global if import in is lambda nonlocal not or pass raise return try "
	"while with yield app image modal os sys Path smoke run command launch modal_entry add_app "
	"app_directory compile_extension add_code HELPERS COMPILER CONSTRAINED PIP SOURCES ARGS "
	"web Server load_object signature_of functools";

bool
modal_entry_taken(const char *name)
{
	return among(name, taken);
}

void
modal_entry_read(struct modal *m)
{
	const struct recipe_entry e = recipe_entry(m->a, m->asked->entrypoint.s);

	m->entry = e.file;
	if (!e.file)
		return;
	m->worker = e.function && !among(e.function, taken) ? e.function : "main";
	m->copied = recipe_copies(m->a, &m->recipe->app, e.file) || e.module;
}

/* Returns the processes of torchrun: the number of GPUs, or "gpu" if the fallbacks differ. */
static const char *
ranks(struct modal *m)
{
	const char *all = NULL;

	list_each (g, &m->gpus) {
		const char *colon = strrchr(g->s, ':'), *n = colon ? colon + 1 : "1";

		if (all && strcmp(all, n) != 0)
			return "\"gpu\"";
		all = n;
	}
	return all;
}

void
modal_entry_check(struct modal *m)
{
	const struct text *launcher = &m->asked->launcher;
	const char *lacks = !m->entry              ? "an entry point" :
			    !m->gpus.n             ? "a GPU" :
			    !m->stack->torch.value ? "torch" :
						     NULL;

	if (launcher->s && lacks)
		diag_help(diag_at(m->t->ds, E_MODAL_LAUNCHER, launcher->at,
				  "%s needs %s, which the recipe does not have", launcher->s,
				  lacks),
			  "%s",
			  m->entry ? "remove modal.launcher, or add it" :
				     "set modal.entrypoint, or write torchrun into app.command");
}

/* Returns texts as a Python list. */
static const char *
list_code(struct modal *m, const struct texts *words)
{
	struct buf b = BUF(m->a);

	list_each (w, words)
		buf_printf(&b, "%s%s", b.n ? ", " : "", py_quoted(m->a, w->s));
	return arena_printf(m->a, "[%s]", b.n ? buf_text(&b) : "");
}

static const char *
arguments(const struct modal *m)
{
	return m->asked->args.n ? "args or ARGS" : "args";
}

const char *
modal_entry_call(struct modal *m, const struct texts *words)
{
	struct py_call c = { .a = m->a };

	if (words)
		py_code(&c, NULL, list_code(m, words));
	else
		py_text(&c, NULL, m->asked->entrypoint.s);
	/* Without an entry point, modal.args belong to the first function. */
	py_code(&c, NULL, words && m->worker ? "args" : arguments(m));
	if (!words && m->asked->launcher.s)
		py_code(&c, "ranks", ranks(m));
	return py_call(&c, words ? "modal_entry.command" : "return modal_entry.run");
}

void
modal_entry_launch(struct modal *m, const char *function)
{
	struct py_call c = { .a = m->a };
	struct scope *v = m->t->top;

	if (m->asked->args.n)
		scope_code(v, "args", list_code(m, &m->asked->args));
	if (m->worker || m->recipe->app.command.n)
		py_code(&c, NULL, function);
	else
		py_code(&c, NULL,
			arena_printf(m->a, "%s if %s else smoke", function, arguments(m)));
	py_code(&c, NULL, arguments(m));
	if (m->worker)
		py_text(&c, "entry", m->asked->entrypoint.s);
	if (m->recipe->app.copy.n || m->recipe->app.files.n || modal_member_files(m).n ||
	    (m->entry && !m->copied)) {
		py_code(&c, "directory", "app_directory()");
		py_code(&c, "sources", "SOURCES");
	}
	scope_flag(v, "program", true);
	scope_code(v, "launch", py_call(&c, "return modal_entry.launch"));
}

void
modal_entry_mount(struct modal *m)
{
	const struct operation op = { .kind = OP_FILE, .file = { .helper = "modal_entry.py" } };
	struct py_call c = { .a = m->a };

	target_helper(m->t, &op);
	py_code(&c, NULL, "HELPERS / \"modal_entry.py\"");
	py_text(&c, NULL, "/root/modal_entry.py");
	modal_layer(m, NULL, "add_local_file", &c);
	m->layers--; /* a mount */
}
