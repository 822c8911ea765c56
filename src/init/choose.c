#include <string.h>

#include "base/buf.h"
#include "base/fix.h"
#include "reader.h"

/*
 * What is open is selected by resolving: the newest torch that is compatible with the rest, then all
 * that the stack says.  What is rejected and has a fix is repaired; an item of a list that has none is
 * left out; anything else ends in the errors of the last text.
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
	struct reader *rd;
	const char *path, *text;
	const struct source *src; /* of the text */
	struct draft_places places;
	bool repaired; /* a fix was applied and reported: what differs follows from it */
};

static const struct stack *
resolve_text(struct attempt *t, struct diags *found)
{
	struct arena *a = t->rd->a;
	struct source *src = arena_new_of(a, struct source);
	struct recipe_options o = { .path = t->path };
	const struct recipes *rs;

	*src = (struct source){ t->path, t->text, strlen(t->text) };
	t->src = src;
	diags_init(found, a);
	rs = recipes_load_from(a, found, t->rd->f, &o, open_text, src);
	return rs ? resolve(a, found, t->rd->f, rs->at[0], NULL) : NULL;
}

/* --- repairs --- */

/* The item that stands at a place of the text, or NULL. */
static struct init_item *
item_there(const struct attempt *t, struct span at)
{
	for (size_t i = 0; at.line && i < t->places.n; i++) {
		const struct draft_place *p = &t->places.at[i];

		if (p->line == at.line &&
		    (!p->width || (at.col >= p->col && at.col < p->col + p->width)))
			return item_at(t->rd, p->item);
	}
	return NULL;
}

/* An item of a list, or of the application, can be missing; the versions of the stack cannot. */
static bool
can_be_left(const struct init_item *item)
{
	static const char *const needed[] = { "stack",       "base",  "cuda",
					      "python",      "index", "torch.version",
					      "torch.index", "gpus",  "modal.gpu" };

	for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++)
		if (!strcmp(item->key, needed[i]))
			return false;
	return true;
}

/* A GPU of the file that the error names, where there are others: the architecture goes, not what
 * cannot run on it. */
static struct init_item *
gpu_of(const struct attempt *t, const struct diag *d)
{
	size_t others = 0;

	for (size_t i = 0; i < t->rd->n->items.n; i++)
		others += item_has(item_at(t->rd, i), "gpus");
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
	bool gpu = !strcmp(item->key, "gpus");
	const struct note *help = gpu ? NULL : diag_first_help(d);

	item_leave(t->rd, (size_t)(item - t->rd->n->items.at), "%s%s%s", d->text,
		   help || (e && e->git && !e->nreleases) ? "; " : "",
		   e && e->git && !e->nreleases ?
			   arena_printf(t->rd->a,
					"add it with `git: %s` and a tag or commit as `ref`",
					e->git) :
		   help ? help->text :
			  "");
	item_report(t->rd, item);
	t->text = draft_write(t->rd->a, t->rd->n, &t->places);
}

/* Applies the fixes of the errors to the text; false: there are none. */
static bool
fix(struct attempt *t, const struct diags *found)
{
	struct fix_files files = { 0 };
	struct fixes fixes;
	bool any = false;

	list_push(t->rd->a, &files, (struct fix_file){ t->src, t->src->text, t->src->size });
	fixes = fix_round(t->rd->a, found, &(struct names){ 0 }, &files);
	for (size_t i = 0; i < fixes.n; i++) {
		const struct fix *f = &fixes.at[i];
		const struct init_item *item = item_there(t, f->diag->at);

		if (f->state != FIX_DONE)
			continue;
		any = t->repaired = true;
		item_changed(t->rd, item ? item->at : (struct span){ 0 }, "%s: %s", f->diag->text,
			     f->help->text);
	}
	t->text = files.at[0].text;
	return any;
}

/* Returns true if t->text is another one to try: something was done about one of the errors. */
static bool
repair(struct attempt *t, const struct diags *found)
{
	struct init_item *item = NULL;
	const struct diag *d = found->head;

	for (; d && !item; d = item ? d : d->next)
		item = gpu_of(t, d);
	if (!item && fix(t, found))
		return true;
	for (d = item ? d : found->head; d && !item; d = item ? d : d->next) {
		item = code_table[d->code].severity == SEV_ERROR ? item_there(t, d->at) : NULL;
		item = item && can_be_left(item) ? item : NULL;
	}
	if (item)
		leave(t, item, d);
	return item;
}

/* *found: the diagnostics of the last text. */
static const struct stack *
try_all(struct attempt *t, struct diags *found)
{
	t->text = draft_write(t->rd->a, t->rd->n, &t->places);
	for (size_t i = 0;; i++) {
		const struct stack *s = resolve_text(t, found);

		if (s || i == REPAIRS_MAX || !repair(t, found))
			return s;
	}
}

