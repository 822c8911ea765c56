#ifndef WORLD_LOCK_H
#define WORLD_LOCK_H

#include "lock/lock.h"
#include "uv/uv.h"
#include "world.h"

/* One cell of a recipe while it is locked: shared by the parts of `stackbuild lock`. */
struct locking {
	struct run *r;
	const struct recipe *recipe;
	const struct stack *stack;
	const char *path;
	const struct lock *old; /* NULL: there is none, or it cannot be read */
	struct uv *uv;          /* version NULL: it was not looked for yet */
	struct uv_how how;
};

/* Adds the texts of the secrets that indexes of a recipe name: lines of a netrc.  errors SB0504, false */
bool world_index_secrets(struct run *r, const struct recipe *of, struct names *texts);

/*
 * Reports that uv found no solution: its explanation, the places in the recipe, and the nearest
 * stack that uv can resolve, after at most ten tries.
 *
 *   errors  SB1008
 */
void lock_conflict(struct locking *l, const struct lock_request *q, const struct uv_answer *answer);

#endif
