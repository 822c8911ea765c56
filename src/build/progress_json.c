#include "base/json.h"

#include "screen.h"

/* One object a line; docs/build.md has the table.  Each has `event` and `at`, in seconds. */
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

	json_text(&j, "engine", p->o.head);
	json_text(&j, "log", p->o.log_path);
	json_list(&j, "steps");
	for (size_t i = 0; i < p->nsteps; i++) {
		json_map(&j, NULL);
		json_text(&j, "id", p->steps[i].id);
		json_int(&j, "recipe_line", p->steps[i].recipe_line);
		json_number(&j, "estimate_s", p->steps[i].estimate_s);
		json_end(&j);
	}
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
