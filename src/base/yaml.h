#ifndef YAML_H_
#define YAML_H_

#include <stdbool.h>
#include <stddef.h>

#include "diag.h"

/*
 * YAML as a tree of nodes, each with its place. The only reader for recipes and the knowledge base.
 * Scalars stay text: 2.10 is "2.10". It is independent of the recipe's keys.
 *
 * It rejects two documents, duplicate keys, merge keys, tags other than the core
 * schema's, keys that are not scalars, control characters in a scalar (block and quoted scalars may
 * have newlines and tabs, if the field's grammar allows them), and text that is not UTF-8. It
 * accepts a byte order mark and CRLF.
 */
enum node_kind { NODE_SCALAR, NODE_MAP, NODE_LIST };

struct node {
	enum node_kind kind;
	bool plain; /* a scalar without quotes: only a plain one can be null, true or a number */
	bool lines; /* a scalar over several lines, whose span is its first character */
	/*
	 * All characters of a scalar, with quotes, without anchor and tag; width 0 for an empty
	 * one. The first character of a map or list.
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
 * yaml_read -- reads the document in `src`.
 *
 *   out     its root; an empty document is a plain null scalar
 *   errors  SB0101 .. SB0104, NULL
 *   memory  lives in a; aliases share nodes
 *   source  YAML 1.2 core schema; libyaml 0.2.5 reads YAML 1.1 and does not interpret scalars
 */
const struct node *yaml_read(struct arena *a, struct diags *ds, const struct source *src,
			     struct yaml_limits limits);

/*
 * yaml_text_holds -- returns whether every YAML reader reads the same text: UTF-8 without control
 * characters, and without line ends that only some readers support.
 *
 *   in      from: length of the byte order mark in bytes
 *   errors  SB0101 (not UTF-8), SB0102 (a rejected character), SB0103 (too many directives for a
 *           fast reader); false
 *   source  RFC 3629; YAML 1.2.2, 5.1 and 5.4 (1.1 has more line breaks)
 */
bool yaml_text_holds(struct diags *ds, const struct source *src, size_t from);

/* Returns whether a node is null as the core schema spells it: nothing, ~, null, Null, NULL, not
 * quoted. */
bool node_is_null(const struct node *n);

/* Returns the value of a key of a map, or NULL. */
const struct node *node_get(const struct node *map, const char *key);
/* Returns the pair of a key; NULL: the node is not a map, or lacks the key. */
const struct pair *node_pair(const struct node *map, const char *key);

/* Returns the text of a scalar with its place; { NULL, place } for anything else. */
struct text node_text(const struct node *n);

/* Returns "text", "a map" or "a list". */
const char *node_kind_name(const struct node *n);

#endif
