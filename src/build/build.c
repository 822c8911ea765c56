#include "engine_parts.h"
#include "work.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/fs.h"
#include "base/sha256.h"

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
	case STEP_WAITING: return "elsewhere"; /* Modal does not say what it did */
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
	r->base_digest =
		w->plan->stack->image.digest ? w->plan->stack->image.digest : w->base_digest;
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
		list_push(w->a, &r->wheels,
			  arena_printf(w->a, "%s %s", w->wanted.at[i].put, w->wanted.at[i].key));
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

		w->steps[i] = (struct progress_step){ .id = s->id,
						      .recipe_line = s->at.line,
						      .estimate_s = s->cost_s,
						      .lane = !side_by_side ? "trunk" :
							      s->extension  ? s->stage :
									      NULL };
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

/* Modal builds where it runs: its own client deploys the rendered app. */
static bool
build_modal(struct work *w, struct build_record *record)
{
	const char *path = fs_join(w->a, w->o->out, "modal_app.py");
	const struct rendered *r = work_render(w, "modal", path, false);
	struct engine_command c = { 0 };

	if (!r)
		return false;
	w->dockerfile_text = r->text;
	engine_add(w->a, &c, w->o->state->at.client, "deploy", engine_path(w->a, path), NULL);
	record->image = w->plan->name;
	return work_run(w, c, (struct instructions){ 0 });
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
		good = o->engine->build                    ? build_image(&w, record) :
		       o->engine->dialect == DIALECT_MODAL ? build_modal(&w, record) :
							     build_venv(&w, record);
		good = close_screen(&w) && good;
	}
	if (good) {
		fill_record(&w, record);
		good = build_record_write(ds, path, record);
	}
	work_close(&w);
	return good;
}
