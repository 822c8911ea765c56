#include "dockerfile.h"

#include <string.h>

#include "base/fs.h"
#include "base/str.h"

static const struct shape copy_shape[] = {
	{ "copy", VALUE_CODE, "arguments of COPY", 0 },
	{ 0 },
};

static const struct shape stage_shape[] = {
	{ "stage", VALUE_TEXT, "its name", 0 },
	{ "from", VALUE_TEXT, "an image or an earlier stage", 0 },
	{ "heading", VALUE_TEXT, "purpose of the stage; a wheel's stage has none", 0 },
	{ "remarks", VALUE_LIST, "remarks about FROM, in lines", 0 },
	{ "copies", VALUE_LIST, "files of other stages, or of the context", copy_shape },
	{ "steps", VALUE_LIST, "its steps", docker_step_shape },
	{ "result", VALUE_FLAG, "the stage is the result of `docker build`", 0 },
	{ "user", VALUE_TEXT, "result: user, if not root", 0 },
	{ "command", VALUE_LIST, "result: words of the application's command", 0 },
	{ "entrypoint", VALUE_LIST, "result: words of the application's entry point", 0 },
	{ "labels", VALUE_LIST, "result: labels", target_pair_shape },
	{ 0 },
};

const struct shape dockerfile_shape[] = {
	{ "title", VALUE_LIST, "name and contents of the stack, in lines", 0 },
	{ "generated", VALUE_LIST, "program and recipe that generated the file, in lines", 0 },
	{ "build", VALUE_FLAG, "the file is for an engine: `stackbuild build` renders it", 0 },
	{ "where", VALUE_TEXT, "directory to run the command in", 0 },
	{ "command", VALUE_TEXT, "command that builds the image", 0 },
	{ "tag", VALUE_TEXT, "tag of the image: NAME, or NAME:CELL in a matrix", 0 },
	{ "proof", VALUE_TEXT, "command that checks the image on a GPU", 0 },
	{ "hints", VALUE_LIST, "remarks about options of the command, in lines", 0 },
	{ "stages", VALUE_LIST, "the stages, in order", stage_shape },
	{ 0 },
};

/* --- the comments at the top: contents, and the build command --- */

/*
 * Returns an image name that every engine accepts: lower case; the tag is the cell of a matrix, at
 * most 128 letters, digits and ._-.
 */
const char *
docker_image_tag(struct arena *a, const struct recipe *r)
{
	char *name = arena_lower(a, r->stack.s), *tag;

	if (!r->cell)
		return name;
	tag = arena_printf(a, "%.128s", r->cell);
	for (char *c = tag; *c; c++)
		if (!is_alnum(*c) && !strchr("._-", *c))
			*c = '-';
	return arena_printf(a, "%s:%s", name, tag);
}

/* dockerfile NULL: the one in the context; app: the directory from which `app` copies. */
static const char *
build_command(struct target *t, const char *dockerfile, const char *app, const char *context)
{
	const struct names secrets = plan_secrets(t->a, t->plan);
	const struct recipe *r = t->plan->stack->recipe;
	struct buf b = BUF(t->a);

	buf_puts(&b, "docker build");
	if (r->platform.s)
		buf_printf(&b, " --platform %s", r->platform.s);
	buf_printf(&b, " -t %s", docker_image_tag(t->a, r));
	for (size_t i = 0; i < secrets.n; i++)
		buf_printf(&b, " --secret id=%s,src=%s", secrets.at[i], secrets.at[i]);
	if (target_needs_app(r))
		buf_printf(&b, " --build-context " RENDER_APP "=%s", app);
	list_each (e, &r->extensions) {
		const char *path = fs_join(t->a, app, e->path.s ? e->path.s : "");

		if (e->path.s && own_code_outside(e->path.s))
			buf_printf(&b, " --build-context %s=%s", target_own_context(t->a, e),
				   strcmp(app, "DIR") != 0 ? fs_clean(t->a, path) : path);
	}
	if (dockerfile)
		buf_printf(&b, " -f %s", dockerfile);
	buf_printf(&b, " %s", context);
	return buf_text(&b);
}

/* Adds where the files of the application and of own code come from. */
static void
own_hints(struct target *t)
{
	const struct recipe *r = t->plan->stack->recipe;
	bool own = list_any(e, &r->extensions, e->path.s && !own_code_outside(e->path.s));
	bool beside = list_any(e, &r->extensions, e->path.s && own_code_outside(e->path.s));
	const char *files = own                 ? "your own code and the application" :
			    target_needs_app(r) ? "the application" :
						  NULL;

	if (!files && !beside)
		return;
	target_lines(
		t->top, "hints",
		arena_printf(t->a, "DIR is the recipe's directory.%s%s%s%s%s",
			     files ? " Clients without --build-context copy " : "",
			     files ? files : "",
			     files ? " from the directory app/ beside stackbuild/ instead." : "",
			     beside ? " Without --build-context, the code beside DIR comes from "
				      "own/ beside stackbuild/." :
				      "",
			     own || beside ? " docker reads .dockerignore, but not "
					     ".gitignore." :
					     ""));
}

