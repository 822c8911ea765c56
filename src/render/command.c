#include "command.h"

#include <string.h>

#include "base/str.h"

/* The place that `s` starts with, and how long its name is with the braces. */
static const char *
place_at(const struct places *p, const char *s, size_t *n)
{
	const struct {
		const char *name, *text;
	} all[] = {
		{ "{src}", p->src },       { "{wheels}", p->wheels }, { "{share}", p->share },
		{ "{python}", p->python }, { "{venv}", p->venv },     { "{prefix}", p->prefix },
		{ "{work}", p->work },     { "{app}", p->app },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (starts_with(s, all[i].name)) {
			if (!all[i].text)
				BUG("this target has no place %s", all[i].name);
			*n = strlen(all[i].name);
			return all[i].text;
		}
	}
	return NULL;
}

const char *
word_plain(struct arena *a, const struct word *w, const struct places *p)
{
	struct buf b = BUF(a);

	for (const char *s = w->s; *s;) {
		size_t n = 1;
		const char *place = w->verbatim ? NULL : place_at(p, s, &n);

		if (place)
			buf_puts(&b, place);
		else
			buf_putc(&b, *s);
		s += n;
	}
	return buf_text(&b);
}

/* What stands inside "..." for these bytes to arrive. */
static void
add_in_quotes(struct buf *out, const char *p, size_t n)
{
	for (; n--; p++) {
		if (strchr("\\\"$`", *p))
			buf_putc(out, '\\');
		buf_putc(out, *p);
	}
}

bool
word_text(struct diags *ds, const struct word *w, const struct layout *l, struct span at,
	  struct buf *out)
{
	struct buf plain = BUF(ds->arena), quoted = BUF(ds->arena);
	const char *why, *s = w->s;
	bool variable = false;

	while (*s) {
		size_t n = 1;
		const char *place = w->verbatim ? NULL : place_at(&l->places, s, &n);

		if (place && *place == '$') {
			variable = true;
			buf_printf(&quoted, "${%s}", place + 1);
		} else if (place) {
			add_in_quotes(&quoted, place, strlen(place));
			buf_puts(&plain, place);
		} else {
			add_in_quotes(&quoted, s, 1);
			buf_putc(&plain, *s);
		}
		s += n;
	}
	if (variable) {
		buf_printf(out, "\"%s\"", buf_text(&quoted));
		return true;
	}
	if (quote(out, QUOTE_SH, l->language, buf_text(&plain), &why))
		return true;
	diag_why(diag_at(ds, E_UNQUOTABLE, at, "`%s` cannot be an argument of a command",
			 buf_text(&plain)),
		 "%s", why);
	return false;
}

/* Columns that a text takes up: its code points. */
static size_t
columns(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += (*s & 0xc0) != 0x80;
	return n;
}

/* An option that may take the next word as its value stays on a line with it. */
static bool
holds_next(const char *word, const char *next)
{
	return word[0] == '-' && !strchr(word, '=') && next && next[0] != '-';
}

void
words_text(const struct names *words, const struct layout *l, struct buf *out)
{
	size_t at = l->column;

	for (size_t i = 0; i < words->n;) {
		size_t last = i, n = columns(words->at[i]);

		while (last + 1 < words->n && holds_next(words->at[last], words->at[last + 1]))
			n += 1 + columns(words->at[++last]);
		if (i && at + 1 + n + 2 > l->width) {
			buf_printf(out, " \\\n%*s", (int)l->indent, "");
			at = l->indent;
		} else if (i) {
			buf_putc(out, ' ');
			at++;
		}
		for (size_t k = i; k <= last; k++)
			buf_printf(out, "%s%s", k > i ? " " : "", words->at[k]);
		at += n;
		i = last + 1;
	}
}

static bool
settings_words(struct diags *ds, const struct command *c, const struct layout *l, const char *jobs,
	       struct span at, struct names *out)
{
	bool good = true, given = false;

	for (size_t i = 0; i < c->env.n; i++) {
		const struct variable *v = &c->env.at[i];
		struct word value = { v->value, v->verbatim };
		struct buf b = BUF(ds->arena);

		given = given || !strcmp(v->name, "MAX_JOBS");
		buf_printf(&b, "%s=", v->name);
		good = word_text(ds, &value, l, at, &b) && good;
		list_push(ds->arena, out, buf_text(&b));
	}
	if (c->jobs && !given)
		list_push(ds->arena, out, arena_printf(ds->arena, "MAX_JOBS=%s", jobs));
	return good;
}

bool
command_text(struct diags *ds, const struct command *c, const struct layout *l, const char *jobs,
	     struct span at, struct buf *out)
{
	struct names settings = { 0 }, argv = { 0 };
	struct layout rest = *l;
	bool good = settings_words(ds, c, l, jobs, at, &settings);

	for (size_t i = 0; i < c->argv.n; i++) {
		struct buf b = BUF(ds->arena);

		good = word_text(ds, &c->argv.at[i], l, at, &b) && good;
		list_push(ds->arena, &argv, buf_text(&b));
	}
	if (settings.n) {
		words_text(&settings, l, out);
		/* The program starts a line of its own, where the eye looks for it. */
		buf_printf(out, " \\\n%*s", (int)l->indent, "");
		rest.column = l->indent;
	}
	rest.indent += 4;
	words_text(&argv, &rest, out);
	return good;
}
