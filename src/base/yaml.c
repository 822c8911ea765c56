#include "yaml.h"

#include <string.h>
#include <yaml.h>

#include "buf.h"
#include "list.h"
#include "map.h"
#include "str.h"

struct items LIST(const struct node *);
struct pairs LIST(struct pair);

/* An anchored node, and the number of its nodes after expansion. */
struct anchor {
	const struct node *node;
	size_t nodes;
	bool open; /* still being read; an alias to it would make a loop */
};

struct reader {
	struct arena *a;
	struct diags *ds;
	const struct source *src;
	struct yaml_limits limits;
	size_t nodes;
	struct map anchors;
	yaml_parser_t parser;
	struct source rest; /* the text from a line on; events arrive in the order of lines */
	uint32_t rest_line;
};

static struct span
span_of(const struct reader *r, yaml_mark_t from, yaml_mark_t to)
{
	size_t width =
		from.line == to.line && to.column > from.column ? to.column - from.column : 1;

	return (struct span){ r->src, (uint32_t)from.line + 1, (uint32_t)from.column + 1,
			      (uint32_t)width };
}

static struct span
event_span(const struct reader *r, const yaml_event_t *e)
{
	if (e->type == YAML_SCALAR_EVENT || e->type == YAML_ALIAS_EVENT)
		return span_of(r, e->start_mark, e->end_mark);
	return span_of(r, e->start_mark, e->start_mark);
}

/* Shows an error at the end of the text at the end of the last line. */
static struct span
error_span(const struct reader *r, yaml_mark_t mark)
{
	struct span at = span_of(r, mark, mark);
	const char *line;
	size_t size;

	if (mark.column)
		return at;
	while (at.line > 1 && (!source_line(r->src, at.line, &line, &size) ||
			       line == r->src->text + r->src->size)) {
		at.line--;
		at.col = 0;
	}
	if (at.col)
		return at;
	at.col = 1;
	if (source_line(r->src, at.line, &line, &size))
		at.col += (uint32_t)text_columns(line, size);
	return at;
}

/* Reports an error of libyaml, with its most frequent cause. */
static bool
syntax_error(struct reader *r)
{
	const yaml_parser_t *p = &r->parser;
	struct span at = error_span(r, p->problem_mark);
	const char *problem = p->problem ? p->problem : "cannot be read";
	struct diag *d;

	d = diag_at(r->ds, E_YAML_SYNTAX, at, "not valid YAML: %s", problem);
	if (p->context && p->context_mark.line != p->problem_mark.line)
		diag_note(d, error_span(r, p->context_mark), "%s here", p->context);
	if (strstr(problem, "cannot start any token"))
		diag_help(d,
			  "indent with spaces, not tabs; quote text that starts with @, ` or %%");
	else if (strstr(problem, "unexpected end of stream"))
		diag_help(d, "close the quotation mark");
	else if (strstr(problem, "expected ',' or"))
		diag_help(d, "close the bracket, or put a comma between the items");
	return false;
}

static bool
next(struct reader *r, yaml_event_t *e)
{
	return yaml_parser_parse(&r->parser, e) ? true : syntax_error(r);
}

static bool
too_large(struct reader *r, struct span at, const char *what)
{
	diag_help(diag_at(r->ds, E_YAML_LIMIT, at, "%s", what),
		  "reduce the nesting, or split the file");
	return false;
}

static bool
count_nodes(struct reader *r, size_t n, struct span at)
{
	if (n > r->limits.nodes - r->nodes)
		return too_large(r, at,
				 "more keys and values than the limit, with aliases expanded");
	r->nodes += n;
	return true;
}

