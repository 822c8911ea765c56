#include "python/internal.h"

#include <string.h>

#include "base/buf.h"
#include "base/str.h"

/*
 * The grammar of PEP 508 and packaging:
 *
 *     marker   = atom (("and" | "or") atom)*
 *     atom     = blank* ("(" marker ")" | operand operator operand) blank*
 *     operand  = variable | "'" [^']* "'" | '"' [^"]* '"'
 *     operator = "in" | "not" blank+ "in" | "===" | "==" | "~=" | "!=" | "<=" | ">=" | "<" | ">"
 *     blank    = space | tab
 *
 * A word ends before any character other than a letter, digit or "_".
 */

/* A quoted text, or a variable of PEP 508 by the kind of its value: extras are NAMEs. */
struct operand {
	enum { LITERAL, TEXT, VERSION, NAME } kind;
	const char *text;
};

/*
 * A marker is a list of items and lists with "and" and "or" between them, as in the text: "and"
 * binds more tightly, and parentheses make a list.
 */
struct marker {
	bool or_before;      /* "or" precedes it, not "and" */
	struct marker *next; /* in the same list */

	struct marker *first; /* first element of a list; NULL: it is an item */

	struct operand lhs, rhs; /* operands of an item */
	enum clause_op op;
	const struct clause *clause; /* Returns variable op "..." as a specifier, or NULL. */
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Maximum nesting of parentheses; packaging exhausts Python's stack at 493. */
enum { NESTED_MAX = 490 };

static const struct {
	const char *text;
	struct operand meaning;
} variables[] = {
	{ "python_version", { VERSION, "python_version" } },
	{ "python_full_version", { VERSION, "python_full_version" } },
	{ "os_name", { TEXT, "os_name" } },
	{ "os.name", { TEXT, "os_name" } },
	{ "sys_platform", { TEXT, "sys_platform" } },
	{ "sys.platform", { TEXT, "sys_platform" } },
	{ "platform_release", { VERSION, "platform_release" } },
	{ "platform_system", { TEXT, "platform_system" } },
	{ "platform_version", { TEXT, "platform_version" } },
	{ "platform.version", { TEXT, "platform_version" } },
	{ "platform_machine", { TEXT, "platform_machine" } },
	{ "platform.machine", { TEXT, "platform_machine" } },
	{ "platform_python_implementation", { TEXT, "platform_python_implementation" } },
	{ "platform.python_implementation", { TEXT, "platform_python_implementation" } },
	{ "python_implementation", { TEXT, "platform_python_implementation" } },
	{ "implementation_name", { TEXT, "implementation_name" } },
	{ "implementation_version", { VERSION, "implementation_version" } },
	{ "extra", { NAME, "extra" } },
	{ "extras", { NAME, "extras" } },
	{ "dependency_groups", { NAME, "dependency_groups" } },
};

/* Returns the comparison as a specifier; NULL for a comparison of texts. */
static const struct clause *
marker_clause(struct arena *a, enum clause_op op, const char *version)
{
	struct clause *c = arena_new_of(a, struct clause);
	const char *text = arena_printf(a, "%s%s", op_text(op), version);

	return clause_read(a, text, strlen(text), c) ? c : NULL;
}

void
scan_blank(struct scan *s)
{
	while (*s->p == ' ' || *s->p == '\t')
		s->p++;
}

void *
scan_fail(struct scan *s, const char *why)
{
	s->why = why;
	return NULL;
}

static bool
take_word(struct scan *s, const char *word)
{
	size_t n;

	if (*s->p != *word)
		return false;
	n = strlen(word);
	if (strncmp(s->p, word, n) || is_alnum(s->p[n]) || s->p[n] == '_')
		return false;
	s->p += n;
	return true;
}

static bool
read_operand(struct scan *s, struct operand *out)
{
	const char *end;

	for (size_t i = 0; i < COUNT(variables); i++)
		if (take_word(s, variables[i].text)) {
			*out = variables[i].meaning;
			return true;
		}
	if (*s->p != '\'' && *s->p != '"')
		return scan_fail(s, "expected a marker variable or a quoted string");
	end = strchr(s->p + 1, *s->p);
	if (!end)
		return scan_fail(s, "the quote is not closed");
	*out = (struct operand){ LITERAL, arena_copy(s->a, s->p + 1, (size_t)(end - s->p - 1)) };
	if (strpbrk(out->text, "\\\r\n"))
		return scan_fail(s, "not a valid quoted string");
	s->p = end + 1;
	return true;
}

static bool
read_operator(struct scan *s, enum clause_op *op)
{
	size_t n;

	if (take_word(s, "in")) {
		*op = OP_IN;
		return true;
	}
	if (take_word(s, "not")) {
		*op = OP_NOT_IN;
		if (*s->p != ' ' && *s->p != '\t')
			return scan_fail(s, "expected a space after `not`");
		scan_blank(s);
		return take_word(s, "in") || scan_fail(s, "expected `in` after `not`");
	}
	n = op_read(s->p, (size_t)(s->end - s->p), op);
	s->p += n;
	if (n)
		return true;
	return scan_fail(s, "expected a comparison: ==, !=, <, <=, >, >=, ~=, ===, in, not in");
}

/* Names of extras and groups are compared in their normal form (PEP 685). */
static void
normalize_operands(struct scan *s, struct marker *m)
{
	struct operand *l = &m->lhs, *r = &m->rhs;

	if (!strcmp(l->text, "extra") && l->kind == NAME && r->kind == LITERAL)
		r->text = name_normalize(s->a, r->text);
	else if (r->kind == NAME && l->kind == LITERAL)
		l->text = name_normalize(s->a, l->text);
}

static struct marker *
read_item(struct scan *s)
{
	struct marker *m = arena_new_of(s->a, struct marker);

	if (!read_operand(s, &m->lhs))
		return NULL;
	scan_blank(s);
	if (!read_operator(s, &m->op))
		return NULL;
	scan_blank(s);
	if (!read_operand(s, &m->rhs))
		return NULL;
	normalize_operands(s, m);
	if (m->lhs.kind == VERSION)
		m->clause = marker_clause(s->a, m->op, m->rhs.text);
	return m;
}

static struct marker *read_list(struct scan *s, unsigned depth);

static struct marker *
read_atom(struct scan *s, unsigned depth)
{
	struct marker *m;

	scan_blank(s);
	if (*s->p != '(') {
		m = read_item(s);
	} else if (depth == NESTED_MAX) {
		return scan_fail(s, "too many nested parentheses");
	} else {
		s->p++;
		m = read_list(s, depth + 1);
		if (m && *s->p != ')')
			return scan_fail(s, "expected `and`, `or` or a closing parenthesis");
		s->p += m != NULL;
	}
	scan_blank(s);
	return m;
}

static struct marker *
read_list(struct scan *s, unsigned depth)
{
	struct marker *list = arena_new_of(s->a, struct marker), **last = &list->first;
	bool or_before = false;

	for (;;) {
		struct marker *m = read_atom(s, depth);

		if (!m)
			return NULL;
		m->or_before = or_before;
		*last = m;
		last = &m->next;
		or_before = take_word(s, "or");
		if (!or_before && !take_word(s, "and"))
			return list;
	}
}

struct marker *
marker_read(struct scan *s)
{
	return read_list(s, 0);
}

const struct marker *
marker_parse(struct arena *a, const char *text)
{
	struct scan s = { .a = a, .p = text, .end = text + strlen(text) };
	const struct marker *m = marker_read(&s);

	return m && !*s.p ? m : NULL;
}

/* --- as text --- */

static bool
add_operand(struct buf *b, const struct operand *o)
{
	const char *quote = o->kind != LITERAL ? "" : strchr(o->text, '"') ? "'" : "\"";

	if (*quote == '\'' && strchr(o->text, '\''))
		return false;
	buf_puts(b, quote);
	buf_puts(b, o->text);
	buf_puts(b, quote);
	return true;
}

static bool
add_marker(struct buf *b, const struct marker *m, bool outer)
{
	if (!m->first) {
		if (!add_operand(b, &m->lhs))
			return false;
		buf_printf(b, " %s ", op_text(m->op));
		return add_operand(b, &m->rhs);
	}
	if (!m->first->next)
		return add_marker(b, m->first, outer);
	buf_puts(b, outer ? "" : "(");
	for (const struct marker *i = m->first; i; i = i->next) {
		if (i != m->first)
			buf_puts(b, i->or_before ? " or " : " and ");
		if (!add_marker(b, i, false))
			return false;
	}
	buf_puts(b, outer ? "" : ")");
	return true;
}

const char *
marker_text(struct arena *a, const struct marker *m)
{
	struct buf b = BUF(a);

	return add_marker(&b, m, true) ? buf_text(&b) : NULL;
}

struct marker_env
marker_env_linux(struct arena *a, const char *series, const char *machine, const char *extra)
{
	const struct version *v = version_parse(a, series);
	unsigned long major = v ? version_release(v, 0) : 0, minor = v ? version_release(v, 1) : 0;
	const char *full = v && version_release_count(v) > 2 ?
				   version_text(a, v) :
				   arena_printf(a, "%lu.%lu.0", major, minor);
	const char *minor_text = arena_printf(a, "%lu.%lu", major, minor);
	/* The names that most markers have come first. */
	const struct marker_value values[] = {
		{ "extra", extra, NULL },
		{ "python_version", minor_text, version_parse(a, minor_text) },
		{ "sys_platform", "linux", NULL },
		{ "platform_system", "Linux", NULL },
		{ "platform_machine", arena_strdup(a, machine), NULL },
		{ "python_full_version", full, version_parse(a, full) },
		{ "implementation_name", "cpython", NULL },
		{ "implementation_version", full, version_parse(a, full) },
		{ "os_name", "posix", NULL },
		{ "platform_python_implementation", "CPython", NULL },
	};
	struct marker_env env = { NULL, sizeof(values) / sizeof(values[0]) };
	struct marker_value *kept = arena_array_of(a, struct marker_value, env.n);

	memcpy(kept, values, sizeof(values));
	env.values = kept;
	return env;
}

/* --- as a condition --- */

/* The state of one evaluation; it creates an arena if a text does not fit on the stack. */
struct eval {
	const struct marker_env *env;
	struct arena *a;
	bool failed;
};

static struct arena *
scratch(struct eval *e)
{
	if (!e->a)
		e->a = arena_new();
	return e->a;
}

static const struct marker_value *
look_up(struct eval *e, const char *name)
{
	for (size_t i = 0; i < e->env->n; i++)
		if (!strcmp(e->env->values[i].name, name))
			return &e->env->values[i];
	e->failed = true;
	return NULL;
}

/* v: the text, parsed; NULL: not yet. */
static bool
match_version(struct eval *e, const struct clause *c, const char *text, const struct version *v)
{
	if (c->op == OP_ARBITRARY)
		return !strcmp(c->asked, arena_lower(scratch(e), text));
	if (!v)
		v = version_parse(scratch(e), text);
	return v && clause_match(c, v);
}

/* Compares texts that are not versions: < and > are false, and <= and >= test equality. */
static bool
compare_texts(struct eval *e, const char *left, enum clause_op op, const char *right)
{
	switch (op) {
	case OP_IN: return strstr(right, left);
	case OP_NOT_IN: return !strstr(right, left);
	case OP_LT:
	case OP_GT: return false;
	case OP_LE:
	case OP_GE:
	case OP_EQ: return !strcmp(left, right);
	case OP_NE: return strcmp(left, right) != 0;
	case OP_COMPATIBLE:
	case OP_ARBITRARY: break;
	}
	e->failed = true;
	return false;
}

/*
 * variable op "literal", or the other way round. If both sides are variables, packaging takes the
 * right one as its name; if both are literals, the right one as the name of a variable.
 */
static bool
eval_item(struct eval *e, const struct marker *m)
{
	bool left = m->lhs.kind != LITERAL;
	const struct operand *o = left ? &m->lhs : &m->rhs;
	const char *other = left ? m->rhs.text : m->lhs.text, *value;
	const struct marker_value *known = look_up(e, o->text);
	const struct clause *c = m->clause;

	if (!known)
		return false;
	value = known->value;
	for (size_t i = 0; o->kind == LITERAL && i < COUNT(variables); i++)
		if (!strcmp(o->text, variables[i].meaning.text))
			o = &variables[i].meaning;
	if (o->kind == NAME && *value)
		value = name_normalize(scratch(e), value);
	if (!left && o->kind == VERSION)
		c = marker_clause(scratch(e), m->op, value);
	if (c)
		return match_version(e, c, left ? value : other, left ? known->version : NULL);
	return compare_texts(e, left ? value : other, m->op, left ? other : value);
}

/* Evaluates all parts, so that a missing variable is an error anywhere. */
static bool
eval_list(struct eval *e, const struct marker *list)
{
	bool any = false, all = true;

	for (const struct marker *m = list->first; m; m = m->next) {
		bool value = m->first ? eval_list(e, m) : eval_item(e, m);

		if (m->or_before) {
			any = any || all;
			all = true;
		}
		all = all && value;
	}
	return any || all;
}

bool
marker_eval(const struct marker *m, const struct marker_env *env, bool *value)
{
	struct eval e = { .env = env };

	*value = eval_list(&e, m);
	if (e.a)
		arena_free(e.a);
	return !e.failed;
}
