#include <stdarg.h>
#include <string.h>

#include "base/buf.h"
#include "base/edit.h"
#include "reader.h"

/*
 * Writes the recipe's text: the taken items, in the order of this table.  The screen:
 *
 *     # Created by stackbuild init from requirements.txt; a comment explains each choice.
 *     base: nvidia/cuda:12.1.1-devel-ubuntu22.04   # nvcc 12.1.1 in a devel image
 *     packages:
 *       - numpy<2                                  # torch 2.2.2 was built against numpy 1
 *
 *     # Left out:
 *     #   nvidia-cublas-cu12==12.1.3.1: torch installs it ...
 */
static const struct init_key rows[] = {
	/* key, form, needed, gap, comment */
	{ "stack", KEY_VALUE, true, false, NULL },
	{ "base", KEY_VALUE, true, false, NULL },
	{ "cuda", KEY_VALUE, true, false, NULL },
	{ "python", KEY_VALUE, true, false, NULL },
	{ "gpus", KEY_LINES, true, false, "the kernels are compiled for these" },
	{ "apt", KEY_LINES, false, false, NULL },
	{ "index", KEY_VALUE, true, false, NULL },
	{ "user", KEY_VALUE, false, false, NULL },
	{ "torch.from", KEY_VALUE, true, false, NULL },
	{ "torch.version", KEY_VALUE, true, false, NULL },
	{ "torch.index", KEY_VALUE, true, false, NULL },
	{ "torch.with", KEY_LINES, false, false, NULL },
	{ "packages", KEY_LINES, false, true, NULL },
	{ "extensions", KEY_LINES, false, true,
	  "compiled last, in this order, against the torch above" },
	{ "env", KEY_SETTINGS, false, true, NULL },
	{ "runtime.base", KEY_VALUE, false, false, NULL },
	{ "runtime.apt", KEY_LINES, false, false, NULL },
	{ "app.copy", KEY_LINES, false, false, NULL },
	{ "app.requirements", KEY_VALUE, false, false, NULL },
	{ "app.entrypoint", KEY_LINES, false, false, NULL },
	{ "app.command", KEY_LINES, false, false, NULL },
	{ "modal.app", KEY_VALUE, false, false, NULL },
	{ "modal.gpu", KEY_ONE, false, false, NULL },
	{ "modal.cpu", KEY_VALUE, false, false, NULL },
	{ "modal.memory_mib", KEY_VALUE, false, false, NULL },
	{ "modal.timeout_s", KEY_VALUE, false, false, NULL },
	{ "modal.scaledown_window_s", KEY_VALUE, false, false, NULL },
	{ "modal.volumes", KEY_SETTINGS, false, false, NULL },
	{ "modal.secrets", KEY_LINES, false, false, NULL },
	{ "modal.builder", KEY_VALUE, false, false, NULL },
};

const struct init_key *
init_key(const char *key)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (!strcmp(rows[i].key, key))
			return &rows[i];
	BUG("init: no key `%s`", key);
}

enum { COMMENT_COLUMN = 36, COLUMNS = 100 };

struct writer {
	struct init *rd;
	struct buf b;
	uint32_t line;
	const char *parent; /* "torch" while its keys are written */
};

/* Returns a user's text in a comment: one line of printable ASCII. */
static const char *
plain(struct writer *w, const char *s)
{
	char *copy = arena_strdup(w->rd->a, s);

	for (char *p = copy; *p; p++)
		*p = *p >= ' ' && *p < 0x7F ? *p : '?';
	return copy;
}

/* Writes a line. Its comment is on the same line if it fits, otherwise above it. */
__attribute__((format(printf, 3, 4))) static void
put(struct writer *w, const char *comment, const char *fmt, ...)
{
	const char *text;
	va_list ap;
	size_t n;

	va_start(ap, fmt);
	text = arena_vprintf(w->rd->a, fmt, ap);
	va_end(ap);
	n = strlen(text) + 2 < COMMENT_COLUMN ? COMMENT_COLUMN : strlen(text) + 2;
	if (comment && n + 2 + strlen(comment) > COLUMNS) {
		buf_printf(&w->b, "%*s# %s\n", (int)strspn(text, " "), "", plain(w, comment));
		w->line++;
		comment = NULL;
	}
	if (comment)
		buf_printf(&w->b, "%-*s# %s\n", (int)n, text, plain(w, comment));
	else
		buf_printf(&w->b, "%s\n", text);
	w->line++;
}

/* Writes "app:" before the first of its keys. */
static void
put_parent(struct writer *w, const char *key)
{
	size_t n = strcspn(key, ".");
	const char *before = w->parent;

	w->parent = key[n] ? arena_copy(w->rd->a, key, n) : NULL;
	if (!w->parent || (before && !strcmp(w->parent, before)))
		return;
	put(w, NULL, "%s", "");
	if (strcmp(w->parent, "app") != 0) {
		put(w, NULL, "%s:", w->parent);
		return;
	}
	put(w, "changes most often, so it is installed last, under the stack's constraints",
	    "app:");
}

/* Quotes a text that a reader could misread, such as 3.10 as 3.1. */
static const char *
scalar(struct writer *w, const char *s)
{
	return edit_scalar(w->rd->a, (struct span){ 0 }, s);
}

