#include "merge.h"

#include <stdint.h>
#include <string.h>

#include "base/str.h"

struct pairs LIST(struct pair);

static const struct key *
child_of(const struct key *k, const char *name)
{
	const struct key *child;

	/* A variant is a recipe. */
	if (k->type == KEY_VARIANTS)
		return &key_root;
	child = key_child(k, name);
	return child ? child : &key_free;
}

/* The map that a value is: its long form if it is a short one, an empty one if it is none. */
static const struct node *
as_map(struct load *l, const struct key *k, const struct node *base, const struct node *over)
{
	struct node *map;

	if (base && base->kind == NODE_MAP)
		return base;
	map = arena_new_of(l->a, struct node);
	*map = (struct node){ .kind = NODE_MAP, .at = over->at };
	if (base && base->kind == NODE_SCALAR && !node_is_null(base) && key_is_map(k) && k->more) {
		map->at = base->at;
		map->n = 1;
		map->pairs = arena_new_of(l->a, struct pair);
		map->pairs[0] = (struct pair){ k->more, base->at, base };
	}
	return map;
}

/* Pairs, and the index of each key's pair plus one. */
struct places {
	struct pairs pairs;
	struct map index;
};

static void
place_add(struct load *l, struct places *p, struct pair pair)
{
	list_push(l->a, &p->pairs, pair);
	map_put(&p->index, pair.key, (void *)(uintptr_t)p->pairs.n);
}

/*
 * Inside variants: (keep) a null is not applied but kept: it is to remove something
 * when the variant is laid on the recipe.
 */
static const struct node *
merge_in(struct load *l, const struct key *k, const struct node *base, const struct node *over,
	 bool keep)
{
	struct node *map;
	struct places p = { .index = MAP(l->a) };
	size_t n = 0;

	if (over->kind != NODE_MAP)
		return node_is_null(over) && !keep ? NULL : over;
	base = as_map(l, k, base, over);
	for (size_t i = 0; i < base->n; i++)
		place_add(l, &p, base->pairs[i]);
	for (size_t i = 0; i < over->n; i++) {
		const struct pair *new = &over->pairs[i];
		const struct key *child = child_of(k, new->key);
		size_t place = (uintptr_t)map_get(&p.index, new->key);
		struct pair *old = place ? &p.pairs.at[place - 1] : NULL;
		const struct node *value =
			merge_in(l, child, old ? old->value : NULL, new->value,
				 keep || (k->type == KEY_VARIANTS && new->value->kind == NODE_MAP));

		if (old)
			*old = (struct pair){ old->key, new->key_at, value };
		else if (value)
			place_add(l, &p, (struct pair){ new->key, new->key_at, value });
	}
	for (size_t i = 0; i < p.pairs.n; i++)
		if (p.pairs.at[i].value)
			p.pairs.at[n++] = p.pairs.at[i];
	map = arena_new_of(l->a, struct node);
	*map = (struct node){ .kind = NODE_MAP, .at = base->at, .n = n, .pairs = p.pairs.at };
	return map;
}

const struct node *
merge(struct load *l, const struct key *k, const struct node *base, const struct node *over)
{
	return merge_in(l, k, base, over, false);
}

void
key_unknown(struct load *l, const struct key *k, const char *name, struct span at)
{
	struct names known = key_children(l->a, k);
	const char *nearest = str_nearest(name, known.at, known.n);
	struct diag *d =
		*k->path ? fault(l, E_KEY_UNKNOWN, at, "`%s` has no key %s", k->path,
				 shown(l->a, name)) :
			   fault(l, E_KEY_UNKNOWN, at, "a recipe has no key %s", shown(l->a, name));

	if (nearest)
		offer(l, d, (struct text){ name, at }, nearest,
		      arena_printf(l->a, "did you mean `%s`?", nearest));
	else if (known.n && *k->path)
		diag_help(d, "it has %s", names_words(l->a, &known, "and"));
	else if (known.n)
		diag_help(d, "the keys are %s", names_words(l->a, &known, "and"));
}

/* The name that ends a dotted key: of a variable, or a mount path. */
static bool
free_name(struct load *l, const struct key *k, const char *name, struct span at)
{
	struct text t = { name, at };

	return text_holds(l, k->path, t, TEXT_MAX) &&
	       grammar_holds(l, k->type == KEY_MOUNTS ? grammar_mount : grammar_env_name, k->path,
			     t);
}

/* Items of a list have keys, but no dotted path leads to them. */
static bool
has_keys(const struct key *k)
{
	return key_is_map(k) || k->type == KEY_SETTINGS || k->type == KEY_MOUNTS ||
	       k->type == KEY_VARIANTS || k->type == KEY_MATRIX;
}

static bool
walk(struct load *l, const char *s, struct text whole, struct override *o)
{
	const struct key *k = &key_root;

	for (;;) {
		size_t n = strcspn(s, ".");
		const char *name = arena_copy(l->a, s, n);
		struct span at = span_within(whole, (size_t)(s - whole.s), n);
		const struct key *child;

		if (k->type == KEY_SETTINGS || k->type == KEY_MOUNTS) {
			list_push(l->a, &o->parts, s);
			return free_name(l, k, s, at);
		}
		if (k->type == KEY_MATRIX && !key_child(k, name)) {
			struct override axis = { 0 };

			list_push(l->a, &o->parts, s);
			return override_key(l, s, at, &axis);
		}
		child = k->type == KEY_VARIANTS ? &key_root : key_child(k, name);
		if (!child) {
			key_unknown(l, k, name, at);
			return false;
		}
		list_push(l->a, &o->parts, name);
		if (o->parts.n == 1)
			o->top = child;
		k = child;
		if (!s[n])
			return true;
		s += n + 1;
		if (!has_keys(k)) {
			diag_help(fault(l, E_KEY_UNKNOWN, whole.at, "`%s` has no keys below it",
					k->path),
				  "set the whole of `%s`", k->path);
			return false;
		}
	}
}

bool
override_key(struct load *l, const char *dotted, struct span at, struct override *o)
{
	const char *place = arena_printf(l->a, "key %s", dotted);
	const char *known = map_get(&l->done, place);

	if (!known)
		map_put(&l->done, place, (void *)(uintptr_t)(known = dotted));
	o->dotted = known;
	o->at = at;
	return walk(l, dotted, (struct text){ dotted, at }, o);
}

/* {torch: {version: value}}, without the first `skip` names. */
static const struct node *
nested(struct load *l, const struct override *o, size_t skip)
{
	const struct node *inner = o->value;

	for (size_t i = o->parts.n; i-- > skip;) {
		struct node *map = arena_new_of(l->a, struct node);

		*map = (struct node){ .kind = NODE_MAP, .at = inner->at, .n = 1 };
		map->pairs = arena_new_of(l->a, struct pair);
		map->pairs[0] = (struct pair){ o->parts.at[i], o->at, inner };
		inner = map;
	}
	return inner;
}

const struct node *
override_apply(struct load *l, const struct override *o, const struct node *base)
{
	return merge(l, o->top, base, nested(l, o, 1));
}

const struct node *
override_recipe(struct load *l, const struct override *o, const struct node *root)
{
	return merge(l, &key_root, root, nested(l, o, 0));
}
