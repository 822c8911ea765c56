/*
 * Finds a wheel with code for more GPUs than required: its inputs differ only in the list of
 * architectures.
 */
#include <string.h>

#include "base/sha256.h"
#include "base/str.h"
#include "fetch/fetch.h"
#include "internal.h"

/*
 * Returns true for a list of architectures, recognised by its name:
 * TORCH_CUDA_ARCH_LIST=8.0;9.0+PTX, X_ARCHS=80.
 */
static bool
lists_archs(const char *name, const char *value)
{
	return strstr(name, "ARCH") && str_matches(value, "^([0-9.]+[af]?([+]PTX)?[;, ]*)*$");
}

const char *
store_family(struct arena *a, const char *inputs)
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

/* Returns the entries of a family; for a directory, all entries. */
static void
family_entries(struct arena *a, struct store *s, const char *family, struct entries *out)
{
	struct names keys = { 0 };
	const struct entry *e;
	struct diags ignored = DIAGS(ignored, a);

	if ((s->kind->family ? s->kind->family(a, s, family, &keys) : s->kind->keys(a, s, &keys)) !=
	    STORE_HIT)
		return;
	for (size_t i = 0; i < keys.n && !s->down; i++)
		if (store_find(a, &ignored, s, keys.at[i], &e) == STORE_HIT &&
		    !strcmp(store_family(a, e->inputs), family))
			list_push(a, out, e);
}

enum store_answer
store_get_more(struct arena *a, struct diags *ds, struct store *s, const char *inputs,
	       const struct store_want *want, const char *folder, const char **path,
	       const char **key)
{
	struct store_want more = *want;
	struct entries all = { 0 };
	const struct entry *best = NULL;

	if (!want->archs.n)
		return STORE_MISS;
	family_entries(a, s, store_family(a, inputs), &all);
	for (size_t i = 0; i < all.n; i++)
		if (names_hold(&all.at[i]->archs, &want->archs) &&
		    (!best || all.at[i]->archs.n < best->archs.n))
			best = all.at[i];
	if (!best)
		return STORE_MISS;
	more.more_archs = true;
	*key = best->key;
	return store_get(a, ds, s, best->key, &more, folder, path);
}

/* --- without the inputs --- */

/* Returns whether "2.11.0+cu130" is this release; the wheel of another index may have no tag. */
static bool
is_torch(const char *have, const char *torch, const char *tag)
{
	size_t n = strcspn(have, "+");

	return torch && n == strcspn(torch, "+") && !strncmp(have, torch, n) &&
	       (!tag || !have[n] || !strcmp(have + n + 1, tag));
}

/* Returns whether a wheel of Python "3.11.2" has the tag "cp311". */
static bool
is_python(struct arena *a, const char *have, const char *tag)
{
	const char *minor = strchr(have, '.');
	size_t n = minor ? strcspn(minor + 1, ".") : 0;

	return !tag || (minor && !strcmp(tag, arena_printf(a, "cp%.*s%.*s", (int)(minor - have),
							   have, (int)n, minor + 1)));
}

bool
store_is_local(const struct store *s)
{
	return s->kind == &store_folder;
}

const char *
store_like(struct arena *a, struct store *s, const struct store_want *want, const char *torch,
	   const char *tag)
{
	struct entries all = { 0 };
	struct diags ignored = DIAGS(ignored, a);

	if (!store_is_local(s))
		return NULL;
	store_entries(a, &ignored, s, &all, NULL);
	for (size_t i = 0; i < all.n; i++) {
		const struct entry *e = all.at[i];

		if (!strcmp(e->name, want->name) &&
		    (!want->version || !strcmp(e->version, want->version)) &&
		    is_torch(e->torch, torch, tag) && is_python(a, e->python, want->python_tag) &&
		    (want->any_archs || names_hold(&e->archs, &want->archs)))
			return e->key;
	}
	return NULL;
}
