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
 *     gpus: [a100-80gb]
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
enum form { VALUE, FLOW, LINES, EXTENSIONS, SETTINGS };

static const struct {
	const char *key;
	enum form form;
	bool gap; /* an empty line before it */
	const char *comment;
} rows[] = {
	{ "stack", VALUE, false, NULL },
	{ "base", VALUE, false, NULL },
	{ "cuda", VALUE, false, NULL },
	{ "python", VALUE, false, NULL },
	{ "gpus", FLOW, false, "the kernels are compiled for these" },
	{ "apt", LINES, false, NULL },
	{ "index", VALUE, false, NULL },
	{ "user", VALUE, false, NULL },
	{ "torch.version", VALUE, false, NULL },
	{ "torch.index", VALUE, false, NULL },
	{ "torch.with", LINES, false, NULL },
	{ "packages", LINES, true, NULL },
	{ "extensions", EXTENSIONS, true, "compiled last, in this order, against the torch above" },
	{ "env", SETTINGS, true, NULL },
	{ "runtime.base", VALUE, false, NULL },
	{ "runtime.apt", LINES, false, NULL },
	{ "app.requirements", VALUE, false, NULL },
	{ "app.command", LINES, false, NULL },
	{ "modal.gpu", VALUE, false, NULL },
	{ "modal.timeout_s", VALUE, false, NULL },
};

enum { COMMENT_COLUMN = 36, COLUMNS = 100 };

struct writer {
	struct arena *a;
	struct buf b;
	uint32_t line;
	size_t begin; /* of the line */
	const struct init *n;
	struct draft_places *places;
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

/* A scalar; in double quotes where a reader could take it for something else, 3.10 for a number. */
static void
put_scalar(struct writer *w, const char *s)
{
	if (edit_is_plain(s)) {
		buf_puts(&w->b, s);
		return;
	}
	buf_putc(&w->b, '"');
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c < ' ' || c == 0x7F) {
			buf_printf(&w->b, "\\x%02x", c);
			continue;
		}
		if (c == '"' || c == '\\')
			buf_putc(&w->b, '\\');
		buf_putc(&w->b, *s);
	}
	buf_putc(&w->b, '"');
}

/* The line that was just ended holds the item. */
static void
remember(struct writer *w, size_t item)
{
	list_push(w->a, w->places, (struct draft_place){ w->line - 1, 0, 0, item });
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

static void
put_extension(struct writer *w, size_t i)
{
	const struct init_item *item = &w->n->items.at[i];

	buf_puts(&w->b, item->git ? "  - name: " : "  - ");
	put_scalar(w, item->git || strstr(item->value, " @ ") ?
			      item->value :
			      arena_printf(w->a, "%s%s", item->value, item->spec));
	end_line(w, item->comment);
	remember(w, i);
	for (unsigned k = 0; item->git && k < (item->ref ? 2 : 1); k++) {
		buf_puts(&w->b, k ? "    ref: " : "    git: ");
		put_scalar(w, k ? item->ref : item->git);
		end_line(w, NULL);
		remember(w, i);
	}
}

static void
put_gpu(struct writer *w, size_t i, bool first)
{
	const char *value = w->n->items.at[i].value;
	uint32_t from;

	buf_puts(&w->b, first ? "gpus: [" : ", ");
	from = (uint32_t)(w->b.n - w->begin);
	buf_printf(&w->b, is_digit(*value) ? "\"%s\"" : "%s", value);
	list_push(
		w->a, w->places,
		(struct draft_place){ w->line, from + 1, (uint32_t)(w->b.n - w->begin) - from, i });
}

static void
put_value(struct writer *w, size_t i, const char *indent)
{
	const struct init_item *item = &w->n->items.at[i];
	const char *key = item->key + (w->parent ? strlen(w->parent) + 1 : 0);
	bool number = strspn(item->value, "0123456789.") == strlen(item->value) &&
		      strchr(item->value, '.') &&
		      strchr(item->value, '.') == strrchr(item->value, '.');

	buf_printf(&w->b, "%s%s: ", indent, key);
	if (number)
		buf_printf(&w->b, "\"%s\"", item->value);
	else if (!strcmp(key, "timeout_s"))
		buf_puts(&w->b, item->value);
	else
		put_scalar(w, item->value);
	end_line(w, item->comment);
	remember(w, i);
}

static void
put_row(struct writer *w, size_t row)
{
	const char *key = rows[row].key;
	bool any = false;

	for (size_t i = 0; i < w->n->items.n; i++) {
		const struct init_item *item = &w->n->items.at[i];
		const char *indent;

		if (!item_has(item, key))
			continue;
		if (!any && rows[row].gap)
			end_line(w, NULL);
		if (!any)
			put_parent(w, key);
		indent = w->parent ? "  " : "";
		if (!any && rows[row].form >= LINES) {
			buf_printf(&w->b, "%s%s:", indent,
				   key + (w->parent ? strlen(w->parent) + 1 : 0));
			end_line(w, rows[row].comment);
		}
		switch (rows[row].form) {
		case VALUE: put_value(w, i, indent); break;
		case FLOW: put_gpu(w, i, !any); break;
		case EXTENSIONS: put_extension(w, i); break;
		case LINES:
			buf_printf(&w->b, "%s  - ", indent);
			put_scalar(w, item->value);
			end_line(w, item->comment);
			remember(w, i);
			break;
		case SETTINGS:
			buf_puts(&w->b, "  ");
			put_scalar(w, item->name);
			buf_puts(&w->b, ": ");
			put_scalar(w, item->value);
			end_line(w, NULL);
			remember(w, i);
			break;
		}
		any = true;
	}
	if (any && rows[row].form == FLOW) {
		buf_putc(&w->b, ']');
		end_line(w, rows[row].comment);
	}
}

static void
put_left(struct writer *w)
{
	bool any = false;

	for (size_t i = 0; i < w->n->items.n; i++) {
		const struct init_item *item = &w->n->items.at[i];

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
draft_write(struct arena *a, const struct init *n, struct draft_places *places)
{
	struct writer w = { .a = a, .b = BUF(a), .line = 1, .n = n, .places = places };

	*places = (struct draft_places){ 0 };
	buf_puts(&w.b, n->from ? "# From " : "# Written by stackbuild init: each choice says why.");
	if (n->from) {
		put_comment(&w, n->from);
		buf_puts(&w.b, ", by stackbuild init: each choice says why.");
	}
	end_line(&w, NULL);
	end_line(&w, NULL);
	for (size_t row = 0; row < sizeof(rows) / sizeof(*rows); row++)
		put_row(&w, row);
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
