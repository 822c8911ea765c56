#include "fix.h"

#include <string.h>

#include "buf.h"
#include "edit.h"
#include "str.h"
#include "yaml.h"

/* Fixes of one round: each is checked by reading the files again. */
enum { TRIES_MAX = 50 };

struct round {
	struct arena *a;
	struct fix_files *files;
	const struct node **roots; /* of the files, before */
	struct edits done;         /* those accepted so far, in the order of their places */
};

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

/* Returns why an edit cannot be applied, or NULL. */
static const char *
obstacle(const struct round *r, const struct edit *e)
{
	struct str line, text;
	size_t i = 0;

	while (i < r->files->n && r->files->at[i].src != e->at.src)
		i++;
	if (i == r->files->n)
		return e->at.src && !strcmp(e->at.src->path, "<command line>") ?
			       "its text is on the command line" :
			       "its text is in none of these files";
	if (!edit_place(e->at, &line, &text))
		return "its place does not exist";
	return e->at.width && r->roots[i] && goes_on(r->roots[i], e->at) ?
		       "the value spans more than one line" :
		       NULL;
}

/* One place, or one within the other; an insertion may stand at either end of another. */
static bool
overlap(const struct edit *x, const struct edit *y)
{
	uint32_t x_end = edit_end(x), y_end = edit_end(y);

	if (x->at.src != y->at.src || x->at.line != y->at.line)
		return false;
	return (x->at.col < y_end && y->at.col < x_end) ||
	       (x->at.col == y->at.col && x_end == y_end);
}

/* Adds an edit to the text of a file, of which *at bytes are done. */
static void
apply(struct buf *b, const struct source *src, const struct edit *e, size_t *at)
{
	const char *nl = memchr(src->text, '\n', src->size);
	bool crlf =
		nl && nl > src->text && nl[-1] == '\r'; /* its line ends are those of its first */
	struct str line, text;
	size_t from, to;

	edit_place(e->at, &line, &text);
	from = (size_t)(text.p - src->text);
	to = from + text.n;
	if (edit_takes_line(e)) {
		/* The line end goes along; of the last line that before it. */
		to += to < src->size && src->text[to] == '\r';
		if (to < src->size) {
			to++;
		} else {
			from -= from > *at && src->text[from - 1] == '\n';
			from -= from > *at && src->text[from - 1] == '\r';
		}
	}
	buf_add(b, src->text + *at, from - *at);
	for (const char *p = e->replacement; *p; p++) {
		if (crlf && *p == '\n')
			buf_putc(b, '\r');
		buf_putc(b, *p);
	}
	*at = to;
}

/* Writes the files anew from what is done; false if one of them would be no YAML. */
static bool
write_texts(struct round *r)
{
	bool good = true;

	for (size_t i = 0; i < r->files->n; i++) {
		struct fix_file *file = &r->files->at[i];
		struct source after = *file->src;
		struct buf b = BUF(r->a);
		size_t at = 0, n = 0;

		for (size_t k = 0; k < r->done.n; k++)
			if (r->done.at[k]->at.src == file->src) {
				apply(&b, file->src, r->done.at[k], &at);
				n++;
			}
		if (n) {
			struct arena *scratch = arena_new();

			buf_add(&b, file->src->text + at, file->src->size - at);
			after.text = buf_text(&b);
			after.size = b.n;
			good &= tree_of(scratch, &after) != NULL;
			arena_free(scratch);
		}
		file->text = after.text;
		file->size = after.size;
	}
	return good;
}

/* Applies all edits of a fix or none: none if it is refused or a file would be no YAML any more. */
static void
try_fix(struct round *r, struct fix *f)
{
	const struct edits before = r->done;
	struct edits all = { 0 };

	for (size_t i = 0; i < before.n; i++)
		list_push(r->a, &all, before.at[i]);
	f->state = FIX_REFUSED;
	for (const struct edit *e = f->help->edits; e; e = e->next) {
		bool again = false;

		f->why = obstacle(r, e);
		for (const struct edit *k = f->help->edits; k != e && !f->why; k = k->next)
			if (overlap(k, e))
				f->why = "two of its edits overlap";
		if (f->why)
			return;
		for (size_t i = 0; i < before.n && !again; i++) {
			again = edit_same(before.at[i], e);
			if (!again && overlap(before.at[i], e)) {
				f->state = FIX_LATER;
				return;
			}
		}
		if (!again)
			edit_insert(r->a, &all, e);
	}
	r->done = all;
	if (write_texts(r)) {
		f->state = FIX_DONE;
		return;
	}
	r->done = before;
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
