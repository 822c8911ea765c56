#include "fix.h"

#include <string.h>

#include "buf.h"
#include "fix_comment.h"
#include "str.h"
#include "yaml.h"

/* Maximum number of fixes in a round. stackbuild reads the files again after each round. */
enum { TRIES_MAX = 50 };

struct round {
	struct arena *a;
	struct fix_files *files;
	const struct node **roots; /* trees of the files before the fixes */
	struct edits done;         /* edits accepted so far, in the order of their places */
};

/* Finds the first multi-line value that begins at the place, below a node. */
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
	struct diags ds = DIAGS(ds, a);

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
			       "the value was set on the command line" :
			       "the value is in none of these files";
	if (!edit_place(e->at, &line, &text))
		return "its place does not exist";
	return e->at.width && r->roots[i] && goes_on(r->roots[i], e->at) ?
		       "the value spans more than one line" :
		       NULL;
}

/*
 * Returns true for equal places, or one within the other; an insertion at either end of the other
 * one is not within it.
 */
static bool
overlap(const struct edit *x, const struct edit *y)
{
	uint32_t x_end = edit_end(x), y_end = edit_end(y);

	if (x->at.src != y->at.src || x->at.line != y->at.line)
		return false;
	return (x->at.col < y_end && y->at.col < x_end) ||
	       (x->at.col == y->at.col && x_end == y_end);
}

/* Adds an edit to the new text of a file; *at bytes of the old text are already copied. last: no
 * later edit is in the same line. */
