#include <stdlib.h>

#include "rule_cases.h"

/*
 * Compatibility rules of the knowledge (their grammar stands in facts/facts.h) over the variables
 * of a stack.  A rule that speaks of any extension or of any GPU, or that compares with the value
 * of another variable, is several cases: one for each of them.
 */

/* --- variables --- */

int
rule_domain(const struct rule_case *c, enum rule_variable variable, const char *name)
{
	struct workspace *w = c->w;

	switch (variable) {
	case VAR_TORCH: return variable_find(w, "torch");
	case VAR_BUILD:
	case VAR_TORCH_CUDA:
		return variable_find(w, "torch") < 0 ?
			       -1 :
			       (int)variable_get(w, VARIABLE_BUILD, "torch build");
	case VAR_INDEX: return variable_find(w, "torch index");
	case VAR_NVCC: return w->compiles ? (int)variable_get(w, VARIABLE_CUDA, "cuda") : -1;
	case VAR_CUDA: return (int)variable_get(w, VARIABLE_CUDA, "cuda");
	case VAR_GCC: return (int)variable_get(w, VARIABLE_GCC, "gcc");
	case VAR_GLIBC: return (int)variable_get(w, VARIABLE_GLIBC, "glibc");
	case VAR_STD: return (int)variable_get(w, VARIABLE_STD, "c++");
	case VAR_OS: return (int)variable_get(w, VARIABLE_OS, "os");
	case VAR_PYTHON: return (int)variable_get(w, VARIABLE_PYTHON, "python");
	case VAR_MACHINE: return (int)variable_get(w, VARIABLE_MACHINE, "machine");
	case VAR_DRIVER: return variable_find(w, "driver");
	case VAR_GPUS: return c->gpu;
	case VAR_EXTENSION: return c->extension;
	case VAR_SOURCE:
		return c->extension < 0 ?
			       -1 :
			       source_variable(w, variable_at(w, (unsigned)c->extension)->key);
	case VAR_PACKAGE: return variable_find(w, name_normalize(w->a, name));
	case VAR_ENV: break;
	}
	return -1;
}

const char *
rule_value(struct workspace *w, enum rule_variable variable, unsigned domain, size_t candidate)
{
	const struct candidate *c = &variable_at(w, domain)->c[candidate];

	if (variable == VAR_TORCH_CUDA)
		return cuda_of_tag(w->a, c->text);
	/* A commit has no version; a range that no known release is in has no single one. */
	if (variable == VAR_PACKAGE && (!c->v || (!c->known && strpbrk(c->text, "<>~!") != NULL)))
		return NULL;
	return c->text;
}

const char *
rule_extension_label(const struct rule_case *c, int candidate)
{
	const struct solver_variable *t = variable_at(c->w, (unsigned)c->extension);
	const struct candidate *x = &t->c[candidate];

	return x->v ? arena_printf(c->w->a, "%s %s", t->label, x->text) : t->label;
}

/* --- conditions --- */

/* Of the file of an extension, "cpu=false". */
static bool
has_field(const struct rule_case *c, const struct rule_condition *k)
{
	const char *text = k->words.n ? k->words.at[0] : "";
	size_t n = strcspn(text, "=");
	const char *key = variable_at(c->w, (unsigned)c->extension)->key;

	return !*text ||
	       facts_extension_says(c->w->f, key, arena_copy(c->w->a, text, n), text + n + 1);
}

static bool
word_matches(const struct rule_case *c, const struct rule_condition *k, const char *value)
{
	bool any = false;

	for (size_t i = 0; i < k->words.n && !any; i++)
		any = k->variable == VAR_SOURCE && !strcmp(k->words.at[i], "compiled") ?
			      source_compiles(c->w, variable_at(c->w, (unsigned)c->extension)->key,
					      value) :
			      !strcmp(k->words.at[i], value);
	return any != k->not ;
}

const char *
rule_specifier(const struct rule_case *c, const struct rule_condition *k)
{
	const char *open = k->reference.name ? strchr(k->spec, '{') : NULL;

	return open ? arena_printf(c->w->a, "%.*s%s%s", (int)(open - k->spec), k->spec, c->value,
				   strchr(open, '}') + 1) :
		      k->spec;
}

solve_word *
rule_set(const struct rule_case *c, const struct rule_condition *k, unsigned domain)
{
	const struct solver_variable *t = variable_at(c->w, domain);
	const struct specifiers *spec =
		k->spec ? facts_specifiers(c->w->f, rule_specifier(c, k)) : NULL;
	solve_word *set = set_none(c->w, domain);

	if (k->variable == VAR_EXTENSION || (!spec && !k->words.n))
		return set_all(c->w, domain);
	for (size_t i = 0; i < t->n; i++) {
		const char *value = rule_value(c->w, k->variable, domain, i);
		const struct version *v = t->c[i].v && value == t->c[i].text ? t->c[i].v :
					  spec && value ? facts_version(c->w->f, value) :
							  NULL;

		if (spec ? value && v && specifiers_match(spec, v, PRE_YES) :
			   value && word_matches(c, k, value))
			solve_set_add(set, i);
	}
	return set;
}

/* The domains of a kind, or once -1 where the rule does not ask for one. */
static int
next_of(const struct workspace *w, bool asked, enum variable_kind kind, int last)
{
	if (!asked)
		return last == -2 ? -1 : -2;
	for (int i = last == -2 ? 0 : last + 1; i < (int)w->variables.n; i++)
		if (w->variables.at[i]->t.kind == kind)
			return i;
	return -2;
}

