#include "fix.h"

#include <string.h>

#include "buf.h"
#include "edit.h"
#include "str.h"
#include "yaml.h"

/* Fixes of one round: each is checked by reading the files again. */
enum { TRIES_MAX = 50 };

/* Bytes `from` up to `to` of a file give way to `text`. */
struct change {
	size_t file, from, to;
	const char *text;
	size_t size;
};

/* Those accepted so far: sorted by file and place. */
struct changes LIST(struct change);

struct round {
	struct arena *a;
	struct fix_files *files;
	const struct node **roots; /* of the files, before */
	struct changes done;
};

/* A file has the line ends that its first line has. */
static const char *
with_line_ends(struct arena *a, const struct source *src, const char *text)
{
	const char *nl = memchr(src->text, '\n', src->size);
	struct buf b = BUF(a);

	if (!nl || nl == src->text || nl[-1] != '\r' || !strchr(text, '\n'))
		return text;
	for (; *text; text++) {
		if (*text == '\n')
			buf_putc(&b, '\r');
		buf_putc(&b, *text);
	}
	return buf_text(&b);
}

/* A whole line that goes takes its line end along; the last one that before it. */
static void
take_line_end(const struct source *src, struct change *c)
{
	const char *end = src->text + src->size, *p = src->text + c->to;

	p += p < end && *p == '\r';
	if (p < end) {
		c->to = (size_t)(p + 1 - src->text);
		return;
	}
	if (c->from && src->text[c->from - 1] == '\n')
		c->from--;
	if (c->from && src->text[c->from - 1] == '\r')
		c->from--;
}

/* The first value over several lines that begins at the place, below a node. */
static bool
goes_on(const struct node *n, struct span at)
{
	if (n->kind == NODE_SCALAR)
		return n->lines && n->at.line == at.line && n->at.col == at.col;
	for (size_t i = 0; i < n->n; i++)
		if (goes_on(n->kind == NODE_MAP ? n->pairs[i].value : n->items[i], at))
			return true;
	return false;
}

static const struct node *
tree_of(struct arena *a, const struct source *src)
{
	struct diags ds;

	diags_init(&ds, a);
	return yaml_read(a, &ds, src, YAML_LIMITS_DEFAULT);
}

/* The edit in bytes; NULL, or why it cannot be. */
static const char *
locate(const struct round *r, const struct edit *e, struct change *c)
{
	const struct source *src = e->at.src;
	struct str line, text;
	size_t i;

	for (i = 0; i < r->files->n && r->files->at[i].src != src; i++)
		;
	if (i == r->files->n)
		return src && !strcmp(src->path, "<command line>") ?
			       "its text is on the command line" :
			       "its text is in none of these files";
	if (!edit_place(e->at, &line, &text))
		return "its place does not exist";
	if (e->at.width && r->roots[i] && goes_on(r->roots[i], e->at))
		return "the value spans more than one line";
	c->file = i;
	c->from = (size_t)(text.p - src->text);
	c->to = c->from + text.n;
	c->text = with_line_ends(r->a, src, e->replacement);
	c->size = strlen(c->text);
	if (edit_takes_line(e))
		take_line_end(src, c);
	return NULL;
}

static bool
same_change(const struct change *x, const struct change *y)
{
	return x->file == y->file && x->from == y->from && x->to == y->to && x->size == y->size &&
	       !memcmp(x->text, y->text, x->size);
}

/* One place, or one within the other; an insertion may stand at either end of another. */
static bool
overlap(const struct change *x, const struct change *y)
{
	if (x->file != y->file)
		return false;
	return (x->from < y->to && y->from < x->to) || (x->from == y->from && x->to == y->to);
}

static void
add_change(struct arena *a, struct changes *list, struct change c)
{
	size_t i;

	list_push(a, list, c);
	for (i = list->n - 1; i; i--) {
		const struct change *b = &list->at[i - 1];

		if (b->file < c.file ||
		    (b->file == c.file &&
		     (b->from < c.from || (b->from == c.from && b->to <= c.to))))
			break;
		list->at[i] = *b;
	}
	list->at[i] = c;
}

