#ifndef TARGET_H
#define TARGET_H

#include <stdbool.h>

#include "render.h"
#include "template.h"

/*
 * One kind of file that a plan can be written as.  render.c holds the table of them;
 * a new target is one file and one row.
 */
struct target {
	struct target_row row;
	/*
	 * The file or files of one cell, added to out: path (a bare name: render() puts
	 * the cell's folder before it), text, size, mode, summary, next; target is set by
	 * render().
	 *
	 *   errors  SB04xx, false: the target cannot express the plan, each reason at the
	 *           recipe's line; nothing was added to out.  For a target of the default
	 *           set render() turns these into one warning each and leaves it out.
	 */
	bool (*write)(struct arena *a, struct diags *ds, const struct plan *p,
		      const struct templates *t, struct rendereds *out);
};

bool dockerfile_render(struct arena *a, struct diags *ds, const struct plan *p,
		       const struct templates *t, struct rendereds *out);
bool modal_render(struct arena *a, struct diags *ds, const struct plan *p,
		  const struct templates *t, struct rendereds *out);
bool script_render(struct arena *a, struct diags *ds, const struct plan *p,
		   const struct templates *t, struct rendereds *out);
bool requirements_render(struct arena *a, struct diags *ds, const struct plan *p,
			 const struct templates *t, struct rendereds *out);
bool constraints_render(struct arena *a, struct diags *ds, const struct plan *p,
			const struct templates *t, struct rendereds *out);

#endif
