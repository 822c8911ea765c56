#include "screen.h"

#include "base/alive.h"
#include "base/json.h"

enum { SILENT_S = 60 };

/*
 * Prints one line for each change and each line of output, for logs:
 *
 *     docker 20.10 (BuildKit), 8 cores, 31 GiB
 *        0:00  base           ok 0:00  cached
 *        0:00  torch          starts (recipe line 4, about 2:05)
 *        0:01  torch          | Collecting torch==2.2.2
 *        1:48  torch          ok 1:48
 *        1:49  -              | exporting to image
 *        3:31  took 3:31                                          log: out/x/build.log
 *
 * The bar precedes each line of a child, so that no such line can look like one of ours.
 */
static void
put(struct progress *p, double at_s, size_t step, const char *mark, const char *text)
{
	char at[TIME_BYTES];

	p->to.n = 0;
	buf_printf(&p->to, "%7s  %-*s  %s%s%s\n", progress_time(at, at_s), (int)p->id_width,
		   step < p->nsteps ? p->steps[step].id : "-", mark, *mark && *text ? " " : "",
		   text);
	progress_write(&p->out, p->to.p, p->to.n);
	p->said_s = p->now_s;
	alive_said();
}

static void
plain_begin(struct progress *p)
{
	p->to.n = 0;
	if (p->o.head)
		buf_printf(&p->to, "%s\n", p->o.head);
	progress_write(&p->out, p->to.p, p->to.n);
}

static void
plain_change(struct progress *p, size_t step)
{
	const struct progress_step *s = &p->steps[step];
	struct buf *b = &p->say;
	char time[TIME_BYTES];

	buf_clear(b);
	if (p->work[step].shown) {
		if (s->state == STEP_FAILED || s->state == STEP_ENDED)
			buf_printf(b, "%s after %s", s->state == STEP_FAILED ? "FAILED" : "stopped",
				   progress_time(time, s->seconds));
		else
			buf_printf(b, "ok %s", progress_time(time, s->seconds));
		if (s->state == STEP_FAILED && s->status >= 0)
			buf_printf(b, ", exit %d", s->status);
		else if (s->state == STEP_CACHED)
			buf_puts(b, "  cached");
		if (s->note)
			buf_printf(b, "  %s", s->note);
		if (s->peak_mib)
			buf_printf(b, "  %.1f GiB", (double)s->peak_mib / 1024);
		put(p, p->now_s, step, "", b->p);
		return;
	}
	buf_puts(b, "starts (");
	if (s->recipe_line)
		buf_printf(b, "recipe line %u, ", s->recipe_line);
	if (s->estimate_s > 0)
		buf_printf(b, "about %s)", progress_time(time, s->estimate_s));
	else
		buf_puts(b, "time unknown)");
	put(p, p->work[step].opened_s, step, "", b->p);
}

static void
plain_line(struct progress *p, size_t step, double at_s, const char *text)
{
	put(p, at_s, step, "|", text);
}

/* Names the running steps after a minute without a line: "running, 3:12 of about 5:40". */
static void
plain_tick(struct progress *p)
{
	char time[TIME_BYTES];

	if (p->now_s - p->said_s < SILENT_S)
		return;
	for (size_t i = 0; i < p->nsteps; i++) {
		const struct progress_step *s = &p->steps[i];

		if (!p->work[i].open)
			continue;
		buf_clear(&p->say);
		buf_printf(&p->say, "running, %s",
			   progress_time(time, p->now_s - p->work[i].opened_s));
		if (s->estimate_s > 0)
			buf_printf(&p->say, " of about %s", progress_time(time, s->estimate_s));
		if (p->work[i].detail[0])
			buf_printf(&p->say, "  %s", p->work[i].detail);
		put(p, p->now_s, i, "", p->say.p);
	}
	if (p->now_s - p->said_s >= SILENT_S)
		put(p, p->now_s, p->nsteps, "", "running");
}

static void
plain_end(struct progress *p)
{
	char took[TIME_BYTES], at[TIME_BYTES];

	p->to.n = 0;
	buf_printf(&p->to, "%7s  took %s", progress_time(at, p->now_s),
		   progress_time(took, p->now_s));
	if (p->o.log_path)
		buf_printf(&p->to, "  log: %s", p->o.log_path);
	buf_putc(&p->to, '\n');
	progress_write(&p->out, p->to.p, p->to.n);
}

const struct printer progress_plain = { .begin = plain_begin,
					.change = plain_change,
					.line = plain_line,
					.tick = plain_tick,
					.end = plain_end };

/* Starts a JSON object with `event` and `at` in seconds, one on each line; see docs/build.md. */
static struct json
event(struct progress *p, const char *name, double at_s)
{
	struct json j;

	p->to.n = 0;
	j = json_flat_to(&p->to);
	json_map(&j, NULL);
	json_text(&j, "event", name);
	json_number(&j, "at", (double)(long long)(at_s * 1000 + 0.5) / 1000);
	return j;
}

static void
finish(struct progress *p, struct json *j)
{
	json_end(j);
	buf_putc(&p->to, '\n');
	progress_write(&p->out, p->to.p, p->to.n);
}

static void
json_begin(struct progress *p)
{
	struct json j = event(p, "begin", p->now_s);

	json_put(&j, "'engine': %s, 'log': %s, 'steps': [", p->o.head, p->o.log_path);
	for (size_t i = 0; i < p->nsteps; i++)
		json_put(&j, "{'id': %s, 'recipe_line': %d, 'estimate_s': %f}", p->steps[i].id,
			 (int)p->steps[i].recipe_line, p->steps[i].estimate_s);
	json_end(&j);
	finish(p, &j);
}

static void
json_change(struct progress *p, size_t step)
{
	static const char *const names[] = { "start",  "start",  "done",   "cached",
					     "stored", "failed", "stopped" };
	const struct progress_step *s = &p->steps[step];
	bool over = p->work[step].shown;
	struct json j = event(p, over ? names[s->state] : "start",
			      over ? p->now_s : p->work[step].opened_s);

	json_text(&j, "step", s->id);
	json_int(&j, "recipe_line", s->recipe_line);
	if (over) {
		json_number(&j, "seconds", (double)(long long)(s->seconds * 1000 + 0.5) / 1000);
		if (s->note)
			json_text(&j, "note", s->note);
		if (s->peak_mib)
			json_int(&j, "peak_mib", (long long)s->peak_mib);
	}
	if (over && s->state == STEP_FAILED) {
		if (s->status >= 0)
			json_int(&j, "status", s->status);
		else
			json_nil(&j, "status");
		json_names(&j, "lines", &s->tail);
	}
	finish(p, &j);
}

static void
json_line(struct progress *p, size_t step, double at_s, const char *text)
{
	struct json j = event(p, "line", at_s);

	json_text(&j, "step", step < p->nsteps ? p->steps[step].id : NULL);
	json_text(&j, "text", text);
	finish(p, &j);
}

static void
json_last(struct progress *p)
{
	struct json j = event(p, "end", p->now_s);

	json_text(&j, "failed", p->failed < p->nsteps ? p->steps[p->failed].id : NULL);
	finish(p, &j);
}

const struct printer progress_json = {
	.begin = json_begin, .change = json_change, .line = json_line, .end = json_last
};
