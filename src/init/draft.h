#ifndef INIT_DRAFT_H
#define INIT_DRAFT_H

#include "base/buf.h"
#include "init.h"
#include "wish.h"

/* Inside init/: a recipe in the making. */

/* Which line of the text holds what, so that a complaint about it can be acted on. */
struct draft_line {
	uint32_t line;
	struct span at;    /* where it was asked for */
	const char **slot; /* set to NULL: the line is left out; NULL: it cannot be */
	const char *what;  /* for show */
};
struct draft_lines LIST(struct draft_line);

struct draft {
	struct init n;
	/* Why each is what it is; or NULL. */
	const char *base_why, *python_why, *torch_why, *index_why;
	bool torch;    /* has a torch: section */
	bool unnamed;  /* its name is to be made from what it is */
	bool repaired; /* a fix was applied, and said: what differs is its doing */
	struct draft_lines lines;
};

/* The text, and d->lines anew.  Equal drafts give equal bytes. */
const char *draft_write(struct arena *a, const struct facts *f, struct draft *d);

/*
 * draft_complete -- choose what is open, repair what can be, and pin all of it.
 *
 *   errors  those of the recipe and of resolve for the nearest that was tried; false
 */
bool draft_complete(struct arena *a, struct diags *ds, const struct facts *f, struct draft *d,
		    const char *path);

/* Every choice of the stack into the draft; where it differs from what was asked, a note. */
void draft_pin(struct reader *rd, struct draft *d, const struct stack *s);

#endif
