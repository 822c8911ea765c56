#include "modal.h"

#include <string.h>

#include "base/sha256.h"
#include "base/str.h"

/*
 * Writes calls of pip as layers: calls of pip_install, with two exceptions. A call with a secret is
 * a line of sh that writes the secret to a file, and `build: heavy` compiles in a function.
 */
struct pip {
	struct names requirements, secrets;
	const char *index;
	const char *options; /* words that need no quotes */
	struct variables env;
	bool constrained, compiler;
	const char *uv; /* pinned release of uv that installs instead of pip, or NULL */
};

#define CONSTRAINED "-c /opt/stackbuild/constraints.txt --no-cache-dir" /* as in modal_app.py */

/* --- secrets --- */

const char *
modal_with_secrets(struct modal *m, const struct names *secrets, const char *command)
{
	struct buf b = BUF(m->a);

	for (size_t i = 0; i < secrets->n; i++)
		buf_printf(&b,
			   "mkdir -p /run/secrets && (umask 077 && printf '%%s\\n' \"$%s\" > "
			   "/run/secrets/%s) && ",
			   secrets->at[i], secrets->at[i]);
	buf_puts(&b, command);
	for (size_t i = 0; i < secrets->n; i++)
		buf_printf(&b, " && rm /run/secrets/%s", secrets->at[i]);
	return buf_text(&b);
}

void
modal_secrets(const struct names *secrets, struct py_call *c)
{
	struct names items = { 0 };

	for (size_t i = 0; i < secrets->n; i++) {
		const char *name = py_quoted(c->a, secrets->at[i]);

		list_push(c->a, &items,
			  arena_printf(c->a, "modal.Secret.from_name(%s, required_keys=[%s])", name,
				       name));
	}
	py_list(c, "secrets", "[]", &items);
}

/* --- a call --- */

/* Adds the layer of a call with a secret.  The secret of an index is a netrc file. */
static void
shell_layer(struct modal *m, const char *why, const struct pip *p, struct span at)
{
	const struct shell sh = { m->t->ds, at, LANG_SH, modal_places, 0, 0, 0 };
	struct py_call c = { .a = m->a };
	struct buf b = BUF(m->a);

	buf_printf(&b, "NETRC=/run/secrets/%s python -m pip install", p->secrets.at[0]);
	for (size_t i = 0; i < p->requirements.n; i++)
		buf_printf(&b, " %s", shell_quoted(&sh, c.a, p->requirements.at[i], true));
	buf_printf(&b, " --index-url %s %s%s", shell_quoted(&sh, c.a, p->index, true),
		   p->constrained ? CONSTRAINED " " : "", p->options);
	py_text(&c, NULL, modal_with_secrets(m, &p->secrets, buf_text(&b)));
	py_dict(&c, "env", &p->env);
	if (!p->env.n)
		py_code(&c, "env", "PIP");
	modal_secrets(&p->secrets, &c);
	modal_layer(m, why, "run_commands", &c);
}

static void
pip_layer(struct modal *m, const char *why, const struct pip *p, struct span at)
{
	struct py_call c = { .a = m->a };

	scope_flag(m->t->top, "constrained", true);
	if (p->secrets.n) {
		shell_layer(m, why, p, at);
		return;
	}
	for (size_t i = 0; i < p->requirements.n; i++)
		py_text(&c, NULL, p->requirements.at[i]);
	if (p->index)
		py_text(&c, "index_url", p->index);
	if (p->constrained)
		py_code(&c, "extra_options",
			*p->options ? arena_printf(m->a, "CONSTRAINED + %s",
						   py_quoted(m->a, arena_printf(m->a, " %s",
										p->options))) :
				      "CONSTRAINED");
	else
		py_text(&c, "extra_options", p->options);
	if (p->uv)
		py_text(&c, "uv_version", p->uv);
	py_dict(&c, "env", &p->env);
	if (!p->env.n && (p->compiler || !p->uv))
		py_code(&c, "env", p->compiler ? "COMPILER" : "PIP");
	modal_layer(m, why, p->uv ? "uv_pip_install" : "pip_install", &c);
}

void
modal_add_packages(struct modal *m, const struct step *s, const struct operation *op)
{
	bool constrained = op->packages.constrained;
	struct pip p = {
		.requirements = op->packages.requirements,
		.index = op->packages.index.url,
		.constrained = constrained,
		.compiler = s->kind == STEP_PACKAGES && m->python,
		.uv = m->asked->installer == INSTALLER_UV ? facts_modal_uv(m->stack->facts) : NULL,
		.options = arena_printf(m->a, "%s%s", op->packages.no_deps ? "--no-deps" : "",
					constrained ? "" : " --no-cache-dir")
	};

	p.options += strspn(p.options, " ");
	operation_secrets(m->a, op, &p.secrets);
	pip_layer(m, op->why, &p, s->at);
}

