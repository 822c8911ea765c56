#ifndef PROGRAM_H
#define PROGRAM_H

#include "options.h"
#include "recipe/recipe.h"

/*
 * The verbs, shared by the two programs.  `stackbuild` runs them without a world;
 * `stackbuild-world` brings what reaches outside the files named.
 */
struct run;
typedef int verb_run(struct run *r);

struct world {
	verb_run *const *verbs; /* by enum verb: those of the table that are WORLD's */
	/*
	 * Opens the files of the recipe `path` as they were at a git revision: the
	 * opener and its context for recipes_load_from.  False: a diagnostic says why.
	 */
	bool (*at_revision)(struct arena *a, struct diags *ds, const char *path,
			    const char *revision, recipe_open **open, void **ctx);
	void (*close)(void *ctx);
};

/* Runs o->verb; world may be NULL.  Returns the exit status: 0, 1 or 2. */
int program_run(const struct options *o, const struct world *world);

/* Options from argv; a usage error is printed.  False: *status is the exit status. */
bool program_options(struct arena *a, int argc, char **argv, struct options *o, int *status);

/* True if the verb as asked needs the second program. */
bool program_needs_world(const struct options *o);

#endif
