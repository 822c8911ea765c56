#include <string.h>

#include "base/buf.h"
#include "base/str.h"
#include "pip.h"
#include "wish.h"

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

/* Characters, not bytes. */
static uint32_t
columns_of(const char *s, size_t n)
{
	uint32_t k = 0;

	for (size_t i = 0; i < n; i++)
		k += ((unsigned char)s[i] & 0xC0) != 0x80;
	return k;
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
			l.at.col = columns_of(s, skip) + 1;
			l.at.width = columns_of(s + skip, n - skip);
		}
		if (b.n)
			buf_putc(&b, ' ');
		buf_add(&b, s + skip, n - skip);
	}
	l.text = buf_text(&b);
	return l;
}

/* "einops==0.8.0 --hash=sha256:..." without what pip alone reads. */
static const char *
without_options(struct reader *rd, const char *text, bool *hashes)
{
	const char *cut = strstr(text, " --");
	size_t n = cut ? (size_t)(cut - text) : strlen(text);

	*hashes |= cut && strstr(cut, "--hash");
	while (n && is_blank(text[n - 1]))
		n--;
	return arena_copy(rd->a, text, n);
}

static bool
is_path(const char *s)
{
	return *s == '.' || *s == '/' || *s == '~' ||
	       (!strchr(s, '@') && !strstr(s, "://") && strchr(s, '/')) ||
	       (!strstr(s, "://") && (ends_with(s, ".whl") || ends_with(s, ".tar.gz")));
}

static void
local_code(struct reader *rd, const char *what, struct span at)
{
	wish_left(rd, what, at, "local code belongs to the application: app: {copy: [...]}");
}

static void
not_followed(struct reader *rd, const char *file, struct span at)
{
	diag_help(diag_at(rd->ds, W_INIT_NOT_READ, at, "`%s` was not read", file),
		  "--from may be repeated: --from %s", file);
}

static void
requirement(struct reader *rd, const char *text, struct span at)
{
	const char *why = NULL;
	struct diag *d;

	if (is_path(text)) {
		local_code(rd, text, at);
		return;
	}
	if (wish_add(rd, text, at, false, &why).kind != WISH_NONE)
		return;
	d = diag_at(rd->ds, W_INIT_NOT_READ, at, "`%s` is not a requirement%s%s", text,
		    why ? ": " : "", why ? why : "");
	if (strchr(text, '=') && !strstr(text, "=="))
		diag_help(d, "one `=` is conda's; pip's lists have two: `pip freeze`");
}

static void
option(struct reader *rd, const char *text, struct span at)
{
	const char *word = arena_copy(rd->a, text, strcspn(text, " \t"));
	struct str in_word;
	enum pip_option o = pip_option(word, &in_word);
	const char *value =
		in_word.p ? in_word.p : text + strlen(word) + strspn(text + strlen(word), " \t");

	switch (o) {
	case PIP_INDEX: wish_index(rd, value, false, at); return;
	case PIP_EXTRA_INDEX: wish_index(rd, value, true, at); return;
	case PIP_LINKS:
		if (!wish_torch_tag(rd, value))
			diag_at(rd->ds, W_INIT_NOT_READ, at, "what `%s` lists is not known offline",
				value);
		return;
	case PIP_REQUIREMENTS: not_followed(rd, value, at); return;
	case PIP_CONSTRAINTS:
		diag_at(rd->ds, W_INIT_NOT_READ, at, "the constraints of `%s` were not read",
			value);
		return;
	case PIP_EDITABLE:
		if (starts_with(value, "git+") || strstr(value, " @ git+"))
			requirement(rd, value, at);
		else
			local_code(rd, text, at);
		return;
	default: wish_left(rd, text, at, "an option of pip's"); return;
	}
}

bool
init_requirements(struct arena *a, struct diags *ds, const struct facts *f,
		  const struct source *src, struct init *n)
{
	struct reader rd = { a, ds, f, n };
	const char *p = src->text, *end = src->text + src->size;
	unsigned before = ds->errors;
	bool hashes = false;
	uint32_t number = 1;

	if (src->size >= 3 && !memcmp(p, "\xef\xbb\xbf", 3))
		p += 3;
	while (p < end) {
		struct line l = next_line(a, src, &p, &number);

		if (*l.text == '-')
			option(&rd, l.text, l.at);
		else if (*l.text)
			requirement(&rd, without_options(&rd, l.text, &hashes), l.at);
	}
	if (hashes)
		diag_at(ds, N_INIT_LEFT, (struct span){ .src = src },
			"left out: the hashes: a recipe holds none for packages");
	return ds->errors == before;
}
