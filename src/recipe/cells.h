#ifndef RECIPE_CELLS_H
#define RECIPE_CELLS_H

#include "merge.h"

struct overrides LIST(struct override);

/*
 * sets_read -- the --set options as overrides.
 *
 *   out     in the order given; places point into "<command line>", one line an option
 *   errors  SB0130, SB0105, SB0101 ..; false
 */
bool sets_read(struct load *l, struct overrides *out);

/* One combination of the matrix: an override for each of its keys, and its name. */
struct cell {
	const char *name; /* NULL: there is no matrix */
	struct overrides overrides;
};
struct cells LIST(struct cell);

/*
 * cells_make -- the cells of a matrix, the last axis fastest.
 *
 *   in      matrix: a node, or NULL: one cell without a name; fixed: --set options that
 *           give an axis one value
 *   out     names are unique, also where case does not count, and safe as a directory
 *   errors  SB0129, SB0105, SB0107; false
 */
bool cells_make(struct load *l, const struct node *matrix, const struct overrides *fixed,
		struct cells *out);

/* Cells that one recipe may have. */
enum { CELLS_MAX = 10 * 1000 };

#endif
