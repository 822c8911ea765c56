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

static const char *
wheel_at_hand(const struct step *s, const struct render_build *build)
{
	for (size_t i = 0; build && i < build->wheels.n; i++)
		if (!strcmp(build->wheels.at[i].step, s->id))
			return build->wheels.at[i].file;
	return NULL;
}

bool
docker_compiles(const struct step *s, const struct render_build *build)
{
	return step_operation(s, OP_COMPILE) && !wheel_at_hand(s, build);
}

static struct docker_stage *
add_stage(struct arena *a, struct docker_stages *all, const char *name, const char *from)
{
	list_push(a, all, (struct docker_stage){ .name = name, .from = from });
	return &all->at[all->n - 1];
}

static const char *
named(struct arena *a, const char *what, const struct step *s)
{
	return arena_printf(a, "%s-%s", what, s->id);
}

static void
add_wheel(struct arena *a, struct docker_stages *all, const struct step *s, const char *file)
{
	struct docker_stage *stage = add_stage(a, all, named(a, "wheel", s), "scratch");

	stage->holds = s;
	stage->file = file;
}

static void
add_extension(struct arena *a, struct docker_stages *all, const struct step *s, const char *name,
	      const char *from, bool fetches, bool compiles)
{
	struct docker_stage *stage = add_stage(a, all, name, from);

	stage->builds = s;
	stage->fetches = fetches;
	stage->compiles = compiles;
	list_push(a, &stage->steps, s);
}

/* The extensions that start where the trunk now ends, each with its wheel's stage. */
static void
add_extensions(struct arena *a, struct docker_stages *all, const struct plan *p,
	       const struct render_build *build, const size_t *depth, size_t trunk,
	       const char *from)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct step *s = &p->steps[i];
		const char *file = wheel_at_hand(s, build);

		if (s->kind != STEP_EXTENSION || depth[i] != trunk)
			continue;
		if (build && docker_compiles(s, build)) {
			add_extension(a, all, s, named(a, "src", s), from, true, false);
			continue;
		}
		if (!file)
			add_extension(a, all, s, s->stage, from, true, true);
		add_wheel(a, all, s, file);
	}
}

/* --- for `build` --- */

/* What gives all inputs, or all wheels. */
static void
add_gather(struct arena *a, struct docker_stages *all, const struct docker_steps *compiled,
	   const char *name)
{
	bool inputs = !strcmp(name, "inputs");
	struct docker_stage *stage = add_stage(a, all, name, "scratch");

	for (size_t i = 0; i < compiled->n; i++) {
		const struct step *s = compiled->at[i];

		list_push(a, &stage->gathers,
			  (struct docker_gather){
				  .from = named(a, inputs ? "inputs" : "wheel", s),
				  .source = inputs ? DOCKER_INPUTS "/" : "/",
				  .target = inputs ? "/" : arena_printf(a, "/%s/", s->id),
			  });
	}
}

/* What reads inputs, what compiles, and what both give. */
static void
add_builds(struct arena *a, struct docker_stages *all, const struct plan *p,
	   const struct render_build *build)
{
	struct docker_steps compiled = { 0 };

	for (size_t i = 0; i < p->n; i++)
		if (docker_compiles(&p->steps[i], build))
			list_push(a, &compiled, &p->steps[i]);
	if (!compiled.n)
		return;
	for (size_t i = 0; i < compiled.n; i++) {
		const struct step *s = compiled.at[i];

		add_stage(a, all, named(a, "inputs", s), named(a, "src", s))->reads = s;
	}
	add_gather(a, all, &compiled, "inputs");
	for (size_t i = 0; i < compiled.n; i++) {
		const struct step *s = compiled.at[i];

		add_extension(a, all, s, s->stage, named(a, "src", s), false, true);
		add_wheel(a, all, s, NULL);
	}
	add_gather(a, all, &compiled, "wheels");
}

/* What app: copies.  Engines that can name a context replace it by the recipe's directory. */
static void
add_app(struct arena *a, struct docker_stages *all, const struct plan *p)
{
	const struct recipe_app *app = &p->stack->recipe->app;

	if (app->copy.n || app->requirements.s)
		add_stage(a, all, RENDER_APP, "scratch")->context = true;
}

struct docker_stages
docker_stages(struct arena *a, const struct plan *p, const struct render_build *build)
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
		add_extensions(a, &all, p, build, depth, depth[i], from);
	}
	if (build)
		add_builds(a, &all, p, build);
	if (!p->stack->runtime_base.value)
		add_app(a, &all, p);
	last = add_stage(a, &all, "final", from);
	last->base = open.n && open.at[0]->kind == STEP_BASE ? open.at[0] : NULL;
	last->steps = open;
	for (size_t i = 0; i < p->n; i++)
		if (p->steps[i].kind == STEP_EXTENSION || p->steps[i].kind == STEP_CHECK)
			list_push(a, &last->steps, &p->steps[i]);
	last->result = !p->stack->runtime_base.value;
	if (!last->result) {
		add_app(a, &all, p);
		last = add_stage(a, &all, "runtime", p->stack->runtime_base.value);
		last->runtime = last->result = true;
	}
	return all;
}
