/* Runs one command of an engine: its process, its output, and the meaning of its exit status. */
#include "work.h"

#include <string.h>
#include <time.h>

#include "base/fs.h"
#include "base/str.h"

enum { LAST_LINES = 12, RETRIES = 3 /* of a build */ };

/* The output of a child, between its pipe and the screen. */
struct listening {
	struct work *w;
	struct output_parser *parser;
	double began_s;
	bool patient; /* at a signal, tell the user that the engine needs time to clean up */
	/* Last lines outside of all steps, for a failure of the engine itself: a ring, because an
	 * engine may print without end. */
	struct buf last[LAST_LINES];
	size_t nlast;
};

static void
keep_last(struct listening *l, const char *text)
{
	struct buf *b = &l->last[l->nlast % LAST_LINES];

	if (!*text)
		return;
	if (!b->a)
		*b = BUF(l->w->a);
	buf_clear(b);
	buf_puts(b, text);
	l->nlast++;
}

/* Reads the resolved name of the base, which BuildKit prints: "[base 1/5] FROM
 * docker.io/library/x:1@sha256:..." */
static void
note_base(struct work *w, const char *heading)
{
	const char *base = w->plan->stack->base.value, *from = strstr(heading, "] FROM "), *at;

	if (!base || !from || !(at = strstr(from, "@sha256:")) ||
	    strspn(at + 8, "0123456789abcdef") != 64)
		return;
	from = arena_copy(w->a, from + 7, (size_t)(at - from - 7));
	if (ends_with(from, base) || ends_with(from, arena_printf(w->a, "%s:latest", base)))
		w->record->base_digest = arena_copy(w->a, at + 1, strlen("sha256:") + 64);
}

static void
on_event(void *ctx, const struct build_event *e)
{
	struct listening *l = ctx;
	struct build_event open = *e;
	const struct step *of = e->step ? plan_step(l->w->plan, e->step) : NULL;

	if (e->kind == EVENT_OTHER && e->text)
		keep_last(l, progress_masked(l->w->progress, e->text));
	if ((e->kind == EVENT_START || e->kind == EVENT_OTHER) && e->text &&
	    !l->w->record->base_digest && l->w->o->engine->dialect == DIALECT_BUILDKIT)
		note_base(l->w, e->text);
	/* In this call, the step of an extension only fetches it and reads its inputs. */
	if (l->w->preparing && of && of->extension && e->kind == EVENT_DONE)
		open.last = false;
	progress_event(l->w->progress, &open);
}

static void
on_line(void *ctx, enum proc_stream from, const char *line, size_t n)
{
	output_parser_line(((struct listening *)ctx)->parser, from, line, n);
}

static const struct build_event stopping = {
	.kind = EVENT_OTHER, .text = "interrupted: the engine cleans up; a second Ctrl-C kills it"
};

static void
on_tick(void *ctx, double now_s)
{
	struct listening *l = ctx;

	progress_tick(l->w->progress, l->began_s + now_s - l->w->began_s);
	if (l->patient && proc_interrupted()) {
		l->patient = false;
		progress_event(l->w->progress, &stopping);
	}
}

/* Reports the failed step at its line of the recipe, with its output. */
static bool
step_failed(struct work *w)
{
	const char *why, *help;
	const struct progress_step *s = progress_failed(w->progress, &why, &help);
	struct diag *d;

	if (!s)
		return false;
	d = diag_at(w->ds, E_STEP_FAILED, plan_step(w->plan, s->id)->at,
		    "step %s failed after %u:%02u%s", s->id, (unsigned)s->seconds / 60,
		    (unsigned)s->seconds % 60,
		    s->status < 0 ? "" : arena_printf(w->a, ", exit %d", s->status));
	/* A signature of diagnose has plain words for podman's error about a short name. */
	for (size_t i = 0; i < s->tail.n; i++)
		if (!strstr(s->tail.at[i], "did not resolve to an alias"))
			diag_why(d, "%s", s->tail.at[i]);
	if (why)
		diag_help(d, "%s%s%s", why, help ? ": " : "", help ? help : "");
	return true;
}

