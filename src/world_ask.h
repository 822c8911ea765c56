#ifndef WORLD_ASK_H
#define WORLD_ASK_H

#include "base/proc.h"
#include "lock/lock.h"
#include "world.h"

/*
 * The questions of a stack to git hosts, registries, indexes and servers, side by side: one process for
 * each host asks its questions one after another, until the host does not answer one. `stackbuild` has
 * no such process, so they are part of stackbuild-world.
 */

enum {
	ASK_S = 10,          /* time limit of a question */
	ASK_CACHE_S = 86400, /* an answer of the cache is younger */
};

struct asking;

/*
 * ask_begin -- starts to ask; uv can run meanwhile.
 *
 *   in      s, all: the stack, and its questions, which change until ask_end; secrets: lines of a netrc for the
 *           indexes; limit_s: of each question, at most ASK_S
 *   memory  lives in the arena of the run
 */
struct asking *ask_begin(struct run *r, const struct stack *s, struct questions *all,
			 const struct names *secrets, double limit_s);

/*
 * ask_end -- waits for the answers. Every ANSWER_NO becomes an error.
 *
 *   errors  SB1018
 */
void ask_end(struct asking *x);

/* Sets the answer "yes" and its age from the cache; false: it has none. */
bool ask_cached(struct arena *a, const struct stack *s, struct question *q);
/* Saves the answer "yes"; a failure only costs a question later. */
void ask_keep(struct arena *a, const struct stack *s, const struct question *q);

/* Returns true if the answer to a question of that kind (or of an item of packages, if package) is no. */
bool ask_denied(const struct questions *all, enum question_kind kind, bool package);

#endif
