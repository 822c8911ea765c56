#include <string.h>

#include "base/buf.h"
#include "base/str.h"
#include "docker.h"

/*
 *     file        := { "#" directive } { instruction | comment | blank line }
 *     instruction := keyword rest { escape newline rest } { heredoc }
 */

struct cursor {
	struct arena *a;
	const struct source *src;
	const char *p, *end;
	uint32_t line; /* of p */
	char escape;
};

/* The physical line at the cursor, without its end; the cursor goes behind it. */
static struct str
take_line(struct cursor *c)
{
	const char *nl = memchr(c->p, '\n', (size_t)(c->end - c->p));
	struct str s = { c->p, (size_t)((nl ? nl : c->end) - c->p) };

	c->p = nl ? nl + 1 : c->end;
	c->line++;
	if (s.n && s.p[s.n - 1] == '\r')
		s.n--;
	return s;
}

static struct str
left_trimmed(struct str s)
{
	while (s.n && (*s.p == ' ' || *s.p == '\t'))
		s.p++, s.n--;
	return s;
}

static uint32_t
columns_of(const char *s, size_t n)
{
	uint32_t k = 0;

	for (size_t i = 0; i < n; i++)
		k += ((unsigned char)s[i] & 0xC0) != 0x80;
	return k;
}

static void
add_piece(struct cursor *c, struct instruction *in, struct buf *b, struct str whole, struct str s)
{
	list_push(c->a, &in->marks,
		  (struct docker_mark){ b->n, c->line - 1,
					columns_of(whole.p, (size_t)(s.p - whole.p)) + 1 });
	buf_add(b, s.p, s.n);
}

/* The rest of a line: true if it goes on in the next. */
static bool
add_line(struct cursor *c, struct instruction *in, struct buf *b, struct str whole, struct str s)
{
	size_t n = s.n;

	while (n && (s.p[n - 1] == ' ' || s.p[n - 1] == '\t'))
		n--;
	if (n && s.p[n - 1] == c->escape) {
		s.n = n - 1;
		add_piece(c, in, b, whole, s);
		return true;
	}
	add_piece(c, in, b, whole, s);
	return false;
}

/* The delimiter of the heredoc that begins in `s`, or an empty view. */
static struct str
heredoc(const char *s, bool *dash)
{
	const char *p = strstr(s, "<<");
	struct str word;

	if (!p || p[2] == '<')
		return (struct str){ NULL, 0 };
	p += 2;
	*dash = *p == '-';
	p += *dash;
	p += *p == '"' || *p == '\'';
	word = (struct str){ p, 0 };
	while (is_alnum(p[word.n]) || p[word.n] == '_')
		word.n++;
	return word;
}

/* Its body is what the shell runs if nothing but flags stands before it. */
static bool
is_script(const char *text)
{
	const char *p = text;

	while (starts_with(p, "--")) {
		p += strcspn(p, " \t");
		p += strspn(p, " \t");
	}
	return starts_with(p, "<<");
}

static void
take_heredoc(struct cursor *c, struct instruction *in, struct buf *b)
{
	bool dash = false, keep = !strcmp(in->name, "RUN") && is_script(buf_text(b));
	struct str word = heredoc(buf_text(b), &dash);

	if (!word.n || !memchr("RCA", *in->name, 3))
		return;
	word.p = arena_copy(c->a, word.p, word.n);
	if (keep)
		b->n = 0;
	while (c->p < c->end) {
		struct str whole = take_line(c), s = whole;

		while (dash && s.n && *s.p == '\t')
			s.p++, s.n--;
		if (str_eq(s, word))
			return;
		if (keep) {
			add_piece(c, in, b, whole, s);
			buf_putc(b, '\n');
		}
	}
}

static const char *
capitals(struct arena *a, struct str s)
{
	char *name = arena_copy(a, s.p, s.n);

	for (char *p = name; *p; p++)
		if (*p >= 'a' && *p <= 'z')
			*p = (char)(*p - 32);
	return name;
}

/* "# escape=`" before anything else. */
static void
read_directive(struct cursor *c, struct str s)
{
	const char *text = arena_copy(c->a, s.p, s.n), *p = text + 1;

	p += strspn(p, " \t");
	if (!strncasecmp(p, "escape", 6)) {
		p += 6 + strspn(p + 6, " \t");
		if (*p == '=' && p[1 + strspn(p + 1, " \t")] == '`')
			c->escape = '`';
	}
}

static void
take_instruction(struct cursor *c, struct str whole, struct str s, struct instructions *out)
{
	struct instruction in = { .at = { .src = c->src, .line = c->line - 1 } };
	struct buf b = BUF(c->a);
	size_t n = 0;
	bool more;

	while (n < s.n && s.p[n] != ' ' && s.p[n] != '\t')
		n++;
	in.name = capitals(c->a, (struct str){ s.p, n });
	in.at.col = columns_of(whole.p, (size_t)(s.p - whole.p)) + 1;
	in.at.width = (uint32_t)n;
	more = add_line(c, &in, &b, whole, left_trimmed((struct str){ s.p + n, s.n - n }));
	while (more && c->p < c->end) {
		struct str next_whole = take_line(c), next = left_trimmed(next_whole);

		if (next.n && *next.p != '#')
			more = add_line(c, &in, &b, next_whole, next_whole);
	}
	take_heredoc(c, &in, &b);
	in.text = buf_text(&b);
	list_push(c->a, out, in);
}

struct instructions
docker_read(struct arena *a, const struct source *src)
{
	struct cursor c = { a, src, src->text, src->text + src->size, 1, '\\' };
	struct instructions out = { 0 };
	bool directives = true;

	if (src->size >= 3 && !memcmp(c.p, "\xef\xbb\xbf", 3))
		c.p += 3;
	while (c.p < c.end) {
		struct str whole = take_line(&c), s = left_trimmed(whole);

		if (s.n && *s.p == '#' && directives)
			read_directive(&c, s);
		else if (s.n && *s.p != '#')
			take_instruction(&c, whole, s, &out);
		directives &= s.n && *s.p == '#';
	}
	return out;
}

struct span
instruction_span(const struct instruction *i, size_t from, size_t n)
{
	const struct docker_mark *m = NULL;
	size_t end = strlen(i->text);
	struct span at = i->at;

	for (size_t k = 0; k < i->marks.n && i->marks.at[k].at <= from; k++) {
		m = &i->marks.at[k];
		end = k + 1 < i->marks.n ? i->marks.at[k + 1].at : strlen(i->text);
	}
	if (!m || from > end)
		return at;
	n = n < end - from ? n : end - from;
	at.line = m->line;
	at.col = m->col + columns_of(i->text + m->at, from - m->at);
	at.width = columns_of(i->text + from, n);
	return at;
}
