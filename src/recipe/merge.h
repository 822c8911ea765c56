#ifndef RECIPE_MERGE_H
#define RECIPE_MERGE_H

#include "keys.h"

/*
 * merge -- `over` laid on `base`: maps merge, lists and scalars replace, null removes
 * (RFC 7386).  A text that is the short form of a map (torch: 2.2.2) is that map when
 * a map is laid on it; a text laid on a map replaces it whole.
 *
 *   in   k: the row that both are values of (&key_root: whole recipes);
 *        base: may be NULL
 *   out  NULL if nothing is left; nodes that do not change are shared
 */
const struct node *merge(struct load *l, const struct key *k, const struct node *base,
			 const struct node *over);

/* A value to lay on a recipe at a dotted key: of --set, or of a matrix cell. */
struct override {
	struct names parts; /* "torch", "version" */
	const char *dotted; /* one pointer for one key: compare it with == */
	struct span at;     /* of the key */
	const struct key *top;
	const struct node *value;
};

/*
 * override_key -- a dotted key, judged by the key table.
 *
 *   out     o->parts, o->at, o->top
 *   errors  SB0105 (with the nearest key), or what the grammar of a name says; false
 */
bool override_key(struct load *l, const char *dotted, struct span at, struct override *o);

/* merge() of the override with the value of its first key. */
const struct node *override_apply(struct load *l, const struct override *o,
				  const struct node *base);

/* The same on a whole recipe. */
const struct node *override_recipe(struct load *l, const struct override *o,
				   const struct node *root);

/* The error for a key that is no child of `k`: SB0105. */
void key_unknown(struct load *l, const struct key *k, const char *name, struct span at);

#endif
