#ifndef COMMAND_H
#define COMMAND_H

#include <stdbool.h>

#include "base/buf.h"
#include "plan/plan.h"
#include "quote.h"

/*
 * A plan's commands as shell text: places filled in, every word quoted, lines broken
 * where a reader would break them.
 */

/*
 * What the places in a plan's words stand for.  A text that starts with `$` is a
 * variable of the script and what follows it ("$share/src"); any other is the folder or
 * program itself.  {secrets} and {inputs} are for targets alone: where files of secrets lie,
 * and where those go that say what a wheel depends on.
 */
struct places {
	const char *src, *wheels, *share, *python, *venv, *prefix, *work, *app, *secrets, *inputs;
};

/* How the text is laid out: columns of the first line and of those that follow. */
struct layout {
	enum language language;
	struct places places;
	unsigned column; /* where the first word will stand */
	unsigned indent; /* blanks before a line that continues */
	unsigned width;  /* columns */
};

/*
 * command_text -- `NAME=value ... launcher ... program argument ...`, added to out.
 *
 *   out     lines end in " \" but for the last, which has no line end
 *   errors  SB0404 at `at`, false: a value that the shell cannot be given there
 */
bool command_text(struct diags *ds, const struct command *c, const struct layout *l, struct span at,
		  struct buf *out);

/* A word with its places filled in, quoted. */
bool word_text(struct diags *ds, const struct word *w, const struct layout *l, struct span at,
	       struct buf *out);

/* Prints the text of an OP_FILE: `printf '%s\n' LINE ... > PATH`, laid out as command_text(). */
bool file_text(struct diags *ds, const struct operation *op, const struct layout *l, struct span at,
	       struct buf *out);

/* A word with its places filled in, for a target whose places are no variables. */
const char *word_plain(struct arena *a, const struct word *w, const struct places *p);

/* Words that are shell text already, laid out as those of a command. */
void words_text(const struct names *words, const struct layout *l, struct buf *out);

/*
 * "compiled for 9.0 only: ..." if nvcc-arch cuts down the list of GPUs that the extension's
 * build has of its own; "compiles for 7.0, 8.0: ..." if nothing changes that list; else NULL.
 */
const char *own_gpus(struct arena *a, const struct stack *s, const struct stack_extension *e);

#endif
