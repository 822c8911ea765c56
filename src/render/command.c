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
		{ "{work}", p->work },     { "{app}", p->app },       { "{secrets}", p->secrets },
		{ "{inputs}", p->inputs },
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

static bool
has_places(const struct word *w)
{
	return !w->verbatim && strchr(w->s, '{');
}

const char *
word_plain(struct arena *a, const struct word *w, const struct places *p)
{
	struct buf b = BUF(a);

	if (!has_places(w))
		return w->s;
	for (const char *s = w->s; *s;) {
		size_t n = 1;
		const char *place = *s != '{' ? NULL : place_at(p, s, &n);

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
		if (*p == '\\' || *p == '"' || *p == '$' || *p == '`')
			buf_putc(out, '\\');
		buf_putc(out, *p);
	}
}

/* Returns the word in "..." if one of its places is a shell variable, else NULL. */
static const char *
with_variables(struct arena *a, const struct word *w, const struct places *p)
{
	struct buf quoted = BUF(a);
	bool variable = false;

	for (const char *s = has_places(w) ? w->s : ""; *s;) {
		size_t n = 1;
		const char *place = *s != '{' ? NULL : place_at(p, s, &n);

		if (place && *place == '$') {
			size_t name = strspn(place + 1, "abcdefghijklmnopqrstuvwxyz_");
			bool ends = !is_alnum(s[n]) && s[n] != '_' && s[n] != '[';

			variable = true;
			buf_printf(&quoted, place[1 + name] || ends ? "$%.*s" : "${%.*s}",
				   (int)name, place + 1);
			add_in_quotes(&quoted, place + 1 + name, strlen(place + 1 + name));
		} else if (place) {
			add_in_quotes(&quoted, place, strlen(place));
		} else {
			add_in_quotes(&quoted, s, 1);
		}
		s += n;
	}
	return variable ? arena_printf(a, "\"%s\"", buf_text(&quoted)) : NULL;
}

bool
word_text(struct diags *ds, const struct word *w, const struct layout *l, struct span at,
	  struct buf *out)
{
	const char *quoted = with_variables(out->a, w, &l->places), *plain, *why;

	if (quoted) {
		buf_puts(out, quoted);
		return true;
	}
	plain = word_plain(out->a, w, &l->places);
	if (quote(out, QUOTE_SH, l->language, plain, &why))
		return true;
	diag_why(diag_at(ds, E_UNQUOTABLE, at, "`%s` cannot be an argument of a command", plain),
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
	return word[0] == '-' && next && next[0] != '-' && !strchr(word, '=') &&
	       !starts_with(word, "--no-") && strcmp(word, "-y") && strcmp(word, "--quiet");
}

/* Words that stay together, and where they are among all of them. */
struct group {
	size_t first, n, width;
	bool option;
};
struct groups LIST(struct group);

static struct groups
group(struct arena *a, const struct names *words)
{
	struct groups all = { 0 };

	for (size_t i = 0; i < words->n;) {
		struct group g = { .first = i, .option = words->at[i][0] == '-' };

		do
			g.width += columns(words->at[i]) + (g.n++ > 0);
		while (++i < words->n && holds_next(words->at[i - 1], words->at[i]));
		list_push(a, &all, g);
	}
	return all;
}

/* filled: all words share lines; else the last operands of a long command have one each. */
static void
lay_out(const struct names *words, const struct layout *l, bool filled, struct buf *out)
{
	struct groups all = group(out->a, words);
	size_t at = l->column, total = l->column, operands = all.n, tail = 0;
	bool list = false;

	for (size_t i = 0; i < all.n; i++)
		total += all.at[i].width + (i > 0);
	/*
	 * What a long command is about, its last operands, starts a line of its own; if they do
	 * not fit on it, each has one: then an edit of one changes no other line.
	 */
	while (operands > 0 && !all.at[operands - 1].option) {
		tail += all.at[--operands].width + 1;
		list |= !filled && l->indent + tail > l->width;
	}
	for (size_t i = 0; i < all.n; i++) {
		const struct group *g = &all.at[i];
		bool fits =
			total + 2 <= l->width || (at + 1 + g->width + 2 <= l->width &&
						  (i != operands || !i) && (i < operands || !list));

		if (i && !fits) {
			buf_printf(out, " \\\n%*s", (int)l->indent, "");
			at = l->indent;
		} else if (i) {
			buf_putc(out, ' ');
			at++;
		}
		for (size_t k = 0; k < g->n; k++) {
			buf_puts(out, k ? " " : "");
			buf_puts(out, words->at[g->first + k]);
		}
		at += g->width;
	}
}

void
words_text(const struct names *words, const struct layout *l, struct buf *out)
{
	lay_out(words, l, false, out);
}

bool
file_text(struct diags *ds, const struct operation *op, const struct layout *l, struct span at,
	  struct buf *out)
{
	struct names words = { 0 };
	struct buf path = BUF(out->a);
	bool good = word_text(ds, &(struct word){ .s = op->file.path }, l, at, &path);

