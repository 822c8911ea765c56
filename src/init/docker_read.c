#include <string.h>

#include "base/buf.h"
#include "docker.h"

/*
 *     file        := { "#" directive } { instruction | comment | blank line }
 *     instruction := keyword rest { escape newline rest } { heredoc }
 *     rest        := word { blank word }, a JSON array, or a shell's commands:
 *                    command { ( "&&" | "||" | ";" | "|" | "&" | newline | "(" | ")" ) command }
 *     word        := { plain | "'" ... "'" | '"' ... '"' | escape any | variable }
 *
 * d->text is a copy of the file, byte for byte, with FILL in place of line continuations, so that
 * places in both are equal.
 */
enum { FILL = 1, EXPANDED_MAX = 1024 * 1024, WORDS_MAX = 4000 };

/* --- instructions --- */

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == FILL;
}

static char *
skip_blank(char *p)
{
	while (is_blank(*p))
		p++;
	return p;
}

/* Fills the escape and the end of the line at p..nl; false: the line has no continuation. */
static bool
goes_on(const struct docker *d, char *p, char *nl)
{
	char *last = nl;

	while (last > p && is_blank(last[-1]))
		last--;
	if (!*nl || last == p || last[-1] != d->escape)
		return false;
	memset(last - 1, FILL, (size_t)(nl - last) + 2);
	return true;
}

/* Returns the end of an instruction that begins at p; fills comment lines inside it. */
static char *
instruction_end(const struct docker *d, char *p)
{
	char *nl = p + strcspn(p, "\n");

	while (goes_on(d, p, nl)) {
		p = nl + 1;
		nl = p + strcspn(p, "\n");
		while (*p && strchr("#\n", *skip_blank(p))) {
			memset(p, FILL, (size_t)(nl - p) + (*nl == '\n'));
			p = nl + (*nl == '\n');
			nl = p + strcspn(p, "\n");
		}
	}
	return nl;
}

/* Reads the body of a heredoc at p, up to the line of its word, and returns the place after it. A
 * heredoc without an end contains the rest of the file. */
static char *
take_heredoc(struct docker *d, struct instruction *in, const char *word, char *p)
{
	bool dash = *word == '-';
	size_t n = 0;

	word += dash;
	word += *word == '"' || *word == '\'';
	while (is_alnum(word[n]) || word[n] == '_')
		n++;
	if (!n)
		return p;
	list_push(d->rd->a, &in->bodies, p);
	while (*p) {
		char *nl = p + strcspn(p, "\n"), *s = p;

		while (dash && *s == '\t')
			s++;
		p = *nl ? nl + 1 : nl;
		if (!strncmp(s, word, n) && s + n + strspn(s + n, "\r") == nl) {
			*s = '\0';
			break;
		}
	}
	return p;
}

static char *
take_instruction(struct docker *d, char *p)
{
	struct instruction in = { .p = p };
	char *end = instruction_end(d, p), *next = *end ? end + 1 : end;
	size_t n = strcspn(p, " \t\r\n\001");
	char *name = arena_copy(d->rd->a, p, n < (size_t)(end - p) ? n : (size_t)(end - p));

	*end = '\0';
	in.name = name;
	for (char *c = name; *c; c++)
		if (*c >= 'a' && *c <= 'z')
			*c = (char)(*c - 32);
	in.args = skip_blank(p + strlen(name));
	if (!strcmp(name, "RUN") || !strcmp(name, "COPY") || !strcmp(name, "ADD"))
		for (const char *w = in.args; (w = strstr(w, "<<")); w += 2)
			next = take_heredoc(d, &in, w + 2, next);
	while (in.args[0] == '-' && in.args[1] == '-') {
		n = strcspn(in.args, " \t\r\n\001");
		list_push(d->rd->a, &in.flags, arena_copy(d->rd->a, in.args, n));
		in.args = skip_blank(in.args + n);
	}
	list_push(d->rd->a, &d->all, in);
	return next;
}

char *
docker_copy_text(struct docker *d)
{
	char *p = arena_copy(d->rd->a, d->src->text, d->src->size);

	d->text = p;
	list_push(d->rd->a, &d->lines, 0);
	for (size_t i = 0; i < d->src->size; i++)
		if (p[i] == '\n')
			list_push(d->rd->a, &d->lines, i + 1);
	return p;
}

