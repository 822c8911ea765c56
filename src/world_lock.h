#ifndef WORLD_LOCK_H
#define WORLD_LOCK_H

#include "lock/lock.h"
#include "uv/uv.h"
#include "world.h"

/* The state of locking a cell, shared by the parts of `stackbuild lock`. */
struct locking {
	struct run *r;
	const struct recipe *recipe;
	const struct stack *stack;
	const char *path;
	const struct lock *old; /* NULL if there is none, or it cannot be read */
	struct uv *uv;          /* version NULL: not searched yet */
	struct uv_how how;
	const char *stand_in; /* index of torch that the default one replaces; or NULL */
	bool reads_sdists; /* instead of --allow-build, use the requirements that an sdist lists */
};

/* Adds the secrets of a recipe's indexes: lines of a netrc file.  errors SB0504, false */
bool world_index_secrets(struct run *r, const struct recipe *of, struct names *texts);

/* Returns true if a text has a name as a separate word. */
bool lock_mentions(const char *text, const char *name);

/* Returns why a stack cannot be locked, with its place; or NULL. */
const char *lock_obstacle(struct arena *a, const struct stack *s, struct span *at);

/* Returns the lock request of a stack; with l->stand_in, torch comes from the default index. */
struct lock_request *lock_asks(struct locking *l, const struct stack *s);

/*
 * Tries at most ten suggested fixes of errors with uv. Adds to each `help` line whether the stack
 * locks after that fix.
 *
 *   in   since: the first diagnostic of the cell
 */
void lock_try_helps(struct locking *l, struct diag *since);

/*
 * Reports that uv found no solution: its explanation, the places in the recipe, and the nearest
 * stack that uv can resolve, after at most ten tries.
 *
 *   errors  SB1008
 */
void lock_conflict(struct locking *l, const struct lock_request *q, const struct uv_answer *answer);

/* Returns the package without a wheel for this stack if it causes the conflict; or NULL. */
const char *lock_needs_build(struct arena *a, const struct uv_answer *answer);

/* Adds to a conflict the changes of the recipe that were tried, and the first one that makes the stack
 * lock. */
void lock_suggest(struct locking *l, struct diag *d, const struct lock_request *q,
		  const char *explanation);

/*
 * Resolves like uv_resolve, but drops packages that have no wheel. With reads_sdists, the
 * requirements of a pinned one stay.
 *
 *   out  left_out: their names, normalised; q no longer has them
 */
enum uv_end lock_resolve_wheels(struct locking *l, struct diags *ds, struct lock_request *q,
				const struct uv_how *how, struct uv_answer *answer,
				struct names *left_out);

/* The processes that lock the cells of a matrix, oldest first. */
struct lock_worker {
	pid_t pid;
	int out, err; /* files with its output */
};
struct lock_workers {
	struct lock_worker *at;
	size_t n, cap;
	size_t ended;  /* number of those whose output was printed */
	unsigned told; /* number of signals that were passed on */
	bool failed;
	struct names shown; /* the diagnostics that were printed */
};

/*
 * lock_fork -- starts a process for the next cell, after the end of another one if too many run.
 *
 *   out     0 in the new process, whose r has no diagnostics and no output; -1 if it cannot start
 *   errors  those of lock_join
 */
pid_t lock_fork(struct run *r, struct lock_workers *all);

/*
 * lock_join -- waits for all processes, and prints their output.
 *
 *   errors  SB1006: a signal ended one; false: one had errors, and printed them
 */
bool lock_join(struct run *r, struct lock_workers *all);

#endif