	list_push(out->a, &words, "printf '%s\\n'");
	for (const char *line = op->file.text; *line; line = strchr(line, '\n') + 1) {
		struct word text = { arena_copy(out->a, line, strcspn(line, "\n")), true };
		struct buf b = BUF(out->a);

		good = word_text(ds, &text, l, at, &b) && good;
		list_push(out->a, &words, buf_text(&b));
	}
	list_push(out->a, &words, arena_printf(out->a, "> %s", buf_text(&path)));
	words_text(&words, l, out);
	return good;
}

static bool
settings_words(struct arena *a, struct diags *ds, const struct command *c, const struct layout *l,
	       struct span at, struct names *out)
{
	bool good = true;

	for (size_t i = 0; i < c->env.n; i++) {
		const struct variable *v = &c->env.at[i];
		struct word value = { v->value, v->verbatim };
		struct buf b = BUF(a);

		buf_printf(&b, "%s=", v->name);
		good = word_text(ds, &value, l, at, &b) && good;
		list_push(a, out, buf_text(&b));
	}
	return good;
}

static bool
quoted(struct diags *ds, const struct words *words, const struct layout *l, struct span at,
       struct names *out, struct arena *a)
{
	bool good = true;

	for (size_t i = 0; i < words->n; i++) {
		struct buf b = BUF(a);

		good = word_text(ds, &words->at[i], l, at, &b) && good;
		list_push(a, out, buf_text(&b));
	}
	return good;
}

bool
command_text(struct diags *ds, const struct command *c, const struct layout *l, struct span at,
	     struct buf *out)
{
	struct names settings = { 0 }, launcher = { 0 }, argv = { 0 };
	struct layout rest = *l;
	bool good = settings_words(out->a, ds, c, l, at, &settings);

	if (c->input) {
		buf_puts(out, "echo ");
		good = word_text(ds, &(struct word){ .s = c->input }, l, at, out) && good;
		buf_puts(out, " | ");
	}
	good = quoted(ds, &c->launcher, l, at, &launcher, out->a) && good;
	good = quoted(ds, &c->argv, l, at, &argv, out->a) && good;
	if (settings.n) {
		lay_out(&settings, &rest, true, out);
		/* The program starts a line of its own, where the eye looks for it. */
		buf_printf(out, " \\\n%*s", (int)l->indent, "");
		rest.column = l->indent;
		rest.indent = l->indent + 4;
	}
	if (!settings.n)
		rest.indent = l->column + 4;
	if (launcher.n) {
		words_text(&launcher, &rest, out);
		buf_printf(out, " \\\n%*s", (int)l->indent, "");
		rest.column = l->indent;
		rest.indent = l->indent + 4;
	}
	words_text(&argv, &rest, out);
	return good;
}

/* "compiled for 8.0, 9.0 only: nvcc-arch drops the other 5 of its setup.py" */
static const char *
cut_down(struct arena *a, const struct stack *s, const struct extension_release *r)
{
	struct buf b = BUF(a);
	size_t dropped = r->archs.n;

	buf_puts(&b, "compiled for ");
	for (size_t i = 0; i < s->archs.n; i++) {
		buf_printf(&b, "%s%s", i ? ", " : "", s->archs.at[i].value);
		dropped -= names_have(&r->archs, s->archs.at[i].value);
	}
	buf_printf(&b, " only: nvcc-arch drops the %s%zu that its setup.py lists",
		   dropped < r->archs.n ? "other " : "", dropped);
	return dropped ? buf_text(&b) : NULL;
}

const char *
own_gpus(struct arena *a, const struct stack *s, const struct stack_extension *e)
{
	const struct extension_release *r = e->release;
	struct buf b = BUF(a);

	if (e->source == SOURCE_WHEEL || !r || !r->archs.n || r->arch_env ||
	    r->honours_arch_list != TRI_NO)
		return NULL;
	if (e->nvcc_env)
		return cut_down(a, s, r);
	buf_puts(&b, "compiles for ");
	for (size_t i = 0; i < r->archs.n; i++)
		buf_printf(&b, "%s%s", i ? ", " : "", r->archs.at[i]);
	buf_puts(&b, ": its setup.py has that list, and does not look at TORCH_CUDA_ARCH_LIST");
	return buf_text(&b);
}
