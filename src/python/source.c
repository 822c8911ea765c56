#include <string.h>

#include "base/str.h"
#include "python.h"

/*
 * The names that a Python file binds at its top level, without an interpreter. The lexical rules are
 * those of https://docs.python.org/3/reference/lexical_analysis.html; only the beginning of each
 * statement is parsed:
 *
 *     statement := [ "async" ] "def" NAME ... | "class" NAME ...
 *                | "import" dotted [ "as" NAME ] { "," ... }
 *                | "from" dotted "import" ( "*" | NAME [ "as" NAME ] { "," ... } )
 *                | targets "=" ... | NAME ":" type "=" ...
 *
 * A file that does not end where a statement can end is not judged.
 */

enum { NAMES_MAX = 1000 };

enum token { NAME, SIGN, LINE, END };

struct scan {
	struct arena *a;
	const char *p;
	unsigned depth;  /* open brackets */
	unsigned indent; /* blanks before the statement */
	bool open;       /* a name can be bound in another way, or the file is not valid */
	enum token token;
	const char *word; /* text of a NAME, the character of a SIGN */
};

static bool
is_name(char c)
{
	return is_alnum(c) || c == '_' || (unsigned char)c >= 0x80;
}

/* Skips a string, from its first quote. */
static void
skip_string(struct scan *s)
{
	const char quote[4] = { *s->p, *s->p, *s->p, 0 };
	size_t n = starts_with(s->p, quote) ? 3 : 1;

	/* A backslash keeps a quote in a raw string, too. */
	for (s->p += n; *s->p && strncmp(s->p, quote, n) != 0; s->p++) {
		if (*s->p == '\\' && s->p[1])
			s->p++;
		else if (*s->p == '\n' && n == 1)
			break;
	}
	if (*s->p == *quote)
		s->p += n;
	else
		s->open = true;
}

/* Counts the blanks of a new line; an empty line has none. */
static void
new_line(struct scan *s)
{
	s->indent = 0;
	while (*s->p == ' ' || *s->p == '\t' || *s->p == '\f') {
		s->indent += *s->p != '\f';
		s->p++;
	}
}

static void
next(struct scan *s)
{
	for (;;) {
		const char *start = s->p;
		size_t n = 0;

		if (!*start) {
			s->token = END;
			s->open |= s->depth > 0;
			return;
		}
		if (*start == '#') {
			s->p += strcspn(start, "\n");
		} else if (*start == '\\' && (start[1] == '\n' || start[1] == '\r')) {
			s->p += start[1] == '\r' && start[2] == '\n' ? 3 : 2;
		} else if (*start == '\n') {
			s->p++;
			if (!s->depth) {
				new_line(s);
				s->token = LINE;
				return;
			}
		} else if (*start == ' ' || *start == '\t' || *start == '\f' || *start == '\r') {
			s->p++;
		} else if (*start == '"' || *start == '\'') {
			skip_string(s);
			s->token = SIGN;
			s->word = "\"";
			return;
		} else {
			while (is_name(start[n]))
				n++;
			/* r"", b"", f"" and their pairs */
			if (n && n <= 2 && (start[n] == '"' || start[n] == '\'')) {
				s->p += n;
				continue;
			}
			s->p += n ? n : 1;
			s->token = n && !is_digit(*start) ? NAME : SIGN;
			s->word = arena_copy(s->a, start, n ? n : 1);
			s->open |= among(s->word, "globals exec");
			if (strchr("([{", *start))
				s->depth++;
			else if (strchr(")]}", *start))
				s->depth -= s->depth > 0;
			return;
		}
	}
}

static bool
is_word(const struct scan *s, const char *word)
{
	return (s->token == NAME || s->token == SIGN) && !strcmp(s->word, word);
}

static bool
in_statement(const struct scan *s)
{
	return s->token != LINE && s->token != END && !(is_word(s, ";") && !s->depth);
}

static void
bind_name(struct scan *s, const char *name, struct python_names *out)
{
	if (!map_put(&out->bound, name, (void *)(uintptr_t)name) && out->names.n < NAMES_MAX)
		list_push(s->a, &out->names, name);
}

static void
bind_word(struct scan *s, struct python_names *out)
{
	if (s->token == NAME)
		bind_name(s, s->word, out);
}

