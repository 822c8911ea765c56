#include "rule_cases.h"

/* Rules of severity error, as facts for the solver: their conditions cannot all hold. */

struct clause LIST(struct solve_term);

/* Two conditions on one domain are one term. */
static void
and_term(struct workspace *w, struct clause *all, unsigned domain, const solve_word *set)
{
	size_t n = variable_at(w, domain)->n;

	for (size_t i = 0; i < all->n; i++)
		if (all->at[i].variable == domain) {
			solve_word *both = set_none(w, domain);

			for (size_t k = 0; k < n; k++)
				if (solve_set_has(set, k) && solve_set_has(all->at[i].set, k))
					solve_set_add(both, k);
			all->at[i].set = both;
			return;
		}
	list_push(w->a, all, (struct solve_term){ .variable = domain, .set = set });
}

/* The domain of a condition, made where a package is named that may come to be there. */
static int
domain_of(const struct rule_case *c, const struct rule_condition *k)
{
	int domain = rule_domain(c, k->variable, k->name);
	const char *name = name_normalize(c->w->a, k->name);

	if (domain >= 0 || k->variable != VAR_PACKAGE)
		return domain;
	return (int)variable_get(
		c->w, facts_extension(c->w->f, name) ? VARIABLE_EXTENSION : VARIABLE_PACKAGE, name);
}

/* False: the condition can never hold. */
static bool
and_condition(const struct rule_case *c, const struct rule_condition *k, struct clause *all)
{
	struct workspace *w = c->w;
	int domain = domain_of(c, k);

	if (k->variable == VAR_ENV)
		return true;
	for (unsigned i = 0; k->all && i < w->variables.n; i++)
		if (variable_at(w, i)->kind == VARIABLE_GPU)
			and_term(w, all, i, set_all(w, i));
	if (domain >= 0)
		and_term(w, all, (unsigned)domain, rule_set(c, k, (unsigned)domain));
	return k->all || domain >= 0;
}

/* The candidates that give the reference its value in this case. */
static void
and_reference(const struct rule_case *c, enum rule_variable variable, struct clause *all)
{
	size_t n = strlen(c->value);
	solve_word *set = set_none(c->w, (unsigned)c->of);

	for (size_t i = 0; i < variable_at(c->w, (unsigned)c->of)->n; i++) {
		const char *value = rule_value(c->w, variable, (unsigned)c->of, i);

		if (value && !strncmp(value, c->value, n) && (!value[n] || value[n] == '.'))
			solve_set_add(set, i);
	}
	and_term(c->w, all, (unsigned)c->of, set);
}

/* The candidate that a sentence names: the one requested, or the only one of the set; else -1. */
static int
named_candidate(struct workspace *w, unsigned domain, const solve_word *set)
{
	size_t n = variable_at(w, domain)->n;
	int at = requested(w, domain);

	if (at >= 0 && solve_set_has(set, (size_t)at))
		return at;
	for (size_t i = 0; solve_set_count(set, n) == 1 && i < n; i++)
		if (solve_set_has(set, i))
			return (int)i;
	return -1;
}

/* "2.2.2" where one value is meant, else the range: "below 9". */
static const char *
words_of(const struct rule_case *c, enum rule_variable variable, unsigned domain,
	 const struct rule_condition *k, void *ctx)
{
	const struct clause *all = ctx;
	const struct solver_variable *t = variable_at(c->w, domain);
	const char *value = NULL;
	int at = -1;

	for (size_t i = 0; i < all->n; i++)
		if (all->at[i].variable == domain)
			at = named_candidate(c->w, domain, all->at[i].set);
	if (at >= 0 && variable == VAR_EXTENSION)
		return rule_extension_label(c, at);
	if (at >= 0)
		value = rule_value(c->w, variable, domain, (size_t)at);
	return value                ? value :
	       c->of == (int)domain ? c->value :
	       k && k->spec         ? spec_label(c->w->a, rule_specifier(c, k)) :
	       k && k->words.n      ? arena_printf(c->w->a, "%s%s", k->not ? "not " : "",
						   names_words(c->w->a, &k->words, "or")) :
				      t->label;
}

struct clauses_of {
	struct query *q;
	const struct constraint_kind *row;
};

static void
add_clause(const struct rule_case *c, void *ctx)
{
	const struct clauses_of *of = ctx;
	const struct extension *e = NULL;
	struct clause all = { 0 };

	for (size_t i = 0; i < c->rule->when.n; i++) {
		const struct rule_condition *k = &c->rule->when.at[i];

		if (!and_condition(c, k, &all))
			return;
		if (k->reference.name)
			and_reference(c, k->reference.variable, &all);
	}
	for (size_t i = 0; i < all.n; i++)
		if (!solve_set_count(all.at[i].set, variable_at(c->w, all.at[i].variable)->n))
			return;
	if (c->extension >= 0)
		e = c->w->variables.at[c->extension]->entry;
	of->q->kind = of->row;
	add_conflict(of->q, all.at, all.n, e ? e->source : c->rule->source, "%s",
		     rule_sentence(c, c->rule->sentence, words_of, &all));
}

/* Of several facts in a conflict, that of a rule tells most. */
enum { RULE_PRIORITY = 65 };

void
add_rules(struct query *q)
{
	struct workspace *w = q->w;
	size_t n;
	const struct rule *rules = facts_rules(w->f, &n);

	if (!w->rule_rows) {
		w->rule_rows = arena_array_of(w->a, struct constraint_kind, n + 1);
		for (size_t i = 0; i < n; i++)
			w->rule_rows[i] = (struct constraint_kind){ .name = rules[i].name,
								    .strength = STRENGTH_ERROR,
								    .code = rules[i].code,
								    .priority = RULE_PRIORITY,
								    .rules = rules[i].research };
	}
	for (size_t i = 0; i < n; i++) {
		struct clauses_of of = { q, &w->rule_rows[i] };

		if (rules[i].severity == SEV_ERROR)
			rule_each_case(w, &rules[i], (int)q->variable, NULL, add_clause, &of);
	}
}
