#ifndef RESOLVE_RULES_H
#define RESOLVE_RULES_H

#include "internal.h"

/* A rule over the variables of a stack, for one value of each quantifier. */
struct rule_case {
	struct workspace *w;
	const struct rule *rule;
	struct solution *solution; /* the finished stack; NULL: the case is for the solver */
	struct query *q;           /* of the solver: the first condition is on this variable */
	int extension, gpu;        /* the domains of the quantifiers, or -1 */
	const struct rule_reference *reference; /* or NULL */
	int of;                                 /* the domain that has its value */
	const char *value;
	struct clause LIST(struct solve_term) terms; /* of the solver: the conditions */
};

/* Returns the domain of a variable; -1: this stack does not have it. */
int rule_domain(const struct rule_case *c, enum rule_variable variable, const char *name);
/* Returns the value that a candidate gives a variable; NULL: none, or it is unknown. */
const char *rule_value(struct workspace *w, enum rule_variable variable, int domain,
		       size_t candidate);
/* Returns the candidate that the finished stack has of a domain, or -1. */
int rule_chosen(const struct rule_case *c, int domain);
/* Returns the candidates that fulfil a condition. */
solve_word *rule_set(const struct rule_case *c, const struct rule_condition *k, int domain);
/* Returns false if one of the conditions fails that no choice can change. */
bool rule_can_hold(const struct rule_case *c);
/* Returns a text of the rule with its {places} filled. */
const char *rule_sentence(const struct rule_case *c, const char *text);

#endif
