#include <string.h>

#include "base/buf.h"
#include "base/str.h"
#include "docker.h"

/*
 * As much of a shell as tells which words a command gets:
 *
 *     text    := { command ( "&&" | "||" | ";" | "|" | "&" | newline | "(" | ")" ) }
 *     word    := { plain | "'" ... "'" | '"' ... '"' | "\" any | variable | "$(" ... ")" }
 *     redirection: digits ( ">" | "<" ) word, left out
 */

static const char *
docker_value(const struct settings *vars, const char *name)
{
	for (size_t i = vars->n; i-- > 0;)
		if (!strcmp(vars->at[i].name.s, name))
			return vars->at[i].value.s;
	return NULL;
}

/* The length of "(...)" or "{...}" at s, with what is nested in it; to the end if it is open. */
static size_t
nested(const char *s, char open, char close)
{
	size_t n = 0;
	unsigned depth = 0;

	for (; s[n]; n++) {
		depth += s[n] == open;
		if (s[n] == close && --depth == 0)
			return n + 1;
	}
	return n;
}

/* "$NAME", "${NAME}", "${NAME:-word}", "${NAME:+word}", "$(...)" at s: its length. */
static size_t
variable(struct arena *a, const char *s, const struct settings *vars, struct buf *out,
	 bool *unknown)
{
	const char *inner = s + 1, *value, *op;
	size_t n, name;

	if (*inner == '(') {
		*unknown = true;
		n = 1 + nested(inner, '(', ')');
		buf_add(out, s, n);
		return n;
	}
	n = *inner == '{' ? 1 + nested(inner, '{', '}') : 1;
	inner += *inner == '{';
	for (name = 0; is_alnum(inner[name]) || inner[name] == '_'; name++)
		;
	if (n == 1)
		n += name;
	if (!name) {
		buf_add(out, s, n);
		*unknown |= n > 1;
		return n;
	}
	value = docker_value(vars, arena_copy(a, inner, name));
	op = inner + name + (inner[name] == ':');
	if (s[1] == '{' && *op == '+' && n > 1)
		value = value && *value ? arena_copy(a, op + 1, (size_t)(s + n - 1 - (op + 1))) :
					  "";
	else if (s[1] == '{' && (*op == '-' || *op == '=') && (!value || !*value))
		value = arena_copy(a, op + 1, (size_t)(s + n - 1 - (op + 1)));
	if (value) {
		buf_puts(out, value);
	} else {
		*unknown = true;
		buf_add(out, s, n);
	}
	return n;
}

const char *
docker_expand(struct arena *a, const char *text, const struct settings *vars, bool *unknown)
{
	struct buf b = BUF(a);

	for (const char *p = text; *p;) {
		if (*p == '\\' && p[1] == '$') {
			buf_putc(&b, '$');
			p += 2;
		} else if (*p == '$') {
			p += variable(a, p, vars, &b, unknown);
		} else {
			buf_putc(&b, *p++);
		}
	}
	return buf_text(&b);
}

struct shell {
	struct arena *a;
	const struct settings *vars;
	const char *text, *p;
	struct buf word;
	size_t from;
	bool in_word, unknown, redirect;
	struct docker_commands out;
	struct docker_command now;
};

static void
end_word(struct shell *sh)
{
	if (sh->in_word)
		list_push(sh->a, &sh->now.words,
			  (struct docker_word){ arena_copy(sh->a, buf_text(&sh->word), sh->word.n),
						sh->from, (size_t)(sh->p - sh->text) - sh->from,
						sh->unknown, sh->redirect });
	sh->in_word = sh->unknown = sh->redirect = false;
	sh->word = BUF(sh->a);
}

static void
end_command(struct shell *sh)
{
	end_word(sh);
	if (sh->now.words.n)
		list_push(sh->a, &sh->out, sh->now);
	sh->now = (struct docker_command){ 0 };
}

static void
begin_word(struct shell *sh)
{
	if (!sh->in_word)
		sh->from = (size_t)(sh->p - sh->text);
	sh->in_word = true;
}

/* From the quote at p to behind the other one. */
static void
quoted(struct shell *sh)
{
	char q = *sh->p++;

	while (*sh->p && *sh->p != q) {
		if (q == '"' && *sh->p == '\\' && sh->p[1] && strchr("\"\\$`", sh->p[1])) {
			buf_putc(&sh->word, sh->p[1]);
			sh->p += 2;
		} else if (q == '"' && *sh->p == '$') {
			sh->p += variable(sh->a, sh->p, sh->vars, &sh->word, &sh->unknown);
		} else {
			buf_putc(&sh->word, *sh->p++);
		}
	}
	sh->p += *sh->p == q;
}

/* A variable outside quotes: blanks in its value part words. */
static void
unquoted_variable(struct shell *sh)
{
	struct buf b = BUF(sh->a);
	size_t n = variable(sh->a, sh->p, sh->vars, &b, &sh->unknown);
	bool known = !sh->unknown;

	for (const char *v = buf_text(&b); *v; v++) {
		if (known && (*v == ' ' || *v == '\t')) {
			end_word(sh);
			continue;
		}
		begin_word(sh);
		buf_putc(&sh->word, *v);
	}
	sh->p += n;
}

/*
 * "2>&1", "> file": gone, with the word behind it.  A comparison right behind a name was
 * meant for pip, and the shell took it: kept, and marked.
 */
static void
redirection(struct shell *sh)
{
	const char *word = buf_text(&sh->word);
	bool number = sh->in_word && strspn(word, "0123456789&") == sh->word.n;

	if (sh->in_word && !number && (sh->p[1] == '=' || is_digit(sh->p[1]))) {
		sh->redirect = true;
		buf_putc(&sh->word, *sh->p++);
		return;
	}
	if (number)
		sh->in_word = false;
	end_word(sh);
	sh->p += strspn(sh->p, "<>&-|");
	sh->p += strspn(sh->p, " \t");
	sh->p += strcspn(sh->p, " \t\n;&|()");
}

static void
step(struct shell *sh)
{
	char c = *sh->p;

	if (c == ' ' || c == '\t') {
		end_word(sh);
		sh->p++;
	} else if (strchr("\n;&|()", c)) {
		end_command(sh);
		sh->p++;
	} else if (c == '#' && !sh->in_word) {
		sh->p += strcspn(sh->p, "\n");
	} else if (c == '<' || c == '>') {
		redirection(sh);
	} else if (c == '$') {
		unquoted_variable(sh);
	} else {
		begin_word(sh);
		if (c == '\'' || c == '"') {
			quoted(sh);
			return;
		}
		if (c == '`')
			sh->unknown = true;
		sh->p += c == '\\' && sh->p[1];
		buf_putc(&sh->word, *sh->p++);
	}
}

struct docker_commands
docker_commands(struct arena *a, const char *text, const struct settings *vars)
{
	struct shell sh = { .a = a, .vars = vars, .text = text, .p = text, .word = BUF(a) };

	while (*sh.p)
		step(&sh);
	end_command(&sh);
	return sh.out;
}
