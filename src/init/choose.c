#include <string.h>

#include "base/buf.h"
#include "base/fix.h"
#include "reader.h"

/*
 * Selects unpinned values with the resolver: the newest compatible torch, then the values of the
 * stack. It applies the fix of a rejected value, and omits a list item without a fix; any other
 * error ends with the errors of the last text.
 */

enum { REPAIRS_MAX = 64 };

static const struct source *
open_text(void *ctx, struct arena *a, struct diags *ds, const char *path, struct span at)
{
	const struct source *text = ctx;

	(void)a;
	if (!strcmp(path, text->path))
		return text;
	diag_at(ds, E_FILE, at, "init does not read `%s`", path);
	return NULL;
}

struct attempt {
	struct init *rd;
	const char *path, *text;
	const struct source *src; /* source of the text */
	struct diags found;       /* diagnostics of the text */
	bool repaired;            /* a fix was reported, which explains the differences */
};

static const struct stack *
resolve_text(struct attempt *t)
{
	struct arena *a = t->rd->a;
	struct source *src = arena_new_of(a, struct source);
	struct recipe_options o = { .path = t->path };
	const struct recipes *rs;

	*src = (struct source){ t->path, t->text, strlen(t->text) };
	t->src = src;
	t->found = DIAGS(t->found, a);
	rs = recipes_load_from(a, &t->found, t->rd->f, &o, open_text, src);
	return rs ? resolve(a, &t->found, t->rd->f, rs->at[0], NULL) : NULL;
}

/* --- repairs --- */

struct init_item *
draft_item(const struct init *rd, struct span at)
{
	for (size_t i = 0; at.line && i < rd->items.n; i++)
		if (rd->items.at[i]->line == at.line && rd->items.at[i]->fate == INIT_TAKEN)
			return rd->items.at[i];
	return NULL;
}

static struct init_item *
item_there(const struct attempt *t, struct span at)
{
	return draft_item(t->rd, at);
}

/* Returns the file's GPU that the error names, if there are other GPUs: a GPU is then dropped, and
 * not a package that does not support it. */
static struct init_item *
gpu_of(const struct attempt *t, const struct diag *d)
{
	size_t others = 0;

	for (size_t i = 0; i < t->rd->items.n; i++)
		others += item_has(t->rd->items.at[i], "gpus");
	for (const struct note *n = d->notes; n && others > 1; n = n->next) {
		struct init_item *item = n->kind == NOTE_PLACE ? item_there(t, n->at) : NULL;

		if (item && item_has(item, "gpus") && item->at.src)
			return item;
	}
	return NULL;
}

static void
leave(struct attempt *t, struct init_item *item, const struct diag *d)
{
	const struct extension *e = item->name ? facts_extension(t->rd->f, item->name) : NULL;
	const struct note *help = strcmp(item->key, "gpus") != 0 ? diag_first_help(d) : NULL;
	const char *todo = help ? help->text : NULL;

	if (e && e->git && !e->nreleases)
		todo = arena_printf(t->rd->a, "add it with `git: %s` and a tag or commit as `ref`",
				    e->git);
	/* Without an extension, the program does not start. */
	if (!strcmp(item->key, "extensions"))
		item_unread(t->rd, item, NULL, "%s%s%s", d->text, todo ? "; " : "",
			    todo ? todo : "");
	else
		item_leave(t->rd, item, "%s%s%s", d->text, todo ? "; " : "", todo ? todo : "");
	item_report(t->rd, item);
	t->text = draft_write(t->rd);
}

/* Applies the fixes of the errors to the text; false: there are none. */
static bool
fix(struct attempt *t)
{
	struct fix_files files = { 0 };
	struct fixes fixes;
	bool any = false;

	list_push(t->rd->a, &files, (struct fix_file){ t->src, t->src->text, t->src->size });
	fixes = fix_round(t->rd->a, &t->found, &(struct names){ 0 }, &files);
	for (struct fix *f = fixes.at; f && f < fixes.at + fixes.n; f++) {
		const struct init_item *item = item_there(t, f->diag->at);

		/* A fix of a warning resolves no error, and the next text of the draft loses it. */
		if (f->state != FIX_DONE || code_table[f->diag->code].severity != SEV_ERROR)
			continue;
		any = t->repaired = true;
		item_changed(t->rd, item ? item->at : (struct span){ 0 }, "%s: %s", f->diag->text,
			     f->help->text);
	}
	t->text = any ? files.at[0].text : t->text;
	return any;
}

/* Returns true if t->text has changed and can be tried again. */
static bool
repair(struct attempt *t)
{
	struct init_item *item;

	for (const struct diag *d = t->found.head; d; d = d->next)
		if ((item = gpu_of(t, d))) {
			leave(t, item, d);
			return true;
		}
	for (struct diag *d = t->found.head; d; d = d->next)
		if (code_table[d->code].severity == SEV_ERROR && !smallest_fix(t->rd, d))
			return false;
	if (fix(t))
		return true;
	for (const struct diag *d = t->found.head; d; d = d->next) {
		item = code_table[d->code].severity == SEV_ERROR ? item_there(t, d->at) : NULL;
		if (item && (!init_key(item->key)->needed || item->weak) &&
		    item != torch_range(t->rd)) {
			leave(t, item, d);
			return true;
		}
	}
	return false;
}

struct init
init_copy(const struct init *rd, struct diags *ds)
{
	struct init out = *rd;

	out.ds = ds;
	out.items = (struct init_items){ 0 };
	out.places = (struct map){ 0 };
	for (size_t i = 0; i < rd->items.n; i++) {
		struct init_item *item = arena_new_of(rd->a, struct init_item);

		*item = *rd->items.at[i];
		list_push(rd->a, &out.items, item);
	}
	return out;
}

