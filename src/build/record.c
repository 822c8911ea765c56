#include "work.h"

#include <jansson.h>
#include <string.h>
#include <sys/resource.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/str.h"
#include "fetch/fetch.h"

enum { RECORD_SCHEMA = 1, RECORD_BYTES_MAX = 1024 * 1024, RECORD_STEPS_MAX = 10000 };

/* --- writing --- */

static double
millis(double seconds)
{
	return seconds < 1e9 ? (double)(long long)(seconds * 1000 + 0.5) / 1000 : seconds;
}

static void
number_or_nil(struct json *j, const char *key, double n)
{
	if (n > 0)
		json_number(j, key, n);
	else
		json_nil(j, key);
}

/* A step from a cache or the store keeps its earlier cost. */
static double
measure(const struct build_record_step *s, const struct build_record *before)
{
	bool stored = s->from && !strcmp(s->from, "store");

	if (s->measured_s > 0)
		return s->measured_s;
	if (!s->cached && !s->partly && !stored && s->seconds > 0)
		return s->seconds;
	return before ? build_record_measured(before, s->key, s->own) : 0;
}

bool
build_record_write(struct diags *ds, const char *path, const struct build_record *r)
{
	struct build_record before;
	bool known = build_record_read(ds->arena, path, &before);
	struct buf b = BUF(ds->arena);
	struct json j = json_to(&b);

	json_put(&j, "{'schema': %d, 'stack': %s, 'image': %s, 'image_id': %s, 'digest': %s",
		 RECORD_SCHEMA, r->stack, r->image, r->image_id, r->digest);
	json_put(&j, "'engine': %s, 'engine_version': %s, 'platform': %s, 'recipe_digest': %s",
		 r->engine, r->engine_version, r->platform, r->recipe_digest);
	json_put(&j, "'lock_digest': %s, 'dockerfile_digest': %s, 'base_digest': %s, 'started': %s",
		 r->lock_digest, r->dockerfile_digest, r->base_digest, r->started);
	json_put(&j, "'seconds': %f, 'cpu_s': %f", millis(r->seconds), millis(r->cpu_s));
	number_or_nil(&j, "size_bytes", (double)r->size_bytes);
	json_put(&j, "'cpus': %d, 'mem_mib': %f, 'steps': [", (int)r->cpus, (double)r->mem_mib);
	list_each (s, &r->steps) {
		json_put(&j,
			 "('id': %s, 'cached': %b, 'from': %s, 'seconds': %f, 'recipe_line': %d",
			 s->id, s->cached, s->from, millis(s->seconds), (int)s->recipe_line);
		if (s->start_s >= 0)
			json_number(&j, "start_s", millis(s->start_s));
		else
			json_nil(&j, "start_s");
		json_put(&j, "'size_bytes': null");
		number_or_nil(&j, "peak_mib", (double)s->peak_mib);
		json_put(&j, "'key': %s, 'own': %s, 'commit': %s", s->key, s->own, s->commit);
		number_or_nil(&j, "measured_s", millis(measure(s, known ? &before : NULL)));
		json_end(&j);
	}
	json_put(&j, "], 'wheels': %n", &r->wheels);
	if (r->code)
		json_put(&j, "'failed': {'code': %s, 'error': %s, 'step': %s, 'lines': %n", r->code,
			 r->error, r->failed_step, &r->log);
	if (r->code && r->failed_status >= 0)
		json_put(&j, "'status': %d", r->failed_status);
	json_put(&j, r->code ? "}}" : "'failed': null}");
	return fs_write(ds, path, b.p, b.n, 0644, true, NULL);
}

/* --- reading --- */

/* Returns a number that can be a time or a size; otherwise `none`. */
static double
number_at(const json_t *map, const char *key, double none)
{
	const json_t *n = json_object_get(map, key);
	double value = json_number_value(n);

	return json_is_number(n) && value >= 0 && value < 1e15 ? value : none;
}

