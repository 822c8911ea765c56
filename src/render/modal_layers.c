#include "modal.h"

#include <limits.h>
#include <string.h>

#include "base/fs.h"
#include "base/str.h"

/* Operations as layers of a Modal image: a call a layer. */

const struct shape modal_layer_shape[] = {
	{ "comments", VALUE_LIST, "what the layer is for, in lines", 0 },
	{ "code", VALUE_CODE, "the call: .pip_install(...)", 0 },
	{ 0 },
};

/* Everything is installed into the image's one Python: it has no environment. */
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
	struct scope *item = scope_item(m->values, m->list);

	if (m->comment)
		target_lines(m->a, item, "comments", m->comment);
	if (why)
		target_lines(m->a, item, "comments", why);
	scope_code(item, "code", code);
	m->comment = NULL;
	m->layers++;
}

void
modal_layer(struct modal *m, const char *why, const char *method, const struct py_call *c)
{
	bool chain = !strcmp(m->list, "layers");
	struct buf b = BUF(m->a);

	py_call(c, arena_printf(m->a, "%s.%s", chain ? "" : "image = image", method), &b);
	add_code(m, why, buf_text(&b));
}

static const char *
place(struct modal *m, const char *word)
{
	return word_plain(m->a, &(struct word){ .s = word }, &modal_places);
}

/* --- commands --- */

/* A command as one line of sh, without the secrets that it mounts. */
static const char *
shell_line(struct modal *m, const struct command *c, struct span at)
{
	const struct layout l = { .language = LANG_SH, .places = modal_places };
	struct buf b = BUF(m->a);

	if (c->work)
		buf_printf(&b, "mkdir -p %s && ", modal_places.work);
	if (c->cwd)
		buf_printf(&b, "cd %s && ", place(m, c->cwd));
	for (size_t i = 0; i < c->env.n; i++) {
		struct word value = { c->env.at[i].value, c->env.at[i].verbatim };

		buf_printf(&b, "%s=", c->env.at[i].name);
		word_text(m->ds, &value, &l, at, &b);
		buf_putc(&b, ' ');
	}
	for (size_t i = 0; i < c->argv.n; i++) {
		buf_puts(&b, i ? " " : "");
		word_text(m->ds, &c->argv.at[i], &l, at, &b);
	}
	return buf_text(&b);
}

/* The commands of an operation, as one layer. */
static void
add_commands(struct modal *m, const struct step *s, const struct operation *op)
{
	const struct commands all = operation_commands(m->a, op);
	struct names secrets = { 0 };
	struct py_call c = { .a = m->a };

	operation_secrets(m->a, op, &secrets);
	for (size_t i = 0; i < all.n; i++) {
		const char *line = shell_line(m, &all.at[i], s->at);

		/* What pip keeps for the next call would stay in the layer. */
		if (op->kind == OP_REQUIREMENTS)
			line = arena_printf(m->a, "%s --no-cache-dir", line);
		py_text(&c, NULL, modal_with_secrets(m, &secrets, line));
	}
	modal_secrets(m, &secrets, &c);
	modal_layer(m, op->why, "run_commands", &c);
}

/* --- files --- */

/* A short file, which the app holds itself. */
static void
write_file(struct modal *m, const struct step *s, const struct operation *op, const char *path)
{
	const struct layout l = { LANG_SH, modal_places, 0, 0, UINT_MAX };
	struct py_call c = { .a = m->a };
	struct buf b = BUF(m->a);

	buf_printf(&b, "mkdir -p %s && ", fs_dir(m->a, path));
	file_text(m->ds, op, &l, s->at, &b);
	py_text(&c, NULL, buf_text(&b));
	modal_layer(m, "the versions that no later pip call may change", "run_commands", &c);
}

/* A helper is copied, not mounted: later layers read it. */
static void
copy_helper(struct modal *m, const struct operation *op, const char *path)
{
	bool own = m->recipe->cell && op->file.text;
	struct py_call c = { .a = m->a };

	target_helper(m->a, m->plan, m->templates, op, m->helpers);
	py_code(&c, NULL,
		arena_printf(m->a, "%s / %s", own ? "Path(__file__).parent" : "HELPERS",
			     py_quoted(m->a, op->file.helper)));
	py_text(&c, NULL, path);
	py_code(&c, "copy", "True");
	modal_layer(m, NULL, "add_local_file", &c);
}

static void
add_file(struct modal *m, const struct step *s, const struct operation *op)
{
	const char *path = place(m, op->file.path);
	const char *text = op->file.text ? op->file.text : op->file.helper;
	const char *before = map_put(&m->written, path, (void *)(uintptr_t)text);

	if (before && !strcmp(before, text))
		return;
	if (op->file.helper)
		copy_helper(m, op, path);
	else
		write_file(m, s, op, path);
}

