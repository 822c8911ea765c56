#include "dockerfile.h"

#include <string.h>

#include "base/fs.h"
#include "base/str.h"

static const struct shape copy_shape[] = {
	{ "copy", VALUE_CODE, "what COPY is given", 0 },
	{ 0 },
};

static const struct shape stage_shape[] = {
	{ "stage", VALUE_TEXT, "its name", 0 },
	{ "from", VALUE_TEXT, "an image or an earlier stage", 0 },
	{ "heading", VALUE_TEXT, "what it is for; a wheel's stage has none", 0 },
	{ "remarks", VALUE_LIST, "about FROM, in lines", 0 },
	{ "copies", VALUE_LIST, "files of other stages, or of the context", copy_shape },
	{ "steps", VALUE_LIST, "its steps", docker_step_shape },
	{ "result", VALUE_FLAG, "it is what `docker build` gives", 0 },
	{ "user", VALUE_TEXT, "result: who runs it, if not root", 0 },
	{ "command", VALUE_LIST, "result: the words of the application's command", 0 },
	{ "labels", VALUE_LIST, "result: labels", target_pair_shape },
	{ 0 },
};

static const struct shape dockerfile_shape[] = {
	{ "title", VALUE_LIST, "the stack's name and what is in it, in lines", 0 },
	{ "generated", VALUE_LIST, "by what and from what the file was generated, in lines", 0 },
	{ "build", VALUE_FLAG, "it is not for people: `stackbuild build` gives it to an engine",
	  0 },
	{ "where", VALUE_TEXT, "where the command is run", 0 },
	{ "command", VALUE_TEXT, "the command that builds it", 0 },
	{ "tag", VALUE_TEXT, "what the image may be called: NAME, or NAME:CELL in a matrix", 0 },
	{ "proof", VALUE_TEXT, "the command that checks it on a GPU", 0 },
	{ "hints", VALUE_LIST, "about options of the command, in lines", 0 },
	{ "stages", VALUE_LIST, "the stages, in order", stage_shape },
	{ 0 },
};

static const struct span nowhere;

/* --- the last stage: environment, user, application, labels --- */

static void
add_pair(struct scope *out, const char *list, const char *name, const char *value, struct span at)
{
	struct scope *item = scope_item(out, list);

	scope_text(item, "name", name, at);
	scope_text(item, "value", value, at);
}

/* Whether the base says by itself that its containers want the GPU. */
static bool
asks_for_gpu(const struct stack *s)
{
	const char *base = s->runtime_base.value ? s->runtime_base.value : s->base.value;

	return !s->cuda.value || starts_with(base, "nvidia/cuda:") ||
	       starts_with(base, "nvidia/cuda@");
}

/* A part of what is no step of the plan. */
static struct scope *
extra(struct scope *stage)
{
	return scope_item(scope_item(stage, "steps"), "parts");
}

static void
image_environment(struct docker_writer *w, struct scope *out)
{
	const struct stack *s = w->plan->stack;
	struct scope *part;

	if (!asks_for_gpu(s)) {
		part = extra(out);
		target_lines(w->a, part, "remarks",
			     "NVIDIA's own images set these: they ask the container runtime for "
			     "the GPU");
		add_pair(part, "environment", "NVIDIA_VISIBLE_DEVICES", "all", nowhere);
		add_pair(part, "environment", "NVIDIA_DRIVER_CAPABILITIES", "compute,utility",
			 nowhere);
	}
	part = s->recipe->env.n ? extra(out) : NULL;
	for (size_t i = 0; i < s->recipe->env.n; i++)
		add_pair(part, "environment", s->recipe->env.at[i].name.s,
			 s->recipe->env.at[i].value.s, s->recipe->env.at[i].value.at);
}

static void
result(struct docker_writer *w, const struct docker_stage *stage, struct scope *out)
{
	const struct stack *s = w->plan->stack;
	const struct recipe *r = s->recipe;

	scope_flag(out, "result", true);
	image_environment(w, out);
	scope_text(out, "user", s->user.value, s->user.at);
	if (s->user.value) {
		struct buf user = BUF(w->a);
		const char *why;

		if (!quote(&user, QUOTE_SH, LANG_DOCKERFILE, s->user.value, &why))
			BUG("a user with a line break: %s", why);
		scope_code(extra(out), "run",
			   arena_printf(w->a,
					"id -u %s > /dev/null 2>&1 || useradd --create-home %s",
					buf_text(&user), buf_text(&user)));
	}
	for (size_t i = 0; i < w->plan->n; i++)
		if (w->plan->steps[i].kind == STEP_APP)
			docker_step(w, stage, &w->plan->steps[i], scope_item(out, "steps"));
	for (size_t i = 0; i < r->app.command.n; i++)
		scope_item_text(out, "command", r->app.command.at[i].s, r->app.command.at[i].at);
	add_pair(out, "labels", "org.opencontainers.image.title", w->plan->name, nowhere);
	add_pair(out, "labels", "stackbuild.recipe", r->digest, nowhere);
}