/* A copy that can be changed. */
static struct init
copy_of(struct arena *a, const struct init *n)
{
	struct init out = *n;

	out.items = (struct init_items){ 0 };
	out.places = NULL;
	for (size_t i = 0; i < n->items.n; i++)
		list_push(a, &out.items, n->items.at[i]);
	return out;
}

/* --- which torch, of a range --- */

/*
 * Selects the newest release of the range that is compatible with the rest; if none is, the newest of
 * the range, so that the reason is reported.  Works on copies: repairs on the way count only once.
 */
static bool
choose_torch(const struct attempt *t, struct init_item *torch)
{
	struct reader *rd = t->rd;
	const struct specifiers *spec = specifiers_parse(rd->a, torch->spec);
	size_t n;
	const struct torch_release *const *all = facts_torch_all(rd->f, &n);
	const struct torch_release *newest = NULL, *found = NULL;

	for (size_t i = n; spec && i-- > 0 && !found;) {
		struct arena *scratch = arena_new();
		struct init copy = copy_of(scratch, rd->n);
		struct diags notes, errors;
		struct reader sub = { scratch, &notes, rd->f, &copy };
		struct attempt u = { .rd = &sub, .path = t->path };

		diags_init(&notes, scratch);
		if (specifiers_match(spec, version_parse(scratch, all[i]->version), PRE_NO)) {
			newest = newest ? newest : all[i];
			init_get(&copy, "torch.version")->value = all[i]->version;
			found = try_all(&u, &errors) ? all[i] : NULL;
		}
		arena_free(scratch);
	}
	if (!newest)
		return false;
	torch->value = found ? found->version : newest->version;
	torch->comment =
		arena_printf(rd->a, "the newest %s that is compatible with the rest", torch->spec);
	return true;
}

/* The errors of the last text, with the places that its items come from. */
static void
report_errors(const struct attempt *t, const struct diags *found)
{
	for (const struct diag *e = found->head; e; e = e->next) {
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

/* A stack without torch needs no version of it; everything else of torch's does. */
static struct init_item *
torch_of(struct reader *rd)
{
	static const char *const keys[] = { "torch.with", "extensions", "torch.index" };
	struct init_item *torch = init_get(rd->n, "torch.version");

	for (size_t i = 0; !torch && i < sizeof(keys) / sizeof(*keys); i++)
		if (init_get(rd->n, keys[i])) {
			item_set(rd, keys[i], (struct span){ 0 }, "torch.version", "*");
			torch = init_get(rd->n, "torch.version");
			torch->pinned = false;
		}
	return torch;
}

bool
draft_complete(struct reader *rd, const char *path)
{
	struct attempt t = { .rd = rd, .path = path };
	struct init_item *torch = torch_of(rd);
	const struct stack *s;
	struct diags found;
	bool unnamed = !init_get(rd->n, "stack");

	/* The file's name is not that of the stack: "stack" until it has one. */
	if (unnamed)
		item_set(rd, "stack", (struct span){ 0 }, "stack", "stack");
	if (torch && !strcmp(torch->value, "*") && *torch->spec && !choose_torch(&t, torch)) {
		diag_help(diag_at(rd->ds, E_INIT_INPUT, torch->at,
				  "the knowledge base lists no torch %s", torch->spec),
			  "`stackbuild facts torch` lists the releases and their builds");
		return false;
	}
	s = try_all(&t, &found);
	if (!s) {
		report_errors(&t, &found);
		return false;
	}
	draft_pin(rd, s, t.repaired);
	if (unnamed && s->torch.value) {
		struct buf b = BUF(rd->a);

		buf_puts(&b, "torch");
		for (const char *p = s->torch.value; *p && *p != '+'; p++)
			if (is_alnum(*p))
				buf_putc(&b, *p);
		if (s->torch_tag)
			buf_printf(&b, "-%s", s->torch_tag);
		init_get(rd->n, "stack")->value = buf_text(&b);
	}
	return true;
}

const char *
init_recipe(struct arena *a, struct diags *ds, const struct facts *f, const struct init *n,
	    const char *path, const struct stack **s, unsigned *warnings)
{
	struct init copy = copy_of(a, n);
	struct reader rd = { a, ds, f, &copy };
	struct attempt t = { .rd = &rd };
	struct diags found;

	t.path = strcmp(path, "-") != 0 ? arena_printf(a, "%s (not written)", path) :
					  "the recipe (not written)";
	draft_modal(&rd);
	if (!draft_complete(&rd, t.path))
		return NULL;
	t.text = draft_write(a, &copy, &t.places);
	*s = resolve_text(&t, &found);
	*warnings = found.warnings;
	if (*s)
		return t.text;
	report_errors(&t, &found);
	return NULL;
}
