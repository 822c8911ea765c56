#include "engine_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/str.h"
#include "fetch/fetch.h"

#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

const struct engine engines[] = {
#define ENGINE(id, text, how, from, ...) \
	{ .name = #id, \
	  .what = text, \
	  .dialect = how, \
	  .target = from, \
	  .probe = id##_probe, \
	  __VA_ARGS__ },
#include "engines.def"
#undef ENGINE
};
const size_t engines_n = sizeof(engines) / sizeof(*engines);

const struct engine *
engine_named(const char *name)
{
	for (size_t i = 0; i < engines_n; i++)
		if (!strcmp(engines[i].name, name))
			return &engines[i];
	return NULL;
}

const struct engine *
engine_find(struct diags *ds, const char *name)
{
	const char *names[sizeof(engines) / sizeof(*engines)], *near;
	const struct engine *e = engine_named(name);
	struct diag *d;

	if (e)
		return e;
	for (size_t i = 0; i < engines_n; i++)
		names[i] = engines[i].name;
	d = diag_at(ds, E_ENGINE, (struct span){ 0 }, "there is no engine `%s`", name);
	if ((near = str_nearest(name, names, engines_n)))
		diag_help(d, "use --engine %s", near);
	diag_help(d, "stackbuild engines lists them");
	return NULL;
}

static const struct engine *
choose_named(struct arena *a, struct diags *ds, const char *name, const struct engine_at *asked,
	     struct engine_state *state)
{
	const struct engine *e = engine_find(ds, name);
	struct diag *d;

	if (!e)
		return NULL;
	e->probe(a, asked, state);
	if (state->usable)
		return e;
	d = diag_at(ds, E_ENGINE, (struct span){ 0 }, "%s cannot be used: %s", name,
		    state->why_not);
	if (state->install)
		diag_help(d, "%s", state->install);
	return NULL;
}

const struct engine *
engine_choose(struct arena *a, struct diags *ds, const char *name, const struct engine_at *asked,
	      struct engine_state *state)
{
	const char *why[sizeof(engines) / sizeof(*engines)];
	struct diag *d;

	if (name)
		return choose_named(a, ds, name, asked, state);
	for (size_t i = 0; i < engines_n; i++) {
		const struct engine *e = &engines[i];

		if (!e->builds_images)
			continue;
		e->probe(a, asked, state);
		if (state->usable)
			return e;
		why[i] = state->install ? arena_printf(a, "%s: %s (%s)", e->name, state->why_not,
						       state->install) :
					  arena_printf(a, "%s: %s", e->name, state->why_not);
	}
	d = diag_at(ds, E_NO_ENGINE, (struct span){ 0 }, "nothing here can build an image");
	for (size_t i = 0; i < engines_n; i++)
		if (engines[i].builds_images)
			diag_note(d, (struct span){ 0 }, "%s", why[i]);
	diag_help(d, "make one of them usable, or build the script with --engine venv");
	return NULL;
}

/*
 *     docker     usable    20.10.24, BuildKit; no GPU runtime
 *     buildctl   no        not installed
 *                          -> buildctl from github.com/moby/buildkit/releases; then ...
 */
static void
row_text(const struct engine *e, const struct engine_state *s, struct buf *out)
{
	buf_printf(out, "%-10s %-9s %s\n", e->name, s->usable ? "usable" : "no",
		   s->usable ? s->version : s->why_not);
	if (!s->usable && s->install)
		buf_printf(out, "%-20s -> %s\n", "", s->install);
}

static void
row_json(const struct engine *e, const struct engine_state *s, struct json *j)
{
	json_map(j, NULL);
	json_text(j, "name", e->name);
	json_text(j, "what", e->what);
	json_bool(j, "usable", s->usable);
	json_text(j, "version", s->version);
	json_text(j, "why_not", s->why_not);
	json_text(j, "install", s->install);
	json_text(j, "client", s->at.client);
	json_bool(j, "gpus", s->gpus);
	json_bool(j, "builds_images", e->builds_images);
	json_text(j, "target", e->target);
	json_end(j);
}

bool
engines_print(struct arena *a, const struct engine *only, const struct engine_at *asked,
	      bool as_json, struct buf *out)
{
	struct json j = json_to(out);
	bool any = false;

	if (as_json) {
		json_map(&j, NULL);
		json_list(&j, "engines");
	}
	for (size_t i = 0; i < engines_n; i++) {
		struct engine_state s;

		if (proc_interrupted())
			break;
		if (only && only != &engines[i])
			continue;
		engines[i].probe(a, asked, &s);
		any |= s.usable;
		if (as_json)
			row_json(&engines[i], &s, &j);
		else
			row_text(&engines[i], &s, out);
	}
	if (as_json) {
		json_end(&j);
		json_end(&j);
		buf_putc(out, '\n');
	}
	return any;
}

/* --- commands --- */

