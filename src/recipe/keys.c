#include "keys.h"

#include <stddef.h>
#include <string.h>

#include "recipe.h"

/* Offsets of what a row fills. */
#define R(member) offsetof(struct recipe, member)
#define X(member) offsetof(struct recipe_extension, member)
#define I(member) offsetof(struct recipe_index, member)

static const struct key rows[] = {
#define KEY(path, type, check, at, and, more, pattern, doc, example) \
	{ path, type, check, at, and, more, pattern, doc, example, false },
#define NEED(path, type, check, at, and, more, pattern, doc, example) \
	{ path, type, check, at, and, more, pattern, doc, example, true },
#include "keys.def"
#undef NEED
#undef KEY
};

/* No path begins with a star, so nothing stands below key_free. */
const struct key key_root = { .path = "", .type = KEY_MAP };
const struct key key_free = { .path = "*", .type = KEY_SETTINGS };

const struct key *
keys_all(size_t *n)
{
	*n = sizeof(rows) / sizeof(*rows);
	return rows;
}

/* Where the rows below `parent` start: its own are the next ones. */
static const struct key *
first_below(const struct key *parent)
{
	const struct key *end = rows + sizeof(rows) / sizeof(*rows);

	return parent == &key_root ? rows : parent == &key_free ? end : parent + 1;
}

const struct key *
key_next(const struct key *parent, const struct key *before)
{
	const struct key *end = rows + sizeof(rows) / sizeof(*rows);
	size_t n = strlen(parent->path);

	for (const struct key *k = before ? before + 1 : first_below(parent); k < end; k++) {
		if (n && (strncmp(k->path, parent->path, n) != 0 || k->path[n] != '.'))
			return NULL;
		if (!strchr(k->path + n + !!n, '.'))
			return k;
	}
	return NULL;
}

const struct key *
key_child(const struct key *parent, const char *name)
{
	size_t n = strlen(parent->path);

	for (const struct key *k = NULL; (k = key_next(parent, k));)
		if (!strcmp(k->path + n + !!n, name))
			return k;
	return NULL;
}

struct names
key_children(struct arena *a, const struct key *parent)
{
	struct names names = { 0 };

	for (const struct key *k = NULL; (k = key_next(parent, k));)
		list_push(a, &names, key_name(k));
	return names;
}

const char *
key_name(const struct key *k)
{
	const char *dot = strrchr(k->path, '.');

	return dot ? dot + 1 : k->path;
}

bool
key_is_map(const struct key *k)
{
	return k->type == KEY_MAP || k->type == KEY_SECTION;
}