/* --- extensions --- */

const char *
modal_own_code(struct arena *a, const struct step *s)
{
	return arena_printf(a, "%s/%s", modal_places.src, s->id);
}

static const char *
requirement(struct modal *m, const struct step *s, const struct stack_extension *e)
{
	/* Uses the name in the recipe, unless the wheels have another name. */
	bool alias = strcmp(e->asked->key, e->name) != 0;
	const char *name = alias ? e->name : e->asked->name.s;

	switch (e->source) {
	case SOURCE_GIT:
		return arena_printf(m->a, "%s @ %s%s@%s%s%s", name,
				    starts_with(e->url, "git+") ? "" : "git+", e->url,
				    e->commit ? e->commit : e->ref,
				    e->subdirectory ? "#subdirectory=" : "",
				    e->subdirectory ? e->subdirectory : "");
	case SOURCE_PATH:
		return arena_printf(m->a, "%s%s%s", modal_own_code(m->a, s),
				    e->subdirectory ? "/" : "",
				    e->subdirectory ? e->subdirectory : "");
	default: return target_archive(m->a, name, e);
	}
}

/* The number of jobs is low, because the memory of an image build is unknown. */
static struct variables
compile_env(struct modal *m, const struct operation *op)
{
	const struct variables all = operation_commands(m->a, op).at[0].env;
	bool cpu = m->heavy && recipe_number(m->asked->cpu) >= 1;
	struct variables env = { 0 };

	for (size_t i = 0; i < all.n; i++) {
		struct variable v = all.at[i];

		if (!v.verbatim)
			v.value = shell_plain(m->a, &modal_places, v.value);
		list_push(m->a, &env, v);
	}
	if (op->compile.jobs_open)
		list_push(m->a, &env,
			  (struct variable){
				  "MAX_JOBS",
				  cpu ? arena_printf(m->a, "%.0f", recipe_number(m->asked->cpu)) :
					"4",
				  true });
	return env;
}

/* A digest of the variables: Modal's cache may ignore them, but not a layer's commands. */
static const char *
log_option(struct modal *m, const struct step *s, const struct variables *env)
{
	struct buf b = BUF(m->a);

	for (size_t i = 0; i < env->n; i++)
		if (strcmp(env->at[i].name, "MAX_JOBS") != 0)
			buf_printf(&b, "%s=%s\n", env->at[i].name, env->at[i].value);
	return arena_printf(m->a, " --log=%s/%s-%s.log", modal_places.share, s->id,
			    sha256_hex(m->a, buf_text(&b), b.n));
}

/* Adds a layer that runs a function, the only kind that can request processors and memory. */
static void
heavy_layer(struct modal *m, const char *why, const struct pip *p)
{
	const struct recipe_modal *r = m->asked;
	struct py_call c = { .a = m->a };
	struct names args = { 0 };

	list_push(c.a, &args, py_quoted(c.a, p->requirements.at[0]));
	list_push(c.a, &args,
		  py_quoted(c.a,
			    arena_printf(c.a, "%s%s%s", p->options, p->index ? " --index-url " : "",
					 p->index ? p->index : "")));
	for (size_t i = 0; i < p->secrets.n; i++)
		list_push(c.a, &args, py_quoted(c.a, p->secrets.at[i]));
	py_code(&c, NULL, "compile_extension");
	py_list(&c, "args", "()", &args);
	py_dict(&c, "env", &p->env);
	py_code(&c, "cpu", r->cpu.s ? arena_printf(m->a, "%g", recipe_number(r->cpu)) : "16");
	py_code(&c, "memory", r->memory_mib.s ? r->memory_mib.s : "65536");
	py_code(&c, "timeout", "4 * 60 * 60");
	modal_secrets(&p->secrets, &c);
	modal_layer(m, why, "run_function", &c);
}

void
modal_add_extension(struct modal *m, const struct step *s)
{
	const struct stack_extension *e = s->extension;
	const struct operation *fetch = step_operation(s, OP_FETCH);
	const struct operation *compile = step_operation(s, OP_COMPILE);
	const char *why = NULL;
	struct pip p = { .index = fetch->fetch.index.url };

	list_push(m->a, &p.requirements, requirement(m, s, e));
	operation_secrets(m->a, fetch, &p.secrets);
	if (compile) {
		p.env = compile_env(m, compile);
		why = target_own_gpus(m->t, e);
	}
	if (compile && e->source != SOURCE_GIT)
		list_push(m->a, &p.env, (struct variable){ "PIP_NO_INPUT", "1", true });
	p.options = arena_printf(
		m->a, "%s--no-deps --no-cache-dir%s%s%s", compile ? "--no-build-isolation " : "",
		e->url || e->path         ? "" :
		e->source == SOURCE_SDIST ? " --no-binary " :
					    " --only-binary ",
		e->url || e->path ? "" : e->name, compile ? log_option(m, s, &p.env) : "");
	if (compile && m->heavy)
		heavy_layer(m, why, &p);
	else
		pip_layer(m, why, &p, s->at);
}

