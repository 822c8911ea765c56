#include <string.h>

#include "base/str.h"
#include "dockerfile.h"

/*
 * Writes a plan as stages. The trunk is the chain without extensions; a stage ends where an
 * extension starts, so that changes of later steps do not recompile it:
 *
 *     stack: base, apt, python, torch, build-deps
 *       ext-NAME: compiles one extension     wheel-NAME: FROM scratch, its wheel alone
 *     final: packages, the wheels, check, app
 *     runtime: the packages of final, on a base without compilers (if the recipe has one)
 *
 * For `build` (render.h), the source of a compiled extension has its own stage, src-NAME, from
 * which ext-NAME starts; inputs-NAME reads its inputs. buildah 1.28 builds all stages before the
 * requested one; therefore, all inputs precede the first compile.
 */

/* Returns false for a wheel by URL, or a wheel in the context (file). */
static bool
compiles(const struct step *s, const struct render_build *build, const char **file)
{
	*file = NULL;
	for (size_t i = 0; build && i < build->wheels.n; i++)
		if (!strcmp(build->wheels.at[i].step, s->id))
			*file = build->wheels.at[i].file;
	return step_operation(s, OP_COMPILE) && !*file;
}

/* Starts a stage; base: the step of FROM, or NULL. */
static struct scope *
begin(struct target *t, const char *name, const char *from, const struct step *base,
      const char *heading)
{
	struct scope *out = scope_item(t->top, "stages");

	list_push(t->a, &t->stages, (struct docker_stage){ name, base ? base->id : NULL, base });
	scope_text(out, "stage", name, NOWHERE);
	scope_text(out, "from", from, base ? base->at : NOWHERE);
	scope_text(out, "heading", heading, NOWHERE);
	if (base && !t->plan->stack->base.given)
		target_lines(out, "remarks", t->plan->stack->base.reason);
	return out;
}

static const char *
named(struct target *t, const char *what, const struct step *s)
{
	return arena_printf(t->a, "%s-%s", what, s->id);
}

static void
add_copy(struct scope *stage, const char *code)
{
	scope_code(scope_item(stage, "copies"), "copy", code);
}

/* file: the path of the wheel in the context, or NULL if another stage builds it. */
static void
wheel_stage(struct target *t, const struct step *s, const char *file)
{
	const char *heading =
		file ? arena_printf(t->a, "%s: the wheel, %s before", s->id,
				    step_operation(s, OP_COMPILE) ? "compiled" : "downloaded") :
		       NULL;
	struct scope *stage = begin(t, named(t, "wheel", s), "scratch", NULL, heading);

	stage->mark = s->id;
	add_copy(stage, file ? docker_copy(t, "", file, "/", s->at) :
			       arena_printf(t->a, "--from=%s /wheels/ /", s->stage));
}

static void
extension_stage(struct docker *d, const struct step *s, const char *name, const char *from,
		unsigned parts)
{
	const struct stack_extension *e = s->extension;
	const char *heading;

	if (parts & DOCKER_COMPILE)
		heading = arena_printf(d->t->a, "%s%s%s, %s", e->name,
				       e->version || e->path ? " " : "",
				       e->version ? e->version :
				       e->path    ? arena_printf(d->t->a, "in %s", e->path) :
						    "",
				       s->why);
	else
		heading = arena_printf(d->t->a, "%s: %s", s->id,
				       parts & DOCKER_FETCH ? "its source" :
							      "the inputs of its wheel");
	docker_step(d, begin(d->t, name, from, NULL, heading), s, parts);
}

/* Adds the extensions that start at the end of the trunk, each with the stage of its wheel. */
static void
extension_stages(struct docker *d, const size_t *depth, size_t trunk, const char *from)
{
	struct target *t = d->t;

	for (size_t i = 0; i < t->plan->n; i++) {
		const struct step *s = &t->plan->steps[i];
		const char *file;
		bool compiled = compiles(s, t->build, &file);

		if (s->kind != STEP_EXTENSION || depth[i] != trunk)
			continue;
		if (t->build && compiled) {
			extension_stage(d, s, named(t, "src", s), from, DOCKER_FETCH);
			continue;
		}
		if (!file)
			extension_stage(d, s, s->stage, from, DOCKER_FETCH | DOCKER_COMPILE);
		wheel_stage(t, s, file);
	}
}

