#ifndef YAML_H_
#define YAML_H_

#include <stdbool.h>
#include <stddef.h>

#include "diag.h"

/*
 * YAML as a tree of nodes, each with its place.  The one reader for recipes and
 * knowledge.  Scalars stay text: 2.10 is "2.10".  Knows no keys.
 *
 * Refused: two documents, duplicate keys, merge keys, tags other than the core
 * schema's, keys that are not scalars, control characters in a scalar (a newline
 * and a tab may stand in block and quoted ones; the field's grammar decides),
 * text that is not UTF-8.  A byte order mark and CRLF are accepted.
 */
enum node_kind { NODE_SCALAR, NODE_MAP, NODE_LIST };

struct node {
	enum node_kind kind;
	bool plain; /* scalar without quotes: only such a one can be null, true, a number */
	bool lines; /* scalar over more than one line: its span is of the first character */
	/*
	 * Of a scalar: all characters, with quotes, without anchor and tag; width 0 for an
	 * empty one.  Of a map or list: its first character.
	 */
	struct span at;
	const char *s; /* scalar; NUL-terminated, without other NULs */
	size_t n;      /* bytes of s, pairs of a map, items of a list */
	struct pair *pairs;
	const struct node **items;
};

struct pair {
	const char *key;
	struct span key_at;
	const struct node *value;
};

struct yaml_limits {
	size_t nodes; /* keys and values, after expansion of aliases */
	unsigned depth;
};

#define YAML_LIMITS_DEFAULT ((struct yaml_limits){ 100 * 1000, 48 })

/*
 * yaml_read -- the one document in `src`.
 *
 *   out     its root; an empty document is a plain null scalar
 *   errors  SB0101 .. SB0104, NULL
 *   memory  lives in a; aliases share nodes
 *   source  YAML 1.2 core schema; libyaml 0.2.5 reads 1.1 and leaves scalars alone
 */
const struct node *yaml_read(struct arena *a, struct diags *ds, const struct source *src,
			     struct yaml_limits limits);

/*
 * yaml_text_holds -- whether a text is one that every reader of YAML takes for the
 * same: UTF-8, without control characters, without line ends that only some know.
 *
 *   in      from: bytes of a byte order mark
 *   errors  SB0101 (not UTF-8), SB0102 (a character that is refused), SB0103 (so many
 *           directives that the reader would be slow); false
 *   source  RFC 3629; YAML 1.2.2, 5.1 and 5.4 (1.1 has more line breaks)
 */
bool yaml_text_holds(struct diags *ds, const struct source *src, size_t from);

/* Null as the core schema spells it: nothing, ~, null, Null, NULL, not quoted. */
bool node_is_null(const struct node *n);

/* Returns the value of a key of a map, or NULL. */
const struct node *node_get(const struct node *map, const char *key);

/* Returns the text of a scalar with its place; { NULL, place } for anything else. */
struct text node_text(const struct node *n);

/* "text", "a map", "a list" */
const char *node_kind_name(const struct node *n);

#endif
