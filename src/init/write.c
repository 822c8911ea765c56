#include <string.h>

#include "base/edit.h"
#include "base/str.h"
#include "draft.h"

/*
 * The recipe's text.  The screen:
 *
 *     # From requirements.txt, by stackbuild init.
 *     #
 *     #     stackbuild check stack.yaml
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
 *     # left out: nvidia-cublas-cu12==12.1.3.1: torch brings it ...
 */
enum { COMMENT_COLUMN = 36, COLUMNS = 100, LEFT_SHOWN = 40 };

struct writer {
	struct buf b;
	uint32_t line;
	size_t begin; /* of the line */
	struct arena *a;
	struct draft *d;
};

static void
end_line(struct writer *w)
{
	buf_putc(&w->b, '\n');
	w->line++;
	w->begin = w->b.n;
}

/* Text of the user's in a comment: one line of printable ASCII. */
static void
put_comment(struct writer *w, const char *s)
{
	for (; *s; s++)
		buf_putc(&w->b, *s >= ' ' && *s < 0x7F ? *s : '?');
}

/* The comment stands behind the value, if there is room; else above it. */
static void
end_with(struct writer *w, const char *comment)
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
		end_line(w);
		buf_puts(&w->b, line);
	}
	end_line(w);
}

/* A scalar; in double quotes where a reader could take it for something else. */
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

static void
remember(struct writer *w, struct span at, const char **slot, const char *what)
{
	list_push(w->a, &w->d->lines, (struct draft_line){ w->line - 1, at, slot, what });
}

static void
put_key(struct writer *w, const char *key, struct text *value, const char *comment)
{
	if (!value->s)
		return;
	buf_printf(&w->b, "%s: ", key);
	/* Other readers take 3.10 for the number 3.1. */
	if (strspn(value->s, "0123456789.") == strlen(value->s) &&
	    strchr(value->s, '.') == strrchr(value->s, '.'))
		buf_printf(&w->b, "\"%s\"", value->s);
	else
		put_scalar(w, value->s);
	end_with(w, comment);
	remember(w, value->at, NULL, value->s);
}

/* key: [a, b] on one line if it fits; else, and where comments are, one line each. */
static void
put_texts(struct writer *w, const char *indent, const char *key, struct texts *list)
{
	size_t n = 0;

	for (size_t i = 0; i < list->n; i++)
		n += list->at[i].s != NULL;
	if (!n)
		return;
	buf_printf(&w->b, "%s%s:", indent, key);
	end_line(w);
	for (size_t i = 0; i < list->n; i++) {
		if (!list->at[i].s)
			continue;
		buf_printf(&w->b, "%s  - ", indent);
		put_scalar(w, list->at[i].s);
		end_line(w);
		remember(w, list->at[i].at, &list->at[i].s, list->at[i].s);
	}
}

static size_t
count(const struct init_items *list)
{
	size_t n = 0;

	for (size_t i = 0; i < list->n; i++)
		n += list->at[i].text != NULL;
	return n;
}

static void
put_items(struct writer *w, const char *indent, const char *key, struct init_items *list)
{
	if (!count(list))
		return;
	buf_printf(&w->b, "%s%s:", indent, key);
	end_line(w);
	for (size_t i = 0; i < list->n; i++) {
		struct init_item *item = &list->at[i];

		if (!item->text)
			continue;
		buf_printf(&w->b, "%s  - ", indent);
		put_scalar(w, item->text);
		end_with(w, item->comment);
		remember(w, item->at, &item->text, item->text);
	}
}

static void
put_extension(struct writer *w, struct init_item *item)
{
	if (!item->git) {
		const char *text = item->text;

		if (!strstr(text, " @ "))
			text = arena_printf(w->a, "%s%s", text, item->spec);
		buf_puts(&w->b, "  - ");
		put_scalar(w, text);
		end_with(w, item->comment);
		remember(w, item->at, &item->text, text);
		return;
	}
	buf_puts(&w->b, "  - name: ");
	put_scalar(w, item->text);
	end_with(w, item->comment);
	remember(w, item->at, &item->text, item->text);
	buf_puts(&w->b, "    git: ");
	put_scalar(w, item->git);
	end_line(w);
	remember(w, item->at, &item->text, item->text);
	if (!item->ref)
		return;
	buf_puts(&w->b, "    ref: ");
	put_scalar(w, item->ref);
	end_line(w);
	remember(w, item->at, &item->text, item->text);
}

static void
put_gpus(struct writer *w)
{
	struct texts *gpus = &w->d->n.gpus;

	if (!gpus->n)
		return;
	buf_puts(&w->b, "gpus: [");
	for (size_t i = 0; i < gpus->n; i++) {
		buf_puts(&w->b, i ? ", " : "");
		buf_printf(&w->b, is_digit(*gpus->at[i].s) ? "\"%s\"" : "%s", gpus->at[i].s);
	}
	buf_puts(&w->b, "]");
	end_with(w, "what the kernels are compiled for");
	remember(w, gpus->at[0].at, NULL, "gpus");
}

static void
put_torch(struct writer *w)
{
	struct draft *d = w->d;

	if (!d->torch)
		return;
	end_line(w);
	buf_puts(&w->b, "torch:");
	end_line(w);
	put_key(w, "  version", &d->n.torch, d->torch_why);
	put_key(w, "  index", &d->n.index, d->index_why);
	put_items(w, "  ", "with", &d->n.with);
}

