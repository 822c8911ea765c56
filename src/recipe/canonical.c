#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "read.h"

/*
 * Canonical JSON, written from the members of the struct, where short and long forms
 * are the same already; the key table says which members there are.
 */
#define MEMBER(type, base, offset) ((const type *)(const void *)((base) + (offset)))

static int
by_name(const void *x, const void *y)
{
	const struct key *const *a = x, *const *b = y;

	return strcmp((*a)->path, (*b)->path);
}

struct children {
	const struct key *at[32];
	size_t n;
};

/* Sorted: siblings share what stands before their names. */
static struct children
children_of(const struct key *parent)
{
	struct children c = { .n = 0 };

	for (const struct key *k = NULL; (k = key_next(parent, k));)
		c.at[c.n++] = k;
	qsort(c.at, c.n, sizeof(*c.at), by_name);
	return c;
}

/*
 * Returns whether the key was given in any form. An empty list means the same as none; the
 * first word of a list of words is the default.
 */
static bool
is_given(const struct key *k, const char *base)
{
	const char *at = base + k->first.at;

	switch (k->type) {
	case KEY_TEXT:
	case KEY_COUNT:
	case KEY_NUMBER:
	case KEY_BOOL:
	case KEY_MODAL_GPUS: return MEMBER(struct text, at, 0)->s;
	case KEY_WORD: return *MEMBER(unsigned, at, 0);
	case KEY_TEXTS: return MEMBER(struct texts, at, 0)->n;
	case KEY_REQUIREMENTS: return MEMBER(struct recipe_requirements, at, 0)->n;
	case KEY_GPUS: return MEMBER(struct recipe_gpus, at, 0)->n;
	case KEY_SETTINGS:
	case KEY_MOUNTS: return MEMBER(struct settings, at, 0)->n;
	case KEY_EXTENSIONS: return MEMBER(struct recipe_extensions, at, 0)->n;
	case KEY_INDEXES: return MEMBER(struct recipe_indexes, at, 0)->n;
	case KEY_SECTION: return MEMBER(struct span, at, 0)->line;
	case KEY_MAP:
		for (const struct key *child = NULL; (child = key_next(k, child));)
			if (is_given(child, base))
				return true;
		return false;
	default: return false;
	}
}

static void
write_text(struct json *j, const char *name, const struct text *t)
{
	if (t->s)
		json_text(j, name, t->s);
}

/* A list of texts, or of structs that begin with one, `size` bytes each. */
static void
write_texts(struct json *j, const char *name, const void *items, size_t n, size_t size)
{
	json_list(j, name);
	for (size_t i = 0; i < n; i++)
		json_text(j, NULL, MEMBER(struct text, (const char *)items, i * size)->s);
	json_end(j);
}

#define WRITE_TEXTS(j, name, list) write_texts(j, name, (list)->at, (list)->n, sizeof(*(list)->at))

static int
by_setting(const void *x, const void *y)
{
	const struct setting *a = x, *b = y;

	return strcmp(a->name.s, b->name.s);
}

static void
write_settings(struct json *j, struct arena *a, const char *name, const struct settings *all)
{
	struct setting *sorted = arena_array_of(a, struct setting, all->n);
	memcpy(sorted, all->at, all->n * sizeof(*sorted));
	qsort(sorted, all->n, sizeof(*sorted), by_setting);
	json_map(j, name);
	for (size_t i = 0; i < all->n; i++)
		json_text(j, sorted[i].name.s, sorted[i].value.s);
	json_end(j);
}

static void write_key(struct json *j, struct arena *a, const struct key *k, const char *base);

static void
write_children(struct json *j, struct arena *a, const struct key *k, const char *base)
{
	struct children c = children_of(k);

	for (size_t i = 0; i < c.n; i++)
		write_key(j, a, c.at[i], base);
}

