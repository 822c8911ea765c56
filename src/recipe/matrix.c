#include <string.h>

#include "load.h"

/* A key of the matrix and its values. */
struct axis {
	struct override key;       /* the key, without a value */
	const struct node *values; /* a list */
};
struct axes LIST(struct axis);

/* Maximum number of comparisons: entries times cells. */
enum { COMPARED_MAX = 20 * 1000 * 1000 };

static bool
equal(const struct node *x, const struct node *y)
{
	bool same = x->kind == y->kind && x->n == y->n;

	if (x == y)
		return true;
	if (x->kind == NODE_SCALAR)
		return same && !strcmp(x->s, y->s) && node_is_null(x) == node_is_null(y);
	for (size_t i = 0; i < x->n && same; i++) {
		bool list = x->kind == NODE_LIST;
		const struct node *own = list ? x->items[i] : x->pairs[i].value;
		const struct node *other = list ? y->items[i] : node_get(y, x->pairs[i].key);

		same = other && equal(own, other);
	}
	return same;
}

/* Parses a dotted key that a cell may set. */
static bool
cell_key(struct load *l, const struct pair *p, struct override *o)
{
	if (!override_key(l, p->key, p->key_at, o))
		return false;
	if (o->top->type == KEY_MATRIX || o->top->type == KEY_VARIANTS ||
	    o->top->type == KEY_EXTENDS)
		return reject(l, E_MATRIX, p->key_at,
			      "use keys of the stack, such as torch.version",
			      "`%s` cannot be a key of the matrix", p->key);
	return true;
}

/* Returns whether `x` overrides `y`: it is the same key or a parent of it. */
static bool
covers(const struct override *x, const struct override *y)
{
	if (x->parts.n > y->parts.n)
		return false;
	for (size_t i = 0; i < x->parts.n; i++)
		if (strcmp(x->parts.at[i], y->parts.at[i]) != 0)
			return false;
	return true;
}

/*
 * Applies --set to the axes: --set of an axis's own key gives the axis a single value. --set of a
 * parent key would disable the axis, and is an error.
 */
static bool
fix_axis(struct load *l, struct axis *axis, const struct overrides *fixed)
{
	list_each (set, fixed)
		if (set->dotted == axis->key.dotted) {
			axis->values = list_of_one(l, set->value);
		} else if (covers(set, &axis->key)) {
			diag_help(diag_note(fault(l, E_SET, set->at,
						  "this would undo the matrix's `%s`",
						  axis->key.dotted),
					    axis->key.at, "an axis of the matrix"),
				  "set `%s` itself: the axis then has that one value",
				  axis->key.dotted);
			return false;
		}
	return true;
}

static bool
read_axis(struct load *l, const struct pair *p, const struct overrides *fixed, struct axes *axes)
{
	struct axis axis = { .values = p->value };

	if (!cell_key(l, p, &axis.key))
		return false;
	if (p->value->kind == NODE_MAP)
		return reject(l, E_TYPE, p->value->at, NULL,
			      "`matrix.%s` must be a list, not a map", p->key);
	if (p->value->kind == NODE_SCALAR)
		axis.values = list_of_one(l, p->value);
	if (!axis.values->n || node_is_null(p->value))
		return reject(l, E_MATRIX, p->value->at, "add at least one, or remove the key",
			      "`%s` has no values", p->key);
	for (size_t i = 0; i < axes->n; i++)
		if (covers(&axes->at[i].key, &axis.key) || covers(&axis.key, &axes->at[i].key)) {
			diag_note(fault(l, E_MATRIX, p->key_at, "`%s` and `%s` set the same key",
					axes->at[i].key.dotted, p->key),
				  axes->at[i].key.at, "the other axis");
			return false;
		}
	if (!fix_axis(l, &axis, fixed))
		return false;
	list_push(l->a, axes, axis);
	return true;
}

/* --- include and exclude --- */

struct entries LIST(struct overrides);

