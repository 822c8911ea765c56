#include <stdlib.h>

#include "rule_cases.h"

/*
 * Compatibility rules of the knowledge (their grammar stands in facts/facts.h) over the variables
 * of a stack.  A rule that speaks of any extension or of any GPU, or that compares with the value
 * of another variable, is several cases: one for each of them.
 */

/* --- variables --- */

static unsigned
package(struct workspace *w, const char *name)
{
	int at = variable_find(w, name);

	if (at >= 0)
		return (unsigned)at;
	return variable_get(w, facts_extension(w->f, name) ? VARIABLE_EXTENSION : VARIABLE_PACKAGE,
			    name);
}

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
	case VAR_PACKAGE: return (int)package(w, name_normalize(w->a, name));
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

static bool
has_field(const struct rule_case *c, const char *condition)
{
	size_t n = strcspn(condition, "=");
	const char *key = variable_at(c->w, (unsigned)c->extension)->key;

	return facts_extension_says(c->w->f, key, arena_copy(c->w->a, condition, n),
				    condition + n + 1);
}

static bool
word_matches(const struct rule_case *c, const struct rule_condition *k, const char *word,
	     const char *value)
{
	if (k->variable == VAR_EXTENSION)
		return has_field(c, word);
	if (k->variable == VAR_SOURCE && !strcmp(word, "compiled"))
		return source_compiles(c->w, variable_at(c->w, (unsigned)c->extension)->key, value);
	return !strcmp(word, value);
}

/* "!={torch cuda}.*" with the value in its place. */
static const char *
filled_spec(const struct rule_case *c, const struct rule_condition *k)
{
	const char *open = k->reference.name ? strchr(k->spec, '{') : NULL;
	size_t n = k->reference.major ? strcspn(c->value, ".") : open ? strlen(c->value) : 0;

	return open ? arena_printf(c->w->a, "%.*s%.*s%s", (int)(open - k->spec), k->spec, (int)n,
				   c->value, strchr(open, '}') + 1) :
		      k->spec;
}

bool
rule_matches(const struct rule_case *c, const struct rule_condition *k, const char *value)
{
	struct arena *a = c->w->a;
	const struct specifiers *spec;
	const struct version *v;
	bool any = false;

	if (!value)
		return false;
	if (k->spec) {
		spec = specifiers_parse(a, filled_spec(c, k));
		v = version_parse(a, value);
		return spec && v && specifiers_match(spec, v, PRE_YES);
	}
	for (size_t i = 0; i < k->words.n && !any; i++)
		any = word_matches(c, k, k->words.at[i], value);
	return !k->words.n || any != k->not ;
}

bool
rule_env_holds(const struct rule_case *c, const struct rule_condition *k)
{
	return rule_matches(c, k, env_value(c->w, k->name));
}

bool
rule_all_gpus(const struct rule_case *c, const struct rule_condition *k)
{
	bool all = false;

	for (size_t i = 0; i < c->w->variables.n; i++)
		if (c->w->variables.at[i]->t.kind == VARIABLE_GPU) {
			if (!rule_matches(c, k, c->w->variables.at[i]->t.c[0].text))
				return false;
			all = true;
		}
	return all;
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

/* One case for each value that the variable of a reference can have. */
static void
each_value(struct rule_case c, rule_case_fn *fn, void *ctx)
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
		if (!value || names_have(&values, value))
			continue;
		list_push(c.w->a, &values, value);
		c.value = value;
		fn(&c, ctx);
	}
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

/* The domain that is asked for the clauses of a rule: that of its first condition on one. */
static int
anchor_of(const struct rule_case *c)
{
	int domain = -1;

	for (size_t i = 0; i < c->rule->when.n && domain < 0; i++) {
		const struct rule_condition *k = &c->rule->when.at[i];

		if (k->variable == VAR_GPUS && k->all)
			domain = next_of(c->w, true, VARIABLE_GPU, -2);
		else if (k->variable == VAR_PACKAGE)
			return variable_find(c->w, name_normalize(c->w->a, k->name));
		else if (k->variable != VAR_ENV)
			return rule_domain(c, k->variable, k->name);
	}
	return domain;
}

void
rule_each_case(struct workspace *w, const struct rule *r, int anchor, rule_case_fn *fn, void *ctx)
{
	const struct rule_condition *gpus = condition_of(r, VAR_GPUS);
	bool extensions = condition_of(r, VAR_EXTENSION) != NULL;

	for (int e = -2; (e = next_of(w, extensions, VARIABLE_EXTENSION, e)) != -2;)
		for (int g = -2; (g = next_of(w, gpus && !gpus->all, VARIABLE_GPU, g)) != -2;) {
			struct rule_case c = { w, r, e, g, NULL, -1 };

			if (anchor < 0 || anchor_of(&c) == anchor)
				each_value(c, fn, ctx);
		}
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
