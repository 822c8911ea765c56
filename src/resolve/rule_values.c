#include "coverage.h"
#include "rules.h"

/* The variables, conditions and sentences of a compatibility rule. */

/* --- variables --- */

static const char *
key_of(const struct rule_case *c)
{
	return variable_at(c->w, (unsigned)c->extension)->key;
}

int
rule_domain(const struct rule_case *c, enum rule_variable variable, const char *name)
{
	struct workspace *w = c->w;

	switch (variable) {
	case VAR_ENV:
	case VAR_APT:
	case VAR_FROM:
	case VAR_LIBRARY: return -1;
	case VAR_GPUS: return c->gpu;
	case VAR_EXTENSION: return c->extension;
	case VAR_SOURCE: return c->extension < 0 ? -1 : source_variable(w, key_of(c));
	case VAR_TORCH:
	case VAR_DRIVER:
	case VAR_INDEX:
	case VAR_PACKAGE: return variable_find(w, name);
	case VAR_NVCC: return w->compiles ? (int)the_variable(w, VARIABLE_CUDA) : -1;
	case VAR_BUILD:
	case VAR_TORCH_CUDA:
		return variable_find(w, "torch") < 0 ? -1 : (int)the_variable(w, VARIABLE_BUILD);
	default: return (int)variable_named(w, name);
	}
}

const char *
rule_value(struct workspace *w, enum rule_variable variable, int domain, size_t candidate)
{
	const struct candidate *c = &variable_at(w, (unsigned)domain)->c[candidate];

	if (variable == VAR_TORCH_CUDA)
		return cuda_of_tag(w->a, c->text);
	/* A commit has no version, a range may contain no known release, and no rule was tested with
	 * a release above the newest known one. */
	if (variable == VAR_PACKAGE && (!c->v || (!c->known && strpbrk(c->text, "<>~!") != NULL) ||
					candidate_beyond(w, variable_at(w, (unsigned)domain), c)))
		return NULL;
	return c->text;
}

int
rule_chosen(const struct rule_case *c, int domain)
{
	bool there = domain >= 0 && (size_t)domain < c->solution->nchosen;

	return there ? c->solution->chosen[domain] : -1;
}

/* --- conditions --- */

static bool
word_matches(const struct rule_case *c, const struct rule_condition *k, const char *value)
{
	bool any = false;

	for (size_t i = 0; i < k->words.n && !any; i++)
		any = k->variable == VAR_SOURCE ?
			      source_is(c->w, (unsigned)source_variable(c->w, key_of(c)), value,
					k->words.at[i]) :
			      !strcmp(k->words.at[i], value);
	return any != k->not ;
}

/* Returns the specifier of a condition with the value of its reference: "!={torch}" -> "!=2.2.2". */
static const char *
specifier_of(const struct rule_case *c, const struct rule_condition *k)
{
	const char *open = k->reference.name ? strchr(k->spec, '{') : NULL;

	return open ? arena_printf(c->w->a, "%.*s%s%s", (int)(open - k->spec), k->spec, c->value,
				   strchr(open, '}') + 1) :
		      k->spec;
}

static const struct specifiers *
spec_of(const struct rule_case *c, const struct rule_condition *k)
{
	return k->spec ? facts_specifiers(c->w->f, specifier_of(c, k)) : NULL;
}

/* Returns whether a value (NULL: none, or unknown) satisfies a condition; v: its version, or NULL. */
static enum truth
truth_of(const struct rule_case *c, const struct rule_condition *k, const struct specifiers *spec,
	 const char *value, const struct version *v)
{
	bool holds;

	if (k->variable == VAR_EXTENSION || (!k->spec && !k->words.n))
		return YES;
	if (!value)
		return k->variable == VAR_PACKAGE ? UNKNOWN : NO;
	if (spec && !v)
		v = facts_version(c->w->f, value);
	holds = spec ? v && specifiers_match(spec, v) : word_matches(c, k, value);
	return holds ? YES : NO;
}

static enum truth
truth_at(const struct rule_case *c, const struct rule_condition *k, const struct specifiers *spec,
	 int domain, size_t candidate)
{
	const struct candidate *x = &variable_at(c->w, (unsigned)domain)->c[candidate];
	const char *value = rule_value(c->w, k->variable, domain, candidate);

	return truth_of(c, k, spec, value, value == x->text ? x->v : NULL);
}

enum truth
rule_truth(const struct rule_case *c, const struct rule_condition *k, int domain, size_t candidate)
{
	return domain < 0 ? truth_of(c, k, spec_of(c, k), c->cc, NULL) :
			    truth_at(c, k, spec_of(c, k), domain, candidate);
}

