#ifndef GIT_H
#define GIT_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/diag.h"

/*
 * The world outside.  Here: files as they were at a revision of a git repository
 * (libgit2).  Only stackbuild-world links this layer.
 */
struct git_at;

/*
 * git_at_open -- a revision of the repository that holds `path`.
 *
 *   in      path: a file as named on the command line; revision: anything that
 *           git rev-parse takes ("HEAD~3", "v1.2", a commit)
 *   errors  SB0298: no repository, no such revision; NULL
 *   memory  lives in a; git_at_close gives libgit2's handles back
 */
struct git_at *git_at_open(struct arena *a, struct diags *ds, const char *path,
			   const char *revision);
void git_at_close(struct git_at *g);

/*
 * git_at_read -- a file at that revision; ctx is a struct git_at.  The signature is
 * that of recipe_open (recipe/recipe.h).
 *
 *   out     a source whose path reads "REVISION:recipes/x.yaml"
 *   errors  SB0100: not in that revision, not a file, larger than FS_READ_MAX; NULL
 */
const struct source *git_at_read(void *ctx, struct arena *a, struct diags *ds, const char *path,
				 struct span at);

/* Returns the commit, 40 hex digits, that a tag of a remote repository names now, also an annotated one;
 * NULL: *why has the reason, such as no answer within GIT_SECONDS. */
const char *git_remote_commit(struct arena *a, const char *url, const char *tag, const char **why);
enum { GIT_SECONDS = 15 };

#endif
