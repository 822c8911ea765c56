/*
 * A wheel with code for more GPUs than are wanted serves as well: its inputs differ in the list of
 * architectures alone.
 */
#include <string.h>

#include "base/sha256.h"
#include "base/str.h"
#include "fetch/fetch.h"
#include "internal.h"

/* A list of architectures, under a name that says so: TORCH_CUDA_ARCH_LIST=8.0;9.0+PTX, X_ARCHS=80. */
static bool
lists_archs(const char *name, const char *value)
{
	return strstr(name, "ARCH") && str_matches(value, "^([0-9.]+[af]?([+]PTX)?[;, ]*)*$");
}

/* The digest of inputs without their architectures: equal for wheels that differ in these alone. */
static const char *
family(struct arena *a, const char *inputs)
{
	json_auto_t *map = json_loads(inputs, 0, NULL);
	json_t *env = json_object_get(map, "env"), *value;
	const char *name, *text;
	void *next;
	size_t n;

	json_object_del(map, "archs");
	json_object_foreach_safe(env, next, name,
				 value) if (lists_archs(name, json_string_value(value)))
		json_object_del(env, name);
	if (!(text = fetch_json_dump(a, map, JSON_COMPACT | JSON_SORT_KEYS, &n)))
		BUG("the inputs of a wheel cannot be written");
	return sha256_hex(a, text, n);
}

/* A server would be asked for each of its entries: only a directory is searched. */
enum store_answer
store_get_more(struct arena *a, struct diags *ds, struct store *s, const char *inputs,
	       const struct store_want *want, const char *folder, const char **path,
	       const char **key)
{
	struct store_want more = *want;
	struct entries all = { 0 };
	struct names bad = { 0 };
	const struct entry *best = NULL;
	const char *mine = family(a, inputs);
	struct diags ignored;

	diags_init(&ignored, a);
	if (s->kind != &store_folder || !want->archs.n ||
	    !store_entries(a, &ignored, s, &all, &bad))
		return STORE_MISS;
	for (size_t i = 0; i < all.n; i++)
		if (names_hold(&all.at[i]->archs, &want->archs) &&
		    (!best || all.at[i]->archs.n < best->archs.n) &&
		    !strcmp(family(a, all.at[i]->inputs), mine))
			best = all.at[i];
	if (!best)
		return STORE_MISS;
	more.more_archs = true;
	*key = best->key;
	return store_get(a, ds, s, best->key, &more, folder, path);
}
