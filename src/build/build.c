#include "engine_parts.h"
#include "work.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/sha256.h"

/* --- the screen --- */

struct compile_machine
build_machine(struct arena *a, const struct build_options *o)
{
	const struct host *h = host_read(a, "");
	bool here =
		!o->state->at.addr && !o->state->at.remote && o->engine->dialect != DIALECT_MODAL;

	return (struct compile_machine){ .cpus = here ? h->cpus : 0,
					 .mib = h->mem_limit_mib ? h->mem_limit_mib :
								   h->mem_total_mib,
					 .jobs = o->jobs };
}

const struct plan *
work_timed(const struct work *w)
{
	const struct source *before =
		fs_read_quiet(w->a, fs_join(w->a, w->o->out, "build.json"), FS_READ_MAX);
	const struct plan *measured = before ? plan_measured(w->a, w->plan, before) : w->plan;
	struct compile_machine m = build_machine(w->a, w->o);

	return plan_on_machine(w->a, measured, &m);
}

static void
estimate_steps(struct work *w)
{
	const struct plan *timed = work_timed(w);
	bool side_by_side = w->o->engine->dialect == DIALECT_BUILDKIT;

	w->steps = arena_array_of(w->a, struct progress_step, w->plan->n);
	for (size_t i = 0; i < w->plan->n; i++) {
		const struct step *s = &timed->steps[i];

		w->steps[i] = (struct progress_step){ .id = s->id,
						      .recipe_line = s->at.line,
						      .estimate_s = s->cost_s,
						      .lane = !side_by_side ? "trunk" :
							      s->extension  ? s->stage :
									      NULL };
	}
}

const char *
work_headline(struct work *w)
{
	const struct host *h = host_read(w->a, "");
	struct names missing = venv_missing(w->a, w->plan);
	struct buf b = BUF(w->a);

	buf_printf(&b, "%s: %s %s, %u core%s, %zu GiB", w->plan->name, w->o->engine->name,
		   w->o->state->version ? w->o->state->version : "", h->cpus,
		   h->cpus == 1 ? "" : "s",
		   (h->mem_limit_mib ? h->mem_limit_mib : h->mem_total_mib) / 1024);
	for (size_t i = 0; i < w->o->stores.n; i++)
		buf_printf(&b, "%s%s", i ? ", " : "; store ", store_name(w->o->stores.at[i]));
	if (!w->o->engine->build && missing.n && w->o->no_apt)
		buf_printf(&b, "; --no-apt leaves out %s", names_join(w->a, &missing, " "));
	else if (!w->o->engine->build && missing.n)
		buf_printf(&b, "; %sapt-get installs %s (--no-apt leaves them out)",
			   geteuid() ? "sudo " : "", names_join(w->a, &missing, " "));
	return buf_text(&b);
}

struct progress *
screen_open(struct arena *a, struct diags *ds, struct progress_options o,
	    struct progress_step *steps, size_t n)
{
	struct progress *p;

	if (!(o.log = fopen(o.log_path, "we"))) {
		diag_at(ds, E_BUILD_FILES, NOWHERE, "cannot write %s: %s", o.log_path,
			strerror(errno));
		return NULL;
	}
	p = progress_new(a, &o, steps, n);
	progress_tick(p, 0);
	return p;
}

bool
screen_close(struct diags *ds, struct progress *p)
{
	const char *why = NULL;
	bool good = progress_end(p, &why);

	if (!good)
		diag_help(diag_at(ds, E_BUILD_FILES, NOWHERE, "%s", why),
			  "is the disk full, or standard error closed?");
	return good;
}

static bool
open_screen(struct work *w)
{
	const char *path = fs_join(w->a, w->o->out, "build.log");
	char now[32];
	time_t t = time(NULL);
	struct tm utc;

	strftime(now, sizeof(now), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&t, &utc));
	w->record->started = arena_strdup(w->a, now);
	estimate_steps(w);
	w->progress = screen_open(w->a, w->ds,
				  (struct progress_options){ .mode = w->o->progress,
							     .out = stderr,
							     .head = work_headline(w),
							     .log_path = path,
							     .colour = w->o->colour,
							     .masked = w->masked },
				  w->steps, w->plan->n);
	return w->progress;
}

/* --- rendering --- */

