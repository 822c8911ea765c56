#ifndef RECIPE_EXTENDS_H
#define RECIPE_EXTENDS_H

#include "load.h"

/*
 * extends_load -- the file of the options, merged over what it extends.
 *
 *   out     its map, without `extends`; *src: the file itself
 *   errors  SB0100 .. SB0108, SB0125, SB0126; NULL
 */
const struct node *extends_load(struct load *l, const struct source **src);

/* Reads a recipe file from the file system; for `open`. */
const struct source *extends_open_file(void *ctx, struct arena *a, struct diags *ds,
				       const char *path, struct span at);

#endif
