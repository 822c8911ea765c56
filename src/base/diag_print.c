/* Diagnostics as text for people. */
#include "diag.h"

#include <stdarg.h>
#include <string.h>

#include "buf.h"
#include "edit.h"
#include "fold.h"
#include "secret.h"
#include "str.h"

/*
 * A line longer than this many columns is shown from a little before the span,
 * so that a minified file does not fill the screen.
 */
enum { COLUMNS_SHOWN = 160, COLUMNS_BEFORE = 40 };

/* Finds the bytes of `line` from column `from` up to column `to` (from 1, `to` excluded). */
static void
columns(const char **line, size_t *size, size_t from, size_t to)
{
	size_t skipped = utf8_bytes(*line, *size, from - 1);

	*line += skipped;
	*size = utf8_bytes(*line, *size - skipped, to - from);
}

/* Prints text safely: an escape sequence in a recipe must not reach the terminal. */
static void
print_bytes(const char *p, size_t n, struct buf *out)
{
	while (n) {
		uint32_t point;
		size_t len = utf8_decode(p, n, &point);

		if (len && utf8_invisible(point))
			len = 0;
		if (len)
			buf_add(out, p, len);
		else if (starts_character(*p))
			buf_putc(out, '?');
		p += len ? len : 1;
		n -= len ? len : 1;
	}
}

/* Replaces secrets with stars, one for each character, so that columns do not change. */
static void
star_secrets(struct arena *a, char *p, size_t n)
{
	char *hide = arena_alloc(a, n + 1, 1);

	secrets_mark(p, n, hide);
	for (size_t i = 0; i < n; i++)
		if (hide[i] && starts_character(p[i]))
			p[i] = '*';
}

/*
 * Prints the visible part of a line safely: `p` and `n` are within `line`, and a URL may begin
 * before them.
 */
static void
print_part(const char *line, const char *p, size_t n, struct buf *out)
{
	enum { LOOK_BACK = 4096 };
	size_t before = (size_t)(p - line) < LOOK_BACK ? (size_t)(p - line) : LOOK_BACK;
	char *copy = arena_copy(out->a, p - before, before + n);

	star_secrets(out->a, copy, before + n);
	print_bytes(copy + before, n, out);
}

/*
 * Prints the line of a span, and carets under the span:
 *
 *     5 | torch: 2.2.2
 *       |        ^^^^^
 *
 * The caret row copies the line's tabs, so that the carets are in the right column at any tab
 * width.
 */
static void
print_line(struct span at, struct buf *out)
{
	const char *line, *whole;
	size_t size;
	uint32_t first = 1, col, width = at.width ? at.width : 1;

	if (!at.src || !at.line || !source_line(at.src, at.line, &line, &size))
		return;
	if (at.col > COLUMNS_SHOWN - COLUMNS_BEFORE)
		first = at.col - COLUMNS_BEFORE;
	whole = line;
	columns(&line, &size, first, first + COLUMNS_SHOWN);
	if (width > COLUMNS_SHOWN)
		width = COLUMNS_SHOWN;
	buf_printf(out, "%5u | %s", at.line, first > 1 ? "..." : "");
	print_part(whole, line, size, out);
	buf_printf(out, "\n      | %s", first > 1 ? "   " : "");
	col = first;
	for (size_t i = 0; i < size && col < at.col; i++)
		if (starts_character(line[i])) {
			buf_putc(out, line[i] == '\t' ? '\t' : ' ');
			col++;
		}
	for (uint32_t i = 0; i < width && col + i < first + COLUMNS_SHOWN + 1; i++)
		buf_putc(out, '^');
	buf_putc(out, '\n');
}

void
diag_inert(const char *text, struct buf *out)
{
	for (;;) {
		size_t n = strcspn(text, "\n");

		print_bytes(text, n, out);
		if (!text[n])
			return;
		buf_putc(out, '\n');
		text += n + 1;
	}
}

void
diag_inert_coloured(const char *text, struct buf *out)
{
	for (const char *esc; (esc = strchr(text, '\033'));) {
		size_t n = esc[1] == '[' ? 2 + strspn(esc + 2, "0123456789;") : 0;

		diag_inert(arena_copy(out->a, text, (size_t)(esc - text)), out);
		n = n && esc[n] == 'm' ? n + 1 : 0;
		if (n)
			buf_add(out, esc, n);
		else
			buf_putc(out, '?');
		text = esc + (n ? n : 1);
	}
	diag_inert(text, out);
}

void
diag_tell(const char *fmt, ...)
{
	struct arena *scratch = arena_new();
	struct buf b = BUF(scratch);
	va_list ap;

	va_start(ap, fmt);
	diag_inert(diag_one_line(scratch, arena_vprintf(scratch, fmt, ap)), &b);
	va_end(ap);
	fprintf(stderr, "%s\n", buf_text(&b));
	arena_free(scratch);
}

