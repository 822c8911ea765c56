#ifndef FIX_H
#define FIX_H

#include "edit.h"

/* Applies fixes and other edits to texts; the caller reads and writes the files. */

/* A file that fixes may change, and its content after them (unchanged if none applied). */
struct fix_file {
	const struct source *src;
	const char *text;
	size_t size; /* bytes */
};

struct fix_files LIST(struct fix_file);

enum fix_state {
	FIX_DONE,
	FIX_LATER,  /* overlaps a fix of this round: try again in the next one */
	FIX_REFUSED /* `why` has the reason */
};

struct fix {
	struct diag *diag;
	const struct note *help; /* with edits */
	enum fix_state state;
	const char *why; /* "its text is on the command line" */
};

struct fixes LIST(struct fix);

/*
 * fix_round -- applies the first help of every error or, if no error has an applicable one, of
 * every warning.
 *
 *   in      ds: places of edits point into the sources of `files`, or cannot be changed; skip:
 *           fix_name of fixes to refuse, because they and others undo each other
 *   out     the fixes in the order of their errors; files->at[].text. All edits of a fix are
 *           applied, or none; of two overlapping fixes, the first one. Other bytes stay the same,
 *           and a valid YAML file stays valid. All fixes of single values (SB01xx) are applied in
 *           one round, but only one fix of later stages, whose errors may have the same cause
 *   memory  lives in a
 */
struct fixes fix_round(struct arena *a, const struct diags *ds, const struct names *skip,
		       struct fix_files *files);

/*
 * fix_apply -- applies a list of edits to texts, all of them or none.
 *
 *   in      edits: their places point into the sources of `files`
 *   out     NULL, and files->at[].text; else the reason, "its text is on the command line"
 *   memory  lives in a
 */
const char *fix_apply(struct arena *a, struct edit *edits, struct fix_files *files);

/* Returns the identity of a fix across rounds: its code and the line of its error. */
const char *fix_name(struct arena *a, const struct fix *f);

/* fix_print -- prints an edit on one line: "r.yaml:3: `2.2.2` -> `2.5.1`". */
void fix_print(const struct edit *e, struct buf *out);

/*
 * fix_diff -- writes the changes as a unified diff for `patch` and `git apply`.
 *
 *   in   path: as printed; leading slashes are dropped after a/ and b/
 *   out  a unified diff with three lines of context; nothing if the texts are equal
 */
void fix_diff(const char *path, const char *old_text, size_t old_size, const char *new_text,
	      size_t new_size, struct buf *out);

#endif
