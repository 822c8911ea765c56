#include <string.h>

#include "base/str.h"
#include "target.h"

/* --- words --- */

/* Returns the place at the start of `s`, and the length of its name with the braces. */
static const char *
place_at(const struct places *p, const char *s, size_t *n)
{
	const struct {
		const char *name, *text;
	} all[] = {
		{ "{src}", p->src },       { "{wheels}", p->wheels }, { "{share}", p->share },
		{ "{python}", p->python }, { "{venv}", p->venv },     { "{prefix}", p->prefix },
		{ "{work}", p->work },     { "{app}", p->app },       { "{secrets}", p->secrets },
		{ "{inputs}", p->inputs },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (starts_with(s, all[i].name)) {
			if (!all[i].text)
				BUG("this target has no path %s", all[i].name);
			*n = strlen(all[i].name);
			return all[i].text;
		}
	}
	return NULL;
}

/* Writes bytes for use inside "...". */
static void
add_in_quotes(struct buf *out, const char *p, size_t n)
{
	for (; n--; p++) {
		if (*p == '\\' || *p == '"' || *p == '$' || *p == '`')
			buf_putc(out, '\\');
		buf_putc(out, *p);
	}
}

/* Adds a word with its places, in "..." if necessary. Returns whether a place was a variable. */
static bool
fill(struct buf *out, const struct places *p, const char *s, bool in_quotes)
{
	bool variable = false;

	for (size_t n; *s; s += n) {
		const char *place = *s == '{' ? place_at(p, s, &n) : NULL, *text = place;

		n = place ? n : 1;
		if (place && *place == '$' && in_quotes) {
			size_t name = strspn(place + 1, "abcdefghijklmnopqrstuvwxyz_");
			bool ends = !is_alnum(s[n]) && s[n] != '_' && s[n] != '[';

			variable = true;
			text += 1 + name;
			buf_printf(out, *text || ends ? "$%.*s" : "${%.*s}", (int)name, place + 1);
		}
		if (in_quotes)
			add_in_quotes(out, place ? text : s, place ? strlen(text) : 1);
		else
			buf_add(out, place ? place : s, place ? strlen(place) : 1);
	}
	return variable;
}

const char *
shell_plain(struct arena *a, const struct places *p, const char *s)
{
	struct buf b = BUF(a);

	if (!strchr(s, '{'))
		return s;
	fill(&b, p, s, false);
	return buf_text(&b);
}

const char *
shell_quoted(const struct shell *sh, struct arena *a, const char *s, bool verbatim)
{
	struct buf b = BUF(a);
	const char *why;

	if (!verbatim && strchr(s, '{')) {
		if (fill(&b, &sh->places, s, true))
			return arena_printf(a, "\"%s\"", buf_text(&b));
		s = shell_plain(a, &sh->places, s);
		b.n = 0;
	}
	if (!quote(&b, QUOTE_SH, sh->language, s, &why))
		diag_why(diag_at(sh->ds, E_UNQUOTABLE, sh->at,
				 "`%s` cannot be an argument of a command", s),
			 "%s", why);
	return buf_text(&b);
}

static void
add_words(struct arena *a, const struct shell *sh, const struct words *words, struct names *out)
{
	for (size_t i = 0; i < words->n; i++)
		list_push(a, out, shell_quoted(sh, a, words->at[i].s, words->at[i].verbatim));
}

/* --- lines --- */

/* Returns true for an option whose value is the next word, on the same line. */
static bool
holds_next(const char *word, const char *next)
{
	return word[0] == '-' && next[0] != '-' && !strchr(word, '=') &&
	       !starts_with(word, "--no-") && strcmp(word, "-y") && strcmp(word, "--quiet");
}

