#include "toml_text.h"

#include "list.h"
#include "map.h"

/* The origin of a table decides which syntax may add to it. */
enum maker {
	BY_PATH, /* a part of a header before the last: one header may still name the table itself */
	BY_HEADER, /* [table], or one of [[tables]]: other headers may add tables to it */
	BY_DOTTED, /* a part of a dotted key: dotted keys of its section, and headers, may add to it */
	BY_VALUE, /* {inline}: complete */
};

struct table {
	struct node node;
	size_t cap; /* of node.pairs */
	struct map members;
	enum maker maker;
	unsigned section; /* BY_DOTTED: the header of the section that made it */
};

struct array {
	struct node node;
	size_t cap;  /* of node.items */
	bool tables; /* of [[headers]] */
};

/* A key, "a.b": its parts with their places. */
struct key_part {
	const char *name;
	struct span at;
};
struct key LIST(struct key_part);

/* Skips blanks, comments and line ends, which may separate the values of an array. */
static void
skip_lines(struct toml_reader *r)
{
	const char *before;

	do
		before = r->p;
	while (toml_take_line_end(r) && r->p > before);
	toml_skip_blanks(r);
}

/* --- keys --- */

/* Reads one part of a key: bare, or a string. */
static bool
read_part(struct toml_reader *r, struct key *key)
{
	const char *start, *name = NULL;

	toml_skip_blanks(r);
	start = r->p;
	if (r->p < r->end && (*r->p == '"' || *r->p == '\'')) {
		name = toml_string(r, false);
	} else {
		name = toml_bare_key(r);
		if (!name)
			toml_wrong(r, "a key is missing");
	}
	if (name)
		list_push(r->a, key, (struct key_part){ name, toml_place(r, start, r->p) });
	toml_skip_blanks(r);
	return name && toml_count(r, r->depth + (unsigned)key->n);
}

static bool
read_key(struct toml_reader *r, struct key *key)
{
	bool good;

	*key = (struct key){ 0 };
	do
		good = read_part(r, key);
	while (good && toml_take(r, "."));
	return good;
}

/* --- tables --- */

static struct table *
new_table(struct toml_reader *r, struct span at, enum maker maker)
{
	struct table *t = arena_new_of(r->a, struct table);

	*t = (struct table){ .node = { .kind = NODE_MAP, .at = at },
			     .members = MAP(r->a),
			     .maker = maker,
			     .section = r->section };
	return t;
}

static struct array *
new_array(struct toml_reader *r, struct span at, bool tables)
{
	struct array *array = arena_new_of(r->a, struct array);

	*array = (struct array){ .node = { .kind = NODE_LIST, .at = at }, .tables = tables };
	return array;
}

static void
add_pair(struct toml_reader *r, struct table *t, const struct key_part *k, struct node *value)
{
	t->node.pairs = list_room(r->a, t->node.pairs, t->node.n, &t->cap, sizeof(*t->node.pairs));
	t->node.pairs[t->node.n++] = (struct pair){ k->name, k->at, value };
	map_put(&t->members, k->name, value);
}

static void
add_item(struct toml_reader *r, struct array *array, const struct node *value)
{
	array->node.items = list_room(r->a, array->node.items, array->node.n, &array->cap,
				      sizeof(*array->node.items));
	array->node.items[array->node.n++] = value;
}

static bool
defined_twice(struct toml_reader *r, const struct key_part *k, const struct node *before)
{
	diag_note(diag_at(r->ds, E_KEY_TWICE, k->at, "`%s` is defined twice", k->name), before->at,
		  "the first time here");
	return false;
}

/*
 * Returns the table that a part of a path names, and creates it if it is missing. NULL: the value
 * is not a table.
 */
static struct table *
table_in(struct toml_reader *r, struct table *t, const struct key_part *k, enum maker maker)
{
	struct node *found = map_get(&t->members, k->name);
	const struct array *array = (const struct array *)found;
	struct table *in;

	if (!found) {
		in = new_table(r, k->at, maker);
		add_pair(r, t, k, &in->node);
		return in;
	}
	if (found->kind == NODE_LIST && array->tables && maker == BY_PATH)
		return (struct table *)(uintptr_t)found->items[found->n - 1];
	in = found->kind == NODE_MAP ? (struct table *)found : NULL;
	if (in && maker == BY_DOTTED) {
		if (in->maker == BY_PATH)
			*in = (struct table){ in->node, in->cap, in->members, BY_DOTTED,
					      r->section };
		else if (in->maker != BY_DOTTED || in->section != r->section)
			in = NULL;
	} else if (in && in->maker == BY_VALUE) {
		in = NULL;
	}
	if (!in)
		defined_twice(r, k, found);
	return in;
}

