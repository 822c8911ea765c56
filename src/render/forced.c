#include "forced.h"

#include <string.h>

#include "base/fs.h"
#include "base/str.h"

/*
 * One line of printable ASCII: whatever a consumer takes for the end of a line, or for more
 * of it, is none here.
 */
static const char *
inert(struct arena *a, const char *text)
{
	struct buf b = BUF(a);

	for (const char *s = text; *s; s++)
		buf_putc(&b, *s >= ' ' && *s <= '~' ? *s : '?');
	if (b.n && text[strlen(text) - 1] == '\\')
		buf_putc(&b, '.');
	return buf_text(&b);
}

struct names
forced_lines(struct arena *a, const struct diag *found)
{
	struct names lines = { 0 };

	for (const struct diag *d = found; d; d = d->next) {
		struct buf b = BUF(a);
		const char *sep = ", because ";

		if (!d->forced)
			continue;
		if (d->at.src && d->at.line)
			buf_printf(&b, "%s:%u:%u: ", fs_name(d->at.src->path), d->at.line,
				   d->at.col);
		buf_printf(&b, "error[%s]: %s", code_table[d->code].id, d->text);
		for (const struct note *n = d->notes; n; n = n->next)
			if (n->kind == NOTE_WHY) {
				buf_printf(&b, "%s%s", sep, n->text);
				sep = ", and ";
			}
		list_push(a, &lines, inert(a, buf_text(&b)));
	}
	return lines;
}

void
forced_write(struct arena *a, const struct names *lines, struct rendered *r)
{
	/* The first two lines are ours: parser directives and encodings stand there. */
	const char *script = starts_with(r->text, "#!") ? strchr(r->text, '\n') : NULL;
	size_t first = script ? (size_t)(script + 1 - r->text) : 0;
	struct buf b = BUF(a);

	for (size_t i = 0; i < r->instructions.n; i++)
		r->instructions.at[i].line += (unsigned)lines->n + 3;
	buf_add(&b, r->text, first);
	buf_puts(&b, "# Written with --force.  stackbuild check refuses this stack, and so it may\n"
		     "# well not build, or not run:\n");
	for (size_t i = 0; i < lines->n; i++)
		buf_printf(&b, "#   %s\n", lines->at[i]);
	buf_puts(&b, "#\n");
	buf_add(&b, r->text + first, r->size - first);
	r->text = buf_text(&b);
	r->size = b.n;
	r->forced = *lines;
}
