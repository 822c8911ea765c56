#include "engine_parts.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/str.h"
#include "fetch/fetch.h"

#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

const struct engine engines[] = {
#define ENGINE(id, text, program, get, how, from, ...) \
	{ .name = #id, \
	  .what = text, \
	  .client = program, \
	  .install = get, \
	  .dialect = how, \
	  .target = from, \
	  .probe = id##_probe, \
	  __VA_ARGS__ },
#include "engines.def"
#undef ENGINE
};
const size_t engines_n = COUNT(engines);

const struct engine *
engine_find(const char *name)
{
	for (size_t i = 0; i < engines_n; i++)
		if (!strcmp(engines[i].name, name))
			return &engines[i];
	BUG("the command line let the engine `%s` pass", name);
}

void
engine_probe(struct arena *a, const struct engine *e, const struct engine_at *asked,
	     struct engine_state *s)
{
	*s = (struct engine_state){ .at = *asked };
	if ((s->at.client = proc_which(a, e->client))) {
		e->probe(a, s);
	} else {
		s->why_not = !strcmp(e->client, e->name) ?
				     "not installed" :
				     arena_printf(a, "%s is not installed", e->client);
		s->install = e->install;
	}
	s->usable = !s->why_not;
}

const struct engine *
engine_choose(struct arena *a, struct diags *ds, const char *name, const struct engine_at *asked,
	      struct engine_state *state)
{
	const struct engine *only = name ? engine_find(name) : NULL;
	struct names why = { 0 };
	struct diag *d;

	for (size_t i = 0; i < engines_n; i++) {
		const struct engine *e = &engines[i];

		if (only ? e != only : !e->build)
			continue;
		engine_probe(a, e, asked, state);
		if (state->usable)
			return e;
		list_printf(a, &why, "%s: %s%s%s", e->name, state->why_not,
			    state->install ? "; " : "", state->install ? state->install : "");
		if (!only)
			continue;
		d = diag_at(ds, E_ENGINE, NOWHERE, "%s cannot be used: %s", name, state->why_not);
		if (state->install)
			diag_help(d, "%s", state->install);
		return NULL;
	}
	d = diag_at(ds, E_NO_ENGINE, NOWHERE, "no engine for images is usable on this host");
	for (size_t i = 0; i < why.n; i++)
		diag_note(d, NOWHERE, "%s", why.at[i]);
	diag_help(d,
		  "make one of them usable, or use a virtual environment: `build --engine venv`, "
		  "then `verify --host`");
	return NULL;
}

/*
 *     docker     usable    20.10.24, BuildKit; no GPU runtime
 *     buildctl   no        not installed
 *                          -> buildctl from github.com/moby/buildkit/releases; then ...
 */
bool
engines_print(struct arena *a, const struct engine *only, const struct engine_at *asked,
	      bool as_json, struct buf *out)
{
	struct json j = json_to(out);
	bool any = false;

	if (as_json)
		json_put(&j, "{'engines': [");
	for (const struct engine *e = engines; e < engines + engines_n; e++) {
		struct engine_state s;

		if (proc_interrupted())
			break;
		if (only && only != e)
			continue;
		engine_probe(a, e, asked, &s);
		any |= s.usable;
		if (as_json) {
			json_put(&j, "{'name': %s, 'what': %s, 'usable': %b, 'version': %s",
				 e->name, e->what, s.usable, s.version);
			json_put(&j, "'why_not': %s, 'install': %s, 'client': %s, 'gpus': %b",
				 s.why_not, s.install, s.at.client, s.gpus);
			json_put(&j, "'builds_images': %b, 'target': %s}", e->build != NULL,
				 e->target);
			continue;
		}
		buf_printf(out, "%-10s %-9s %s\n", e->name, s.usable ? "usable" : "no",
			   s.usable ? s.version : s.why_not);
		if (!s.usable && s.install)
			buf_printf(out, "%-20s -> %s\n", "", s.install);
	}
	if (as_json) {
		json_put(&j, "]}");
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

const char *
engine_pushed(struct arena *a, const char *digest_file)
{
	const struct source *s = fs_read_quiet(a, digest_file, FS_READ_MAX);
	const char *digest = s ? arena_copy(a, s->text, strcspn(s->text, " \r\n")) : NULL;

	unlink(digest_file);
	return digest && oci_is_digest(digest) ? digest : NULL;
}

void
engine_spec(struct arena *a, struct engine_command *c, struct proc_spec *spec)
{
	list_push(a, &c->argv, NULL);
	list_push(a, &c->env, NULL);
	spec->argv = c->argv.at;
	spec->env = c->env.at;
	spec->cwd = c->cwd;
	spec->patience_s = c->patience_s;
}

void
engine_quietly(struct arena *a, const struct engine_at *at, const char *const *arguments,
	       const char *name, const char *image)
{
	struct engine_command c = engine_call(a, at, arguments, name, image);
	struct proc_spec spec = { .timeout_s = 60, .cleanup = !image };
	struct proc_result r;

	engine_spec(a, &c, &spec);
	proc_run(a, &spec, &r);
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
	return str_matches(s, "^(sha256:)?[0-9a-f]{64}$");
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

/* Returns the output of a command of the table about an image, or NULL. */
static const char *
ask_about(struct arena *a, const struct engine_at *at, const char *const *command,
	  const char *image)
{
	struct engine_command c;
	struct proc_result r;

	if (!command)
		return NULL;
	c = engine_call(a, at, command, image, NULL);
	list_push(a, &c.argv, NULL);
	return engine_ask(a, c.argv.at, NULL, &r) ? buf_text(&r.out) : NULL;
}

bool
engine_image(struct arena *a, const struct engine *e, const struct engine_at *at, const char *image,
	     struct image_about *out)
{
	const char *text = ask_about(a, at, e->inspect, image), *size, *digest;

	*out = (struct image_about){ 0 };
	if (!text)
		return false;
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
	const char *text = ask_about(a, at, e->pulled, image);

	text = text ? engine_first_line(a, text) : "";
	return is_id(text) ? with_algorithm(a, text) : NULL;
}

bool
engine_built(struct arena *a, const char *iid_file, struct image_about *out)
{
	const struct source *s = fs_read_quiet(a, iid_file, FS_READ_MAX);
	json_auto_t *j = NULL;

	*out = (struct image_about){ 0 };
	if (!s)
		return false;
	if (*s->text == '{') { /* buildctl's metadata */
		j = json_loadb(s->text, s->size, 0, NULL);
		out->digest = fetch_json_text(a, j, "containerimage.digest");
		out->id = fetch_json_text(a, j, "containerimage.config.digest");
		if (!out->id)
			out->id = out->digest;
	} else {
		out->id = arena_copy(a, s->text, strcspn(s->text, "\r\n"));
	}
	if (!out->id || !is_id(out->id))
		return false;
	out->id = with_algorithm(a, out->id);
	return true;
}
