/*
 * The engines' commands, for tests/suites/engines:
 *
 *     engine_cli < SPEC
 *
 *     SPEC  {"engine": "docker", "at": {"client", "addr", "tls_ca", "buildx": true, ...},
 *            "probe": true,                    instead of `at`: the result of the probe
 *            "command": "build" | "prepare" | "run" | "kill" | "inspect" | "push",
 *            "spec": {the fields of struct engine_build or engine_run, or
 *                     "name", "image", "digest_file"},
 *            "do": true}                       also runs it
 *           {"choose": "docker" | null}        engine_choose
 *           {"image": "NAME", "engine", ...}   engine_image
 *           {"built": "FILE"}                  engine_built
 *
 * prints JSON: {"argv", "env"} and, if it was run, {"status", "out", "err"}; {"engine"} and the
 * diagnostics on stderr; {"id", "digest", "size_bytes"}; null if there is none.
 */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "build/engine.h"

static struct arena *a;

static const char *
text(const json_t *j, const char *key)
{
	return json_string_value(json_object_get(j, key));
}

static bool
yes(const json_t *j, const char *key)
{
	return json_is_true(json_object_get(j, key));
}

static struct names
names(const json_t *j, const char *key)
{
	struct names n = { 0 };
	const json_t *list = json_object_get(j, key);

	for (size_t i = 0; i < json_array_size(list); i++)
		list_push(a, &n, json_string_value(json_array_get(list, i)));
	return n;
}

static size_t
number(const json_t *j, const char *name)
{
	return (size_t)json_integer_value(json_object_get(j, name));
}

static struct engine_at
at_of(const json_t *j)
{
	return (struct engine_at){ .addr = text(j, "addr"),
				   .tls_ca = text(j, "tls_ca"),
				   .tls_cert = text(j, "tls_cert"),
				   .tls_key = text(j, "tls_key"),
				   .tls_name = text(j, "tls_name"),
				   .python = text(j, "python"),
				   .client = text(j, "client"),
				   .buildx = yes(j, "buildx"),
				   .cache_export = yes(j, "cache_export"),
				   .cdi = yes(j, "cdi"),
				   .files = number(j, "files"),
				   .processes = number(j, "processes") };
}

static struct engine_build
build_of(const json_t *j)
{
	return (struct engine_build){ .context = text(j, "context"),
				      .dockerfile = text(j, "dockerfile"),
				      .target = text(j, "target"),
				      .tag = text(j, "tag"),
				      .to_folder = text(j, "to_folder"),
				      .iid_file = text(j, "iid_file"),
				      .platform = text(j, "platform"),
				      .args = names(j, "args"),
				      .secrets = names(j, "secrets"),
				      .cache_from = names(j, "cache_from"),
				      .cache_to = names(j, "cache_to"),
				      .no_cache = yes(j, "no_cache"),
				      .push = yes(j, "push") };
}

static struct engine_run
run_of(const json_t *j)
{
	return (struct engine_run){ .image = text(j, "image"),
				    .gpus = yes(j, "gpus"),
				    .argv = names(j, "argv"),
				    .env = names(j, "env"),
				    .name = text(j, "name") };
}

/* Returns false if the engine has no such command. */
static bool
command(const struct engine *e, const struct engine_at *at, const char *what, const json_t *j,
	struct engine_command *c)
{
	struct engine_build b = build_of(j);
	struct engine_run r = run_of(j);

	if (!strcmp(what, "build") && e->build)
		*c = e->build(a, at, &b);
	else if (!strcmp(what, "prepare") && e->prepare)
		*c = engine_call(a, at, e->prepare, r.name, r.image);
	else if (!strcmp(what, "run") && e->run)
		*c = e->run(a, at, &r);
	else if (!strcmp(what, "kill") && e->kill)
		*c = engine_call(a, at, e->kill, r.name, NULL);
	else if (!strcmp(what, "inspect") && e->inspect)
		*c = engine_call(a, at, e->inspect, r.image, NULL);
	else if (!strcmp(what, "pulled") && e->pulled)
		*c = engine_call(a, at, e->pulled, r.image, NULL);
	else if (!strcmp(what, "push") && e->push)
		*c = engine_push(a, e, at, r.image, text(j, "digest_file"));
	else
		return false;
	return true;
}

static void
run(struct engine_command *c, struct json *out)
{
	struct proc_result r;
	struct proc_spec spec = { .timeout_s = 120, .keep = 1024 * 1024 };

	engine_spec(a, c, &spec);
	proc_signals();
	proc_run(a, &spec, &r);
	json_int(out, "status", r.status);
	json_text(out, "out", buf_text(&r.out));
	json_text(out, "err", buf_text(&r.err));
}

static void
tell_command(const struct engine *e, const struct engine_at *at, const json_t *j, struct json *out)
{
	struct engine_command c = { 0 };

	if (!command(e, at, text(j, "command"), json_object_get(j, "spec"), &c)) {
		json_text(out, NULL, NULL);
		return;
	}
	json_map(out, NULL);
	json_names(out, "argv", &c.argv);
	json_names(out, "env", &c.env);
	if (yes(j, "do"))
		run(&c, out);
	json_end(out);
}

static void
tell_image(bool found, const struct image_about *about, struct json *out)
{
	if (!found) {
		json_text(out, NULL, NULL);
		return;
	}
	json_map(out, NULL);
	json_text(out, "id", about->id);
	json_text(out, "digest", about->digest);
	json_int(out, "size_bytes", (long long)about->size_bytes);
	json_end(out);
}

static void
tell_choice(const json_t *j, struct json *out)
{
	struct engine_at asked = at_of(json_object_get(j, "at"));
	struct engine_state s = { 0 };
	struct diags ds;
	const struct engine *e;

	ds = DIAGS(ds, a);
	e = engine_choose(a, &ds, text(j, "choose"), &asked, &s);
	diags_print(&ds, stderr, false);
	json_map(out, NULL);
	json_text(out, "engine", e ? e->name : NULL);
	json_text(out, "version", s.version);
	json_end(out);
}

int
main(void)
{
	json_t *j = json_loadf(stdin, 0, NULL);
	const struct engine *e;
	struct engine_at at;
	struct engine_state s;
	struct image_about about;
	struct diags ds;
	struct buf b;
	struct json out;

	a = arena_new();
	b = BUF(a);
	out = json_to(&b);
	ds = DIAGS(ds, a);
	e = text(j, "engine") ? engine_find(text(j, "engine")) : NULL;
	at = at_of(json_object_get(j, "at"));
	if (e && yes(j, "probe")) {
		engine_probe(a, e, &at, &s);
		at = s.at;
	}
	if (json_object_get(j, "choose"))
		tell_choice(j, &out);
	else if (text(j, "built"))
		tell_image(engine_built(a, text(j, "built"), &about), &about, &out);
	else if (e && text(j, "image"))
		tell_image(engine_image(a, e, &at, text(j, "image"), &about), &about, &out);
	else if (e && text(j, "command"))
		tell_command(e, &at, j, &out);
	else
		return 2;
	puts(buf_text(&b));
	json_decref(j);
	arena_free(a);
	return 0;
}