static void
hints(struct target *t)
{
	bool secrets = plan_secrets(t->a, t->plan).n, compiled = false;
	const char *wheel = NULL;

	for (const struct step *s = t->plan->steps; s < t->plan->steps + t->plan->n; s++) {
		if (s->kind == STEP_EXTENSION && !wheel)
			wheel = arena_printf(
				t->a, "--target wheel-%s -o wheels exports that wheel.", s->id);
		compiled |= step_operation(s, OP_COMPILE) != NULL;
	}
	target_lines(t->top, "hints",
		     secrets ?
			     "A secret is a file of that name. The secret of an index is a netrc, "
			     "one line: machine HOST login USER password TOKEN" :
			     NULL);
	own_hints(t);
	target_lines(t->top, "hints",
		     compiled ? "--build-arg MAX_JOBS=4 sets the number of compilers that run at "
				"once (default: as many as memory allows)." :
				NULL);
	target_lines(t->top, "hints", wheel);
}

static void
head(struct target *t)
{
	const struct recipe *r = t->plan->stack->recipe;
	const char *file = r->cell ? fs_join(t->a, r->cell, "Dockerfile") : NULL;

	target_title(t, "title", arena_printf(t->a, "on %s", t->plan->stack->base.value));
	scope_flag(t->top, "build", t->build != NULL);
	scope_text(t->top, "where",
		   arena_printf(t->a, "In %s (Docker before 23: DOCKER_BUILDKIT=1 docker build):",
				r->cell ? "the directory above" : "this directory"),
		   NOWHERE);
	scope_text(t->top, "command", build_command(t, file, "DIR", "."), r->platform.at);
	scope_text(t->top, "tag", docker_image_tag(t->a, r), r->stack.at);
	if (t->plan->nvcc)
		scope_text(t->top, "proof", DOCKER_SHARE "/smoke", NOWHERE);
	hints(t);
}

/* --- the file --- */

/*
 * Returns the instructions with the engines' numbers. BuildKit numbers those that make a layer,
 * "[stage i/n]", and FROM of an image (not of an earlier stage or scratch); buildah numbers all of
 * them, "STEP i/n".
 */
struct instructions
docker_instructions(const struct target *t, const char *text, const struct template_marks *marks)
{
	static const char *const layers[] = { "RUN", "COPY", "ADD", "WORKDIR" };
	struct instruction i = { .stage = "", .line = 1 };
	struct instructions all = { 0 };
	unsigned layer = 0;
	size_t at = 0;

	for (size_t m = 0; t->stages.n && m < marks->n; m++) {
		const struct template_mark *mark = &marks->at[m];
		bool makes_layer = false;

		for (; at < mark->at; at++)
			i.line += text[at] == '\n';
		i.no++;
		i.step = mark->what;
		if (!strcmp(mark->word, "FROM") && i.stage_no < t->stages.n) {
			const struct docker_stage *stage = &t->stages.at[i.stage_no++];

			i.stage = stage->name;
			i.no = 1;
			layer = 0;
			makes_layer = stage->image;
			if (stage->base)
				i.step = stage->base;
		}
		for (size_t k = 0; k < sizeof(layers) / sizeof(layers[0]); k++)
			makes_layer |= !strcmp(mark->word, layers[k]);
		i.layer_no = makes_layer ? ++layer : 0;
		list_push(t->a, &all, i);
	}
	return all;
}

void
dockerfile_fill(struct target *t)
{
	struct docker d = { .t = t, .texts = MAP(t->a) };
	const struct recipe *r = t->plan->stack->recipe;
	const struct source *lint = templates_text(t->templates, "hadolint.yaml");

	target_refuse_host(t);
	if (t->ds->errors)
		return;
	head(t);
	docker_stages(&d);
	t->file.summary = arena_printf(t->a, "%zu steps, %zu stage%s", t->plan->n, t->stages.n,
				       t->stages.n == 1 ? "" : "s");
	t->file.next = build_command(t, r->cell ? "{path}" : NULL, fs_dir(t->a, r->path), "{out}");
	if (!t->build)
		list_push(t->a, &t->helpers,
			  (struct rendered){ .path = ".hadolint.yaml",
					     .text = lint->text,
					     .size = lint->size,
					     .mode = 0644,
					     .helper = true,
					     .lasting = true });
}
