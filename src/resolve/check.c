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

const struct setting *
check_setting(const struct workspace *w, const char *name, size_t *at,
	      const struct stack_extension **extension)
{
	const struct setting *found = NULL;

	for (; !found && *at <= w->s->extensions.n; ++*at) {
		*extension = *at ? &w->s->extensions.at[*at - 1] : NULL;
		found = setting_named(*at ? &(*extension)->asked->env : &w->r->env, name);
	}
	return found;
}

/* What Modal does where the recipe is silent; what it does not take is judged where it is read. */
void
check_modal_timeout(struct workspace *w)
{
	const struct recipe_modal *m = &w->r->modal;
	const struct modal_limits *limits = facts_modal(w->f);
	struct diag *d;

	if (!m->at.line || !m->entrypoint.s || m->timeout_s.s || !limits->timeout_default_s)
		return;
	d = diag_at(w->ds, W_MODAL_TIMEOUT, m->entrypoint.at,
		    "Modal stops this function after %u seconds", limits->timeout_default_s);
	diag_why(d, "that is its default, and modal.timeout_s is not given");
	diag_help(d, "add timeout_s to modal, %u to %u", limits->timeout_min_s,
		  limits->timeout_max_s);
	diag_source(d, limits->source);
}
