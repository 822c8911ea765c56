#ifndef RESOLVE_RULES_H
#define RESOLVE_RULES_H

#include "internal.h"

/* A rule for one value of each of its quantifiers. */
struct rule_case {
	struct workspace *w;
	const struct rule *rule;
	struct solution *solution; /* the finished stack; NULL for the solver */
	struct query *q;           /* for the solver: the first condition is on its variable */
	const char *cc;     /* with a solution: a GPU instead of those of the recipe; or NULL */
	bool *rejected;     /* for cc: set to true if the rule rejects it */
	int extension, gpu; /* variables of the quantifiers, or -1 */
	const struct rule_reference *reference; /* or NULL */
	int of;                                 /* the variable that has its value */
	const char *value;
	struct clause LIST(struct solve_term) terms; /* for the solver: the conditions */
};

/* Returns the solver's variable for a rule's variable; -1: this stack does not have it. */
int rule_domain(const struct rule_case *c, enum rule_variable variable, const char *name);
/* Returns the value that a candidate gives a variable; NULL: none, or it is unknown. */
const char *rule_value(struct workspace *w, enum rule_variable variable, int domain,
		       size_t candidate);
/* Returns the candidate of a variable that the finished stack has, or -1. */
int rule_chosen(const struct rule_case *c, int domain);
enum truth { NO, UNKNOWN, YES };
/* Returns whether a candidate satisfies a condition; domain -1: whether c->cc does. */
enum truth rule_truth(const struct rule_case *c, const struct rule_condition *k, int domain,
		      size_t candidate);
/* Returns the candidates that satisfy a condition. */
solve_word *rule_set(const struct rule_case *c, const struct rule_condition *k, int domain);
/* Returns false if a condition that no selection can change is false. */
bool rule_can_hold(const struct rule_case *c);
/* Returns a text of the rule with its {places} filled. */
const char *rule_sentence(const struct rule_case *c, const char *text);

#endif
