#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "load.h"

/*
 * Writes canonical JSON from the members of the struct, in which short and long forms are equal;
 * the key table lists the members.
 */
#define MEMBER(type, base, offset) ((const type *)(const void *)((base) + (offset)))

static int
by_path(const void *x, const void *y)
{
	const struct key *const *a = x, *const *b = y;

	return strcmp((*a)->path, (*b)->path);
}

static int
by_setting(const void *x, const void *y)
{
	const struct setting *a = x, *b = y;

	return strcmp(a->name.s, b->name.s);
}

static void
write_settings(struct json *j, const char *name, const struct settings *all)
{
	struct setting *sorted = arena_array_of(j->out->a, struct setting, all->n);

	memcpy(sorted, all->at, all->n * sizeof(*sorted));
	qsort(sorted, all->n, sizeof(*sorted), by_setting);
	json_map(j, name);
	for (size_t i = 0; i < all->n; i++)
		json_text(j, sorted[i].name.s, sorted[i].value.s);
	json_end(j);
}

static int
by_argument(const void *x, const void *y)
{
	const struct recipe_argument *a = x, *b = y;

	return strcmp(a->name.s, b->name.s);
}

static void
write_arguments(struct json *j, const char *name, const struct recipe_arguments *all)
{
	struct recipe_argument *sorted = arena_array_of(j->out->a, struct recipe_argument, all->n);

	memcpy(sorted, all->at, all->n * sizeof(*sorted));
	qsort(sorted, all->n, sizeof(*sorted), by_argument);
	json_map(j, name);
	for (size_t i = 0; i < all->n; i++) {
		const struct recipe_argument *x = &sorted[i];

		if (x->value.s)
			json_text(j, x->name.s, x->value.s);
		else if (x->below.n)
			write_arguments(j, x->name.s, &x->below);
		else if (x->env.n)
			write_settings(j, x->name.s, &x->env);
		if (!x->list.n)
			continue;
		json_list(j, x->name.s);
		list_each (t, &x->list)
			json_text(j, NULL, t->s);
		json_end(j);
	}
	json_end(j);
}

static void write_key(struct json *j, const struct key *k, const char *base);

/* Writes the keys below a key, sorted; siblings share a prefix. */
static void
write_children(struct json *j, const struct key *k, const char *base)
{
	const struct recipe_extension *e = MEMBER(struct recipe_extension, base, 0);
	const struct key *sorted[32];
	struct buf name = BUF(j->out->a);
	size_t n = 0;

	for (const struct key *child = NULL; (child = key_next(k, child));)
		sorted[n++] = child;
	qsort(sorted, n, sizeof(*sorted), by_path);
	for (size_t i = 0; i < n; i++) {
		/* An extension's name includes its extras. Only the short form can have a marker. */
		if (k->type != KEY_EXTENSIONS || strcmp(key_name(sorted[i]), "name") != 0) {
			write_key(j, sorted[i], base);
			continue;
		}
		if (e->marker.s)
			json_text(j, "marker", e->marker.s);
		buf_puts(&name, e->name.s);
		if (e->extras.n)
			buf_printf(&name, "[%s]", names_join(j->out->a, &e->extras, ","));
		json_text(j, "name", name.p);
	}
	if (k->type == KEY_EXTENSIONS && e->specifier.s)
		json_text(j, "version", e->specifier.s);
}

static void
write_list(struct json *j, const struct key *k, const struct texts *list, size_t item)
{
	const char *at = (const char *)list->at;

	if (!list->n)
		return;
	json_list(j, key_name(k));
	for (size_t i = 0; i < list->n; i++, at += item)
		if (k->type == KEY_EXTENSIONS || k->type == KEY_INDEXES) {
			json_map(j, NULL);
			write_children(j, k, at);
			json_end(j);
		} else {
			json_text(j, NULL, MEMBER(struct text, at, 0)->s);
		}
	json_end(j);
}

/* Writes a map; a map without a place counts as set if one of its keys is set. */
static void
write_map(struct json *j, const struct key *k, const char *base)
{
	struct json before = *j;
	size_t start = j->out->n;
	bool any;

	const struct recipe *r = MEMBER(struct recipe, base, 0);

	if (k->first.size && !MEMBER(struct span, base, k->first.at)->line)
		return;
	/* The short form: recipes with a list alone keep their digests. */
	if (!strcmp(k->path, "apt") && !r->snapshot.s) {
		write_list(j, k, &r->apt, sizeof(*r->apt.at));
		return;
	}
	json_map(j, key_name(k));
	write_children(j, k, base);
	any = k->first.size || j->any[j->depth];
	json_end(j);
	if (!any) {
		*j = before;
		j->out->n = start;
	}
}

/* An empty list means the same as no list; the first word of a KEY_WORD is the default. */
static void
write_key(struct json *j, const struct key *k, const char *base)
{
	const struct member *m = k->type == KEY_MODAL_GPUS ? &k->second : &k->first;
	const struct text *text = MEMBER(struct text, base, k->first.at);
	unsigned word = k->type == KEY_WORD ? *MEMBER(unsigned, base, k->first.at) : 0;
	struct texts list = { 0 }; /* all lists have this layout */

	if (m->item)
		memcpy(&list, base + m->at, sizeof(list));
	if (k->type == KEY_MAP)
		write_map(j, k, base);
	else if (k->type == KEY_SETTINGS && list.n)
		write_settings(j, key_name(k), MEMBER(struct settings, base, k->first.at));
	else if ((k->type == KEY_ARGUMENTS || k->type == KEY_BUCKETS) && list.n)
		write_arguments(j, key_name(k), MEMBER(struct recipe_arguments, base, k->first.at));
	else if (list.n)
		write_list(j, k, &list, m->item);
	else if (word)
		json_text(j, key_name(k), names_split(j->out->a, k->more, '|').at[word]);
	else if (k->type != KEY_WORD && !k->first.item && k->first.size && text->s)
		json_text(j, key_name(k), text->s);
}

void
recipe_canonical(const struct recipe *r, struct buf *out)
{
	struct json j = json_flat_to(out);

	json_map(&j, NULL);
	write_children(&j, &key_root, (const char *)r);
	json_end(&j);
}
