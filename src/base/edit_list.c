#include "edit.h"

#include <string.h>

#include "buf.h"
#include "str.h"
#include "yaml.h"

/*
 * Items that move from one list of a YAML file to another:
 *
 *     packages:            ->   packages:
 *       - einops                  - einops
 *       - flash-attn==2.8.3     extensions:
 *                                 - flash-attn==2.8.3
 */

struct move {
	struct arena *a;
	const struct source *src;
	const struct node *root, *from, *to; /* to: NULL where the file has no such list */
	const struct pair *from_pair; /* the pair of `from`, if `from` is a key of the root */
	const char *to_key;
	size_t item;       /* index in `from` */
	const char *value; /* as YAML text */
	const char *tail;  /* the comment after it on its line of a block list */
	struct edits *out;
};

static void
add(struct move *m, struct span at, const char *replacement)
{
	struct edit *e = arena_new_of(m->a, struct edit);

	*e = (struct edit){ NULL, at, replacement };
	list_push(m->a, m->out, e);
}

static struct str
line_of(const struct move *m, uint32_t line)
{
	struct str s = { "", 0 };

	source_line(m->src, line, &s.p, &s.n);
	return s;
}

/* Returns the characters of a line from one column up to another (excluded); 0: up to its end. */
static struct span
columns(const struct move *m, uint32_t line, uint32_t from, uint32_t to)
{
	struct str s = line_of(m, line);

	if (!to)
		to = (uint32_t)text_columns(s.p, s.n) + 1;
	return (struct span){ m->src, line, from, to - from };
}

static char
character_at(const struct move *m, struct span at)
{
	struct str s = line_of(m, at.line);
	size_t n = utf8_bytes(s.p, s.n, at.col - 1);

	return n < s.n ? s.p[n] : '\0';
}

static bool
is_flow(const struct move *m, const struct node *n)
{
	return strchr("[{", character_at(m, n->at)) && character_at(m, n->at);
}

/* Returns true if a line has nothing before the column but these characters. */
static bool
begins_with_only(const struct move *m, struct span at, const char *these)
{
	struct str s = line_of(m, at.line);
	size_t n = utf8_bytes(s.p, s.n, at.col - 1);

	for (size_t i = 0; i < n; i++)
		if (!strchr(these, s.p[i]))
			return false;
	return true;
}

/* Returns the last line of a value, or 0 if its end is unknown. */
static uint32_t
last_line(const struct node *n)
{
	uint32_t last = n->at.line, line;

	if (n->kind == NODE_SCALAR)
		return n->lines ? 0 : last;
	for (size_t i = 0; i < n->n; i++) {
		line = last_line(n->kind == NODE_MAP ? n->pairs[i].value : n->items[i]);
		if (!line)
			return 0;
		last = line > last ? line : last;
	}
	return last;
}

/* --- removal of the item --- */

/* Returns the column after an item of a flow list, including the comma that follows on its line. */
static uint32_t
after_comma(const struct move *m, const struct node *item)
{
	struct span end = { m->src, item->at.line, item->at.col + item->at.width, 0 };

	while (character_at(m, end) == ' ')
		end.col++;
	return character_at(m, end) == ',' ? end.col + 1 : item->at.col + item->at.width;
}

static void
remove_flow(struct move *m)
{
	const struct node *item = m->from->items[m->item];
	const struct node *next = m->item + 1 < m->from->n ? m->from->items[m->item + 1] : NULL;
	const struct node *before = m->item ? m->from->items[m->item - 1] : NULL;
	uint32_t line = item->at.line, end = after_comma(m, item);
	struct span rest = { m->src, line, end, 0 };
	char c;

	while (character_at(m, rest) == ' ')
		rest.col++;
	c = character_at(m, rest);
	if (next && next->at.line == line)
		add(m, columns(m, line, item->at.col, next->at.col), "");
	else if (before && before->at.line == line)
		add(m,
		    columns(m, line, before->at.col + before->at.width,
			    item->at.col + item->at.width),
		    "");
	else if (begins_with_only(m, item->at, " \t") && (!c || c == '#'))
		add(m, columns(m, line, 1, 0), "");
	else
		add(m, columns(m, line, item->at.col, end), "");
}

/* --- insertion of the item --- */

/* Returns " - " as the items of a block list begin; `line` has the item. */
static const char *
dash_of(const struct move *m, const struct node *list)
{
	return arena_printf(m->a, "%*s- ", (int)list->at.col - 1, "");
}

