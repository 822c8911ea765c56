#include "load.h"

#include <stdarg.h>
#include <string.h>

struct complaint *
complain(struct load *l, enum code code, const char *help, const char *fmt, ...)
{
	struct complaint *c = arena_new_of(l->a, struct complaint);
	va_list ap;

	va_start(ap, fmt);
	*c = (struct complaint){ .code = code, .what = arena_vprintf(l->a, fmt, ap), .help = help };
	va_end(ap);
	return c;
}

struct complaint *
complain_try(struct load *l, struct complaint *c, grammar *g, const char *fix)
{
	if (g(l, fix))
		return c;
	c->fix = fix;
	c->help = arena_printf(l->a, "write %s", shown(l->a, fix));
	return c;
}

struct complaint *
complain_words(struct load *l, enum code code, const char *s, const char *what, struct names words)
{
	struct complaint *c = complain_that(l, code, s, what, NULL);

	c->fix = str_nearest(s, words.at, words.n);
	c->help = c->fix ? arena_printf(l->a, "did you mean `%s`?", c->fix) :
			   arena_printf(l->a, "use %s", names_words(l->a, &words, "or"));
	return c;
}

bool
grammar_holds(struct load *l, grammar *g, const char *path, struct text value)
{
	const struct complaint *c = g ? g(l, value.s) : NULL;
	struct diag *d;

	if (!c)
		return true;
	d = fault(l, c->code, c->length ? span_within(value, c->from, c->length) : value.at,
		  "`%s`: %s", path, c->what);
	if (c->fix)
		offer(l, d, value, c->fix, c->help);
	else if (c->help)
		diag_help(d, "%s", c->help);
	diag_source(d, c->source);
	return false;
}

bool
text_holds(struct load *l, grammar *g, const char *path, struct text value)
{
	size_t n = strlen(value.s), max = g == grammar_env_value ? VALUE_MAX : TEXT_MAX;

	if (n > max)
		return reject(l, E_TEXT, value.at, NULL,
			      "`%s`: a text of %zu bytes; the limit is %zu", path, n, max);
	for (const unsigned char *p = (const unsigned char *)value.s; *p; p++)
		if (*p < ' ' || *p >= 0x7f)
			return reject(l, E_TEXT, value.at, "write one line of printable ASCII",
				      "`%s`: %s in a value", path,
				      *p == '\n' ? "a line break" :
				      *p == '\t' ? "a tab" :
				      *p < 0x80  ? "a control character" :
						   "a character outside ASCII");
	return grammar_holds(l, g, path, value);
}

bool
text_has_no_blank_ends(struct load *l, const char *path, struct text t)
{
	size_t from = strspn(t.s, " "), to = strlen(t.s);
	const char *inner;

	while (to > from && t.s[to - 1] == ' ')
		to--;
	if (!from && !t.s[to])
		return true;
	/* The rendered text would differ from the recipe. */
	inner = arena_copy(l->a, t.s + from, to - from);
	offer(l, fault(l, E_TEXT, t.at, "`%s`: a blank before or after the text", path), t, inner,
	      arena_printf(l->a, "write `%s`", inner));
	return false;
}

/* --- names --- */

/* A valid name for a directory, an image and an app. */
#define NAME "^[A-Za-z0-9][A-Za-z0-9._-]*$"
#define NAME_HELP \
	"use up to 64 letters, digits, dots, dashes and underscores, starting with a letter or " \
	"digit"

PATTERN_GRAMMAR(stack, NAME, 64, E_NAME, "cannot name a stack", NAME_HELP)
PATTERN_GRAMMAR(variant, NAME, 64, E_NAME, "cannot name a variant", NAME_HELP)

/* POSIX, "Environment variable definition". */
PATTERN_GRAMMAR(env_name, "^[A-Za-z_][A-Za-z0-9_]*$", 255, E_NAME, "is not the name of a variable",
		"use letters, digits and underscores, not starting with a digit")

/* Accepts any text; text_holds has checked that it is printable ASCII. */
const struct complaint *
grammar_env_value(struct load *l, const char *s)
{
	(void)l;
	(void)s;
	return NULL;
}

/*
 * Accepts a Debian package, by Debian policy 5.6.1 and 5.6.12. A trailing dash would make apt-get
 * remove the package.
 */