/* --- the stage without compilers --- */

static void
take(struct docker_writer *w, struct scope *step, const char *path)
{
	struct names paths = { 0 };

	list_push(w->a, &paths, path);
	list_push(w->a, &paths, path);
	scope_code(scope_item(step, "parts"), "copy",
		   docker_copy(w, "--from=final ", &paths, nowhere));
}

/* What final installed is copied, what the system must have is installed, and the probe runs again. */
static void
runtime(struct docker_writer *w, const struct docker_stage *stage, struct scope *out)
{
	const struct stack *s = w->plan->stack;
	struct step apt = { .id = "apt",
			    .kind = STEP_APT,
			    .at = s->runtime_base.at,
			    .why = "what the stack needs when it runs" };
	struct step check = { .id = "check",
			      .kind = STEP_CHECK,
			      .why = "the same probe as in final, now without compilers" };
	struct operation op = { .kind = OP_SYSTEM };
	struct scope *step;

	for (size_t i = 0; i < s->runtime_apt.n; i++)
		list_push(w->a, &op.system.packages, s->runtime_apt.at[i].value);
	list_push(w->a, &apt.operations, op);
	if (s->runtime_apt.n)
		docker_step(w, stage, &apt, scope_item(out, "steps"));
	step = scope_item(out, "steps");
	scope_text(step, "id", "copy", nowhere);
	target_lines(w->a, step, "why", "the environment as it was checked, and its Python");
	if (step_operation(plan_step(w->plan, "python"), OP_PYTHON)->python.build)
		take(w, step, DOCKER_PREFIX);
	take(w, step, DOCKER_VENV);
	take(w, step, DOCKER_SHARE);
	scope_text(scope_item(step, "parts"), "path", DOCKER_VENV, nowhere);
	list_push(w->a, &check.operations, (struct operation){ .kind = OP_PROBE });
	docker_step(w, stage, &check, scope_item(out, "steps"));
}

/* --- stages --- */

static const char *
heading(struct docker_writer *w, const struct docker_stage *stage)
{
	const struct step *s = stage->builds ? stage->builds : stage->reads;

	if (stage->context)
		return "app: the application's files; --build-context app=DIR replaces this stage";
	if (stage->builds && stage->compiles)
		return arena_printf(w->a, "%s%s%s, %s", s->extension->name,
				    s->extension->version ? " " : "",
				    s->extension->version ? s->extension->version : "", s->why);
	if (s)
		return arena_printf(w->a, "%s: %s", s->id,
				    stage->builds ? "its source" : "what its wheel depends on");
	if (stage->gathers.n)
		return arena_printf(w->a, "%s of all that is compiled", stage->name);
	if (stage->holds)
		return stage->file ? arena_printf(w->a, "%s: the wheel, compiled before",
						  stage->holds->id) :
				     NULL;
	if (stage->runtime)
		return "runtime: what was installed, on a base without compilers";
	if (stage->result || !strcmp(stage->name, "final"))
		return "final: the image";
	return arena_printf(w->a, "%s: everything that extensions are compiled against",
			    stage->name);
}

static void
add_copies(struct docker_writer *w, const struct docker_stage *stage, struct scope *out)
{
	struct names paths = { 0 };

	for (size_t i = 0; i < stage->gathers.n; i++) {
		const struct docker_gather *g = &stage->gathers.at[i];

		scope_code(scope_item(out, "copies"), "copy",
			   arena_printf(w->a, "--from=%s %s %s", g->from, g->source, g->target));
	}
	if (stage->holds && !stage->file)
		scope_code(scope_item(out, "copies"), "copy",
			   arena_printf(w->a, "--from=%s /wheels/ /", stage->holds->stage));
	if (!stage->file && !stage->context)
		return;
	list_push(w->a, &paths, stage->file ? stage->file : RENDER_APP "/");
	list_push(w->a, &paths, "/");
	scope_code(scope_item(out, "copies"), "copy",
		   docker_copy(w, "", &paths, stage->holds ? stage->holds->at : nowhere));
}