solve_word *
rule_set(const struct rule_case *c, const struct rule_condition *k, int domain)
{
	const struct specifiers *spec = spec_of(c, k);
	solve_word *set = set_none(c->w, (unsigned)domain);

	for (size_t i = 0; i < variable_at(c->w, (unsigned)domain)->n; i++)
		if (truth_at(c, k, spec, domain, i) == YES)
			solve_set_add(set, i);
	return set;
}

/* Returns whether the file of an extension has FIELD=VALUE. */
static bool
has_field(const struct rule_case *c, const struct rule_condition *k)
{
	const char *text = k->words.n ? k->words.at[0] : "";
	size_t n = strcspn(text, "=");

	return !*text ||
	       facts_extension_says(c->w->f, key_of(c), arena_copy(c->w->a, text, n), text + n + 1);
}

/* Returns the setting of that name; for "DS_BUILD_*", the first one with that prefix. */
static const char *
setting_value(const struct settings *env, const char *name)
{
	size_t n = strcspn(name, "*");

	list_each (x, env)
		if (name[n] ? !strncmp(x->name.s, name, n) : !strcmp(x->name.s, name))
			return x->value.s;
	return NULL;
}

/* Returns the value in env: of the recipe, or of the extensions that the rule is about. */
static const char *
env_of(const struct rule_case *c, const char *name)
{
	const struct recipe *r = c->w->r;
	const char *value = setting_value(&r->env, name);

	for (size_t i = 0; i < r->extensions.n && !value; i++)
		list_each (x, &c->rule->when)
			if (x->variable == VAR_PACKAGE && !strcmp(x->name, r->extensions.at[i].key))
				value = setting_value(&r->extensions.at[i].env, name);
	return value;
}

/* Returns where a package or an extension comes from. */
static const char *
origin_of(const struct workspace *w, const char *key)
{
	int variable = variable_find(w, key), source = source_variable(w, key);
	const struct recipe_extension *asked = source < 0 ? NULL : w->variables.at[source]->asked;

	if (is_from_pypi(w, key))
		return "pypi";
	if (asked)
		return is_compiled(asked) ? "build" : "wheel";
	return variable >= 0 && w->variables.at[variable]->wheel ? "wheel" : "index";
}

/* Returns whether a package may install cuDNN: its requirements have it, or torch, or are unknown. */
static bool
may_bring_cudnn(const struct workspace *w, const struct requirement *req)
{
	const char *key = name_normalize(w->a, req->name);
	const struct python_package *p = facts_package(w->f, key);
	bool unknown = !p || !p->n;

	for (size_t i = 0; p && i < p->n; i++)
		list_each (x, &p->releases[i].requires)
			if ((starts_with(*x, "torch") || starts_with(*x, "nvidia-cudnn") ||
			     starts_with(*x, "tensorrt")) &&
			    (req->extras.n || !strstr(*x, "extra ==")))
				return true;
	return starts_with(key, "nvidia-cudnn") ||
	       (unknown && !facts_package_independent(w->f, key));
}

/* Returns whether the image has cuDNN, or the libraries of a CUDA toolkit; true if that is unknown. */
static bool
image_has(const struct workspace *w, const char *library)
{
	static const char *const none[] = { "ubuntu", "debian", "python" };
	bool cudnn = !strcmp(library, "cudnn");
	const struct recipe *r = w->r;
	const struct text *image = r->runtime.base.s ? &r->runtime.base : &r->base;
	struct image_name n;

	if (!image->s)
		return true;
	n = facts_image_name(w->f, image->s);
	if (list_any(x, &r->apt, strstr(x->s, library) || (!cudnn && strstr(x->s, "npp"))))
		return true;
	if (!strcmp(n.repository, "nvidia/cuda"))
		return cudnn ? !n.tag || n.cudnn : !n.flavour || strcmp(n.flavour, "base") != 0;
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		if (!strcmp(n.repository, none[i]))
			return false;
	return true;
}

/* Returns whether the image or a package has cuDNN; true if that is unknown. */
static bool
has_cudnn(const struct workspace *w)
{
	const struct recipe *r = w->r;

	return r->torch.at.line || r->torch.version.s || r->extensions.n || r->app.needs ||
	       image_has(w, "cudnn") || list_any(q, &r->packages, may_bring_cudnn(w, q->req));
}

/* Returns a value that only the recipe decides, or NULL. */
static const char *
given_value(const struct rule_case *c, const struct rule_condition *k)
{
	unsigned gpu;

	if (k->variable == VAR_ENV)
		return env_of(c, k->name);
	/* A package may require torch: only the finished stack shows whether it is absent. */
	if (k->variable == VAR_TORCH)
		return !c->solution || rule_chosen(c, variable_find(c->w, "torch")) >= 0 ? k->name :
											   NULL;
	for (size_t g = 0; k->variable == VAR_GPUS && next_gpu(c->w, &g, &gpu);)
		if (rule_truth(c, k, (int)gpu, 0) == YES)
			return k->name;
	if (k->variable == VAR_PACKAGE)
		return recipe_has(c->w, k->name) ? k->name : NULL;
	if (k->variable == VAR_LIBRARY)
		return (starts_with(k->name, "image-") ?
				image_has(c->w, k->name + strlen("image-")) :
				has_cudnn(c->w)) ?
			       k->name :
			       NULL;
	if (k->variable == VAR_FROM)
		return origin_of(c->w, name_normalize(c->w->a, k->name));
	for (size_t i = 0; i < c->w->r->apt.n; i++)
		if (!strcmp(c->w->r->apt.at[i].s, k->name))
			return k->name;
	return NULL;
}

