#include <string.h>

#include "base/fs.h"
#include "base/sha256.h"
#include "load.h"

/*
 * Merges in this order: extends, the file, the variant, the cell of the matrix, --set. --set
 * options for `variants` or `matrix` apply before these are used, and one for an axis gives it a
 * single value.
 */

/* The cells of a matrix have at most CANONICAL_MAX bytes to digest; after the first CANONICAL_SOME
 * bytes the rest is estimated, so that most oversized matrices are rejected early. */
enum { CANONICAL_MAX = 40 * 1024 * 1024, CANONICAL_SOME = 2 * 1024 * 1024 };

/* The state of loading a recipe. */
struct making {
	struct load *l;
	const struct source *src;
	const struct node *root;     /* without variants and matrix */
	const struct node *variants; /* a map; or NULL */
	struct names names;          /* names of the variants */
	struct overrides sets;
	struct buf canonical;
	size_t canonical_bytes;
};

static bool
is_structural(const struct override *o)
{
	return o->top->type == KEY_MATRIX || o->top->type == KEY_VARIANTS;
}

static bool
keys_known(struct load *l, const struct node *root)
{
	bool good = true;

	for (size_t i = 0; i < root->n && !load_full(l); i++)
		if (!key_child(&key_root, root->pairs[i].key))
			good = key_unknown(l, &key_root, root->pairs[i].key, root->pairs[i].key_at);
	return good;
}

/* --- sections --- */

/* The values of a top-level key, in an otherwise empty recipe. */
struct section {
	struct recipe values;
	bool good;
};

/* Copies the members of a key and the keys below it from one struct to another. */
static void
key_copy(const struct key *k, const void *from, void *to)
{
	memcpy((char *)to + k->first.at, (const char *)from + k->first.at, k->first.size);
	memcpy((char *)to + k->second.at, (const char *)from + k->second.at, k->second.size);
	for (const struct key *child = NULL; k->type == KEY_MAP && (child = key_next(k, child));)
		key_copy(child, from, to);
}

/* Reads the value of a top-level key once: cells share equal values. */
static bool
read_section(struct load *l, const struct key *k, const struct node *n, struct recipe *r)
{
	const char *place = arena_printf(l->a, "section %s %p", k->path, (const void *)n);
	struct section *s = map_get(&l->done, place);

	if (!s) {
		s = arena_new_of(l->a, struct section);
		s->good = read_value(l, k, n, (char *)&s->values);
		map_put(&l->done, place, s);
	}
	key_copy(k, &s->values, r);
	return s->good;
}

/* --- one recipe --- */

/* Names a stack without a name after its file, if that name is valid. */
static bool
default_stack(struct load *l, struct recipe *r)
{
	const char *stem = strcmp(r->path, "-") != 0 ? fs_stem(l->a, r->path) : "recipe";
	const struct complaint *c = grammar_stack(l, stem);

	r->stack = (struct text){ stem, { .src = r->src } };
	return !c || reject(l, c->code, r->stack.at, "add `stack:` with a name",
			    "the stack's default name is the file's name, and %s", c->what);
}

/* Adds the codes of --ignore to a copy of the recipe's list, which its cells share. */
static bool
add_ignored(struct load *l, struct recipe *r)
{
	struct texts all = { 0 };
	bool good = true;

	for (size_t i = 0; i < r->ignore.n; i++)
		list_push(l->a, &all, r->ignore.at[i]);
	for (size_t i = 0; i < l->o->ignore.n; i++) {
		struct text code = { l->o->ignore.at[i], { .src = NULL } };

		good &= text_holds(l, grammar_ignore, "--ignore", code);
		list_push(l->a, &all, code);
	}
	r->ignore = all;
	return good;
}

static const struct recipe *
make(struct making *m, const struct node *root, const char *cell)
{
	struct load *l = m->l;
	struct recipe *r = arena_new_of(l->a, struct recipe);
	bool good = true, any = false;

	*r = (struct recipe){ .src = m->src,
			      .path = l->o->path,
			      .variant = l->o->variant,
			      .cell = cell,
			      .files = l->files };
	for (size_t i = 0; i < root->n && !load_full(l); i++) {
		const struct key *k = key_child(&key_root, root->pairs[i].key);

		any |= k != NULL;
		good &= k ? read_section(l, k, root->pairs[i].value, r) :
			    key_unknown(l, &key_root, root->pairs[i].key, root->pairs[i].key_at);
	}
	if (!any) {
		reject(l, E_EMPTY, m->root->at, "write at least `torch:` or `packages:`",
		       "the recipe is empty");
		return NULL;
	}
	good &= r->stack.s || default_stack(l, r);
	if (r->extensions.n && !r->torch.at.line)
		good = reject(l, E_KEY_MISSING, r->extensions.at[0].at,
			      "add `torch:` with a version",
			      "`extensions` need `torch` to compile against");
	if (l->o->ignore.n)
		good &= add_ignored(l, r);
	if (good && l->o->application)
		good &= entrypoint_read(l, r);
	if (!good || !app_read(l, &r->app))
		return NULL;
	m->canonical.n = 0;
	recipe_canonical(r, &m->canonical);
	m->canonical_bytes += m->canonical.n;
	r->digest =
		arena_printf(l->a, "sha256:%s", sha256_hex(l->a, m->canonical.p, m->canonical.n));
	if (r->torch.version.s && !strcmp(r->torch.version.s, "*"))
		r->torch.version = (struct text){ 0 }; /* explicitly unpinned */
	return r;
}