static void
add_stage(struct docker_writer *w, const struct docker_stage *stage, struct scope *top)
{
	struct scope *out = scope_item(top, "stages");

	scope_text(out, "stage", stage->name, nowhere);
	scope_text(out, "from", stage->from, stage->base ? stage->base->at : nowhere);
	scope_text(out, "heading", heading(w, stage), nowhere);
	if (stage->holds)
		scope_mark(out, stage->holds->id);
	if (stage->base && !w->plan->stack->base.given)
		target_lines(w->a, out, "remarks", w->plan->stack->base.reason);
	add_copies(w, stage, out);
	if (stage->reads)
		docker_step(w, stage, stage->reads, scope_item(out, "steps"));
	for (size_t i = 0; i < stage->steps.n; i++)
		if (stage->steps.at[i] != stage->base)
			docker_step(w, stage, stage->steps.at[i], scope_item(out, "steps"));
	if (stage->runtime)
		runtime(w, stage, out);
	if (stage->result)
		result(w, stage, out);
}

/*
 * The instructions, as engines number them: BuildKit those that make a layer, "[stage i/n]", and
 * FROM where it is an image (not where it is an earlier stage or scratch); buildah all of them,
 * "STEP i/n".
 */
static struct instructions
instructions(struct arena *a, const char *text, const struct docker_stages *stages,
	     const struct template_marks *marks)
{
	static const char *const layers[] = { "RUN", "COPY", "ADD", "WORKDIR" };
	struct instruction i = { .stage = "", .line = 1 };
	struct instructions all = { 0 };
	const struct docker_stage *stage = NULL;
	unsigned layer = 0;
	size_t at = 0;

	for (size_t m = 0; m < marks->n; m++) {
		const struct template_mark *mark = &marks->at[m];
		bool makes_layer = false;

		for (; at < mark->at; at++)
			i.line += text[at] == '\n';
		i.no++;
		i.step = mark->what;
		if (!strcmp(mark->word, "FROM") && i.stage_no < stages->n) {
			stage = &stages->at[i.stage_no++];
			i.stage = stage->name;
			i.no = 1;
			layer = 0;
			makes_layer = stage->base || stage->runtime;
			if (stage->base)
				i.step = stage->base->id;
		}
		for (size_t k = 0; k < sizeof(layers) / sizeof(layers[0]); k++)
			makes_layer |= !strcmp(mark->word, layers[k]);
		i.layer_no = makes_layer ? ++layer : 0;
		list_push(a, &all, i);
	}
	return all;
}

/* The toolkit of a machine is not in an image that is built anywhere. */
static bool
refuse_host(struct diags *ds, const struct stack *s)
{
	if (!s->cuda.value || s->cuda_from != CUDA_HOST)
		return true;
	diag_help(diag_at(ds, E_TARGET_CANNOT, s->recipe->cuda_from_at,
			  "an image has no host whose CUDA toolkit it could use"),
		  "take the toolkit from an image, apt or wheels; or render the script: -t script");
	return false;
}

bool
dockerfile_render(struct arena *a, struct diags *ds, const struct plan *p,
		  const struct templates *t, struct rendereds *out)
{
	return dockerfile_for(a, ds, p, t, NULL, out);
}

static void
add_hadolint(struct docker_writer *w)
{
	const struct source *src = templates_text(w->templates, "hadolint.yaml");

	list_push(w->a, w->out,
		  (struct rendered){ .path = ".hadolint.yaml",
				     .text = src->text,
				     .size = src->size,
				     .mode = 0644,
				     .helper = true });
}

bool
dockerfile_for(struct arena *a, struct diags *ds, const struct plan *p, const struct templates *t,
	       const struct render_build *build, struct rendereds *out)
{
	struct docker_stages stages = docker_stages(a, p, build);
	struct scope *top = scope_new(a, dockerfile_shape);
	struct template_marks marks = { 0 };
	struct map texts = MAP(a);
	struct buf text = BUF(a);
	struct docker_writer w = { .a = a,
				   .ds = ds,
				   .plan = p,
				   .templates = t,
				   .build = build,
				   .out = out,
				   .texts = &texts,
				   .good = true };
	const char *file = p->stack->recipe->cell ? "{path}" : NULL;

	if (!refuse_host(ds, p->stack))
		return false;
	docker_head(&w, top);
	for (size_t i = 0; i < stages.n; i++)
		add_stage(&w, &stages.at[i], top);
	if (!template_expand(ds, templates_text(t, "Dockerfile"), LANG_DOCKERFILE, top, &text,
			     &marks) ||
	    !w.good)
		return false;
	list_push(a, out,
		  (struct rendered){
			  .path = "Dockerfile",
			  .text = buf_text(&text),
			  .size = text.n,
			  .mode = 0644,
			  .summary = arena_printf(a, "%zu steps, %zu stage%s", p->n, stages.n,
						  stages.n == 1 ? "" : "s"),
			  .next = docker_build_command(&w, file, fs_dir(a, p->stack->recipe->path),
						       "{out}"),
			  .instructions = instructions(a, buf_text(&text), &stages, &marks),
		  });
	if (!build)
		add_hadolint(&w);
	return true;
}
