#include "diag.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "str.h"

const struct code_row code_table[CODE_COUNT] = {
#define CODE(name, id, sev, title, cause, example, fix) \
	[name] = { #name, id, sev, title, cause, example, fix },
#include "codes.def"
#undef CODE
};

const char *const severity_words[] = { "note", "warning", "error" };

void
diags_append(struct diags *to, struct diags *from)
{
	if (from->head) {
		for (struct diag *d = from->head; d; d = d->next)
			d->all = to; /* later changes of severity count in `to` */
		*to->tail = from->head;
		to->tail = from->tail;
	}
	to->errors += from->errors;
	to->warnings += from->warnings;
	*from = DIAGS(*from, from->arena);
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
		.text = diag_one_line(ds->arena, arena_vprintf(ds->arena, fmt, ap)),
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

enum severity
diag_severity(const struct diag *d)
{
	return d->forced ? SEV_WARNING : code_table[d->code].severity;
}

void
diag_remove(struct diags *ds, struct diag **at)
{
	enum severity severity = diag_severity(*at);

	ds->errors -= severity == SEV_ERROR;
	ds->warnings -= severity == SEV_WARNING;
	*at = (*at)->next;
	if (!*at)
		ds->tail = at;
}

void
diags_keep_errors(struct diags *ds)
{
	for (struct diag **d = &ds->head; *d;)
		if (diag_severity(*d) != SEV_ERROR)
			diag_remove(ds, d);
		else
			d = &(*d)->next;
}

void
diag_force(struct diag *d)
{
	if (diag_severity(d) != SEV_ERROR)
		return;
	d->forced = true;
	d->all->errors--;
	d->all->warnings++;
}

static void
add_note(struct diag *d, enum note_kind kind, struct span at, const char *text)
{
	struct note *n = arena_new_of(d->all->arena, struct note);

	*n = (struct note){ .kind = kind, .at = at, .text = diag_one_line(d->all->arena, text) };
	n->edits_tail = &n->edits;
	*d->tail = d->last = n;
	d->tail = &n->next;
}

static void
add_edit(struct diag *d, struct span at, const char *replacement)
{
	struct edit *e = arena_new_of(d->all->arena, struct edit);

	*e = (struct edit){ .at = at, .replacement = arena_strdup(d->all->arena, replacement) };
	*d->last->edits_tail = e;
	d->last->edits_tail = &e->next;
}

struct diag *
diag_line(struct diag *d, enum note_kind kind, struct span at, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_note(d, kind, at, arena_vprintf(d->all->arena, fmt, ap));
	va_end(ap);
	return d;
}

struct diag *
diag_fix(struct diag *d, struct span at, const char *replacement, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_note(d, NOTE_HELP, NOWHERE, arena_vprintf(d->all->arena, fmt, ap));
	va_end(ap);
	add_edit(d, at, replacement);
	return d;
}

struct diag *
diag_fix_more(struct diag *d, struct span at, const char *replacement)
{
	if (!d->last || !d->last->edits)
		BUG("an edit more than none");
	add_edit(d, at, replacement);
	return d;
}

struct diag *
diag_cost(struct diag *d, const char *fmt, ...)
{
	va_list ap;

	if (!d->last || d->last->kind != NOTE_HELP)
		BUG("a cost of nothing");
	va_start(ap, fmt);
	d->last->cost = diag_one_line(d->all->arena, arena_vprintf(d->all->arena, fmt, ap));
	va_end(ap);
	return d;
}

const struct note *
diag_first_help(const struct diag *d)
{
	const struct note *n = d->notes;

	while (n && n->kind != NOTE_HELP)
		n = n->next;
	return n;
}

struct diag *
diag_source(struct diag *d, const char *source)
{
	if (source)
		add_note(d, NOTE_SOURCE, NOWHERE, source);
	return d;
}

bool
source_line(const struct source *src, uint32_t n, const char **line, size_t *size)
{
	const char *p = src->text, *end = src->text + src->size;

	/* A byte order mark is not part of the first line. */
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

const char *
url_credentials(const char *p, const char *end, size_t *n)
{
	for (; (p = memmem(p, (size_t)(end - p), "://", 3)); p++) {
		const char *host = p + 3, *at = NULL;

		for (p = host; p < end && !strchr("/?# \t\n'\"`", *p); p++)
			if (*p == '@')
				at = p;
		p = host - 1;
		if (at) {
			*n = (size_t)(at - host);
			return host;
		}
	}
	return NULL;
}

const char *
url_file_name(struct arena *a, const char *url)
{
	const char *path = arena_copy(a, url, strcspn(url, "?#")), *slash = strrchr(path, '/');
	struct buf b = BUF(a);

	for (const char *p = slash ? slash + 1 : path; *p; p++) {
		bool coded = str_matches(p, "^%[0-9A-Fa-f]{2}");
		char c = coded ? (char)strtoul(arena_copy(a, p + 1, 2), NULL, 16) : *p;

		/* No other character is in the name of a wheel or sdist. */
		coded &= is_alnum(c) || (c && strchr("._+!-", c));
		buf_putc(&b, coded ? c : *p);
		p += coded ? 2 : 0;
	}
	return buf_text(&b);
}

/*
 * A line break in a text from outside (the message of a registry, a file name) would otherwise
 * begin a line that looks like one of ours.
 */
const char *
diag_one_line(struct arena *a, const char *text)
{
	char *copy;

	text = mask_credentials(a, text);
	if (!strpbrk(text, "\r\n"))
		return text;
	copy = arena_strdup(a, text);
	for (char *p = copy; (p = strpbrk(p, "\r\n")); p++)
		*p = ' ';
	return copy;
}

_Noreturn void
bug_at(const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "stackbuild: bug at %s:%d: ", file, line);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputs("\nthis is a bug in stackbuild; please report it with the command and the recipe\n",
	      stderr);
	exit(70);
}
