#include "modal.h"

#include <string.h>

#include "base/fs.h"
#include "base/str.h"

/* Writes operations as layers of a Modal image, one call for each layer. */

const struct shape modal_layer_shape[] = {
	{ "comments", VALUE_LIST, "purpose of the layer, in lines", 0 },
	{ "code", VALUE_CODE, "the call: .pip_install(...)", 0 },
	{ 0 },
};

/* The image has no virtual environment: its only Python gets all packages. */
const struct places modal_places = {
	.src = "/tmp/stackbuild/src",
	.wheels = "/tmp/stackbuild/wheels",
	.share = "/opt/stackbuild",
	.python = "python",
	.venv = "/usr/local",
	.prefix = "/usr/local",
	.work = "/tmp/stackbuild/work",
	.app = "/app",
};

static void
add_code(struct modal *m, const char *why, const char *code)
{
	struct scope *item = scope_item(m->t->top, m->list);

	target_lines(item, "comments", m->comment);
	/* The same comment again would say nothing. */
	if (why && !map_put(&m->written, why, (void *)(uintptr_t)why))
		target_lines(item, "comments", why);
	scope_code(item, "code", code);
	m->comment = NULL;
	m->layers++;
}

void
modal_layer(struct modal *m, const char *why, const char *method, const struct py_call *c)
{
	const char *image = !strcmp(m->list, "layers") ? "" : "image = image";

	add_code(m, why, py_call(c, arena_printf(m->a, "%s.%s", image, method)));
}

/* Adds the commands of an operation, as one layer: each is one line of sh, with its secrets. */
static void
add_commands(struct modal *m, const struct step *s, const struct operation *op)
{
	const struct shell sh = { m->t->ds, s->at, LANG_SH, modal_places, 0, 0, 0 };
	const struct commands all = operation_commands(m->a, op);
	struct names secrets = { 0 };
	struct py_call c = { .a = m->a };

	operation_secrets(m->a, op, &secrets);
	list_each (x, &all) {
		struct buf b = BUF(m->a);

		if (x->work)
			buf_printf(&b, "mkdir -p %s && ", modal_places.work);
		if (x->cwd)
			buf_printf(&b, "cd %s && ", shell_plain(m->a, &modal_places, x->cwd));
		shell_command(&sh, x, &b);
		/* pip's cache would stay in the layer. */
		if (op->kind == OP_REQUIREMENTS || op->kind == OP_PACKAGES)
			buf_puts(&b, " --no-cache-dir");
		py_text(&c, NULL, modal_with_secrets(m, &secrets, buf_text(&b)));
	}
	if (op->kind == OP_PACKAGES) {
		scope_flag(m->t->top, "constrained", true);
		scope_flag(m->t->top, "locked", true);
		py_code(&c, "env", s->kind == STEP_PACKAGES && m->python ? "COMPILER" : "PIP");
	}
	modal_secrets(&secrets, &c);
	modal_layer(m, op->why, "run_commands", &c);
}

/* --- files --- */

/* Adds a short file, which the app writes, or a helper, which is copied because later layers read
 * it. */
static void
add_file(struct modal *m, const struct step *s, const struct operation *op)
{
	const struct shell sh = { m->t->ds, s->at, LANG_SH, modal_places, 0, 0, 0 };
	const char *path = shell_plain(m->a, &modal_places, op->file.path);
	const char *text = op->file.text ? op->file.text : op->file.helper;
	const char *before = map_put(&m->written, path, (void *)(uintptr_t)text);
	bool own = m->recipe->cell && op->file.text;
	struct py_call c = { .a = m->a };
	struct buf b = BUF(m->a);

	if (before && !strcmp(before, text))
		return;
	if (!op->file.helper) {
		buf_printf(&b, "mkdir -p %s && ", fs_dir(m->a, path));
		shell_file(&sh, op, &b);
		py_text(&c, NULL, buf_text(&b));
		modal_layer(m, "the versions that no later pip call may change", "run_commands",
			    &c);
		return;
	}
	target_helper(m->t, op);
	py_code(&c, NULL,
		arena_printf(m->a, "%s / %s", own ? "Path(__file__).parent" : "HELPERS",
			     py_quoted(m->a, op->file.helper)));
	py_text(&c, NULL, path);
	py_code(&c, "copy", "True");
	modal_layer(m, NULL, "add_local_file", &c);
}

/* --- variables --- */

static void
env_layer(struct modal *m, const char *why, const struct variables *v)
{
	struct py_call c = { .a = m->a };

	py_dict(&c, NULL, v);
	if (v->n)
		modal_layer(m, why, "env", &c);
}

static void
one_env_layer(struct modal *m, const char *why, const char *name, const char *value)
{
	struct variable v = { name, value, true };

	env_layer(m, why, &(struct variables){ &v, 1, 1 });
}

/* Returns the variables in env: whose name starts with a prefix. */
static struct variables
recipe_env(struct modal *m, const char *prefix)
{
	const struct settings *env = &m->recipe->env;
	struct variables v = { 0 };

	list_each (x, env)
		if (starts_with(x->name.s, prefix))
			list_push(m->a, &v, (struct variable){ x->name.s, x->value.s, true });
	return v;
}

static void
recipe_env_layer(struct modal *m)
{
	const struct variables v = recipe_env(m, "");

	m->comment = NULL; /* the step added no layers */
	env_layer(m, "env: after all compiles, so that an edit recompiles nothing", &v);
}

/* --- the operating system --- */