/* Reads entries: maps of dotted keys to values. */
static bool
read_entries(struct load *l, const struct node *matrix, const char *what, struct entries *out)
{
	const struct node *list = node_get(matrix, what);
	bool good = true;

	if (!list || node_is_null(list))
		return true;
	if (list->kind != NODE_LIST)
		return value_kind(l, key_child(key_child(&key_root, "matrix"), what),
				  arena_printf(l->a, "matrix.%s", what), list, "a list");
	for (size_t i = 0; i < list->n && !load_full(l); i++) {
		const struct node *n = list->items[i];
		struct overrides entry = { 0 };

		if (n->kind != NODE_MAP || !n->n)
			good = reject(l, E_TYPE, n->at, NULL,
				      "`matrix.%s` must be a list of maps of dotted keys", what);
		for (size_t k = 0; n->kind == NODE_MAP && k < n->n; k++) {
			struct override o = { .value = n->pairs[k].value };

			good &= cell_key(l, &n->pairs[k], &o);
			list_push(l->a, &entry, o);
		}
		list_push(l->a, out, entry);
	}
	return good;
}

static struct override *
find(const struct overrides *cell, size_t n, const struct override *key)
{
	for (size_t i = 0; i < n; i++)
		if (cell->at[i].dotted == key->dotted)
			return &cell->at[i];
	return NULL;
}

/* Returns whether no key of the entry has another value among the first n of the cell; all: and
 * none is missing. */
static bool
agrees(const struct overrides *entry, const struct overrides *cell, size_t n, bool all)
{
	for (size_t i = 0; i < entry->n; i++) {
		const struct override *own = find(cell, n, &entry->at[i]);

		if (own ? !equal(own->value, entry->at[i].value) : all)
			return false;
	}
	return true;
}

/* Adds the missing keys of the entry, and replaces added ones. */
static void
add_to(struct load *l, const struct overrides *entry, size_t naxes, struct overrides *cell)
{
	for (size_t i = 0; i < entry->n; i++) {
		struct override *own = find(cell, cell->n, &entry->at[i]);

		if (!own)
			list_push(l->a, cell, entry->at[i]);
		else if (own >= cell->at + naxes)
			*own = entry->at[i];
	}
}

/*
 * Adds entries as in GitHub Actions: to every cell whose axis values they do not change; an entry
 * without such a cell becomes a new cell.
 */
static void
apply_includes(struct load *l, const struct entries *includes, size_t naxes, struct cells *cells)
{
	size_t made = naxes ? cells->n : 0;

	list_each (entry, includes) {
		bool added = false;

		for (size_t c = 0; c < made; c++)
			if (agrees(entry, &cells->at[c].overrides, naxes, false)) {
				add_to(l, entry, naxes, &cells->at[c].overrides);
				added = true;
			}
		if (!added)
			list_push(l->a, cells, (struct cell){ .overrides = *entry });
	}
}

static void
apply_excludes(const struct entries *excludes, struct cells *cells)
{
	size_t n = 0;

	for (size_t c = 0; c < cells->n; c++) {
		const struct overrides *cell = &cells->at[c].overrides;
		size_t i = 0;

		while (i < excludes->n && !agrees(&excludes->at[i], cell, cell->n, true))
			i++;
		if (i == excludes->n)
			cells->at[n++] = cells->at[c];
	}
	cells->n = n;
}

/* --- names --- */

static void
put_safe(struct buf *b, const char *s)
{
	for (; *s; s++)
		buf_putc(b, is_alnum(*s) || strchr("._+-", *s) ? *s : '_');
}