/* Reads [a.b] or [[a.b]] up to the end of the line; returns the table for the lines after it. */
static struct table *
read_header(struct toml_reader *r, struct table *root)
{
	bool tables = toml_take(r, "[[");
	struct table *t = root, *in;
	const struct key_part *last;
	struct node *found;
	struct key key;

	if (!tables)
		r->p++;
	r->section = ++r->sections;
	if (!read_key(r, &key) ||
	    (!toml_take(r, tables ? "]]" : "]") && !toml_wrong(r, "the header is not closed")))
		return NULL;
	last = &key.at[key.n - 1];
	for (const struct key_part *k = key.at; t && k < last; k++)
		t = table_in(r, t, k, BY_PATH);
	if (!t)
		return NULL;
	found = map_get(&t->members, last->name);
	in = (struct table *)found;
	if (found && !tables && found->kind == NODE_MAP && in->maker == BY_PATH) {
		in->maker = BY_HEADER;
		return in;
	}
	if (found && (!tables || found->kind != NODE_LIST || !((struct array *)found)->tables)) {
		defined_twice(r, last, found);
		return NULL;
	}
	in = new_table(r, last->at, BY_HEADER);
	if (tables && !found) {
		found = &new_array(r, last->at, true)->node;
		add_pair(r, t, last, found);
	}
	if (tables)
		add_item(r, (struct array *)found, &in->node);
	else
		add_pair(r, t, last, &in->node);
	return in;
}

/* --- values --- */

static struct node *read_value(struct toml_reader *r);

/* Reads "a.b = value" into a table. */
static bool
read_pair(struct toml_reader *r, struct table *t)
{
	const struct key_part *last;
	struct node *found, *value;
	struct key key;

	if (!read_key(r, &key) ||
	    (!toml_take(r, "=") && !toml_wrong(r, "`=` is missing after the key")))
		return false;
	last = &key.at[key.n - 1];
	for (const struct key_part *k = key.at; t && k < last; k++)
		t = table_in(r, t, k, BY_DOTTED);
	if (!t)
		return false;
	found = map_get(&t->members, last->name);
	if (found)
		return defined_twice(r, last, found);
	toml_skip_blanks(r);
	value = read_value(r);
	if (value)
		add_pair(r, t, last, value);
	return value != NULL;
}

static struct node *
read_inline_table(struct toml_reader *r)
{
	struct table *t = new_table(r, toml_place(r, r->p, NULL), BY_VALUE);
	unsigned outer = r->section;

	r->p++;
	r->section = ++r->sections;
	toml_skip_blanks(r);
	if (!toml_next_is(r, "}"))
		do {
			if (!read_pair(r, t))
				return NULL;
			toml_skip_blanks(r);
		} while (toml_take(r, ","));
	r->section = outer;
	return toml_take(r, "}") || toml_wrong(r, "expected `,` or `}`") ? &t->node : NULL;
}

static struct node *
read_array(struct toml_reader *r)
{
	struct array *array = new_array(r, toml_place(r, r->p, NULL), false);
	const struct node *value;

	r->p++;
	for (skip_lines(r); !toml_take(r, "]"); skip_lines(r)) {
		value = read_value(r);
		if (!value)
			return NULL;
		add_item(r, array, value);
		skip_lines(r);
		if (!toml_take(r, ",") && !toml_next_is(r, "]")) {
			toml_wrong(r, "expected `,` or `]`");
			return NULL;
		}
	}
	return &array->node;
}

static struct node *
read_value(struct toml_reader *r)
{
	const char *start = r->p, *text = NULL;
	bool string = r->p < r->end && (*r->p == '"' || *r->p == '\'');
	struct node *n = NULL;

	if (!toml_count(r, ++r->depth))
		return NULL;
	if (toml_next_is(r, "[")) {
		n = read_array(r);
	} else if (toml_next_is(r, "{")) {
		n = read_inline_table(r);
	} else if ((text = string ? toml_string(r, true) : toml_plain(r))) {
		n = arena_new_of(r->a, struct node);
		*n = (struct node){ .kind = NODE_SCALAR,
				    .plain = !string,
				    .lines = memchr(start, '\n', (size_t)(r->p - start)),
				    .s = text,
				    .n = strlen(text) };
		n->at = toml_place(r, start, n->lines ? NULL : r->p);
	}
	r->depth--;
	return n;
}

const struct node *
toml_read(struct arena *a, struct diags *ds, const struct source *src, struct yaml_limits limits)
{
	struct toml_reader r = { .a = a,
				 .ds = ds,
				 .src = src,
				 .limits = limits,
				 .p = src->text,
				 .end = src->text + src->size,
				 .marked = src->text,
				 .line = 1,
				 .col = 1 };
	struct table *root, *t;
	bool good = toml_text_holds(&r);

	r.marked = src->text;
	r.line = r.col = 1;
	root = t = new_table(&r, (struct span){ src, 1, 1, 1 }, BY_HEADER);
	while (good && r.p < r.end) {
		if (toml_take_line_end(&r))
			continue;
		if (toml_next_is(&r, "["))
			good = (t = read_header(&r, root)) != NULL;
		else
			good = read_pair(&r, t);
		if (good && !toml_take_line_end(&r))
			good = toml_wrong(&r, "expected the end of the line");
	}
	return good ? &root->node : NULL;
}