static const char *
from_wheel(struct target *t, const struct step *s)
{
	return arena_printf(t->a, "--from=wheel-%s / /%s/", s->id, s->id);
}

/* Adds the stage with all inputs, or all wheels, and before it those of each extension. */
static void
build_stages(struct docker *d, bool inputs)
{
	const char *name = inputs ? "inputs" : "wheels", *file;
	struct target *t = d->t;
	struct names copies = { 0 };
	struct scope *stage;

	for (const struct step *s = t->plan->steps; s < t->plan->steps + t->plan->n; s++) {
		if (!compiles(s, t->build, &file)) {
			if (!inputs && !file && s->kind == STEP_EXTENSION)
				list_push(t->a, &copies, from_wheel(t, s));
			continue;
		}
		if (inputs) {
			extension_stage(d, s, named(t, name, s), named(t, "src", s), DOCKER_INPUT);
			list_push(
				t->a, &copies,
				arena_printf(t->a, "--from=inputs-%s " DOCKER_INPUTS "/ /", s->id));
		} else {
			extension_stage(d, s, s->stage, named(t, "src", s), DOCKER_COMPILE);
			wheel_stage(t, s, NULL);
			list_push(t->a, &copies, from_wheel(t, s));
		}
	}
	if (!copies.n)
		return;
	stage = begin(t, name, "scratch", NULL,
		      inputs ? "inputs of all that is compiled" : "wheels of all extensions");
	for (size_t i = 0; i < copies.n; i++)
		add_copy(stage, copies.at[i]);
}

/* Returns whether a stage copies own code from the stage `app`; `build` copies it into the context. */
static bool
needs_app_first(const struct target *t)
{
	return !t->build &&
	       list_any(e, &t->plan->stack->extensions, e->path && !own_code_outside(e->path));
}

/* Engines with named contexts replace the stage of app.copy and of own code with the recipe's
 * directory, and that of own code beside it with the directory of the code. */
static void
app_stage(struct target *t)
{
	bool own = needs_app_first(t);

	if (own || target_copies_app(t->plan->stack->recipe))
		add_copy(begin(t, RENDER_APP, "scratch", NULL,
			       arena_printf(t->a,
					    "app: %s; --build-context app=DIR replaces this stage",
					    own ? "your own code, and the application's files" :
						  "the application's files")),
			 docker_copy(t, "", RENDER_APP "/", "/", NOWHERE));
}

/* Adds a stage for each directory of own code that is not in the recipe's directory. */
static void
beside_stages(struct target *t)
{
	list_each (e, &t->plan->stack->extensions) {
		const char *name;

		if (t->build || !e->path || !own_code_outside(e->path))
			continue;
		name = target_own_context(t->a, e->asked);
		add_copy(begin(t, name, "scratch", NULL,
			       arena_printf(t->a,
					    "%s: your own code in %s; --build-context %s=DIR/%s "
					    "replaces this stage",
					    name, e->path, name, e->path)),
			 docker_copy(t, "", arena_printf(t->a, RENDER_BESIDE "/%s/", e->name), "/",
				     e->asked->path.at));
	}
}

/* --- the last stage: environment, user, application, labels --- */

/* Returns a part that is not a step of the plan. */
static struct scope *
extra(struct scope *stage)
{
	return scope_item(scope_item(stage, "steps"), "parts");
}

