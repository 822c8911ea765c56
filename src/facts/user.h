#ifndef FACTS_USER_H
#define FACTS_USER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/list.h"

/* The part of facts.h for the files that `stackbuild facts refresh` reads and writes. */
struct facts;

/*
 * facts_use_user -- lets releases/NAME.yaml in a directory, written by `stackbuild facts refresh`,
 * replace the built-in file.
 *
 *   in      dir: need not exist.  A file is read at the first use of its package
 *   out     a file is ignored if it is older than the built-in knowledge base, if a file of the
 *           overlay has its name, or if it is not valid; facts_user_files() returns which
 */
void facts_use_user(const struct facts *f, const char *dir);

/* A file of that directory that a lookup has opened; the list is sorted by name. */
struct user_file {
	const char *package, *path;
	const char *read;    /* "2026-11-30", or NULL */
	const char *ignored; /* why it is not used, or NULL */
};
struct user_files LIST(const struct user_file *);
struct user_files facts_user_files(const struct facts *f);

/* Returns the packages that `facts refresh` reads without arguments, in the order of harvest.yaml. */
struct names facts_harvest(const struct facts *f);
/* Returns true if `facts refresh` keeps requirements on this package; name: normalised. */
bool facts_tracks(const struct facts *f, const char *name);
/*
 * facts_releases_valid -- returns true if a text is a valid file releases/NAME.yaml.
 *
 *   in      path: where it will be; its last part names the package
 *   errors  SB0101 .. SB0104, SB0280, SB0281; false
 *   memory  the diagnostics borrow path and text
 */
bool facts_releases_valid(struct arena *a, struct diags *ds, const char *path, const char *text,
			  size_t n);

/* Adds the age of the knowledge base and of the releases of each package, as text or JSON. */
void facts_status(const struct facts *f, struct arena *a, bool as_json, struct buf *out);

#endif
