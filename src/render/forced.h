#ifndef FORCED_H
#define FORCED_H

#include "render.h"

/*
 * What was passed over (diag_force), at the top of a file that was written in spite of it.
 * Every target writes `#` comments; of the manifest, which is JSON, it is a list.
 */

/* The forced ones of a list, a line for each: "r.yaml:3:8: error[SB0242]: ..., because ..." */
struct names forced_lines(struct arena *a, const struct diag *found);

/* Puts them before the text, behind a first line that has to be the first. */
void forced_write(struct arena *a, const struct names *lines, struct rendered *r);

#endif
