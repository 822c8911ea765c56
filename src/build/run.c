/* One command of an engine: its child, its output, and what its end means. */
#include "work.h"

#include <string.h>
#include <time.h>

#include "base/fs.h"
#include "base/str.h"

double
work_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

struct progress_step *
work_step(struct work *w, const char *id)
{
	for (size_t i = 0; id && i < w->plan->n; i++)
		if (!strcmp(w->steps[i].id, id))
			return &w->steps[i];
	return NULL;
}

/* One child's output, between its pipe and the screen. */
struct listening {
	struct work *w;
	struct output_parser *parser;
	double began_s;
	struct names last; /* lines outside of every step, for when the engine itself fails */
};

enum { LAST_LINES = 12 };

static void
keep_last(struct listening *l, const char *text)
{
	if (!*text)
		return;
	if (l->last.n == LAST_LINES) {
		memmove(l->last.at, l->last.at + 1, (LAST_LINES - 1) * sizeof(*l->last.at));
		l->last.n--;
	}
	list_push(l->w->a, &l->last, arena_strdup(l->w->a, text));
}

static void
on_event(void *ctx, const struct build_event *e)
{
	struct listening *l = ctx;
	struct build_event open = *e;
	const struct step *of = e->step ? plan_step(l->w->plan, e->step) : NULL;

	if (e->kind == EVENT_OTHER && e->text)
		keep_last(l, e->text);
	/* Fetched and looked at, but not yet made. */
	if (l->w->preparing && of && of->extension && e->kind == EVENT_DONE)
		open.last = false;
	progress_event(l->w->progress, &open);
}

/* BuildKit names the base as it resolved it: "#4 [base 1/5] FROM docker.io/library/x:1@sha256:..." */
static const char *
base_digest(const struct work *w, const char *line, size_t n)
{
	const char *base = w->plan->stack->base.value, *text, *from, *at;
	const size_t digest = strlen("@sha256:") + 64;

	if (w->o->engine->dialect != DIALECT_BUILDKIT || !base || !memmem(line, n, "@sha256:", 8))
		return NULL;
	text = arena_copy(w->a, line, n);
	if (!(from = strstr(text, "] FROM ")) || !(at = strstr(from, "@sha256:")) ||
	    strlen(at) < digest || strspn(at + 8, "0123456789abcdef") != 64)
		return NULL;
	from = arena_copy(w->a, from + 7, (size_t)(at - from - 7));
	if (!ends_with(from, base) && !ends_with(from, arena_printf(w->a, "%s:latest", base)))
		return NULL;
	return arena_copy(w->a, at + 1, digest - 1);
}

static void
on_line(void *ctx, enum proc_stream from, const char *line, size_t n)
{
	struct listening *l = ctx;

	if (!l->w->base_digest)
		l->w->base_digest = base_digest(l->w, line, n);
	output_parser_line(l->parser, from, line, n);
}

static void
on_tick(void *ctx, double now_s)
{
	struct listening *l = ctx;

	progress_tick(l->w->progress, l->began_s + now_s - l->w->began_s);
}

/* The step that failed, at its line of the recipe, with what it said. */
static void
step_failed(struct work *w, const struct step_failure *f)
{
	const struct step *of = plan_step(w->plan, f->step);
	struct diag *d = diag_at(w->ds, E_STEP_FAILED, of->at, "step %s failed after %u:%02u%s%s",
				 f->step, (unsigned)f->seconds / 60, (unsigned)f->seconds % 60,
				 f->exit ? ", " : "", f->exit ? f->exit : "");

	for (size_t i = 0; i < f->lines.n; i++)
		diag_why(d, "%s", f->lines.at[i]);
	if (f->why)
		diag_help(d, "%s%s%s", f->why, f->help ? ": " : "", f->help ? f->help : "");
	else if (f->help)
		diag_help(d, "%s", f->help);
	diag_help(d, "all that it printed: %s", fs_join(w->a, w->o->out, "build.log"));
}

static bool
ended_badly(struct work *w, const char *client, const struct proc_result *r,
	    const struct listening *l)
{
	struct step_failure f;
	struct diag *d;

	if (r->interrupted) {
		diag_at(w->ds, E_BUILD_INTERRUPTED, (struct span){ 0 },
			"interrupted: no image was tagged");
		return false;
	}
	if (r->timed_out) {
		diag_help(diag_at(w->ds, E_BUILD_TIMEOUT, (struct span){ 0 },
				  "not built within %.0f s: no image was tagged", w->o->timeout_s),
			  "--timeout SECONDS; what was built is in the engine's cache, and in the "
			  "store");
		return false;
	}
	if (progress_failed(w->progress, &f)) {
		step_failed(w, &f);
		return false;
	}
	d = diag_at(w->ds, E_ENGINE_FAILED, (struct span){ 0 }, "%s %s", client,
		    r->started && w->pushing ?
			    arena_printf(w->a, "built %s and could not push it: exit status %d",
					 w->pushing, r->status) :
		    r->started ?
			    arena_printf(w->a, "failed with exit status %d outside of any step",
					 r->status) :
			    arena_printf(w->a, "could not be started: %s", strerror(r->error)));
	for (size_t i = 0; i < l->last.n; i++)
		diag_why(d, "%s", l->last.at[i]);
	if (w->pushing)
		diag_help(d, "%s login %s, if nobody is logged in there", w->o->engine->name,
			  arena_copy(w->a, w->pushing, strcspn(w->pushing, "/")));
	diag_help(d, "stackbuild engines says what is usable; all that was printed: %s",
		  fs_join(w->a, w->o->out, "build.log"));
	return false;
}

bool
work_run(struct work *w, struct engine_command c, struct instructions of)
{
	struct listening l = { .w = w, .began_s = work_now() };
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
	l.parser = output_parser_new(w->a, w->o->engine->dialect, of, on_event, &l);
	good = proc_run(w->a, &spec, &r);
	output_parser_end(l.parser, r.started && !r.interrupted && !r.timed_out ? r.status : -1);
	w->cpu_s += r.cpu_s;
	if (!good)
		return ended_badly(w, c.argv.at[0], &r, &l);
	for (size_t i = 0; i < w->plan->n; i++)
		if (!w->plan->steps[i].extension)
			progress_complete(w->progress, w->steps[i].id);
	return true;
}
