#include "modal.h"

#include <string.h>

#include "base/str.h"

const struct shape modal_layer_shape[] = {
	{ "title", VALUE_TEXT, "\"4. torch\"", 0 },
	{ "why", VALUE_LIST, "why it stands where it stands, in lines", 0 },
	{ "code", VALUE_CODE, "the call: image = image.pip_install(...)", 0 },
	{ 0 },
};

void
modal_lines(struct modal *m, struct scope *s, const char *list, const char *text)
{
	enum { WIDTH = 88 };

	while (*text) {
		size_t n = strlen(text), cut = n > WIDTH ? WIDTH : n;

		while (cut < n && cut > WIDTH / 2 && text[cut] != ' ')
			cut--;
		if (cut == WIDTH / 2 && n > WIDTH)
			cut = strcspn(text, " ");
		scope_item_text(s, list, arena_copy(m->a, text, cut), (struct span){ 0 });
		text += cut;
		while (*text == ' ')
			text++;
	}
}

void
modal_add_layer(struct modal *m, const char *title, const char *why, struct buf *code)
{
	struct scope *item = scope_item(m->values, "layers");

	m->layers++;
	scope_text(item, "title", arena_printf(m->a, "%zu. %s", m->layers, title),
		   (struct span){ 0 });
	modal_lines(m, item, "why", why);
	scope_code(item, "code", buf_text(code));
}

static void
base_layer(struct modal *m, const struct step *s)
{
	struct buf b = BUF(m->a);

	py_open(&b, "image = modal.Image", "from_registry");
	py_text(&b, NULL, m->stack->base.value);
	if (m->python)
		py_text(&b, "add_python", m->python);
	buf_puts(&b, ").entrypoint([])\n");
	/* Debian and Ubuntu forbid pip to touch their own Python; here it is the image's. */
	if (!m->python)
		buf_puts(&b, "image = image.env({\"PIP_BREAK_SYSTEM_PACKAGES\": \"1\"})\n");
	modal_add_layer(m, s->id, s->why, &b);
}

/* What was added to have a Python at all: add_python brings one. */
static bool
is_for_python(const struct modal *m, const char *package)
{
	static const char *const sources[] = { "gpg-agent", "software-properties-common" };
	const struct choices *apt = &m->stack->apt;
	bool is = starts_with(package, "python3");

	for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); i++)
		is = is || !strcmp(package, sources[i]);
	for (size_t i = 0; i < apt->n; i++)
		if (!strcmp(apt->at[i].value, package) && apt->at[i].given)
			return false;
	return is && m->python;
}

/* The plan's own `apt-get install` of the packages is what apt_install does. */
static size_t
after_install(const struct step *s)
{
	for (size_t i = 0; i < s->commands.n; i++) {
		const struct words *w = &s->commands.at[i].argv;

		if (w->n > 1 && !strcmp(w->at[0].s, "apt-get") && !strcmp(w->at[1].s, "install"))
			return i + 1;
	}
	return s->commands.n;
}

static void
apt_layer(struct modal *m, const struct step *s)
{
	struct variables quiet = { 0 };
	struct buf b = BUF(m->a);
	size_t n = 0;

	py_open(&b, "image = image", "apt_install");
	for (size_t i = 0; i < s->apt.n; i++)
		if (!is_for_python(m, s->apt.at[i])) {
			py_text(&b, NULL, s->apt.at[i]);
			n++;
		}
	list_push(m->a, &quiet, (struct variable){ "DEBIAN_FRONTEND", "noninteractive", false });
	py_dict(&b, "env", &quiet);
	py_close(&b);
	if (n)
		modal_add_layer(m, s->id, s->why, &b);
	if (m->stack->cuda_from == CUDA_APT)
		modal_add_commands(m, s, after_install(s), true);
}

/* --- variables --- */

static void
variables_layer(struct modal *m, const char *title, const char *why, const struct variables *v)
{
	struct buf b = BUF(m->a);

	py_open(&b, "image = image", "env");
	py_dict(&b, NULL, v);
	py_close(&b);
	modal_add_layer(m, title, why, &b);
}

static void
cuda_home_layer(struct modal *m)
{
	struct word home = { .s = m->plan->cuda_home };
	struct variables v = { 0 };

	if (!home.s)
		return;
	list_push(m->a, &v,
		  (struct variable){ .name = "CUDA_HOME",
				     .value = word_plain(m->a, &home, &modal_places) });
	variables_layer(m, "cuda-home", "where extensions and triton find the CUDA toolkit", &v);
}

static void
recipe_env_layer(struct modal *m)
{
	const struct settings *env = &m->recipe->env;
	struct variables v = { 0 };

	for (size_t i = 0; i < env->n; i++)
		list_push(m->a, &v,
			  (struct variable){ .name = env->at[i].name.s,
					     .value = env->at[i].value.s });
	if (v.n)
		variables_layer(m, "env", "after all that is compiled: an edit recompiles nothing",
				&v);
}

/* --- the application --- */

/* The file is copied, not mounted: the next command reads it. */
static void
requirements_layer(struct modal *m, const struct step *s)
{
	struct buf b = BUF(m->a);

	if (!s->commands.n)
		return;
	buf_puts(&b, "image = add_local(image, ");
	py_string(&b, m->recipe->app.requirements.s);
	buf_puts(&b, ", copy=True)\n");
	modal_add_layer(m, s->id, "the file that the next layer reads", &b);
	modal_add_commands(m, s, 0, false);
}

/* The files are mounted when a container starts: an edit builds nothing. */
static void
files_layer(struct modal *m)
{
	const struct texts *copy = &m->recipe->app.copy;
	struct buf b = BUF(m->a);

	for (size_t i = 0; i < copy->n; i++) {
		buf_puts(&b, "image = add_local(image, ");
		py_string(&b, copy->at[i].s);
		buf_puts(&b, ")\n");
	}
	if (modal_entry_file(m) && !modal_copies(m, modal_entry_file(m))) {
		buf_puts(&b, "image = add_local(image, ");
		py_string(&b, modal_entry_file(m));
		buf_puts(&b, ")\n");
	}
	if (b.n)
		modal_add_layer(m, "files",
				"mounted when a container starts: an edit builds nothing", &b);
}

void
modal_add_layers(struct modal *m)
{
	const struct plan *p = m->plan;

	for (size_t i = 0; i < p->n; i++) {
		const struct step *s = &p->steps[i];

		if (s->kind == STEP_CHECK)
			recipe_env_layer(m);
		switch (s->kind) {
		case STEP_BASE: base_layer(m, s); break;
		case STEP_APT: apt_layer(m, s); break;
		case STEP_PYTHON: break; /* add_python, or the base's own */
		case STEP_EXTENSION: modal_add_extension(m, s); break;
		case STEP_APP: requirements_layer(m, s); break;
		default: modal_add_commands(m, s, 0, true);
		}
		if (s->kind == STEP_TORCH)
			cuda_home_layer(m);
	}
	files_layer(m);
}
