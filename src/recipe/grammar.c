#include "grammar.h"

#include <stdarg.h>
#include <string.h>

#include "base/str.h"

struct complaint *
complain(struct load *l, enum code code, const char *fmt, ...)
{
	struct complaint *c = arena_new_of(l->a, struct complaint);
	va_list ap;

	va_start(ap, fmt);
	*c = (struct complaint){ .code = code, .what = arena_vprintf(l->a, fmt, ap) };
	va_end(ap);
	return c;
}

struct complaint *
complain_help(struct complaint *c, const char *help)
{
	c->help = help;
	return c;
}

struct complaint *
complain_fix(struct complaint *c, const char *fix, const char *help)
{
	c->fix = fix;
	c->help = help;
	return c;
}

struct complaint *
complain_try(struct load *l, struct complaint *c, grammar *g, const char *fix)
{
	if (!g(l, fix))
		complain_fix(c, fix, arena_printf(l->a, "write %s", shown(l->a, fix)));
	return c;
}

const char *
lower_case(struct arena *a, const char *s)
{
	char *copy = arena_strdup(a, s);

	for (char *p = copy; *p; p++)
		*p = to_lower(*p);
	return copy;
}

struct complaint *
complain_words(struct load *l, struct complaint *c, const char *s, struct names words)
{
	c->fix = str_nearest(s, words.at, words.n);
	if (c->fix)
		c->help = arena_printf(l->a, "did you mean `%s`?", c->fix);
	else
		c->help = arena_printf(l->a, "use %s", names_words(l->a, &words, "or"));
	return c;
}

static void
report(struct load *l, const struct complaint *c, const char *path, struct text value)
{
	struct span at = c->length ? span_within(value, c->from, c->length) : value.at;
	struct diag *d = fault(l, c->code, at, "`%s`: %s", path, c->what);

	if (c->fix)
		offer(l, d, value, c->fix, c->help);
	else if (c->help)
		diag_help(d, "%s", c->help);
	if (c->source)
		diag_source(d, c->source);
}

bool
grammar_holds(struct load *l, grammar *g, const char *path, struct text value)
{
	const struct complaint *c = g ? g(l, value.s) : NULL;

	if (c)
		report(l, c, path, value);
	return !c;
}

static const char *
kind_of_character(unsigned char c)
{
	return c == '\n' ? "a line break" :
	       c == '\t' ? "a tab" :
	       c < 0x80  ? "a control character" :
			   "a character outside ASCII";
}

bool
text_holds(struct load *l, const char *path, struct text value, size_t max)
{
	size_t n = strlen(value.s);

	if (n > max) {
		fault(l, E_TEXT, value.at, "`%s`: a text of %zu bytes; at most %zu may stand here",
		      path, n, max);
		return false;
	}
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)value.s[i];

		if (c >= ' ' && c < 0x7f)
			continue;
		diag_help(fault(l, E_TEXT, value.at, "`%s`: %s in a value", path,
				kind_of_character(c)),
			  "write one line of printable ASCII");
		return false;
	}
	return true;
}

size_t
run_of(const char *s, const char *more)
{
	size_t n = 0;

	while (s[n] && (is_alnum(s[n]) || strchr(more, s[n])))
		n++;
	return n;
}

/* --- names --- */

/* [A-Za-z0-9][A-Za-z0-9._-]*, at most 64: a folder, an image and an app can be called so. */
static const struct complaint *
folder_name(struct load *l, const char *s, const char *what)
{
	size_t n = strlen(s);

	if (n && n <= 64 && is_alnum(*s) && run_of(s, "._-") == n)
		return NULL;
	return complain_help(complain(l, E_NAME, "%s cannot name a %s", shown(l->a, s), what),
			     "use up to 64 letters, digits, dots, dashes and underscores, starting "
			     "with a letter or digit");
}

const struct complaint *
grammar_stack(struct load *l, const char *s)
{
	return folder_name(l, s, "stack");
}

const struct complaint *
grammar_variant(struct load *l, const char *s)
{
	return folder_name(l, s, "variant");
}

static bool
is_identifier(const char *s, size_t n)
{
	if (!n || is_digit(*s))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!is_alnum(s[i]) && s[i] != '_')
			return false;
	return true;
}

/* POSIX, "Environment variable definition": letters, digits, underscores, no digit first. */
const struct complaint *
grammar_env_name(struct load *l, const char *s)
{
	size_t n = strlen(s);

	if (n <= 255 && is_identifier(s, n))
		return NULL;
	return complain_help(
		complain(l, E_NAME, "%s is not the name of a variable", shown(l->a, s)),
		"use letters, digits and underscores, not starting with a digit");
}

/* Any printable ASCII: text_holds has seen to that. */
const struct complaint *
grammar_env_value(struct load *l, const char *s)
{
	(void)l;
	(void)s;
	return NULL;
}

/*
 * Debian policy 5.6.1 and 5.6.12, as apt-get reads them:
 *
 *     [a-z0-9][a-z0-9+.-]+ [":" arch] ["=" [0-9][A-Za-z0-9.+~:-]*]
 *
 * A trailing dash would make apt-get remove the package instead.
 */
