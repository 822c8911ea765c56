#ifndef GIT_H
#define GIT_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/list.h"

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
#define GIT_NO_TAG "the repository has no such tag" /* a value of *why */

/* A submodule of a commit. */
struct git_module {
	const char *url, *commit; /* absolute; 40 hex digits */
};
struct git_modules LIST(struct git_module);

/*
 * git_mirror -- brings a commit of a remote repository, with its history, into a bare repository.
 *
 *   in      ref: the tag that names the commit, which the bare repository gets too; or NULL.  dir: the bare
 *           repository; made if there is none.  seconds: time limit
 *   out     *modules (may be NULL): the submodules of the commit; *had: dir had the commit already, and
 *           nothing was fetched.  dir appears by rename, when it is whole
 *   errors  false: *why has the reason
 *   memory  lives in a
 *   source  libgit2 1.5 fetches no shallow history; gitmodules(5)
 */
bool git_mirror(struct arena *a, const char *url, const char *ref, const char *commit,
		const char *dir, double seconds, struct git_modules *modules, bool *had,
		const char **why);

/* True if a bare repository that git_mirror made has the commit, and its tag `ref` (or NULL) names it. */
bool git_mirror_has(const char *dir, const char *ref, const char *commit);

#endif
