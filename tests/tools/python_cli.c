/*
 * Answers, line by line, like packaging (see tests/suites/python-packaging):
 *
 *     {"op":"version","s"}           {"ok":true,"norm"}
 *     {"op":"cmp","a","b"}           {"cmp":-1|0|1}
 *     {"op":"match","spec","v","pre":true|false|null}   {"match"}
 *     {"op":"req","s"}               {"ok":true,"name","extras":[],"spec","url","marker"}
 *     {"op":"marker","s","env":{}}   {"ok":true,"value"}
 *     {"op":"tags","file"}           {"ok":true,"name","version","build","tags":[]}
 *     {"op":"names","s"}             {"ok":true,"open","names":[]}: see tests/suites/python-source
 *
 * and {"ok":false} for an invalid text.  spec, url, marker and build are null if
 * there is none.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../unit/specifier_text.h"
#include "base/buf.h"
#include "base/json.h"

static const char *
text_of(struct arena *a, const json_t *value)
{
	const char *s = json_string_value(value);

	return s && strlen(s) == json_string_length(value) ? arena_strdup(a, s) : NULL;
}

static const char *
get(struct arena *a, const json_t *line, const char *key)
{
	return text_of(a, json_object_get(line, key));
}

static void
put_text(struct buf *b, const char *s)
{
	if (s)
		json_quote(b, s);
	else
		buf_puts(b, "null");
}

static void
put_names(struct buf *b, const struct names *names)
{
	buf_putc(b, '[');
	for (size_t i = 0; i < names->n; i++) {
		buf_puts(b, i ? "," : "");
		put_text(b, names->at[i]);
	}
	buf_putc(b, ']');
}

static bool
answer_version(struct arena *a, const json_t *line, struct buf *b)
{
	const char *s = get(a, line, "s");
	const struct version *v = s ? version_parse(a, s) : NULL;

	if (!v)
		return false;
	buf_puts(b, "{\"ok\":true,\"norm\":");
	put_text(b, version_text(a, v));
	buf_putc(b, '}');
	return true;
}

static bool
answer_cmp(struct arena *a, const json_t *line, struct buf *b)
{
	const char *s = get(a, line, "a"), *t = get(a, line, "b");
	const struct version *v = s ? version_parse(a, s) : NULL;
	const struct version *w = t ? version_parse(a, t) : NULL;
	int order;

	if (!v || !w)
		return false;
	order = version_cmp(v, w);
	buf_printf(b, "{\"cmp\":%d}", (order > 0) - (order < 0));
	return true;
}

static bool
answer_match(struct arena *a, const json_t *line, struct buf *b)
{
	const char *spec = get(a, line, "spec"), *v = get(a, line, "v");
	const struct specifiers *s = spec ? specifiers_parse(a, spec) : NULL;
	const json_t *pre = json_object_get(line, "pre");
	const struct version *any = v ? version_parse(a, v) : NULL;

	if (!s || !v)
		return false;
	buf_printf(b, "{\"match\":%s}",
		   !(json_is_false(pre) && any && any->is_pre) && specifiers_match_text(a, s, v) ?
			   "true" :
			   "false");
	return true;
}

static bool
answer_req(struct arena *a, const json_t *line, struct buf *b)
{
	const char *s = get(a, line, "s"), *spec, *marker = NULL;
	const struct requirement *r = s ? requirement_parse(a, s, NULL, NULL) : NULL;

	if (!r)
		return false;
	if (r->marker) {
		marker = marker_text(a, r->marker);
		if (!marker)
			return false;
	}
	spec = specifiers_text(a, r->spec);
	buf_puts(b, "{\"ok\":true,\"name\":");
	put_text(b, r->name);
	buf_puts(b, ",\"extras\":");
	put_names(b, &r->extras);
	buf_puts(b, ",\"spec\":");
	put_text(b, *spec ? spec : NULL);
	buf_puts(b, ",\"url\":");
	put_text(b, r->url);
	buf_puts(b, ",\"marker\":");
	put_text(b, marker);
	buf_putc(b, '}');
	return true;
}

static struct marker_env
env_of(struct arena *a, json_t *object)
{
	struct marker_value *values =
		arena_array_of(a, struct marker_value, json_object_size(object));
	struct marker_env env = { values, 0 };
	const char *key;
	json_t *value;

	json_object_foreach(object, key, value)
	{
		struct marker_value *v = &values[env.n];

		*v = (struct marker_value){ .name = arena_strdup(a, key),
					    .value = json_is_null(value) ? "" : text_of(a, value) };
		env.n += v->value != NULL;
	}
	return env;
}

static bool
answer_marker(struct arena *a, const json_t *line, struct buf *b)
{
	const char *s = get(a, line, "s");
	const struct marker *m = s ? marker_parse(a, s) : NULL;
	struct marker_env env = env_of(a, json_object_get(line, "env"));
	bool value;

	if (!m || !marker_eval(m, &env, &value))
		return false;
	buf_printf(b, "{\"ok\":true,\"value\":%s}", value ? "true" : "false");
	return true;
}

static bool
answer_tags(struct arena *a, const json_t *line, struct buf *b)
{
	const char *file = get(a, line, "file");
	const struct wheel_file *w = file ? wheel_file_parse(a, file) : NULL;

	if (!w)
		return false;
	buf_puts(b, "{\"ok\":true,\"name\":");
	put_text(b, w->name);
	buf_puts(b, ",\"version\":");
	put_text(b, version_text(a, w->version));
	buf_puts(b, ",\"build\":");
	put_text(b, w->build);
	buf_puts(b, ",\"tags\":");
	put_names(b, &w->tags);
	buf_putc(b, '}');
	return true;
}

static bool
answer_names(struct arena *a, const json_t *line, struct buf *b)
{
	const char *s = get(a, line, "s");
	struct python_names found;

	if (!s)
		return false;
	found = python_names(a, s);
	buf_printf(b, "{\"ok\":true,\"open\":%s,\"names\":", found.open ? "true" : "false");
	put_names(b, &found.names);
	buf_putc(b, '}');
	return true;
}

static const struct {
	const char *op;
	bool (*answer)(struct arena *, const json_t *, struct buf *);
} ops[] = {
	{ "version", answer_version }, { "cmp", answer_cmp },       { "match", answer_match },
	{ "req", answer_req },         { "marker", answer_marker }, { "tags", answer_tags },
	{ "names", answer_names },
};

static const char *
answer(struct arena *a, const char *text, size_t n)
{
	json_t *line = json_loadb(text, n, JSON_ALLOW_NUL, NULL);
	const char *op = json_string_value(json_object_get(line, "op"));
	struct buf b = BUF(a);
	bool ok = false;

	for (size_t i = 0; op && i < sizeof(ops) / sizeof(ops[0]); i++)
		if (!strcmp(op, ops[i].op))
			ok = ops[i].answer(a, line, &b);
	json_decref(line);
	return ok ? b.p : "{\"ok\":false}";
}

int
main(void)
{
	enum { LINES_PER_ARENA = 256 };
	struct arena *a = arena_new();
	struct stat st;
	bool interactive = fstat(0, &st) || !S_ISREG(st.st_mode);
	char *line = NULL;
	size_t cap = 0, lines = 0;
	ssize_t n;

	while ((n = getline(&line, &cap, stdin)) > 0) {
		puts(answer(a, line, (size_t)n));
		if (interactive)
			fflush(stdout);
		if (++lines % LINES_PER_ARENA == 0) {
			arena_free(a);
			a = arena_new();
		}
	}
	free(line);
	arena_free(a);
	return fflush(stdout) || ferror(stdin) ? EXIT_FAILURE : EXIT_SUCCESS;
}
