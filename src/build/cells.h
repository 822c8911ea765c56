#ifndef CELLS_H
#define CELLS_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/list.h"

/*
 * Cells of a matrix, several at once: each is a build of its own, a stackbuild with --cell, and
 * the engine shares them among its workers.  With several addresses each is a machine: a cell
 * goes to one that has the fewest.
 */
struct cells {
	struct names words, after; /* argv of a build; what is said of a cell goes between them */
	struct names names;        /* of the cells */
	struct names addrs;        /* of builders, or none */
	unsigned at_once;
	bool prefixed; /* each line of standard error after its cell's name */
};

/*
 * cells_build -- all of them, each to its end; after a failure none is started.
 *
 *   in      c; proc_signals() was called
 *   out     false: one failed or was not started; standard output and error are the cells' own,
 *           line by line, the former when a cell is done
 *   errors  SB0512 with the names; SB0506
 *   memory  a
 */
bool cells_build(struct arena *a, struct diags *ds, const struct cells *c);

#endif
