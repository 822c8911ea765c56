#include "diag.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"

const struct code_row code_table[CODE_COUNT] = {
#define CODE(name, id, sev, title, cause, example, fix) \
	[name] = { #name, id, sev, title, cause, example, fix },
#include "codes.def"
#undef CODE
};

static const struct {
	const char *word, *colour;
} severities[] = {
	[SEV_NOTE] = { "note", "\033[1;36m" },
	[SEV_WARNING] = { "warning", "\033[1;33m" },
	[SEV_ERROR] = { "error", "\033[1;31m" },
};

void
diags_init(struct diags *ds, struct arena *a)
{
	*ds = (struct diags){ .arena = a };
	ds->tail = &ds->head;
}

struct diag *
diag_at(struct diags *ds, enum code code, struct span at, const char *fmt, ...)
{
	struct diag *d = arena_new_of(ds->arena, struct diag);
	va_list ap;

	va_start(ap, fmt);
	*d = (struct diag){
		.all = ds,
		.code = code,
		.at = at,
		.text = mask_credentials(ds->arena, arena_vprintf(ds->arena, fmt, ap)),
	};
	va_end(ap);
	d->tail = &d->notes;
	*ds->tail = d;
	ds->tail = &d->next;
	if (code_table[code].severity == SEV_ERROR)
		ds->errors++;
	else if (code_table[code].severity == SEV_WARNING)
		ds->warnings++;
	return d;
}

static struct note *
add_note(struct diag *d, enum note_kind kind, struct span at, const char *text)
{
	struct note *n = arena_new_of(d->all->arena, struct note);

	*n = (struct note){ .kind = kind, .at = at, .text = mask_credentials(d->all->arena, text) };
	*d->tail = n;
	d->tail = &n->next;
	return n;
}

struct diag *
diag_note(struct diag *d, struct span at, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_note(d, NOTE_PLACE, at, arena_vprintf(d->all->arena, fmt, ap));
	va_end(ap);
	return d;
}

struct diag *
diag_why(struct diag *d, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_note(d, NOTE_WHY, (struct span){ 0 }, arena_vprintf(d->all->arena, fmt, ap));
	va_end(ap);
	return d;
}

struct diag *
diag_help(struct diag *d, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_note(d, NOTE_HELP, (struct span){ 0 }, arena_vprintf(d->all->arena, fmt, ap));
	va_end(ap);
	return d;
}

struct diag *
diag_fix(struct diag *d, struct span at, const char *replacement, const char *fmt, ...)
{
	struct note *n;
	va_list ap;

	va_start(ap, fmt);
	n = add_note(d, NOTE_HELP, at, arena_vprintf(d->all->arena, fmt, ap));
	va_end(ap);
	n->replacement = arena_strdup(d->all->arena, replacement);
	return d;
}

struct diag *
diag_source(struct diag *d, const char *source)
{
	add_note(d, NOTE_SOURCE, (struct span){ 0 }, source);
	return d;
}

bool
source_line(const struct source *src, uint32_t n, const char **line, size_t *size)
{
	const char *p = src->text, *end = src->text + src->size;

	/* A byte order mark is no character of the first line. */
	if (n == 1 && src->size >= 3 && !memcmp(p, "\xef\xbb\xbf", 3))
		p += 3;
	for (; n > 1; n--) {
		p = memchr(p, '\n', (size_t)(end - p));
		if (!p)
			return false;
		p++;
	}
	const char *nl = memchr(p, '\n', (size_t)(end - p));

	*line = p;
	*size = (size_t)((nl ? nl : end) - p);
	if (*size && p[*size - 1] == '\r')
		--*size;
	return true;
}

static bool
starts_char(char c)
{
	return ((unsigned char)c & 0xC0) != 0x80;
}

/*
 * A line longer than this many columns is shown from a little before the span,
 * so that a minified file does not fill the screen.
 */
enum { COLUMNS_SHOWN = 160, COLUMNS_BEFORE = 40 };

/* The bytes of `line` that are column `from` up to column `to` (from 1, `to` excluded). */
static void
columns(const char **line, size_t *size, uint32_t from, uint32_t to)
{
	const char *p = *line, *start = *line + *size, *stop = *line + *size;
	uint32_t col = 0;

	for (size_t i = 0; i < *size; i++) {
		if (!starts_char(p[i]))
			continue;
		if (++col == from)
			start = p + i;
		if (col == to) {
			stop = p + i;
			break;
		}
	}
	*line = start;
	*size = start < stop ? (size_t)(stop - start) : 0;
}

/* Characters that are not seen, or that turn the text round: Unicode's Cc, Cf, Zl and Zp. */
static bool
is_invisible(uint32_t c)
{
	static const uint32_t ranges[][2] = {
		{ 0, 0x08 },
		{ 0x0a, 0x1f },
		{ 0x7f, 0x9f },
		{ 0xad, 0xad },
		{ 0x600, 0x605 },
		{ 0x61c, 0x61c },
		{ 0x6dd, 0x6dd },
		{ 0x70f, 0x70f },
		{ 0x890, 0x891 },
		{ 0x8e2, 0x8e2 },
		{ 0x180e, 0x180e },
		{ 0x200b, 0x200f },
		{ 0x2028, 0x202e },
		{ 0x2060, 0x206f },
		{ 0xd800, 0xdfff },
		{ 0xfeff, 0xfeff },
		{ 0xfff9, 0xfffb },
		{ 0xfffe, 0xffff },
		{ 0x110bd, 0x110bd },
		{ 0x110cd, 0x110cd },
		{ 0x13430, 0x1343f },
		{ 0x1bca0, 0x1bca3 },
		{ 0x1d173, 0x1d17a },
		{ 0xe0000, 0xe007f },
		{ 0x110000, UINT32_MAX },
	};

	for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++)
		if (c <= ranges[i][1])
			return c >= ranges[i][0];
	return false;
}