static const struct plan *
same_plan(void *ctx, struct arena *a, struct diags *ds, const struct recipe *cell)
{
	(void)a, (void)ds, (void)cell;
	return ctx;
}

/*
 * Writes the file of one target for this plan to `path`, and its helpers to the stack's directory, or
 * to the build's context.
 */
static bool
write_target(struct work *w, const char *target, const char *path, bool for_build)
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
		return false;
	/* The Dockerfile for the user names the images themselves. */
	for (size_t i = 0; i < files.n && w->o->mirror && (for_build || !w->o->engine->build); i++)
		files.at[i].text =
			mirror_text(w->a, w->o->mirror, files.at[i].text, &files.at[i].size);
	/* Cells that build in parallel share the manifest. */
	lock = fs_lock_dir(w->a, dir);
	manifest = render_manifest(w->a, &in, &files, dir);
	if (!for_build)
		list_push(w->a, &files, manifest);
	good = for_build || render_may_write(w->a, w->ds, dir, w->plan->name, &files);
	for (size_t i = 0; good && i < files.n; i++) {
		const struct rendered *r = &files.at[i];

		if (!r->helper)
			page = r;
		good = fs_write(w->ds, r->helper ? fs_join(w->a, dir, r->path) : path, r->text,
				r->size, r->mode, false, NULL);
	}
	if (lock >= 0)
		close(lock);
	if (!good)
		return false;
	w->instructions = page->instructions;
	w->record->dockerfile_digest =
		arena_printf(w->a, "sha256:%s", sha256_hex(w->a, page->text, page->size));
	return true;
}

/* --- an image, by an engine that reads Dockerfiles --- */

static bool
call(struct work *w, struct engine_build b)
{
	const struct build_options *o = w->o;

	b.context = w->context;
	b.dockerfile = w->dockerfile;
	b.platform = w->plan->stack->platform;
	b.secrets = w->secret_files;
	b.cache_from = o->cache_from;
	b.no_network = o->mirror;
	if (o->jobs)
		list_printf(w->a, &b.args, "MAX_JOBS=%u", o->jobs);
	return work_run(w, o->engine->build(w->a, &o->state->at, &b));
}

/* Returns the files of a stage; NULL: it failed. */
static const char *
files_of(struct work *w, const char *stage, bool fresh)
{
	const char *folder = work_folder(w, stage);
	const struct engine_build b = { .target = stage, .to_folder = folder, .no_cache = fresh };

	return folder && call(w, b) ? folder : NULL;
}

/* Reads the inputs of one extension, then takes or compiles its wheel (--wheel). */
static bool
make_wheel(struct work *w)
{
	const char *to = work_folder(w, "wheels"), *inputs;
	const struct engine_build b = { .target = arena_printf(w->a, "wheel-%s", w->o->wheel),
					.to_folder = to ? fs_join(w->a, to, w->o->wheel) : NULL,
					.no_cache = w->o->no_cache };

	return to && (inputs = files_of(w, "inputs", false)) && wheels_keys(w, inputs) &&
	       (w->o->no_cache || wheels_take(w, to)) &&
	       (!wheels_missing(w) ||
		(work_make(w, b.to_folder) && call(w, b) && wheels_keep(w, to, NULL)));
}

/*
 * Puts the wheels of extensions into the context: from the stores, or compiled or downloaded, and
 * checked. Every worker therefore builds an image with checked wheels only, and the image equals
 * one with wheels from a store. The engine downloads a prebuilt wheel as in a build without
 * stackbuild: with pip, its proxies and its cache.
 *
 * Engines support --no-cache only for a whole call, and each extension must compile only once: the
 * compile steps run first, and their inputs are read from the new layers.
 */
