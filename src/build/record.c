#include <jansson.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/str.h"
#include "fetch/fetch.h"
#include "progress.h"

enum { RECORD_SCHEMA = 1, RECORD_BYTES_MAX = 1024 * 1024, RECORD_STEPS_MAX = 10000 };

/* --- writing --- */

static double
millis(double seconds)
{
	return seconds < 1e9 ? (double)(long long)(seconds * 1000 + 0.5) / 1000 : seconds;
}

static void
size_or_nil(struct json *j, const char *key, size_t n)
{
	if (n)
		json_int(j, key, (long long)n);
	else
		json_nil(j, key);
}

static void
step_json(struct json *j, const struct build_record_step *s)
{
	json_row(j, NULL);
	json_text(j, "id", s->id);
	json_bool(j, "cached", s->cached);
	json_text(j, "from", s->from);
	json_number(j, "seconds", millis(s->seconds));
	json_int(j, "recipe_line", s->recipe_line);
	size_or_nil(j, "size_bytes", s->size_bytes);
	size_or_nil(j, "peak_mib", s->peak_mib);
	json_text(j, "key", s->key);
	json_text(j, "own", s->own);
	if (s->measured_s > 0)
		json_number(j, "measured_s", millis(s->measured_s));
	else
		json_nil(j, "measured_s");
	json_end(j);
}

/* A step that came from a cache or the store says nothing new of its cost: the old figure stays. */
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

	json_map(&j, NULL);
	json_int(&j, "schema", RECORD_SCHEMA);
	json_text(&j, "stack", r->stack);
	json_text(&j, "image", r->image);
	json_text(&j, "image_id", r->image_id);
	json_text(&j, "digest", r->digest);
	json_text(&j, "engine", r->engine);
	json_text(&j, "engine_version", r->engine_version);
	json_text(&j, "platform", r->platform);
	json_text(&j, "recipe_digest", r->recipe_digest);
	json_text(&j, "dockerfile_digest", r->dockerfile_digest);
	json_text(&j, "base_digest", r->base_digest);
	json_text(&j, "started", r->started);
	json_number(&j, "seconds", millis(r->seconds));
	json_number(&j, "cpu_s", millis(r->cpu_s));
	size_or_nil(&j, "size_bytes", r->size_bytes);
	json_int(&j, "cpus", r->cpus);
	json_int(&j, "mem_mib", (long long)r->mem_mib);
	json_list(&j, "steps");
	for (size_t i = 0; i < r->steps.n; i++) {
		struct build_record_step s = r->steps.at[i];

		s.measured_s = measure(&s, known ? &before : NULL);
		step_json(&j, &s);
	}
	json_end(&j);
	json_names(&j, "wheels", &r->wheels);
	json_end(&j);
	buf_putc(&b, '\n');
	return fs_write(ds, path, b.p, b.n, 0644, true, NULL);
}

/* --- reading --- */

static bool
read_record(struct arena *a, const json_t *root, struct build_record *out)
{
	const json_t *steps = json_object_get(root, "steps"), *step;
	size_t i;

	if (json_integer_value(json_object_get(root, "schema")) != RECORD_SCHEMA ||
	    !json_is_array(steps) || json_array_size(steps) > RECORD_STEPS_MAX)
		return false;
	*out = (struct build_record){ .image = fetch_json_text(a, root, "image"),
				      .image_id = fetch_json_text(a, root, "image_id"),
				      .digest = fetch_json_text(a, root, "digest"),
				      .engine = fetch_json_text(a, root, "engine"),
				      .recipe_digest = fetch_json_text(a, root, "recipe_digest") };
	json_array_foreach(steps, i, step)
	{
		double measured_s = json_number_value(json_object_get(step, "measured_s"));
		struct build_record_step s = { .id = fetch_json_text(a, step, "id"),
					       .key = fetch_json_text(a, step, "key"),
					       .own = fetch_json_text(a, step, "own") };

		if (!s.id)
			return false;
		if (measured_s > 0 && measured_s < 1e15)
			s.measured_s = measured_s;
		list_push(a, &out->steps, s);
	}
	return true;
}

bool
build_record_read(struct arena *a, const char *path, struct build_record *out)
{
	const struct source *src;
	struct diags ignored;
	json_t *root;
	bool good;

	diags_init(&ignored, a);
	if (!fs_exists(path) ||
	    !(src = fs_read(a, &ignored, path, RECORD_BYTES_MAX, (struct span){ 0 })))
		return false;
	root = json_loadb(src->text, src->size, JSON_REJECT_DUPLICATES, NULL);
	good = json_is_object(root) && read_record(a, root, out);
	json_decref(root);
	return good;
}

double
build_record_measured(const struct build_record *r, const char *key, const char *own)
{
	double found = 0;

	for (size_t i = 0; i < r->steps.n; i++) {
		const struct build_record_step *s = &r->steps.at[i];

		if (s->measured_s > 0 && key && s->key && !strcmp(s->key, key))
			return s->measured_s;
		if (s->measured_s > 0 && own && s->own && !strcmp(s->own, own))
			found = s->measured_s;
	}
	return found;
}
