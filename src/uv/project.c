/*
 * The uv project of a stack:
 *
 *     [project]
 *     dependencies = ["torch==2.13.0", ...]
 *     [tool.uv]
 *     no-build = true sdists are not built ... no-binary-package = ["mamba-ssm"] ... except those
 *     in this list; an extension, which has [[tool.uv.dependency-metadata]] metadata here, is not
 *     built, and its setup.py never runs exclude-dependencies extensions from other sources
 *     [[tool.uv.index]] explicit: serves only
 *     the packages of [tool.uv.sources]
 *
 * source: docs.astral.sh/uv/reference/settings; tried with uv 0.13.8
 */
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/str.h"
#include "base/toml.h"
#include "fetch/fetch.h"
#include "internal.h"

enum { HELP_S = 60 };

static void
put_list(struct buf *b, const char *key, const struct names *all)
{
	buf_printf(b, "%s = [", key);
	for (size_t i = 0; i < all->n; i++) {
		buf_puts(b, "\n    ");
		toml_quote(b, all->at[i]);
		buf_putc(b, ',');
	}
	buf_puts(b, "]\n");
}

/* Returns the normalised name at the start of a requirement. */
static const char *
key_of(struct arena *a, const char *requirement)
{
	return requirement_parse(a, requirement, NULL, NULL)->key;
}

static struct names
keys_of(struct arena *a, const struct names *requirements)
{
	struct names keys = { 0 };

	for (size_t i = 0; i < requirements->n; i++)
		list_push(a, &keys, key_of(a, requirements->at[i]));
	return keys;
}

/* Writes the indexes for only some packages, and these packages. */
static void
put_indexes(struct uv_run *u, struct buf *b)
{
	struct names urls = { 0 }, done = { 0 };

	for (size_t i = 0; i < u->q->wants.n; i++)
		if (u->q->wants.at[i].index)
			names_once(u->a, &urls, u->q->wants.at[i].index);
	for (size_t i = 0; i < urls.n; i++) {
		buf_printf(b, "[[tool.uv.index]]\nname = \"only-%zu\"\nexplicit = true\nurl = ", i);
		toml_quote(b, urls.at[i]);
		buf_putc(b, '\n');
	}
	buf_puts(b, "[tool.uv.sources]\n");
	list_each (w, &u->q->wants) {
		size_t k = 0;

		if (!w->index || names_have(&done, w->key))
			continue;
		while (strcmp(urls.at[k], w->index) != 0)
			k++;
		list_push(u->a, &done, w->key);
		buf_printf(b, "%s = { index = \"only-%zu\" }\n", w->key, k);
	}
}

static void
put_dependencies(struct uv_run *u, struct buf *b)
{
	struct names all = { 0 };

	for (size_t i = 0; i < u->q->wants.n; i++)
		names_once(u->a, &all, u->q->wants.at[i].requirement);
	for (size_t i = 0; i < u->q->sdists.n; i++)
		names_once(u->a, &all, u->q->sdists.at[i]);
	put_list(b, "dependencies", &all);
}

bool
uv_write_project(struct uv_run *u)
{
	const struct names sdists = keys_of(u->a, &u->q->sdists);
	struct names built = { 0 }, constraints = { 0 };
	struct buf b = BUF(u->a);

	buf_printf(&b,
		   "[project]\nname = \"" UV_STACK "\"\nversion = \"0\"\n"
		   "requires-python = \">=%s\"\n",
		   u->q->python);
	put_dependencies(u, &b);
	buf_puts(&b, "[tool.uv]\nno-build = true\n");
	for (size_t i = 0; i < sdists.n; i++)
		list_push(u->a, &built, sdists.at[i]);
	for (size_t i = 0; i < u->how->builds.n; i++)
		list_push(u->a, &built, u->how->builds.at[i]);
	list_each (d, &u->q->described) {
		list_push(u->a, &built, d->name);
		list_push(u->a, &constraints, arena_printf(u->a, "%s==%s", d->name, d->version));
	}
	for (size_t i = 0; i < u->q->constraints.n; i++)
		list_push(u->a, &constraints, u->q->constraints.at[i]);
	put_list(&b, "no-binary-package", &built);
	put_list(&b, "constraint-dependencies", &constraints);
	put_list(&b, "exclude-dependencies", &u->q->elsewhere);
	for (size_t i = 0; i < sdists.n; i++)
		buf_printf(&b,
			   "[[tool.uv.dependency-metadata]]\nname = \"%s\"\nrequires-dist = []\n",
			   sdists.at[i]);
	list_each (d, &u->q->described) {
		buf_printf(&b, "[[tool.uv.dependency-metadata]]\nname = \"%s\"\nversion = \"%s\"\n",
			   d->name, d->version);
		put_list(&b, "requires-dist", &d->requires);
	}
	put_indexes(u, &b);
	return fs_write(u->ds, fs_join(u->a, u->dir, UV_PROJECT), buf_text(&b), b.n, 0600, false,
			NULL);
}

