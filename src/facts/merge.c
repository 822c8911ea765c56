#include "schema.h"

#include <string.h>

#include "base/list.h"
#include "base/str.h"
#include "python/python.h"

struct pairs LIST(struct pair);

/* Keeps both sources, because claims that were not replaced still need the old one. */
static const struct node *
both_sources(struct arena *a, const struct node *under, const struct node *over)
{
	struct node *both = arena_new_of(a, struct node);
	struct items LIST(const struct node *);
	struct items items = { 0 };
	const struct node *sides[] = { over, under };

	for (size_t s = 0; s < 2; s++) {
		if (sides[s]->kind == NODE_SCALAR)
			list_push(a, &items, sides[s]);
		for (size_t i = 0; sides[s]->kind == NODE_LIST && i < sides[s]->n; i++)
			list_push(a, &items, sides[s]->items[i]);
	}
	*both = (struct node){ .kind = NODE_LIST, .at = over->at, .items = items.at, .n = items.n };
	return both;
}

/* Parses a version; "3.13t" counts as 3.13, and comes after it. */
static const struct version *
key_version(struct arena *a, const char *key, bool *threaded)
{
	size_t n = strlen(key);

	*threaded = n && key[n - 1] == 't' && strspn(key, "0123456789.") == n - 1;
	return version_parse(a, *threaded ? arena_copy(a, key, n - 1) : key);
}

int
facts_key_order(struct arena *a, const char *x, const char *y)
{
	bool xt, yt;
	const struct version *v = key_version(a, x, &xt), *w = key_version(a, y, &yt);
	int c = v && w ? version_cmp(v, w) : 0;

	return c ? c : v && w ? xt - yt : 0;
}

/* Versions are kept in their order; other keys stay where they were added. */
static void
add_pair(struct arena *a, struct pairs *pairs, struct pair p)
{
	size_t i = pairs->n;

	list_push(a, pairs, p);
	for (; i && facts_key_order(a, pairs->at[i - 1].key, p.key) > 0; i--)
		pairs->at[i] = pairs->at[i - 1];
	pairs->at[i] = p;
}

static const struct node *merge(struct arena *a, const char *key, const struct node *under,
				const struct node *over);

/* Below `when`, `source` is a condition and not a claim. */
static void
merge_pair(struct arena *a, const char *key, struct pairs *pairs, const struct pair *p)
{
	size_t i = 0;

	while (i < pairs->n && strcmp(pairs->at[i].key, p->key))
		i++;
	if (node_is_null(p->value)) {
		if (i < pairs->n) {
			memmove(&pairs->at[i], &pairs->at[i + 1],
				(pairs->n - i - 1) * sizeof(*pairs->at));
			pairs->n--;
		}
	} else if (i == pairs->n) {
		/* Nulls inside a new value remove nothing, and must not stay either. */
		struct pair clean = *p;

		if (p->value->kind == NODE_MAP) {
			struct node nothing = { .kind = NODE_MAP };

			clean.value = facts_merge(a, &nothing, p->value);
		}
		add_pair(a, pairs, clean);
	} else if (!strcmp(p->key, "source") && strcmp(key, "when") != 0) {
		pairs->at[i].value = both_sources(a, pairs->at[i].value, p->value);
	} else {
		pairs->at[i].value = merge(a, p->key, pairs->at[i].value, p->value);
	}
}

static const struct node *
merge(struct arena *a, const char *key, const struct node *under, const struct node *over)
{
	struct node *merged;
	struct pairs pairs = { 0 };
	size_t before;

	if (under->kind != NODE_MAP || over->kind != NODE_MAP)
		return over;
	for (size_t i = 0; i < under->n; i++)
		list_push(a, &pairs, under->pairs[i]);
	before = pairs.n;
	for (size_t i = 0; i < over->n; i++)
		merge_pair(a, key, &pairs, &over->pairs[i]);
	merged = arena_new_of(a, struct node);
	*merged = (struct node){ .kind = NODE_MAP,
				 .at = before ? under->at : over->at,
				 .pairs = pairs.at,
				 .n = pairs.n };
	return merged;
}

const struct node *
facts_merge(struct arena *a, const struct node *under, const struct node *over)
{
	return merge(a, "", under, over);
}