const struct complaint *
grammar_apt(struct load *l, const char *s)
{
	struct complaint *c;
	size_t name = 0;
	const char *p;

	while (s[name] &&
	       (is_digit(s[name]) || (s[name] >= 'a' && s[name] <= 'z') || strchr("+.-", s[name])))
		name++;
	p = s + name;
	if (name < 2 || !is_alnum(*s) || p[-1] == '-')
		goto bad;
	if (*p == ':') {
		size_t n = run_of(p + 1, "-");

		if (!n || p[1] == '-')
			goto bad;
		p += 1 + n;
	}
	if (*p == '=') {
		if (!is_digit(p[1]))
			goto bad;
		p += 1 + run_of(p + 1, ".+~:-");
	}
	if (!*p)
		return NULL;
bad:
	c = complain_help(complain(l, E_NAME, "%s is not a Debian package", shown(l->a, s)),
			  "write a name as `apt-get install` takes it: lower-case letters, digits "
			  "and `+.-`, then =VERSION if one is wanted");
	/* Written without capitals it is asked once more, and no more. */
	p = lower_case(l->a, s);
	return strcmp(p, s) != 0 ? complain_try(l, c, grammar_apt, p) : c;
}

/* The portable form that useradd takes: [a-z_][a-z0-9_-]{0,31}. */
const struct complaint *
grammar_user(struct load *l, const char *s)
{
	size_t n = strlen(s);

	if (!strcmp(s, "root"))
		return complain_help(
			complain(l, E_NAME, "`root` is who the stage belongs to anyway"),
			"name another user, or remove the key");
	if (n && n <= 32 && ((*s >= 'a' && *s <= 'z') || *s == '_')) {
		size_t i = 1;

		while (s[i] &&
		       ((s[i] >= 'a' && s[i] <= 'z') || is_digit(s[i]) || strchr("_-", s[i])))
			i++;
		if (i == n)
			return NULL;
	}
	return complain_help(complain(l, E_NAME, "%s cannot name a user", shown(l->a, s)),
			     "use up to 32 lower-case letters, digits, dashes and underscores, "
			     "starting with a letter or underscore");
}

/* identifier *( "." identifier ) */
const struct complaint *
grammar_module(struct load *l, const char *s)
{
	const char *p = s;

	for (;;) {
		size_t n = strcspn(p, ".");

		if (!is_identifier(p, n))
			return complain_help(
				complain(l, E_NAME, "%s is not a Python module", shown(l->a, s)),
				"write its name as after `import`");
		if (!p[n])
			return NULL;
		p += n + 1;
	}
}

/* --- paths --- */

/* Relative, inside the folder, of characters that no tool reads as anything else. */
const struct complaint *
grammar_path(struct load *l, const char *s)
{
	if (*s == '/')
		return complain_help(complain(l, E_PATH, "%s is an absolute path", shown(l->a, s)),
				     "name it relative to the recipe's folder");
	if (!*s || *s == '-' || *s == ' ' || s[strlen(s) - 1] == ' ' ||
	    run_of(s, "._/+@=, -") != strlen(s))
		return complain_help(
			complain(l, E_PATH, "%s is not a path that can be copied", shown(l->a, s)),
			"use letters, digits and `._/+@=,-`, not starting with a dash");
	for (const char *p = s; p; p = strchr(p, '/') ? strchr(p, '/') + 1 : NULL)
		if (starts_with(p, "..") && (!p[2] || p[2] == '/'))
			return complain_help(complain(l, E_PATH, "%s leaves the recipe's folder",
						      shown(l->a, s)),
					     "copy the file to below the recipe's folder");
	return NULL;
}

const struct complaint *
grammar_probe(struct load *l, const char *s)
{
	if (!ends_with(s, ".py"))
		return complain_help(complain(l, E_PATH, "%s is not a Python file", shown(l->a, s)),
				     "name a file that ends in .py");
	return grammar_path(l, s);
}

/* One word of a command: text_holds has refused what no word may hold. */
const struct complaint *
grammar_argument(struct load *l, const char *s)
{
	return *s ? NULL :
		    complain_help(complain(l, E_EMPTY, "an empty word in a command"), "remove it");
}

/* path ".py::" identifier; further dots in the file's name stop Modal from importing it. */
const struct complaint *
grammar_entrypoint(struct load *l, const char *s)
{
	const char *sep = strstr(s, "::");
	const char *help = "write file.py::function";

	if (!sep || !is_identifier(sep + 2, strlen(sep + 2)))
		return complain_help(
			complain(l, E_NAME, "%s does not name a function", shown(l->a, s)), help);
	const char *file = arena_copy(l->a, s, (size_t)(sep - s));
	const char *base = strrchr(file, '/') ? strrchr(file, '/') + 1 : file;
	const struct complaint *bad = grammar_probe(l, file);

	if (bad)
		return bad;
	if (!is_identifier(base, strlen(base) - 3))
		return complain_help(
			complain(l, E_NAME, "%s is not a module that can be imported",
				 shown(l->a, base)),
			"name the file with letters, digits and underscores, then .py");
	return NULL;
}
