#include <string.h>

#include "base/buf.h"
#include "base/edit.h"
#include "reader.h"

/*
 * The recipe's text: the items that were taken, in the order of this table.  The screen:
 *
 *     # From requirements.txt, by stackbuild init: each choice says why.
 *
 *     stack: torch222-cu121
 *     base: nvidia/cuda:12.1.1-devel-ubuntu22.04   # nvcc 12.1.1 in a devel image
 *     python: "3.11"                               # ubuntu22.04 ...
 *     gpus:
 *       - a100-80gb
 *
 *     torch:
 *       version: 2.2.2
 *       index: cu121
 *
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
	{ "torch.version", KEY_VALUE, true, false, NULL },
	{ "torch.index", KEY_VALUE, true, false, NULL },
	{ "torch.with", KEY_LINES, false, false, NULL },
	{ "packages", KEY_LINES, false, true, NULL },
	{ "extensions", KEY_LINES, false, true,
	  "compiled last, in this order, against the torch above" },
	{ "env", KEY_SETTINGS, false, true, NULL },
	{ "runtime.base", KEY_VALUE, false, false, NULL },
	{ "runtime.apt", KEY_LINES, false, false, NULL },
	{ "app.requirements", KEY_VALUE, false, false, NULL },
	{ "app.command", KEY_LINES, false, false, NULL },
	{ "modal.timeout_s", KEY_VALUE, true, false, NULL },
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
	struct arena *a;
	struct buf b;
	uint32_t line;
	size_t begin; /* of the line */
	const struct init *n;
	const char *parent; /* "torch" while its keys are written */
};

/* A user's text in a comment: one line of printable ASCII. */
static void
put_comment(struct writer *w, const char *s)
{
	for (; *s; s++)
		buf_putc(&w->b, *s >= ' ' && *s < 0x7F ? *s : '?');
}

/* The comment stands behind the value if there is room, else above it. */
static void
end_line(struct writer *w, const char *comment)
{
	size_t n = w->b.n - w->begin, pad = n < COMMENT_COLUMN ? COMMENT_COLUMN - n : 2;

	if (comment && n + pad + 2 + strlen(comment) <= COLUMNS) {
		buf_printf(&w->b, "%*s# ", (int)pad, "");
		put_comment(w, comment);
	} else if (comment) {
		const char *line = arena_copy(w->a, w->b.p + w->begin, n);

		w->b.n = w->begin;
		buf_printf(&w->b, "%*s# ", (int)strspn(line, " "), "");
		put_comment(w, comment);
		end_line(w, NULL);
		buf_puts(&w->b, line);
	}
	buf_putc(&w->b, '\n');
	w->line++;
	w->begin = w->b.n;
}

static void
put_line(struct writer *w, const char *text)
{
	buf_puts(&w->b, text);
	end_line(w, NULL);
}

/* "app:" before the first of its keys; what of the files belongs to it may have to be filled in. */
static void
put_parent(struct writer *w, const char *key)
{
	size_t n = strcspn(key, ".");
	const char *parent = key[n] ? arena_copy(w->a, key, n) : NULL;

	if (!parent || (w->parent && !strcmp(parent, w->parent))) {
		w->parent = parent;
		return;
	}
	w->parent = parent;
	end_line(w, NULL);
	buf_printf(&w->b, "%s:", parent);
	if (strcmp(parent, "app") != 0) {
		end_line(w, NULL);
		return;
	}
	end_line(w, "changes daily, so it comes last, under the stack's constraints");
	if (w->n->app_unsure) {
		buf_puts(&w->b, "  # copy: [src/]");
		end_line(w, "what of this directory the image needs");
	}
}

/* A scalar; in double quotes where a reader could take it for something else. */
static const char *
scalar(struct writer *w, const char *s)
{
	return edit_scalar(w->a, (struct span){ 0 }, s);
}

static void
put_row(struct writer *w, const struct init_key *row)
{
	const char *name = strchr(row->key, '.') ? strchr(row->key, '.') + 1 : row->key;
	bool any = false;

	for (size_t i = 0; i < w->n->items.n; i++) {
		struct init_item *item = w->n->items.at[i];
		const char *value;

		if (!item_has(item, row->key))
			continue;
		if (!any && row->gap)
			end_line(w, NULL);
		if (!any)
			put_parent(w, row->key);
		if (!any && row->form != KEY_VALUE) {
			buf_printf(&w->b, "%s%s:", w->parent ? "  " : "", name);
			end_line(w, row->comment);
		}
		any = true;
		buf_puts(&w->b, w->parent ? "  " : "");
		value = item->value;
		if (!strcmp(row->key, "extensions") && !strstr(value, " @ "))
			value = arena_printf(w->a, "%s%s", value, item->spec);
		if (row->form == KEY_LINES)
			buf_printf(&w->b, "  - %s", scalar(w, value));
		else if (row->form == KEY_SETTINGS)
			buf_printf(&w->b, "  %s: %s", scalar(w, item->name), scalar(w, value));
		/* Other readers take 3.10 for the number 3.1. */
		else if (str_matches(value, "^[0-9]*[.][0-9]*$"))
			buf_printf(&w->b, "%s: \"%s\"", name, value);
		else
			buf_printf(&w->b, "%s: %s", name, scalar(w, value));
		end_line(w, item->comment);
		item->line = w->line - 1;
	}
}

static void
put_left(struct writer *w)
{
	bool any = false;

	for (size_t i = 0; i < w->n->items.n; i++) {
		const struct init_item *item = w->n->items.at[i];

		if (item->fate != INIT_LEFT)
			continue;
		if (!any) {
			end_line(w, NULL);
			put_line(w, "# Left out:");
		}
		any = true;
		buf_puts(&w->b, "#   ");
		put_comment(w, mask_credentials(w->a, item->what));
		buf_puts(&w->b, ": ");
		put_comment(w, item->why);
		end_line(w, NULL);
	}
}

const char *
draft_write(struct init *n)
{
	struct writer w = { .a = n->a, .b = BUF(n->a), .line = 1, .n = n };

	buf_puts(&w.b, n->from ? "# From " : "# Written by stackbuild init: each choice says why.");
	if (n->from) {
		put_comment(&w, n->from);
		buf_puts(&w.b, ", by stackbuild init: each choice says why.");
	}
	end_line(&w, NULL);
	end_line(&w, NULL);
	for (size_t i = 0; i < n->items.n; i++)
		n->items.at[i]->line = 0;
	for (size_t row = 0; row < sizeof(rows) / sizeof(*rows); row++)
		put_row(&w, &rows[row]);
	if (n->app_unsure && !init_get(n, "app.requirements") && !init_get(n, "app.command")) {
		end_line(&w, NULL);
		put_line(&w,
			 "# app:                              # changes daily, so it comes last");
		put_line(&w,
			 "#   copy: [src/]                    # what of this directory the image "
			 "needs");
	}
	put_left(&w);
	return buf_text(&w.b);
}