static bool
make_wheels(struct work *w)
{
	const char *dir = fs_join(w->a, w->context, ".stackbuild/wheels");
	const char *inputs, *wheels = NULL;
	bool fresh = w->o->no_cache;

	if ((fresh && !(wheels = files_of(w, "wheels", true))) ||
	    (wheels_compile(w) &&
	     (!(inputs = files_of(w, "inputs", false)) || !wheels_keys(w, inputs))))
		return false;
	if (!fresh && (!wheels_take(w, dir) || !write_target(w, "dockerfile", w->dockerfile, true)))
		return false;
	if (!wheels_missing(w))
		return true;
	if (!wheels && !(wheels = files_of(w, "wheels", false)))
		return false;
	if (!wheels_keep(w, wheels, dir))
		return false;
	/* The call for the image repeats the first steps, whose time must not count twice. */
	for (size_t i = 0; fresh && i < w->plan->n; i++)
		if (!w->steps[i].partly && w->plan->steps[i].kind != STEP_EXTENSION) {
			w->steps[i].seconds = 0;
			w->steps[i].start_s = -1;
		}
	return write_target(w, "dockerfile", w->dockerfile, true);
}

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
	if (!work_run(w, c))
		return false;
	if (!(about->digest = engine_pushed(w->a, file)))
		engine_image(w->a, e, &w->o->state->at, tag, about);
	return true;
}

/* Reads data about the image: by its local name, or from the client's file about a remote image. */
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

static bool
build_image(struct work *w)
{
	struct build_record *record = w->record;
	const char *tag = w->o->tag;
	const char *iid = fs_join(w->a, w->dir, "iid");
	struct engine_build image = { .tag = tag,
				      .iid_file = iid,
				      .push = w->o->push,
				      .cache_to = w->o->cache_to,
				      .no_cache = w->o->no_cache };
	struct image_about about;

	/*
	 * Writes the Dockerfile next to the record, so that users can build it without stackbuild.
	 */
	if (!write_target(w, "dockerfile", fs_join(w->a, w->o->out, "Dockerfile"), false) ||
	    !write_target(w, "dockerfile", w->dockerfile, true))
		return false;
	if (w->o->mirror && !work_load(w))
		return false;
	if (w->o->wheel)
		return make_wheel(w);
	if (w->wanted.n && !make_wheels(w))
		return false;
	unlink(iid);
	if (!call(w, image))
		return false;
	look_at(w, tag, iid, &about);
	if (!record->base_digest)
		record->base_digest = engine_pulled(w->a, w->o->engine, &w->o->state->at,
						    w->plan->stack->base.value);
	if (w->o->push && !pushes_itself(w) && !push(w, tag, &about))
		return false;
	record->image = tag;
	record->image_id = about.id;
	record->digest = about.digest ? about.digest : about.id;
	record->size_bytes = about.size_bytes;
	return true;
}

/* --- an environment, or an app --- */

/* Returns the extensions that --wheel neither compiles nor installs. */
static const char *
other_extensions(struct work *w)
{
	struct names all = { 0 };

	for (size_t i = 0; w->o->wheel && i < w->plan->n; i++)
		if (step_operation(&w->plan->steps[i], OP_COMPILE) &&
		    strcmp(w->plan->steps[i].id, w->o->wheel) != 0)
			list_push(w->a, &all, w->plan->steps[i].id);
	return names_join(w->a, &all, " ");
}

/*
 * Runs the script; with until_inputs, it writes the inputs of the wheels and stops before it
 * compiles.
 */
static bool
run_script(struct work *w, const char *path, bool until_inputs)
{
	struct engine_command c = { 0 };

	engine_add(w->a, &c, w->o->state->at.client, fs_real(w->a, path), w->record->image, NULL);
	if (plan_secrets(w->a, w->plan).n)
		list_printf(w->a, &c.env, "SECRETS=%s", w->secrets);
	list_printf(w->a, &c.env, "APP=%s", w->app);
	list_printf(w->a, &c.env, "STACKBUILD_OWN=%s/" RENDER_OWN, w->context);
	if (w->o->jobs)
		list_printf(w->a, &c.env, "MAX_JOBS=%u", w->o->jobs);
	list_push(w->a, &c.env, "STACKBUILD_MARKS=1");
	if (w->o->no_apt)
		list_push(w->a, &c.env, "STACKBUILD_APT=no");
	list_printf(w->a, &c.env, "STACKBUILD_WHEELS=%s/wheels", w->dir);
	list_push(w->a, &c.env,
		  until_inputs ? arena_printf(w->a, "STACKBUILD_INPUTS=%s/inputs", w->dir) :
				 "STACKBUILD_INPUTS");
	list_push(w->a, &c.env,
		  until_inputs ? "STACKBUILD_UNTIL=inputs" :
		  w->o->wheel  ? arena_printf(w->a, "STACKBUILD_UNTIL=%s", w->o->wheel) :
				 "STACKBUILD_UNTIL");
	list_printf(w->a, &c.env, "STACKBUILD_SKIP=%s", other_extensions(w));
	for (size_t i = 0; w->o->mirror && i < w->o->mirror->env.n; i++)
		list_push(w->a, &c.env, w->o->mirror->env.at[i]);
	return work_run(w, c);
}

