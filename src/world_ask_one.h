#ifndef WORLD_ASK_ONE_H
#define WORLD_ASK_ONE_H

#include "lock/lock.h"

/* The questions that a process of world_ask.c asks. */

struct ask_how {
	const struct stack *stack;
	const struct names *secrets; /* lines of a netrc */
	const char *netrc;           /* a file with them, or NULL */
};

/* Asks one question; sets answer and why of *q. */
void ask_one(struct arena *a, const struct ask_how *how, struct question *q);

/* Sets q->near of a question with the answer "no": what the source has instead. */
void ask_near(struct arena *a, const struct ask_how *how, struct question *q);

#endif