/* name[extra,extra], as it may be written. */
static const char *
full_name(struct arena *a, const struct recipe_extension *e)
{
	struct buf b = BUF(a);

	buf_puts(&b, e->name.s);
	for (size_t i = 0; i < e->extras.n; i++)
		buf_printf(&b, "%c%s", i ? ',' : '[', e->extras.at[i]);
	if (e->extras.n)
		buf_putc(&b, ']');
	return buf_text(&b);
}

/*
 * Its keys.  What only the short form can say, a marker, stands where it sorts; a range
 * of versions is a version as written.
 */
static void
write_extension(struct json *j, struct arena *a, const struct key *k,
		const struct recipe_extension *e)
{
	struct children c = children_of(k);

	json_map(j, NULL);
	for (size_t i = 0; i < c.n; i++) {
		const char *name = key_name(c.at[i]);

		if (!strcmp(name, "name")) {
			write_text(j, "marker", &e->marker);
			json_text(j, "name", full_name(a, e));
		} else if (!strcmp(name, "version") && e->specifier.s) {
			write_text(j, "version", &e->specifier);
		} else {
			write_key(j, a, c.at[i], (const char *)e);
		}
	}
	json_end(j);
}

static void
write_items(struct json *j, struct arena *a, const struct key *k, const char *base)
{
	const struct recipe_extensions *extensions =
		MEMBER(struct recipe_extensions, base, k->first.at);
	const struct recipe_indexes *indexes = MEMBER(struct recipe_indexes, base, k->first.at);

	json_list(j, key_name(k));
	for (size_t i = 0; k->type == KEY_EXTENSIONS && i < extensions->n; i++)
		write_extension(j, a, k, &extensions->at[i]);
	for (size_t i = 0; k->type == KEY_INDEXES && i < indexes->n; i++) {
		json_map(j, NULL);
		write_children(j, a, k, (const char *)&indexes->at[i]);
		json_end(j);
	}
	json_end(j);
}

static void
write_key(struct json *j, struct arena *a, const struct key *k, const char *base)
{
	const char *name = key_name(k), *at = base + k->first.at;

	if (!is_given(k, base))
		return;
	switch (k->type) {
	case KEY_TEXT:
	case KEY_COUNT:
	case KEY_NUMBER:
	case KEY_BOOL: write_text(j, name, MEMBER(struct text, at, 0)); break;
	case KEY_WORD:
		json_text(j, name, names_split(a, k->more, '|').at[*MEMBER(unsigned, at, 0)]);
		break;
	case KEY_TEXTS: WRITE_TEXTS(j, name, MEMBER(struct texts, at, 0)); break;
	case KEY_MODAL_GPUS:
		if (MEMBER(struct texts, base, k->second.at)->n)
			WRITE_TEXTS(j, name, MEMBER(struct texts, base, k->second.at));
		else
			write_text(j, name, MEMBER(struct text, at, 0));
		break;
	case KEY_REQUIREMENTS:
		WRITE_TEXTS(j, name, MEMBER(struct recipe_requirements, at, 0));
		break;
	case KEY_GPUS: WRITE_TEXTS(j, name, MEMBER(struct recipe_gpus, at, 0)); break;
	case KEY_SETTINGS:
	case KEY_MOUNTS: write_settings(j, a, name, MEMBER(struct settings, at, 0)); break;
	case KEY_EXTENSIONS:
	case KEY_INDEXES: write_items(j, a, k, base); break;
	case KEY_SECTION:
	case KEY_MAP:
		json_map(j, name);
		write_children(j, a, k, base);
		json_end(j);
		break;
	default: break;
	}
}

const char *
canonical_section(struct arena *a, const struct key *k, const struct recipe *r)
{
	struct buf b = BUF(a);
	struct json j = json_flat_to(&b);

	/* Inside a map, of which only what stands between the braces is kept. */
	json_map(&j, NULL);
	write_key(&j, a, k, (const char *)r);
	return b.n > 1 ? buf_text(&b) + 1 : NULL;
}

struct names
canonical_order(struct arena *a)
{
	struct children c = children_of(&key_root);
	struct names order = { 0 };

	for (size_t i = 0; i < c.n; i++)
		list_push(a, &order, c.at[i]->path);
	return order;
}
