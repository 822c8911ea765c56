#include "internal.h"

#include <string.h>

#include "base/edit.h"
#include "base/fs.h"
#include "base/list.h"
#include "base/str.h"

struct checker {
	struct arena *a;
	struct arena *scratch; /* for values that are parsed only to check them */
	struct diags *ds;
	const struct node *sources; /* the file's table of sources */
	unsigned what;
	bool ok;
};

static bool
in_piece(const struct checker *c)
{
	return c->what & CHECK_PIECE;
}

static struct diag *
bad(struct checker *c, struct span at, const char *text)
{
	c->ok = false;
	return diag_at(c->ds, E_KNOWLEDGE, at, "%s", text);
}

/* Checks a value, a word or a key. */
static bool
check_text(struct checker *c, struct span at, const char *s, enum fact_type type)
{
	bool fits = !in_piece(c) || fact_fits(c->scratch, type, s);

	if (!fits)
		bad(c, at, arena_printf(c->a, "`%.200s` is not %s", s, fact_type_name(type)));
	return fits;
}

static void
misplaced(struct checker *c, const struct node *n, const char *kind, const char *what)
{
	if (in_piece(c))
		bad(c, n->at, arena_printf(c->a, "%s where %s belongs", kind, what));
}

static void
check_value(struct checker *c, const struct node *n, enum fact_type type)
{
	if (n->kind == NODE_SCALAR)
		check_text(c, n->at, n->s, type);
	else
		misplaced(c, n, node_kind_name(n), fact_type_name(type));
}

static void
check_words(struct checker *c, const struct node *n, enum fact_type type)
{
	struct names words = { 0 };

	if (n->kind == NODE_SCALAR)
		words = names_split(c->scratch, n->s, ' ');
	if (n->kind == NODE_MAP || !(n->kind == NODE_LIST ? n->n : words.n))
		misplaced(c, n, n->kind == NODE_MAP ? "a map" : "nothing", fact_type_name(type));
	for (size_t i = 0; n->kind == NODE_LIST && i < n->n; i++)
		check_value(c, n->items[i], type);
	for (size_t i = 0; n->kind == NODE_SCALAR && i < words.n; i++)
		check_text(c, n->at, words.at[i], type);
}

/* A source is a name in the file's table of sources, or the source itself. */
static void
check_source(struct checker *c, const struct node *n)
{
	if (n->kind != NODE_SCALAR || !fact_fits(c->scratch, F_TEXT, n->s)) {
		bad(c, n->at, "a source must be a text");
		return;
	}
	if (!(c->what & CHECK_WHOLE) || strpbrk(n->s, " /#") || node_get(c->sources, n->s))
		return;
	c->ok = false;
	diag_help(diag_at(c->ds, E_KNOWLEDGE_SOURCE, n->at, "`%.200s` is not among the sources",
			  n->s),
		  "add it to the table `sources` at the top of the file, or write the place of the "
		  "source");
}

static void
check_common(struct checker *c, const struct pair *p)
{
	const struct node *v = p->value;

	if (!strcmp(p->key, "source") && v->kind == NODE_LIST)
		for (size_t i = 0; i < v->n; i++)
			check_source(c, v->items[i]);
	else if (!strcmp(p->key, "source"))
		check_source(c, v);
	else
		check_value(c, v, F_TEXT);
}

static void check_map(struct checker *c, const struct node *map, const struct fact_field *fields,
		      bool sourced);

static bool
check_is_map(struct checker *c, const struct node *n)
{
	if (n->kind != NODE_MAP)
		misplaced(c, n, node_kind_name(n), "a map");
	return n->kind == NODE_MAP;
}

/* Releases must be in order, because the last one counts as the newest, and each must have one
 * spelling. */