/* Adds the edits of a fix to those done, all or none. */
static void
accept(struct round *r, struct fix *f)
{
	struct changes own = { 0 };

	f->state = FIX_REFUSED;
	for (const struct edit *e = f->help->edits; e; e = e->next) {
		struct change c = { 0 };
		bool again = false;

		if ((f->why = locate(r, e, &c)))
			return;
		for (size_t i = 0; i < own.n; i++)
			if (overlap(&own.at[i], &c)) {
				f->why = "two of its edits overlap";
				return;
			}
		for (size_t i = 0; i < r->done.n && !again; i++) {
			again = same_change(&r->done.at[i], &c);
			if (!again && overlap(&r->done.at[i], &c)) {
				f->state = FIX_LATER;
				return;
			}
		}
		if (!again)
			list_push(r->a, &own, c);
	}
	for (size_t i = 0; i < own.n; i++)
		add_change(r->a, &r->done, own.at[i]);
	f->state = FIX_DONE;
}

/* Writes the files anew from what is done; false if one of them would be no YAML. */
static bool
write_texts(struct round *r)
{
	bool good = true;

	for (size_t i = 0; i < r->files->n; i++) {
		struct fix_file *file = &r->files->at[i];
		struct source after = { .path = file->src->path };
		struct buf b = BUF(r->a);
		size_t at = 0, n = 0;
		struct arena *scratch;

		for (size_t k = 0; k < r->done.n; k++) {
			const struct change *c = &r->done.at[k];

			if (c->file != i)
				continue;
			buf_add(&b, file->src->text + at, c->from - at);
			buf_add(&b, c->text, c->size);
			at = c->to;
			n++;
		}
		file->text = file->src->text;
		file->size = file->src->size;
		if (!n)
			continue;
		buf_add(&b, file->src->text + at, file->src->size - at);
		file->text = after.text = buf_text(&b);
		file->size = after.size = b.n;
		scratch = arena_new();
		good &= tree_of(scratch, &after) != NULL;
		arena_free(scratch);
	}
	return good;
}

/* Accepts a fix, unless it is refused or one of the files would be no YAML any more. */
static void
try_fix(struct round *r, struct fix *f)
{
	struct changes before = { 0 };

	for (size_t i = 0; i < r->done.n; i++)
		list_push(r->a, &before, r->done.at[i]);
	accept(r, f);
	if (f->state != FIX_DONE || write_texts(r))
		return;
	r->done = before;
	f->state = FIX_REFUSED;
	f->why = "the file would no longer be valid YAML";
}

const char *
fix_name(struct arena *a, const struct fix *f)
{
	const struct span *at = &f->diag->at;

	return arena_printf(a, "%s %s:%u", code_table[f->diag->code].id,
			    at->src ? at->src->path : "", at->line);
}

struct fixes
fix_round(struct arena *a, const struct diags *ds, const struct names *skip,
	  struct fix_files *files)
{
	struct round r = { .a = a, .files = files };
	struct fixes fixes = { 0 };
	struct arena *scratch = arena_new();
	size_t tries = 0;

	r.roots = arena_array_of(scratch, const struct node *, files->n);
	for (size_t i = 0; i < files->n; i++)
		r.roots[i] = tree_of(scratch, files->at[i].src);
	for (struct diag *d = ds->head; d; d = d->next) {
		struct fix f = { .diag = d, .help = diag_first_help(d) };

		if (code_table[d->code].severity != SEV_ERROR || !f.help || !f.help->edits)
			continue;
		f.state = FIX_REFUSED;
		if (names_have(skip, fix_name(a, &f)))
			f.why = "this and another fix undo each other";
		else if (tries == TRIES_MAX ||
			 (r.done.n && !starts_with(code_table[d->code].id, "SB01")))
			f.state = FIX_LATER;
		else if (++tries)
			try_fix(&r, &f);
		list_push(a, &fixes, f);
	}
	write_texts(&r);
	arena_free(scratch);
	return fixes;
}