/* "import a.b as c, d" or "from a import b as c, d" after its keyword. */
static void
read_import(struct scan *s, bool from, struct python_names *out)
{
	const char *name = NULL;

	while (from && in_statement(s) && !is_word(s, "import"))
		next(s);
	if (from)
		next(s);
	for (; in_statement(s); next(s)) {
		if (is_word(s, "*"))
			out->open = true;
		else if (is_word(s, "as"))
			name = NULL;
		else if (is_word(s, ".") || is_word(s, ",") || is_word(s, "(") || is_word(s, ")")) {
			if (name && !is_word(s, "."))
				bind_name(s, name, out);
			if (is_word(s, ".")) /* `import a.b` binds a */
				next(s);
			else
				name = NULL;
		} else if (s->token == NAME) {
			name = s->word;
		}
	}
	if (name)
		bind_name(s, name, out);
}

/* Adds the targets of an assignment: the names before the last `=` that are no attribute, call or
 * index. */
static void
read_assignment(struct scan *s, struct python_names *out)
{
	struct names targets = { 0 };
	bool attribute = false, annotation = false,
	     value = false; /* before the word: `.`, `:`, a value */

	for (; in_statement(s); next(s)) {
		bool equals = is_word(s, "=") && !s->depth;

		if (equals && *s->p == '=') { /* == */
			next(s);
			continue;
		}
		if (equals) {
			list_each (x, &targets)
				bind_name(s, *x, out);
			targets.n = 0;
			annotation = false;
		} else if (is_word(s, ":") && !s->depth) {
			annotation = true;
		} else if ((is_word(s, "(") || is_word(s, "[")) && value) {
			for (unsigned depth = s->depth; in_statement(s) && s->depth >= depth;)
				next(s);
		} else if (s->token == NAME && !attribute && !annotation) {
			const char after = s->p[strspn(s->p, " \t")];

			if (!after || !strchr("([.", after))
				list_push(s->a, &targets, s->word);
		} else if (s->token == SIGN && strchr("!<>+-*/%&|^@", *s->word) && *s->p == '=') {
			targets.n = 0; /* a comparison, or `x += 1`, which binds nothing new */
			next(s);
		}
		attribute = is_word(s, ".");
		value = s->token == NAME || is_word(s, ")") || is_word(s, "]");
	}
}

/*
 * Reads a statement that begins at the top level, or in a block of `try`, `with`, `for` or `while`,
 * which may run.
 */
static void
read_statement(struct scan *s, struct python_names *out)
{
	bool from = is_word(s, "from");

	if (is_word(s, "async"))
		next(s);
	if (is_word(s, "def") || is_word(s, "class")) {
		next(s);
		bind_word(s, out);
	} else if (from || is_word(s, "import")) {
		next(s);
		read_import(s, from, out);
		return;
	} else if (s->token == NAME || is_word(s, "(") || is_word(s, "[") || is_word(s, "*")) {
		read_assignment(s, out);
		return;
	}
	while (in_statement(s))
		next(s);
}

/* Skips a statement of a function or class; `global` binds its names. */
static void
skip_statement(struct scan *s, struct python_names *out)
{
	for (; in_statement(s); next(s)) {
		if (!is_word(s, "global"))
			continue;
		for (next(s); in_statement(s); next(s))
			bind_word(s, out);
		return;
	}
}

/* Reads the first line of a block: targets of `for` and `with`, and a statement after its colon. */
static void
read_block(struct scan *s, struct python_names *out, bool may_run)
{
	bool loop = is_word(s, "for"), with = is_word(s, "with");

	for (next(s); in_statement(s) && (s->depth || !is_word(s, ":")); next(s)) {
		if (is_word(s, "in"))
			loop = false;
		if (with && is_word(s, "as"))
			next(s);
		else if (!loop)
			continue;
		bind_word(s, out);
	}
	if (is_word(s, ":"))
		next(s);
	if (may_run && in_statement(s))
		read_statement(s, out);
	else
		skip_statement(s, out);
}

struct python_names
python_names(struct arena *a, const char *text)
{
	static const char may[] = "try except finally with for while";
	static const char blocks[] = "if elif else try except finally with for while";
	struct python_names out = { .bound = MAP(a) };
	struct scan s = { .a = a, .p = text };
	bool may_run = false; /* the block of the last statement at the top level */

	if (starts_with(text, "\xef\xbb\xbf"))
		s.p += 3;
	new_line(&s);
	for (next(&s); s.token != END;) {
		bool top = !s.indent, block = s.token == NAME && among(s.word, blocks);

		if (s.token == LINE || is_word(&s, ";")) {
			next(&s);
			continue;
		}
		if (top && !is_word(&s, "else"))
			may_run = block && among(s.word, may);
		if (block && (top || may_run))
			read_block(&s, &out, may_run);
		else if (top || may_run)
			read_statement(&s, &out);
		else
			skip_statement(&s, &out);
	}
	out.open |= s.open || map_get(&out.bound, "__getattr__");
	return out;
}