bool
build_record_read(struct arena *a, const char *path, struct build_record *out)
{
	const struct source *src = fs_read_quiet(a, path, RECORD_BYTES_MAX);
	json_auto_t *root =
		src ? json_loadb(src->text, src->size, JSON_REJECT_DUPLICATES, NULL) : NULL;
	const json_t *steps = json_object_get(root, "steps"), *step, *failed;
	size_t i;

	if (json_integer_value(json_object_get(root, "schema")) != RECORD_SCHEMA ||
	    !json_is_array(steps) || json_array_size(steps) > RECORD_STEPS_MAX)
		return false;
	failed = json_object_get(root, "failed");
	*out = (struct build_record){ .image = fetch_json_text(a, root, "image"),
				      .image_id = fetch_json_text(a, root, "image_id"),
				      .digest = fetch_json_text(a, root, "digest"),
				      .engine = fetch_json_text(a, root, "engine"),
				      .engine_version = fetch_json_text(a, root, "engine_version"),
				      .platform = fetch_json_text(a, root, "platform"),
				      .base_digest = fetch_json_text(a, root, "base_digest"),
				      .lock_digest = fetch_json_text(a, root, "lock_digest"),
				      .started = fetch_json_text(a, root, "started"),
				      .seconds = number_at(root, "seconds", 0),
				      .size_bytes = (size_t)number_at(root, "size_bytes", 0),
				      .code = fetch_json_text(a, failed, "code"),
				      .error = fetch_json_text(a, failed, "error"),
				      .failed_step = fetch_json_text(a, failed, "step"),
				      .recipe_digest = fetch_json_text(a, root, "recipe_digest") };
	json_array_foreach(steps, i, step)
	{
		struct build_record_step s = {
			.id = fetch_json_text(a, step, "id"),
			.key = fetch_json_text(a, step, "key"),
			.own = fetch_json_text(a, step, "own"),
			.commit = fetch_json_text(a, step, "commit"),
			.from = fetch_json_text(a, step, "from"),
			.start_s = number_at(step, "start_s", -1),
			.seconds = number_at(step, "seconds", 0),
			.measured_s = number_at(step, "measured_s", 0),
		};

		if (!s.id)
			return false;
		list_push(a, &out->steps, s);
	}
	return true;
}

double
build_record_measured(const struct build_record *r, const char *key, const char *own)
{
	double found = 0;

	list_each (s, &r->steps) {
		if (s->measured_s > 0 && key && s->key && !strcmp(s->key, key))
			return s->measured_s;
		if (s->measured_s > 0 && own && s->own && !strcmp(s->own, own))
			found = s->measured_s;
	}
	return found;
}

/* --- the record of a build --- */

static const char *
came_from(const struct progress_step *s, const struct step *of, bool failed)
{
	const char *made = step_operation(of, OP_COMPILE) ? "compiled" : "built";

	switch (s->state) {
	case STEP_STORE: return "store";
	case STEP_CACHED: return "cache";
	case STEP_WAITING: return failed ? NULL : "elsewhere"; /* Modal does not report this step */
	case STEP_RUNNING:
	case STEP_FAILED:
	case STEP_ENDED: return failed ? NULL : made;
	default: return made;
	}
}

/* Fills in the first error, and the failed step. */
static void
fill_failure(struct work *w)
{
	struct build_record *r = w->record;
	const char *why, *help;
	const struct progress_step *s = progress_failed(w->progress, &why, &help);
	const struct diag *d = w->ds->head;

	while (d && diag_severity(d) != SEV_ERROR)
		d = d->next;
	if (!d)
		return;
	r->code = code_table[d->code].id;
	r->error = d->text;
	r->failed_step = s ? s->id : NULL;
	r->failed_status = s ? s->status : -1;
	for (const struct note *n = d->notes; n; n = n->next)
		if (n->kind == NOTE_WHY)
			list_push(w->a, &r->log, n->text);
}

void
record_fill(struct work *w, bool good)
{
	const struct host *h = host_read(w->a, "");
	struct build_record *r = w->record;
	struct rusage own;

	if (!good)
		fill_failure(w);
	r->stack = w->plan->name;
	r->engine = w->o->engine->name;
	r->engine_version = w->o->state->version;
	r->platform = w->plan->stack->platform;
	r->recipe_digest = w->plan->stack->recipe->digest;
	r->lock_digest = lock_digest(w->a, w->plan->lock);
	if (w->plan->stack->image.digest)
		r->base_digest = w->plan->stack->image.digest;
	r->seconds = proc_clock_s() - w->began_s;
	getrusage(RUSAGE_SELF, &own);
	r->cpu_s += (double)own.ru_utime.tv_sec + (double)own.ru_stime.tv_sec;
	r->cpus = h->cpus;
	r->mem_mib = h->mem_total_mib;
	for (size_t i = 0; i < w->plan->n; i++) {
		const struct step *of = &w->plan->steps[i];
		const struct progress_step *s = &w->steps[i];
		struct build_record_step row = {
			.id = s->id,
			.cached = s->state == STEP_CACHED || s->state == STEP_STORE,
			.from = came_from(s, of, r->code != NULL),
			.start_s = s->state == STEP_CACHED ? -1 : s->start_s,
			.seconds = s->seconds,
			.peak_mib = s->peak_mib,
			.partly = s->partly,
			.commit = of->extension ? of->extension->commit : NULL,
			.own = of->own,
			.recipe_line = s->recipe_line,
			.key = of->key
		};

		row.partly |=
			!row.from; /* the step was stopped: its seconds are not its full cost */
		list_push(w->a, &r->steps, row);
	}
	list_each (one, &w->wanted) {
		if (one->put)
			list_push(w->a, &r->wheels,
				  one->key ? arena_printf(w->a, "%s %s", one->put, one->key) :
					     one->put);
	}
}