/* How many bytes of `p` are one character that a terminal may get; 0: none. */
static size_t
character(const char *p, size_t n)
{
	unsigned char c = (unsigned char)*p;
	size_t len = c < 0x80 ? 1 : c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 0;
	uint32_t point = len > 1 ? c & (0x7fu >> len) : c;

	if (!len || len > n)
		return 0;
	for (size_t i = 1; i < len; i++) {
		if (starts_char(p[i]))
			return 0;
		point = point << 6 | ((unsigned char)p[i] & 0x3f);
	}
	return is_invisible(point) ? 0 : len;
}

/* Text as it may go to a terminal: an escape sequence in a recipe must stay inert. */
static void
print_bytes(const char *p, size_t n, struct buf *out)
{
	while (n) {
		size_t len = character(p, n);

		if (len)
			buf_add(out, p, len);
		else if (starts_char(*p))
			buf_putc(out, '?');
		p += len ? len : 1;
		n -= len ? len : 1;
	}
}

/* Stars over "user:secret" in URLs, one for each character, so that columns stay. */
static void
star_credentials(char *p, char *end)
{
	for (; (p = memmem(p, (size_t)(end - p), "://", 3)); p++) {
		char *host = p + 3, *stop = host, *at = NULL;

		for (; stop < end && !strchr("/?# \t'\"`", *stop); stop++)
			if (*stop == '@')
				at = stop;
		if (!at || (at - host == 3 && !memcmp(host, "git", 3)))
			continue;
		for (; host < at; host++)
			if (starts_char(*host))
				*host = '*';
	}
}

/*
 * The part of a line that is shown, as it may be shown: `p` and `n` lie in `line`, and
 * a URL may have begun before them.
 */
static void
print_part(const char *line, const char *p, size_t n, struct buf *out)
{
	enum { LOOK_BACK = 4096 };
	size_t before = (size_t)(p - line) < LOOK_BACK ? (size_t)(p - line) : LOOK_BACK;
	char *copy = arena_copy(out->a, p - before, before + n);

	star_credentials(copy, copy + before + n);
	print_bytes(copy + before, n, out);
}