/* Returns a value in double quotes, for a map on one line. */
static const char *
in_quotes(struct arena *a, const char *s)
{
	struct buf b = BUF(a);

	for (; *s; s++) {
		if (strchr("\"\\", *s))
			buf_putc(&b, '\\');
		buf_putc(&b, *s);
	}
	return arena_printf(a, "\"%s\"", buf_text(&b));
}

/* Returns an extension with variables or a source as a map on one line: diagnostics find an item by its line. */
static const char *
with_env(struct writer *w, const struct init_item *item)
{
	struct arena *a = w->rd->a;
	const char *at = strstr(item->value, " @ "), *url = at ? at + 3 : "", *out, *ref, *in;

	out = arena_printf(a, "{name: %s", arena_copy(a, item->value, strcspn(item->value, " ")));
	if (starts_with(url, "git+")) {
		url += strlen("git+");
		in = strstr(url, "#subdirectory=");
		ref = strstr(url, "://") ? strchr(strstr(url, "://") + 3, '/') : NULL;
		ref = ref ? strrchr(arena_copy(a, ref, strcspn(ref, "#")), '@') : NULL;
		out = arena_printf(
			a, "%s, git: %s", out,
			in_quotes(a,
				  arena_copy(a, url, strcspn(url, "#") - (ref ? strlen(ref) : 0))));
		if (ref)
			out = arena_printf(a, "%s, ref: %s", out, in_quotes(a, ref + 1));
		if (in)
			out = arena_printf(a, "%s, subdirectory: %s", out,
					   in_quotes(a, in + strlen("#subdirectory=")));
	} else if (*url) {
		out = arena_printf(a, "%s, url: %s", out, in_quotes(a, url));
	} else if (*item->spec) {
		out = arena_printf(
			a, "%s, version: %s", out,
			in_quotes(a, item->spec + (starts_with(item->spec, "==") ? 2 : 0)));
	}
	if (item->release)
		out = arena_printf(a, "%s, from: release", out);
	for (size_t i = 0; i < item->env.n; i++) {
		const char *e = item->env.at[i], *is = strchr(e, '=');

		out = arena_printf(a, "%s%s%s: %s", out, i ? ", " : ", env: {",
				   arena_copy(a, e, (size_t)(is - e)), in_quotes(a, is + 1));
	}
	return arena_printf(a, "%s%s}", out, item->env.n ? "}" : "");
}

static void
put_row(struct writer *w, const struct init_key *row)
{
	const char *name = strchr(row->key, '.') ? strchr(row->key, '.') + 1 : row->key, *in;
	bool any = false, lines = row->form == KEY_LINES;
	size_t count = 0;

	for (size_t i = 0; i < w->rd->items.n; i++)
		count += item_has(w->rd->items.at[i], row->key);
	lines |= row->form == KEY_ONE && count > 1;
	for (size_t i = 0; i < w->rd->items.n; i++) {
		struct init_item *item = w->rd->items.at[i];
		const char *value = item->value;

		if (!item_has(item, row->key))
			continue;
		if (!any && row->gap)
			put(w, NULL, "%s", "");
		if (!any)
			put_parent(w, row->key);
		in = w->parent ? "  " : "";
		if (!any && (lines || row->form == KEY_SETTINGS))
			put(w, row->comment, "%s%s:", in, name);
		any = true;
		if (!strcmp(row->key, "extensions") && !strstr(value, " @ "))
			value = arena_printf(w->rd->a, "%s%s", value, item->spec);
		if (!strcmp(row->key, "extensions") && (item->env.n || item->release))
			put(w, item->comment, "%s  - %s", in, with_env(w, item));
		else if (lines)
			put(w, item->comment, "%s  - %s", in, scalar(w, value));
		else if (row->form == KEY_SETTINGS)
			put(w, item->comment, "%s  %s: %s", in, scalar(w, item->name),
			    scalar(w, value));
		else if (str_matches(value, "^[0-9]*[.][0-9]*$") &&
			 strcmp(row->key, "modal.cpu") != 0)
			put(w, item->comment, "%s%s: \"%s\"", in, name, value);
		else
			put(w, item->comment, "%s%s: %s", in, name, scalar(w, value));
		item->line = w->line - 1;
	}
}

const char *
draft_write(struct init *rd)
{
	struct writer w = { .rd = rd, .b = BUF(rd->a), .line = 1 };
	bool any = false;

	if (rd->from)
		put(&w, NULL,
		    "# Created by stackbuild init from %s; a comment explains each choice.\n",
		    plain(&w, rd->from));
	else
		put(&w, NULL, "# Created by stackbuild init; a comment explains each choice.\n");
	w.line++;
	for (size_t i = 0; i < rd->items.n; i++)
		rd->items.at[i]->line = 0;
	for (size_t row = 0; row < sizeof(rows) / sizeof(*rows); row++)
		put_row(&w, &rows[row]);
	for (size_t i = 0; i < rd->items.n; i++) {
		const struct init_item *item = rd->items.at[i];

		if (item->fate != INIT_LEFT)
			continue;
		if (!any)
			put(&w, NULL, "\n# Left out:");
		any = true;
		put(&w, NULL, "#   %s: %s", plain(&w, mask_credentials(rd->a, item->what)),
		    plain(&w, item->why));
	}
	return buf_text(&w.b);
}
