#include "dockerfile.h"

#include <string.h>

#include "base/fs.h"
#include "base/str.h"

static const struct shape pair_shape[] = {
	{ "name", VALUE_TEXT, "its name", 0 },
	{ "value", VALUE_TEXT, "its value", 0 },
	{ 0 },
};

static const struct shape copy_shape[] = {
	{ "source", VALUE_TEXT, "in the recipe's folder", 0 },
	{ "target", VALUE_TEXT, "in the image", 0 },
	{ 0 },
};

static const struct shape app_shape[] = {
	{ "remarks", VALUE_LIST, "why it stands here, in lines", 0 },
	{ "folder", VALUE_TEXT, "where the application lies", 0 },
	{ "requirements", VALUE_LIST, "what is copied before pip runs", copy_shape },
	{ "runs", VALUE_LIST, "its commands, one RUN each", docker_run_shape },
	{ "files", VALUE_LIST, "what is copied after that", copy_shape },
	{ "command", VALUE_LIST, "the words of the command", 0 },
	{ 0 },
};

static const struct shape gather_shape[] = {
	{ "from", VALUE_TEXT, "the stage that has it", 0 },
	{ "source", VALUE_TEXT, "the folder there", 0 },
	{ "target", VALUE_TEXT, "the folder here", 0 },
	{ 0 },
};

static const struct shape stage_shape[] = {
	{ "stage", VALUE_TEXT, "its name", 0 },
	{ "from", VALUE_TEXT, "an image or an earlier stage", 0 },
	{ "title", VALUE_TEXT, "what it is for; a wheel's stage has none", 0 },
	{ "remarks", VALUE_LIST, "about FROM, in lines", 0 },
	{ "wheel_from", VALUE_TEXT, "the stage whose wheel is all that is in this one", 0 },
	{ "wheel_file", VALUE_TEXT, "the wheel that is all that is in it, from the context", 0 },
	{ "gathers", VALUE_LIST, "for build: what it has of other stages", gather_shape },
	{ "steps", VALUE_LIST, "its steps", docker_step_shape },
	{ "result", VALUE_FLAG, "it is what `docker build` gives", 0 },
	{ "gpu", VALUE_FLAG, "result: the base does not ask for the GPU by itself", 0 },
	{ "environment", VALUE_LIST, "result: the recipe's env", pair_shape },
	{ "user", VALUE_TEXT, "result: who runs it, if not root", 0 },
	{ "app", VALUE_LIST, "result: the application, if there is one", app_shape },
	{ "labels", VALUE_LIST, "result: labels", pair_shape },
	{ 0 },
};

static const struct shape dockerfile_shape[] = {
	{ "name", VALUE_TEXT, "the stack's name", 0 },
	{ "tag", VALUE_TEXT, "what the image may be called: NAME, or NAME:CELL in a matrix", 0 },
	{ "platform", VALUE_TEXT, "the recipe's platform, if it names one", 0 },
	{ "contents", VALUE_LIST, "what is in it, in lines", 0 },
	{ "digest", VALUE_TEXT, "sha256 of the canonical recipe", 0 },
	{ "build", VALUE_FLAG, "it is not for people: `stackbuild build` gives it to an engine",
	  0 },
	{ "needs_context", VALUE_FLAG, "it copies files of the recipe's folder", 0 },
	{ "secrets", VALUE_LIST, "names of the build secrets", 0 },
	{ "compiles", VALUE_FLAG, "an extension is compiled", 0 },
	{ "wheels", VALUE_LIST, "stages that hold a wheel alone", 0 },
	{ "proof", VALUE_TEXT, "the command that proves it on a GPU", 0 },
	{ "stages", VALUE_LIST, "the stages, in order", stage_shape },
	{ 0 },
};

static const struct span nowhere;

/* --- the head of the file --- */

static void
contents(struct docker_writer *w, struct scope *top)
{
	const struct stack *s = w->plan->stack;
	struct buf b = BUF(w->a);

	if (s->torch.value)
		buf_printf(&b, "torch %s%s%s%s, ", s->torch.value, s->torch_tag ? " (" : "",
			   s->torch_tag ? s->torch_tag : "", s->torch_tag ? ")" : "");
	if (s->python.value)
		buf_printf(&b, "Python %s, ", s->python.value);
	buf_printf(&b, "on %s", s->base.value);
	scope_item_text(top, "contents", buf_text(&b), nowhere);
	b = BUF(w->a);
	for (size_t i = 0; i < s->extensions.n; i++) {
		const struct stack_extension *e = &s->extensions.at[i];

		buf_printf(&b, "%s%s%s%s", i ? ", " : "", e->name, e->version ? " " : "",
			   e->version ? e->version : "");
	}
	for (size_t i = 0; s->extensions.n && i < s->archs.n; i++)
		buf_printf(&b, "%s%s", i ? ", " : "; GPUs of compute capability ",
			   s->archs.at[i].value);
	if (s->extensions.n)
		scope_item_text(top, "contents", buf_text(&b), nowhere);
}

