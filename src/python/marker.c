#include "python/marker.h"

#include <string.h>

#include "base/str.h"

/*
 * The grammar, after PEP 508 and packaging:
 *
 *     marker   = atom (("and" | "or") atom)*
 *     atom     = blank* ("(" marker ")" | operand operator operand) blank*
 *     operand  = variable | "'" [^']* "'" | '"' [^"]* '"'
 *     operator = "in" | "not" blank+ "in" | "===" | "==" | "~=" | "!=" | "<=" | ">=" | "<" | ">"
 *     blank    = space | tab
 *
 * Words end where no letter, digit or "_" follows.
 */

/* Parentheses in each other; packaging comes to the end of Python's stack at 493. */
enum { NESTED_MAX = 490 };

static const struct {
	const char *text, *name;
} variables[] = {
	{ "python_version", NULL },
	{ "python_full_version", NULL },
	{ "os_name", NULL },
	{ "os.name", "os_name" },
	{ "sys_platform", NULL },
	{ "sys.platform", "sys_platform" },
	{ "platform_release", NULL },
	{ "platform_system", NULL },
	{ "platform_version", NULL },
	{ "platform.version", "platform_version" },
	{ "platform_machine", NULL },
	{ "platform.machine", "platform_machine" },
	{ "platform_python_implementation", NULL },
	{ "platform.python_implementation", "platform_python_implementation" },
	{ "python_implementation", "platform_python_implementation" },
	{ "implementation_name", NULL },
	{ "implementation_version", NULL },
	{ "extra", NULL },
	{ "extras", NULL },
	{ "dependency_groups", NULL },
};

static const struct {
	const char *text;
	enum marker_op op;
} operators[] = {
	{ "===", MARK_ARBITRARY }, { "==", MARK_EQ }, { "~=", MARK_COMPATIBLE }, { "!=", MARK_NE },
	{ "<=", MARK_LE },         { ">=", MARK_GE }, { "<", MARK_LT },          { ">", MARK_GT },
};

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

/* Take `word` if it stands here and ends here. */
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

	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
		if (take_word(s, variables[i].text)) {
			out->variable = true;
			out->text = variables[i].name ? variables[i].name : variables[i].text;
			return true;
		}
	if (*s->p != '\'' && *s->p != '"')
		return scan_fail(s, "expected a marker variable or a quoted string");
	end = strchr(s->p + 1, *s->p);
	if (!end)
		return scan_fail(s, "the quote is not closed");
	out->variable = false;
	out->text = literal_value(s->a, s->p, (size_t)(end + 1 - s->p));
	if (!out->text)
		return scan_fail(s, "not a valid quoted string");
	s->p = end + 1;
	return true;
}

static bool
read_operator(struct scan *s, enum marker_op *op)
{
	if (take_word(s, "in")) {
		*op = MARK_IN;
		return true;
	}
	if (take_word(s, "not")) {
		*op = MARK_NOT_IN;
		if (*s->p != ' ' && *s->p != '\t')
			return scan_fail(s, "expected a space after `not`");
		scan_blank(s);
		return take_word(s, "in") || scan_fail(s, "expected `in` after `not`");
	}
	for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++)
		if (starts_with(s->p, operators[i].text)) {
			*op = operators[i].op;
			s->p += strlen(operators[i].text);
			return true;
		}
	return scan_fail(s, "expected a comparison: ==, !=, <, <=, >, >=, ~=, ===, in, not in");
}

/* Names of extras and groups are compared in their normal form (PEP 685). */
static void
normalize_operands(struct scan *s, struct marker *m)
{
	struct operand *l = &m->lhs, *r = &m->rhs;

	if (l->variable && !r->variable && !strcmp(l->text, "extra"))
		r->text = name_normalize(s->a, r->text);
	else if (r->variable && !l->variable && marker_names(r->text))
		l->text = name_normalize(s->a, l->text);
}

static struct marker *
read_item(struct scan *s)
{
	struct marker *m = arena_new_of(s->a, struct marker);

	m->kind = MARKER_ITEM;
	if (!read_operand(s, &m->lhs))
		return NULL;
	scan_blank(s);
	if (!read_operator(s, &m->op))
		return NULL;
	scan_blank(s);
	if (!read_operand(s, &m->rhs))
		return NULL;
	normalize_operands(s, m);
	if (m->lhs.variable && marker_versions(m->lhs.text))
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
		return scan_fail(s, "too many parentheses in each other");
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

	list->kind = MARKER_LIST;
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
