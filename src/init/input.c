#include <string.h>

#include "base/fs.h"
#include "reader.h"

/* Detects the kind of an input, and whether it is text. */

enum { LINE_MAX_BYTES = 64 * 1024 };

/* Replaces non-ASCII characters by `?`, which are allowed only in comments. */
static const struct source *
from_utf16(struct arena *a, const struct source *src, bool big)
{
	struct source *out = arena_new_of(a, struct source);
	char *text = arena_alloc(a, src->size, 1);

	*out = (struct source){ src->path, text, src->size / 2 - 1 };
	for (size_t i = 0; i < out->size; i++) {
		const unsigned char *unit = (const unsigned char *)src->text + 2 + 2 * i;

		text[i] = (char)(unit[!big] || unit[big] > 0x7F ? '?' : unit[big]);
	}
	return out;
}

static const struct source *
refuse(struct init *rd, const struct source *src, uint32_t line, const char *what)
{
	struct span at = { .src = src, .line = line, .col = line != 0 };

	diag_help(diag_at(rd->ds, E_INIT_INPUT, at, "%s", what),
		  "pass the output of `pip freeze`, a requirements file, pyproject.toml or a "
		  "Dockerfile");
	return NULL;
}

/* Rejects a file of another tool, by its name or its first line, with the command that converts it. */
static bool
is_foreign(struct init *rd, const struct source *src, const char *first)
{
	static const struct {
		const char *name, *line, *what, *convert;
	} all[] = {
		{ "^Pipfile([.]lock)?$", "", "files of Pipenv",
		  "`pipenv requirements | stackbuild init`" },
		{ "^pixi[.]lock$", "", "lock files of Pixi",
		  "`pixi workspace export conda-environment environment.yml`, then `stackbuild "
		  "init environment.yml`" },
		{ "conda-lock[.]ya?ml$", "", "files of conda-lock",
		  "`conda-lock render --kind env -p linux-64`, then `stackbuild init "
		  "conda-linux-64.lock.yml`" },
		{ "^setup[.]py$", "", "files of setuptools",
		  "`uv pip compile setup.py | stackbuild init`" },
		{ "^setup[.]cfg$", "", "files of setuptools",
		  "`uv pip compile setup.cfg | stackbuild init`" },
		{ "", "^@EXPLICIT$|^[[:alnum:]_.-]+=[^= ]+=[^= ]+$", "lists of conda's packages",
		  "`conda env export --no-builds > environment.yml`, then `stackbuild init "
		  "environment.yml`" },
	};
	const char *name = fs_name(src->path);

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (str_matches(name, all[i].name) && str_matches(first, all[i].line)) {
			diag_help(diag_at(rd->ds, E_INIT_INPUT, (struct span){ .src = src },
					  "init does not read %s", all[i].what),
				  "convert it: %s", all[i].convert);
			return true;
		}
	return false;
}

/* Returns the first line that is not a comment, trimmed, and its number; "": there is none. */
static const char *
first_line(struct init *rd, const struct source *src, uint32_t *at)
{
	const char *p = src->text + (starts_with(src->text, "\xef\xbb\xbf") ? 3 : 0);

	for (*at = 1; *p; ++*at) {
		size_t n = strcspn(p, "\n"), begin = strspn(p, " \t");
		const char *next = p + n + (p[n] == '\n');

		while (n > begin && strchr(" \t\r", p[n - 1]))
			n--;
		if (n > begin && p[begin] != '#')
			return arena_copy(rd->a, p + begin, n - begin);
		p = next;
	}
	return "";
}

const struct source *
init_text(struct init *rd, const struct source *src)
{
	/* Files of another kind, by their first line. */
	static const struct {
		const char *line, *what;
	} others[] = {
		{ "^[{].", "this is JSON" },
		{ "^Package .", "this is the output of `pip list`; use `pip freeze`" },
	};
	const char *p = src->text, *begin, *first;
	uint32_t line = 1;

	if (src->size >= 2 && (!memcmp(p, "\xff\xfe", 2) || !memcmp(p, "\xfe\xff", 2)))
		src = from_utf16(rd->a, src, *p == '\xfe');
	p = begin = src->text;
	for (; p < src->text + src->size; p++)
		if (*p == '\n') {
			line++;
			begin = p + 1;
		} else if (!*p) {
			return refuse(rd, src, line, "a NUL byte: this is not a text file");
		} else if (((unsigned char)*p < ' ' && !strchr("\t\r\f", *p)) || *p == 0x7f) {
			return refuse(rd, src, line,
				      "a control character: this is not a text file");
		} else if (p - begin > LINE_MAX_BYTES) {
			return refuse(rd, src, line, "a line longer than 64 KiB");
		}
	first = first_line(rd, src, &line);
	if (!*first)
		return refuse(rd, src, 0, "the file is empty, or has only comments");
	if (is_foreign(rd, src, first))
		return NULL;
	if (ends_with(src->path, ".py") && !init_imports_modal(src))
		return refuse(rd, src, 0,
			      "this is Python, but no Modal app: it does not import modal");
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (str_matches(first, others[i].line))
			return refuse(rd, src, line, others[i].what);
	return src;
}

const char *
init_first_line(struct init *rd, const struct source *src)
{
	uint32_t at;

	return first_line(rd, src, &at);
}

bool
init_imports_modal(const struct source *src)
{
	return str_matches(src->text + (starts_with(src->text, "\xef\xbb\xbf") ? 3 : 0),
			   "(?m)^[ \t]*(import modal([ \t\r.,;]|$)|from modal[ \t.].*import)");
}

bool
init_is_modal(const struct source *src)
{
	return ends_with(src->path, ".py") || (!strcmp(src->path, "-") && init_imports_modal(src));
}

const char *
init_modal_path(struct init *rd, const char *path, const char **function)
{
	const char *colons = strstr(path, ".py::");

	*function = colons ? colons + strlen(".py::") : NULL;
	return colons ? arena_copy(rd->a, path, (size_t)(colons - path) + 3) : path;
}

bool
init_is_dockerfile(struct init *rd, const struct source *src)
{
	const char *name = fs_name(src->path);

	if (init_is_modal(src))
		return false;
	return strcasestr(name, "dockerfile") || strcasestr(name, "containerfile") ||
	       str_matches(init_first_line(rd, src), "^([Ff][Rr][Oo][Mm]|[Aa][Rr][Gg])[ \t].");
}