static void
result(struct docker *d, struct scope *out)
{
	const struct stack *s = d->t->plan->stack;
	const struct recipe *r = s->recipe;
	const char *base = s->runtime_base.value ? s->runtime_base.value : s->base.value;
	const char *user = s->user.value;
	struct scope *part;

	scope_flag(out, "result", true);
	if (s->cuda.value && !starts_with(base, "nvidia/cuda:") &&
	    !starts_with(base, "nvidia/cuda@")) {
		part = extra(out);
		target_lines(part, "remarks",
			     "NVIDIA's own images set these: they ask the container runtime for "
			     "the GPU");
		target_pair(part, "environment", "NVIDIA_VISIBLE_DEVICES", "all", NOWHERE);
		target_pair(part, "environment", "NVIDIA_DRIVER_CAPABILITIES", "compute,utility",
			    NOWHERE);
	}
	if (r->env.n)
		target_environment(extra(out), r);
	scope_text(out, "user", user, s->user.at);
	if (user)
		scope_code(extra(out), "run",
			   arena_printf(d->t->a,
					"id -u %s > /dev/null 2>&1 || useradd --create-home %s",
					user, user));
	for (size_t i = 0; i < d->t->plan->n; i++)
		if (d->t->plan->steps[i].kind == STEP_APP)
			docker_step(d, out, &d->t->plan->steps[i], DOCKER_INSTALL);
	scope_texts(out, "entrypoint", &r->app.entrypoint);
	scope_texts(out, "command", &r->app.command);
	target_pair(out, "labels", "org.opencontainers.image.title", d->t->plan->name, NOWHERE);
	target_pair(out, "labels", "stackbuild.recipe", r->digest, NOWHERE);
}

/* --- the stage without compilers: runtime --- */

/* Returns why the stage installs its system packages: "gcc, libc6-dev: triton compiles when it runs". */
static const char *
runtime_why(struct target *t)
{
	const struct choices *all = &t->plan->stack->runtime_apt;
	struct buf b = BUF(t->a);

	for (size_t i = 0; i < all->n; i++) {
		struct names same = { 0 };
		size_t first = 0;

		while (strcmp(all->at[first].reason, all->at[i].reason) != 0)
			first++;
		if (first < i)
			continue;
		list_each (c, all)
			if (!strcmp(c->reason, all->at[i].reason))
				list_push(t->a, &same, c->value);
		buf_printf(&b, "%s%s: %s", b.n ? "; " : "", names_join(t->a, &same, ", "),
			   all->at[i].reason);
	}
	return buf_text(&b);
}

/* Copies files of another stage. */
static void
copy_of_stage(struct target *t, struct scope *step, const char *stage, const char *path)
{
	scope_code(scope_item(step, "parts"), "copy",
		   docker_copy(t, arena_printf(t->a, "--from=%s ", stage), path, path, NOWHERE));
}

/*
 * Copies the environment without the extensions, which is most of the image, and installs each extension as a
 * layer of its own: after a change of an extension, only that layer is pushed.
 */
static void
runtime_environment(struct docker *d, struct scope *out, const char *environment)
{
	struct target *t = d->t;
	const struct plan *p = t->plan;
	const bool prefix = step_operation(plan_step(p, "python"), OP_PYTHON)->python.build;
	bool extensions = p->stack->extensions.n;
	struct scope *step = scope_item(out, "steps");

	scope_text(step, "id", "copy", NOWHERE);
	target_lines(step, "why",
		     extensions ?
			     "the environment before the extensions, and its Python: a change of "
			     "an extension keeps this layer" :
			     "the environment as it was checked, and its Python");
	if (prefix)
		copy_of_stage(t, step, environment, DOCKER_PREFIX);
	copy_of_stage(t, step, environment, DOCKER_VENV);
	if (!extensions)
		copy_of_stage(t, step, "final", DOCKER_SHARE);
	scope_text(scope_item(step, "parts"), "path", DOCKER_VENV, NOWHERE);
	if (!extensions)
		return;
	for (const struct step *s = p->steps; s < p->steps + p->n; s++)
		if (s->kind == STEP_EXTENSION)
			docker_step(d, out, s, DOCKER_INSTALL);
	step = scope_item(out, "steps");
	scope_text(step, "id", "plan", NOWHERE);
	target_lines(step, "why", "the plan, and the programs that check it");
	copy_of_stage(t, step, "final", DOCKER_SHARE);
}

/* Makes the environment again on a base without compilers, installs system packages, and repeats the
 * check.  environment: the stage before the extensions */