static void
add_secrets(struct docker_writer *w, struct scope *top)
{
	struct names all = { 0 };

	for (size_t i = 0; i < w->plan->n; i++) {
		const struct operations *of = &w->plan->steps[i].operations;

		for (size_t k = 0; k < of->n; k++)
			operation_secrets(w->a, &of->at[k], &all);
	}
	for (size_t i = 0; i < all.n; i++)
		scope_item_text(top, "secrets", all.at[i], nowhere);
}

/*
 * A name that every engine takes for an image: lower case, and a cell of a matrix as its
 * tag, of letters, digits and ._- and at most 128 long.
 */
const char *
docker_image_tag(struct arena *a, const struct plan *p)
{
	const char *cell = p->stack->recipe->cell;
	char *name = arena_strdup(a, p->name), *tag;

	for (char *c = name; *c; c++)
		*c = to_lower(*c);
	if (!cell)
		return name;
	tag = arena_copy(a, cell, strlen(cell) > 128 ? 128 : strlen(cell));
	for (char *c = tag; *c; c++)
		if (!is_alnum(*c) && !strchr("._-", *c))
			*c = '-';
	return arena_printf(a, "%s:%s", name, tag);
}

static bool
needs_context(const struct recipe *r)
{
	return r->app.copy.n || r->app.requirements.s;
}

static void
head(struct docker_writer *w, struct scope *top)
{
	const struct stack *s = w->plan->stack;

	scope_text(top, "name", w->plan->name, s->recipe->stack.at);
	scope_text(top, "tag", docker_image_tag(w->a, w->plan), s->recipe->stack.at);
	scope_text(top, "platform", s->recipe->platform.s, s->recipe->platform.at);
	contents(w, top);
	scope_text(top, "digest", s->recipe->digest, nowhere);
	scope_flag(top, "build", w->build != NULL);
	scope_flag(top, "needs_context", needs_context(s->recipe));
	add_secrets(w, top);
	scope_flag(top, "compiles", w->builds > 0);
	for (size_t i = 0; i < w->plan->n; i++)
		if (w->plan->steps[i].kind == STEP_EXTENSION)
			scope_item_text(top, "wheels",
					arena_printf(w->a, "wheel-%s", w->plan->steps[i].id),
					nowhere);
	if (w->plan->nvcc)
		scope_text(top, "proof", DOCKER_SHARE "/smoke", nowhere);
}

/* --- the end of it: environment, user, application, labels --- */

static void
add_pair(struct scope *out, const char *list, const char *name, const char *value, struct span at)
{
	struct scope *item = scope_item(out, list);

	scope_text(item, "name", name, at);
	scope_text(item, "value", value, at);
}

static void
add_copy(struct docker_writer *w, struct scope *out, const char *list, const struct text *path)
{
	struct scope *item = scope_item(out, list);

	scope_text(item, "source",
		   w->build ? arena_printf(w->a, RENDER_BUILD_APP "/%s", path->s) : path->s,
		   path->at);
	scope_text(item, "target", arena_printf(w->a, DOCKER_APP "/%s", path->s), path->at);
}

static void
application(struct docker_writer *w, const struct step *step, struct scope *out)
{
	const struct recipe_app *app = &w->plan->stack->recipe->app;
	struct scope *item = scope_item(out, "app");

	scope_mark(item, step->id);
	docker_remarks(w, item, step->why);
	scope_text(item, "folder", DOCKER_APP, nowhere);
	if (app->requirements.s)
		add_copy(w, item, "requirements", &app->requirements);
	docker_runs(w, step, PART_INSTALL, item);
	for (size_t i = 0; i < app->copy.n; i++)
		add_copy(w, item, "files", &app->copy.at[i]);
	for (size_t i = 0; i < app->command.n; i++)
		scope_item_text(item, "command", app->command.at[i].s, app->command.at[i].at);
}

/* Whether the base says by itself that its containers want the GPU. */
static bool
asks_for_gpu(const struct stack *s)
{
	const char *base = s->runtime_base.value ? s->runtime_base.value : s->base.value;

	return !s->cuda.value || starts_with(base, "nvidia/cuda:") ||
	       starts_with(base, "nvidia/cuda@");
}

