#include "modal.h"

#include <string.h>

#include "base/str.h"

struct span
modal_place(const struct modal *m, struct span at)
{
	if (at.line)
		return at;
	if (m->asked->at.line)
		return m->asked->at;
	return (struct span){ .src = m->recipe->src };
}

static void
check_host(struct modal *m)
{
	const struct recipe *r = m->recipe;
	struct diag *d;

	if (strcmp(m->stack->platform, "linux/amd64")) {
		d = diag_at(m->ds, E_MODAL_HOST, modal_place(m, r->platform.at),
			    "Modal runs linux/amd64 images, not %s", m->stack->platform);
		diag_help(d, "leave the target out: -t dockerfile");
	}
	if (m->stack->cuda.value && m->stack->cuda_from == CUDA_HOST) {
		d = diag_at(m->ds, E_MODAL_HOST, modal_place(m, r->cuda_from_at),
			    "a Modal image has no host whose CUDA toolkit it could use");
		diag_help(d, "take the toolkit from an image, apt or wheels");
	}
}

/* The final stage's user: Modal has neither. */
static void
check_user(struct modal *m)
{
	struct diag *d;

	if (!m->stack->user.value)
		return;
	d = diag_at(m->ds, W_MODAL_USER, modal_place(m, m->stack->user.at),
		    "on Modal the user is root: `%s` has no effect there", m->stack->user.value);
	diag_help(d, "nothing, if that is fine; or render without Modal: -t dockerfile");
}

static void
check_python(struct modal *m)
{
	const struct facts *f = m->stack->facts;
	const struct choice *python = &m->stack->python;
	struct names series = facts_modal_pythons(f, m->builder);
	struct buf known = BUF(m->a);
	struct diag *d;

	if (!m->python || !series.n)
		return;
	for (size_t i = 0; i < series.n; i++) {
		if (!strcmp(series.at[i], m->python))
			return;
		buf_printf(&known, "%s%s", i ? ", " : "", series.at[i]);
	}
	d = diag_at(m->ds, E_MODAL_PYTHON, modal_place(m, python->at),
		    "Modal's image builder %s has no Python %s", m->builder, m->python);
	diag_why(d, "it has %s", buf_text(&known));
	diag_help(d, "take one of these, or an image that brings its own (python: {from: base})");
}

static void
check_python_stays(struct modal *m)
{
	const char *series = m->stack->python.value, *source = NULL;
	const char *client =
		series ? facts_modal_python_end(m->stack->facts, series, &source) : NULL;
	struct diag *d;

	if (!client)
		return;
	d = diag_at(m->ds, W_MODAL_PYTHON, modal_place(m, m->stack->python.at),
		    "Modal's client %s and later will not take images with Python %s", client,
		    series);
	diag_help(d, "take a newer Python; until then, deploy with an older client");
	diag_source(d, source);
}

/*
 * Modal's builder unquotes ENV values on its own terms: it expands $ inside single
 * quotes, and its grammar has no place for a quote or backslash inside a value.
 */
static void
check_env(struct modal *m)
{
	const struct settings *env = &m->recipe->env;

	for (size_t i = 0; i < env->n; i++) {
		const struct setting *s = &env->at[i];
		const char *bad = s->value.s + strcspn(s->value.s, "$\"'\\");
		struct diag *d;

		if (!*bad)
			continue;
		d = diag_at(m->ds, E_MODAL_ENV, modal_place(m, s->value.at),
			    "Modal cannot hold a `%c` in an image variable: %s", *bad, s->name.s);
		diag_why(d, "its image builder expands or drops it");
		diag_help(d, "write the full value without it, or set %s in a Modal secret",
			  s->name.s);
	}
}

/* A build has no key for ssh, and nobody to ask for a password. */
static void
check_sources(struct modal *m)
{
	for (size_t i = 0; i < m->stack->extensions.n; i++) {
		const struct stack_extension *e = &m->stack->extensions.at[i];
		struct diag *d;

		if (e->source != SOURCE_GIT || starts_with(e->url, "https://") ||
		    starts_with(e->url, "git+https://"))
			continue;
		d = diag_at(m->ds, E_MODAL_SOURCE, modal_place(m, e->asked->git.at),
			    "a Modal build has no key to fetch `%s` with", e->url);
		diag_help(d, "use an https:// address, or a wheel by URL");
	}
}

/* Python's keywords, and what the app file calls its own. */
static const char not_names[] =
	" False None True and as assert async await break class continue def del elif else except "
	"finally for from global if import in is lambda nonlocal not or pass raise return try "
	"while "
	"with yield app image modal os Path smoke command add_app app_directory compile_extension "
	"HELPERS COMPILER CONSTRAINED SOURCES DIRECTORY ";

static void
check_entrypoint(struct modal *m)
{
	const char *name = m->asked->entrypoint.s ? strstr(m->asked->entrypoint.s, "::") : NULL;
	struct diag *d;

	if (!name)
		return;
	name += 2;
	if (!strstr(not_names, arena_printf(m->a, " %s ", name)))
		return;
	d = diag_at(m->ds, E_MODAL_ENTRYPOINT, m->asked->entrypoint.at,
		    "an app file cannot have a function called `%s`", name);
	diag_help(d, "give the function another name");
}

bool
modal_allows(struct modal *m)
{
	unsigned before = m->ds->errors;

	check_host(m);
	check_user(m);
	check_python(m);
	check_python_stays(m);
	check_env(m);
	check_sources(m);
	check_entrypoint(m);
	return m->ds->errors == before;
}