/* --- variants and cells --- */

/* Checks the variants: each one is a map, with a name that is valid for a directory. */
static bool
variants_hold(struct load *l, const struct node *variants)
{
	bool good = true;

	if (variants->kind != NODE_MAP)
		return value_kind(l, key_child(&key_root, "variants"), "variants", variants,
				  "a map");
	if (!within_limit(l, variants->at, variants->n, VARIANTS_MAX, "variants"))
		return false;
	for (size_t i = 0; i < variants->n && !load_full(l); i++) {
		const struct pair *p = &variants->pairs[i];

		good &= text_holds(l, grammar_variant, "variants",
				   (struct text){ p->key, p->key_at });
		if (p->value->kind != NODE_MAP)
			good = reject(l, E_TYPE, p->value->at, NULL,
				      "`variants.%s` must be a map, not %s", p->key,
				      node_kind_name(p->value));
		else if (node_get(p->value, "variants") || node_get(p->value, "extends"))
			good = reject(l, E_KEY_UNKNOWN, p->key_at, "write its changes out in full",
				      "a variant can have neither `variants` nor `extends`");
	}
	return good;
}

/* Finds the variant or cell (`what`) of --variant or --cell. */
static bool
find_name(struct making *m, enum code code, const char *what, const char *name,
	  const struct names *names, size_t *found)
{
	enum { SHOWN = 8 };
	struct names first = { names->at, names->n < SHOWN ? names->n : SHOWN, 0 };
	const char *nearest;
	struct diag *d;

	for (*found = 0; *found < names->n; ++*found)
		if (!strcmp(names->at[*found], name))
			return true;
	nearest = str_nearest(name, names->at, names->n);
	d = fault(m->l, code, (struct span){ .src = m->src }, "the recipe has no %s %s", what,
		  shown(m->l->a, name));
	if (nearest)
		diag_help(d, "did you mean `%s`?", nearest);
	else if (names->n)
		diag_help(d, "available %ss: %s%s", what, names_words(m->l->a, &first, "and"),
			  names->n > first.n ? " ..." : "");
	else
		diag_help(d, "the recipe has no %ss; remove --%s", what, what);
	return false;
}

/* Keeps only the cell of --cell, if given. */
static bool
choose_cell(struct making *m, bool matrix, struct cells *cells)
{
	const char *name = m->l->o->cell;
	struct names names = { 0 };
	size_t i;

	for (i = 0; name && matrix && i < cells->n; i++)
		list_push(m->l->a, &names, cells->at[i].name);
	if (name && !find_name(m, E_CELL, "cell", name, &names, &i))
		return false;
	if (name)
		*cells = (struct cells){ cells->at + i, 1, 1 };
	return true;
}

/* Also checks the variants that are not selected, so that errors in them are found. */
static bool
others_hold(struct making *m, const struct node *plain)
{
	bool good = true;

	for (size_t i = 0; i < m->variants->n && !load_full(m->l); i++) {
		const struct pair *p = &m->variants->pairs[i];
		const struct node *whole = merge(m->l, &key_root, plain, p->value);

		if (!m->l->o->variant || strcmp(p->key, m->l->o->variant) != 0)
			good &= make(m, map_without(m->l, whole, "matrix"), NULL) != NULL;
	}
	return good;
}

static bool
is_touched(const struct cells *cells, const struct override *set)
{
	return list_any(c, cells, list_any(o, &c->overrides, o->top == set->top));
}

