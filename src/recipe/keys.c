#include "keys.h"

#include <stddef.h>
#include <string.h>

#include "recipe.h"

/* What rows name: a member of a struct, or nothing. */
#define R(member) (struct recipe, member)
#define X(member) (struct recipe_extension, member)
#define I(member) (struct recipe_index, member)
#define NONE 0

/* clang-format off */
/* Where a member is and its size. A member of another type than `type` does not compile. */
#define FIELD(owner, member) ((owner *)0)->member
#define MEMBER(type, at) { _Generic(FIELD at, type: offsetof at), sizeof(type) }
#define EMPTY(none) { none, 0 }

/* The types of the two members that a key of each type fills. */
#define MEMBERS_TEXT(a, b) MEMBER(struct text, a), EMPTY(b)
#define MEMBERS_WORD(a, b) MEMBER(unsigned, a), MEMBER(struct span, b)
#define MEMBERS_COUNT(a, b) MEMBER(struct text, a), MEMBER(unsigned, b)
#define MEMBERS_NUMBER(a, b) MEMBER(struct text, a), MEMBER(double, b)
#define MEMBERS_BOOL(a, b) MEMBER(struct text, a), MEMBER(bool, b)
#define MEMBERS_TEXTS(a, b) MEMBER(struct texts, a), EMPTY(b)
#define MEMBERS_REQUIREMENTS(a, b) MEMBER(struct recipe_requirements, a), EMPTY(b)
#define MEMBERS_GPUS(a, b) MEMBER(struct recipe_gpus, a), EMPTY(b)
#define MEMBERS_MODAL_GPUS(a, b) MEMBER(struct text, a), MEMBER(struct texts, b)
#define MEMBERS_SETTINGS(a, b) MEMBER(struct settings, a), EMPTY(b)
#define MEMBERS_MOUNTS(a, b) MEMBER(struct settings, a), EMPTY(b)
#define MEMBERS_SECTION(a, b) MEMBER(struct span, a), EMPTY(b)
#define MEMBERS_EXTENSIONS(a, b) MEMBER(struct recipe_extensions, a), EMPTY(b)
#define MEMBERS_INDEXES(a, b) MEMBER(struct recipe_indexes, a), EMPTY(b)
#define MEMBERS_MAP(a, b) EMPTY(a), EMPTY(b)
#define MEMBERS_EXTENDS(a, b) EMPTY(a), EMPTY(b)
#define MEMBERS_VARIANTS(a, b) EMPTY(a), EMPTY(b)
#define MEMBERS_MATRIX(a, b) EMPTY(a), EMPTY(b)
#define MEMBERS_CELLS(a, b) EMPTY(a), EMPTY(b)

static const struct key rows[] = {
#define KEY(path, type, check, first, second, ...) \
	{ path, KEY_##type, check, MEMBERS_##type(first, second), __VA_ARGS__, false },
#define NEED(path, type, check, first, second, ...) \
	{ path, KEY_##type, check, MEMBERS_##type(first, second), __VA_ARGS__, true },
#include "keys.def"
#undef NEED
#undef KEY
};
/* clang-format on */

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

void
key_copy(const struct key *k, const void *from, void *to)
{
	memcpy((char *)to + k->first.at, (const char *)from + k->first.at, k->first.size);
	memcpy((char *)to + k->second.at, (const char *)from + k->second.at, k->second.size);
	for (const struct key *child = NULL; key_is_map(k) && (child = key_next(k, child));)
		key_copy(child, from, to);
}
