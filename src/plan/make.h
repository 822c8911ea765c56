#ifndef PLAN_MAKE_H
#define PLAN_MAKE_H

#include <stdarg.h>

#include "base/str.h"
#include "cuda/cuda.h"
#include "plan.h"

/*
 * The making of a plan, for the files of plan/: first the steps of a stack in a natural
 * order, with needs and commands; then the order; then keys.
 */
struct drafts LIST(struct step);

struct maker {
	struct arena *a;
	const struct stack *s;
	struct drafts steps;
	const char *nvcc, *cuda_home;
	const char
		*stack_end; /* the last step of the stack stage so far: what the next stands on */
	struct names installs;  /* steps after which something more is installed */
	bool packages_in_stack; /* an extension that nobody knows may want them at build time */
};

void plan_stack_steps(struct maker *m);               /* base to build-deps */
void plan_package_steps(struct maker *m);             /* ordinary packages */
void plan_extension_steps(struct maker *m);           /* one an extension */
void plan_last_steps(struct maker *m);                /* check and app */
void plan_cuda_apt(struct maker *m, struct step *st); /* NVIDIA's packages */

/* A step's cache key; the keys of its inputs in their order. */
const char *plan_key(struct arena *a, const struct stack *s, const struct step *st,
		     const struct names *input_keys);
/* plan.json, as plan.h says. */
const char *plan_image_json(struct arena *a, const struct stack *s, const struct step *steps,
			    size_t n, const char *nvcc);
/* Its key "verify": {"archs", "torch", "numpy", "nvcc", "extensions"}, what templates/verify reads. */
struct json;
void plan_expect_json(struct json *j, struct arena *a, const struct stack *s,
		      const struct step *steps, size_t n, const char *nvcc);

/* The costs of the plan's order, from those of its steps. */
void plan_recount(struct arena *a, struct plan *p);

/* --- steps --- */

/* A step with its cost and change rate; kind is also the facts' word for it. */
struct step plan_draft(const struct maker *m, enum step_kind kind, const char *id,
		       const char *stage, const char *package);
void plan_need(struct maker *m, struct step *st, const char *id, const char *why);
void plan_input(struct maker *m, struct step *st, const char *id);
bool plan_has(const struct maker *m, const char *id);
/* An id that no step has yet. */
const char *plan_unique(const struct maker *m, const char *name);

extern const char *const step_kind_words[STEP_KINDS]; /* "base", "apt", ... */

/* --- commands --- */

/* words: a NULL-terminated list, with places. */
struct command plan_command(const struct maker *m, enum phase phase, const char *comment, ...)
	__attribute__((sentinel));
void plan_words(const struct maker *m, struct command *c, ...) __attribute__((sentinel));
void plan_word(const struct maker *m, struct command *c, const char *s);     /* ours */
void plan_verbatim(const struct maker *m, struct command *c, const char *s); /* the recipe's */
void plan_env(const struct maker *m, struct command *c, const char *name, const char *value,
	      bool verbatim);
void plan_cache(const struct maker *m, struct command *c, const char *id, const char *target,
		bool locked);
/* The folders that apt downloads to. */
void plan_apt_caches(const struct maker *m, struct command *c);
/* pip's own cache, for what it downloads; not for what it compiles. */
void plan_pip_cache(const struct maker *m, struct command *c);
/* --index-url, and the netrc with its credentials. */
void plan_index(const struct maker *m, struct command *c, const char *url, const char *secret);
void plan_push(const struct maker *m, struct step *st, struct command c);
void plan_file(const struct maker *m, struct step *st, const char *path, const char *template,
	       const char *text);
/* One of our programs, a template of that name: {share}/NAME. */
void plan_program(const struct maker *m, struct step *st, const char *name);
/* Writes a constraints file, if there is anything to write. */
void plan_constraints(const struct maker *m, struct step *st, const struct names *lines);

#define CONSTRAINTS "{share}/constraints.txt"

#endif
