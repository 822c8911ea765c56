#include <string.h>

#include "buf.h"
#include "edit.h"
#include "fix.h"
#include "str.h"

/* --- one edit --- */

/* The first characters of a text on one line: a line break shows as `\n`. */
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
	/* Lines that come or go are told without their break and indentation. */
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

/* --- a file --- */

/* Lines with their ends; only the last may have none. */
struct lines LIST(struct str);

enum { CONTEXT = 3, DIFFERING_MAX = 1000 };

/* The script from old to new: one of ' ', '-', '+' a line. */
struct script {
	struct arena *a;
	struct lines old, new;
	struct buf ops;
};

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

static void
repeat(struct buf *out, char c, size_t n)
{
	while (n--)
		buf_putc(out, c);
}

/*
 * How many lines of both differ from line x and y on, before they agree again: the fewest in
 * sum. Fixes change few lines; texts that never agree within DIFFERING_MAX lines differ to the end.
 */
static void
differing(const struct script *s, size_t x, size_t y, size_t *olds, size_t *news)
{
	size_t n = s->old.n - x, m = s->new.n - y;

	for (size_t sum = 0; sum <= DIFFERING_MAX; sum++)
		for (*olds = 0; *olds <= sum; ++*olds) {
			*news = sum - *olds;
			if (*olds == n && *news == m)
				return;
			if (*olds < n && *news < m &&
			    str_eq(s->old.at[x + *olds], s->new.at[y + *news]))
				return;
		}
	*olds = n;
	*news = m;
}

static void
find_script(struct script *s)
{
	size_t x = 0, y = 0;

	while (x < s->old.n || y < s->new.n) {
		size_t olds, news;

		differing(s, x, y, &olds, &news);
		repeat(&s->ops, '-', olds);
		repeat(&s->ops, '+', news);
		x += olds + 1;
		y += news + 1;
		if (x <= s->old.n && y <= s->new.n)
			buf_putc(&s->ops, ' ');
	}
}

/* As git writes a name in a diff: in quotes only if it must. */
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

/* Where the hunk that starts at ops[from] ends: after as much context as joins no other. */
static size_t
hunk_end(const struct script *s, size_t from)
{
	size_t last = from;

	for (size_t i = from; i < s->ops.n && i <= last + 2 * CONTEXT + 1; i++)
		if (s->ops.p[i] != ' ')
			last = i;
	return last + 1 + CONTEXT < s->ops.n ? last + 1 + CONTEXT : s->ops.n;
}

static void
write_hunk(const struct script *s, size_t from, size_t to, size_t x, size_t y, struct buf *out)
{
	size_t olds = 0, news = 0;

	for (size_t i = from; i < to; i++) {
		olds += s->ops.p[i] != '+';
		news += s->ops.p[i] != '-';
	}
	buf_printf(out, "@@ -%zu,%zu +%zu,%zu @@\n", x + (olds > 0), olds, y + (news > 0), news);
	for (size_t i = from; i < to; i++) {
		char op = s->ops.p[i];
		struct str line = op == '+' ? s->new.at[y] : s->old.at[x];

		x += op != '+';
		y += op != '-';
		buf_putc(out, op);
		buf_add(out, line.p, line.n);
		if (line.p[line.n - 1] != '\n')
			buf_puts(out, "\n\\ No newline at end of file\n");
	}
}

void
fix_diff(const char *path, const char *old, size_t old_size, const char *new, size_t new_size,
	 struct buf *out)
{
	struct arena *scratch = arena_new();
	struct script s = { .a = scratch,
			    .old = split(scratch, old, old_size),
			    .new = split(scratch, new, new_size),
			    .ops = BUF(scratch) };
	size_t x = 0, y = 0, at = 0;

	find_script(&s);
	if (memchr(buf_text(&s.ops), '-', s.ops.n) || memchr(buf_text(&s.ops), '+', s.ops.n)) {
		write_name("--- ", "a/", path, out);
		write_name("+++ ", "b/", path, out);
	}
	for (size_t i = 0; i < s.ops.n;) {
		size_t from, to;

		if (s.ops.p[i] == ' ') {
			i++;
			continue;
		}
		from = i - at > CONTEXT ? i - CONTEXT : at;
		to = hunk_end(&s, i);
		x += from - at;
		y += from - at;
		write_hunk(&s, from, to, x, y, out);
		for (at = from; at < to; at++) {
			x += s.ops.p[at] != '+';
			y += s.ops.p[at] != '-';
		}
		i = to;
	}
	arena_free(scratch);
}
