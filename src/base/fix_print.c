#include <string.h>

#include "buf.h"
#include "fix.h"
#include "str.h"

/* The first characters of a text on one line: a line break shows as `\n`. */
static void
print_text(const char *p, size_t n, struct buf *out)
{
	enum { LONGEST = 100 };
	size_t most = n;
	struct buf b = BUF(out->a);

	if (n > LONGEST)
		for (most = LONGEST; most && ((unsigned char)p[most] & 0xc0) == 0x80;)
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

/* What stands at the place, as bytes of its line. */
static struct str
text_at(struct span at)
{
	struct str s = { "", 0 };
	const char *line;
	size_t size, from = SIZE_MAX, to = SIZE_MAX;
	uint32_t col = 0;

	if (!source_line(at.src, at.line, &line, &size))
		return s;
	for (size_t i = 0; i <= size; i++) {
		if (i < size && ((unsigned char)line[i] & 0xc0) == 0x80)
			continue;
		if (++col == at.col)
			from = i;
		if (col == at.col + at.width)
			to = i;
	}
	if (from != SIZE_MAX && to != SIZE_MAX)
		s = (struct str){ line + from, to - from };
	return s;
}

void
fix_print(const struct edit *e, struct buf *out)
{
	struct str old = text_at(e->at);
	const char *new = e->replacement;

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
	buf_puts(out, !old.n ? "+ " : *new ? " -> " : " goes");
	if (*new)
		print_text(new, strlen(new), out);
	buf_putc(out, '\n');
}