struct engine_command
engine_call(struct arena *a, const struct engine_at *at, const char *const *arguments,
	    const char *x, const char *y)
{
	struct engine_command c = { 0 };

	ADD(&c, at->client);
	for (; *arguments; arguments++)
		ADD(&c, *arguments);
	ADD(&c, x, y);
	return c;
}

/* Docker itself knows that a loopback registry has no TLS. */
struct engine_command
engine_push(struct arena *a, const struct engine *e, const struct engine_at *at, const char *image,
	    const char *digest_file)
{
	struct engine_command c = engine_call(a, at, e->push, NULL, NULL);

	if (e->dialect == DIALECT_BUILDAH &&
	    http_is_loopback(arena_copy(a, image, strcspn(image, "/"))))
		ADD(&c, "--tls-verify=false");
	if (e->dialect == DIALECT_BUILDAH && digest_file)
		ADD(&c, "--digestfile", digest_file);
	ADD(&c, image);
	return c;
}

void
engine_spec(struct arena *a, struct engine_command *c, struct proc_spec *spec)
{
	list_push(a, &c->argv, NULL);
	list_push(a, &c->env, NULL);
	spec->argv = c->argv.at;
	spec->env = c->env.at;
	spec->cwd = c->cwd;
}

/* --- images --- */

static const char *
with_algorithm(struct arena *a, const char *id)
{
	return strchr(id, ':') ? id : arena_printf(a, "sha256:%s", id);
}

static bool
is_id(const char *s)
{
	const char *hex = starts_with(s, "sha256:") ? s + 7 : s;

	return strlen(hex) == 64 && strspn(hex, "0123456789abcdef") == 64;
}

static size_t
layers_size(const char *manifest)
{
	json_auto_t *j = json_loads(manifest, JSON_DISABLE_EOF_CHECK, NULL);
	const json_t *layers = json_at(j, "layers");
	size_t sum = 0;

	for (size_t i = 0; i < json_array_size(layers); i++)
		sum += (size_t)json_integer_value(json_at(json_array_get(layers, i), "size"));
	return sum;
}

bool
engine_image(struct arena *a, const struct engine *e, const struct engine_at *at, const char *image,
	     struct image_about *out)
{
	struct engine_command c;
	struct proc_result r;
	const char *text, *size, *digest;

	*out = (struct image_about){ 0 };
	if (!e->inspect)
		return false;
	c = engine_call(a, at, e->inspect, image, NULL);
	list_push(a, &c.argv, NULL);
	if (!engine_ask(a, c.argv.at, NULL, &r))
		return false;
	text = buf_text(&r.out);
	out->id = arena_copy(a, text, strcspn(text, " \n"));
	if (!is_id(out->id) || !*(size = text + strlen(out->id)))
		return false;
	out->id = with_algorithm(a, out->id);
	size++;
	if (*size == '{') {
		out->size_bytes = layers_size(size);
		return true;
	}
	out->size_bytes = strtoull(size, NULL, 10);
	digest = strchr(size, '@'); /* of "repository@sha256:..." */
	out->digest = digest ? arena_copy(a, digest + 1, strcspn(digest + 1, " \n")) : NULL;
	return true;
}

const char *
engine_pulled(struct arena *a, const struct engine *e, const struct engine_at *at,
	      const char *image)
{
	struct engine_command c;
	struct proc_result r;
	const char *digest;

	if (!e->pulled)
		return NULL;
	c = engine_call(a, at, e->pulled, image, NULL);
	list_push(a, &c.argv, NULL);
	if (!engine_ask(a, c.argv.at, NULL, &r))
		return NULL;
	digest = engine_first_line(a, buf_text(&r.out));
	return is_id(digest) ? with_algorithm(a, digest) : NULL;
}

bool
engine_built(struct arena *a, const char *iid_file, struct image_about *out)
{
	struct diags ds; /* the caller says what was to be built */
	const struct source *s;
	json_auto_t *j = NULL;

	*out = (struct image_about){ 0 };
	diags_init(&ds, a);
	if (!(s = fs_read(a, &ds, iid_file, FS_READ_MAX, (struct span){ 0 })))
		return false;
	if (s->size && *s->text == '{') { /* buildctl's metadata */
		const json_t *id, *digest;

		j = json_loadb(s->text, s->size, 0, NULL);
		id = json_object_get(j, "containerimage.config.digest");
		digest = json_object_get(j, "containerimage.digest");
		if (json_is_string(digest))
			out->digest = arena_strdup(a, json_string_value(digest));
		if (json_is_string(id))
			out->id = arena_strdup(a, json_string_value(id));
		else
			out->id = out->digest;
	} else {
		out->id = arena_copy(a, s->text, strcspn(s->text, "\r\n"));
	}
	if (!out->id || !is_id(out->id))
		return false;
	out->id = with_algorithm(a, out->id);
	return true;
}