static void
result(struct docker_writer *w, struct scope *out)
{
	const struct stack *s = w->plan->stack;
	const struct recipe *r = s->recipe;

	scope_flag(out, "result", true);
	scope_flag(out, "gpu", !asks_for_gpu(s));
	for (size_t i = 0; i < r->env.n; i++)
		add_pair(out, "environment", r->env.at[i].name.s, r->env.at[i].value.s,
			 r->env.at[i].value.at);
	scope_text(out, "user", s->user.value, s->user.at);
	for (size_t i = 0; i < w->plan->n; i++)
		if (w->plan->steps[i].kind == STEP_APP)
			application(w, &w->plan->steps[i], out);
	add_pair(out, "labels", "org.opencontainers.image.title", w->plan->name, nowhere);
	add_pair(out, "labels", "stackbuild.recipe", r->digest, nowhere);
}

/* --- stages --- */

static const char *
title(struct docker_writer *w, const struct docker_stage *stage)
{
	if (stage->builds && stage->parts & PART_BUILD)
		return arena_printf(w->a, "%s: compiled beside the others, into a wheel",
				    stage->name);
	if (stage->builds)
		return arena_printf(w->a, "%s: its source", stage->name);
	if (stage->reads)
		return arena_printf(w->a, "%s: what its wheel depends on", stage->name);
	if (stage->gathers.n)
		return arena_printf(w->a, "%s: of all that is compiled", stage->name);
	if (stage->runtime)
		return "runtime: what was installed, on a base without compilers";
	if (stage->result || !strcmp(stage->name, "final"))
		return "final: the image";
	return arena_printf(w->a, "%s: what extensions are compiled against", stage->name);
}

static void
add_stage(struct docker_writer *w, const struct docker_stage *stage, struct scope *top)
{
	struct scope *out = scope_item(top, "stages");

	scope_text(out, "stage", stage->name, nowhere);
	scope_text(out, "from", stage->from, stage->base ? stage->base->at : nowhere);
	if (stage->holds) {
		scope_mark(out, stage->holds->id);
		if (stage->file)
			scope_text(out, "wheel_file", stage->file, stage->holds->at);
		else
			scope_text(out, "wheel_from", stage->holds->stage, stage->holds->at);
	} else {
		scope_text(out, "title", title(w, stage), nowhere);
	}
	if (stage->base && !w->plan->stack->base.given)
		docker_remarks(w, out, w->plan->stack->base.reason);
	for (size_t i = 0; i < stage->gathers.n; i++) {
		struct scope *item = scope_item(out, "gathers");

		scope_text(item, "from", stage->gathers.at[i].from, nowhere);
		scope_text(item, "source", stage->gathers.at[i].source, nowhere);
		scope_text(item, "target", stage->gathers.at[i].target, nowhere);
	}
	if (stage->reads)
		docker_step(w, stage, stage->reads, scope_item(out, "steps"));
	for (size_t i = 0; i < stage->steps.n; i++)
		if (stage->steps.at[i] != stage->base)
			docker_step(w, stage, stage->steps.at[i], scope_item(out, "steps"));
	if (stage->runtime)
		docker_runtime(w, stage, out);
	if (stage->result)
		result(w, out);
}

static const char *
next_command(struct arena *a, const struct plan *p)
{
	const struct recipe *r = p->stack->recipe;
	const char *platform =
		r->platform.s ? arena_printf(a, " --platform %s", r->platform.s) : "";

	if (!needs_context(r))
		return arena_printf(a, "docker build%s -t %s - < {path}", platform,
				    docker_image_tag(a, p));
	return arena_printf(a, "docker build%s -t %s -f {path} %s", platform,
			    docker_image_tag(a, p), fs_dir(a, r->path));
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

bool
dockerfile_for(struct arena *a, struct diags *ds, const struct plan *p, const struct templates *t,
	       const struct render_build *build, struct rendereds *out)
{
	struct map folders = MAP(a), files = MAP(a);
	struct docker_writer w = { a, ds, p, t, build, 0, &folders, &files, true };
	struct docker_stages stages = docker_stages(a, p, build);
	struct scope *top = scope_new(a, dockerfile_shape);
	struct template_marks marks = { 0 };
	struct buf text = BUF(a);

	if (!refuse_host(ds, p->stack))
		return false;
	/* A wheel at hand changes no other instruction: the engine's cache is by their text. */
	for (size_t i = 0; i < p->n; i++)
		w.builds += docker_compiles(&p->steps[i], NULL);
	head(&w, top);
	for (size_t i = 0; i < stages.n; i++)
		add_stage(&w, &stages.at[i], top);
	if (!template_expand_marked(ds, t, "Dockerfile", LANG_DOCKERFILE, top, &text, &marks) ||
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
			  .next = next_command(a, p),
			  .instructions = docker_instructions(a, buf_text(&text), &stages, &marks),
		  });
	return true;
}
