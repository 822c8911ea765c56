#include "modal.h"

#include <string.h>

#include "base/sha256.h"
#include "base/str.h"

/*
 * pip calls as layers.  pip_install holds them, but for two kinds: with a secret the call is a
 * line of sh, which makes a file of it; `build: heavy` compiles in a function.
 */
struct pip {
	struct names requirements, secrets;
	const char *index;
	const char *options; /* words that need no quotes */
	struct variables env;
	bool constrained, compiler;
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
modal_secrets(struct modal *m, const struct names *secrets, struct py_call *c)
{
	struct names *items = secrets->n ? py_items(c, "secrets", "[", "]") : NULL;

	for (size_t i = 0; i < secrets->n; i++) {
		const char *name = py_quoted(m->a, secrets->at[i]);

		list_push(m->a, items,
			  arena_printf(m->a, "modal.Secret.from_name(%s, required_keys=[%s])", name,
				       name));
	}
}

/* --- a call --- */

/* The layer of a call with a secret.  The secret of an index is a netrc. */
static void
shell_layer(struct modal *m, const char *why, const struct pip *p, struct span at)
{
	const struct layout l = { .language = LANG_SH, .places = modal_places };
	struct py_call c = { .a = m->a };
	struct buf b = BUF(m->a);

	buf_printf(&b, "NETRC=/run/secrets/%s python -m pip install", p->secrets.at[0]);
	for (size_t i = 0; i < p->requirements.n; i++) {
		buf_putc(&b, ' ');
		word_text(m->ds, &(struct word){ p->requirements.at[i], true }, &l, at, &b);
	}
	buf_puts(&b, " --index-url ");
	word_text(m->ds, &(struct word){ p->index, true }, &l, at, &b);
	buf_printf(&b, " %s%s", p->constrained ? CONSTRAINED " " : "", p->options);
	py_text(&c, NULL, modal_with_secrets(m, &p->secrets, buf_text(&b)));
	if (p->env.n)
		py_dict(&c, "env", &p->env);
	modal_secrets(m, &p->secrets, &c);
	modal_layer(m, why, "run_commands", &c);
}

static void
pip_layer(struct modal *m, const char *why, const struct pip *p)
{
	struct py_call c = { .a = m->a };

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
	if (p->env.n)
		py_dict(&c, "env", &p->env);
	else if (p->compiler)
		py_code(&c, "env", "COMPILER");
	modal_layer(m, why, "pip_install", &c);
}

void
modal_add_packages(struct modal *m, const struct step *s, const struct operation *op)
{
	bool constrained = op->packages.constrained;
	struct pip p = { .requirements = op->packages.requirements,
			 .index = op->packages.index.url,
			 .constrained = constrained,
			 .compiler = s->kind == STEP_PACKAGES && m->python,
			 .options =
				 arena_printf(m->a, "%s%s", op->packages.no_deps ? "--no-deps" : "",
					      constrained ? "" : " --no-cache-dir") };

	p.options += strspn(p.options, " ");
	scope_flag(m->values, "constrained", true);
	operation_secrets(m->a, op, &p.secrets);
	if (p.secrets.n)
		shell_layer(m, op->why, &p, s->at);
	else
		pip_layer(m, op->why, &p);
}

/* --- extensions --- */

static const char *
requirement(struct modal *m, const struct stack_extension *e)
{
	/* As the recipe writes it, unless its wheels have another name. */
	bool alias = strcmp(e->asked->key, e->name) != 0;
	const char *name = alias ? e->name : e->asked->name.s;

	switch (e->source) {
	case SOURCE_SDIST: return e->requirement;
	case SOURCE_GIT:
		return arena_printf(m->a, "%s @ %s%s@%s%s%s", name,
				    starts_with(e->url, "git+") ? "" : "git+", e->url, e->ref,
				    e->subdirectory ? "#subdirectory=" : "",
				    e->subdirectory ? e->subdirectory : "");
	default:
		return arena_printf(m->a, "%s @ %s%s%s", name, e->url, e->sha256 ? "#sha256=" : "",
				    e->sha256 ? e->sha256 : "");
	}
}

/* The variables of the compile.  Nothing says how much memory an image build has: few jobs. */
static struct variables
compile_env(struct modal *m, const struct operation *op)
{
	const struct variables all = operation_commands(m->a, op).at[0].env;
	bool cpu = m->heavy && recipe_number(m->asked->cpu) >= 1;
	struct variables env = { 0 };

	for (size_t i = 0; i < all.n; i++) {
		struct word w = { all.at[i].value, all.at[i].verbatim };

		list_push(m->a, &env,
			  (struct variable){ all.at[i].name, word_plain(m->a, &w, &modal_places),
					     true });
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

/*
 * Returns an option with a digest of the variables: those of a layer may not count for Modal's
 * cache, only its commands do.
 */
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

/* The one kind of layer that can ask for processors and memory. */
static void
heavy_layer(struct modal *m, const char *why, const struct pip *p)
{
	const struct recipe_modal *r = m->asked;
	struct py_call c = { .a = m->a };
	struct names *args;

	py_code(&c, NULL, "compile_extension");
	args = py_items(&c, "args", "(", ")");
	list_push(m->a, args, py_quoted(m->a, p->requirements.at[0]));
	list_push(m->a, args,
		  py_quoted(m->a, arena_printf(m->a, "%s%s%s", p->options,
					       p->index ? " --index-url " : "",
					       p->index ? p->index : "")));
	for (size_t i = 0; i < p->secrets.n; i++)
		list_push(m->a, args, py_quoted(m->a, p->secrets.at[i]));
	py_dict(&c, "env", &p->env);
	py_code(&c, "cpu", r->cpu.s ? arena_printf(m->a, "%g", recipe_number(r->cpu)) : "16");
	py_code(&c, "memory", r->memory_mib.s ? r->memory_mib.s : "65536");
	py_code(&c, "timeout", "4 * 60 * 60");
	modal_secrets(m, &p->secrets, &c);
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

	list_push(m->a, &p.requirements, requirement(m, e));
	operation_secrets(m->a, fetch, &p.secrets);
	if (compile) {
		p.env = compile_env(m, compile);
		why = own_gpus(m->a, m->stack, e);
	}
	p.options = arena_printf(
		m->a, "%s--no-deps --no-cache-dir%s%s%s", compile ? "--no-build-isolation " : "",
		e->source == SOURCE_SDIST ? " --no-binary " : "",
		e->source == SOURCE_SDIST ? e->name : "", compile ? log_option(m, s, &p.env) : "");
	if (compile && m->heavy)
		heavy_layer(m, why, &p);
	else if (p.secrets.n)
		shell_layer(m, why, &p, s->at);
	else
		pip_layer(m, why, &p);
}
