#include <stdint.h>
#include <string.h>

#include "load.h"

/* Returns a value as a map: the long form of a short form, or an empty map for other values. */
static const struct node *
as_map(struct load *l, const struct key *k, const struct node *base, const struct node *over)
{
	struct node *map;

	if (base && base->kind == NODE_MAP)
		return base;
	map = map_of(l, over->at, 1);
	if (base && !node_is_null(base) && k->more && k->type == KEY_MAP &&
	    (base->kind == NODE_SCALAR || key_short_list(k))) {
		map->at = base->at;
		map->pairs[map->n++] = (struct pair){ k->more, base->at, base };
	}
	return map;
}

/* keep: inside `variants`, a null stays, and removes a key when the variant is merged. */
static const struct node *
merge_in(struct load *l, const struct key *k, const struct node *base, const struct node *over,
	 bool keep)
{
	struct map places = MAP(l->a); /* key -> its pair */
	struct node *map;
	size_t n = 0;

	if (over->kind != NODE_MAP)
		return node_is_null(over) && !keep ? NULL : over;
	base = as_map(l, k, base, over);
	map = map_of(l, base->at, base->n + over->n);
	for (; map->n < base->n; map->n++) {
		map->pairs[map->n] = base->pairs[map->n];
		map_put(&places, base->pairs[map->n].key, &map->pairs[map->n]);
	}
	for (size_t i = 0; i < over->n; i++) {
		const struct pair *new = &over->pairs[i];
		/* A variant is a recipe. */
		const struct key *child =
			k->type == KEY_VARIANTS ? &key_root : key_child(k, new->key);
		struct pair *old = map_get(&places, new->key);
		const struct node *value =
			merge_in(l, child ? child : &key_free, old ? old->value : NULL, new->value,
				 keep || (k->type == KEY_VARIANTS && new->value->kind == NODE_MAP));

		if (!old)
			map_put(&places, new->key, old = &map->pairs[map->n++]);
		*old = (struct pair){ new->key, new->key_at, value };
	}
	for (size_t i = 0; i < map->n; i++)
		if (map->pairs[i].value)
			map->pairs[n++] = map->pairs[i];
	map->n = n;
	return map;
}

const struct node *
merge(struct load *l, const struct key *k, const struct node *base, const struct node *over)
{
	return merge_in(l, k, base, over, false);
}