/*
 * The line that a span points into, and carets under the span:
 *
 *     5 | torch: 2.2.2
 *       |        ^^^^^
 *
 * The caret row copies the line's tabs, so that the carets land right at any tab
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
		if (starts_char(line[i])) {
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

/* The line as it reads once the fix is applied. */
static void
print_fixed(const struct note *n, struct buf *out)
{
	const char *before, *after, *whole;
	size_t before_size, after_size;

	if (!n->at.src || !source_line(n->at.src, n->at.line, &before, &before_size))
		return;
	whole = after = before;
	after_size = before_size;
	columns(&before, &before_size, 1, n->at.col);
	columns(&after, &after_size, n->at.col + n->at.width, UINT32_MAX);
	if (before_size + after_size > COLUMNS_SHOWN)
		before_size = after_size = 0;
	buf_printf(out, "%5u | ", n->at.line);
	print_part(whole, before, before_size, out);
	diag_inert(n->replacement, out);
	print_part(whole, after, after_size, out);
	buf_putc(out, '\n');
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

/*
 *   because mamba-ssm 2.3.2.post1 needs triton >= 3.5.0
 *       and torch 2.2.2 needs triton 2.2.0, no other
 *   note: r.yaml:3:9: the base image brings CUDA 12.4.1
 *   help: use a cu121 or cu118 base
 *     or: torch >= 2.4.0
 *   source: knowledge/torch.yaml: 2.2.2
 */
static void
print_note(const struct note *n, const struct note *before, struct buf *out)
{
	bool again = before && before->kind == n->kind;

	switch (n->kind) {
	case NOTE_PLACE:
		buf_puts(out, "  note: ");
		print_place(n->at, out);
		diag_inert(n->text, out);
		buf_putc(out, '\n');
		print_line(n->at, out);
		return;
	case NOTE_WHY: buf_puts(out, again ? "      and " : "  because "); break;
	case NOTE_HELP: buf_puts(out, again ? "    or: " : "  help: "); break;
	case NOTE_SOURCE: buf_puts(out, "  source: "); break;
	}
	diag_inert(n->text, out);
	buf_putc(out, '\n');
	if (n->replacement && n->at.line)
		print_fixed(n, out);
}

static void
print_diag(const struct diag *d, bool colour, struct buf *out)
{
	enum severity sev = code_table[d->code].severity;
	const struct note *before = NULL;

	print_place(d->at, out);
	buf_printf(out, "%s%s[%s]%s: ", colour ? severities[sev].colour : "", severities[sev].word,
		   code_table[d->code].id, colour ? "\033[0m" : "");
	diag_inert(d->text, out);
	buf_putc(out, '\n');
	print_line(d->at, out);
	for (const struct note *n = d->notes; n; before = n, n = n->next)
		print_note(n, before, out);
}

bool
diags_print(const struct diags *ds, FILE *out, bool colour)
{
	size_t written = 0, left_out = 0;

	for (const struct diag *d = ds->head; d; d = d->next) {
		struct arena *scratch;
		struct buf b;

		if (left_out) {
			left_out++;
			continue;
		}
		scratch = arena_new();
		b = BUF(scratch);
		print_diag(d, colour, &b);
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

const char *
mask_credentials(struct arena *a, const char *text)
{
	const char *url = strstr(text, "://");
	struct buf b = BUF(a);

	for (; url; url = strstr(text, "://")) {
		const char *host = url + 3, *end = host + strcspn(host, "/?# \t\n'\"`");
		const char *at = NULL;

		for (const char *p = host; p < end; p++)
			if (*p == '@')
				at = p;
		buf_add(&b, text, (size_t)(host - text));
		if (at)
			buf_puts(&b, "***");
		text = at ? at : host;
	}
	if (!b.n)
		return text;
	buf_puts(&b, text);
	return buf_text(&b);
}

_Noreturn void
bug_at(const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "stackbuild: bug at %s:%d: ", file, line);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputs("\nthis is our fault, not yours; please report it with the command and the recipe\n",
	      stderr);
	exit(70);
}
