#include <string.h>

#include "base/buf.h"
#include "python/marker.h"

const char *
marker_op_text(enum marker_op op)
{
	static const char *const texts[] = {
		[MARK_IN] = "in",         [MARK_NOT_IN] = "not in", [MARK_LT] = "<",
		[MARK_LE] = "<=",         [MARK_EQ] = "==",         [MARK_NE] = "!=",
		[MARK_GE] = ">=",         [MARK_GT] = ">",          [MARK_COMPATIBLE] = "~=",
		[MARK_ARBITRARY] = "===",
	};

	return texts[op];
}

static bool
add_operand(struct buf *b, const struct operand *o)
{
	const char *quote = o->variable ? "" : strchr(o->text, '"') ? "'" : "\"";

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
	if (m->kind == MARKER_ITEM) {
		if (!add_operand(b, &m->lhs))
			return false;
		buf_printf(b, " %s ", marker_op_text(m->op));
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
marker_env_linux(struct arena *a, const char *series, const char *machine)
{
	const struct version *v = version_parse(a, series);
	unsigned long major = v ? version_release(v, 0) : 0, minor = v ? version_release(v, 1) : 0;
	const char *full = v && version_release_count(v) > 2 ?
				   version_text(a, v) :
				   arena_printf(a, "%lu.%lu.0", major, minor);
	const struct marker_value values[] = {
		{ "implementation_name", "cpython", NULL },
		{ "implementation_version", full, NULL },
		{ "os_name", "posix", NULL },
		{ "platform_machine", arena_strdup(a, machine), NULL },
		{ "platform_python_implementation", "CPython", NULL },
		{ "platform_system", "Linux", NULL },
		{ "python_full_version", full, NULL },
		{ "python_version", arena_printf(a, "%lu.%lu", major, minor), NULL },
		{ "sys_platform", "linux", NULL },
		{ "extra", "", NULL },
	};
	struct marker_env env = { NULL, sizeof(values) / sizeof(values[0]) };
	struct marker_value *kept = arena_array_of(a, struct marker_value, env.n);

	memcpy(kept, values, sizeof(values));
	env.values = kept;
	return env;
}
