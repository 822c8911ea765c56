#ifndef RESOLVE_RULE_CASES_H
#define RESOLVE_RULE_CASES_H

#include "internal.h"

/* Rules of the knowledge, for the solver (rule_clauses.c) and the finished stack (rule_check.c). */

/* One case of a rule: the domains that its quantifiers stand for, and the value of its reference. */
struct rule_case {
	struct workspace *w;
	const struct rule *rule;
	int extension, gpu; /* domains, or -1 */
	const char *value;  /* of the reference; or NULL */
	int of;             /* the domain that has it */
};

typedef void rule_case_fn(const struct rule_case *c, void *ctx);
/*
 * Calls fn for every case of a rule that can hold.
 *
 *   in   anchor: the domain that its first condition is on; -1: any
 *        solution: only the cases of these choices; NULL: of all
 */
void rule_each_case(struct workspace *w, const struct rule *r, int anchor,
		    const struct solution *solution, rule_case_fn *fn, void *ctx);
/* Returns the chosen candidate of a domain, or -1. */
int solution_at(const struct solution *solution, unsigned domain);

/* Returns the domain of a variable; -1: this stack does not have it. */
int rule_domain(const struct rule_case *c, enum rule_variable variable, const char *name);
/* Returns the value that a candidate gives a variable; NULL: none, or it is not known. */
const char *rule_value(struct workspace *w, enum rule_variable variable, unsigned domain,
		       size_t candidate);
/* Returns "mamba-ssm 2.2.2"; of a commit the name alone. */
const char *rule_extension_label(const struct rule_case *c, int candidate);
/* Returns the specifier of a condition with the value of its reference: "!={torch}" -> "!=2.2.2". */
const char *rule_specifier(const struct rule_case *c, const struct rule_condition *k);
/* Returns the candidates that fulfil a condition. */
solve_word *rule_set(const struct rule_case *c, const struct rule_condition *k, unsigned domain);

/* Returns the words for a variable in a sentence; k: its condition, NULL: of the reference. */
typedef const char *rule_words_fn(const struct rule_case *c, enum rule_variable variable,
				  unsigned domain, const struct rule_condition *k, void *ctx);
/* Returns a text of the rule with its {places} filled. */
const char *rule_sentence(const struct rule_case *c, const char *text, rule_words_fn *words,
			  void *ctx);

#endif
