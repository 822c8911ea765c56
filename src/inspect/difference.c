/* Compares two results of `inspect`, as JSON. */
#include <string.h>

#include "base/str.h"
#include "fetch/fetch.h"
#include "inspect/inspect.h"

enum { SHOWN = 20 };

/* Returns a value as one line; a text without its quotes. */
static const char *
value_text(struct arena *a, const json_t *value)
{
	size_t n;

	return json_is_string(value) ?
		       arena_strdup(a, json_string_value(value)) :
		       fetch_json_dump(a, value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_SORT_KEYS,
				       &n);
}

/* Returns the items of a list, or the one value; none for null. */
static struct names
items(struct arena *a, const json_t *value)
{
	struct names all = { 0 };

	if (!json_is_array(value) && value && !json_is_null(value))
		list_push(a, &all, value_text(a, value));
	for (size_t i = 0; i < json_array_size(value); i++)
		list_push(a, &all, value_text(a, json_array_get(value, i)));
	return all;
}

static struct names
only_in(struct arena *a, const struct names *x, const struct names *y)
{
	struct map there = MAP(a);
	struct names all = { 0 };

	for (size_t i = 0; i < y->n; i++)
		map_put(&there, y->at[i], a);
	for (size_t i = 0; i < x->n; i++)
		if (!map_get(&there, x->at[i]))
			list_push(a, &all, x->at[i]);
	return all;
}

/* Returns "numpy 1.26.4" or "x/_C.so, 1.2 MiB" for a map with a name or a path; for a symbol, its
 * C++ name. */
static const char *
short_text(struct arena *a, const char *item)
{
	json_auto_t *map = *item == '{' ? json_loads(item, 0, NULL) : NULL;
	const char *path = fetch_json_text(a, map, "path"), *name = fetch_json_text(a, map, "name");
	const char *version = fetch_json_text(a, map, "version");
	const json_t *size = json_object_get(map, "size");

	if (!path && !name)
		return symbol_demangled(a, item);
	name = path ? path : version ? arena_printf(a, "%s %s", name, version) : name;
	return json_is_number(size) ?
		       arena_printf(a, "%s, %s", name, bytes_words(a, json_number_value(size))) :
		       name;
}

static void
rows(struct arena *a, const char *sign, const struct names *all, struct buf *out)
{
	for (size_t i = 0; i < all->n && i < SHOWN; i++)
		buf_printf(out, "    %s %s\n", sign, short_text(a, all->at[i]));
	if (all->n > SHOWN)
		buf_printf(out, "    %s and %zu more; --format json lists all\n", sign,
			   all->n - SHOWN);
}

/* Compares a member of both; `j` NULL: prints text. */
static bool
member(struct arena *a, const char *key, const json_t *x, const json_t *y, struct json *j,
       struct buf *out)
{
	const struct names mine = items(a, x), theirs = items(a, y);
	const struct names before = only_in(a, &mine, &theirs), after = only_in(a, &theirs, &mine);

	if (!before.n && !after.n)
		return false;
	if (j) {
		json_put(j, "{'what': %s, 'only_a': %n, 'only_b': %n}", key, &before, &after);
		return true;
	}
	buf_printf(out, "  %s\n", key);
	rows(a, "-", &before, out);
	rows(a, "+", &after, out);
	return true;
}

/* Members that follow from others, or that describe only the place. */
static const char left_out[] = "kind file demangled libraries undefined_versions defined_versions";

bool
difference(struct arena *a, const char *x, const char *y, bool as_json, struct buf *out)
{
	json_auto_t *one = json_loads(x, 0, NULL);
	json_auto_t *two = json_loads(y, 0, NULL);
	struct json j = json_to(out);
	const char *first = json_string_value(json_object_get(one, "file"));
	const char *second = json_string_value(json_object_get(two, "file")), *key;
	bool differs = false;
	json_t *value;

	if (!one || !two)
		BUG("an answer of inspect is no JSON");
	if (as_json)
		json_put(&j, "{'kind': 'difference', 'a': %s, 'b': %s, 'differences': [", first,
			 second);
	else
		buf_printf(out, "- %s\n+ %s\n", first, second);
	json_object_foreach(one, key, value) if (!among(key, left_out)) differs |=
		member(a, key, value, json_object_get(two, key), as_json ? &j : NULL, out);
	json_object_foreach(two, key,
			    value) if (!among(key, left_out) && !json_object_get(one, key))
		differs |= member(a, key, NULL, value, as_json ? &j : NULL, out);
	if (as_json)
		json_put(&j, "]}");
	else if (!differs)
		buf_puts(out, "  no difference\n");
	return true;
}