static void
apply(struct buf *b, const struct source *src, const struct edit *e, bool last, size_t *at)
{
	const char *nl = memchr(src->text, '\n', src->size);
	bool crlf = nl && nl > src->text &&
		    nl[-1] == '\r'; /* the first line end decides for the file */
	struct str line, text;
	size_t from, to, begin, above;

	edit_place(e->at, &line, &text);
	from = (size_t)(text.p - src->text);
	to = from + text.n;
	begin = (size_t)(line.p - src->text);
	above = text.n && begin >= *at ? fix_comment_above(src->text, *at, begin, text) : begin;
	if (above < begin) {
		buf_add(b, src->text + *at, above - *at);
		*at = begin;
	}
	if (edit_takes_line(e)) {
		/* Removes the line end, too; for the last line, that of the line before. */
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
	if (last && text.n && !edit_takes_line(e))
		*at += fix_comment(text, e->replacement,
				   (struct str){ src->text + to, src->size - to }, b);
}

/* Returns whether a later edit is in the same line. */
static bool
is_followed(const struct edits *all, size_t k)
{
	const struct edit *e = all->at[k], *next = k + 1 < all->n ? all->at[k + 1] : NULL;

	return next && next->at.src == e->at.src && next->at.line == e->at.line;
}

/* Makes the texts of the files with all accepted edits; false if one would no longer be YAML. */
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
				apply(&b, file->src, r->done.at[k], !is_followed(&r->done, k), &at);
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

/* Applies all edits of a fix, or none if it is refused or would make a file invalid. */
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

static struct round
start(struct arena *a, struct arena *scratch, struct fix_files *files)
{
	struct round r = { .a = a, .files = files };

	r.roots = arena_array_of(scratch, const struct node *, files->n);
	for (size_t i = 0; i < files->n; i++)
		r.roots[i] = tree_of(scratch, files->at[i].src);
	return r;
}

const char *
fix_apply(struct arena *a, struct edit *edits, struct fix_files *files)
{
	struct arena *scratch = arena_new();
	struct round r = start(a, scratch, files);
	struct note help = { .edits = edits };
	struct fix f = { .help = &help };

	try_fix(&r, &f);
	write_texts(&r);
	arena_free(scratch);
	return f.state == FIX_DONE ? NULL : f.why;
}

struct fixes
fix_round(struct arena *a, const struct diags *ds, const struct names *skip,
	  struct fix_files *files)
{
	struct arena *scratch = arena_new();
	struct round r = start(a, scratch, files);
	struct fixes fixes = { 0 };
	size_t tries = 0;

	/* Fixes warnings only if no error can be fixed: the fix of an error may fix a warning,
	 * too. */
	for (int severity = SEV_ERROR; severity >= SEV_WARNING && !r.done.n; severity--)
		for (struct diag *d = ds->head; d; d = d->next) {
			struct fix f = { .diag = d, .help = diag_first_help(d) };

			if (d->forced || (int)diag_severity(d) != severity || !f.help ||
			    !f.help->edits)
				continue;
			f.state = FIX_REFUSED;
			if (names_have(skip, fix_name(a, &f)))
				f.why = "this fix and another one undo each other";
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

/* --- the description of one edit --- */

/* Prints the first characters of a text on one line; a line break appears as `\n`. */
static void
print_text(const char *p, size_t n, struct buf *out)
{
	enum { LONGEST = 100 };
	size_t most = n < LONGEST ? n : LONGEST;
	struct buf b = BUF(out->a);

	while (most < n && most && !starts_character(p[most]))
		most--;
	buf_putc(&b, '`');
	for (size_t i = 0; i < most; i++)
		if (p[i] == '\n')
			buf_puts(&b, "\\n");
		else if (p[i])
			buf_putc(&b, p[i]);
	buf_puts(&b, n > most ? "...`" : "`");
	diag_inert(mask_credentials(out->a, buf_text(&b)), out);
}

void
fix_print(const struct edit *e, struct buf *out)
{
	struct str line, old = { "", 0 };
	const char *new = e->replacement;

	edit_place(e->at, &line, &old);
	diag_inert(e->at.src->path, out);
	buf_printf(out, ":%u: ", e->at.line);
	/* Added and removed lines are described without line break and indentation. */
	if (!old.n)
		new += strspn(new, "\n ");
	if (!*new)
		for (; old.n && *old.p == ' '; old.n--)
			old.p++;
	if (old.n)
		print_text(old.p, old.n, out);
	buf_puts(out, !old.n ? "+ " : *new ? " -> " : " removed");
	if (*new)
		print_text(new, strlen(new), out);
	buf_putc(out, '\n');
}

/* --- the description of a changed file --- */

/* Lines with their line ends, which only the last one may lack. */
struct lines LIST(struct str);

/* A change: lines from x on in the old text become lines from y on in the new text. */
struct part {
	size_t x, olds, y, news;
};
struct parts LIST(struct part);

enum { CONTEXT = 3, DIFFERING_MAX = 1000 };

static struct lines
split(struct arena *a, const char *text, size_t size)
{
	struct lines all = { 0 };

	while (size) {
		const char *nl = memchr(text, '\n', size);
		size_t n = nl ? (size_t)(nl + 1 - text) : size;

		list_push(a, &all, (struct str){ text, n });
		text += n;
		size -= n;
	}
	return all;
}

/*
 * Returns the smallest number of lines, in sum, that differ after line x and y before the texts
 * agree again. Fixes change few lines: texts that do not agree again within DIFFERING_MAX lines
 * differ up to the end.
 */
static struct part
differing(const struct lines *old, const struct lines *new, size_t x, size_t y)
{
	size_t n = old->n - x, m = new->n - y;

	for (size_t sum = 0; sum <= DIFFERING_MAX; sum++)
		for (size_t olds = 0, news = sum; olds <= sum; olds++, news--)
			if ((olds == n && news == m) ||
			    (olds < n && news < m && str_eq(old->at[x + olds], new->at[y + news])))
				return (struct part){ x, olds, y, news };
	return (struct part){ x, n, y, m };
}

/* Writes a name as git does in a diff: in quotes only if necessary. */
static void
write_name(const char *mark, const char *side, const char *path, struct buf *out)
{
	bool quote = false;

	path += strspn(path, "/");
	for (const char *p = path; *p; p++)
		quote |= (unsigned char)*p < ' ' || (unsigned char)*p >= 0x7f || strchr("\"\\", *p);
	buf_printf(out, "%s%s%s", mark, quote ? "\"" : "", side);
	for (const char *p = path; *p; p++)
		if ((unsigned char)*p < ' ' || (unsigned char)*p >= 0x7f)
			buf_printf(out, "\\%03o", (unsigned char)*p);
		else
			buf_printf(out, "%s%c", strchr("\"\\", *p) ? "\\" : "", *p);
	buf_puts(out, quote ? "\"\n" : strchr(path, ' ') ? "\t\n" : "\n");
}

static void
write_lines(char op, const struct lines *all, size_t from, size_t to, struct buf *out)
{
	for (; from < to; from++) {
		struct str line = all->at[from];

		buf_putc(out, op);
		buf_add(out, line.p, line.n);
		if (line.p[line.n - 1] != '\n')
			buf_puts(out, "\n\\ No newline at end of file\n");
	}
}

/* Writes the differences from `first` to `last` with the lines around and between them. */
static void
write_hunk(const struct lines *old, const struct lines *new, const struct part *first,
	   const struct part *last, struct buf *out)
{
	size_t before = first->x < CONTEXT ? first->x : CONTEXT, x = first->x - before;
	size_t left = old->n - last->x - last->olds, after = left < CONTEXT ? left : CONTEXT;
	size_t end = last->x + last->olds + after, y = first->y - before;
	size_t olds = end - x, news = last->y + last->news + after - y;

	buf_printf(out, "@@ -%zu,%zu +%zu,%zu @@\n", x + (olds > 0), olds, y + (news > 0), news);
	for (const struct part *p = first; p <= last; p++) {
		write_lines(' ', old, x, p->x, out);
		x = p->x + p->olds;
		write_lines('-', old, p->x, x, out);
		write_lines('+', new, p->y, p->y + p->news, out);
	}
	write_lines(' ', old, x, end, out);
}

void
fix_diff(const char *path, const char *old_text, size_t old_size, const char *new_text,
	 size_t new_size, struct buf *out)
{
	struct arena *scratch = arena_new();
	const struct lines old = split(scratch, old_text, old_size);
	const struct lines new = split(scratch, new_text, new_size);
	struct parts all = { 0 };

	for (size_t x = 0, y = 0; x < old.n || y < new.n; x++, y++) {
		struct part p = differing(&old, &new, x, y);

		if (p.olds || p.news)
			list_push(scratch, &all, p);
		x += p.olds;
		y += p.news;
	}
	if (all.n) {
		write_name("--- ", "a/", path, out);
		write_name("+++ ", "b/", path, out);
	}
	for (size_t i = 0, k; i < all.n; i = k) {
		const struct part *p = all.at;

		/* Hunks whose context lines meet become one. */
		for (k = i + 1; k < all.n; k++)
			if (p[k].x - p[k - 1].x - p[k - 1].olds > 2 * CONTEXT)
				break;
		write_hunk(&old, &new, &p[i], &p[k - 1], out);
	}
	arena_free(scratch);
}