/* Returns "python-3.10,torch.version-2.2.2"; a list or map has its number in the axis as name. */
static const char *
name_of(struct load *l, const struct overrides *cell)
{
	enum { LONGEST = 200 };
	struct buf b = BUF(l->a);

	for (size_t i = 0; i < cell->n; i++) {
		const struct override *o = &cell->at[i];

		if (i)
			buf_putc(&b, ',');
		put_safe(&b, o->dotted);
		buf_putc(&b, '-');
		if (o->value->kind != NODE_SCALAR)
			buf_printf(&b, "%zu", o->number ? o->number : 1);
		else
			put_safe(&b, node_is_null(o->value) ? "none" : o->value->s);
	}
	return b.n <= LONGEST ? buf_text(&b) : arena_copy(l->a, b.p, LONGEST);
}

/* Names the cells; if two cells get the same name ("a/b", "a_b"), the later one gets a number. */
static void
name_cells(struct load *l, struct cells *cells)
{
	struct map taken = MAP(l->a); /* name -> the last number tried for it */

	for (size_t i = 0; i < cells->n; i++) {
		const char *name = name_of(l, &cells->at[i].overrides), *unique = name;
		const char *base = arena_lower(l->a, name), *lower = base;
		size_t number = (size_t)map_get(&taken, base);

		while (map_get(&taken, lower)) {
			unique = arena_printf(l->a, "%s-%zu", name, ++number);
			lower = arena_lower(l->a, unique);
		}
		map_put(&taken, base, (void *)(number ? number : 1));
		if (unique != name)
			map_put(&taken, lower, (void *)1);
		cells->at[i].name = unique;
	}
}

/* --- the product --- */

static bool
multiply(struct load *l, const struct axes *axes, struct span at, struct cells *cells)
{
	size_t total = 1;

	for (size_t i = 0; i < axes->n; i++) {
		if (axes->at[i].values->n > CELLS_MAX / total)
			return reject(l, E_MATRIX, at, "split the recipe",
				      "a matrix of more than %d cells", CELLS_MAX);
		total *= axes->at[i].values->n;
	}
	for (size_t c = 0; axes->n && c < total; c++) {
		struct cell cell = { 0 };
		size_t rest = total;

		for (size_t i = 0; i < axes->n; i++) {
			struct override o = axes->at[i].key;

			rest /= axes->at[i].values->n;
			o.number = c / rest % axes->at[i].values->n + 1;
			o.value = axes->at[i].values->items[o.number - 1];
			list_push(l->a, &cell.overrides, o);
		}
		list_push(l->a, cells, cell);
	}
	return true;
}

bool
cells_make(struct load *l, const struct node *matrix, const struct overrides *fixed,
	   struct cells *out)
{
	struct entries includes = { 0 }, excludes = { 0 };
	struct axes axes = { 0 };
	bool good = true;

	if (!matrix) {
		list_push(l->a, out, (struct cell){ 0 });
		return true;
	}
	if (matrix->kind != NODE_MAP)
		return value_kind(l, key_child(&key_root, "matrix"), "matrix", matrix, "a map");
	for (size_t i = 0; i < matrix->n && !load_full(l); i++)
		if (strcmp(matrix->pairs[i].key, "include") != 0 &&
		    strcmp(matrix->pairs[i].key, "exclude") != 0)
			good &= read_axis(l, &matrix->pairs[i], fixed, &axes);
	good &= read_entries(l, matrix, "include", &includes);
	good &= read_entries(l, matrix, "exclude", &excludes);
	if (!good || !multiply(l, &axes, matrix->at, out))
		return false;
	if ((includes.n + excludes.n) > COMPARED_MAX / (out->n + 1))
		return reject(l, E_MATRIX, matrix->at, "split the recipe",
			      "a matrix with too many entries to include and exclude");
	apply_excludes(&excludes, out);
	apply_includes(l, &includes, axes.n, out);
	if (!out->n)
		return reject(l, E_MATRIX, matrix->at, "leave at least one combination",
			      "the matrix has no cells");
	if (out->n > CELLS_MAX)
		return reject(l, E_MATRIX, matrix->at, "split the recipe",
			      "a matrix of %zu cells; at most %d", out->n, CELLS_MAX);
	name_cells(l, out);
	return true;
}