void
docker_read(struct docker *d)
{
	char *p = docker_copy_text(d);
	bool directives = true;

	if (starts_with(p, "\xef\xbb\xbf"))
		p += 3;
	while (*p && d->all.n < INIT_ITEMS_MAX) {
		char *s = skip_blank(p);

		directives &= *s == '#';
		if (directives && !strncasecmp(s + 1 + strspn(s + 1, " \t"), "escape=`", 8))
			d->escape = '`';
		p = *s && *s != '#' && *s != '\n' ? take_instruction(d, s) : s + strcspn(s, "\n");
		p += *p == '\n';
	}
	if (*p)
		diag_at(d->rd->ds, E_INIT_INPUT, (struct span){ .src = d->src },
			"more than %d instructions", INIT_ITEMS_MAX);
}

/* --- places --- */

/* Returns the last origin that begins at or before a place of the text, or NULL. */
static const struct origin *
origin_of(const struct docker *d, size_t at)
{
	size_t low = 0, high = d->origins ? d->origins->n : 0;

	while (high - low > 1) {
		size_t middle = (low + high) / 2;

		*(d->origins->at[middle].at <= at ? &low : &high) = middle;
	}
	return high ? &d->origins->at[low] : NULL;
}

const char *
docker_origin_what(const struct docker *d, const char *p)
{
	const struct origin *o = origin_of(d, (size_t)(p - d->text));

	/* A later instruction of the same text is not the call itself. */
	return o && o->at == (size_t)(p - d->text) ? o->what : NULL;
}

static struct span
span_here(struct docker *d, const char *p, size_t n)
{
	size_t at = (size_t)(p - d->text), low = 0, high = d->lines.n, width = 0, line;

	if (d->fixed.src)
		return d->fixed;
	while (high - low > 1) {
		size_t middle = (low + high) / 2;

		*(d->lines.at[middle] <= at ? &low : &high) = middle;
	}
	p = d->src->text + at;
	while (width < n && at + width < d->src->size && !strchr("\r\n", p[width]))
		width++;
	line = d->lines.at[low];
	/* A line may have thousands of words: it is not counted from its start for each of them. */
	if (d->last_place.at < line || d->last_place.at > at)
		d->last_place = (struct docker_place){ line, 0 };
	d->last_place.columns +=
		text_columns(d->src->text + d->last_place.at, at - d->last_place.at);
	d->last_place.at = at;
	return (struct span){ d->src, (uint32_t)low + 1, (uint32_t)d->last_place.columns + 1,
			      (uint32_t)text_columns(p, width) };
}

struct span
docker_span(struct docker *d, const char *p, size_t n)
{
	const struct origin *o = origin_of(d, (size_t)(p - d->text));
	struct span at;

	if (o && o->in.line)
		return o->in;
	at = span_here(d, p, n);
	at.src = o ? o->in.src : at.src;
	return at;
}

/* Returns a piece of the file on one line, for the report. */
const char *
docker_shown(struct docker *d, const char *p, size_t n)
{
	enum { SHOWN_MAX = 200 };
	struct buf b = BUF(d->rd->a);

	for (size_t i = 0; i < n && b.n < SHOWN_MAX; i++)
		if (p[i] > ' ' || p[i] < 0)
			buf_putc(&b, p[i]);
		else if (b.n && b.p[b.n - 1] != ' ')
			buf_putc(&b, ' ');
	while (b.n && strchr(" ;&|(\\", b.p[b.n - 1]))
		b.p[--b.n] = '\0';
	return b.n < SHOWN_MAX ? buf_text(&b) : arena_printf(d->rd->a, "%s ...", buf_text(&b));
}

/* --- words --- */

struct lexer {
	struct docker *d;
	enum docker_form form;
	const char *p;
	struct buf b; /* text of the word */
	struct word word;
	bool in_word;
	struct command *out;
};

static void
begin_word(struct lexer *l)
{
	if (!l->in_word)
		l->word = (struct word){ .p = l->p };
	l->in_word = true;
}

static void
end_word(struct lexer *l)
{
	l->word.n = (size_t)(l->p - l->word.p);
	l->word.s = l->in_word ? arena_copy(l->d->rd->a, buf_text(&l->b), l->b.n) : NULL;
	if (l->in_word && l->out->n < WORDS_MAX)
		list_push(l->d->rd->a, l->out, l->word);
	l->in_word = false;
	l->b.n = 0;
}

/* Inserts the value of a variable; outside quotes, blanks in it separate a shell's words. */
static void
expand(struct lexer *l, const char *value, bool quoted)
{
	struct docker *d = l->d;
	size_t before = d->expanded;

	d->expanded += strlen(value);
	if (before <= EXPANDED_MAX && d->expanded > EXPANDED_MAX)
		diag_at(d->rd->ds, E_INIT_INPUT, docker_span(d, l->p, 1),
			"the variables of this file expand to more than 1 MiB");
	for (; *value && d->expanded <= EXPANDED_MAX; value++)
		if (!quoted && l->form == FORM_SHELL && is_blank(*value)) {
			end_word(l);
		} else {
			begin_word(l);
			buf_putc(&l->b, *value);
		}
}

