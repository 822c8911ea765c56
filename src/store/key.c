/*
 * The key of a wheel: its inputs, strictly read, in one canonical form, hashed.  Strict
 * because a field that is passed over is a field that does not decide: a stale hit.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"
#include "base/str.h"
#include "cuda/cuda.h"
#include "internal.h"
#include "store.h"

enum type {
	SCHEMA,   /* 1 */
	TEXT,     /* not empty */
	DIGEST,   /* sha256:HEX */
	COMMIT,   /* 40 hex digits */
	KIND,     /* git, sdist, tree */
	BOOLEAN,  /* */
	MAP,      /* of `fields` */
	VERSIONS, /* texts by distribution */
	ENV,      /* texts by variable */
	DIGESTS,  /* a list of digests, in order */
	TEXTS,    /* a list of texts, in order */
	ARCHS,    /* a list of architectures, a set */
};

struct field {
	const char *name;
	enum type type;
	bool or_null;
	const struct field *fields; /* of MAP; ends with a NULL name */
};

static const struct field source_fields[] = {
	{ "kind", KIND, false, NULL },
	{ "digest", DIGEST, false, NULL },
	{ "commit", COMMIT, true, NULL },
	{ NULL, TEXT, false, NULL },
};
static const struct field python_fields[] = {
	{ "version", TEXT, false, NULL },
	{ "soabi", TEXT, false, NULL },
	{ "platform", TEXT, false, NULL },
	{ NULL, TEXT, false, NULL },
};
static const struct field torch_fields[] = {
	{ "version", TEXT, false, NULL },
	{ "digest", DIGEST, false, NULL },
	{ "cxx11abi", BOOLEAN, false, NULL },
	{ NULL, TEXT, false, NULL },
};
static const struct field cuda_fields[] = {
	{ "version", TEXT, false, NULL },
	{ "nvcc", TEXT, false, NULL },
	{ NULL, TEXT, false, NULL },
};
static const struct field compiler_fields[] = {
	{ "cc", TEXT, false, NULL },
	{ "cxx", TEXT, false, NULL },
	{ "ld", TEXT, false, NULL },
	{ NULL, TEXT, false, NULL },
};
static const struct field top_fields[] = {
	{ "schema", SCHEMA, false, NULL },   { "name", TEXT, false, NULL },
	{ "version", TEXT, false, NULL },    { "source", MAP, false, source_fields },
	{ "patches", DIGESTS, false, NULL }, { "python", MAP, false, python_fields },
	{ "libc", TEXT, false, NULL },       { "torch", MAP, false, torch_fields },
	{ "cuda", MAP, true, cuda_fields },  { "compiler", MAP, false, compiler_fields },
	{ "build", VERSIONS, false, NULL },  { "archs", ARCHS, false, NULL },
	{ "argv", TEXTS, false, NULL },      { "env", ENV, false, NULL },
	{ NULL, TEXT, false, NULL },
};

struct reader {
	struct arena *a;
	struct diags *ds;
};

static bool
refuse(const struct reader *r, const char *path, const char *why)
{
	diag_help(diag_at(r->ds, E_STORE_INPUTS, (struct span){ 0 }, "`%s` %s",
			  *path ? path : "inputs", why),
		  "docs/store.md says what the inputs of a key are");
	return false;
}

/*
 * No control characters but tab and line end: then the canonical form is that of RFC 8785,
 * letter by letter (jansson writes the others with capital digits).
 */
static bool
is_text(const struct reader *r, const char *path, const json_t *v, bool may_be_empty)
{
	const char *s = json_string_value(v);

	if (!s)
		return refuse(r, path, "must be a text");
	if (!*s && !may_be_empty)
		return refuse(r, path, "must not be empty");
	for (; *s; s++)
		if (((unsigned char)*s < ' ' && *s != '\t' && *s != '\n') || *s == 0x7f)
			return refuse(r, path, "has a control character in it");
	return true;
}

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
is_digest(const struct reader *r, const char *path, const json_t *v)
{
	const char *s = json_string_value(v);

	if (!s || !starts_with(s, "sha256:") || !is_hex(s + 7, SHA256_HEX))
		return refuse(r, path, "must be `sha256:` and 64 hex digits");
	return true;
}

/* As TORCH_CUDA_ARCH_LIST has them, in the one spelling that a key may use. */
static bool
is_arch(const struct reader *r, const char *path, const json_t *v)
{
	const char *s = json_string_value(v);
	struct capability c;

	if (s && capability_parse(s, &c) && !strcmp(capability_text(r->a, &c), s))
		return true;
	return refuse(r, path, "must be an architecture, say `9.0` or `9.0+PTX`");
}

static int
arch_cmp(const void *x, const void *y)
{
	return capability_order(*(const char *const *)x, *(const char *const *)y);
}

