#include "init.h"

#include <string.h>

#include "base/buf.h"
#include "base/str.h"

/* What kind of text it is, and whether it is one. */

enum { LINE_MAX_BYTES = 64 * 1024 };

/* What is not ASCII can only stand in comments: it becomes `?`. */
static const struct source *
from_utf16(struct arena *a, const struct source *src, bool big)
{
	struct source *out = arena_new_of(a, struct source);
	char *text = arena_alloc(a, src->size, 1);

	*out = (struct source){ src->path, text, src->size / 2 - 1 };
	for (size_t i = 0; i < out->size; i++) {
		const unsigned char *unit = (const unsigned char *)src->text + 2 + 2 * i;

		text[i] = (char)(unit[!big] || unit[big] > 0x7F ? '?' : unit[big]);
	}
	return out;
}

static const struct source *
refuse(struct diags *ds, const struct source *src, uint32_t line, const char *what)
{
	struct diag *d =
		diag_at(ds, E_INIT_INPUT,
			(struct span){ .src = src, .line = line, .col = line != 0 }, "%s", what);

	diag_help(d, "give it the output of `pip freeze`, a requirements file or a Dockerfile");
	return NULL;
}

/* A file of another kind, by its first line that says something; NULL: it may be ours. */
static const char *
other_kind(struct str line)
{
	char c = line.n ? line.p[line.n - 1] : '\0';

	if (line.n > 2 && line.p[0] == '[' && c == ']')
		return "this is TOML: init does not read its dependencies";
	if (line.n > 1 && line.p[0] == '{')
		return "this is JSON";
	if (str_is(line, "---") || c == ':' || (line.n > 6 && !memcmp(line.p, "name: ", 6)))
		return "this is YAML, perhaps conda's: init does not read it";
	if (line.n > 8 && !memcmp(line.p, "Package ", 8))
		return "this is the output of `pip list`: use that of `pip freeze`";
	return NULL;
}

static struct str
trimmed(const char *p, size_t n)
{
	while (n && (*p == ' ' || *p == '\t'))
		p++, n--;
	while (n && (p[n - 1] == ' ' || p[n - 1] == '\t' || p[n - 1] == '\r'))
		n--;
	return (struct str){ p, n };
}

/* The first line that is no comment; its number in *at. */
static struct str
first_line(const struct source *src, uint32_t *at)
{
	const char *p = src->text, *end = src->text + src->size, *nl;

	if (src->size >= 3 && !memcmp(p, "\xef\xbb\xbf", 3))
		p += 3;
	for (*at = 1; p < end; p = nl + 1, ++*at) {
		struct str s;

		nl = memchr(p, '\n', (size_t)(end - p));
		s = trimmed(p, (size_t)((nl ? nl : end) - p));
		if (s.n && *s.p != '#')
			return s;
		if (!nl)
			break;
	}
	return (struct str){ "", 0 };
}

const struct source *
init_text(struct arena *a, struct diags *ds, const struct source *src)
{
	const unsigned char *p = (const unsigned char *)src->text;
	uint32_t line = 1;
	const char *other;
	size_t begin = 0;
	struct str first;

	if (src->size >= 2 && ((p[0] == 0xFF && p[1] == 0xFE) || (p[0] == 0xFE && p[1] == 0xFF)))
		src = from_utf16(a, src, p[0] == 0xFE);
	p = (const unsigned char *)src->text;
	for (size_t i = 0; i < src->size; i++) {
		if (p[i] == '\n') {
			line++;
			begin = i + 1;
		} else if ((p[i] < ' ' && !strchr("\t\r\f", p[i])) || p[i] == 0x7F || !p[i]) {
			return refuse(ds, src, line,
				      p[i] ? "a control character: this is not a text file" :
					     "a NUL byte: this is not a text file");
		} else if (i - begin > LINE_MAX_BYTES) {
			return refuse(ds, src, line, "a line longer than 64 KiB");
		}
	}
	first = first_line(src, &line);
	if (!first.n)
		return refuse(ds, src, 0, "the file holds only comments");
	other = other_kind(first);
	return other ? refuse(ds, src, line, other) : src;
}

static bool
has_no_case(const char *s, const char *word)
{
	size_t n = strlen(word);

	for (; *s; s++)
		if (!strncasecmp(s, word, n))
			return true;
	return false;
}

bool
init_is_dockerfile(const struct source *src)
{
	const char *slash = strrchr(src->path, '/'), *name = slash ? slash + 1 : src->path;
	uint32_t at;
	struct str s;

	if (has_no_case(name, "dockerfile") || has_no_case(name, "containerfile"))
		return true;
	s = first_line(src, &at);
	return (s.n > 5 && !strncasecmp(s.p, "FROM", 4) && (s.p[4] == ' ' || s.p[4] == '\t')) ||
	       (s.n > 4 && !strncasecmp(s.p, "ARG", 3) && (s.p[3] == ' ' || s.p[3] == '\t'));
}
