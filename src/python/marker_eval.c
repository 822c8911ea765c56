#include <string.h>

#include "base/buf.h"
#include "base/str.h"
#include "python/marker.h"
#include "python/unicode.h"

/* What one evaluation needs; the arena is made when something does not fit the stack. */
struct eval {
	const struct marker_env *env;
	struct arena *a;
	bool failed;
};

static bool
is_one_of(const char *name, const char *const *names)
{
	while (*names && strcmp(name, *names))
		names++;
	return *names;
}

bool
marker_names(const char *variable)
{
	static const char *const names[] = { "extra", "extras", "dependency_groups", NULL };

	return is_one_of(variable, names);
}

bool
marker_versions(const char *variable)
{
	static const char *const names[] = { "implementation_version", "platform_release",
					     "python_full_version", "python_version", NULL };

	return is_one_of(variable, names);
}

const struct clause *
marker_clause(struct arena *a, enum marker_op op, const char *version)
{
	struct clause *c = arena_new_of(a, struct clause);
	const char *op_text = marker_op_text(op);
	size_t n = strlen(op_text), m = strlen(version);
	char *text = arena_alloc(a, n + m + 1, 1);

	memcpy(text, op_text, n);
	memcpy(text + n, version, m);
	return clause_read(a, text, n + m, c) ? c : NULL;
}

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

/* The value of the variable `name` as markers see it. */
static const char *
env_text(struct eval *e, const char *name, const struct marker_value *v)
{
	if (!v->value)
		return NULL;
	if (marker_names(name))
		return name_normalize(scratch(e), v->value);
	/* A Python built from a checkout calls itself "3.13.0a1+". */
	if (!strcmp(name, "python_full_version") && ends_with(v->value, "+"))
		return arena_printf(scratch(e), "%slocal", v->value);
	return v->value;
}

static bool
match_version(struct eval *e, const struct clause *c, const char *text)
{
	size_t n = strlen(text);
	const struct version *v;

	if (c->op == OP_ARBITRARY)
		return clause_match_text(c, NULL, unicode_lower_of(scratch(e), text, n));
	v = version_of_any_size(scratch(e), text, n);
	if (!v)
		return false;
	e->failed = e->failed || c->unusable || v->huge;
	return !e->failed && clause_match(c, v);
}

/* <, > say no to what are not versions; <= and >= mean that they are the same. */
static bool
compare_texts(struct eval *e, const char *left, enum marker_op op, const char *right)
{
	switch (op) {
	case MARK_IN: return strstr(right, left);
	case MARK_NOT_IN: return !strstr(right, left);
	case MARK_LT:
	case MARK_GT: return false;
	case MARK_LE:
	case MARK_GE:
	case MARK_EQ: return !strcmp(left, right);
	case MARK_NE: return strcmp(left, right) != 0;
	case MARK_COMPATIBLE:
	case MARK_ARBITRARY: break;
	}
	e->failed = true;
	return false;
}

static bool
compare_with_set(struct eval *e, const char *key, const char *left, enum marker_op op,
		 const struct names *set)
{
	bool found = false;

	if (!strcmp(key, "extra") || op == MARK_COMPATIBLE || op == MARK_ARBITRARY) {
		e->failed = true;
		return false;
	}
	for (size_t i = 0; i < set->n && !found; i++)
		found = !strcmp(left, marker_names(key) ? name_normalize(scratch(e), set->at[i]) :
							  set->at[i]);
	return op == MARK_IN ? found : op == MARK_NOT_IN ? !found : op == MARK_NE;
}

/* variable op "literal"; packaging takes a variable on the right for its name. */
static bool
eval_left(struct eval *e, const struct marker *m)
{
	const char *key = m->lhs.text, *right = m->rhs.text, *left;
	const struct marker_value *v = look_up(e, key);

	if (!v)
		return false;
	left = env_text(e, key, v);
	if (!left) {
		e->failed = true;
		return false;
	}
	if (marker_names(key) && strcmp(key, "extra"))
		right = name_normalize(scratch(e), right);
	return m->clause ? match_version(e, m->clause, left) : compare_texts(e, left, m->op, right);
}

/* "literal" op variable; packaging takes a literal on the right for a variable's name. */
static bool
eval_right(struct eval *e, const struct marker *m)
{
	const char *key = m->rhs.text, *left = m->lhs.text, *right;
	const struct marker_value *v = look_up(e, key);
	const struct clause *c = NULL;

	if (!v)
		return false;
	if (marker_names(key) && strcmp(key, "extra"))
		left = name_normalize(scratch(e), left);
	right = env_text(e, key, v);
	if (!right)
		return compare_with_set(e, key, left, m->op, v->set);
	if (marker_versions(key))
		c = marker_clause(scratch(e), m->op, right);
	return c ? match_version(e, c, left) : compare_texts(e, left, m->op, right);
}

/* All of it is looked at: a variable that env lacks counts wherever it stands. */
static bool
eval_list(struct eval *e, const struct marker *list)
{
	bool any = false, all = true;

	for (const struct marker *m = list->first; m; m = m->next) {
		bool value = m->kind == MARKER_LIST ? eval_list(e, m) :
			     m->lhs.variable        ? eval_left(e, m) :
						      eval_right(e, m);

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