/* The list is a set: sorted, each once. */
static bool
read_archs(const struct reader *r, const char *path, json_t *list)
{
	struct names all = { 0 };

	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *v = json_array_get(list, i);

		if (!is_arch(r, arena_printf(r->a, "%s[%zu]", path, i), v))
			return false;
		list_push(r->a, &all, arena_strdup(r->a, json_string_value(v)));
	}
	if (all.n)
		qsort(all.at, all.n, sizeof(*all.at), arch_cmp);
	json_array_clear(list);
	for (size_t i = 0; i < all.n; i++)
		if (!i || strcmp(all.at[i], all.at[i - 1]))
			json_array_append_new(list, json_string(all.at[i]));
	return true;
}

static bool
read_list(const struct reader *r, const char *path, enum type type, json_t *list)
{
	bool good = json_is_array(list) || refuse(r, path, "must be a list");

	if (!good || type == ARCHS)
		return good && read_archs(r, path, list);
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *at = arena_printf(r->a, "%s[%zu]", path, i);
		const json_t *v = json_array_get(list, i);

		good &= type == DIGESTS ? is_digest(r, at, v) : is_text(r, at, v, true);
	}
	return good;
}

/* Ascii alone: then a sort by bytes is a sort by UTF-16 units, as RFC 8785 wants it. */
static bool
is_name(enum type type, const char *name)
{
	static const char digits[] = "0123456789", letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
							       "abcdefghijklmnopqrstuvwxyz";
	size_t n = strlen(name), i = 0;

	for (; i < n; i++)
		if (!strchr(letters, name[i]) && !strchr(digits, name[i]) && name[i] != '_' &&
		    (type == ENV || (name[i] != '-' && name[i] != '.')))
			return false;
	return n && (type != ENV || !is_digit(*name));
}

static bool
read_names(const struct reader *r, const char *path, enum type type, json_t *map)
{
	const char *name;
	bool good = true;
	json_t *v;

	if (!json_is_object(map))
		return refuse(r, path, "must be an object");
	json_object_foreach(map, name, v)
	{
		const char *at = arena_printf(r->a, "%s.%s", path, name);

		if (!is_name(type, name))
			good = refuse(r, at,
				      type == ENV ? "is no name of a variable" :
						    "is no name of a distribution");
		else if (type == ENV &&
			 (!strcmp(name, "MAX_JOBS") || !strcmp(name, "NVCC_THREADS")))
			good = refuse(r, at, "decides how fast a wheel is made, not what is in it");
		else
			good &= is_text(r, at, v, type == ENV);
	}
	return good;
}

static bool read_map(const struct reader *r, const char *path, const struct field *fields,
		     json_t *map);

static bool
read_field(const struct reader *r, const char *path, const struct field *f, json_t *v)
{
	const char *s = json_string_value(v);

	if (f->or_null && json_is_null(v))
		return true;
	switch (f->type) {
	case SCHEMA:
		return (json_is_integer(v) && json_integer_value(v) == 1) ||
		       refuse(r, path, "must be 1");
	case TEXT: return is_text(r, path, v, false);
	case DIGEST: return is_digest(r, path, v);
	case COMMIT:
		return (s && is_hex(s, 40)) || refuse(r, path, "must be 40 hex digits, or null");
	case KIND:
		return (s && (!strcmp(s, "git") || !strcmp(s, "sdist") || !strcmp(s, "tree"))) ||
		       refuse(r, path, "must be `git`, `sdist` or `tree`");
	case BOOLEAN: return json_is_boolean(v) || refuse(r, path, "must be true or false");
	case MAP: return read_map(r, path, f->fields, v);
	case VERSIONS:
	case ENV: return read_names(r, path, f->type, v);
	case DIGESTS:
	case TEXTS:
	case ARCHS: return read_list(r, path, f->type, v);
	}
	return false;
}

static bool
read_map(const struct reader *r, const char *path, const struct field *fields, json_t *map)
{
	const char *dot = *path ? "." : "", *name;
	bool good = true;
	json_t *v;

	if (!json_is_object(map))
		return refuse(r, path,
			      fields == cuda_fields ? "must be an object, or null" :
						      "must be an object");
	for (const struct field *f = fields; f->name; f++) {
		const char *at = arena_printf(r->a, "%s%s%s", path, dot, f->name);

		v = json_object_get(map, f->name);
		good &= v ? read_field(r, at, f, v) : refuse(r, at, "is missing");
	}
	json_object_foreach(map, name, v)
	{
		const struct field *f = fields;

		while (f->name && strcmp(f->name, name))
			f++;
		if (!f->name)
			good = refuse(r, arena_printf(r->a, "%s%s%s", path, dot, name),
				      "is no field of it");
	}
	return good;
}

int
store_add_chunk(const char *bytes, size_t n, void *buf)
{
	buf_add(buf, bytes, n);
	return 0;
}

const char *
store_key_of(struct arena *a, struct diags *ds, json_t *inputs, const char **canonical)
{
	struct reader r = { a, ds };
	struct buf b = BUF(a);

	if (!read_map(&r, "", top_fields, inputs))
		return NULL;
	if (json_dump_callback(inputs, store_add_chunk, &b, JSON_COMPACT | JSON_SORT_KEYS) < 0)
		BUG("the inputs of a key cannot be written");
	if (canonical)
		*canonical = buf_text(&b);
	return sha256_hex(a, buf_text(&b), b.n);
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
