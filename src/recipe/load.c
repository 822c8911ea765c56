#include "load.h"

#include <stdarg.h>
#include <string.h>

#include "base/edit.h"

struct diag *
fault(struct load *l, enum code code, struct span at, const char *fmt, ...)
{
	const char *place =
		arena_printf(l->a, "%d %u %u %p", (int)code, at.line, at.col, (const void *)at.src);
	struct diags *to = map_put(&l->seen, place, l) ? &l->echoes : l->ds;
	struct diag *d;
	va_list ap;

	va_start(ap, fmt);
	d = diag_at(to, code, at, "%s", arena_vprintf(l->a, fmt, ap));
	va_end(ap);
	if (to == l->ds && l->ds->errors == l->before + FAULTS_MAX)
		diag_at(l->ds, E_YAML_LIMIT, (struct span){ .src = at.src },
			"%d errors found; the rest of the recipe was not checked", FAULTS_MAX);
	return d;
}

bool
reject(struct load *l, enum code code, struct span at, const char *help, const char *fmt, ...)
{
	struct diag *d;
	va_list ap;

	va_start(ap, fmt);
	d = fault(l, code, at, "%s", arena_vprintf(l->a, fmt, ap));
	va_end(ap);
	if (help)
		diag_help(d, "%s", help);
	return false;
}

bool
load_on_disk(const struct load *l)
{
	return l->open == extends_open_file || l->o->on_disk;
}

bool
load_full(const struct load *l)
{
	return l->ds->errors > l->before + FAULTS_MAX;
}

bool
within_limit(struct load *l, struct span at, size_t n, size_t max, const char *what)
{
	return n <= max ||
	       reject(l, E_YAML_LIMIT, at, NULL, "%zu %s; the limit is %zu", n, what, max);
}

const char *
shown(struct arena *a, const char *text)
{
	enum { LONGEST = 72 };
	size_t n = strlen(text);
	char *copy;

	if (n > LONGEST)
		for (n = LONGEST; n && ((unsigned char)text[n] & 0xc0) == 0x80;)
			n--; /* not in the middle of a character */
	copy = arena_copy(a, text, n);
	/* A line break would look like the next line of the report. */
	for (char *p = copy; *p; p++)
		if (*p == '\n' || *p == '\r')
			*p = ' ';
	return arena_printf(a, "`%s%s`", copy, text[n] ? "..." : "");
}

const struct node *
list_of_one(struct load *l, const struct node *n)
{
	struct node *list = arena_new_of(l->a, struct node);

	*list = (struct node){ .kind = NODE_LIST, .at = n->at, .n = 1 };
	list->items = arena_new_of(l->a, const struct node *);
	list->items[0] = n;
	return list;
}

struct node *
map_of(struct load *l, struct span at, size_t n)
{
	struct node *map = arena_new_of(l->a, struct node);

	*map = (struct node){ .kind = NODE_MAP, .at = at };
	map->pairs = arena_array_of(l->a, struct pair, n);
	return map;
}

const struct node *
map_without(struct load *l, const struct node *map, const char *key)
{
	struct node *left = map_of(l, map->at, map->n);

	for (size_t i = 0; i < map->n; i++)
		if (strcmp(map->pairs[i].key, key) != 0)
			left->pairs[left->n++] = map->pairs[i];
	return left;
}

void
offer_text(struct diag *d, struct text old, const char *yaml, const char *help)
{
	size_t n = strlen(old.s);

	/* The text is plain, or quoted without escapes: the same test as in span_within. */
	if (old.at.width == n || old.at.width == n + 2)
		diag_fix(d, old.at, yaml, "%s", help);
	else
		diag_help(d, "%s", help);
}

void
offer(struct load *l, struct diag *d, struct text old, const char *value, const char *help)
{
	offer_text(d, old, edit_scalar(l->a, old.at, value), help);
}

/*
 * Returns the column of the n-th byte, which is known only if the file has the text unchanged
 * (plain, or quoted without escapes).
 */
struct span
span_within(struct text t, size_t from, size_t n)
{
	size_t len = strlen(t.s);
	struct span at = t.at;

	if (from + n > len || (at.width != len && at.width != len + 2))
		return at;
	at.col += (uint32_t)(from + (at.width == len + 2));
	at.width = (uint32_t)(n ? n : 1);
	return at;
}
