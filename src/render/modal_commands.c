#include "modal.h"

#include <string.h>

#include "base/str.h"

/* Everything is installed into the image's one Python: there is no environment in it. */
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

/* --- one command as a line of sh --- */

static bool
word_is(const struct command *c, size_t i, const char *s)
{
	return i < c->argv.n && !c->argv.at[i].verbatim && !strcmp(c->argv.at[i].s, s);
}

static bool
is_pip_install(const struct command *c)
{
	return word_is(c, 0, "{python}") && word_is(c, 1, "-m") && word_is(c, 2, "pip") &&
	       word_is(c, 3, "install");
}

static bool
uses_work(const struct command *c)
{
	for (size_t i = 0; i < c->argv.n; i++)
		if (!c->argv.at[i].verbatim && strstr(c->argv.at[i].s, "{work}"))
			return true;
	return c->cwd && strstr(c->cwd, "{work}");
}

/*
 * A build secret is a file for the plan and a variable for Modal: the variable is
 * written to the file for as long as the command runs, and the layer keeps neither.
 */
static void
secrets_before(const struct command *c, struct buf *b)
{
	for (size_t i = 0; i < c->mounts.n; i++) {
		const struct mount *t = &c->mounts.at[i];

		if (t->kind == MOUNT_SECRET)
			buf_printf(b,
				   "mkdir -p /run/secrets && (umask 077 && "
				   "printf '%%s\\n' \"$%s\" > %s) && ",
				   t->id, t->target);
	}
}

static void
secrets_after(const struct command *c, struct buf *b)
{
	for (size_t i = 0; i < c->mounts.n; i++)
		if (c->mounts.at[i].kind == MOUNT_SECRET)
			buf_printf(b, " && rm %s", c->mounts.at[i].target);
}

static const char *
modal_sh(struct modal *m, const struct command *c, struct span at)
{
	const struct layout l = { .language = LANG_SH, .places = modal_places };
	struct word cwd = { .s = c->cwd };
	struct buf b = BUF(m->a);

	secrets_before(c, &b);
	if (uses_work(c))
		buf_printf(&b, "mkdir -p %s && ", modal_places.work);
	if (c->cwd) {
		buf_puts(&b, "cd ");
		word_text(m->ds, &cwd, &l, at, &b);
		buf_puts(&b, " && ");
	}
	for (size_t i = 0; i < c->env.n; i++) {
		const struct variable *v = &c->env.at[i];
		struct word value = { v->value, v->verbatim };

		buf_printf(&b, "%s=", v->name);
		word_text(m->ds, &value, &l, at, &b);
		buf_putc(&b, ' ');
	}
	for (size_t i = 0; i < c->argv.n; i++) {
		buf_puts(&b, i ? " " : "");
		word_text(m->ds, &c->argv.at[i], &l, at, &b);
	}
	/* What pip keeps for the next call would stay in the layer. */
	if (is_pip_install(c) && !strstr(buf_text(&b), " --no-cache-dir"))
		buf_puts(&b, " --no-cache-dir");
	secrets_after(c, &b);
	return buf_text(&b);
}

const char *
modal_secrets(struct modal *m, const struct command *c)
{
	struct buf b = BUF(m->a);
	size_t n = 0;

	for (size_t i = 0; i < c->mounts.n; i++) {
		if (c->mounts.at[i].kind != MOUNT_SECRET)
			continue;
		buf_puts(&b, n++ ? ", " : "[");
		buf_puts(&b, "modal.Secret.from_name(");
		py_string(&b, c->mounts.at[i].id);
		buf_puts(&b, ", required_keys=[");
		py_string(&b, c->mounts.at[i].id);
		buf_puts(&b, "])");
	}
	buf_puts(&b, n ? "]" : "");
	return n ? buf_text(&b) : NULL;
}

/* --- pip --- */

static bool
takes_value(const char *option)
{
	static const char *const some[] = { "-c",
					    "-r",
					    "-f",
					    "-i",
					    "-C",
					    "--constraint",
					    "--requirement",
					    "--index-url",
					    "--extra-index-url",
					    "--find-links",
					    "--no-binary",
					    "--only-binary",
					    "--config-settings",
					    "--timeout",
					    "--retries" };

	for (size_t i = 0; i < sizeof(some) / sizeof(*some); i++)
		if (!strcmp(option, some[i]))
			return true;
	return false;
}

/* The same call as image.pip_install writes it: requirements, index_url, the rest raw. */
static void
pip_arguments(struct modal *m, const struct command *c, struct span at, struct buf *b)
{
	const struct layout l = { .language = LANG_SH, .places = modal_places };
	struct buf options = BUF(m->a);
	const char *index = NULL;

	for (size_t i = 4; i < c->argv.n; i++) {
		const struct word *w = &c->argv.at[i];

		if (w->verbatim || w->s[0] != '-') {
			py_text(b, NULL, word_plain(m->a, w, &modal_places));
		} else if (!strcmp(w->s, "--index-url") && i + 1 < c->argv.n) {
			index = word_plain(m->a, &c->argv.at[++i], &modal_places);
		} else {
			bool value = takes_value(w->s) && i + 1 < c->argv.n;

			buf_puts(&options, options.n ? " " : "");
			word_text(m->ds, w, &l, at, &options);
			if (value) {
				buf_putc(&options, ' ');
				word_text(m->ds, &c->argv.at[++i], &l, at, &options);
			}
		}
	}
	if (index)
		py_text(b, "index_url", index);
	/* What pip keeps for the next call would stay in the layer. */
	if (!strstr(buf_text(&options), "--no-cache-dir"))
		buf_printf(&options, "%s--no-cache-dir", options.n ? " " : "");
	py_text(b, "extra_options", buf_text(&options));
}

