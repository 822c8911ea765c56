#ifndef PLAN_MAKE_H
#define PLAN_MAKE_H

#include "base/str.h"
#include "cuda/cuda.h"
#include "plan.h"

/*
 * Makes a plan: first the steps of a stack in a natural order, with needs and operations; then the
 * order; then keys. Private to plan/.
 */
struct drafts LIST(struct step);

struct maker {
	struct arena *a;
	const struct stack *s;
	const struct lock *lock;         /* or NULL */
	const char *const *locked_steps; /* the step of each package in the lock */
	struct drafts steps;
	const char *nvcc, *cuda_home;
	const char *
		stack_end; /* the last step of the stack stage so far; the next one starts from it */
	struct names installs;  /* steps that install something */
	bool packages_in_stack; /* an unknown extension may need them at build time */
};

/* Adds all steps, in a natural order. */
void plan_steps(struct maker *m);
/* Adds one step for each extension. */
void plan_extension_steps(struct maker *m);

/* Sets `own` and `key` of a step; inputs: the keys of its inputs, in their order. */
void plan_keys(struct arena *a, const struct stack *s, struct step *st,
	       const struct names *input_keys);
/* Writes plan.json; plan.h describes it. */
const char *plan_image_json(const struct maker *m, const struct step *steps, size_t n);
/* --- steps --- */

/* Returns a step with its cost and change rate; the knowledge base uses the same words for
 * kinds. */
struct step plan_draft(const struct maker *m, enum step_kind kind, const char *id,
		       const char *stage, const char *package);
void plan_need(struct maker *m, struct step *st, const char *id, const char *why);
void plan_input(struct maker *m, struct step *st, const char *id);
bool plan_has(const struct maker *m, const char *id);
/* Returns an id that no step has yet. */
const char *plan_unique(const struct maker *m, const char *name);

extern const char *const step_kind_words[STEP_KINDS]; /* "base", "apt", ... */
extern const char *const plan_source_words[];         /* indexed by enum source_kind: "git", ... */

/* --- operations --- */

/* Adds an operation to a step; returns it, to be filled in. */
struct operation *plan_operation(const struct maker *m, struct step *st, enum operation_kind kind,
				 const char *why);
/* Adds an OP_FILE: {share}/NAME, a helper of that name in templates/. */
void plan_helper(const struct maker *m, struct step *st, const char *name, bool program);
/*
 * Adds an OP_FILE: {share}/constraints.txt with these lines. Returns false without a file if there
 * are none.
 */
bool plan_constraints(const struct maker *m, struct step *st, const struct names *lines);
/* Adds the operations that install a step's packages of the lock ("torch", "build", "packages",
 * "app"), one call for each index. */
void plan_locked(struct maker *m, struct step *st, const char *packages);
/* Returns the recipe's own index. */
struct pip_index plan_index(const struct maker *m);

/* --- for printers of plans --- */

/* Returns "5:40", "1:02:10"; at least "0:01" for any time above 0. */
const char *show_time(struct arena *a, double seconds);
/* Adds the key cost_s; null: unknown. */
struct json;
void json_cost(struct json *j, double seconds);
/*
 * Writes words wrapped at 100 columns and a line end. The first line starts at column `at`, and the
 * other lines are indented to it.
 */
void show_wrapped(struct buf *out, const char *text, size_t at);

#endif