static void
print_place(struct span at, struct buf *out)
{
	if (!at.src)
		return;
	print_bytes(at.src->path, strlen(at.src->path), out);
	if (at.line)
		buf_printf(out, ":%u:%u", at.line, at.col);
	buf_puts(out, ": ");
}

/* Prints a line with the edits applied; of a long line, it prints only the changed part. */
static void
print_edited(const char *line, size_t size, const struct edits *on, struct buf *out)
{
	bool whole = size <= COLUMNS_SHOWN;
	uint32_t col = 1;

	for (size_t i = 0; i <= on->n; i++) {
		uint32_t to = i < on->n ? on->at[i]->at.col : UINT32_MAX;
		const char *p = line;
		size_t n = size;

		if (to < col)
			continue;
		columns(&p, &n, col, to);
		if (whole)
			buf_add(out, p, n);
		else if (n)
			buf_puts(out, "...");
		if (i == on->n)
			break;
		buf_puts(out, on->at[i]->replacement);
		col = to + on->at[i]->at.width;
	}
}

/*
 *     9 |   - mamba-ssm==2.2.2       a changed line in its new form, and added lines
 *    10 -   - xformers==0.0.25       a removed line
 */
static void
print_fixed(const struct edits *on, struct buf *out)
{
	const struct edit *first = on->at[0];
	struct buf b = BUF(out->a);
	uint32_t number = first->at.line;
	const char *line;
	size_t size;

	if (!source_line(first->at.src, number, &line, &size))
		return;
	print_edited(line, size, on, &b);
	if (!b.n) {
		buf_printf(out, "%5u - ", number);
		columns(&line, &size, 1, COLUMNS_SHOWN);
		print_part(line, line, size, out);
		buf_putc(out, '\n');
		return;
	}
	for (const char *p = buf_text(&b);; p++, number++) {
		size_t n = strcspn(p, "\n");

		buf_printf(out, "%5u | ", number);
		print_part(p, p, n, out);
		buf_putc(out, '\n');
		p += n;
		if (!*p)
			return;
	}
}

/* Prints the lines that a fix changes, in their new form, and the name of another file. */
static void
print_fix(const struct diag *d, const struct edit *edits, struct buf *out)
{
	enum { LINES_SHOWN = 8 };
	const struct source *src = d->at.src;
	size_t shown = 0;

	for (const struct edit *e = edits; e; e = e->next) {
		const struct edit *first = NULL;
		struct edits on = { 0 };

		for (const struct edit *k = edits; k && e->at.src && e->at.line; k = k->next)
			if (k->at.src == e->at.src && k->at.line == e->at.line) {
				first = first ? first : k;
				edit_insert(out->a, &on, k);
			}
		if (first != e || shown++ >= LINES_SHOWN)
			continue;
		if (src && e->at.src != src) {
			buf_puts(out, "      in ");
			print_bytes(e->at.src->path, strlen(e->at.src->path), out);
			buf_putc(out, '\n');
		}
		src = e->at.src;
		print_fixed(&on, out);
	}
	if (shown > LINES_SHOWN)
		buf_printf(out, "      ... and %zu more lines\n", shown - LINES_SHOWN);
}

enum { TEXT_COLUMNS = 100 };

static const char *
help_word(const struct diag *d, const struct note *n)
{
	return n == diag_first_help(d) ? "  help: " : "  or ";
}

static size_t
help_width(const struct diag *d, const struct note *n)
{
	return strlen(help_word(d, n)) + text_columns(n->text, strlen(n->text));
}

/* Returns the column for the costs of the helps, if the lines are short enough. */
static void
print_cost(const struct diag *d, const struct note *n, struct buf *out)
{
	size_t widest = 0, cost = 0, width = help_width(d, n);

	for (const struct note *k = d->notes; k; k = k->next)
		if (k->kind == NOTE_HELP && k->cost) {
			size_t w = help_width(d, k), c = text_columns(k->cost, strlen(k->cost));

			widest = w > widest ? w : widest;
			cost = c > cost ? c : cost;
		}
	if (widest + 3 + cost > TEXT_COLUMNS)
		widest = width;
	buf_printf(out, "%*s", (int)(widest - width + 3), "");
	diag_inert(n->cost, out);
}

enum { SOURCE_COLUMNS = 70 };

/* Returns the length of the name of a source, without the list of files that were read. */
static size_t
source_name(const char *origin)
{
	const char *colon = strstr(origin, ": ");
	size_t n = strcspn(origin, ",;()");

	if (starts_with(origin, "http"))
		n = strcspn(origin, " ,;)");
	else if (n > SOURCE_COLUMNS && colon && colon < origin + n)
		n = (size_t)(colon - origin);
	while (n && strchr(": ", origin[n - 1]))
		n--;
	return n;
}

/*
 * Prints a source without details: "knowledge/torch.yaml:522 (PyPI: torch, torchvision and ..., read
 * 2026-11-20, and 2 more; not verified)" becomes "knowledge/torch.yaml:522 (PyPI: torch; not verified)".
 */
