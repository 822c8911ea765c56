#include "internal.h"

static void (*const checks[])(struct workspace *w) = {
#define CHECK(name, rules) check_##name,
#include "checks.def"
#undef CHECK
};

void
resolve_check(struct workspace *w)
{
	for (size_t i = 0; i < sizeof(checks) / sizeof(*checks); i++)
		checks[i](w);
}

static const struct setting *
named(const struct settings *env, const char *name)
{
	for (size_t i = 0; i < env->n; i++)
		if (!strcmp(env->at[i].name.s, name))
			return &env->at[i];
	return NULL;
}

const struct setting *
check_setting(const struct workspace *w, const char *name, size_t *at,
	      const struct stack_extension **extension)
{
	const struct setting *found = NULL;

	for (; !found && *at <= w->s->extensions.n; ++*at) {
		*extension = *at ? &w->s->extensions.at[*at - 1] : NULL;
		found = named(*at ? &(*extension)->asked->env : &w->r->env, name);
	}
	return found;
}
