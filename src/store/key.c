/*
 * Computes the key of a wheel: the hash of its inputs in canonical form. Reading is strict, because
 * an ignored field would not change the key, and the hit would be stale.
 */
#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"
#include "base/str.h"
#include "cuda/cuda.h"
#include "fetch/fetch.h"
#include "internal.h"
#include "store.h"

enum type {
	SCHEMA, /* 1 */
	TEXT,   /* not empty */
	ANY,    /* a text that may be empty */
	DIGEST,
	COMMIT,
	KIND,
	ARCH, /* as in TORCH_CUDA_ARCH_LIST, canonical spelling */
	BOOLEAN,
	MAP,   /* a map of the fields below its path */
	NAMES, /* texts by name: distributions (`of` TEXT), variables (ANY) */
	FILES, /* digests by absolute path */
	LIST_OF,
};

static const struct field {
	const char *path;
	enum type type, of; /* of: the element type of LIST_OF and NAMES */
	bool or_null, optional;
} fields[] = {
	{ .path = "schema", SCHEMA },
	{ .path = "name", TEXT },
	{ .path = "version", TEXT },
	{ .path = "source", MAP },
	{ .path = "source.kind", KIND },
	{ .path = "source.digest", DIGEST },
	{ .path = "source.commit", COMMIT, .or_null = true },
	{ .path = "source.outside", FILES, .optional = true },
	{ .path = "patches", LIST_OF, DIGEST },
	{ .path = "python", MAP },
	{ .path = "python.version", TEXT },
	{ .path = "python.soabi", TEXT },
	{ .path = "python.platform", TEXT },
	{ .path = "libc", TEXT },
	{ .path = "torch", MAP },
	{ .path = "torch.version", TEXT },
	{ .path = "torch.digest", DIGEST },
	{ .path = "torch.cxx11abi", BOOLEAN },
	{ .path = "cuda", MAP, .or_null = true },
	{ .path = "cuda.version", TEXT },
	{ .path = "cuda.nvcc", TEXT },
	{ .path = "compiler", MAP },
	{ .path = "compiler.cc", TEXT },
	{ .path = "compiler.cxx", TEXT },
	{ .path = "compiler.ld", TEXT },
	{ .path = "build", NAMES, TEXT },
	{ .path = "archs", LIST_OF, ARCH },
	{ .path = "argv", LIST_OF, ANY },
	{ .path = "env", NAMES, ANY },
	{ .path = "system", MAP, .optional = true },
	{ .path = "system.includes", DIGEST },
	{ .path = "system.libraries", DIGEST },
	{ .path = "system.packages", DIGEST },
	{ .path = "system.python", DIGEST },
	{ .path = "system.environment", DIGEST },
};
enum { FIELDS = COUNT(fields) };

struct reader {
	struct arena *a;
	struct diags *ds;
};

static bool
refuse(const struct reader *r, const char *path, const char *why)
{
	diag_help(diag_at(r->ds, E_STORE_INPUTS, NOWHERE, "`%s` %s", *path ? path : "inputs", why),
		  "docs/store.md describes the inputs of a key");
	return false;
}

/*
 * Rejects control characters except tab and line end, which jansson writes in another form than RFC
 * 8785, with capital digits.
 */
static bool
is_text(const struct reader *r, const char *path, const char *s, bool may_be_empty)
{
	if (!s)
		return refuse(r, path, "must be a text");
	if (!*s && !may_be_empty)
		return refuse(r, path, "must not be empty");
	for (; *s; s++)
		if (((unsigned char)*s < ' ' && *s != '\t' && *s != '\n') || *s == 0x7f)
			return refuse(r, path, "contains a control character");
	return true;
}

/* This file uses no regular expressions, because glibc's match nothing without memory. */
static bool
is_hex(const char *s, size_t n)
{
	return strlen(s) == n && strspn(s, "0123456789abcdef") == n;
}

bool
store_is_key(const char *s)
{
	return is_hex(s, SHA256_HEX);
}

static bool
is_arch(struct arena *a, const char *s)
{
	struct capability c;

	return capability_parse(s, &c) && !strcmp(capability_text(a, &c), s);
}

static int
arch_cmp(const void *x, const void *y)
{
	return capability_order(*(const char *const *)x, *(const char *const *)y);
}

static bool read_value(const struct reader *r, const char *path, const struct field *f,
		       enum type type, json_t *v);

/* Sorts a list of architectures and removes repetitions. */
static bool
read_list(const struct reader *r, const struct field *f, json_t *list)
{
	struct names all = { 0 };
	bool good = true;

	if (!json_is_array(list))
		return refuse(r, f->path, "must be a list");
	for (size_t i = 0; i < json_array_size(list); i++) {
		json_t *v = json_array_get(list, i);

		good &= read_value(r, arena_printf(r->a, "%s[%zu]", f->path, i), f, f->of, v);
		if (good && f->of == ARCH)
			list_push(r->a, &all, arena_strdup(r->a, json_string_value(v)));
	}
	if (!good || !all.n)
		return good;
	qsort(all.at, all.n, sizeof(*all.at), arch_cmp);
	json_array_clear(list);
	for (size_t i = 0; i < all.n; i++)
		if (!i || strcmp(all.at[i], all.at[i - 1]))
			json_array_append_new(list, json_string(all.at[i]));
	return true;
}

/* Returns true for ASCII: a sort by bytes is then a sort by UTF-16 units, as RFC 8785 requires. */
static bool
is_name(const char *name, bool env)
{
	const char *s = name;

	while (is_alnum(*s) || (*s && strchr(env ? "_" : "_-.", *s)))
		s++;
	return *name && !*s && !(env && is_digit(*name));
}