/* Reports the errors of the last text, at the places of its items in the input. */
static void
report_errors(const struct attempt *t)
{
	for (const struct diag *e = t->found.head; e; e = e->next) {
		const struct init_item *item = item_there(t, e->at);
		struct diag *copy;

		if (code_table[e->code].severity != SEV_ERROR)
			continue;
		copy = diag_at(t->rd->ds, e->code, e->at, "%s", e->text);
		copy->notes = e->notes;
		copy->tail = e->notes ? e->tail : &copy->notes;
		if (item && item->at.src)
			diag_note(copy, item->at, "requested here");
	}
}

static bool
names_known_torch(struct init *rd, const struct init_item *range)
{
	const struct specifiers *spec = specifiers_parse(rd->a, range->value + strlen("torch"));
	size_t n;
	const struct torch_release *const *all = facts_torch_all(rd->f, &n);

	for (size_t i = 0; i < n; i++)
		if (specifiers_match(spec, version_parse(rd->a, all[i]->version)))
			return true;
	diag_help(diag_at(rd->ds, E_INIT_INPUT, range->at, "the knowledge base lists no `%s`",
			  range->value),
		  "`stackbuild facts torch` lists the releases and their builds");
	return false;
}

/* --- the torch of a base image --- */

bool
image_has_torch(const struct image_name *image)
{
	return image->torch || (image->repository && str_matches(image->repository, "/pytorch$"));
}

static void
leave_item(struct init *rd, const char *key, const char *torch)
{
	struct init_item *item = init_get(rd, key);

	if (!item)
		return;
	item_leave(rd, item, "the base image has torch%s%s, and pip keeps it", torch ? " " : "",
		   torch ? torch : "");
	item_report(rd, item);
}

/*
 * Uses an image with torch as the base, and keeps its torch, unless the files replace one of
 * PyTorch's own builds: then the base is a plain image with the same CUDA.
 */
static void
choose_base_torch(struct init *rd)
{
	struct init_item *base = init_get(rd, "base"), *version = init_get(rd, "torch.version");
	struct init_item *from = init_get(rd, "torch.from");
	const struct image_name name = facts_image_name(rd->f, base ? base->value : "");

	if (!from)
		return;
	if (!image_has_torch(&name) || (!name.torch && version && version->pinned)) {
		/* --base or --cuda replaced the image, or the files replace an unknown torch. */
		from->value = NULL;
	} else if (name.torch && version && version->pinned && !name.own_torch && name.cuda &&
		   strcmp(version->value, name.torch) != 0) {
		item_changed(rd, from->at,
			     "`%s` became a plain image with CUDA %s: the files replace its torch "
			     "%s by %s",
			     base->value, name.cuda, name.torch, version->value);
		from->value = base->value = NULL;
		item_set(rd, base->what, base->at, "cuda", name.cuda);
	} else {
		leave_item(rd, "torch.version", name.torch);
		leave_item(rd, "torch.index", name.torch);
	}
}

bool
draft_select(struct init *rd, const char *path)
{
	struct attempt t = { .rd = rd, .path = path };
	const struct stack *s;
	bool unnamed = !init_get(rd, "stack");
	struct init_item *range = torch_range(rd);

	if (range && !names_known_torch(rd, range))
		return false;
	choose_base_torch(rd);
	/* Every setting of torch needs a version of torch. */
	if (!init_get(rd, "torch.from") && !init_get(rd, "torch.version") &&
	    (init_get(rd, "torch.with") || init_get(rd, "extensions") ||
	     init_get(rd, "torch.index")))
		item_set(rd, "torch", (struct span){ 0 }, "torch.version", "*");
	/* The stack is named "stack", not after the input, until the recipe has a name. */
	if (unnamed)
		item_set(rd, "stack", (struct span){ 0 }, "stack", "stack");
	t.text = draft_write(rd);
	s = resolve_text(&t);
	for (size_t i = 0; !s && i < REPAIRS_MAX && repair(&t); i++)
		s = resolve_text(&t);
	if (!s) {
		report_errors(&t);
		return false;
	}
	/* The release is selected, and its range is no longer needed. */
	if (range)
		range->value = NULL;
	draft_pin(rd, s, t.repaired);
	if (unnamed && s->torch.value) {
		struct buf b = BUF(rd->a);

		buf_puts(&b, "torch");
		for (const char *p = s->torch.value; *p && *p != '+'; p++)
			if (is_alnum(*p))
				buf_putc(&b, *p);
		if (s->torch_tag)
			buf_printf(&b, "-%s", s->torch_tag);
		init_get(rd, "stack")->value = buf_text(&b);
	}
	return true;
}

bool
draft_complete(struct init *rd, const char *path)
{
	return python_choose(rd, path) && draft_select(rd, path);
}

const char *
init_recipe(const struct init *rd, const char *path, const struct stack **s, unsigned *warnings)
{
	struct init copy = init_copy(rd, rd->ds);
	struct attempt t = { .rd = &copy };

	t.path = strcmp(path, "-") != 0 ? arena_printf(rd->a, "%s (not written)", path) :
					  "the recipe (not written)";
	if (rd->modal && !init_get(rd, "modal.timeout_s"))
		item_set(&copy, "modal", (struct span){ 0 }, "modal.timeout_s", "3600")->comment =
			"Modal's own default is 300; at most 86400";
	if (!draft_complete(&copy, t.path))
		return NULL;
	t.text = draft_write(&copy);
	*s = resolve_text(&t);
	*warnings = t.found.warnings;
	if (!*s)
		report_errors(&t);
	return *s ? t.text : NULL;
}