static bool
append(struct move *m)
{
	const struct node *last = m->to->n ? m->to->items[m->to->n - 1] : NULL;
	struct span at = m->to->at;
	uint32_t line;

	if (is_flow(m, m->to)) {
		at.width = 0;
		at.col++;
		if (!last)
			add(m, at, m->value);
		else if (last->kind == NODE_SCALAR && !last->lines)
			add(m,
			    (struct span){ m->src, last->at.line, last->at.col + last->at.width,
					   0 },
			    arena_printf(m->a, ", %s", m->value));
		else
			add(m, at, arena_printf(m->a, "%s, ", m->value));
		return true;
	}
	line = last ? last_line(last) : 0;
	if (!line)
		return false;
	at = columns(m, line, 1, 0);
	add(m, (struct span){ m->src, line, at.col + at.width, 0 },
	    arena_printf(m->a, "\n%s%s%s", dash_of(m, m->to), m->value, m->tail));
	return true;
}

/* Returns the list of a key, "torch.with", of the root. */
static const struct node *
list_at(const struct node *root, const char *key, struct arena *a, const struct pair **pair)
{
	const char *dot = strchr(key, '.');
	const struct pair *found = dot ? NULL : node_pair(root, key);

	if (dot)
		return list_at(node_get(root, arena_copy(a, key, (size_t)(dot - key))), dot + 1, a,
			       pair);
	if (!found || found->value->kind != NODE_LIST)
		return NULL;
	*pair = found;
	return found->value;
}

static bool
find_item(struct move *m, struct span at)
{
	for (m->item = 0; m->from && m->item < m->from->n; m->item++) {
		const struct node *n = m->from->items[m->item];

		/* The place may be a part of the item: a name without the version, or without
		 * quotes. */
		if (n->kind == NODE_SCALAR && !n->lines && n->at.line == at.line &&
		    n->at.col <= at.col && at.col <= n->at.col + n->at.width)
			return true;
	}
	return false;
}

static void
set_value(struct move *m, const struct node *item)
{
	struct str s = line_of(m, item->at.line);
	size_t n = utf8_bytes(s.p, s.n, item->at.col - 1 + item->at.width);

	m->value = edit_scalar(m->a, NOWHERE, item->s);
	m->tail = is_flow(m, m->from) ? "" : arena_copy(m->a, s.p + n, s.n - n);
}

/* Returns the last line before a key of the root (NULL: of the file) that is neither empty nor a comment. */
static uint32_t
line_before(const struct move *m, const struct pair *next)
{
	uint32_t line = next ? next->key_at.line : 2;

	for (size_t i = 0; i < m->src->size && !next; i++)
		line += m->src->text[i] == '\n';
	while (--line > 1) {
		struct str s = line_of(m, line);
		size_t i = 0;

		while (i < s.n && strchr(" \t\r", s.p[i]))
			i++;
		if (i < s.n && s.p[i] != '#')
			break;
	}
	return line;
}

/* Adds a line after the value of a key of the root. `apart`: also adds an empty line between them if
 * there is one before the key. */
static void
add_behind(struct move *m, const struct pair *pair, const char *text, bool apart)
{
	bool last = pair + 1 == m->root->pairs + m->root->n;
	uint32_t line = line_before(m, last ? NULL : pair + 1);
	struct span end = columns(m, line, 1, 0);

	apart &= pair->key_at.line > 1 && !line_of(m, pair->key_at.line - 1).n;
	add(m, (struct span){ m->src, line, end.col + end.width, 0 },
	    arena_printf(m->a, "\n%s%s", apart ? "\n" : "", text));
}

/* Adds a list to the root: after the first key of `after` that the file has, otherwise before all
 * keys. */
static void
append_to_root(struct move *m, const char *key, const char *after)
{
	const struct names anchors = names_split(m->a, after, ' ');
	const struct node *root = m->root;
	struct span first = { m->src, root->pairs[0].key_at.line, root->pairs[0].key_at.col, 0 };

	for (size_t i = 0; i < anchors.n && !is_flow(m, root); i++) {
		const struct pair *pair = node_pair(root, anchors.at[i]);

		if (pair) {
			add_behind(m, pair, arena_printf(m->a, "%s: [%s]", key, m->value), true);
			return;
		}
	}
	add(m, first,
	    arena_printf(m->a, is_flow(m, root) ? "%s: [%s], " : "%s: [%s]\n%*s", key, m->value,
			 (int)first.col - 1, ""));
}