/* Skips "$(...)", also nested; its value is unknown. */
static void
substitution(struct lexer *l)
{
	size_t depth = 0;

	begin_word(l);
	l->word.unknown = true;
	do {
		depth += *l->p == '(';
		depth -= *l->p == ')';
		buf_putc(&l->b, *l->p++);
	} while (*l->p && (depth || *l->p == '('));
}

/* Expands "$NAME", "${NAME}" and "${NAME:-word}"; other text after `$` is unknown and stays
 * unchanged. */
static void
variable(struct lexer *l, bool quoted)
{
	bool brace = l->p[1] == '{';
	const char *name = l->p + 1 + brace, *end = name, *close, *fallback = NULL;
	struct variable *v;

	if (l->p[1] == '(') {
		substitution(l);
		return;
	}
	while (is_alnum(*end) || *end == '_')
		end++;
	close = brace ? strchr(end, '}') : end;
	if (close && close > end && *end == ':' && end[1] == '-')
		fallback = arena_copy(l->d->rd->a, end + 2, (size_t)(close - end - 2));
	v = end > name ? map_get(&l->d->vars, arena_copy(l->d->rd->a, name, (size_t)(end - name))) :
			 NULL;
	if (v)
		v->used = true;
	if (close && (close == end || fallback) && (v || fallback)) {
		expand(l, v && (*v->value || !fallback) ? v->value : fallback, quoted);
		l->p = close + brace;
		return;
	}
	begin_word(l);
	l->word.unknown |= end > name || brace;
	buf_putc(&l->b, *l->p++);
}

static void
quoted(struct lexer *l)
{
	char q = *l->p++;

	while (*l->p && *l->p != q)
		if (q == '"' && *l->p == l->d->escape && l->p[1] && strchr("\"\\$`", l->p[1])) {
			buf_putc(&l->b, l->p[1]);
			l->p += 2;
		} else if (q == '"' && *l->p == '$' && l->form != FORM_ARRAY) {
			variable(l, true);
		} else if (*l->p == FILL) {
			l->p++;
		} else {
			buf_putc(&l->b, *l->p++);
		}
	l->p += *l->p == q;
}

/*
 * Omits "2>&1" and "> file", with the next word. A comparison directly after a name was meant for
 * pip, but is a redirection for the shell: it stays and is marked.
 */
static void
redirection(struct lexer *l)
{
	bool number = l->in_word && strspn(buf_text(&l->b), "0123456789&") == l->b.n;

	if (l->in_word && !number && (l->p[1] == '=' || is_digit(l->p[1]))) {
		l->word.redirect = true;
		buf_putc(&l->b, *l->p++);
		return;
	}
	l->in_word &= !number;
	end_word(l);
	l->p += strspn(l->p, "<>&-|");
	l->p += strspn(l->p, " \t");
	l->p += strcspn(l->p, " \t\n;&|()");
}

bool
docker_words(struct docker *d, const char **p, enum docker_form form, struct command *out)
{
	struct lexer l = { .d = d, .form = form, .p = *p, .b = BUF(d->rd->a), .out = out };
	bool ended = false;

	out->n = 0;
	while (*l.p && !ended) {
		char c = *l.p;

		if (c == FILL || (c == d->escape && l.p[1] == '\n')) {
			l.p += c == FILL ? 1 : 2;
		} else if (is_blank(c) || (form == FORM_ARRAY && strchr("[],", c))) {
			end_word(&l);
			l.p++;
		} else if (c == '\n' || (form == FORM_SHELL && strchr(";&|()", c))) {
			end_word(&l);
			ended = out->n > 0;
			l.p++;
		} else if (form == FORM_SHELL && c == '#' && !l.in_word) {
			l.p += strcspn(l.p, "\n");
		} else if (form == FORM_SHELL && (c == '<' || c == '>')) {
			redirection(&l);
		} else if (c == '$' && form != FORM_ARRAY) {
			variable(&l, false);
		} else {
			begin_word(&l);
			l.word.unknown |= c == '`';
			if (c == '\'' || c == '"') {
				quoted(&l);
			} else {
				l.p += c == d->escape && l.p[1];
				buf_putc(&l.b, *l.p++);
			}
		}
	}
	end_word(&l);
	*p = l.p;
	return out->n > 0;
}

enum docker_form
docker_form(const struct instruction *in, enum docker_form other)
{
	return str_matches(in->args, "^[[][ \t]*(]|].*]|\".*])[ \t\r\001]*$") ? FORM_ARRAY : other;
}
