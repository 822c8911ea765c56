/* An image, by an engine that reads Dockerfiles: what compiles first, and its wheels' way into it. */
#include "work.h"

#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/fs.h"

/* --- rendering --- */

static const struct plan *
same_plan(void *ctx, struct arena *a, struct diags *ds, const struct recipe *cell)
{
	(void)a, (void)ds, (void)cell;
	return ctx;
}

const struct rendered *
work_render(struct work *w, const char *target, const char *path, bool for_build)
{
	const struct recipe *cell = w->plan->stack->recipe;
	const struct recipes one = { .at = &cell, .n = 1, .matrix = cell->cell != NULL };
	struct render_input in = { .recipes = &one,
				   .facts = w->plan->stack->facts,
				   .plan = same_plan,
				   .ctx = (void *)(uintptr_t)w->plan,
				   .templates = w->templates,
				   .targets = &target,
				   .ntargets = 1,
				   .build = for_build ? &w->hits : NULL };
	const char *dir = for_build ? w->context : work_stack_dir(w);
	const struct rendered *page = NULL;
	struct rendereds files = { 0 };
	struct rendered manifest;
	bool good;
	int lock;

	if (!render(w->a, w->ds, &in, &files))
		return NULL;
	/* Cells that are built at the same time share the manifest. */
	lock = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (lock >= 0)
		flock(lock, LOCK_EX);
	manifest = render_manifest(w->a, &in, &files, dir);
	if (!for_build)
		list_push(w->a, &files, manifest);
	good = for_build || render_may_write(w->a, w->ds, dir, &files);
	for (size_t i = 0; good && i < files.n; i++) {
		const struct rendered *r = &files.at[i];

		if (!r->helper)
			page = r;
		good = fs_write(w->ds, r->helper ? fs_join(w->a, dir, r->path) : path, r->text,
				r->size, r->mode, false, NULL);
	}
	if (lock >= 0)
		close(lock);
	return good ? page : NULL;
}

/* The build's own Dockerfile, as things stand: with the wheels that lie in the context. */
static bool
write_dockerfile(struct work *w, struct instructions *of)
{
	const struct rendered *r = work_render(w, "dockerfile", w->dockerfile, true);

	if (!r)
		return false;
	w->dockerfile_text = r->text;
	*of = r->instructions;
	return true;
}

/* --- calls of the engine --- */

static bool
call(struct work *w, struct engine_build b, struct instructions of)
{
	const struct build_options *o = w->o;
	struct engine_command c;

	b.context = w->context;
	b.dockerfile = w->dockerfile;
	b.platform = w->plan->stack->platform;
	b.secrets = w->secret_files;
	b.cache_from = o->cache_from;
	if (o->jobs)
		list_push(w->a, &b.args, arena_printf(w->a, "MAX_JOBS=%u", o->jobs));
	c = o->engine->build(w->a, &o->state->at, &b);
	return work_run(w, c, of);
}

/* The files of a stage; NULL: it failed. */
static const char *
files_of(struct work *w, const char *stage, bool fresh, struct instructions of)
{
	const char *folder = work_folder(w, stage);
	const struct engine_build b = { .target = stage, .to_folder = folder, .no_cache = fresh };

	return folder && call(w, b, of) ? folder : NULL;
}

/* What came first is done again by the image's own call: once is what it takes. */
static void
forget_times(struct work *w)
{
	for (size_t i = 0; i < w->plan->n; i++)
		if (!w->steps[i].partly && w->plan->steps[i].kind != STEP_EXTENSION)
			w->steps[i].seconds = 0;
}

/*
 * The wheels of what compiles, in the context: from the stores, else compiled, and checked.  So the
 * image is made of what was checked, by whichever worker builds it, and is the same as one whose
 * wheels came from a store.
 *
 * --no-cache: an engine knows it for a whole call or not at all, and the compiles are to be done
 * once: they come first, and what they are made of is read from the layers that were just made.
 */
static bool
make_wheels(struct work *w, struct instructions *of)
{
	const char *dir = fs_join(w->a, w->context, ".stackbuild/wheels");
	const char *inputs, *wheels = NULL;
	bool fresh = w->o->no_cache;

	if ((fresh && !(wheels = files_of(w, "wheels", true, *of))) ||
	    !(inputs = files_of(w, "inputs", false, *of)) || !wheels_keys(w, inputs))
		return false;
	if (!fresh && (!wheels_take(w, dir) || !write_dockerfile(w, of)))
		return false;
	if (!wheels_missing(w))
		return true;
	if (!wheels && !(wheels = files_of(w, "wheels", false, *of)))
		return false;
	if (!wheels_keep(w, wheels, dir))
		return false;
	if (fresh)
		forget_times(w);
	return write_dockerfile(w, of);
}

/* --- the image --- */

/* Engines that are connected to another builder push from there. */
static bool
pushes_itself(const struct work *w)
{
	return !w->o->engine->push || w->o->state->at.buildx;
}

static bool
push(struct work *w, const char *tag, struct image_about *about)
{
	const struct engine *e = w->o->engine;
	const char *file = fs_join(w->a, w->dir, "pushed");
	struct engine_command c = engine_push(w->a, e, &w->o->state->at, tag, file);

	unlink(file);
	w->pushing = tag;
	if (!work_run(w, c, (struct instructions){ 0 }))
		return false;
	if (!(about->digest = engine_pushed(w->a, file)))
		engine_image(w->a, e, &w->o->state->at, tag, about);
	return true;
}

/* What is known of it: by its name here, or by what the client wrote of an image elsewhere. */
static void
look_at(struct work *w, const char *tag, const char *iid, struct image_about *about)
{
	bool elsewhere = w->o->push && pushes_itself(w);
	struct image_about built;
	bool known = engine_built(w->a, iid, &built);

	if (engine_image(w->a, w->o->engine, &w->o->state->at, tag, about) &&
	    !(elsewhere && known && strcmp(about->id, built.id) != 0))
		return;
	*about = known ? built : (struct image_about){ 0 };
}

bool
build_image(struct work *w, struct build_record *record)
{
	const char *tag = w->o->tag;
	const char *iid = fs_join(w->a, w->dir, "iid");
	struct engine_build image = { .tag = tag,
				      .iid_file = iid,
				      .push = w->o->push,
				      .cache_to = w->o->cache_to,
				      .no_cache = w->o->no_cache };
	struct instructions of;
	struct image_about about;

	/* The file for people, beside the record: what was built can be built without us. */
	if (!work_render(w, "dockerfile", fs_join(w->a, w->o->out, "Dockerfile"), false) ||
	    !write_dockerfile(w, &of) || (w->wanted.n && !make_wheels(w, &of)))
		return false;
	unlink(iid);
	if (!call(w, image, of))
		return false;
	look_at(w, tag, iid, &about);
	if (!w->base_digest)
		w->base_digest = engine_pulled(w->a, w->o->engine, &w->o->state->at,
					       w->plan->stack->base.value);
	if (w->o->push && !pushes_itself(w) && !push(w, tag, &about))
		return false;
	record->image = tag;
	record->image_id = about.id;
	record->digest = about.digest ? about.digest : about.id;
	record->size_bytes = about.size_bytes;
	return true;
}
