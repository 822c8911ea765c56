#include <string.h>

#include "base/str.h"
#include "docker.h"

/* What one RUN does, as far as it is apt, pip, git and the like. */

static const char *
base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static struct span
place_of(const struct docker *d, const struct docker_word *w)
{
	return instruction_span(d->in, w->from, w->n);
}

/* --- apt --- */

/* Why a package of the system's has no place in a recipe, or NULL. */
static const char *
not_apt(struct docker *d, const char *name, struct span at)
{
	size_t series = starts_with(name, "python3.") ? strspn(name + 8, "0123456789") : 0;

	if (series) {
		d->rd.n->python = (struct text){ arena_copy(d->rd.a, name + 6, 2 + series), at };
		return "`python:` brings it";
	}
	if (starts_with(name, "python3") || starts_with(name, "python-is-") ||
	    !strcmp(name, "python"))
		return "`python:` brings it";
	if (starts_with(name, "cuda-") || starts_with(name, "libcudnn") ||
	    starts_with(name, "nvidia-") || starts_with(name, "libnccl"))
		return "the base image and torch bring CUDA";
	if (!strcmp(name, "software-properties-common"))
		return "it is for archives that the recipe does not name";
	return NULL;
}

static void
add_apt(struct docker *d, const struct docker_word *w)
{
	struct span at = place_of(d, w);
	const char *why = not_apt(d, w->s, at);
	struct texts *apt = &d->rd.n->apt;

	list_push(d->rd.a, &d->events,
		  (struct event){ .kind = EVENT_APT, .in = d->in, .at = at, .name = w->s });
	if (apt->n >= 4000) {
		if (!d->rd.ds->errors)
			diag_at(d->rd.ds, E_INIT_INPUT, at, "more than 4000 packages");
		return;
	}
	if (w->unknown)
		why = "its variables have no value here";
	if (why) {
		wish_left(&d->rd, w->s, at, why);
		return;
	}
	for (size_t i = 0; i < apt->n; i++)
		if (!strcmp(apt->at[i].s, w->s))
			return;
	list_push(d->rd.a, apt, (struct text){ w->s, at });
}

static void
run_apt(struct docker *d, const struct docker_command *c, size_t i)
{
	bool install = false;

	for (; i < c->words.n; i++) {
		const char *s = c->words.at[i].s;

		if (!strcmp(s, "-t") || !strcmp(s, "-o") || !strcmp(s, "-c") ||
		    !strcmp(s, "--target-release"))
			i++;
		else if (*s == '-')
			continue;
		else if (!install && strcmp(s, "install") != 0)
			return;
		else if (!install)
			install = true;
		else
			add_apt(d, &c->words.at[i]);
	}
	if (install && !strstr(d->in->text, "/var/lib/apt/lists") &&
	    !strstr(d->in->text, "target=/var/lib/apt") && !d->lists.line && c->words.n)
		d->lists = place_of(d, &c->words.at[0]);
}

/* --- git --- */

static void
run_git(struct docker *d, const struct docker_command *c, size_t i)
{
	const struct docker_words *ws = &c->words;
	const char *verb = i < ws->n ? ws->at[i].s : "", *url = NULL, *dir = NULL, *ref = NULL;
	size_t n;

	if (!strcmp(verb, "checkout") && d->clones.n && ws->n > i + 1) {
		d->clones.at[d->clones.n - 1].ref = ws->at[ws->n - 1].s;
		return;
	}
	if (strcmp(verb, "clone") != 0)
		return;
	for (size_t k = i + 1; k < ws->n; k++) {
		const char *s = ws->at[k].s;

		if ((!strcmp(s, "-b") || !strcmp(s, "--branch")) && k + 1 < ws->n)
			ref = ws->at[++k].s;
		else if (!strcmp(s, "--depth") || !strcmp(s, "-j") || !strcmp(s, "--jobs"))
			k++;
		else if (*s == '-')
			continue;
		else if (!url)
			url = s;
		else
			dir = s;
	}
	if (!url)
		return;
	dir = base_name(dir ? dir : url);
	n = strlen(dir);
	if (ends_with(dir, ".git"))
		dir = arena_copy(d->rd.a, dir, n - 4);
	list_push(d->rd.a, &d->clones, (struct clone){ dir, url, ref, place_of(d, &ws->at[i]) });
}

/* "python setup.py install" in a clone is pip's install of it without isolation. */
static void
run_setup(struct docker *d, const struct docker_command *c, size_t i)
{
	struct docker_command pip = { 0 };

	list_push(d->rd.a, &pip.words,
		  (struct docker_word){ "--no-build-isolation", c->words.at[i].from,
					c->words.at[i].n, false, false });
	list_push(d->rd.a, &pip.words,
		  (struct docker_word){ ".", c->words.at[i].from, c->words.at[i].n, false, false });
	list_push(d->rd.a, &pip.words,
		  (struct docker_word){ "--no-cache-dir", c->words.at[i].from, c->words.at[i].n,
					false, false });
	docker_pip(d, &pip, 1);
}

/* --- commands --- */

static bool
is_python(const char *s)
{
	return !strcmp(s, "python") ||
	       (starts_with(s, "python3") && strspn(s + 7, ".0123456789") == strlen(s + 7));
}

static bool
is_pip(const char *s)
{
	return starts_with(s, "pip") && strspn(s + 3, ".0123456789") == strlen(s + 3);
}