static void
put_env(struct writer *w)
{
	struct settings *env = &w->d->n.env;
	bool any = false;

	for (size_t i = 0; i < env->n; i++) {
		struct setting *s = &env->at[i];

		if (!s->value.s)
			continue;
		if (!any) {
			end_line(w);
			buf_puts(&w->b, "env:");
			end_line(w);
		}
		any = true;
		buf_puts(&w->b, "  ");
		put_scalar(w, s->name.s);
		buf_puts(&w->b, ": ");
		put_scalar(w, s->value.s);
		end_line(w);
		remember(w, s->name.at, &s->value.s, s->name.s);
	}
}

/* What changes daily.  Where it is not certain, it stands there as a comment to fill in. */
static void
put_app(struct writer *w)
{
	struct init *n = &w->d->n;

	if (n->app_unsure && !n->app_requirements.s) {
		end_line(w);
		buf_puts(&w->b,
			 "# app:                              # changes daily, so it comes last");
		end_line(w);
		buf_puts(&w->b, "#   copy: [src/]                    # what of this folder the "
				"image needs");
		end_line(w);
		return;
	}
	if (!n->copy.n && !n->app_requirements.s && !n->command.n)
		return;
	end_line(w);
	buf_puts(&w->b, "app:");
	end_with(w, "changes daily, so it comes last, under the stack's constraints");
	put_texts(w, "  ", "copy", &n->copy);
	if (n->app_unsure) {
		buf_puts(&w->b, "  # copy: [src/]");
		end_with(w, "what of this folder the image needs");
	}
	put_key(w, "  requirements", &n->app_requirements, NULL);
	put_texts(w, "  ", "command", &n->command);
}

/* The smallest of Modal's that is this GPU; of its architecture otherwise. */
static const char *
modal_gpu(const struct facts *f, const char *name)
{
	const struct gpu *g = facts_gpu(f, name);
	const struct modal_gpu *all, *best = NULL;
	const char *cc = g ? g->cc : name;
	size_t n;

	all = facts_modal_gpus(f, &n);
	for (size_t i = 0; i < n; i++) {
		const struct gpu *m = facts_gpu(f, all[i].name);

		if (g && m && !strcmp(m->id, g->id))
			return all[i].name;
		for (size_t k = 0; k < all[i].ccs.n; k++)
			if (!strcmp(all[i].ccs.at[k], cc) &&
			    (!best || all[i].size_rank < best->size_rank))
				best = &all[i];
	}
	return best ? best->name : NULL;
}

static void
put_modal(struct writer *w, const struct facts *f)
{
	struct init *n = &w->d->n;
	const char *gpu = NULL;

	if (!n->modal)
		return;
	for (size_t i = 0; i < n->gpus.n && !gpu; i++)
		gpu = modal_gpu(f, n->gpus.at[i].s);
	end_line(w);
	buf_puts(&w->b, "modal:");
	end_line(w);
	if (gpu) {
		buf_printf(&w->b, "  gpu: %s", gpu);
		end_line(w);
	}
	buf_puts(&w->b, "  timeout_s: 3600");
	end_with(w, "Modal's own default is 300; at most 86400");
}

static void
put_left(struct writer *w)
{
	const struct init_lefts *left = &w->d->n.left;

	if (!left->n)
		return;
	end_line(w);
	buf_puts(&w->b, "# Left out:");
	end_line(w);
	for (size_t i = 0; i < left->n && i < LEFT_SHOWN; i++) {
		buf_puts(&w->b, "#   ");
		put_comment(w, mask_credentials(w->a, left->at[i].what));
		buf_puts(&w->b, ": ");
		put_comment(w, left->at[i].why);
		end_line(w);
	}
	if (left->n > LEFT_SHOWN) {
		buf_printf(&w->b, "#   ... and %zu more", left->n - LEFT_SHOWN);
		end_line(w);
	}
}

static void
put_head(struct writer *w)
{
	struct init *n = &w->d->n;

	buf_puts(&w->b, "# ");
	if (n->from) {
		buf_puts(&w->b, "From ");
		put_comment(w, n->from);
		buf_puts(&w->b, ", by");
	} else {
		buf_puts(&w->b, "Written by");
	}
	buf_puts(&w->b, " stackbuild init: each choice says why.");
	end_line(w);
	end_line(w);
	put_key(w, "stack", &n->name, NULL);
	put_key(w, "base", &n->base, w->d->base_why);
	put_key(w, "cuda", &n->cuda, NULL);
	put_key(w, "python", &n->python, w->d->python_why);
	put_gpus(w);
	put_texts(w, "", "apt", &n->apt);
	put_key(w, "index", &n->package_index, NULL);
}

const char *
draft_write(struct arena *a, const struct facts *f, struct draft *d)
{
	struct writer w = { .b = BUF(a), .line = 1, .a = a, .d = d };

	d->lines.n = 0;
	put_head(&w);
	put_torch(&w);
	if (count(&d->n.packages))
		end_line(&w);
	put_items(&w, "", "packages", &d->n.packages);
	if (count(&d->n.extensions)) {
		end_line(&w);
		buf_puts(&w.b, "extensions:");
		end_with(&w, "compiled last, in this order, against the torch above");
	}
	for (size_t i = 0; i < d->n.extensions.n; i++)
		if (d->n.extensions.at[i].text)
			put_extension(&w, &d->n.extensions.at[i]);
	put_env(&w);
	put_app(&w);
	put_modal(&w, f);
	put_left(&w);
	return buf_text(&w.b);
}
