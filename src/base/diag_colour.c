/* The colours of a printed diagnostic, on a terminal. */
#include "diag.h"

#include <string.h>

#include "buf.h"
#include "str.h"

#define BOLD "\033[1m"
#define RED "\033[31m"
#define GREEN "\033[32m"
#define BLUE "\033[1;34m"

static void
paint(const char *colour, const char *p, size_t n, struct buf *out)
{
	if (!n || !*colour) {
		buf_add(out, p, n);
		return;
	}
	buf_puts(out, colour);
	buf_add(out, p, n);
	buf_puts(out, "\033[0m");
}

/* Returns the length of "    5 |", "      |" or "   10 -" at the start of a line, or 0. */
static size_t
gutter(const char *line)
{
	size_t blanks = strspn(line, " "), digits = strspn(line + blanks, "0123456789");
	size_t n = blanks + digits + (digits && line[blanks + digits] == ' ');
	bool mark = line[n] == '|' || (digits && line[n] == '-');

	return mark && n >= 6 && line[n + 1] == ' ' ? n + 1 : 0;
}

/* Returns the length of the word that begins a note, with its blanks; or 0. */
static size_t
word_of(const char *line)
{
	static const char *const words[] = { "  note: ", "  because ", "      and ",
					     "  help: ", "  or ",      "  source: " };

	for (size_t i = 0; i < COUNT(words); i++)
		if (starts_with(line, words[i]))
			return strlen(words[i]);
	return 0;
}

/* `changed`: the line belongs to a fix. */
static void
paint_line(const char *line, size_t n, bool changed, const char *severity, struct buf *out)
{
	size_t g = gutter(line), word = g ? 0 : word_of(line);
	const char *rest = line + g + word;

	paint(BLUE, line, g, out);
	paint(BOLD, line, word, out);
	n -= g + word;
	if (g && line[g - 1] == '-')
		paint(RED, rest, n, out);
	else if (g && changed)
		paint(GREEN, rest, n, out);
	else if (g && strspn(rest, " \t^") >= n)
		paint(severity, rest, n, out);
	else
		buf_add(out, rest, n);
}

void
diff_colour(const char *diff, struct buf *out)
{
	bool head = true;

	for (size_t n; *diff; diff += n) {
		n = strcspn(diff, "\n");
		head &= *diff != '@';
		paint(head         ? BOLD :
		      *diff == '@' ? BLUE :
		      *diff == '-' ? RED :
		      *diff == '+' ? GREEN :
				     "",
		      diff, n, out);
		if (diff[n]) {
			buf_putc(out, '\n');
			n++;
		}
	}
}

void
diag_colour(const char *text, size_t place, size_t code, const char *severity, struct buf *out)
{
	size_t n = strcspn(text, "\n");
	bool changed = false;

	paint(BOLD, text, place, out);
	paint(severity, text + place, code, out);
	paint(BOLD, text + place + code, n - place - code, out);
	for (text += n; *text; text += n) {
		buf_putc(out, *text++);
		n = strcspn(text, "\n");
		if (word_of(text))
			changed = starts_with(text, "  help: ") || starts_with(text, "  or ");
		paint_line(text, n, changed, severity, out);
	}
}