/* Accepts the tags of the core schema; NULL: the node has no tag. */
static bool
check_tag(struct reader *r, const yaml_char_t *given, struct span at)
{
	static const char *const core[] = { "str", "int", "float", "bool", "null", "map", "seq" };
	static const char prefix[] = "tag:yaml.org,2002:";
	const char *tag = (const char *)given;

	if (!tag || !strcmp(tag, "!"))
		return true;
	for (size_t i = 0; starts_with(tag, prefix) && i < COUNT(core); i++)
		if (!strcmp(tag + sizeof(prefix) - 1, core[i]))
			return true;
	diag_help(diag_at(r->ds, E_YAML_REFUSED, at, "the tag `%.60s` is not allowed", tag),
		  "write the value without a tag");
	return false;
}

/* Finds line `n` like source_line; for increasing numbers, it scans the text once. */
static bool
line_at(struct reader *r, uint32_t n, const char **line, size_t *size)
{
	if (!r->rest.text || n < r->rest_line) {
		r->rest = *r->src;
		r->rest_line = 1;
	}
	if (!source_line(&r->rest, n - r->rest_line + 1, line, size))
		return false;
	r->rest.text = *line;
	r->rest.size = (size_t)(r->src->text + r->src->size - *line);
	r->rest_line = n;
	return true;
}

/* Moves the start of a span past an anchor and a tag on its line, to their node. */
static void
skip_properties(struct span *at, const char *line, size_t size)
{
	uint32_t end = at->col + at->width;
	const char *p = line + utf8_bytes(line, size, at->col - 1), *stop = line + size;

	while (p < stop && at->col < end && (*p == '&' || *p == '!')) {
		for (; p < stop && *p != ' ' && *p != '\t'; p++)
			at->col += starts_character(*p);
		for (; p < stop && (*p == ' ' || *p == '\t') && at->col < end; p++)
			at->col++;
	}
	at->width = end > at->col ? end - at->col : 0;
}

/* Returns true for a C0, DEL or C1 control (U+0080..U+009F, which UTF-8 writes as C2 80..9F). */
static bool
has_control(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];

		if ((c < ' ' && c != '\n' && c != '\t') || c == 0x7f)
			return true;
		if (c == 0xc2 && i + 1 < n && (unsigned char)s[i + 1] < 0xa0)
			return true;
	}
	return false;
}

/* Returns the place of the scalar without its anchor and tag, which libyaml includes. */
static struct span
scalar_span(struct reader *r, const yaml_event_t *e)
{
	struct span at = event_span(r, e);
	const char *line;
	size_t size;

	if (e->start_mark.line != e->end_mark.line)
		return at;
	if (e->data.scalar.anchor || e->data.scalar.tag) {
		if (line_at(r, at.line, &line, &size))
			skip_properties(&at, line, size);
	} else if (e->start_mark.index == e->end_mark.index) {
		at.width = 0;
	}
	return at;
}

static const struct node *
read_scalar(struct reader *r, const yaml_event_t *e)
{
	struct node *n = arena_new_of(r->a, struct node);
	struct span at = scalar_span(r, e);
	const char *s = (const char *)e->data.scalar.value;

	if (!check_tag(r, e->data.scalar.tag, event_span(r, e)))
		return NULL;
	if (has_control(s, e->data.scalar.length)) {
		diag_help(diag_at(r->ds, E_YAML_REFUSED, at, "a control character in a value"),
			  "remove the escape (such as \\0, \\e or \\x07) from the text");
		return NULL;
	}
	*n = (struct node){
		.kind = NODE_SCALAR,
		.plain = e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && !e->data.scalar.tag,
		.lines = e->start_mark.line != e->end_mark.line,
		.at = at,
		.s = arena_copy(r->a, s, e->data.scalar.length),
		.n = e->data.scalar.length,
	};
	return n;
}

static const struct node *read_node(struct reader *r, yaml_event_t *e, unsigned depth);

static const struct node *
read_list(struct reader *r, struct node *list, unsigned depth)
{
	struct items items = { 0 };
	yaml_event_t e;

	for (;;) {
		const struct node *item;

		if (!next(r, &e))
			return NULL;
		if (e.type == YAML_SEQUENCE_END_EVENT)
			break;
		if (!(item = read_node(r, &e, depth)))
			return NULL;
		list_push(r->a, &items, item);
	}
	yaml_event_delete(&e);
	list->items = items.at;
	list->n = items.n;
	return list;
}

