#include "recipe.h"

#include <string.h>

#include "base/fs.h"
#include "base/sha256.h"
#include "base/str.h"
#include "cells.h"
#include "extends.h"
#include "read.h"

/*
 * In this order, each merged over what is before it: extends, the file, the variant, the
 * cell of the matrix, --set.  An option that changes variants: or matrix: themselves
 * comes before these are used; one that names an axis leaves it that one value.
 */
enum { SECTIONS_MAX = 32 };

/* All cells together are digested no more than so many bytes. */
enum { CANONICAL_MAX = 256 * 1024 * 1024 };

/* The top-level values of one recipe, in the order of canonical JSON. */
struct sections {
	const struct key *key[SECTIONS_MAX];
	const struct node *node[SECTIONS_MAX];
	const struct section *read[SECTIONS_MAX]; /* of the node, or of one before it */
	size_t written[SECTIONS_MAX];             /* in the order of the file */
	size_t n;
};

/* A recipe on its way to its cells. */
struct making {
	struct load *l;
	const struct source *src;
	const struct node *root; /* without variants and matrix */
	struct overrides sets;
	struct sections base;
	struct buf canonical;
	size_t canonical_bytes;
};

static bool
is_structural(const struct override *o)
{
	return o->top->type == KEY_MATRIX || o->top->type == KEY_VARIANTS;
}

static const struct node *
without(struct load *l, const struct node *map, enum key_type type)
{
	struct node *left = arena_new_of(l->a, struct node);
	size_t n = 0;

	*left = *map;
	left->pairs = arena_array_of(l->a, struct pair, map->n);
	for (size_t i = 0; i < map->n; i++) {
		const struct key *k = key_child(&key_root, map->pairs[i].key);

		if (!k || k->type != type)
			left->pairs[n++] = map->pairs[i];
	}
	left->n = n;
	return left;
}

/* --- sections --- */

static size_t
section_of(const struct sections *s, const struct key *k)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->key[i] == k)
			return i;
	BUG("no section for %s", k->path);
}

static bool
keys_known(struct load *l, const struct node *root)
{
	bool good = true;

	for (size_t i = 0; i < root->n && !load_full(l); i++)
		if (!key_child(&key_root, root->pairs[i].key)) {
			key_unknown(l, &key_root, root->pairs[i].key, root->pairs[i].key_at);
			good = false;
		}
	return good;
}

/* `root` by its keys; what is no key is reported. */
static bool
sections_of(struct load *l, const struct node *root, struct sections *out)
{
	struct names order = canonical_order(l->a);
	bool good = keys_known(l, root);
	size_t n = 0;

	*out = (struct sections){ .n = order.n };
	if (order.n > SECTIONS_MAX)
		BUG("more than %d top-level keys", SECTIONS_MAX);
	for (size_t i = 0; i < order.n; i++)
		out->key[i] = key_child(&key_root, order.at[i]);
	for (size_t i = 0; i < root->n; i++) {
		const struct pair *p = &root->pairs[i];
		const struct key *k = key_child(&key_root, p->key);

		if (k) {
			out->written[n] = section_of(out, k);
			out->node[out->written[n++]] = p->value;
		}
	}
	/* Then those that only a cell or an option brings. */
	for (size_t i = 0; i < order.n; i++)
		if (!out->node[i])
			out->written[n++] = i;
	return good;
}

static void
apply_override(struct load *l, const struct override *o, struct sections *s)
{
	size_t i = section_of(s, o->top);

	s->node[i] = override_apply(l, o, s->node[i]);
}

static bool
is_touched(const struct cells *cells, const struct override *set)
{
	for (size_t c = 0; c < cells->n; c++)
		for (size_t i = 0; i < cells->at[c].overrides.n; i++)
			if (cells->at[c].overrides.at[i].top == set->top)
				return true;
	return false;
}

/* --set where no cell has a say is the same for all of them; the rest is left over. */
static struct overrides
apply_common(struct load *l, const struct overrides *sets, const struct cells *cells,
	     struct sections *base)
{
	struct overrides left = { 0 };

	for (size_t i = 0; i < sets->n; i++)
		if (is_structural(&sets->at[i]))
			continue;
		else if (is_touched(cells, &sets->at[i]))
			list_push(l->a, &left, sets->at[i]);
		else
			apply_override(l, &sets->at[i], base);
	return left;
}

/* --- one recipe --- */

/* Without a name of its own a stack is called after its file, if it can be. */
static bool
default_stack(struct load *l, struct recipe *r)
{
	const char *stem = strcmp(r->path, "-") != 0 ? fs_stem(l->a, r->path) : "recipe";
	const struct complaint *c = grammar_stack(l, stem);

	r->stack = (struct text){ stem, { .src = r->src } };
	if (c)
		diag_help(fault(l, c->code, r->stack.at,
				"the file's name is the stack's by default, and %s", c->what),
			  "add `stack:` with a name");
	return !c;
}

