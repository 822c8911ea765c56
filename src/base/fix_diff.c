#include <string.h>

#include "buf.h"
#include "fix.h"
#include "str.h"

/* Lines with their ends; only the last may have none. */
struct lines LIST(struct str);

enum { CONTEXT = 3, DISTANCE_MAX = 1000 };

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
 * Myers, "An O(ND) difference algorithm" (1986): furthest[d][k] is how far into x one
 * gets with d changes on diagonal k (x - y, counted from -d).  The rows are kept to walk
 * back.
 */
struct search {
	const struct str *x, *y;
	long n, m;
	long *rows[DISTANCE_MAX + 1];
};

static long
furthest(const struct search *s, long d, long k, bool *down)
{
	const long *before = s->rows[d - 1];
	long left = k - 1 >= -(d - 1) ? before[k - 1 + d - 1] : -1;
	long right = k + 1 <= d - 1 ? before[k + 1 + d - 1] : -1;

	*down = left < right;
	return *down ? right : left + 1;
}

/* How many changes it takes, or -1: more than are looked for. */
static long
distance(struct arena *a, struct search *s)
{
	for (long d = 0; d <= DISTANCE_MAX && d <= s->n + s->m; d++) {
		s->rows[d] = arena_array_of(a, long, (size_t)(2 * d + 1));
		for (long k = -d; k <= d; k += 2) {
			bool down;
			long x = d ? furthest(s, d, k, &down) : 0, y = x - k;

			while (x < s->n && y < s->m && y >= 0 && str_eq(s->x[x], s->y[y])) {
				x++;
				y++;
			}
			s->rows[d][k + d] = x;
			if (x >= s->n && y >= s->m)
				return d;
		}
	}
	return -1;
}

/* The script backwards, as text that the caller turns round. */
static void
walk_back(const struct search *s, long d, struct buf *out)
{
	long x = s->n, y = s->m;

	for (; d > 0; d--) {
		bool down;
		long k = x - y, from = furthest(s, d, k, &down);

		repeat(out, ' ', (size_t)(x - from));
		buf_putc(out, down ? '+' : '-');
		x = down ? from : from - 1;
		y = down ? from - k - 1 : from - k;
	}
	repeat(out, ' ', (size_t)x);
}

static void
find_script(struct script *s)
{
	size_t before = 0, after = 0, n = s->old.n, m = s->new.n;
	struct search search;
	struct buf back = BUF(s->a);
	long d;

	while (before < n && before < m && str_eq(s->old.at[before], s->new.at[before]))
		before++;
	while (after < n - before && after < m - before &&
	       str_eq(s->old.at[n - 1 - after], s->new.at[m - 1 - after]))
		after++;
	n -= before + after;
	m -= before + after;
	search = (struct search){ s->old.at + before, s->new.at + before, (long)n, (long)m, { 0 } };
	d = n && m ? distance(s->a, &search) : -1;
	repeat(&s->ops, ' ', before);
	if (d < 0) {
		repeat(&s->ops, '-', n);
		repeat(&s->ops, '+', m);
	} else {
		walk_back(&search, d, &back);
		for (size_t i = back.n; i--;)
			buf_putc(&s->ops, back.p[i]);
	}
	repeat(&s->ops, ' ', after);
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
