#ifndef EDITED_H
#define EDITED_H

#include "base/fix.h"
#include "verbs.h"

/* Recipe files that a command edits, in memory until they are written. */

enum { EDITED_ROUNDS_MAX = 20 };

struct edited_file {
	const char *path, *real;      /* path as shown; path without links */
	const struct source *on_disk; /* its content when it was read */
	struct fix_file now;          /* its source in this round, and its content */
	struct buf report;            /* the changes, one line each */
	struct edited_moment {
		const char *text;
		size_t size, report; /* sizes in bytes */
	} rounds[EDITED_ROUNDS_MAX]; /* for check --fix: sizes at the start of each round */
	bool named;                  /* it is on the command line */
};

/* The files of all recipes of a run: those on the command line, and those that they extend. */
struct edited {
	struct run *r;
	struct edited_files LIST(struct edited_file *) files;
};

/* Returns a file with all edits so far: a recipe_open, with a struct edited as ctx. */
const struct source *edited_open(void *ctx, struct arena *a, struct diags *ds, const char *path,
				 struct span at);

/* Makes edited_open return new sources with the current texts. */
void edited_reread(struct edited *e);
/* Returns the files that edited_open has returned since edited_reread. */
struct fix_files edited_sources(const struct edited *e);
/* Replaces the texts by those of these files. */
void edited_take(struct edited *e, const struct fix_files *sources);

/* Returns whether the current text of a file is that one. */
bool edited_holds(const struct edited_file *file, const char *text, size_t size);

/*
 * Applies a list of edits to the sources that edited_open returned.
 *
 *   out  NULL, or why they cannot be applied, as in fix_apply
 */
const char *edited_apply(struct edited *e, struct edit *edits);
/* Restores the texts from the disk. */
void edited_restore(struct edited *e);

/* Writes the changes of all files to standard output as unified diffs, on a terminal in colour. */
void edited_diff(struct run *r, const struct edited *e);

/* Writes the files that changed, with their reports on standard output.  errors: those of fs_replace */
void edited_write(struct edited *e);

/* Prints how to renew the lock of a changed recipe, if it has one. */
void edited_lock(const struct edited *e, const struct recipe *r);

#endif
