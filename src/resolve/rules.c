#include "rules.h"

/*
 * Compatibility rules of the knowledge (facts/facts.h has their grammar) over the variables of a
 * stack. A rule of severity error is a fact for the solver: its conditions cannot all be true.
 * Warnings and notes are evaluated on the finished stack; if a value is unknown, the rule stays
 * unchecked. A rule about any extension or GPU, or about the value of another variable, is
 * evaluated once for each.
 */

/* --- for the solver: a clause --- */

/* Adds a term; two conditions on one variable become one term. */
static void
add_term(struct rule_case *of, int domain, const solve_word *set)
{
	const struct candidate *all = variable_at(of->w, (unsigned)domain)->c;

	for (struct solve_term *t = of->terms.at; t && t < of->terms.at + of->terms.n; t++)
		if ((int)t->variable == domain) {
			t->set = SET_WHERE(of->w, (unsigned)domain, c,
					   solve_set_has(set, (size_t)(c - all)) &&
						   solve_set_has(t->set, (size_t)(c - all)));
			return;
		}
	list_push(of->w->a, &of->terms, IN((unsigned)domain, set));
}

/* Adds the candidates that give the reference its value in this case. */
static void
add_reference(struct rule_case *c, const struct rule_reference *r)
{
	size_t n = strlen(c->value);
	solve_word *set = set_none(c->w, (unsigned)c->of);

	for (size_t i = 0; i < variable_at(c->w, (unsigned)c->of)->n; i++) {
		const char *value = rule_value(c->w, r->variable, c->of, i);

		if (value && !strncmp(value, c->value, n) && (!value[n] || value[n] == '.'))
			solve_set_add(set, i);
	}
	add_term(c, c->of, set);
}

static void
add_clause(struct rule_case *c)
{
	const struct extension *e =
		c->extension < 0 ? NULL : c->w->variables.at[c->extension]->entry;
	unsigned gpu;

	c->terms.n = 0;
	list_each (k, &c->rule->when) {
		int domain = rule_domain(c, k->variable, k->name);

		/* The solver may still add the package. */
		if (domain < 0 && k->variable == VAR_PACKAGE && !k->absent)
			domain = (int)variable_named(c->w, k->name);
		for (size_t g = 0; k->all && next_gpu(c->w, &g, &gpu);)
			add_term(c, (int)gpu, set_all(c->w, gpu));
		if (k->given)
			continue;
		if (domain >= 0)
			add_term(c, domain, rule_set(c, k, domain));
		else if (!k->all)
			return;
		if (k->reference.name)
			add_reference(c, &k->reference);
	}
	add_conflict(c->q, c->terms.at, c->terms.n, e ? e->source : c->rule->source, "%s",
		     rule_sentence(c, c->rule->sentence));
}

/* --- findings about the finished stack --- */

/* Returns true for values that the solver selects freely, because the recipe leaves them open. */
static bool
is_open(const struct workspace *w, enum rule_variable variable)
{
	bool image = w->r->base.s != NULL;

	switch (variable) {
	case VAR_OS:
	case VAR_GLIBC:
	case VAR_GCC: return image && !w->image.os && !(variable == VAR_GCC && w->gcc);
	case VAR_CUDA:
	case VAR_NVCC:
		return !requested_cuda(w) &&
		       (w->r->cuda_from == CUDA_HOST || (image && w->r->cuda_from == CUDA_IMAGE));
	default: return false;
	}
}

/* Returns whether the finished stack satisfies a condition that no other part of each_case() decides. */
static enum truth
truth_of(const struct rule_case *c, const struct rule_condition *k)
{
	enum rule_variable variable = k->variable;
	int domain = rule_domain(c, variable, k->name), at = rule_chosen(c, domain);

	if (k->given || k->all)
		return YES;
	if (c->cc && variable == VAR_GPUS)
		return rule_truth(c, k, -1, 0);
	if (at < 0)
		return variable == VAR_GCC || variable == VAR_GLIBC ? UNKNOWN : NO;
	if (is_open(c->w, variable))
		return UNKNOWN;
	return rule_truth(c, k, domain, (size_t)at);
}

/* For packages of an image, returns the place of the image. */
static struct finding_places
places_of(const struct rule_case *c)
{
	struct finding_places all = { 0 };

	list_each (k, &c->rule->when) {
		bool brought = k->variable == VAR_CUDA || k->variable == VAR_NVCC ||
			       k->variable == VAR_GCC || k->variable == VAR_GLIBC ||
			       k->variable == VAR_OS;
		int domains[] = { rule_domain(c, k->variable, k->name),
				  brought ? variable_find(c->w, "base") : -1 };
		const struct setting *set =
			k->variable == VAR_ENV ? setting_named(&c->w->r->env, k->name) : NULL;
		const struct recipe_extension *asked;
		size_t before;

		if (set)
			list_push(c->w->a, &all, (struct finding_place){ set->name.at, NULL });
		before = all.n;
		for (size_t d = 0; d < 2 && all.n == before; d++)
			for (size_t n = 0; n < c->solution->nrequests; n++) {
				const struct request *p = &c->solution->requests[n];

				if (((int)p->variable == domains[d] && p->at.line &&
				     p->kind != REQUEST_NEED && p->kind != REQUEST_MACHINE) ||
				    (k->all && p->kind == REQUEST_GPU))
					list_push(c->w->a, &all,
						  (struct finding_place){ p->at, p->note });
			}
		/* An extension without a version is no request. */
		asked = domains[0] < 0 ? NULL : c->w->variables.at[domains[0]]->asked;
		if (asked && all.n == before)
			list_push(c->w->a, &all, (struct finding_place){ asked->name.at, NULL });
	}
	return all;
}

