#ifndef TARGET_H
#define TARGET_H

#include <stdbool.h>

#include "render.h"
#include "template.h"

/*
 * One kind of file that a plan can be written as.  render.c holds the table of them;
 * a new target is one file and one row.
 *
 * A target adds the file or files of one cell to out: path (a bare name: render() puts
 * the cell's folder before it), text, size, mode, summary, next; render() adds its name.
 *
 *   errors  SB04xx, false: the target cannot express the plan, each reason at the
 *           recipe's line; nothing was added to out.  For a target of the default set
 *           render() makes them warnings and leaves it out.
 */
typedef bool target_write(struct arena *a, struct diags *ds, const struct plan *p,
			  const struct templates *t, struct rendereds *out);

target_write dockerfile_render, modal_render, script_render, requirements_render,
	constraints_render;

/* The Dockerfile that `build` gives to an engine; build NULL: the one for people. */
bool dockerfile_for(struct arena *a, struct diags *ds, const struct plan *p,
		    const struct templates *t, const struct render_build *build,
		    struct rendereds *out);

/* The same without writing: what Modal refuses of a plan. */
void modal_judge(struct arena *a, struct diags *ds, const struct plan *p);

#endif