/* Adds a list to a map of the root, "torch.with"; a scalar becomes the value of `more` in a map. */
static bool
append_to_map(struct move *m, const char *key, const char *more)
{
	const char *dot = strchr(key, '.');
	const char *list = arena_printf(m->a, "%s: [%s]", dot + 1, m->value);
	const struct pair *pair = node_pair(m->root, arena_copy(m->a, key, (size_t)(dot - key)));
	const struct node *map = pair ? pair->value : NULL, *last;

	if (map && map->kind == NODE_SCALAR && !map->lines && map->at.width) {
		add(m, map->at,
		    arena_printf(m->a, "{%s: %s, %s}", more, edit_scalar(m->a, NOWHERE, map->s),
				 list));
		return true;
	}
	if (!map || map->kind != NODE_MAP || !map->n || node_get(map, dot + 1))
		return false;
	last = map->pairs[map->n - 1].value;
	if (!is_flow(m, map)) {
		add_behind(m, pair, arena_printf(m->a, "%*s%s", (int)map->at.col - 1, "", list),
			   false);
		return true;
	}
	if (last->kind != NODE_SCALAR || last->lines)
		return false;
	add(m, (struct span){ m->src, last->at.line, last->at.col + last->at.width, 0 },
	    arena_printf(m->a, ", %s", list));
	return true;
}

/* Removes the item; the key of a block list whose only item it is goes along. */
static bool
remove_item(struct move *m)
{
	const struct node *item = m->from->items[m->item];
	struct span key = m->from_pair->key_at;

	if (is_flow(m, m->from)) {
		remove_flow(m);
		return true;
	}
	if (!begins_with_only(m, item->at, " -") ||
	    (m->from->n == 1 && (key.line == item->at.line || !begins_with_only(m, key, " "))))
		return false;
	if (m->from->n == 1)
		add(m, columns(m, key.line, 1, 0), "");
	add(m, columns(m, item->at.line, 1, 0), "");
	return true;
}

/* Adds a list to the root, before the key of the root that the item comes from. */
static void
add_list(struct move *m, const char *from)
{
	const char *name = arena_copy(m->a, from, strcspn(from, "."));
	struct span key = node_pair(m->root, name)->key_at;

	add(m, (struct span){ m->src, key.line, key.col, 0 },
	    is_flow(m, m->root) ? arena_printf(m->a, "%s: [%s], ", m->to_key, m->value) :
				  arena_printf(m->a, "%s: [%s]%s\n%*s", m->to_key, m->value,
					       m->tail, (int)key.col - 1, ""));
}

bool
edit_append(struct arena *a, struct span there, const char *key, const char *after,
	    const char *value, struct edits *out)
{
	struct move m = { .a = a, .src = there.src, .to_key = key, .out = out, .tail = "" };
	const struct pair *ignored = NULL;
	struct diags ds = DIAGS(ds, a);

	out->n = 0;
	if (!there.src || !(m.root = yaml_read(a, &ds, there.src, YAML_LIMITS_DEFAULT)) ||
	    m.root->kind != NODE_MAP || !m.root->n)
		return false;
	m.to = list_at(m.root, key, a, &ignored);
	m.value = edit_scalar(a, NOWHERE, value);
	if (m.to)
		return append(&m);
	if (strchr(key, '.'))
		return append_to_map(&m, key, after);
	if (node_get(m.root, key))
		return false;
	append_to_root(&m, key, after);
	return true;
}

bool
edit_move(struct arena *a, struct span item, const char *from, const char *to, struct edits *out)
{
	struct move m = { .a = a, .src = item.src, .to_key = to, .out = out };
	const struct pair *ignored = NULL;
	struct diags ds = DIAGS(ds, a);

	out->n = 0;
	if (!item.src || !(m.root = yaml_read(a, &ds, item.src, YAML_LIMITS_DEFAULT)))
		return false;
	m.from = list_at(m.root, from, a, &m.from_pair);
	m.to = list_at(m.root, to, a, &ignored);
	if (!find_item(&m, item) || (!m.to && node_get(m.root, to)))
		return false;
	set_value(&m, m.from->items[m.item]);
	if (m.from->n == 1 && !m.to && !strchr(from, '.')) {
		add(&m, m.from_pair->key_at, to); /* the list gets the other name */
		return true;
	}
	if (!m.to)
		add_list(&m, from);
	return remove_item(&m) && (!m.to || append(&m));
}