/* Checks what must hold between sections. */
static bool
recipe_holds(struct load *l, const struct recipe *r)
{
	if (!r->extensions.n || r->torch.at.line)
		return true;
	diag_help(fault(l, E_KEY_MISSING, r->extensions.at[0].at,
			"`extensions` need `torch` to compile against"),
		  "add `torch:` with a version");
	return false;
}

static void
digest(struct making *m, const struct sections *s, struct recipe *r)
{
	struct buf *b = &m->canonical;

	b->n = 0;
	buf_putc(b, '{');
	for (size_t i = 0; i < s->n; i++) {
		const char *json = s->node[i] ? s->read[i]->json : NULL;

		if (!s->node[i] && !strcmp(s->key[i]->path, "stack"))
			json = canonical_section(m->l->a, s->key[i], r);
		if (json && b->n > 1)
			buf_puts(b, ", ");
		buf_puts(b, json ? json : "");
	}
	buf_putc(b, '}');
	m->canonical_bytes += b->n;
	r->digest = arena_printf(m->l->a, "sha256:%s", sha256_hex(m->l->a, b->p, b->n));
}

/* The recipe of one cell; NULL if something in it does not hold. */
static const struct recipe *
make(struct making *m, struct sections *s, const char *cell)
{
	struct load *l = m->l;
	struct recipe *r = arena_new_of(l->a, struct recipe);
	bool good = true, any = false;

	*r = (struct recipe){
		.src = m->src,
		.path = l->o->path,
		.variant = l->o->variant,
		.cell = cell,
		.verify = { .forbid_fallback_set = true },
	};
	for (size_t w = 0; w < s->n && !load_full(l); w++) {
		size_t i = s->written[w];

		if (!s->node[i])
			continue;
		any = true;
		if (!s->read[i] || s->read[i]->node != s->node[i])
			s->read[i] = section_read(l, s->key[i], s->node[i]);
		good &= s->read[i]->good;
		section_fill(s->read[i], r);
	}
	if (!any) {
		diag_help(fault(l, E_EMPTY, m->root->at, "the recipe is empty"),
			  "write at least `torch:` or `packages:`");
		return NULL;
	}
	good &= r->stack.s || default_stack(l, r);
	if (!recipe_holds(l, r) || !good)
		return NULL;
	digest(m, s, r);
	return r;
}

/* --- variants --- */

static struct names
variant_names(struct load *l, const struct node *variants)
{
	struct names names = { 0 };

	for (size_t i = 0; variants && i < variants->n; i++)
		list_push(l->a, &names, variants->pairs[i].key);
	return names;
}

/* Each is a map, under a name that a directory can have. */
static bool
variants_hold(struct load *l, const struct node *variants)
{
	bool good = true;

	if (variants && variants->kind != NODE_MAP) {
		value_kind(l, key_child(&key_root, "variants"), "variants", variants, "a map");
		return false;
	}
	if (variants && !within_limit(l, variants->at, variants->n, VARIANTS_MAX, "variants"))
		return false;
	for (size_t i = 0; variants && i < variants->n && !load_full(l); i++) {
		const struct pair *p = &variants->pairs[i];
		struct text name = { p->key, p->key_at };

		good &= text_holds(l, "variants", name, TEXT_MAX) &&
			grammar_holds(l, grammar_variant, "variants", name);
		if (p->value->kind != NODE_MAP) {
			fault(l, E_TYPE, p->value->at, "`variants.%s` takes a map, not %s", p->key,
			      node_kind_name(p->value));
			good = false;
		} else if (node_get(p->value, "variants") || node_get(p->value, "extends")) {
			diag_help(fault(l, E_KEY_UNKNOWN, p->key_at,
					"a variant can have neither `variants` nor `extends`"),
				  "write its changes out in full");
			good = false;
		}
	}
	return good;
}

/* No variant or cell (`what`) has the name that --variant or --cell gives. */
static void
name_unknown(struct making *m, enum code code, const char *what, const char *name,
	     struct names names)
{
	enum { SHOWN = 8 };
	struct names first = { names.at, names.n < SHOWN ? names.n : SHOWN, 0 };
	const char *nearest = str_nearest(name, names.at, names.n);
	struct diag *d = fault(m->l, code, (struct span){ .src = m->src },
			       "the recipe has no %s %s", what, shown(m->l->a, name));

	if (nearest)
		diag_help(d, "did you mean `%s`?", nearest);
	else if (names.n)
		diag_help(d, "available %ss: %s%s", what, names_words(m->l->a, &first, "and"),
			  names.n > first.n ? " ..." : "");
	else
		diag_help(d, "the recipe has no %ss; remove --%s", what, what);
}

