#include <string.h>

#include "dockerfile.h"

static bool
in_trunk(const struct step *s)
{
	return s->kind != STEP_EXTENSION && s->kind != STEP_CHECK && s->kind != STEP_APP;
}

/*
 * Per step the number of trunk steps that its result depends on, itself included:
 * where an extension's own stage starts.
 */
static size_t *
depths(struct arena *a, const struct plan *p)
{
	size_t *depth = arena_array_of(a, size_t, p->n), trunk = 0;

	for (size_t i = 0; i < p->n; i++) {
		const struct step *s = &p->steps[i];

		if (in_trunk(s))
			depth[i] = ++trunk;
		for (size_t k = 0; !in_trunk(s) && k < s->inputs.n; k++) {
			size_t from = (size_t)(plan_step(p, s->inputs.at[k]) - p->steps);

			if (depth[from] > depth[i])
				depth[i] = depth[from];
		}
	}
	return depth;
}

static bool
is_cut(const struct plan *p, const size_t *depth, size_t trunk)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->steps[i].kind == STEP_EXTENSION && depth[i] == trunk)
			return true;
	return false;
}

static struct docker_stage *
add_stage(struct arena *a, struct docker_stages *all, const char *name, const char *from)
{
	list_push(a, all, (struct docker_stage){ .name = name, .from = from });
	return &all->at[all->n - 1];
}

/* The extensions that start where the trunk now ends, each with its wheel's stage. */
static void
add_extensions(struct arena *a, struct docker_stages *all, const struct plan *p,
	       const size_t *depth, size_t trunk, const char *from)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct step *s = &p->steps[i];
		struct docker_stage *stage;

		if (s->kind != STEP_EXTENSION || depth[i] != trunk)
			continue;
		stage = add_stage(a, all, s->stage, from);
		stage->builds = s;
		list_push(a, &stage->steps, s);
		stage = add_stage(a, all, arena_printf(a, "wheel-%s", s->id), "scratch");
		stage->holds = s;
	}
}

struct docker_stages
docker_stages(struct arena *a, const struct plan *p)
{
	const size_t *depth = depths(a, p);
	struct docker_stages all = { 0 };
	struct docker_steps open = { 0 };
	const char *from = p->stack->base.value;
	struct docker_stage *last;
	size_t cuts = 0;

	for (size_t i = 0; i < p->n; i++) {
		const struct step *s = &p->steps[i];

		if (!in_trunk(s))
			continue;
		list_push(a, &open, s);
		if (!is_cut(p, depth, depth[i]))
			continue;
		last = add_stage(a, &all, cuts++ ? s->id : "stack", from);
		last->base = open.at[0]->kind == STEP_BASE ? open.at[0] : NULL;
		last->steps = open;
		from = last->name;
		open = (struct docker_steps){ 0 };
		add_extensions(a, &all, p, depth, depth[i], from);
	}
	last = add_stage(a, &all, "final", from);
	last->base = open.n && open.at[0]->kind == STEP_BASE ? open.at[0] : NULL;
	last->steps = open;
	for (size_t i = 0; i < p->n; i++)
		if (p->steps[i].kind == STEP_EXTENSION || p->steps[i].kind == STEP_CHECK)
			list_push(a, &last->steps, &p->steps[i]);
	last->result = !p->stack->runtime_base.value;
	if (!last->result) {
		last = add_stage(a, &all, "runtime", p->stack->runtime_base.value);
		last->runtime = last->result = true;
	}
	return all;
}