void
modal_add_pip(struct modal *m, const struct step *s, const struct command *c, const char *why)
{
	const char *secrets = modal_secrets(m, c);
	struct variables env = { 0 };
	struct buf b = BUF(m->a);

	for (size_t i = 0; i < c->env.n; i++) {
		struct word value = { c->env.at[i].value, c->env.at[i].verbatim };

		list_push(m->a, &env,
			  (struct variable){ .name = c->env.at[i].name,
					     .value = word_plain(m->a, &value, &modal_places) });
	}
	if (secrets) {
		py_open(&b, "image = image", "run_commands");
		py_text(&b, NULL, modal_sh(m, c, s->at));
		py_code(&b, "secrets", secrets);
	} else {
		py_open(&b, "image = image", "pip_install");
		pip_arguments(m, c, s->at, &b);
		if (env.n)
			py_dict(&b, "env", &env);
		else if (s->kind == STEP_PACKAGES && m->python)
			py_code(&b, "env", "COMPILER");
	}
	py_close(&b);
	modal_add_layer(m, s->id, why, &b);
}

/* --- a step --- */

/* What is to be in one run_commands, until a pip call comes between. */
struct pending {
	struct buf texts, code; /* long texts have names; the arguments of the call */
	const char *secrets;
	size_t n;
};

/* "SMOKE_CU" of "/opt/stackbuild/smoke.cu" */
static const char *
constant_name(struct modal *m, const char *path)
{
	const char *slash = strrchr(path, '/');
	struct buf b = BUF(m->a);

	for (const char *p = slash ? slash + 1 : path; *p; p++)
		buf_putc(&b, !is_alnum(*p) ? '_' : *p >= 'a' && *p <= 'z' ? (char)(*p - 32) : *p);
	return buf_text(&b);
}

static void
pend_file(struct modal *m, const struct step_file *f, struct pending *p)
{
	enum { SHORT = 500 };
	struct word word = { .s = f->path };
	const char *path = word_plain(m->a, &word, &modal_places), *text = f->text;
	const char *name = constant_name(m, path), *before;

	if (f->template) {
		const struct source *src = templates_text(m->templates, f->template);

		text = arena_copy(m->a, src->text, src->size);
	}
	before = map_put(&m->written, path, (void *)text);
	if (before && !strcmp(before, text))
		return;
	buf_puts(&p->code, "    write(");
	py_string(&p->code, path);
	buf_puts(&p->code, ", ");
	if (strlen(text) > SHORT) {
		buf_printf(&p->texts, "%s = ", name);
		py_block(&p->texts, text);
		buf_putc(&p->texts, '\n');
		buf_puts(&p->code, name);
	} else {
		py_block(&p->code, text);
	}
	buf_puts(&p->code, f->program ? ", mode=\"755\"),\n" : "),\n");
	p->n++;
}

static void
flush(struct modal *m, struct pending *p, const struct step *s, const char *why)
{
	struct buf b = BUF(m->a);

	if (!p->n)
		return;
	buf_puts(&b, buf_text(&p->texts));
	py_open(&b, "image = image", "run_commands");
	buf_puts(&b, buf_text(&p->code));
	if (p->secrets)
		py_code(&b, "secrets", p->secrets);
	py_close(&b);
	modal_add_layer(m, s->id, why, &b);
	*p = (struct pending){ .texts = BUF(m->a), .code = BUF(m->a) };
}

void
modal_add_commands(struct modal *m, const struct step *s, size_t first, bool pip)
{
	struct pending p = { .texts = BUF(m->a), .code = BUF(m->a) };

	/* What counts jobs has no place in a pip_install: MAX_JOBS is said there. */
	for (size_t i = 0; i < s->files.n; i++)
		if (strcmp(s->files.at[i].path, "{share}/compile.py") != 0)
			pend_file(m, &s->files.at[i], &p);
	for (size_t i = first; i < s->commands.n; i++) {
		const struct command *c = &s->commands.at[i];
		const char *why = c->comment ? c->comment : s->why;
		const char *secrets = modal_secrets(m, c);

		if (pip && is_pip_install(c)) {
			flush(m, &p, s,
			      s->files.n && s->files.at[0].program ?
				      "what runs when extensions are compiled" :
				      "what pip below must not move");
			modal_add_pip(m, s, c, why);
			continue;
		}
		if (secrets && p.secrets && strcmp(secrets, p.secrets))
			flush(m, &p, s, why);
		p.secrets = secrets ? secrets : p.secrets;
		py_text(&p.code, NULL, modal_sh(m, c, s->at));
		p.n++;
	}
	flush(m, &p, s, s->why);
}