static bool
read_names(const struct reader *r, const struct field *f, json_t *map)
{
	bool good = true, env = f->of == ANY;
	const char *name;
	json_t *v;

	if (!json_is_object(map))
		return refuse(r, f->path, "must be an object");
	json_object_foreach(map, name, v)
	{
		const char *at = arena_printf(r->a, "%s.%s", f->path, name);

		if (!is_name(name, env))
			good = refuse(r, at,
				      env ? "is not the name of a variable" :
					    "is not the name of a distribution");
		else if (env && (!strcmp(name, "MAX_JOBS") || !strcmp(name, "NVCC_THREADS")))
			good = refuse(r, at, "affects the speed of the compile, not the wheel");
		else
			good &= read_value(r, at, f, f->of, v);
	}
	return good;
}

/* Like names, paths are ASCII. */
static bool
read_files(const struct reader *r, const struct field *f, json_t *map)
{
	const char *name;
	bool good = true;
	json_t *v;

	if (!json_is_object(map))
		return refuse(r, f->path, "must be an object");
	json_object_foreach(map, name, v)
	{
		const char *at = arena_printf(r->a, "%s.%s", f->path, name), *s = name;

		while (*s > ' ' && *s < 0x7f)
			s++;
		if (*name != '/' || *s)
			good = refuse(r, at, "is not an absolute path of ASCII without blanks");
		else
			good &= read_value(r, at, f, DIGEST, v);
	}
	return good;
}

/* Reads a map of the fields below `path`, which is "" at the top. */
static bool
read_map(const struct reader *r, const char *path, bool or_null, json_t *map)
{
	const char *name;
	bool good = true;
	json_t *v;

	if (!json_is_object(map))
		return refuse(r, path,
			      or_null ? "must be an object, or null" : "must be an object");
	for (size_t i = 0; i < FIELDS; i++) {
		const char *dot = strrchr(fields[i].path, '.');
		struct str above = { fields[i].path, dot ? (size_t)(dot - fields[i].path) : 0 };

		if (!str_is(above, path))
			continue;
		v = json_object_get(map, fields[i].path + above.n + (dot != NULL));
		if (v || !fields[i].optional)
			good &= v ? read_value(r, fields[i].path, &fields[i], fields[i].type, v) :
				    refuse(r, fields[i].path, "is missing");
	}
	json_object_foreach(map, name, v)
	{
		const char *at = arena_printf(r->a, "%s%s%s", path, *path ? "." : "", name);
		size_t i = strchr(name, '.') ? FIELDS : 0;

		while (i < FIELDS && strcmp(fields[i].path, at))
			i++;
		if (i == FIELDS)
			good = refuse(r, at, "is an unknown field");
	}
	return good;
}

static bool
read_value(const struct reader *r, const char *path, const struct field *f, enum type type,
	   json_t *v)
{
	const char *s = json_string_value(v);

	if (f->or_null && json_is_null(v))
		return true;
	switch (type) {
	case SCHEMA:
		return (json_is_integer(v) && json_integer_value(v) == 1) ||
		       refuse(r, path, "must be 1");
	case TEXT:
	case ANY: return is_text(r, path, s, type == ANY);
	case DIGEST:
		return (s && starts_with(s, "sha256:") && is_hex(s + 7, SHA256_HEX)) ||
		       refuse(r, path, "must be `sha256:` and 64 hex digits");
	case COMMIT:
		return (s && is_hex(s, 40)) || refuse(r, path, "must be 40 hex digits, or null");
	case KIND:
		return (s && (!strcmp(s, "git") || !strcmp(s, "sdist") || !strcmp(s, "tree"))) ||
		       refuse(r, path, "must be `git`, `sdist` or `tree`");
	case ARCH:
		return (s && is_arch(r->a, s)) ||
		       refuse(r, path, "must be an architecture, such as `9.0` or `9.0+PTX`");
	case BOOLEAN: return json_is_boolean(v) || refuse(r, path, "must be true or false");
	case MAP: return read_map(r, path, f->or_null, v);
	case NAMES: return read_names(r, f, v);
	case FILES: return read_files(r, f, v);
	case LIST_OF: return read_list(r, f, v);
	}
	return false;
}

const char *
store_key_of(struct arena *a, struct diags *ds, json_t *inputs, const char **canonical)
{
	struct reader r = { a, ds };
	const char *text;
	size_t n;

	if (!read_map(&r, "", false, inputs))
		return NULL;
	if (!(text = fetch_json_dump(a, inputs, JSON_COMPACT | JSON_SORT_KEYS, &n)))
		BUG("the inputs of a key cannot be written");
	if (canonical)
		*canonical = text;
	return sha256_hex(a, text, n);
}

const char *
store_key(struct arena *a, struct diags *ds, const char *inputs, size_t n, const char **canonical)
{
	struct reader r = { a, ds };
	json_error_t e;
	json_auto_t *map = NULL;

	if (n > STORE_JSON_MAX) {
		refuse(&r, "", "are larger than 1 MiB");
		return NULL;
	}
	map = json_loadb(inputs, n, JSON_REJECT_DUPLICATES, &e);
	if (!map) {
		refuse(&r, "",
		       arena_printf(a, "are not JSON: line %d, column %d: %s", e.line, e.column,
				    e.text));
		return NULL;
	}
	return store_key_of(a, ds, map, canonical);
}
