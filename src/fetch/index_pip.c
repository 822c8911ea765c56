/*
 * Finds the index in pip's configuration. Later files override earlier ones:
 *
 *     $XDG_CONFIG_DIRS/pip/pip.conf, /etc/pip.conf           the machine
 *     ~/.pip/pip.conf, $XDG_CONFIG_HOME/pip/pip.conf         the user
 *     $VIRTUAL_ENV/pip.conf                                  the environment
 *     $PIP_CONFIG_FILE                                       /dev/null: no file at all
 *     $PIP_INDEX_URL
 *
 * A file is INI: [section], `key = value` or `key: value`, # and ; begin comments, and a line that
 * starts with a blank continues a value (a URL has one line).
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fs.h"
#include "base/str.h"
#include "index_internal.h"

enum { CONFIG_MAX = 1024 * 1024 };

static const char *
trimmed(struct arena *a, const char *s, size_t n)
{
	while (n && strchr(" \t\r", s[n - 1]))
		n--;
	while (n && strchr(" \t", *s)) {
		s++;
		n--;
	}
	return arena_copy(a, s, n);
}

/* Reads `index-url` on a line of a section that applies; the section of a command overrides
 * [global]. */
static void
read_line(struct arena *a, const char *line, size_t n, bool *counts, bool *own,
	  const char *found[2])
{
	const char *text = trimmed(a, line, n);
	size_t key = strcspn(text, "=:");

	if (*text == '[') {
		*own = !strcasecmp(text, "[install]");
		*counts = *own || !strcasecmp(text, "[global]");
	} else if (*counts && *text != '#' && *text != ';' && text[key] && *line != ' ' &&
		   *line != '\t') {
		const char *name = trimmed(a, text, key);

		if (!strcasecmp(name, "index-url") || !strcasecmp(name, "index_url"))
			found[*own] = trimmed(a, text + key + 1, strlen(text + key + 1));
	}
}

static void
read_config(struct arena *a, const char *path, const char *found[2])
{
	const struct source *s = path ? fs_read_quiet(a, path, CONFIG_MAX) : NULL;
	bool counts = false, own = false;

	for (const char *p = s ? s->text : "", *end = s ? p + s->size : p; p < end;) {
		const char *eol = memchr(p, '\n', (size_t)(end - p));
		size_t n = (size_t)((eol ? eol : end) - p);

		read_line(a, p, n, &counts, &own, found);
		p += n + 1;
	}
}

static const char *
below(struct arena *a, const char *dir, const char *name)
{
	return dir && *dir ? fs_join(a, dir, name) : NULL;
}

static void
read_files(struct arena *a, const char *found[2])
{
	const char *file = getenv("PIP_CONFIG_FILE"), *home = getenv("HOME");
	const char *dirs = getenv("XDG_CONFIG_DIRS"), *own = getenv("XDG_CONFIG_HOME");
	struct names machine = names_split(a, dirs && *dirs ? dirs : "/etc/xdg", ':');

	if (file && !strcmp(file, "/dev/null"))
		return;
	/* The first of these directories has the highest priority. */
	for (size_t i = machine.n; i--;)
		read_config(a, below(a, machine.at[i], "pip/pip.conf"), found);
	read_config(a, "/etc/pip.conf", found);
	if (!file || !fs_exists(file)) {
		read_config(a, below(a, home, ".pip/pip.conf"), found);
		read_config(a,
			    own && *own ? below(a, own, "pip/pip.conf") :
					  below(a, home, ".config/pip/pip.conf"),
			    found);
	}
	read_config(a, below(a, getenv("VIRTUAL_ENV"), "pip.conf"), found);
	read_config(a, file, found);
}

const char *
index_of_pip(struct arena *a)
{
	const char *env = getenv("PIP_INDEX_URL"), *found[2] = { NULL, NULL };

	if (env && *env)
		return arena_strdup(a, env);
	read_files(a, found);
	return found[1] ? found[1] : found[0];
}