static void
check_order(struct checker *c, const struct node *map)
{
	for (size_t i = 1; i < map->n; i++) {
		const struct pair *p = &map->pairs[i];
		struct diag *d;

		if (facts_key_order(c->scratch, p[-1].key, p->key) < 0)
			continue;
		d = bad(c, p->key_at,
			arena_printf(c->a, "`%.200s` does not come after %.200s", p->key,
				     p[-1].key));
		diag_note(d, p[-1].key_at, "it is listed before it");
		diag_help(d, "list the oldest first, each once");
	}
}

static void
check_keys(struct checker *c, const struct node *map, enum fact_type type)
{
	bool good = true;

	for (size_t i = 0; i < map->n; i++)
		good &= check_text(c, map->pairs[i].key_at, map->pairs[i].key, type);
	if (good && (type == F_VERSION || type == F_SERIES || type == F_PYTHON) &&
	    (c->what & CHECK_WHOLE))
		check_order(c, map);
}

/* A claim must be in a map with a source, or inside such a map. */
static void
check_sourced(struct checker *c, const struct pair *p, bool sourced)
{
	if (sourced || !in_piece(c))
		return;
	c->ok = false;
	diag_help(diag_at(c->ds, E_KNOWLEDGE_SOURCE, p->key_at, "no source for `%s`", p->key),
		  "add `source:` next to it, or to an enclosing map");
}

static void
check_entries(struct checker *c, const struct node *n, const struct fact_field *f, bool sourced)
{
	for (size_t i = 0; i < n->n; i++) {
		const struct node *x = n->kind == NODE_MAP ? n->pairs[i].value : n->items[i];
		bool removed = f->form == GROUPS && node_is_null(x) && !(c->what & CHECK_WHOLE);

		if (!f->fields)
			check_value(c, x, f->type);
		else if (!removed && check_is_map(c, x))
			check_map(c, x, f->fields, sourced);
	}
}

static void
check_field(struct checker *c, const struct pair *p, const struct fact_field *f, bool sourced)
{
	const struct node *n = p->value;
	bool list = f->form == MANY || f->form == SOME || f->form == ROWS;

	if (!f->fields)
		check_sourced(c, p, sourced);
	if (f->form == ONE || (f->form == SOME && n->kind != NODE_LIST)) {
		check_value(c, n, f->type);
	} else if (f->form == WORDS) {
		check_words(c, n, f->type);
	} else if (list && n->kind != NODE_LIST) {
		if (in_piece(c))
			bad(c, n->at,
			    f->fields ? "the value must be a list of maps" :
					"the value must be a list");
	} else if (list || check_is_map(c, n)) {
		if (f->form == TABLE || f->form == GROUPS)
			check_keys(c, n, f->keys);
		if (f->form == GROUP)
			check_map(c, n, f->fields, sourced);
		else
			check_entries(c, n, f, sourced);
	}
}

static void
unknown_key(struct checker *c, const struct pair *p, const struct fact_field *fields)
{
	struct names known = { 0 };
	const char *near;
	struct diag *d;

	list_push(c->scratch, &known, "source");
	list_push(c->scratch, &known, "unverified");
	list_push(c->scratch, &known, "note");
	for (; fields->key; fields++)
		list_push(c->scratch, &known, fields->key);
	d = bad(c, p->key_at, arena_printf(c->a, "unknown key `%.200s`", p->key));
	near = str_nearest(p->key, known.at, known.n);
	if (near)
		diag_fix(d, p->key_at, edit_scalar(c->a, p->key_at, near), "write `%s`", near);
}

static void
check_map(struct checker *c, const struct node *map, const struct fact_field *fields, bool sourced)
{
	sourced |= node_get(map, "source") != NULL;
	for (size_t i = 0; i < map->n; i++) {
		const struct pair *p = &map->pairs[i];
		const struct fact_field *f = fields;

		while (f->key && strcmp(f->key, p->key))
			f++;
		if (p->value == c->sources)
			continue; /* it is not a claim itself */
		if (among(p->key, "source unverified note"))
			check_common(c, p);
		else if (!f->key && in_piece(c))
			unknown_key(c, p, fields);
		else if (f->key && (!node_is_null(p->value) || (c->what & CHECK_WHOLE)))
			check_field(c, p, f, sourced);
		if (!strcmp(p->key, "requires_source"))
			check_source(c, p->value);
	}
	for (const struct fact_field *f = fields; f->key && (c->what & CHECK_WHOLE); f++) {
		const struct node *n = node_get(map, f->key);

		if (f->needed && (!n || !n->n || node_is_null(n)))
			bad(c, map->at, arena_printf(c->a, "the key `%s` is missing", f->key));
	}
}