static bool
ended_badly(struct work *w, const char *client, const struct proc_result *r,
	    const struct listening *l)
{
	struct diag *d;

	if (r->interrupted) {
		d = diag_at(w->ds, E_BUILD_INTERRUPTED, NOWHERE, "interrupted%s",
			    !r->status ? "" :
			    w->o->engine->dialect == DIALECT_SCRIPT ?
					 ": the environment is incomplete" :
					 ": no image was tagged");
		diag_help(d, "run the command again: %s has the finished steps",
			  w->o->engine->build ? "the engine's cache" : w->record->image);
		diag_note(d, NOWHERE, "kept: %s", fs_join(w->a, w->o->out, "build.log"));
		if (r->sent && w->o->engine->dialect == DIALECT_BUILDAH)
			diag_note(d, NOWHERE, "kept: containers (list them with `%s ps --all%s`)",
				  w->o->engine->name,
				  strcmp(w->o->engine->name, "podman") ? "" : " --external");
		for (size_t i = 0; w->o->stores.n && i < w->wanted.n; i++)
			if (w->wanted.at[i].put)
				diag_note(d, NOWHERE, "kept: the wheel of %s, in %s",
					  w->wanted.at[i].step->id,
					  w->wanted.at[i].got ? w->wanted.at[i].got :
								store_name(w->o->stores.at[0]));
		return false;
	}
	if (r->timed_out) {
		diag_help(diag_at(w->ds, E_BUILD_TIMEOUT, NOWHERE,
				  "the build exceeded %.0f s: no image was tagged",
				  w->o->timeout_s),
			  "raise --timeout; finished steps are in the engine's cache and in the "
			  "store");
		return false;
	}
	if (step_failed(w))
		return false;
	d = diag_at(
		w->ds, E_ENGINE_FAILED, NOWHERE, "%s %s", client,
		r->started && w->pushing ?
			arena_printf(w->a, "%s was built, but not pushed: exit status %d",
				     w->pushing, r->status) :
		r->started ?
			arena_printf(w->a,
				     "the engine failed with exit status %d outside of any step",
				     r->status) :
			arena_printf(w->a, "could not be started: %s", strerror(r->error)));
	for (size_t i = l->nlast < LAST_LINES ? 0 : l->nlast - LAST_LINES; i < l->nlast; i++)
		diag_why(d, "%s", l->last[i % LAST_LINES].p);
	if (w->pushing)
		diag_help(d, "run %s login %s if you are not logged in", w->o->engine->name,
			  arena_copy(w->a, w->pushing, strcspn(w->pushing, "/")));
	diag_help(d, "run `stackbuild engines` to list the usable engines");
	return false;
}

bool
work_run(struct work *w, struct engine_command c)
{
	struct listening l = { .w = w, .began_s = proc_clock_s(), .patient = c.patience_s > 0 };
	double left = w->o->timeout_s - (l.began_s - w->began_s);
	struct proc_spec spec = { .timeout_s = w->o->timeout_s <= 0 ? 0 :
					       left > 0.1           ? left :
								      0.1,
				  .line = on_line,
				  .tick = on_tick,
				  .ctx = &l };
	struct proc_result r;
	bool good;

	engine_spec(w->a, &c, &spec);
	l.parser = output_parser_new(w->a, w->o->engine->dialect, w->instructions, on_event, &l);
	good = proc_run(w->a, &spec, &r);
	output_parser_end(l.parser, r.started && !r.interrupted && !r.timed_out ? r.status : -1);
	w->record->cpu_s += r.cpu_s;
	if (!good && !r.interrupted && !r.timed_out && w->retries < RETRIES &&
	    progress_retry(w->progress)) {
		w->retries++;
		return work_run(w, c);
	}
	if (!good)
		return ended_badly(w, c.argv.at[0], &r, &l);
	for (size_t i = 0; i < w->plan->n; i++)
		if (!w->plan->steps[i].extension)
			progress_complete(w->progress, w->steps[i].id);
	return true;
}
