#ifndef PLAN_SHOW_H
#define PLAN_SHOW_H

#include "make.h"

/* For what prints plans. */

/* "5:40", "1:02:10"; at least "0:01" for what takes any time. */
const char *show_time(struct arena *a, double seconds);
/* "daily", "weekly", "monthly", "quarterly", "yearly", "rarely"; "-" for never. */
const char *show_rate(double changes_a_day);
/* A command for the reader: env, argv, quoted as a shell would have it where needed. */
void show_command(struct buf *out, const struct command *c);

/* The cost of a step and of all that depends on it: by inputs, and in the chain. */
double graph_cost(struct arena *a, const struct plan *p, size_t step);
double chain_cost(const struct plan *p, size_t step);
/* True for each step that depends on it, itself included. */
const bool *graph_after(struct arena *a, const struct plan *p, size_t step);

/*
 * Words wrapped at 100 columns: the first line starts at column `at`, the following
 * lines are indented to it.  Ends with a line end.
 */
void show_wrapped(struct buf *out, const char *text, size_t at);

#endif
