#include "modal.h"

#include <string.h>

#include "base/sha256.h"
#include "base/str.h"

/*
 * One extension as one pip call.  Where Modal's pip_install can hold it, it is that;
 * with a secret it is a shell line, and with `build: heavy` a function.
 */

static void
argument(struct modal *m, struct command *c, const char *word, bool verbatim)
{
	list_push(m->a, &c->argv, (struct word){ word, verbatim });
}

static void
set(struct modal *m, struct command *c, const char *name, const char *value)
{
	for (size_t i = 0; i < c->env.n; i++)
		if (!strcmp(c->env.at[i].name, name))
			return;
	list_push(m->a, &c->env, (struct variable){ name, value, true });
}

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

static void
compile_env(struct modal *m, const struct step *s, struct command *c)
{
	bool cpu = m->heavy && m->asked->cpu_n >= 1;

	for (size_t i = 0; i < s->commands.n; i++) {
		const struct command *from = &s->commands.at[i];

		for (size_t k = 0; from->phase == PHASE_BUILD && k < from->env.n; k++) {
			struct word w = { from->env.at[k].value, from->env.at[k].verbatim };

			set(m, c, from->env.at[k].name, word_plain(m->a, &w, &modal_places));
		}
	}
	set(m, c, "CC", m->stack->cc);
	set(m, c, "CXX", m->stack->cxx);
	set(m, c, "AR", "ar");
	/* Nothing says how much memory an image build has. */
	set(m, c, "MAX_JOBS", cpu ? arena_printf(m->a, "%.0f", m->asked->cpu_n) : "4");
}

/* The secrets of all its commands, each once. */
static void
fetch_with(struct modal *m, const struct step *s, struct command *c)
{
	const struct recipe_index *index = &m->recipe->index;

	for (size_t i = 0; i < s->commands.n; i++)
		for (size_t k = 0; k < s->commands.at[i].mounts.n; k++) {
			const struct mount *t = &s->commands.at[i].mounts.at[k];
			bool skip = t->kind != MOUNT_SECRET;

			for (size_t j = 0; j < c->mounts.n; j++)
				skip = skip || !strcmp(c->mounts.at[j].target, t->target);
			if (!skip)
				list_push(m->a, &c->mounts, *t);
			if (!skip && index->secret.s && !strcmp(t->id, index->secret.s))
				set(m, c, "NETRC", t->target);
		}
}

static struct command
pip_command(struct modal *m, const struct step *s)
{
	const struct stack_extension *e = s->extension;
	bool compiles = e->source != SOURCE_WHEEL;
	struct command c = { 0 };

	argument(m, &c, "{python}", false);
	argument(m, &c, "-m", false);
	argument(m, &c, "pip", false);
	argument(m, &c, "install", false);
	argument(m, &c, requirement(m, e), true);
	if (e->source == SOURCE_SDIST && m->recipe->index.url.s) {
		argument(m, &c, "--index-url", false);
		argument(m, &c, m->recipe->index.url.s, true);
	}
	if (compiles)
		argument(m, &c, "--no-build-isolation", false);
	argument(m, &c, "--no-deps", false);
	argument(m, &c, "--no-cache-dir", false);
	if (e->source == SOURCE_SDIST) {
		argument(m, &c, "--no-binary", false);
		argument(m, &c, e->name, false);
	}
	fetch_with(m, s, &c);
	if (compiles)
		compile_env(m, s, &c);
	return c;
}

/*
 * Variables of a layer may not count for Modal's cache, only its commands do: pip's log
 * has a name that changes with them.
 */
static void
log_by_env(struct modal *m, const struct step *s, struct command *c)
{
	struct buf b = BUF(m->a);

	for (size_t i = 0; i < c->env.n; i++)
		if (strcmp(c->env.at[i].name, "MAX_JOBS") != 0)
			buf_printf(&b, "%s=%s\n", c->env.at[i].name, c->env.at[i].value);
	if (b.n)
		argument(m, c,
			 arena_printf(m->a, "--log=%s/%s-%s.log", modal_places.share, s->id,
				      sha256_hex(m->a, b.p, b.n)),
			 false);
}

/* Why it stands here, in a chain. */
static const char *
why(struct modal *m, const struct step *s)
{
	if (s->extension->source == SOURCE_WHEEL)
		return s->why;
	return arena_printf(
		m->a, "compiled against what stands above%s%s: an edit of it compiles this again",
		m->stack->archs.n ? ", for " : "", m->stack->arch_list);
}

/* {"words": [...], "variables": {...}}, and the secret that holds a netrc. */
static const char *
heavy_kwargs(struct modal *m, const struct command *c)
{
	struct buf b = BUF(m->a);

	buf_puts(&b, "{\n        \"words\": [\n");
	for (size_t i = 0; i < c->argv.n; i++) {
		buf_puts(&b, "            ");
		py_string(&b, word_plain(m->a, &c->argv.at[i], &modal_places));
		buf_puts(&b, ",\n");
	}
	buf_puts(&b, "        ],\n        \"variables\": {\n");
	for (size_t i = 0; i < c->env.n; i++) {
		if (!strcmp(c->env.at[i].name, "NETRC"))
			continue;
		buf_puts(&b, "            ");
		py_string(&b, c->env.at[i].name);
		buf_puts(&b, ": ");
		py_string(&b, c->env.at[i].value);
		buf_puts(&b, ",\n");
	}
	buf_puts(&b, "        },\n");
	if (c->mounts.n) {
		buf_puts(&b, "        \"netrc\": ");
		py_string(&b, c->mounts.at[0].id);
		buf_puts(&b, ",\n");
	}
	buf_puts(&b, "    }");
	return buf_text(&b);
}

/* The one kind of layer that can ask for processors and memory. */
static void
heavy_layer(struct modal *m, const struct step *s, const struct command *c)
{
	const struct recipe_modal *r = m->asked;
	const char *secrets = modal_secrets(m, c);
	struct buf b = BUF(m->a);

	py_open(&b, "image = image", "run_function");
	py_code(&b, NULL, "compile_extension");
	py_code(&b, "kwargs", heavy_kwargs(m, c));
	py_code(&b, "cpu", r->cpu_n > 0 ? arena_printf(m->a, "%g", r->cpu_n) : "16");
	py_code(&b, "memory", r->memory_n ? arena_printf(m->a, "%u", r->memory_n) : "65536");
	py_code(&b, "timeout", "4 * 60 * 60");
	if (secrets)
		py_code(&b, "secrets", secrets);
	py_close(&b);
	modal_add_layer(m, s->id, why(m, s), &b);
}

void
modal_add_extension(struct modal *m, const struct step *s)
{
	struct command c = pip_command(m, s);

	if (m->heavy && s->extension->source != SOURCE_WHEEL) {
		heavy_layer(m, s, &c);
		return;
	}
	log_by_env(m, s, &c);
	modal_add_pip(m, s, &c, why(m, s));
}