/* Returns a key as text; NULL, with a diagnostic, for a key that is not a text. */
static const char *
read_key(struct reader *r, yaml_event_t *e, struct span *at)
{
	const struct node *key = NULL;

	*at = event_span(r, e);
	if (e->type != YAML_SCALAR_EVENT)
		diag_at(r->ds, E_YAML_REFUSED, *at, "a key must be text");
	else if (count_nodes(r, 1, *at))
		key = read_scalar(r, e);
	yaml_event_delete(e);
	if (!key)
		return NULL;
	*at = key->at;
	if (node_is_null(key) || strpbrk(key->s, "\n\t")) {
		diag_help(diag_at(r->ds, E_YAML_REFUSED, *at, "a key must be text on one line"),
			  "write the key before the colon");
		return NULL;
	}
	if (key->plain && !strcmp(key->s, "<<")) {
		diag_help(diag_at(r->ds, E_YAML_REFUSED, *at, "the merge key `<<` is not allowed"),
			  "write the keys out, or put the shared part into a file and name it in "
			  "extends:");
		return NULL;
	}
	return key->s;
}

enum { TWICE_MAX = 100, SMALL = 8 };

/* Adds a pair; false: the map already has the key. seen: the number of the pair for each key. */
static bool
add_pair(struct reader *r, struct pairs *pairs, struct map *seen, struct pair p)
{
	size_t first = 0;

	/* Most maps are small, and comparing their keys is faster than a hash table. */
	for (size_t i = 0; pairs->n <= SMALL && i < pairs->n; i++)
		if (pairs->n == SMALL)
			map_put(seen, pairs->at[i].key, (void *)(uintptr_t)(i + 1));
		else if (!strcmp(pairs->at[i].key, p.key))
			first = i + 1;
	if (pairs->n >= SMALL)
		first = (uintptr_t)map_get(seen, p.key);
	if (first) {
		diag_note(diag_at(r->ds, E_KEY_TWICE, p.key_at, "`%.60s` is given twice", p.key),
			  pairs->at[first - 1].key_at, "first given here");
		return false;
	}
	list_push(r->a, pairs, p);
	if (pairs->n > SMALL)
		map_put(seen, p.key, (void *)(uintptr_t)pairs->n);
	return true;
}

static const struct node *
read_map(struct reader *r, struct node *map, unsigned depth)
{
	struct pairs pairs = { 0 };
	struct map seen = MAP(r->a);
	unsigned twice = 0;
	yaml_event_t e;

	for (;;) {
		struct pair p = { 0 };

		if (!next(r, &e))
			return NULL;
		if (e.type == YAML_MAPPING_END_EVENT)
			break;
		if (!(p.key = read_key(r, &e, &p.key_at)) || !next(r, &e) ||
		    !(p.value = read_node(r, &e, depth)))
			return NULL;
		if (!add_pair(r, &pairs, &seen, p) && ++twice == TWICE_MAX)
			return NULL;
	}
	yaml_event_delete(&e);
	map->pairs = pairs.at;
	map->n = pairs.n;
	return twice ? NULL : map;
}

static const struct node *
read_alias(struct reader *r, const yaml_event_t *e)
{
	const struct anchor *to = map_get(&r->anchors, (const char *)e->data.alias.anchor);
	struct span at = event_span(r, e);

	if (!to || to->open) {
		diag_at(r->ds, E_YAML_REFUSED, at, "the alias `*%.60s` %s",
			(const char *)e->data.alias.anchor,
			to ? "refers to a value that contains it" : "refers to no anchor above it");
		return NULL;
	}
	return count_nodes(r, to->nodes, at) ? to->node : NULL;
}