/* Checks the variants that --variant does not name too, so that none is broken unnoticed. */
static bool
others_hold(struct making *m, const struct node *plain, const struct node *variants)
{
	bool good = true;

	for (size_t i = 0; variants && i < variants->n && !load_full(m->l); i++) {
		const struct pair *p = &variants->pairs[i];
		const struct node *whole = merge(m->l, &key_root, plain, p->value);
		struct sections s;

		if (m->l->o->variant && !strcmp(p->key, m->l->o->variant))
			continue;
		good &= sections_of(m->l, without(m->l, whole, KEY_MATRIX), &s);
		good &= make(m, &s, NULL) != NULL;
	}
	return good;
}

/* --- cells --- */

/* Keeps only the cell that --cell names, if it names one. */
static bool
choose_cell(struct making *m, bool matrix, struct cells *cells)
{
	const char *name = m->l->o->cell;
	struct names names = { 0 };

	if (!name)
		return true;
	for (size_t i = 0; matrix && i < cells->n; i++) {
		if (!strcmp(cells->at[i].name, name)) {
			*cells = (struct cells){ cells->at + i, 1, 1 };
			return true;
		}
		list_push(m->l->a, &names, cells->at[i].name);
	}
	name_unknown(m, E_CELL, "cell", name, names);
	return false;
}

static const struct recipe *const *
make_cells(struct making *m, const struct cells *cells, const struct overrides *sets)
{
	const struct recipe **all = arena_array_of(m->l->a, const struct recipe *, cells->n);
	struct sections s = m->base;
	bool good = true;

	for (size_t c = 0; c < cells->n && !load_full(m->l); c++) {
		memcpy(s.node, m->base.node, sizeof(s.node));
		for (size_t i = 0; i < cells->at[c].overrides.n; i++)
			apply_override(m->l, &cells->at[c].overrides.at[i], &s);
		for (size_t i = 0; i < sets->n; i++)
			apply_override(m->l, &sets->at[i], &s);
		all[c] = make(m, &s, cells->at[c].name);
		good &= all[c] != NULL;
		if (m->canonical_bytes > CANONICAL_MAX) {
			fault(m->l, E_MATRIX, m->root->at,
			      "the matrix's cells are more than %d MiB of recipes",
			      CANONICAL_MAX / 1024 / 1024);
			return NULL;
		}
	}
	return good ? all : NULL;
}

static const struct recipes *
make_all(struct making *m, const struct node *variants, const struct node *matrix)
{
	struct load *l = m->l;
	struct recipes *out = arena_new_of(l->a, struct recipes);
	struct cells cells = { 0 };
	struct overrides sets;
	bool good = sections_of(l, m->root, &m->base);

	if (!cells_make(l, matrix, &m->sets, &cells) || !choose_cell(m, matrix != NULL, &cells))
		return NULL;
	sets = apply_common(l, &m->sets, &cells, &m->base);
	out->at = make_cells(m, &cells, &sets);
	out->n = cells.n;
	out->matrix = matrix != NULL;
	out->variants = variant_names(l, variants);
	return good && out->at ? out : NULL;
}

const struct recipes *
recipes_load_from(struct arena *a, struct diags *ds, const struct facts *f,
		  const struct recipe_options *o, recipe_open *open, void *ctx)
{
	struct load l;
	struct making m = { .l = &l, .canonical = BUF(a) };
	const struct node *root, *plain, *variants, *matrix;
	const struct recipes *all;

	load_init(&l, a, ds, f, o);
	l.open = open;
	l.ctx = ctx;
	root = extends_load(&l, &m.src);
	if (!sets_read(&l, &m.sets) || !root)
		return NULL;
	for (size_t i = 0; i < m.sets.n; i++)
		if (is_structural(&m.sets.at[i]))
			root = override_recipe(&l, &m.sets.at[i], root);
	/* So many faults that there is no use in going on with a large file. */
	if (!keys_known(&l, root) && load_full(&l))
		return NULL;
	variants = node_get(root, "variants");
	if (variants && node_is_null(variants))
		variants = NULL;
	if (!variants_hold(&l, variants))
		return NULL;
	plain = root = without(&l, root, KEY_VARIANTS);
	if (o->variant && !node_get(variants, o->variant)) {
		name_unknown(&m, E_VARIANT, "variant", o->variant, variant_names(&l, variants));
		return NULL;
	}
	if (o->variant)
		root = merge(&l, &key_root, root, node_get(variants, o->variant));
	matrix = node_get(root, "matrix");
	m.root = without(&l, root, KEY_MATRIX);
	all = make_all(&m, variants, matrix && !node_is_null(matrix) ? matrix : NULL);
	return others_hold(&m, plain, variants) ? all : NULL;
}

const struct recipes *
recipes_load(struct arena *a, struct diags *ds, const struct facts *f,
	     const struct recipe_options *o)
{
	return recipes_load_from(a, ds, f, o, extends_open_file, NULL);
}
