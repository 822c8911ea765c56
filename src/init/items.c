#include <stdarg.h>

#include "reader.h"

struct init_item *
item_open(struct init *rd, const char *what, struct span at)
{
	struct init_item *item;

	if (rd->items.n < INIT_ITEMS_MAX) {
		item = arena_new_of(rd->a, struct init_item);
		*item = (struct init_item){ .what = what, .at = at, .spec = "", .pinned = true };
		list_push(rd->a, &rd->items, item);
	} else if (!rd->ds->errors) {
		diag_at(rd->ds, E_INIT_INPUT, at, "more than %d requirements and commands",
			INIT_ITEMS_MAX);
	}
	return rd->items.at[rd->items.n - 1];
}

bool
item_has(const struct init_item *item, const char *key)
{
	return item->fate == INIT_TAKEN && item->value && !strcmp(item->key, key);
}

struct init_item *
item_take(struct init *rd, struct init_item *item, const char *key, const char *value)
{
	bool named = init_key(key)->form != KEY_VALUE;
	struct init_item *old, kept;
	const char *place;

	if (named && !item->name)
		item->name = value;
	item->fate = INIT_TAKEN;
	item->key = key;
	item->value = value;
	if (!value || among(key, "app.command app.entrypoint"))
		return item;
	rd->places.a = rd->a;
	place = arena_printf(rd->a, "%s %s", key, named ? item->name : "");
	old = map_get(&rd->places, place);
	if (!old || old == item || old->fate != INIT_TAKEN) {
		map_put(&rd->places, place, item);
		return item;
	}
	/* Like pip, keeps a pinned package that is required again without a version. */
	if ((old->pinned && !item->pinned && !*item->spec) ||
	    (old->value && !strcmp(old->value, value) && !strcmp(old->spec, item->spec))) {
		item->value = NULL;
		return old;
	}
	kept = *old;
	*old = *item;
	*item = kept;
	item_leave(rd, item, "`%s` replaces it", old->what);
	return old;
}

void
item_drop(struct init *rd, struct init_item *item, enum code code, const char *help,
	  const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	item->fate = INIT_LEFT;
	item->code = code;
	item->help = help;
	item->why = arena_vprintf(rd->a, fmt, ap);
	va_end(ap);
}

struct init_item *
item_set(struct init *rd, const char *what, struct span at, const char *key, const char *value)
{
	return item_take(rd, item_open(rd, what, at), key, value);
}

void
item_report(struct init *rd, const struct init_item *item)
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
items_report(struct init *rd, size_t from)
{
	for (size_t i = from; i < rd->items.n && !rd->ds->errors; i++)
		item_report(rd, rd->items.at[i]);
}

struct init_item *
init_find(const struct init *rd, const char *key, const char *name)
{
	for (size_t i = 0; i < rd->items.n; i++)
		if (item_has(rd->items.at[i], key) &&
		    (!name || !strcmp(rd->items.at[i]->name, name)))
			return rd->items.at[i];
	return NULL;
}

const char *
init_value(const struct init *rd, const char *key)
{
	const struct init_item *item = init_get(rd, key);

	return item ? item->value : NULL;
}

void
init_set(struct init *rd, const char *key, const char *value)
{
	struct init_item *old = init_get(rd, key);

	if (value)
		item_set(rd, key, (struct span){ 0 }, key, value);
	else if (old)
		old->value = NULL;
}