/* --- Python --- */

enum { WIDTH = 116, INDENT = 4 };

const char *
py_quoted(struct arena *a, const char *text)
{
	struct buf b = BUF(a);
	const char *why;

	if (!quote(&b, QUOTE_PYTHON, LANG_PYTHON, text, &why))
		BUG("a Python string can contain any text: %s", why);
	return buf_text(&b);
}

void
py_code(struct py_call *c, const char *key, const char *code)
{
	list_push(c->a, &c->args,
		  (struct py_argument){ .flat = arena_printf(c->a, "%s%s%s", key ? key : "",
							     key ? "=" : "", code) });
}

/* Returns the length of the part of a text that fits into `most` columns: at least one word. */
static size_t
part(const char *text, size_t most)
{
	size_t n = strlen(text), cut = most;

	if (n <= most)
		return n;
	while (cut && text[cut - 1] != ' ')
		cut--;
	if (!cut)
		cut = strcspn(text, " ") + 1;
	return cut < n ? cut : n;
}

void
py_text(struct py_call *c, const char *key, const char *text)
{
	struct names parts = { 0 };

	py_code(c, key, py_quoted(c->a, text));
	for (size_t n; (n = part(text, WIDTH - 3 * INDENT - (key ? strlen(key) : 0))); text += n) {
		const char *literal = py_quoted(c->a, arena_copy(c->a, text, n));

		if (key && !parts.n)
			literal = arena_printf(c->a, "%s=%s", key, literal);
		list_push(c->a, &parts, literal);
	}
	c->args.at[c->args.n - 1].parts = parts;
}

void
py_list(struct py_call *c, const char *key, const char *brackets, const struct names *items)
{
	const char *start =
		arena_printf(c->a, "%s%s%.1s", key ? key : "", key ? "=" : "", brackets);

	if (items->n)
		list_push(c->a, &c->args,
			  (struct py_argument){ .flat = arena_printf(c->a, "%s%s%s", start,
								     names_join(c->a, items, ", "),
								     brackets + 1),
						.start = start,
						.end = brackets + 1,
						.parts = *items });
}

void
py_dict(struct py_call *c, const char *key, const struct variables *v)
{
	struct names items = list_names(
		c->a, x, v,
		arena_printf(c->a, "%s: %s", py_quoted(c->a, x->name), py_quoted(c->a, x->value)));

	py_list(c, key, "{}", &items);
}

/* Adds an argument at INDENT: on one line if it fits, otherwise with its parts on several lines. */
static void
add_argument(const struct py_argument *arg, struct buf *b)
{
	size_t column = WIDTH;

	if (strlen(arg->flat) + 2 * INDENT <= WIDTH || !arg->parts.n) {
		buf_printf(b, "%*s%s,\n", INDENT, "", arg->flat);
		return;
	}
	if (!arg->start) { /* parts of one text */
		for (size_t i = 0; i < arg->parts.n; i++)
			buf_printf(b, "%*s%s%s\n", INDENT, "", arg->parts.at[i],
				   i + 1 < arg->parts.n ? "" : ",");
		return;
	}
	buf_printf(b, "%*s%s", INDENT, "", arg->start);
	list_each (name, &arg->parts) {
		size_t n = strlen(*name) + 2;
		bool breaks = column + n > WIDTH;

		buf_printf(b, "%s%*s%s,", breaks ? "\n" : "", breaks ? 2 * INDENT : 1, "", *name);
		column = n + (breaks ? 2 * INDENT : column);
	}
	buf_printf(b, "\n%*s%s,\n", INDENT, "", arg->end);
}

const char *
py_call(const struct py_call *c, const char *callee)
{
	size_t width = strlen(callee) + 2 + INDENT;
	struct names all = { 0 };
	struct buf b = BUF(c->a);

	for (size_t i = 0; i < c->args.n; i++) {
		list_push(c->a, &all, c->args.at[i].flat);
		width += strlen(all.at[i]) + 2;
	}
	if (width <= WIDTH)
		return arena_printf(c->a, "%s(%s)", callee, names_join(c->a, &all, ", "));
	buf_printf(&b, "%s(\n", callee);
	for (size_t i = 0; i < c->args.n; i++)
		add_argument(&c->args.at[i], &b);
	buf_putc(&b, ')');
	return buf_text(&b);
}
