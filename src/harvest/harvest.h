#ifndef HARVEST_H
#define HARVEST_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/list.h"
#include "facts/facts.h"

/* Reads packages from an index, and writes the releases of each one to releases/NAME.yaml. */

enum {
	HARVEST_LIMIT = 20,     /* maximum releases of a package whose METADATA is read */
	HARVEST_REQUESTS = 500, /* maximum requests of a run */
};

struct harvest_how {
	const char *index;     /* URL of a simple index; NULL: pip's, see index_of_pip() */
	const char *dir;       /* a knowledge directory; files are written to its releases/ */
	const char *day;       /* today, "2026-11-23" */
	const char *cache;     /* a directory for pages and METADATA; NULL: no cache */
	bool all;              /* read METADATA of every release */
	bool known;            /* take the requirements of a release from f if f has them */
	unsigned limit;        /* maximum releases of a package whose METADATA is read */
	unsigned requests_max; /* maximum requests of the run */
	double timeout_s;      /* time limit of a request */
	void (*tell)(void *ctx, const char *line); /* called for each finished package */
	void *ctx;
};

/*
 * harvest -- reads the packages from an index, one after the other, and writes a file for each.
 *
 *   in      packages: names; f: decides which requirements are kept
 *   out     DIR/releases/NAME.yaml for each package that was read completely: every final release, with
 *           the requirements of the newest ones. The files of the others stay unchanged
 *   errors  SB0286 for each package that failed; false
 *   source  core metadata; the index: fetch/index.h
 */
bool harvest(struct arena *a, struct diags *ds, const struct facts *f, const struct names *packages,
	     const struct harvest_how *how);

#endif