/* Returns the words; an option and its value are one. */
static struct names
groups(struct arena *a, const struct names *words)
{
	struct names all = { 0 };

	for (size_t i = 0; i < words->n; i++)
		if (i && holds_next(words->at[i - 1], words->at[i]))
			all.at[all.n - 1] =
				arena_printf(a, "%s %s", all.at[all.n - 1], words->at[i]);
		else
			list_push(a, &all, words->at[i]);
	return all;
}

void
shell_words(const struct shell *sh, const struct names *words, bool filled, struct buf *out)
{
	struct names all = groups(out->a, words);
	size_t at = sh->column, total = sh->column, operands = all.n, tail = 0;
	bool list = false;

	for (size_t i = 0; i < all.n; i++)
		total += text_columns(all.at[i], strlen(all.at[i])) + (i > 0);
	/*
	 * Starts a new line for the last operands of a long command; if they do not fit, each one
	 * gets its own line, so that a change of one changes no other line.
	 */
	while (operands > 0 && all.at[operands - 1][0] != '-') {
		operands--;
		tail += text_columns(all.at[operands], strlen(all.at[operands])) + 1;
		list |= !filled && sh->indent + tail > sh->width;
	}
	for (size_t i = 0; i < all.n; i++) {
		size_t width = text_columns(all.at[i], strlen(all.at[i]));
		bool fits = !sh->width || total + 2 <= sh->width ||
			    (at + 1 + width + 2 <= sh->width && (i != operands || !i) &&
			     (i < operands || !list));

		if (i && !fits) {
			buf_printf(out, " \\\n%*s", (int)sh->indent, "");
			at = sh->indent;
		} else if (i) {
			buf_putc(out, ' ');
			at++;
		}
		buf_puts(out, all.at[i]);
		at += width;
	}
}

void
shell_file(const struct shell *sh, const struct operation *op, struct buf *out)
{
	const char *path = shell_quoted(sh, out->a, op->file.path, false);
	struct names words = { 0 };

	list_push(out->a, &words, "printf '%s\\n'");
	for (const char *line = op->file.text; *line; line = strchr(line, '\n') + 1)
		list_push(out->a, &words,
			  shell_quoted(sh, out->a, arena_copy(out->a, line, strcspn(line, "\n")),
				       true));
	list_push(out->a, &words, arena_printf(out->a, "> %s", path));
	/* A constraints file has one line for each package: a page must not consist of them. */
	shell_words(sh, &words, true, out);
}

void
shell_command(const struct shell *sh, const struct command *c, struct buf *out)
{
	struct names parts[3] = { 0 }; /* settings, launcher, program */
	struct shell rest = *sh;

	list_each (x, &c->env)
		list_push(out->a, &parts[0],
			  arena_printf(out->a, "%s=%s", x->name,
				       shell_quoted(sh, out->a, x->value, x->verbatim)));
	if (c->input)
		buf_printf(out, "echo %s | ", shell_quoted(sh, out->a, c->input, false));
	add_words(out->a, sh, &c->launcher, &parts[1]);
	add_words(out->a, sh, &c->argv, &parts[2]);
	if (!parts[0].n)
		rest.indent = sh->column + 4;
	for (size_t i = 0; i < 3; i++) {
		shell_words(&rest, &parts[i], i == 0, out);
		if (i == 2 || !parts[i].n)
			continue;
		/* The program starts a new line, which makes it easy to find. */
		if (sh->width)
			buf_printf(out, " \\\n%*s", (int)sh->indent, "");
		else
			buf_putc(out, ' ');
		rest.column = sh->indent;
		rest.indent = sh->indent + 4;
	}
}

const char *
render_commands(struct arena *a, struct diags *ds, const struct operation *op)
{
	const struct shell sh = { .ds = ds, .language = LANG_SH };
	const struct commands all = operation_commands(a, op);
	struct buf b = BUF(a);

	for (size_t i = 0; i < all.n; i++) {
		shell_command(&sh, &all.at[i], &b);
		buf_putc(&b, '\n');
	}
	return buf_text(&b);
}
