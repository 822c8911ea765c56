#include <stdarg.h>

#include "reader.h"

size_t
item_open(struct reader *rd, const char *what, struct span at)
{
	struct init_items *items = &rd->n->items;

	if (items->n < INIT_ITEMS_MAX) {
		list_push(rd->a, items,
			  (struct init_item){ .what = what, .at = at, .spec = "", .pinned = true });
	} else if (!rd->ds->errors) {
		diag_at(rd->ds, E_INIT_INPUT, at, "more than %d requirements and commands",
			INIT_ITEMS_MAX);
	}
	return items->n - 1;
}

struct init_item *
item_at(const struct reader *rd, size_t i)
{
	return &rd->n->items.at[i];
}

bool
item_has(const struct init_item *item, const char *key)
{
	return item->fate == INIT_TAKEN && item->value && !strcmp(item->key, key);
}

static bool
same(const char *x, const char *y)
{
	return x == y || (x && y && !strcmp(x, y));
}

void
item_take(struct reader *rd, size_t i, const char *key, const char *value)
{
	struct init_item *item = item_at(rd, i), *old, kept;
	bool named = init_key(key)->form != KEY_VALUE;
	const char *place;
	size_t found;

	if (named && !item->name)
		item->name = value;
	item->fate = INIT_TAKEN;
	item->key = key;
	item->value = value;
	if (!value || !strcmp(key, "app.command"))
		return;
	if (!rd->n->places) {
		rd->n->places = arena_new_of(rd->a, struct map);
		*rd->n->places = MAP(rd->a);
	}
	place = arena_printf(rd->a, "%s %s", key, named ? item->name : "");
	found = (size_t)map_get(rd->n->places, place);
	old = found ? item_at(rd, found - 1) : item;
	if (old == item || old->fate != INIT_TAKEN) {
		map_put(rd->n->places, place, (void *)(i + 1));
		return;
	}
	/* pip leaves a pinned package alone if it is asked for again without a version. */
	if ((old->pinned && !item->pinned && (!*item->spec)) ||
	    (same(old->value, value) && same(old->spec, item->spec))) {
		item->value = NULL;
		return;
	}
	kept = *old;
	*old = *item;
	*item = kept;
	item_leave(rd, i, "`%s` replaces it", old->what);
}

static void
leave(struct init_item *item, enum code code, const char *help, const char *why)
{
	item->fate = INIT_LEFT;
	item->code = code;
	item->help = help;
	item->why = why;
}

void
item_leave(struct reader *rd, size_t i, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	leave(item_at(rd, i), N_INIT_LEFT, NULL, arena_vprintf(rd->a, fmt, ap));
	va_end(ap);
}

void
item_unread(struct reader *rd, size_t i, const char *help, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	leave(item_at(rd, i), W_INIT_NOT_READ, help, arena_vprintf(rd->a, fmt, ap));
	va_end(ap);
}

void
item_set(struct reader *rd, const char *what, struct span at, const char *key, const char *value)
{
	item_take(rd, item_open(rd, what, at), key, value);
}

void
item_report(struct reader *rd, const struct init_item *item)
{
	struct diag *d;

	if (item->fate == INIT_OPEN)
		BUG("init: `%s` is neither taken nor left out", item->what);
	if (item->fate != INIT_LEFT)
		return;
	d = diag_at(rd->ds, item->code, item->at, "left out: `%s`: %s",
		    mask_credentials(rd->a, item->what), item->why);
	if (item->help)
		diag_help(d, "%s", item->help);
}

void
items_report(struct reader *rd, size_t from)
{
	for (size_t i = from; i < rd->n->items.n && !rd->ds->errors; i++)
		item_report(rd, item_at(rd, i));
}

void
item_changed(struct reader *rd, struct span at, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	diag_at(rd->ds, N_INIT_CHANGED, at, "%s", arena_vprintf(rd->a, fmt, ap));
	va_end(ap);
}

struct init_item *
init_get(const struct init *n, const char *key)
{
	for (size_t i = 0; i < n->items.n; i++)
		if (item_has(&n->items.at[i], key))
			return &n->items.at[i];
	return NULL;
}

struct init_item *
torch_range(const struct init *n)
{
	for (size_t i = 0; i < n->items.n; i++)
		if (item_has(&n->items.at[i], "packages") && !strcmp(n->items.at[i].name, "torch"))
			return &n->items.at[i];
	return NULL;
}

const char *
init_value(const struct init *n, const char *key)
{
	const struct init_item *item = init_get(n, key);

	return item ? item->value : NULL;
}

void
init_set(struct arena *a, struct init *n, const char *key, const char *value)
{
	struct diags ds;
	struct reader rd = { a, &ds, NULL, n };
	struct init_item *old = init_get(n, key);

	diags_init(&ds, a);
	if (value)
		item_set(&rd, key, (struct span){ 0 }, key, value);
	else if (old)
		old->value = NULL;
}
