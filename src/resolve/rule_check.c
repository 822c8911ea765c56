#include "rule_cases.h"

/*
 * Rules on the finished stack: warnings and notes whose conditions hold, and rules of any severity
 * that cannot be checked, because a value is not known.
 */

enum truth { NO, UNKNOWN, YES };

/* Values that the solver may choose as it likes, since the recipe leads to something unknown. */
static bool
is_open(const struct workspace *w, enum rule_variable variable)
{
	bool image = w->r->base.s != NULL;

	switch (variable) {
	case VAR_OS:
	case VAR_GLIBC: return image && !w->image.os;
	case VAR_GCC: return !w->gcc && image && !w->image.os;
	case VAR_CUDA:
	case VAR_NVCC:
		return !w->r->cuda.s && !w->image.cuda &&
		       (w->r->cuda_from == CUDA_HOST || (image && w->r->cuda_from == CUDA_IMAGE));
	default: return false;
	}
}

/* What a stack without a value of that variable says of a condition on it. */
static enum truth
without(enum rule_variable variable)
{
	return variable == VAR_GCC || variable == VAR_GLIBC ? UNKNOWN : NO;
}

static enum truth
truth_of(const struct rule_case *c, const struct rule_condition *k, const struct solution *solution)
{
	int domain = rule_domain(c, k->variable, k->name);
	int at = domain < 0 ? -1 : solution_at(solution, (unsigned)domain);

	if (k->variable == VAR_ENV || k->all)
		return YES;
	if (at < 0)
		return without(k->variable);
	if (is_open(c->w, k->variable))
		return UNKNOWN;
	if (solve_set_has(rule_set(c, k, (unsigned)domain), (size_t)at))
		return YES;
	return k->variable == VAR_PACKAGE &&
			       !rule_value(c->w, k->variable, (unsigned)domain, (size_t)at) ?
		       UNKNOWN :
		       NO;
}

static const char *
words_of(const struct rule_case *c, enum rule_variable variable, unsigned domain,
	 const struct rule_condition *k, void *ctx)
{
	const struct solution *solution = ctx;
	const struct solver_variable *t = variable_at(c->w, domain);
	size_t at = (size_t)solution->chosen[domain];
	const char *value = rule_value(c->w, variable, domain, at);

	(void)k;
	if (variable == VAR_EXTENSION)
		return rule_extension_label(c, (int)at);
	return value ? value : t->c[at].text;
}

static bool
is_place_of(const struct request *p, int domain)
{
	return (int)p->variable == domain && p->at.line && p->kind != REQUEST_NEED &&
	       p->kind != REQUEST_MACHINE;
}

/* What the base image brings is requested there. */
static int
requested_by(const struct solution *solution, enum rule_variable variable, int domain)
{
	for (size_t n = 0; n < solution->nrequests; n++)
		if (is_place_of(&solution->requests[n], domain))
			return domain;
	switch (variable) {
	case VAR_CUDA:
	case VAR_NVCC:
	case VAR_GCC:
	case VAR_GLIBC:
	case VAR_OS: return variable_find(solution->work, "base");
	default: return domain;
	}
}

/* The places in the recipe of what the conditions are on. */
static void
add_places(const struct rule_case *c, const struct solution *solution, struct finding *out)
{
	for (size_t i = 0; i < c->rule->when.n; i++) {
		const struct rule_condition *k = &c->rule->when.at[i];
		int domain =
			requested_by(solution, k->variable, rule_domain(c, k->variable, k->name));

		for (size_t n = 0; k->variable == VAR_ENV && n < c->w->r->env.n; n++)
			if (!strcmp(c->w->r->env.at[n].name.s, k->name))
				list_push(
					c->w->a, &out->at,
					(struct finding_place){ c->w->r->env.at[n].name.at, NULL });
		for (size_t n = 0; n < solution->nrequests; n++)
			if (is_place_of(&solution->requests[n], domain) ||
			    (k->variable == VAR_GPUS && k->all &&
			     solution->requests[n].kind == REQUEST_GPU))
				list_push(c->w->a, &out->at,
					  (struct finding_place){ solution->requests[n].at,
								  solution->requests[n].note });
	}
}

static void
judge(const struct rule_case *c, void *ctx)
{
	struct solution *solution = ctx;
	const struct rule *r = c->rule;
	struct finding found = { .rule = r };
	enum truth all = YES;

	for (size_t i = 0; i < r->when.n && all != NO; i++) {
		enum truth one = truth_of(c, &r->when.at[i], solution);

		all = one < all ? one : all;
	}
	if (all == UNKNOWN)
		names_once(c->w->a, &solution->rules_open, r->name);
	if (all != YES || r->severity == SEV_ERROR)
		return;
	found.sentence = rule_sentence(c, r->sentence, words_of, solution);
	found.help = r->help ? rule_sentence(c, r->help, words_of, solution) : NULL;
	add_places(c, solution, &found);
	list_push(c->w->a, &solution->findings, found);
}

void
check_rules(struct workspace *w, struct solution *solution)
{
	size_t n;
	const struct rule *rules = facts_rules(w->f, &n);

	for (size_t i = 0; solution->nchosen && i < n; i++)
		rule_each_case(w, &rules[i], -1, solution, judge, solution);
}