/* Of conditions that no choice can change whether one fails. */
static bool
can_hold(const struct rule_case *c)
{
	for (size_t i = 0; i < c->rule->when.n; i++) {
		const struct rule_condition *k = &c->rule->when.at[i];
		const char *env = k->variable == VAR_ENV ? env_value(c->w, k->name) : NULL;

		if (k->variable == VAR_ENV && !(env && (!k->words.n || word_matches(c, k, env))))
			return false;
		if (k->variable == VAR_EXTENSION && !has_field(c, k))
			return false;
		if (k->variable == VAR_NVCC && !c->w->compiles)
			return false;
		if (k->all && next_of(c->w, true, VARIABLE_GPU, -2) == -2)
			return false;
		for (unsigned g = 0; k->all && g < c->w->variables.n; g++)
			if (variable_at(c->w, g)->kind == VARIABLE_GPU &&
			    !solve_set_has(rule_set(c, k, g), 0))
				return false;
	}
	return true;
}

/* --- cases --- */

static const struct rule_condition *
condition_of(const struct rule *r, enum rule_variable variable)
{
	for (size_t i = 0; i < r->when.n; i++)
		if (r->when.at[i].variable == variable)
			return &r->when.at[i];
	return NULL;
}

static const struct rule_reference *
reference_of(const struct rule *r)
{
	for (size_t i = 0; i < r->when.n; i++)
		if (r->when.at[i].reference.name)
			return &r->when.at[i].reference;
	return NULL;
}

/* One case for each value that the variable of a reference can have, or has. */
static void
each_value(struct rule_case c, const struct solution *solution, rule_case_fn *fn, void *ctx)
{
	const struct rule_reference *r = reference_of(c.rule);
	struct names values = { 0 };

	if (!r) {
		fn(&c, ctx);
		return;
	}
	c.of = rule_domain(&c, r->variable, r->name);
	for (size_t i = 0; c.of >= 0 && i < variable_at(c.w, (unsigned)c.of)->n; i++) {
		const char *value = rule_value(c.w, r->variable, (unsigned)c.of, i);

		if (value && r->major)
			value = arena_copy(c.w->a, value, strcspn(value, "."));
		if (!value || names_have(&values, value) ||
		    (solution && solution_at(solution, (unsigned)c.of) != (int)i))
			continue;
		list_push(c.w->a, &values, value);
		c.value = value;
		fn(&c, ctx);
	}
}

/* The domain that is asked for the clauses of a rule: that of its first condition on one. */
static int
anchor_of(const struct rule_case *c)
{
	int domain = -1;

	for (size_t i = 0; i < c->rule->when.n && domain < 0; i++) {
		const struct rule_condition *k = &c->rule->when.at[i];

		if (k->variable == VAR_GPUS && k->all)
			domain = next_of(c->w, true, VARIABLE_GPU, -2);
		else if (k->variable != VAR_ENV)
			return rule_domain(c, k->variable, k->name);
	}
	return domain;
}

void
rule_each_case(struct workspace *w, const struct rule *r, int anchor,
	       const struct solution *solution, rule_case_fn *fn, void *ctx)
{
	const struct rule_condition *gpus = condition_of(r, VAR_GPUS);
	bool extensions = condition_of(r, VAR_EXTENSION) != NULL;

	for (int e = -2; (e = next_of(w, extensions, VARIABLE_EXTENSION, e)) != -2;)
		for (int g = -2; (g = next_of(w, gpus && !gpus->all, VARIABLE_GPU, g)) != -2;) {
			struct rule_case c = { w, r, e, g, NULL, -1 };

			if ((anchor < 0 || anchor_of(&c) == anchor) && can_hold(&c))
				each_value(c, solution, fn, ctx);
		}
}

int
solution_at(const struct solution *solution, unsigned domain)
{
	return domain < solution->nchosen ? solution->chosen[domain] : -1;
}

/* --- sentences --- */

static const char *
all_gpus(struct workspace *w)
{
	struct names all = { 0 };

	for (unsigned i = 0; i < w->variables.n; i++)
		if (variable_at(w, i)->kind == VARIABLE_GPU)
			list_push(w->a, &all, gpu_label(w, i));
	return names_words(w->a, &all, "and");
}

/* "apex 0.1", "`a100` (compute capability 8.0)", "12.1": what stands for a name in braces. */
static const char *
words_for(const struct rule_case *c, const char *name, rule_words_fn *words, void *ctx)
{
	const struct rule_reference *r = reference_of(c->rule);

	for (size_t i = 0; i < c->rule->when.n; i++) {
		const struct rule_condition *k = &c->rule->when.at[i];
		int domain;

		if (strcmp(k->name, name) != 0 &&
		    (k->variable != VAR_ENV || !ends_with(name, k->name)))
			continue;
		if (k->variable == VAR_ENV)
			return env_value(c->w, k->name);
		domain = rule_domain(c, k->variable, k->name);
		if (k->variable == VAR_GPUS)
			return domain < 0 ? all_gpus(c->w) : gpu_label(c->w, (unsigned)domain);
		return words(c, k->variable, (unsigned)domain, k, ctx);
	}
	return r ? words(c, r->variable, (unsigned)c->of, NULL, ctx) : "";
}

const char *
rule_sentence(const struct rule_case *c, const char *text, rule_words_fn *words, void *ctx)
{
	struct buf b = BUF(c->w->a);

	for (size_t n; *text; text += n + 1) {
		const char *name, *value;
		bool major;

		n = strcspn(text, "{");
		buf_add(&b, text, n);
		if (!text[n])
			break;
		text += n + 1;
		n = strcspn(text, "}");
		name = arena_copy(c->w->a, text, n);
		major = ends_with(name, ".major");
		if (major)
			name = arena_copy(c->w->a, name, n - strlen(".major"));
		value = words_for(c, name, words, ctx);
		buf_add(&b, value, major ? strcspn(value, ".") : strlen(value));
	}
	return buf_text(&b);
}