static void
judge(const struct rule_case *c)
{
	const struct rule *r = c->rule;
	const struct rule_condition *open = NULL;
	enum truth all = YES, one;

	for (size_t i = 0; i < r->when.n && all != NO; i++) {
		one = truth_of(c, &r->when.at[i]);
		open = one == UNKNOWN ? &r->when.at[i] : open;
		all = one < all ? one : all;
	}
	/* The verdict does not depend on a note. */
	if (c->cc)
		*c->rejected |= all == YES;
	else if (all == UNKNOWN && r->severity != SEV_NOTE)
		list_push(c->w->a, &c->solution->rules_open, (struct rule_open){ r->name, open });
	else if (all == YES && r->severity != SEV_ERROR)
		list_push(c->w->a, &c->solution->findings,
			  (struct finding){ .rule = r,
					    .sentence = rule_sentence(c, r->sentence),
					    .help = r->help ? rule_sentence(c, r->help) : NULL,
					    .at = places_of(c) });
}

/* --- the cases of a rule --- */

/* The candidates of the variable of its first condition provide the clauses of a rule. */
static int
anchor_of(const struct rule_case *c)
{
	unsigned gpu;

	list_each (k, &c->rule->when) {
		size_t first = 0;

		if (!k->all && !k->given)
			return rule_domain(c, k->variable, k->name);
		if (k->all && next_gpu(c->w, &first, &gpu))
			return (int)gpu;
	}
	return -1;
}

/* Iterates over the variables of the quantifiers, then over the values of the reference. */
static void
each_case(struct rule_case c)
{
	const struct rule_reference *r = NULL;
	struct names values = { 0 };

	for (size_t i = 0; i < c.rule->when.n && !c.value; i++) {
		const struct rule_condition *k = &c.rule->when.at[i];
		bool any_gpu = k->variable == VAR_GPUS && !k->all && !k->given;
		int *domain = any_gpu ? &c.gpu : &c.extension;

		if (k->reference.name)
			r = c.reference = &k->reference;
		if ((any_gpu ? c.cc != NULL : k->variable != VAR_EXTENSION) || *domain >= 0)
			continue;
		for (int at = 0; at < (int)c.w->variables.n; at++)
			if (variable_at(c.w, (unsigned)at)->kind ==
			    (any_gpu ? VARIABLE_GPU : VARIABLE_EXTENSION)) {
				*domain = at;
				each_case(c);
			}
		return;
	}
	if (!c.value && ((c.q && anchor_of(&c) != (int)c.q->variable) || !rule_can_hold(&c)))
		return;
	if (!r)
		c.solution ? judge(&c) : add_clause(&c);
	c.of = r ? rule_domain(&c, r->variable, r->name) : -1;
	for (size_t i = 0; c.of >= 0 && i < variable_at(c.w, (unsigned)c.of)->n; i++) {
		c.value = rule_value(c.w, r->variable, c.of, i);
		if (c.value && r->major)
			c.value = arena_copy(c.w->a, c.value, strcspn(c.value, "."));
		if (!c.value || names_have(&values, c.value) ||
		    (c.solution && rule_chosen(&c, c.of) != (int)i))
			continue;
		list_push(c.w->a, &values, c.value);
		each_case(c);
	}
}

/* Evaluates the rules of which the package of the first condition is in the stack; of a variable of the
 * solver, those about it. */
static void
each_rule(struct rule_case c)
{
	struct workspace *w = c.w;
	struct constraint_kind *row = w->rule_rows;
	size_t n = facts_rule_count(w->f);
	const char *key = c.q ? variable_at(w, c.q->variable)->key : NULL;
	bool package = c.q && variable_at(w, c.q->variable)->kind == VARIABLE_PACKAGE;

	c.extension = c.gpu = -1;
	if (!row)
		row = w->rule_rows = arena_array_of(w->a, struct constraint_kind, n + 1);
	for (size_t i = 0; i < n; i++, row++) {
		const char *on = facts_rule_package(w->f, i);

		/* Most rules concern another package than the current variable. */
		if (on ? (key ? *on != *key || strcmp(on, key) != 0 : variable_find(w, on) < 0) :
			 package)
			continue;
		c.rule = facts_rule(w->f, i);
		if ((c.q || c.cc) && c.rule->severity != SEV_ERROR)
			continue;
		/* In a conflict of several facts, the sentence of a rule is the most useful one. */
		*row = (struct constraint_kind){ .name = c.rule->name,
						 .code = c.rule->code,
						 .priority = 65 };
		if (c.q)
			c.q->kind = row;
		each_case(c);
	}
}

void
add_rules(struct query *q)
{
	each_rule((struct rule_case){ .w = q->w, .q = q });
}

void
check_rules(struct workspace *w, struct solution *solution)
{
	if (solution->nchosen)
		each_rule((struct rule_case){ .w = w, .solution = solution });
}

bool
rules_reject_gpu(struct workspace *w, const char *cc)
{
	bool rejected = false;

	/* The cast is safe: judge() only reads the solution for a GPU. */
	each_rule((struct rule_case){ .w = w,
				      .solution = (struct solution *)(uintptr_t)w->solution,
				      .cc = cc,
				      .rejected = &rejected });
	return rejected;
}