/* Variables of uv that would change a lock, which only the recipe may change. */
static const char *const removed[] = {
	"UV_INDEX",         "UV_EXTRA_INDEX_URL",
	"UV_FIND_LINKS",    "UV_CONSTRAINT",
	"UV_OVERRIDE",      "UV_EXCLUDE",
	"UV_EXCLUDE_NEWER", "UV_BUILD_CONSTRAINT",
	"UV_PRERELEASE",    "UV_RESOLUTION",
	"UV_FORK_STRATEGY", "UV_INDEX_STRATEGY",
	"UV_NO_SOURCES",    "UV_CUSTOM_COMPILE_COMMAND",
	"UV_TORCH_BACKEND", "UV_WORKING_DIR",
	"UV_PROJECT",       "UV_NO_CONFIG",
	"UV_CONFIG_FILE",   "UV_OFFLINE",
	"UV_SYSTEM_PYTHON", "VIRTUAL_ENV",
};

static const char *
configured_index(struct arena *a, const struct lock_request *q)
{
	const char *env = getenv("UV_DEFAULT_INDEX"), *old = getenv("UV_INDEX_URL");

	return q->index ? q->index : env && *env ? env : old && *old ? old : index_of_pip(a);
}

const char *
uv_index(struct arena *a, const struct lock_request *q, const struct uv *uv)
{
	static const char before[] = "(by default: <";
	const char *const argv[] = { uv->program, "pip", "compile", "--help", NULL }, *at;
	const char *index = configured_index(a, q);
	struct proc_result r;

	if (index)
		return index;
	proc_run(a,
		 &(struct proc_spec){ .argv = argv, .timeout_s = HELP_S, .keep = (size_t)1 << 20 },
		 &r);
	at = strstr(buf_text(&r.out), before);
	return at ? arena_copy(a, at + strlen(before), strcspn(at + strlen(before), ">")) : NULL;
}

static void
add(struct uv_run *u, struct names *argv, const char *words)
{
	const struct names all = names_split(u->a, words, ' ');

	for (size_t i = 0; i < all.n; i++)
		list_push(u->a, argv, all.at[i]);
}

static void
add_option(struct uv_run *u, struct names *argv, const char *option, const char *value)
{
	if (!value)
		return;
	list_push(u->a, argv, option);
	list_push(u->a, argv, value);
}

static struct names
words_of(struct uv_run *u, bool reasons, bool offline)
{
	struct names argv = { 0 };

	list_push(u->a, &argv, u->how->uv->program);
	add(u, &argv,
	    "pip compile " UV_PROJECT " --quiet --no-progress --color never --no-header "
	    "--no-python-downloads");
	add_option(u, &argv, "--python-version", u->q->python);
	add_option(u, &argv, "--python-platform", u->q->platform);
	add_option(u, &argv, "--default-index", configured_index(u->a, u->q));
	add_option(u, &argv, "--exclude-newer", u->q->newest);
	if (reasons) {
		add(u, &argv,
		    "--format requirements.txt --annotation-style line --emit-index-annotation "
		    "--constraints " UV_PINS " --output-file " UV_REASONS);
		add(u, &argv, offline ? "--offline" : "");
		/* Any Python is good, because nothing is built. Otherwise, uv would search for the
		 * image's Python and start each Python in PATH, which takes seconds for shims of
		 * pyenv. */
		add_option(u, &argv, "--python", offline ? proc_which(u->a, "python3") : NULL);
		list_push(u->a, &argv, NULL);
		return argv;
	}
	add(u, &argv, "--format pylock.toml --output-file " UV_LOCK);
	add(u, &argv, u->how->upgrade ? "--upgrade" : "");
	for (size_t i = 0; i < u->how->upgraded.n && !u->how->upgrade; i++)
		add_option(u, &argv, "--upgrade-package", u->how->upgraded.at[i]);
	list_push(u->a, &argv, NULL);
	return argv;
}

bool
uv_compile(struct uv_run *u, bool reasons, bool offline, struct proc_result *r)
{
	const struct names argv = words_of(u, reasons, offline);
	struct names env = { 0 };
	/* uv trusts its own list of authorities by default, which lacks that of a company. */
	const char *ca = http_ca_child();

	for (size_t i = 0; i < COUNT(removed); i++)
		list_push(u->a, &env, removed[i]);
	if (u->how->secrets.n)
		list_printf(u->a, &env, "NETRC=%s", fs_join(u->a, u->dir, UV_NETRC));
	if (ca)
		list_printf(u->a, &env, "SSL_CERT_FILE=%s", ca);
	list_push(u->a, &env, NULL);
	return proc_run(u->a,
			&(struct proc_spec){ .argv = argv.at,
					     .env = env.at,
					     .cwd = u->dir,
					     .timeout_s = u->how->timeout_s,
					     .keep = 64 * 1024 },
			r);
}
