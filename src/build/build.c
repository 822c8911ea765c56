#include "work.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/sha256.h"

/* --- rendering --- */

static const struct plan *
same_plan(void *ctx, struct arena *a, struct diags *ds, const struct recipe *cell)
{
	(void)a, (void)ds, (void)cell;
	return ctx;
}

const struct rendered *
work_render(struct work *w, const char *target, bool for_build)
{
	const struct recipe *cell = w->plan->stack->recipe;
	const struct recipes one = { .at = &cell, .n = 1 };
	struct render_input in = { .recipes = &one,
				   .facts = w->plan->stack->facts,
				   .plan = same_plan,
				   .ctx = (void *)(uintptr_t)w->plan,
				   .templates = w->templates,
				   .targets = &target,
				   .ntargets = 1,
				   .build = for_build ? &w->hits : NULL };
	struct rendereds files = { 0 };

	return render(w->a, w->ds, &in, &files) && files.n ? files.at : NULL;
}

/* The file for people, beside the record: what was built can be built without us. */
static bool
write_plain(struct work *w)
{
	const struct rendered *r = work_render(w, "dockerfile", false);

	return r && fs_write(w->ds, fs_join(w->a, w->o->out, "Dockerfile"), r->text, r->size, 0644,
			     false, NULL);
}

/* The build's own Dockerfile, as things stand: with what came from the store. */
static bool
write_dockerfile(struct work *w, struct instructions *of)
{
	const struct rendered *r = work_render(w, "dockerfile", true);

	if (!r || !fs_write(w->ds, w->dockerfile, r->text, r->size, 0644, false, NULL))
		return false;
	w->dockerfile_text = r->text;
	*of = r->instructions;
	return true;
}

/* --- one call of the engine --- */

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
	return work_run(w, &c, of);
}

/* Reads what wheels are made of where they are made, and takes what the stores have. */
static bool
find_wheels(struct work *w, struct instructions *of)
{
	const char *inputs = work_folder(w, "inputs");
	const char *wheels = work_folder(w, "context/.stackbuild/wheels");
	bool fresh = w->o->no_cache;

	if (!inputs || !wheels ||
	    !call(w,
		  (struct engine_build){
			  .target = "inputs", .to_folder = inputs, .no_cache = fresh },
		  *of) ||
	    !wheels_keys(w, inputs))
		return false;
	if (!w->o->no_cache)
		wheels_take(w, wheels);
	return write_dockerfile(w, of);
}

static bool
compile_wheels(struct work *w, struct instructions of)
{
	const char *wheels = work_folder(w, "wheels");

	return wheels &&
	       call(w, (struct engine_build){ .target = "wheels", .to_folder = wheels }, of) &&
	       wheels_keep(w, wheels);
}

static bool
build_image(struct work *w, struct build_record *record)
{
	const char *tag = w->o->tag ? w->o->tag : w->plan->name;
	const char *iid = fs_join(w->a, w->dir, "iid");
	struct instructions of;
	struct image_about about = { 0 };

	if (!write_plain(w) || !write_dockerfile(w, &of))
		return false;
	if (w->wanted.n && (!find_wheels(w, &of) || (wheels_missing(w) && !compile_wheels(w, of))))
		return false;
	unlink(iid);
	if (!call(w,
		  (struct engine_build){ .tag = tag,
					 .iid_file = iid,
					 .push = w->o->push,
					 .cache_to = w->o->cache_to,
					 .no_cache = w->o->no_cache && !w->wanted.n },
		  of))
		return false;
	record->image = tag;
	if (w->o->engine->inspect &&
	    engine_image(w->a, w->o->engine, &w->o->state->at, tag, &about)) {
		record->image_id = about.id;
		record->digest = about.digest ? about.digest : about.id;
		record->size_bytes = about.size_bytes;
	}
	return true;
}

/* --- the record --- */

static const char *
digest_of(struct arena *a, const char *text)
{
	return text ? arena_printf(a, "sha256:%s", sha256_hex(a, text, strlen(text))) : NULL;
}

static const char *
came_from(const struct progress_step *s, const struct step *of)
{
	switch (s->state) {
	case STEP_STORE: return "store";
	case STEP_CACHED: return "cache";
	default: return of->extension ? "compiled" : "built";
	}
}