static void
base_layers(struct modal *m)
{
	struct py_call c = { .a = m->a }, entry = c;
	const struct variables pip = recipe_env(m, "PIP_");

	py_text(&c, NULL, m->stack->base.value);
	if (m->python)
		py_text(&c, "add_python", m->python);
	m->comment = NULL;
	add_code(m, NULL, py_call(&c, "modal.Image.from_registry"));
	py_code(&entry, NULL, "[]");
	modal_layer(m, NULL, "entrypoint", &entry);
	if (!m->python)
		one_env_layer(m,
			      "Debian and Ubuntu forbid pip to change their own Python; this one "
			      "is the image's",
			      "PIP_BREAK_SYSTEM_PACKAGES", "1");
	if (pip.n)
		env_layer(m, "env: before the first pip, which reads these", &pip);
}

/* Returns whether a package is only there for a Python, which add_python installs instead. */
static bool
is_for_python(const struct modal *m, const struct choice *package)
{
	return m->python && !package->given &&
	       (starts_with(package->value, "python3") || !strcmp(package->value, "gpg-agent") ||
		!strcmp(package->value, "software-properties-common"));
}

static void
apt_layer(struct modal *m)
{
	const struct choices *apt = &m->stack->apt;
	struct py_call c = { .a = m->a };

	for (size_t i = 0; i < apt->n; i++)
		if (!is_for_python(m, &apt->at[i]))
			py_text(&c, NULL, apt->at[i].value);
	if (!c.args.n)
		return;
	py_code(&c, "env", "{\"DEBIAN_FRONTEND\": \"noninteractive\"}");
	modal_layer(m, NULL, "apt_install", &c);
}

/* --- the application --- */

static void
add_app(struct modal *m, const char *why, const char *source, bool copy)
{
	add_code(m, why,
		 arena_printf(m->a, "image = add_app(image, %s%s)", py_quoted(m->a, source),
			      copy ? ", copy=True" : ""));
}

/* Modal mounts the files when a container starts, so that an edit rebuilds nothing. */
static void
app_files(struct modal *m)
{
	const char *why = "mounted when a container starts: an edit builds nothing";
	const struct texts *copy = &m->recipe->app.copy, files = modal_member_files(m);

	if (copy->n || files.n || (m->entry && !m->copied))
		m->list = "app_layers";
	for (size_t i = 0; i < copy->n; i++)
		add_app(m, i ? NULL : why, copy->at[i].s, false);
	if (m->alone)
		return;
	if (m->entry && !m->copied)
		add_app(m, copy->n ? NULL : why, m->entry, false);
	list_each (x, &files)
		add_app(m, NULL, x->s, false);
}

/* --- all operations --- */

static void
add_operation(struct modal *m, const struct step *s, const struct operation *op)
{
	switch (op->kind) {
	case OP_SYSTEM:
		if (op->system.archive == ARCHIVE_DISTRIBUTION && !op->system.snapshot)
			apt_layer(m);
		else
			add_commands(m, s, op);
		break;
	case OP_PACKAGES:
		if (op->packages.file)
			add_commands(m, s, op);
		else
			modal_add_packages(m, s, op);
		break;
	case OP_FILE: add_file(m, s, op); break;
	case OP_REQUIREMENTS:
		for (size_t i = 0; i < op->requirements.files.n; i++)
			add_app(m, NULL, op->requirements.files.at[i], true);
		list_each (local, op->requirements.locals)
			add_app(m, NULL, local->s, true);
		/* fallthrough */
	case OP_KEEP:
	case OP_LINKS:
	case OP_SMOKE:
	case OP_PROBE: add_commands(m, s, op); break;
	default: break; /* part of an extension's layer, or no layer: add_python, mounted files */
	}
}

/*
 * Copies own code by a function of the app file, which finds the recipe's directory; the layers from here
 * on are below that function.
 */
static void
own_code_layer(struct modal *m, const struct step *s)
{
	m->list = "app_layers";
	scope_flag(m->t->top, "own_code", true);
	add_code(m, NULL,
		 arena_printf(m->a, "image = add_code(image, %s, %s)",
			      py_quoted(m->a, s->extension->path),
			      py_quoted(m->a, modal_own_code(m->a, s))));
}

/* Adds an extension, which is one pip call; nvcc-arch is the only file that it needs. */
static void
extension_layers(struct modal *m, const struct step *s)
{
	if (step_operation(s, OP_COMPILE))
		m->comment = arena_printf(m->a, "%s: compiled against the layers above", s->id);
	for (size_t i = 0; i < s->operations.n; i++)
		if (s->operations.at[i].kind == OP_FILE && s->operations.at[i].file.program)
			add_file(m, s, &s->operations.at[i]);
	if (s->extension->path)
		own_code_layer(m, s);
	modal_add_extension(m, s);
}

void
modal_add_layers(struct modal *m)
{
	const struct plan *p = m->t->plan;

	m->list = "layers";
	for (const struct step *s = p->steps; s < p->steps + p->n; s++) {
		if (s->kind == STEP_CHECK)
			recipe_env_layer(m);
		if (s->kind == STEP_APP)
			m->list = "app_layers";
		m->comment = arena_printf(m->a, "%s: %s", s->id, s->why);
		if (s->kind == STEP_BASE)
			base_layers(m);
		if (s->kind == STEP_EXTENSION)
			extension_layers(m, s);
		else if (s->kind != STEP_PYTHON)
			for (size_t k = 0; k < s->operations.n; k++)
				add_operation(m, s, &s->operations.at[k]);
		if (s->kind == STEP_TORCH && p->cuda_home)
			one_env_layer(m, "where extensions and triton find the CUDA toolkit",
				      "CUDA_HOME", shell_plain(m->a, &modal_places, p->cuda_home));
	}
	m->comment = NULL;
	app_files(m);
	if (!m->alone && (m->worker || m->recipe->app.command.n || m->asked->at.line))
		modal_entry_mount(m);
}
