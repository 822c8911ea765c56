#ifndef EDIT_H
#define EDIT_H

#include "diag.h"
#include "list.h"
#include "str.h"

/* Edits of a YAML file as replacements of text.  It is independent of the recipe's keys. */

/*
 * edit_scalar -- returns the YAML text of a value that replaces a scalar.
 *
 *   in      at: the old scalar as yaml_read gives it (node.at, pair.key_at), with its quotes;
 *           without a place, a plain scalar. value: the text that a reader must get; a part of a
 *           scalar, such as the version after ==, is returned unchanged
 *   out     the value in the old style if possible: a plain scalar stays plain if YAML 1.1 and 1.2
 *           read the same text in block and flow context, otherwise it becomes "..."
 *   memory  lives in a
 *   source  YAML 1.2.2, 5.7 and 7.3; YAML 1.1 type repository
 */
const char *edit_scalar(struct arena *a, struct span at, const char *value);

/*
 * Finds the characters of a span and the line that they are on, without its line end.
 * Returns false if the line or the columns do not exist.
 */
bool edit_place(struct span at, struct str *line, struct str *text);

/* Returns whether two edits make the same change at the same place. */
bool edit_same(const struct edit *x, const struct edit *y);

/* Returns whether the edit removes a whole line, with its line end. */
bool edit_takes_line(const struct edit *e);

/* Returns the column after an edit; a removed line includes its line end. */
uint32_t edit_end(const struct edit *e);

struct edits LIST(const struct edit *);
/* Adds an edit after those of its file that precede it. */
void edit_insert(struct arena *a, struct edits *all, const struct edit *e);

/*
 * edit_move -- makes the edits that move an item from one list to another. They create the other
 * list if the file has none, and remove an empty list whose key is alone on its line.
 *
 *   in      item: the place of the item, or of a part of it; from, to: the keys of the lists in the
 *           root: "packages", "torch.with"
 *   out     false: edits cannot express the change
 *   memory  lives in a
 */
bool edit_move(struct arena *a, struct span item, const char *from, const char *to,
	       struct edits *out);

/*
 * edit_append -- makes the edits that add an item to a list of the root, or of a map in it. They
 * create the list if the file has none.
 *
 *   in      there: a place in the file; key: that of the list, "extensions" or "torch.with"; after:
 *           keys of the root, "packages torch": a new list follows the first of them; for a list in
 *           a map, the key for the map's plain value, "version"
 *   out     as edit_move
 */
bool edit_append(struct arena *a, struct span there, const char *key, const char *after,
		 const char *value, struct edits *out);

/* Returns whether a value needs no quotes anywhere in YAML. */
bool edit_is_plain(const char *value);

#endif
