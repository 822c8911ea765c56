#ifndef RENDER_PIPELINE_H
#define RENDER_PIPELINE_H

#include "target.h"

/*
 * What builds all cells of a recipe, as one file: a build definition, or the pipeline of a code
 * host.  Unlike a target.h target it is written once, after the plans of all cells were seen.
 */
struct pipeline_cell {
	const char *name; /* of the cell; NULL: the recipe has no matrix */
	const char *tag;  /* "latest", or the cell's name as a tag may be */
	const char *path; /* of its Dockerfile, below the output folder */
};
struct pipeline_cells LIST(struct pipeline_cell);

struct pipeline {
	const struct recipe *recipe; /* the first cell's */
	const char *stack;           /* as an image may be called */
	const char *variant;         /* or NULL */
	const char *generated;       /* by what and from what */
	struct pipeline_cells cells;
	struct names secrets; /* of all cells, each once */
};

/* Takes up a cell; copies into a, for the plan goes away. */
void pipeline_add(struct arena *a, struct pipeline *all, const struct plan *p);

/* errors SB04xx, false */
typedef bool pipeline_write(struct arena *a, struct diags *ds, const struct pipeline *p,
			    const struct templates *t, struct rendereds *out);
pipeline_write bake_render, github_render, gitlab_render;

/* The names that templates of all three may use. */
extern const struct shape pipeline_shape[];
/*
 * Whether a code host can be told of the recipe: it lies in the checkout, and no name has a `$`,
 * which both hosts take for one of their variables.  errors SB0405, false
 */
bool pipeline_can_name(struct diags *ds, const struct pipeline *p);
/* One file of a template of the same name. */
bool pipeline_file(struct arena *a, struct diags *ds, const struct pipeline *p,
		   const struct templates *t, const char *name, enum language language,
		   const char *next, struct rendereds *out);

#endif