/* Skips installed extensions, which have no inputs and need no wheel. */
static void
drop_installed(struct work *w, const char *inputs)
{
	struct wanted_wheel *at = w->wanted.at;
	size_t n = w->wanted.n;

	w->wanted.n = 0;
	for (size_t i = 0; i < n; i++)
		if (at[i].prebuilt ||
		    fs_exists(fs_join(w->a, inputs, arena_printf(w->a, "%s.json", at[i].step->id))))
			at[w->wanted.n++] = at[i];
}

static bool
build_venv(struct work *w)
{
	const char *path = fs_join(w->a, w->o->out, "setup.sh");
	const char *inputs = work_folder(w, "inputs"), *wheels = work_folder(w, "wheels");
	bool good;

	if (!write_target(w, "script", path, false) || !inputs || !wheels)
		return false;
	/* An environment for one wheel is removed after the wheel is saved. */
	w->record->image = fs_join(w->a, fs_real(w->a, w->o->wheel ? w->dir : w->o->out), "venv");
	if (wheels_compile(
		    w)) { /* takes wheels from the stores, by their inputs in this environment */
		w->preparing = true;
		if (!run_script(w, path, true))
			return false;
		w->preparing = false;
		drop_installed(w, inputs);
		if (!wheels_keys(w, inputs) || !wheels_take(w, wheels))
			return false;
	}
	if (w->o->wheel && !wheels_missing(w))
		return true;
	/* Runs after a failed script, too: a wheel for another torch can cause a failed import. */
	good = run_script(w, path, false);
	good = wheels_check(w, fs_join(w->a, w->record->image, "share/stackbuild/wheels")) && good;
	return good && (!wheels_missing(w) || wheels_keep(w, wheels, NULL));
}

/* Modal builds on its own machines: its client deploys the rendered app. */
static bool
build_modal(struct work *w)
{
	const char *path = fs_join(w->a, w->o->out, "modal_app.py");
	struct engine_command c = { 0 };

	engine_add(w->a, &c, w->o->state->at.client, "deploy", engine_path(w->a, path), NULL);
	w->record->image = w->plan->name;
	return write_target(w, "modal", path, false) && work_run(w, c);
}

bool
work_check_wheel(struct work *w)
{
	const struct step *s = plan_step(w->plan, w->o->wheel);
	struct names known = { 0 };
	struct diag *d;

	if (s && step_operation(s, OP_COMPILE))
		return true;
	for (size_t i = 0; i < w->plan->n; i++)
		if (step_operation(&w->plan->steps[i], OP_COMPILE))
			list_push(w->a, &known, w->plan->steps[i].id);
	d = diag_at(w->ds, E_WHEEL_NAME, NOWHERE, "the stack does not compile an extension `%s`",
		    w->o->wheel);
	diag_help(d, "%s%s", known.n ? "it compiles " : "it compiles nothing",
		  names_join(w->a, &known, ", "));
	return false;
}

bool
build_stack(struct arena *a, struct diags *ds, const struct plan *p, const struct templates *t,
	    const struct build_options *o, struct build_record *record)
{
	struct work w = { .a = a, .ds = ds, .plan = p, .templates = t, .o = o, .record = record };
	const char *path = fs_join(a, o->out, "build.json");
	bool good = false;

	w.began_s = proc_clock_s();
	if (o->wheel && !work_check_wheel(&w))
		return false;
	if (work_open(&w) && work_secrets(&w) && open_screen(&w)) {
		wheels_wanted(&w);
		if (!o->mirror)
			commits_resolve(&w);
		good = o->engine->build                    ? build_image(&w) :
		       o->engine->dialect == DIALECT_MODAL ? build_modal(&w) :
							     build_venv(&w);
		good = screen_close(ds, w.progress) && good;
	}
	if (w.progress) {
		record_fill(&w, good);
		good = build_record_write(ds, path, record) && good;
	}
	work_close(&w);
	return good;
}