static void
fill_record(struct work *w, struct build_record *r)
{
	const struct host *h = host_read(w->a, "");
	struct rusage own;

	r->stack = w->plan->name;
	r->engine = w->o->engine->name;
	r->engine_version = w->o->state->version;
	r->platform = w->plan->stack->platform;
	r->recipe_digest = w->plan->stack->recipe->digest;
	r->dockerfile_digest = digest_of(w->a, w->dockerfile_text);
	r->base_digest = w->plan->stack->image.digest;
	r->started = w->started;
	r->seconds = work_now() - w->began_s;
	getrusage(RUSAGE_SELF, &own);
	r->cpu_s = w->cpu_s + (double)own.ru_utime.tv_sec + (double)own.ru_stime.tv_sec;
	r->cpus = h->cpus;
	r->mem_mib = h->mem_total_mib;
	for (size_t i = 0; i < w->plan->n; i++) {
		const struct step *of = &w->plan->steps[i];
		const struct progress_step *s = &w->steps[i];
		struct build_record_step row = { .id = s->id,
						 .cached = s->state == STEP_CACHED ||
							   s->state == STEP_STORE,
						 .from = came_from(s, of),
						 .seconds = s->seconds,
						 .peak_mib = s->peak_mib,
						 .partly = s->partly,
						 .own = of->own,
						 .recipe_line = s->recipe_line,
						 .key = of->key };

		list_push(w->a, &r->steps, row);
	}
	for (size_t i = 0; i < w->wanted.n; i++)
		list_push(
			w->a, &r->wheels,
			arena_printf(w->a, "%s %s", w->wanted.at[i].step->id, w->wanted.at[i].key));
}

/* --- the screen --- */

static void
estimate_steps(struct work *w)
{
	struct build_record before = { 0 };
	bool known = build_record_read(w->a, fs_join(w->a, w->o->out, "build.json"), &before);

	bool side_by_side = w->o->engine->dialect == DIALECT_BUILDKIT;

	w->steps = arena_array_of(w->a, struct progress_step, w->plan->n);
	for (size_t i = 0; i < w->plan->n; i++) {
		const struct step *s = &w->plan->steps[i];
		double measured_s;

		w->steps[i] =
			(struct progress_step){ .id = s->id,
						.recipe_line = s->at.line,
						.estimate_s = s->cost_s,
						.lane = side_by_side && s->extension ? s->stage :
										       "trunk" };
		if (known && (measured_s = build_record_measured(&before, s->key, s->own)) > 0)
			w->steps[i].estimate_s = measured_s;
	}
}

static const char *
headline(struct work *w)
{
	const struct host *h = host_read(w->a, "");
	struct buf b = BUF(w->a);

	buf_printf(&b, "%s: %s %s, %u core%s, %zu GiB", w->plan->name, w->o->engine->name,
		   w->o->state->version ? w->o->state->version : "", h->cpus,
		   h->cpus == 1 ? "" : "s",
		   (h->mem_limit_mib ? h->mem_limit_mib : h->mem_total_mib) / 1024);
	for (size_t i = 0; i < w->o->nstores; i++)
		buf_printf(&b, "%s%s", i ? ", " : "; store ", store_name(w->o->stores[i]));
	return buf_text(&b);
}

static bool
open_screen(struct work *w)
{
	const char *path = fs_join(w->a, w->o->out, "build.log");
	char now[32];
	time_t t = time(NULL);
	struct tm utc;

	strftime(now, sizeof(now), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&t, &utc));
	w->started = arena_strdup(w->a, now);
	if (!(w->log = fopen(path, "w"))) {
		diag_at(w->ds, E_BUILD_FILES, (struct span){ 0 }, "cannot write %s", path);
		return false;
	}
	estimate_steps(w);
	w->progress = progress_new(w->a,
				   &(struct progress_options){ .mode = w->o->progress,
							       .out = stderr,
							       .log = w->log,
							       .head = headline(w),
							       .log_path = path,
							       .colour = w->o->colour,
							       .masked = w->masked },
				   w->steps, w->plan->n);
	progress_tick(w->progress, 0);
	return true;
}

static bool
close_screen(struct work *w)
{
	const char *why = NULL;
	bool good = progress_end(w->progress, &why);

	if (fclose(w->log) != 0 && good) {
		good = false;
		why = "build.log could not be written";
	}
	if (!good)
		diag_help(diag_at(w->ds, E_BUILD_FILES, (struct span){ 0 }, "%s", why),
			  "is the disk full, or standard error closed?");
	return good;
}

static bool
make(struct work *w, struct build_record *record)
{
	if (!strcmp(w->o->engine->name, "venv"))
		return build_venv(w, record);
	return w->o->engine->builds_images ? build_image(w, record) : build_modal(w, record);
}

bool
build_stack(struct arena *a, struct diags *ds, const struct plan *p, const struct templates *t,
	    const struct build_options *o, struct build_record *record)
{
	struct work w = { .a = a, .ds = ds, .plan = p, .templates = t, .o = o };
	const char *path = fs_join(a, o->out, "build.json");
	bool good = false;

	w.began_s = work_now();
	if (work_open(&w) && work_secrets(&w) && open_screen(&w)) {
		wheels_wanted(&w);
		good = make(&w, record);
		good = close_screen(&w) && good;
	}
	if (good) {
		fill_record(&w, record);
		good = build_record_write(ds, path, record);
	}
	work_close(&w);
	return good;
}
