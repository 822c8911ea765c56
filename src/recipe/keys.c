#include <stddef.h>
#include <string.h>

#include "load.h"

/* The target of a row: a member of a struct, or nothing. */
#define R(member) (struct recipe, member)
#define X(member) (struct recipe_extension, member)
#define I(member) (struct recipe_index, member)
#define NONE 0

/* clang-format off */
/* Place and size of a member. A member of another type than `type` does not compile. */
#define FIELD(owner, member) ((owner *)0)->member
#define MEMBER(type, at) { _Generic(FIELD at, type: offsetof at), sizeof(type), 0 }
#define MANY(type, in) { _Generic(FIELD in, type: offsetof in), sizeof(type), sizeof(*((type *)0)->at) }
#define EMPTY(none) { none, 0, 0 }

/* The types of the two members that a key of each type fills. */
#define MEMBERS_TEXT(a, b) MEMBER(struct text, a), EMPTY(b)
#define MEMBERS_WORD(a, b) MEMBER(unsigned, a), MEMBER(struct span, b)
#define MEMBERS_NUMBER(a, b) MEMBER(struct text, a), EMPTY(b)
#define MEMBERS_BOOL(a, b) MEMBER(struct text, a), EMPTY(b)
#define MEMBERS_TEXTS(a, b) MANY(struct texts, a), EMPTY(b)
#define MEMBERS_REQUIREMENTS(a, b) MANY(struct recipe_requirements, a), EMPTY(b)
#define MEMBERS_GPUS(a, b) MANY(struct recipe_gpus, a), EMPTY(b)
#define MEMBERS_MODAL_GPUS(a, b) MEMBER(struct text, a), MANY(struct texts, b)
#define MEMBERS_SETTINGS(a, b) MANY(struct settings, a), EMPTY(b)
#define MEMBERS_SECTION(a, b) MEMBER(struct span, a), EMPTY(b)
#define MEMBERS_EXTENSIONS(a, b) MANY(struct recipe_extensions, a), EMPTY(b)
#define MEMBERS_INDEXES(a, b) MANY(struct recipe_indexes, a), EMPTY(b)
#define MEMBERS_ARGUMENTS(a, b) MANY(struct recipe_arguments, a), EMPTY(b)
#define MEMBERS_BUCKETS(a, b) MANY(struct recipe_arguments, a), EMPTY(b)
#define MEMBERS_MAP(a, b) EMPTY(a), EMPTY(b)
#define MEMBERS_EXTENDS(a, b) EMPTY(a), EMPTY(b)
#define MEMBERS_VARIANTS(a, b) EMPTY(a), EMPTY(b)
#define MEMBERS_MATRIX(a, b) EMPTY(a), EMPTY(b)
#define MEMBERS_CELLS(a, b) EMPTY(a), EMPTY(b)

static const struct key rows[] = {
#define ROW(path, type, check, first, second, required, ...) \
	{ path, KEY_##type, check, MEMBERS_##type(first, second), __VA_ARGS__, required },
#define KEY(path, type, check, first, ...) ROW(path, type, check, first, NONE, false, __VA_ARGS__)
#define KEY2(path, type, check, first, second, ...) \
	ROW(path, type, check, first, second, false, __VA_ARGS__)
#define NEED(path, type, check, first, ...) ROW(path, type, check, first, NONE, true, __VA_ARGS__)
#include "keys.def"
#undef NEED
#undef KEY2
#undef KEY
};
/* clang-format on */

/* No path begins with a star, so key_free has no children. */
const struct key key_root = { .path = "", .type = KEY_MAP };
const struct key key_free = { .path = "*", .type = KEY_SETTINGS };

const struct key *
keys_all(size_t *n)
{
	*n = sizeof(rows) / sizeof(*rows);
	return rows;
}

const struct key *
key_next(const struct key *parent, const struct key *before)
{
	const struct key *end = rows + sizeof(rows) / sizeof(*rows), *k = before;
	size_t n = strlen(parent->path);

	if (!k && parent != &key_root && parent != &key_free)
		k = parent;
	for (k = k ? k + 1 : rows; k < end; k++) {
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
	const struct key *k = NULL;

	while ((k = key_next(parent, k)) && strcmp(key_name(k), name) != 0)
		;
	return k;
}

const struct key *
key_short_list(const struct key *k)
{
	const struct key *child = k->type == KEY_MAP && k->more ? key_child(k, k->more) : NULL;

	return child && child->first.item ? child : NULL;
}

struct names
key_children(const struct load *l, const struct key *k)
{
	struct names names = { 0 };

	if (k->type == KEY_ARGUMENTS)
		return argument_names(l->f, l->a, k);
	for (const struct key *child = NULL; (child = key_next(k, child));)
		list_push(l->a, &names, key_name(child));
	return names;
}

const char *
key_name(const struct key *k)
{
	const char *dot = strrchr(k->path, '.');

	return dot ? dot + 1 : k->path;
}

grammar *
key_names(const struct key *k)
{
	return k->check == grammar_object || k->type == KEY_BUCKETS ? grammar_mount :
								      grammar_env_name;
}