static void
unknown_file(struct checker *c, const struct fact_file *file)
{
	struct names known = facts_file_names(c->a);
	const char *near = str_nearest(file->name, known.at, known.n);
	struct diag *d =
		bad(c, file->root->at,
		    arena_printf(c->a, "`%.200s` is not the name of a knowledge file", file->name));

	if (near)
		diag_help(d, "rename it to %s", near);
	else
		diag_help(d, "move the file of an extension to extensions/");
}

/* A lookup would never find the file of one package under the name of another. */
static void
check_package(struct checker *c, const struct fact_file *file)
{
	const struct node *package = node_get(file->root, "package");
	const char *name = fs_stem(c->a, file->name);

	if (package && package->kind == NODE_SCALAR && strcmp(package->s, name) != 0)
		bad(c, package->at,
		    arena_printf(c->a, "`%.200s` in the file of %s", package->s, name));
}

/* `read` says that the requirements are those of METADATA: they are there, and from no other source. */
static void
check_read(struct checker *c, const struct node *releases)
{
	for (size_t i = 0; releases && releases->kind == NODE_MAP && i < releases->n; i++) {
		const struct node *r = releases->pairs[i].value, *read = node_get(r, "read");

		if (read && !node_is_null(read) && !node_get(r, "requires"))
			bad(c, read->at, "`read` needs `requires`, which METADATA has");
		if (read && !node_is_null(read) && node_get(r, "requires_source"))
			bad(c, read->at,
			    "`read` excludes `requires_source`: METADATA is the source");
	}
}

/* A file in packages/ without pairings and rules says only that the package exists. */
static bool
has_no_source(const struct fact_file *file)
{
	return starts_with(file->name, "packages/") && !node_get(file->root, "source") &&
	       !node_get(file->root, "pairings") && !node_get(file->root, "rules");
}

bool
facts_check(struct arena *a, struct diags *ds, const struct fact_file *file, unsigned what)
{
	const struct fact_field *fields = facts_fields(file->name);
	struct checker c = { .a = a, .ds = ds, .what = what, .ok = true };
	const struct node *rules = node_get(file->root, "rules");
	struct rule rule;
	bool good = true;

	if (!fields) {
		unknown_file(&c, file);
		return false;
	}
	if ((what & CHECK_WHOLE) && has_no_source(file)) {
		diag_help(diag_at(ds, E_KNOWLEDGE_SOURCE, file->root->at, "no source for %s",
				  fs_stem(a, file->name)),
			  "add `source:`, which says where the package was seen");
		return false;
	}
	if (node_is_null(file->root))
		return true;
	if (file->root->kind != NODE_MAP) {
		bad(&c, file->root->at, "a knowledge file is a map");
		return false;
	}
	c.scratch = arena_new();
	c.sources = node_get(file->root, "sources");
	if (c.sources && check_is_map(&c, c.sources))
		for (size_t i = 0; i < c.sources->n; i++)
			check_value(&c, c.sources->pairs[i].value, F_TEXT);
	check_map(&c, file->root, fields, false);
	arena_free(c.scratch);
	if (starts_with(file->name, "releases/"))
		check_package(&c, file);
	if (starts_with(file->name, "releases/") && (what & CHECK_WHOLE))
		check_read(&c, node_get(file->root, "releases"));
	for (size_t i = 0; c.ok && (what & CHECK_WHOLE) && rules && i < rules->n; i++)
		good &= rule_read(a, ds, &rules->pairs[i], &rule);
	return c.ok && good;
}