const struct complaint *
grammar_apt(struct load *l, const char *s)
{
	const char *small = arena_lower(l->a, s);
	struct complaint *c;

	if (str_matches(s, "^[a-z0-9][a-z0-9+.-]*[a-z0-9+.](:[A-Za-z0-9][A-Za-z0-9-]*)?"
			   "(=[0-9][A-Za-z0-9.+~:-]*)?$"))
		return NULL;
	c = complain_that(l, E_NAME, s, "is not a Debian package",
			  "write a package name: lower-case letters, digits and `+.-`, optionally "
			  "followed by =VERSION");
	return strcmp(small, s) != 0 ? complain_try(l, c, grammar_apt, small) : c;
}

/* Accepts the portable form of a user's name, for useradd. */
const struct complaint *
grammar_user(struct load *l, const char *s)
{
	if (!strcmp(s, "root"))
		return complain(l, E_NAME, "name another user, or remove the key",
				"`root` is the default user of the stage");
	if (strlen(s) <= 32 && str_matches(s, "^[a-z_][a-z0-9_-]*$"))
		return NULL;
	return complain_that(l, E_NAME, s, "cannot name a user",
			     "use up to 32 lower-case letters, digits, dashes and underscores, "
			     "starting with a letter or underscore");
}

#define IDENTIFIER "[A-Za-z_][A-Za-z0-9_]*"

PATTERN_GRAMMAR(module, "^" IDENTIFIER "([.]" IDENTIFIER ")*$", TEXT_MAX, E_NAME,
		"is not a Python module", "write the name that follows `import`")

/* --- paths --- */

/* Accepts a relative path inside the directory, with characters that are special to no tool. */
const struct complaint *
grammar_path(struct load *l, const char *s)
{
	if (*s == '/')
		return complain_that(l, E_PATH, s, "is an absolute path",
				     "name it relative to the recipe's directory");
	if (!str_matches(s, "^[A-Za-z0-9._+@=,]([A-Za-z0-9._/+@=, -]*[A-Za-z0-9._/+@=,-])?$"))
		return complain_that(
			l, E_PATH, s, "is not a valid path to copy",
			"use letters, digits and `._/+@=,-`, not starting with a dash");
	if (str_matches(s, "(^|/)[.][.](/|$)"))
		return complain_that(l, E_PATH, s, "leaves the recipe's directory",
				     "move the file into the recipe's directory, or the recipe "
				     "into a directory that contains both");
	return NULL;
}

/* Also accepts a directory beside that of the recipe, "../csrc"; own_code_holds() checks its repository. */
const struct complaint *
grammar_own_path(struct load *l, const char *s)
{
	size_t n = own_code_outside(s) ? strspn(s, "./") : 0;

	return s[n] || !n ? grammar_path(l, s + n) : NULL;
}

const struct complaint *
grammar_probe(struct load *l, const char *s)
{
	if (!ends_with(s, ".py"))
		return complain_that(l, E_PATH, s, "is not a Python file",
				     "name a file that ends in .py");
	return grammar_path(l, s);
}

/* Accepts one word of a command; text_holds has rejected forbidden characters. */
const struct complaint *
grammar_argument(struct load *l, const char *s)
{
	return *s ? NULL : complain(l, E_EMPTY, "remove it", "an empty word in a command");
}

/* Accepts path ".py", path ".py::" identifier, and "-m" module. */
const struct complaint *
grammar_entrypoint(struct load *l, const char *s)
{
	const struct complaint *bad;
	const char *file;

	if (str_matches(s, "^-m " IDENTIFIER "([.]" IDENTIFIER ")*$"))
		return NULL;
	if (!strstr(s, "::") && ends_with(s, ".py"))
		return grammar_path(l, s);
	if (!str_matches(s, "[.]py::" IDENTIFIER "$"))
		return complain_that(l, E_NAME, s, "is not an entry point",
				     "write train.py, train.py::function or -m package.module");
	file = arena_copy(l->a, s, (size_t)(strstr(s, "::") - s));
	if ((bad = grammar_probe(l, file)))
		return bad;
	if (!str_matches(file, "(^|/)" IDENTIFIER "[.]py$"))
		return complain_that(
			l, E_NAME, strrchr(file, '/') ? strrchr(file, '/') + 1 : file,
			"is not a module that can be imported",
			"name the file with letters, digits and underscores, then .py");
	return NULL;
}