/* Words that stand before a command and change nothing of what it installs. */
static size_t
skip_prefix(struct docker *d, const struct docker_command *c)
{
	static const char *const prefixes[] = { "sudo", "time", "exec", "then", "do",     "else",
						"if",   "!",    "{",    "env",  "command" };
	size_t i = 0;

	for (; i < c->words.n; i++) {
		const char *s = c->words.at[i].s, *eq = strchr(s, '=');
		bool prefix = false;

		for (size_t k = 0; k < sizeof(prefixes) / sizeof(*prefixes); k++)
			prefix |= !strcmp(s, prefixes[k]);
		if (eq &&
		    strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789abcdefghijklmnopqrstuvwxyz") ==
			    (size_t)(eq - s)) {
			d->cache_off |= starts_with(s, "PIP_NO_CACHE_DIR=");
			continue;
		}
		if (!strcmp(s, "-E") || !strcmp(s, "-H") || prefix)
			continue;
		break;
	}
	return i;
}

/* The tools that bring packages in ways that are not looked into. */
static bool
is_other_tool(const char *s)
{
	static const char *const tools[] = { "conda", "mamba",  "micromamba", "poetry",
					     "pdm",   "pipenv", "pixi",       "easy_install",
					     "dnf",   "yum",    "apk" };

	for (size_t i = 0; i < sizeof(tools) / sizeof(*tools); i++)
		if (!strcmp(s, tools[i]))
			return true;
	return false;
}

static const char *
word(const struct docker_command *c, size_t i)
{
	return i < c->words.n ? c->words.at[i].s : "";
}

static void
not_understood(struct docker *d, const struct docker_command *c, size_t i)
{
	d->unseen = true;
	diag_help(diag_at(d->rd.ds, W_INIT_NOT_READ, place_of(d, &c->words.at[i]),
			  "what `%s` does is not understood", base_name(word(c, i))),
		  "write what it installs into `packages` or `apt`");
}

static void
run_uv(struct docker *d, const struct docker_command *c, size_t i)
{
	if (!strcmp(word(c, i + 1), "pip") && !strcmp(word(c, i + 2), "install"))
		docker_pip(d, c, i + 3);
	else if (!strcmp(word(c, i + 1), "sync") || !strcmp(word(c, i + 1), "add"))
		not_understood(d, c, i);
	for (size_t k = i + 1; k + 1 < c->words.n; k++)
		if (!strcmp(word(c, k), "--python") ||
		    (!strcmp(word(c, k - 1), "python") && !strcmp(word(c, k), "install")))
			if (starts_with(word(c, k + 1), "3."))
				d->rd.n->python = (struct text){ word(c, k + 1),
								 place_of(d, &c->words.at[k + 1]) };
}

static void
run_command(struct docker *d, const struct docker_command *c)
{
	size_t i = skip_prefix(d, c);
	const char *s = base_name(word(c, i));

	/* "conda run -n env pip install ..." is pip's. */
	if (is_other_tool(s) && !strcmp(word(c, i + 1), "run"))
		for (size_t k = i + 2; k < c->words.n; k++)
			if (is_pip(base_name(word(c, k))) || is_python(base_name(word(c, k)))) {
				i = k;
				s = base_name(word(c, k));
				break;
			}
	if (is_python(s) && !strcmp(word(c, i + 1), "-m")) {
		i += 2;
		s = word(c, i);
	}
	if (is_pip(s) && !strcmp(word(c, i + 1), "install"))
		docker_pip(d, c, i + 2);
	else if (!strcmp(s, "uv"))
		run_uv(d, c, i);
	else if (is_python(s) && !strcmp(word(c, i + 1), "setup.py"))
		run_setup(d, c, i);
	else if (!strcmp(s, "apt-get") || !strcmp(s, "apt") || !strcmp(s, "aptitude"))
		run_apt(d, c, i + 1);
	else if (!strcmp(s, "git"))
		run_git(d, c, i + 1);
	else if (!strcmp(s, "cd"))
		d->folder = word(c, i + 1);
	else if (is_other_tool(s) && strcmp(word(c, i + 1), "clean") != 0)
		not_understood(d, c, i);
	else if (!strcmp(s, "export"))
		d->cache_off |= strstr(d->in->text, "PIP_NO_CACHE_DIR=") != NULL;
}

/* ["pip", "install", "x"], of JSON's texts: in each the blanks of a shell's words are quoted. */
static const char *
exec_form(struct arena *a, const char *text)
{
	struct buf b = BUF(a);

	for (const char *p = text + 1; *p && *p != ']'; p++)
		buf_putc(&b, *p == ',' && (p[1] == ' ' || p[1] == '"') ? ' ' : *p);
	return buf_text(&b);
}

void
docker_run(struct docker *d, const struct instruction *in)
{
	const char *text = in->text;
	struct docker_commands all;
	size_t flags = 0;

	d->in = in;
	while (starts_with(text + flags, "--")) {
		flags += strcspn(text + flags, " \t");
		flags += strspn(text + flags, " \t");
	}
	d->cache_mount = strstr(text, "target=/root/.cache") != NULL;
	if (text[flags] == '[') {
		all = docker_commands(d->rd.a, exec_form(d->rd.a, text + flags), &d->vars);
	} else {
		char *blank = arena_strdup(d->rd.a, text);

		/* Blanks in place of flags: offsets stay those of the text. */
		memset(blank, ' ', flags);
		all = docker_commands(d->rd.a, blank, &d->vars);
	}
	for (size_t i = 0; i < all.n; i++)
		run_command(d, &all.at[i]);
}
