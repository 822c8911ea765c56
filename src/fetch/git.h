#ifndef GIT_H
#define GIT_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/list.h"

/*
 * Files at a revision of a git repository, and remote repositories (libgit2). Only stackbuild-world
 * links this layer.
 */
struct git_at;

/*
 * git_at_open -- opens a revision of the repository that contains `path`.
 *
 *   in      path: a file on the command line; revision: any revision of git rev-parse ("HEAD~3",
 *           "v1.2", a commit)
 *   errors  SB0298: no repository, no such revision; NULL
 *   memory  lives in a; git_at_close releases libgit2's handles
 */
struct git_at *git_at_open(struct arena *a, struct diags *ds, const char *path,
			   const char *revision);
void git_at_close(struct git_at *g);

/*
 * git_at_read -- reads a file at that revision; ctx is a struct git_at.  The signature is
 * that of recipe_open (recipe/recipe.h).
 *
 *   out a source with the path "REVISION:recipes/x.yaml"
 *   errors  SB0100: not in that revision, not a file, larger than FS_READ_MAX; NULL
 */
const struct source *git_at_read(void *ctx, struct arena *a, struct diags *ds, const char *path,
				 struct span at);

/*
 * The ignore rules of a repository.
 *
 *   git_rules_open: path: an absolute path without links. Returns NULL if it is in no repository, or if
 *   git ignores it as a whole.
 *   git_rules_ignore: whether git ignores a file or directory (is_dir); a tracked file is never ignored
 *
 *   source  gitignore(5)
 */
struct git_rules;
struct git_rules *git_rules_open(struct arena *a, const char *path);
void git_rules_close(struct git_rules *g);
bool git_rules_ignore(struct arena *a, const struct git_rules *g, const char *path, bool is_dir);

/*
 * git_remote_commit -- returns the current commit of a tag in a remote repository, 40 hex digits, also
 * of an annotated one.
 *
 *   in      tag: NULL: the first commit that the repository lists
 *   out     near, with GIT_NO_TAG: at most GIT_NEAR tags with similar names, the nearest first; or NULL
 *   errors  NULL: *why has the reason, such as no answer within GIT_SECONDS
 *   memory  lives in a
 */
const char *git_remote_commit(struct arena *a, const char *url, const char *tag, struct names *near,
			      const char **why);
enum { GIT_SECONDS = 15, GIT_NEAR = 3 };
#define GIT_NO_TAG "the repository has no such tag" /* a value of *why */
/* Returns true if *why is that the host has no such repository. */
bool git_remote_missing(const char *why);

/* A submodule of a commit. */
struct git_module {
	const char *url, *commit; /* absolute; 40 hex digits */
};
struct git_modules LIST(struct git_module);

/*
 * git_mirror -- fetches a commit of a remote repository, with its history, into a bare repository.
 *
 *   in      ref: the tag of the commit, which is also fetched; or NULL. dir: the bare repository;
 *           created if it does not exist. seconds: time limit
 *   out     *modules (may be NULL): the submodules of the commit; *had: dir already had the commit,
 *           and nothing was fetched. A new dir appears by rename when it is complete
 *   errors  false: *why has the reason
 *   memory  lives in a
 *   source  libgit2 1.5 fetches no shallow history; gitmodules(5)
 */
bool git_mirror(struct arena *a, const char *url, const char *ref, const char *commit,
		const char *dir, double seconds, struct git_modules *modules, bool *had,
		const char **why);

/* Reads the submodules of a commit from a bare repository of git_mirror; false: *why. */
bool git_mirror_modules(struct arena *a, const char *dir, const char *commit,
			struct git_modules *modules, const char **why);

/* Returns true if a bare repository of git_mirror has the commit, with its tag `ref` (or NULL). */
bool git_mirror_has(const char *dir, const char *ref, const char *commit);

#endif