bool
rule_can_hold(const struct rule_case *c)
{
	list_each (k, &c->rule->when) {
		const char *value = k->given ? given_value(c, k) : NULL;
		bool any = false;
		unsigned gpu;

		for (size_t g = 0; k->all && next_gpu(c->w, &g, &gpu); any = true)
			if (rule_truth(c, k, (int)gpu, 0) != YES)
				return false;
		if ((k->given &&
		     (k->absent ? value != NULL :
				  !value || (k->words.n && !word_matches(c, k, value)))) ||
		    (k->variable == VAR_EXTENSION && !has_field(c, k)) ||
		    (k->variable == VAR_NVCC && !c->w->compiles) || (k->all && !any))
			return false;
	}
	return true;
}

/* --- sentences --- */

/* Returns the candidate that a sentence names: the selected one; for the solver, the requested one
 * or the only one in the set; otherwise -1. */
static int
named_candidate(const struct rule_case *c, int domain)
{
	const struct solve_term *t = c->terms.at, *end = t ? t + c->terms.n : t;
	size_t n = variable_at(c->w, (unsigned)domain)->n;
	int at = -1;

	if (c->solution)
		return rule_chosen(c, domain);
	while (t < end && (int)t->variable != domain)
		t++;
	if (t < end && (at = requested_in(c->w, t->variable, t->set)) < 0 &&
	    solve_set_count(t->set, n) == 1)
		for (at = 0; !solve_set_has(t->set, (size_t)at);)
			at++;
	return at;
}

/* Returns "2.2.2" for a single value, otherwise the range: "below 9". k: its condition, or NULL. */
static const char *
value_words(const struct rule_case *c, enum rule_variable variable, int domain,
	    const struct rule_condition *k)
{
	const struct solver_variable *t = variable_at(c->w, (unsigned)domain);
	int at = named_candidate(c, domain);
	const char *value = at < 0 ? NULL : rule_value(c->w, variable, domain, (size_t)at);

	if (at >= 0 && variable == VAR_EXTENSION)
		return t->c[at].v ? arena_printf(c->w->a, "%s %s", t->label, t->c[at].text) :
				    t->label;
	return value                       ? value :
	       c->solution                 ? t->c[at].text :
	       c->value && c->of == domain ? c->value :
	       k && k->spec                ? spec_label(c->w->a, specifier_of(c, k)) :
	       k && k->words.n             ? arena_printf(c->w->a, "%s%s", k->not ? "not " : "",
							  names_words(c->w->a, &k->words, "or")) :
					     t->label;
}

/* Returns the text for a name in braces: "apex 0.1", "`a100` (compute capability 8.0)", "12.1". */
static const char *
words_for(const struct rule_case *c, const char *name)
{
	struct names gpus = { 0 };
	unsigned gpu;

	list_each (k, &c->rule->when) {
		if (k->variable == VAR_ENV && ends_with(name, k->name))
			return env_value(c->w, k->name);
		if (strcmp(k->name, name) != 0 &&
		    strcmp(k->name, name_normalize(c->w->a, name)) != 0)
			continue;
		if (k->variable != VAR_GPUS)
			return value_words(c, k->variable, rule_domain(c, k->variable, k->name), k);
		for (size_t g = 0; next_gpu(c->w, &g, &gpu);)
			if (c->gpu < 0 || c->gpu == (int)gpu)
				list_push(c->w->a, &gpus, gpu_label(c->w, gpu));
		return names_words(c->w->a, &gpus, "and");
	}
	return c->reference ? value_words(c, c->reference->variable, c->of, NULL) : "";
}

const char *
rule_sentence(const struct rule_case *c, const char *text)
{
	struct buf b = BUF(c->w->a);
	const char *name, *value;
	bool major;

	for (size_t n;; text += n + 1) {
		n = strcspn(text, "{");
		buf_add(&b, text, n);
		if (!text[n])
			return buf_text(&b);
		text += n + 1;
		n = strcspn(text, "}");
		name = arena_copy(c->w->a, text, n);
		major = ends_with(name, ".major");
		value = words_for(c, major ? arena_copy(c->w->a, name, n - 6) : name);
		buf_add(&b, value, major ? strcspn(value, ".") : strlen(value));
	}
}
