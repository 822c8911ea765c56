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

/* Lines from x on of the old text give way to those from y on of the new one. */
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
 * How many lines of both differ from line x and y on, before they agree again: the fewest in
 * sum. Fixes change few lines; texts that never agree within DIFFERING_MAX lines differ to the end.
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

		/* As much context as joins no other. */
		for (k = i + 1; k < all.n; k++)
			if (p[k].x - p[k - 1].x - p[k - 1].olds > 2 * CONTEXT)
				break;
		write_hunk(&old, &new, &p[i], &p[k - 1], out);
	}
	arena_free(scratch);
}