/* --- variables --- */

static void
env_layer(struct modal *m, const char *why, const struct variables *v)
{
	struct py_call c = { .a = m->a };

	if (!v->n)
		return;
	py_dict(&c, NULL, v);
	modal_layer(m, why, "env", &c);
}

static void
cuda_home_layer(struct modal *m)
{
	struct variables v = { 0 };

	if (m->plan->cuda_home)
		list_push(m->a, &v,
			  (struct variable){ "CUDA_HOME", place(m, m->plan->cuda_home), false });
	env_layer(m, "where extensions and triton find the CUDA toolkit", &v);
}

static void
recipe_env_layer(struct modal *m)
{
	const struct settings *env = &m->recipe->env;
	struct variables v = { 0 };

	for (size_t i = 0; i < env->n; i++)
		list_push(m->a, &v,
			  (struct variable){ env->at[i].name.s, env->at[i].value.s, true });
	m->comment = NULL; /* of a step without layers */
	env_layer(m, "env: after all compiles, so that an edit recompiles nothing", &v);
}

/* --- the operating system --- */

static void
base_layers(struct modal *m)
{
	struct py_call c = { .a = m->a }, entry = c;
	struct variables pip = { 0 };
	struct buf b = BUF(m->a);

	py_text(&c, NULL, m->stack->base.value);
	if (m->python)
		py_text(&c, "add_python", m->python);
	py_call(&c, "modal.Image.from_registry", &b);
	m->comment = NULL;
	add_code(m, NULL, buf_text(&b));
	py_code(&entry, NULL, "[]");
	modal_layer(m, NULL, "entrypoint", &entry);
	if (m->python)
		return;
	list_push(m->a, &pip, (struct variable){ "PIP_BREAK_SYSTEM_PACKAGES", "1", true });
	env_layer(
		m,
		"Debian and Ubuntu forbid pip to change their own Python; this one is the image's",
		&pip);
}

/* Whether a package was added only to bring a Python: add_python brings one. */
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

/* The files are mounted when a container starts: an edit builds nothing. */
static void
app_files(struct modal *m)
{
	const char *why = "mounted when a container starts: an edit builds nothing";
	const struct texts *copy = &m->recipe->app.copy;
	const char *entry = modal_entry_file(m);

	for (size_t i = 0; i < copy->n; i++)
		add_app(m, i ? NULL : why, copy->at[i].s, false);
	if (entry && !modal_copies(m, entry))
		add_app(m, copy->n ? NULL : why, entry, false);
}

/* --- all of them --- */

static void
add_operation(struct modal *m, const struct step *s, const struct operation *op)
{
	switch (op->kind) {
	case OP_SYSTEM:
		if (op->system.archive == ARCHIVE_DISTRIBUTION)
			apt_layer(m);
		else
			add_commands(m, s, op);
		break;
	case OP_PACKAGES: modal_add_packages(m, s, op); break;
	case OP_FILE: add_file(m, s, op); break;
	case OP_REQUIREMENTS:
		add_app(m, NULL, op->requirements.file, true);
		add_commands(m, s, op);
		break;
	case OP_LINKS:
	case OP_SMOKE:
	case OP_PROBE: add_commands(m, s, op); break;
	default: break; /* of an extension, or not here: add_python, files that are mounted */
	}
}

/* An extension is one pip call: of its files that needs nvcc-arch alone. */
static void
extension_layers(struct modal *m, const struct step *s)
{
	if (step_operation(s, OP_COMPILE))
		m->comment = arena_printf(m->a, "%s: compiled against the layers above", s->id);
	for (size_t i = 0; i < s->operations.n; i++)
		if (s->operations.at[i].kind == OP_FILE && s->operations.at[i].file.program)
			add_file(m, s, &s->operations.at[i]);
	modal_add_extension(m, s);
}

void
modal_add_layers(struct modal *m)
{
	const struct plan *p = m->plan;

	m->list = "layers";
	for (size_t i = 0; i < p->n; i++) {
		const struct step *s = &p->steps[i];

		if (s->kind == STEP_CHECK)
			recipe_env_layer(m);
		if (s->kind == STEP_APP)
			m->list = "app_layers";
		m->comment = arena_printf(m->a, "%s: %s", s->id, s->why);
		if (s->kind == STEP_BASE)
			base_layers(m);
		for (size_t k = 0;
		     s->kind != STEP_EXTENSION && s->kind != STEP_PYTHON && k < s->operations.n;
		     k++)
			add_operation(m, s, &s->operations.at[k]);
		if (s->kind == STEP_EXTENSION)
			extension_layers(m, s);
		if (s->kind == STEP_TORCH)
			cuda_home_layer(m);
	}
	m->list = "app_layers";
	m->comment = NULL;
	app_files(m);
}