static void
print_source(const char *text, struct buf *out)
{
	static const char unverified[] = "; not verified";
	const char *origin = strstr(text, " ("), *rest;
	size_t n;

	if (!origin || !ends_with(text, ")")) {
		diag_inert(text, out);
		return;
	}
	origin += 2;
	n = source_name(origin);
	rest = origin + n;
	if (n > SOURCE_COLUMNS && memchr(origin, ' ', SOURCE_COLUMNS))
		for (n = SOURCE_COLUMNS; origin[n] != ' '; n--)
			;
	print_bytes(text, (size_t)(origin - text) + n, out);
	buf_puts(out, origin + n < rest ? " ..." : "");
	buf_puts(out, strstr(rest, unverified) ? unverified : "");
	buf_putc(out, ')');
}

/* Prints the first source of a diagnostic, and whether there are others. */
static void
print_sources(const struct note *first, struct buf *out)
{
	bool more = false;

	for (const struct note *n = first->next; n; n = n->next)
		more |= n->kind == NOTE_SOURCE;
	buf_puts(out, "  source: ");
	print_source(first->text, out);
	buf_puts(out, more ? ", and others (-v)\n" : "\n");
}

/*
 *   because mamba-ssm 2.3.2.post1 needs triton >= 3.5.0
 *       and torch 2.2.2 needs triton 2.2.0, no other
 *   note: r.yaml:3:9: the base image brings CUDA 12.4.1
 *   help: use a cu121 or cu118 base                         3 layers rebuild, ~10 min
 *   or take torch >= 2.4.0                                  everything rebuilds, ~25 min
 *   source: knowledge/torch.yaml:522 (PyPI: torch), and others (-v)
 *
 * The first help is shown with its change of the file, which is what --fix applies.
 */
static void
print_note(const struct diag *d, const struct note *n, const struct note *before, struct buf *out)
{
	bool again = before && before->kind == n->kind;
	const char *word = "";

	switch (n->kind) {
	case NOTE_PLACE: word = "  note: "; break;
	case NOTE_WHY: word = again ? "      and " : "  because "; break;
	case NOTE_HELP: word = help_word(d, n); break;
	case NOTE_SOURCE: word = "  source: "; break;
	}
	buf_puts(out, word);
	if (n->kind == NOTE_PLACE)
		print_place(n->at, out);
	diag_inert(n->text, out);
	if (n->cost)
		print_cost(d, n, out);
	buf_putc(out, '\n');
	if (n->kind == NOTE_PLACE)
		print_line(n->at, out);
	if (n == diag_first_help(d))
		print_fix(d, n->edits, out);
}

static void
print_diag(const struct diag *d, bool colour, bool verbose, struct buf *out)
{
	enum severity sev = diag_severity(d);
	static const char *const colours[] = { "\033[1;36m", "\033[1;33m", "\033[1;31m" };
	const struct note *before = NULL;
	struct buf b = BUF(out->a);
	bool sourced = false;
	size_t place, code;

	print_place(d->at, &b);
	place = b.n;
	buf_printf(&b, "%s[%s]", severity_words[sev], code_table[d->code].id);
	code = b.n - place;
	buf_puts(&b, ": ");
	diag_inert(d->text, &b);
	buf_putc(&b, '\n');
	print_line(d->at, &b);
	/* A cause may be found after a fix, but it comes first. */
	for (int rest = 0; rest <= 1; rest++)
		for (const struct note *n = d->notes; n; n = n->next)
			if (n->kind == NOTE_SOURCE && !verbose) {
				if (rest && !sourced)
					print_sources(n, &b);
				sourced |= rest;
			} else if ((n->kind != NOTE_WHY) == rest) {
				print_note(d, n, before, &b);
				before = n;
			}
	if (colour)
		diag_colour(buf_text(&b), place, code, colours[sev], out);
	else
		buf_add(out, b.p, b.n);
}

bool
diags_print(const struct diags *ds, FILE *out, bool colour)
{
	size_t written = 0, left_out = 0;

	for (const struct diag *d = ds->head; d; d = d->next) {
		struct arena *scratch;
		struct buf b, whole;

		if (left_out) {
			left_out++;
			continue;
		}
		scratch = arena_new();
		b = whole = BUF(scratch);
		print_diag(d, colour, ds->verbose, &whole);
		if (ds->columns)
			fold(buf_text(&whole), ds->columns, &b);
		else
			b = whole;
		if (written + b.n > DIAG_BYTES_MAX - 200) {
			left_out++;
		} else {
			fwrite(buf_text(&b), 1, b.n, out);
			written += b.n;
		}
		arena_free(scratch);
	}
	if (left_out)
		fprintf(out, "... and %zu more, left out\n", left_out);
	return !ferror(out) && fflush(out) == 0;
}