static const yaml_char_t *
anchor_of(const yaml_event_t *e)
{
	switch (e->type) {
	case YAML_SCALAR_EVENT: return e->data.scalar.anchor;
	case YAML_SEQUENCE_START_EVENT: return e->data.sequence_start.anchor;
	case YAML_MAPPING_START_EVENT: return e->data.mapping_start.anchor;
	default: return NULL;
	}
}

static const struct node *
read_collection(struct reader *r, const yaml_event_t *e, unsigned depth)
{
	bool map = e->type == YAML_MAPPING_START_EVENT;
	struct node *n = arena_new_of(r->a, struct node);

	*n = (struct node){ .kind = map ? NODE_MAP : NODE_LIST, .at = event_span(r, e) };
	if (!check_tag(r, map ? e->data.mapping_start.tag : e->data.sequence_start.tag, n->at))
		return NULL;
	if (depth >= r->limits.depth) {
		too_large(r, n->at, "nested deeper than the limit");
		return NULL;
	}
	return map ? read_map(r, n, depth + 1) : read_list(r, n, depth + 1);
}

/* Returns the node that starts with `e`, which it deletes. */
static const struct node *
read_node(struct reader *r, yaml_event_t *e, unsigned depth)
{
	const struct node *n = NULL;
	struct anchor *anchor = NULL;
	size_t before = r->nodes;

	if (e->type != YAML_ALIAS_EVENT && !count_nodes(r, 1, event_span(r, e)))
		goto out;
	if (anchor_of(e)) {
		const char *name = arena_strdup(r->a, (const char *)anchor_of(e));

		anchor = arena_new_of(r->a, struct anchor);
		anchor->open = true;
		map_put(&r->anchors, name, anchor);
	}
	if (e->type == YAML_ALIAS_EVENT)
		n = read_alias(r, e);
	else if (e->type == YAML_SCALAR_EVENT)
		n = read_scalar(r, e);
	else
		n = read_collection(r, e, depth);
	if (anchor)
		*anchor = (struct anchor){ n, r->nodes - before, false };
out:
	yaml_event_delete(e);
	return n;
}

static const struct node *
read_document(struct reader *r)
{
	const struct node *root = NULL;
	struct node *null;

	for (yaml_event_type_t type = YAML_NO_EVENT; type != YAML_STREAM_END_EVENT;) {
		yaml_event_t e;
		struct span at;

		if (!next(r, &e))
			return NULL;
		type = e.type;
		at = event_span(r, &e);
		if (type != YAML_STREAM_START_EVENT && type != YAML_DOCUMENT_START_EVENT &&
		    type != YAML_DOCUMENT_END_EVENT && type != YAML_STREAM_END_EVENT) {
			if (!(root = read_node(r, &e, 0)))
				return NULL;
			continue;
		}
		yaml_event_delete(&e);
		if (type == YAML_DOCUMENT_START_EVENT && root) {
			diag_help(diag_at(r->ds, E_YAML_REFUSED, at, "a second document"),
				  "a file has one document: move the other one to another file");
			return NULL;
		}
	}
	if (root)
		return root;
	null = arena_new_of(r->a, struct node);
	*null = (struct node){ .plain = true, .at = { r->src, 1, 1, 1 }, .s = "" };
	return null;
}

const struct node *
yaml_read(struct arena *a, struct diags *ds, const struct source *src, struct yaml_limits limits)
{
	struct reader r = { .a = a, .ds = ds, .src = src, .limits = limits, .anchors = MAP(a) };
	const unsigned char *text = (const unsigned char *)src->text;
	const struct node *root;
	size_t bom = src->size >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;

	if (!yaml_text_holds(ds, src, bom))
		return NULL;
	yaml_parser_initialize(&r.parser);
	/* Without this, libyaml would guess the encoding. */
	yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&r.parser, text + bom, src->size - bom);
	root = read_document(&r);
	yaml_parser_delete(&r.parser);
	return root;
}
