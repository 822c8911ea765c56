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

/* The name of `k` if it is a child of `parent`, else NULL. */
static const char *
name_below(const struct key *parent, const struct key *k)
{
	size_t n = strlen(parent->path);
	const char *name = k->path;

	if (n) {
		if (strncmp(name, parent->path, n) || name[n] != '.')
			return NULL;
		name += n + 1;
	}
	return strchr(name, '.') ? NULL : name;
}

const struct key *
key_child(const struct key *parent, const char *name)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *own = name_below(parent, &rows[i]);

		if (own && !strcmp(own, name))
			return &rows[i];
	}
	return NULL;
}

struct names
key_children(struct arena *a, const struct key *parent)
{
	struct names names = { 0 };

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *own = name_below(parent, &rows[i]);

		if (own)
			list_push(a, &names, own);
	}
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
