#include <string.h>

#include "base/buf.h"
#include "reader.h"

/*
 * Requirements files, and what `pip freeze` prints:
 *
 *     file := { line }
 *     line := [ requirement { option } | option | URL | path ] [ comment ]
 *
 * A backslash at its end joins a line with the next; a comment begins with # at the
 * start or after a blank.  https://pip.pypa.io/en/stable/reference/requirements-file-format/
 */

struct line {
	const char *text; /* joined, without comment and blanks at its ends */
	struct span at;   /* what of it stands on its first line */
};

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\f' || c == '\r';
}

/* The length of `s` before its comment. */
static size_t
before_comment(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (s[i] == '#' && (!i || is_blank(s[i - 1])))
			return i;
	return n;
}

/* The logical line that starts at *p; *number is that of the physical one. */
static struct line
next_line(struct arena *a, const struct source *src, const char **p, uint32_t *number)
{
	const char *end = src->text + src->size;
	struct line l = { NULL, { .src = src, .line = *number } };
	struct buf b = BUF(a);

	for (bool first = true, more = true; more && *p < end; first = false) {
		const char *nl = memchr(*p, '\n', (size_t)(end - *p)), *s = *p;
		size_t n = (size_t)((nl ? nl : end) - s), skip = 0;

		*p = nl ? nl + 1 : end;
		++*number;
		if (n && s[n - 1] == '\r')
			n--;
		more = n && s[n - 1] == '\\' && before_comment(s, n) == n;
		n = before_comment(s, n - more);
		while (skip < n && is_blank(s[skip]))
			skip++;
		while (n > skip && is_blank(s[n - 1]))
			n--;
		if (first) {
			l.at.col = (uint32_t)text_columns(s, skip) + 1;
			l.at.width = (uint32_t)text_columns(s + skip, n - skip);
		}
		if (b.n)
			buf_putc(&b, ' ');
		buf_add(&b, s + skip, n - skip);
	}
	l.text = buf_text(&b);
	return l;
}

/* "einops==0.8.0 --hash=sha256:...": pip's options behind a requirement are an item of their own; all
 * hashes of a file are one. */
static const char *
without_options(struct reader *rd, const struct line *l, bool *hashes)
{
	const char *cut = strstr(l->text, " --");
	size_t n = cut ? (size_t)(cut - l->text) : strlen(l->text);
	bool hash = cut && starts_with(cut, " --hash");

	if (cut && !(hash && *hashes))
		item_leave(rd, item_open(rd, hash ? "--hash" : cut + 1, l->at),
			   hash ? "a recipe holds no hashes of packages" :
				  "it is an option of pip");
	*hashes |= hash;
	while (n && is_blank(l->text[n - 1]))
		n--;
	return arena_copy(rd->a, l->text, n);
}

bool
init_requirements(struct arena *a, struct diags *ds, const struct facts *f,
		  const struct source *src, struct init *n)
{
	struct reader rd = { a, ds, f, n };
	const char *p = src->text, *end = src->text + src->size;
	size_t from = n->items.n;
	unsigned before = ds->errors;
	uint32_t number = 1;
	bool hashes = false;

	if (src->size >= 3 && !memcmp(p, "\xef\xbb\xbf", 3))
		p += 3;
	while (p < end && ds->errors == before) {
		struct line l = next_line(a, src, &p, &number);
		size_t i = *l.text ? item_open(&rd, l.text, l.at) : 0,
		       n_option = strcspn(l.text, " \t");
		struct str in_word;
		enum pip_option o = pip_option(arena_copy(a, l.text, n_option), &in_word);
		const char *value = in_word.p ? in_word.p : l.text + n_option;

		value += strspn(value, " \t");
		if (o == PIP_NONE && *l.text)
			place_requirement(&rd, i, without_options(&rd, &l, &hashes), false);
		else if (o == PIP_EDITABLE)
			place_requirement(&rd, i, value, false);
		else if (*l.text)
			place_option(&rd, i, o, value);
	}
	items_report(&rd, from);
	return ds->errors == before;
}