static bool
walk(struct load *l, const char *s, struct text whole, struct override *o)
{
	const struct key *k = &key_root;

	for (;;) {
		size_t n = strcspn(s, ".");
		const char *name = arena_copy(l->a, s, n);
		struct span at = span_within(whole, (size_t)(s - whole.s), n);
		const struct key *child =
			k->type == KEY_VARIANTS  ? &key_root :
			k->type == KEY_ARGUMENTS ? argument_key(l->f, l->a, k, name) :
						   key_child(k, name);
		struct override axis = { 0 };

		/* The name of a variable, a mount path or an axis may contain dots. */
		if (k->type == KEY_SETTINGS || k->type == KEY_BUCKETS ||
		    (k->type == KEY_MATRIX && !child)) {
			list_push(l->a, &o->parts, s);
			return k->type == KEY_MATRIX ?
				       override_key(l, s, at, &axis) :
				       text_holds(l, key_names(k), k->path, (struct text){ s, at });
		}
		if (!child)
			return key_unknown(l, k, name, at);
		list_push(l->a, &o->parts, name);
		if (o->parts.n == 1)
			o->top = child;
		k = child;
		if (!s[n])
			return true;
		s += n + 1;
		/* Items of a list have keys, but no dotted path leads to them. */
		if (k->type != KEY_MAP && k->type != KEY_SETTINGS && k->type != KEY_VARIANTS &&
		    k->type != KEY_MATRIX && k->type != KEY_ARGUMENTS && k->type != KEY_BUCKETS)
			return reject(l, E_KEY_UNKNOWN, whole.at,
				      arena_printf(l->a, "set the whole of `%s`", k->path),
				      "`%s` has no keys below it", k->path);
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

/* Overrides as one map, so that a large recipe is copied once for all of them. */
struct layer {
	struct node node;
	struct {
		struct pair *at;
		size_t n, cap;
	} pairs;
	struct map below; /* key -> struct layer, if the last value of the key was a map */
	size_t place;     /* index of its pair in the map above */
};

/* Adds an override; a map is merged into an earlier map. Other values are added in their order,
 * because merge() accepts a key twice. */
static void
layer_add(struct load *l, struct layer *on, struct pair new)
{
	struct layer *below = map_get(&on->below, new.key);

	if (new.value->kind != NODE_MAP) {
		map_put(&on->below, new.key, NULL);
		list_push(l->a, &on->pairs, new);
	} else if (!below) {
		below = arena_new_of(l->a, struct layer);
		*below = (struct layer){ .node = { .kind = NODE_MAP, .at = new.value->at },
					 .below = MAP(l->a),
					 .place = on->pairs.n };
		map_put(&on->below, new.key, below);
		list_push(l->a, &on->pairs, (struct pair){ new.key, new.key_at, &below->node });
	} else {
		on->pairs.at[below->place].key_at = new.key_at;
	}
	for (size_t i = 0; new.value->kind == NODE_MAP &&i < new.value->n; i++)
		layer_add(l, below, new.value->pairs[i]);
	on->node.pairs = on->pairs.at;
	on->node.n = on->pairs.n;
}

const struct node *
overrides_apply(struct load *l, const struct overrides *all, const struct node *root)
{
	struct layer top = { .node = { .kind = NODE_MAP }, .below = MAP(l->a) };

	list_each (o, all) {
		struct pair pair = { o->parts.at[o->parts.n - 1], o->at, o->value };

		/* {torch: {version: value}} */
		for (size_t k = o->parts.n - 1; k-- > 0;) {
			struct node *map = map_of(l, o->value->at, 1);

			map->pairs[map->n++] = pair;
			pair = (struct pair){ o->parts.at[k], o->at, map };
		}
		layer_add(l, &top, pair);
	}
	return all->n ? merge(l, &key_root, root, &top.node) : root;
}

/* --- --set --- */

static bool
read_set(struct load *l, size_t i, const char *lines, struct override *o)
{
	struct source *src = arena_new_of(l->a, struct source);
	const char *set = l->o->sets[i], *equals = strchr(set, '='), *wrong = NULL;
	size_t n = equals ? (size_t)(equals - set) : 0;
	struct span at = { src, (uint32_t)i + 1, 1, n ? (uint32_t)n : 1 };
	const char *key = arena_copy(l->a, set, n);
	struct buf b = BUF(l->a);

	*src = (struct source){ "<command line>", lines, strlen(lines) };
	for (const char *p = set; *p; p++)
		wrong = (unsigned char)*p < ' ' ? "more than one line" : wrong;
	wrong = n ? wrong : "it is not key=value";
	if (wrong)
		return reject(l, E_SET, at, "write for example --set torch.version=2.5.1",
			      "--set %s: %s", shown(l->a, set), wrong);
	if (!strcmp(key, "extends"))
		return reject(l, E_SET, at, NULL, "--set cannot change what the recipe extends");
	if (!override_key(l, key, at, o))
		return false;
	/* Blanks before the value keep its line and column for the reader. */
	for (size_t k = 0; k < i; k++)
		buf_putc(&b, '\n');
	buf_printf(&b, "%*s%s", (int)n + 1, "", equals + 1);
	src->text = b.p;
	src->size = b.n;
	o->value = yaml_read(l->a, l->ds, src, YAML_LIMITS_DEFAULT);
	src->text = lines;
	src->size = strlen(lines);
	return o->value != NULL;
}

bool
sets_read(struct load *l, struct overrides *out)
{
	enum { SETS_MAX = 1000 };
	/* All options form one text, one line for each, so that errors can show a line. */
	const struct names all = { (const char **)l->o->sets, l->o->nsets, 0 };
	const char *lines = names_join(l->a, &all, "\n");
	struct source *src = arena_new_of(l->a, struct source);
	bool good = true;

	*src = (struct source){ "<command line>", lines, strlen(lines) };
	if (!within_limit(l, (struct span){ src, SETS_MAX + 1, 1, 1 }, l->o->nsets, SETS_MAX,
			  "`--set` options"))
		return false;
	for (size_t i = 0; i < l->o->nsets; i++) {
		struct override o = { 0 };

		if (read_set(l, i, lines, &o))
			list_push(l->a, out, o);
		else
			good = false;
	}
	return good;
}
