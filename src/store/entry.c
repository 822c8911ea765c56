/*
 * Reads and writes entry.json, which describes a wheel of a store. It is validated strictly,
 * because it may come from a server, and its key is computed again from its inputs.
 */
#include <limits.h>
#include <string.h>

#include "base/sha256.h"
#include "base/str.h"
#include "fetch/fetch.h"
#include "inspect/inspect.h"
#include "internal.h"

/* The inputs have passed store_key_of, so all required fields exist. */
static void
read_inputs(struct arena *a, struct entry *e, const json_t *inputs)
{
	const json_t *torch = json_object_get(inputs, "torch");
	const json_t *python = json_object_get(inputs, "python");

	e->name = fetch_json_text(a, inputs, "name");
	e->version = fetch_json_text(a, inputs, "version");
	e->torch = fetch_json_text(a, torch, "version");
	e->cuda = fetch_json_text(a, json_object_get(inputs, "cuda"), "version");
	e->python = fetch_json_text(a, python, "version");
	e->soabi = fetch_json_text(a, python, "soabi");
	e->platform = fetch_json_text(a, python, "platform");
	e->cxx11abi = json_is_true(json_object_get(torch, "cxx11abi"));
}

struct entry *
entry_new(struct arena *a, struct diags *ds, const char *inputs, size_t n)
{
	struct entry *e = arena_new_of(a, struct entry);
	json_auto_t *map = NULL;

	e->key = store_key(a, ds, inputs, n, &e->inputs);
	if (!e->key)
		return NULL;
	map = json_loads(e->inputs, 0, NULL);
	read_inputs(a, e, map);
	return e;
}

const char *
entry_text(struct arena *a, const struct entry *e)
{
	json_t *archs = json_array();
	json_auto_t *map = NULL;
	const char *text;
	size_t n;

	for (size_t i = 0; i < e->archs.n; i++)
		json_array_append_new(archs, json_string(e->archs.at[i]));
	map = json_pack("{s:i, s:s, s:s, s:s, s:I, s:I, s:f, s:I, s:o, s:o}", "schema", 1, "key",
			e->key, "wheel", e->wheel, "sha256", e->sha256, "size", (json_int_t)e->size,
			"made", (json_int_t)e->made, "compile_s", e->compile_s, "peak_mib",
			(json_int_t)e->peak_mib, "archs", archs, "inputs",
			json_loads(e->inputs, 0, NULL));
	if (!(text = fetch_json_dump(a, map, JSON_INDENT(2) | JSON_REAL_PRECISION(9), &n)))
		BUG("an entry cannot be written");
	return arena_printf(a, "%s\n", text);
}

/* Returns true for a file name in the characters of PEP 427, which cannot leave its directory. */
static bool
is_wheel_name(const char *s)
{
	return strlen(s) <= NAME_MAX && str_matches(s, "^[A-Za-z0-9][A-Za-z0-9_.+!-]*[.]whl$");
}

static bool
read_archs(struct arena *a, struct entry *e, const json_t *list)
{
	if (!json_is_array(list))
		return false;
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *s = json_string_value(json_array_get(list, i));

		if (!s)
			return false;
		list_push(a, &e->archs, arena_strdup(a, s));
	}
	return true;
}

static bool
read_fields(struct arena *a, struct entry *e, json_t *map, const char **why)
{
	json_int_t schema, size, made, peak;
	const char *key, *wheel, *sha256;
	json_t *archs, *inputs;
	json_error_t err;

	if (json_unpack_ex(map, &err, JSON_STRICT,
			   "{s:I, s:s, s:s, s:s, s:I, s:I, s:F, s:I, s:o, s:o}", "schema", &schema,
			   "key", &key, "wheel", &wheel, "sha256", &sha256, "size", &size, "made",
			   &made, "compile_s", &e->compile_s, "peak_mib", &peak, "archs", &archs,
			   "inputs", &inputs) < 0)
		*why = arena_printf(a, "its entry is not valid: %s", err.text);
	else if (schema != 1)
		*why = "its entry has another schema";
	else if (!is_wheel_name(wheel))
		*why = "its entry names no wheel";
	else if (!store_is_key(sha256) || size <= 0 || size > (json_int_t)WHEEL_MAX || made < 0 ||
		 peak < 0 || e->compile_s < 0)
		*why = "its entry has an impossible number";
	else if (!read_archs(a, e, archs))
		*why = "its entry is not valid: archs";
	else {
		e->key = arena_strdup(a, key);
		e->wheel = arena_strdup(a, wheel);
		e->sha256 = arena_strdup(a, sha256);
		e->size = (size_t)size;
		e->made = made;
		e->peak_mib = (size_t)peak;
		return true;
	}
	return false;
}

struct entry *
entry_read(struct arena *a, const char *text, size_t n, const char *key, const char **why)
{
	struct entry *e = arena_new_of(a, struct entry);
	const char *made_of;
	struct diags mine = DIAGS(mine, a);
	json_auto_t *map = NULL;
	json_error_t err;

	if (n <= STORE_JSON_MAX)
		map = json_loadb(text, n, JSON_REJECT_DUPLICATES, &err);
	if (!map) {
		*why = n > STORE_JSON_MAX ? "its entry is larger than 1 MiB" :
					    arena_printf(a, "its entry is not JSON: line %d: %s",
							 err.line, err.text);
		return NULL;
	}
	if (!read_fields(a, e, map, why))
		return NULL;
	made_of = store_key_of(a, &mine, json_object_get(map, "inputs"), &e->inputs);
	if (!made_of) {
		*why = arena_printf(a, "the inputs in its entry are not valid: %s",
				    mine.head->text);
		return NULL;
	}
	if (strcmp(made_of, key) || strcmp(e->key, key)) {
		*why = "the inputs in its entry give another key";
		return NULL;
	}
	read_inputs(a, e, json_object_get(map, "inputs"));
	return e;
}

struct store_want
entry_want(struct arena *a, const struct entry *e)
{
	const char *dash = strchr(e->platform, '-');
	struct store_want want = { .name = e->name,
				   .machine = dash ? dash + 1 : NULL,
				   .any_archs = true,
				   .has_kernels = e->archs.n > 0,
				   .cxx11_abi = e->cxx11abi };

	/* The SOABI is cpython-311-x86_64-linux-gnu; for 313t, wheels have cp313-cp313t. */
	if (starts_with(e->soabi, "cpython-")) {
		size_t n = strspn(e->soabi + 8, "0123456789");

		want.python_tag = arena_printf(a, "cp%.*s", (int)n, e->soabi + 8);
	}
	return want;
}