static void
runtime_stage(struct docker *d, const char *environment)
{
	struct target *t = d->t;
	const struct stack *s = t->plan->stack;
	struct step apt = {
		.id = "apt", .kind = STEP_APT, .at = s->runtime_base.at, .why = runtime_why(t)
	};
	struct step check = { .id = "check",
			      .kind = STEP_CHECK,
			      .why = "the same probe as in final, now on this base" };
	struct operation op = { .kind = OP_SYSTEM,
				.system.archive =
					s->runtime_dnf ? ARCHIVE_DNF : ARCHIVE_DISTRIBUTION,
				.system.snapshot = s->snapshot };
	bool gcc = list_any(c, &s->runtime_apt, !strcmp(c->value, "gcc"));
	struct scope *out = begin(
		t, "runtime", s->runtime_base.value, NULL,
		gcc ? "runtime: the installed stack, on a base without nvcc; gcc stays for triton" :
		      "runtime: the installed stack, on a base without compilers");

	t->stages.at[t->stages.n - 1].image = true;
	for (size_t i = 0; i < s->runtime_apt.n; i++)
		list_push(t->a, &op.system.packages, s->runtime_apt.at[i].value);
	list_push(t->a, &apt.operations, op);
	if (s->runtime_apt.n)
		docker_step(d, out, &apt, DOCKER_INSTALL);
	runtime_environment(d, out, environment);
	list_push(t->a, &check.operations, (struct operation){ .kind = OP_PROBE });
	docker_step(d, out, &check, DOCKER_INSTALL);
	result(d, out);
}

/* --- all stages --- */

static bool
in_trunk(const struct step *s)
{
	return s->kind != STEP_EXTENSION && s->kind != STEP_CHECK && s->kind != STEP_APP;
}

/* Returns how many steps of the trunk each step depends on, including itself. */
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

/* Returns the first step from the i-th on after which an extension starts, or the end. */
static size_t
next_cut(const struct plan *p, const size_t *depth, size_t i)
{
	for (; i < p->n; i++)
		for (size_t k = 0; in_trunk(&p->steps[i]) && k < p->n; k++)
			if (p->steps[k].kind == STEP_EXTENSION && depth[k] == depth[i])
				return i;
	return i;
}

/* Returns whether a step of the trunk is at i or later. */
static bool
trunk_goes_on(const struct plan *p, size_t i)
{
	while (i < p->n && !in_trunk(&p->steps[i]))
		i++;
	return i < p->n;
}

/* Returns the stage of the trunk's steps [i, end), or of all remaining steps. */
static struct scope *
trunk_stage(struct docker *d, const char *name, const char *from, size_t i, size_t end,
	    const char *heading)
{
	const struct plan *p = d->t->plan;
	const struct step *base = i == 0 ? &p->steps[0] : NULL;
	struct scope *out = begin(d->t, name, from, base, heading);

	for (; i < end; i++)
		if (in_trunk(&p->steps[i]) && &p->steps[i] != base)
			docker_step(d, out, &p->steps[i], DOCKER_INSTALL);
	return out;
}

void
docker_stages(struct docker *d)
{
	struct target *t = d->t;
	const struct plan *p = t->plan;
	const size_t *depth = depths(t->a, p);
	const char *from = p->stack->base.value, *name = "stack";
	bool has_runtime = p->stack->runtime_base.value, app_first = needs_app_first(t);
	struct scope *final;
	size_t i = 0;

	beside_stages(t);
	if (app_first)
		app_stage(t);

	for (size_t cut; (cut = next_cut(p, depth, i)) < p->n; i = cut + 1) {
		name = i ? p->steps[cut].id : name;
		trunk_stage(d, name, from, i, cut + 1,
			    arena_printf(t->a,
					 "%s: everything that extensions are compiled against",
					 name));
		extension_stages(d, depth, depth[cut], name);
		from = name;
	}
	if (t->build) {
		build_stages(d, true);
		build_stages(d, false);
	}
	if (!has_runtime && !app_first)
		app_stage(t);
	name = "final";
	if (has_runtime && p->stack->extensions.n) {
		name = from;
		if (trunk_goes_on(p, i)) {
			name = "environment";
			trunk_stage(d, name, from, i, p->n,
				    "environment: everything except the extensions");
			from = name;
		}
		i = p->n;
	}
	final = trunk_stage(d, "final", from, i, p->n, "final: the image");
	for (i = 0; i < p->n; i++)
		if (p->steps[i].kind == STEP_EXTENSION || p->steps[i].kind == STEP_CHECK)
			docker_step(d, final, &p->steps[i], DOCKER_INSTALL);
	if (has_runtime) {
		if (!app_first)
			app_stage(t);
		runtime_stage(d, name);
	} else {
		result(d, final);
	}
}