static const struct recipes *
make_all(struct making *m, const struct node *matrix)
{
	struct load *l = m->l;
	struct recipes *out = arena_new_of(l->a, struct recipes);
	const struct recipe **all;
	struct overrides left = { 0 }, same = { 0 };
	struct cells cells = { 0 };
	bool good = true;

	if (!cells_make(l, matrix, &m->sets, &cells) || !choose_cell(m, matrix != NULL, &cells))
		return NULL;
	/* A --set that affects no axis is applied once for all cells, the others to each cell. */
	for (size_t i = 0; i < m->sets.n; i++)
		if (is_touched(&cells, &m->sets.at[i]))
			list_push(l->a, &left, m->sets.at[i]);
		else if (!is_structural(&m->sets.at[i]))
			list_push(l->a, &same, m->sets.at[i]);
	m->root = overrides_apply(l, &same, m->root);
	all = arena_array_of(l->a, const struct recipe *, cells.n);
	for (size_t c = 0; c < cells.n && !load_full(l); c++) {
		const struct node *root = overrides_apply(l, &cells.at[c].overrides, m->root);

		root = overrides_apply(l, &left, root);
		all[c] = make(m, root, cells.at[c].name);
		good &= all[c] != NULL;
		if (m->canonical_bytes > CANONICAL_SOME &&
		    m->canonical_bytes / (c + 1) > CANONICAL_MAX / cells.n) {
			fault(l, E_MATRIX, m->root->at,
			      "the matrix's cells are more than %d MiB of recipes",
			      CANONICAL_MAX / 1024 / 1024);
			return NULL;
		}
	}
	*out = (struct recipes){ all, cells.n, matrix != NULL, m->names };
	return good ? out : NULL;
}

const struct recipes *
recipes_load_from(struct arena *a, struct diags *ds, const struct facts *f,
		  const struct recipe_options *o, recipe_open *open, void *ctx)
{
	struct load l = {
		.a = a,
		.ds = ds,
		.f = f,
		.o = o,
		.open = open,
		.ctx = ctx,
		.seen = MAP(a),
		.before = ds->errors,
		.done = MAP(a),
	};
	struct making m = { .l = &l, .canonical = BUF(a) };
	const struct node *root, *plain, *matrix;
	const struct recipes *all;
	struct overrides structural = { 0 };
	size_t i;

	l.echoes = DIAGS(l.echoes, a);
	root = extends_load(&l, &m.src);
	if (!sets_read(&l, &m.sets) || !root)
		return NULL;
	for (i = 0; i < m.sets.n; i++)
		if (is_structural(&m.sets.at[i]))
			list_push(a, &structural, m.sets.at[i]);
	root = overrides_apply(&l, &structural, root);
	/* Stops reading a large file after too many errors. */
	if (!keys_known(&l, root) && load_full(&l))
		return NULL;
	m.variants = node_get(root, "variants");
	if (!m.variants || node_is_null(m.variants))
		m.variants = map_of(&l, root->at, 0);
	if (!variants_hold(&l, m.variants))
		return NULL;
	for (i = 0; i < m.variants->n; i++)
		list_push(a, &m.names, m.variants->pairs[i].key);
	plain = root = map_without(&l, root, "variants");
	if (o->variant && !find_name(&m, E_VARIANT, "variant", o->variant, &m.names, &i))
		return NULL;
	if (o->variant)
		root = merge(&l, &key_root, root, m.variants->pairs[i].value);
	matrix = node_get(root, "matrix");
	m.root = map_without(&l, root, "matrix");
	all = make_all(&m, matrix && !node_is_null(matrix) ? matrix : NULL);
	return others_hold(&m, plain) ? all : NULL;
}

const struct recipes *
recipes_load(struct arena *a, struct diags *ds, const struct facts *f,
	     const struct recipe_options *o)
{
	return recipes_load_from(a, ds, f, o, extends_open_file, NULL);
}

const char *
recipe_machine(const struct recipe *r)
{
	return r->platform.s && starts_with(r->platform.s, "linux/arm64") ? "aarch64" : "x86_64";
}

/* Returns the host of an URL, for a netrc. */
static const char *
host_of(struct arena *a, const char *url)
{
	const char *at = strstr(url, "://");

	at = at ? at + 3 : url;
	return arena_copy(a, at, strcspn(at, "/:?#"));
}

bool
recipe_secret_fits(struct diags *ds, const struct recipe *r, const char *name, const char *value)
{
	const struct recipe_index *of = NULL;
	struct diag *d;

	if (r->index.secret.s && !strcmp(r->index.secret.s, name))
		of = &r->index;
	list_each (x, &r->extras)
		if (!of && x->secret.s && !strcmp(x->secret.s, name))
			of = x;
	if (!of ||
	    ((strstr(value, "machine") || strstr(value, "default")) && strstr(value, "password")))
		return true;
	d = diag_at(ds, E_SECRET_FORM, of->secret.at, "the secret `%s` of an index is not a netrc",
		    name);
	diag_why(d, "pip and uv read the user and the password of an index from a netrc, not a "
		    "bare token");
	/* Messages hide a word after `password`, but no name of a variable. */
	diag_help(d,
		  "with the token in TOKEN, set it to one line: \"machine %s login USER password "
		  "$TOKEN\"; USER is often __token__",
		  host_of(ds->arena, of->url.s ? of->url.s : "HOST"));
	return false;
}
