#include <string.h>

#include "base/str.h"
#include "schema.h"

/* Compatibility rules; facts.h has their grammar. */

static const struct {
	const char *name;
	enum rule_variable variable;
} variables[] = {
	{ "torch", VAR_TORCH },   { "torch build", VAR_BUILD }, { "torch cuda", VAR_TORCH_CUDA },
	{ "cuda", VAR_CUDA },     { "torch index", VAR_INDEX }, { "nvcc", VAR_NVCC },
	{ "gcc", VAR_GCC },       { "glibc", VAR_GLIBC },       { "c++", VAR_STD },
	{ "os", VAR_OS },         { "python", VAR_PYTHON },     { "machine", VAR_MACHINE },
	{ "driver", VAR_DRIVER }, { "gpus", VAR_GPUS },         { "extension", VAR_EXTENSION },
	{ "source", VAR_SOURCE }, { "other gpus", VAR_GPUS },
};

static bool
names_library(const char *name)
{
	return !strcmp(name, "library cudnn") || !strcmp(name, "library image-cudnn") ||
	       !strcmp(name, "library image-cuda");
}

static enum rule_variable
variable_of(const char *name)
{
	for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++)
		if (*variables[i].name == *name && !strcmp(variables[i].name, name))
			return variables[i].variable;
	return starts_with(name, "env ")  ? VAR_ENV :
	       starts_with(name, "apt ")  ? VAR_APT :
	       starts_with(name, "from ") ? VAR_FROM :
	       names_library(name)        ? VAR_LIBRARY :
					    VAR_PACKAGE;
}

/* --- one condition --- */

/* Reads the variable in braces of "!={torch cuda}.*"; *plain: the text with a version in its place,
 * for the check of the specifier. */
static const char *
read_reference(struct arena *a, const char *spec, struct rule_reference *out)
{
	const char *open = strchr(spec, '{'), *end = open ? strchr(open, '}') : NULL;
	const char *name;

	if (!open)
		return spec;
	if (!end)
		return "";
	name = arena_copy(a, open + 1, (size_t)(end - open - 1));
	out->major = ends_with(name, ".major");
	if (out->major)
		name = arena_copy(a, name, strlen(name) - strlen(".major"));
	out->name = name;
	out->variable = variable_of(name);
	return arena_printf(a, "%.*s1%s", (int)(open - spec), spec, end + 1);
}

static const char *
read_specifier(struct arena *a, const char *text, struct rule_condition *out)
{
	const char *plain = read_reference(a, text, &out->reference);

	out->spec = text;
	if (!*plain || !specifiers_parse(a, plain))
		return "not a specifier such as \">=2, <3\"";
	if (!out->reference.name)
		return NULL;
	switch (out->reference.variable) {
	case VAR_ENV:
	case VAR_APT:
	case VAR_FROM:
	case VAR_LIBRARY:
	case VAR_GPUS:
	case VAR_SOURCE:
	case VAR_EXTENSION: return "this variable has no value to compare with";
	default: return NULL;
	}
}

static const char *
read_words(struct arena *a, const char *text, struct rule_condition *out)
{
	out->words = names_split(a, text, ' ');
	if (out->variable == VAR_EXTENSION && (out->words.n != 1 || !strchr(out->words.at[0], '=')))
		return "`extension` takes `present` or FIELD=VALUE";
	return out->words.n ? NULL : "empty";
}

const char *
rule_condition_parse(struct arena *a, const char *variable, const char *text,
		     struct rule_condition *out)
{
	bool any = starts_with(text, "any "), all = starts_with(text, "all ");

	*out = (struct rule_condition){ .variable = variable_of(variable), .name = variable };
	out->given = out->variable == VAR_ENV || out->variable == VAR_APT ||
		     out->variable == VAR_FROM || out->variable == VAR_LIBRARY ||
		     !strcmp(variable, "other gpus");
	if (out->given)
		out->name = strchr(variable, ' ') + 1;
	else if (out->variable == VAR_PACKAGE && !name_valid(variable))
		return "neither a variable nor the name of a package";
	else if (out->variable == VAR_PACKAGE)
		out->name = name_normalize(a, variable);
	if (any || all) {
		if (out->variable != VAR_GPUS)
			return "`any` and `all` are for gpus";
		out->all = all;
		text += strlen("any ");
	} else if (out->variable == VAR_GPUS) {
		return "write `any` or `all`, and the compute capabilities";
	}
	out->absent = !strcmp(text, "absent");
	if (out->absent && out->variable != VAR_PACKAGE && out->variable != VAR_TORCH &&
	    out->variable != VAR_ENV && out->variable != VAR_APT && out->variable != VAR_LIBRARY)
		return "only torch, a package, env, apt and a library can be absent";
	out->given |= out->absent;
	if (out->absent || !strcmp(text, "present"))
		return NULL;
	if (*text && strchr("<>=!~", *text))
		return read_specifier(a, text, out);
	if (starts_with(text, "not ")) {
		out->not = true;
		text += strlen("not ");
	}
	return read_words(a, text, out);
}

/* --- one rule --- */

static bool
rule_severity_of(const char *text, enum severity *out)
{
	static const char *const words[] = { "note", "warning", "error" };

	for (size_t i = 0; text && i < sizeof(words) / sizeof(*words); i++)
		if (!strcmp(words[i], text)) {
			*out = (enum severity)i;
			return true;
		}
	return false;
}

static bool
rule_code_of(const char *id, enum severity severity, enum code *out)
{
	*out = severity == SEV_ERROR ? E_FIT : W_FIT_PAIR;
	for (int i = 0; id && i < CODE_COUNT; i++)
		if (!strcmp(code_table[i].id, id)) {
			*out = (enum code)i;
			return code_table[i].severity == severity;
		}
	return !id && severity != SEV_NOTE;
}

/* A place in a sentence is a variable of `when`, or one that a condition refers to. */
static bool
is_named(struct arena *a, const struct node *when, const char *name)
{
	const char *reference = arena_printf(a, "{%s", name);

	for (size_t i = 0; i < when->n; i++)
		if (!strcmp(when->pairs[i].key, name) || strstr(when->pairs[i].value->s, reference))
			return true;
	return false;
}

static const char *
wrong_in_text(struct arena *a, const struct node *when, const char *text)
{
	for (const char *p = text; (p = strchr(p, '{')); p++) {
		size_t n = strcspn(p + 1, "}");
		const char *name = arena_copy(a, p + 1, n);

		if (ends_with(name, ".major"))
			name = arena_copy(a, name, n - strlen(".major"));
		if (!is_named(a, when, name))
			return arena_printf(a, "`{%s}` is not a variable of `when`", name);
	}
	return NULL;
}

static bool
wrong(struct diags *ds, struct span at, const char *name, const char *why)
{
	struct diag *d = diag_at(ds, E_KNOWLEDGE, at, "the rule `%.200s` cannot be used", name);

	diag_why(d, "%s", why);
	diag_help(d, "the head of knowledge/rules.yaml describes rules");
	return false;
}

/* Returns the error of the conditions as a whole, or NULL. */
static const char *
wrong_together(const struct rule_conditions *all, enum severity severity)
{
	const struct rule_reference *first = NULL;
	bool anchored = false;

	for (size_t i = 0; i < all->n; i++) {
		const struct rule_reference *r = &all->at[i].reference;

		anchored |= !all->at[i].given;
		if (r->name && first &&
		    (strcmp(r->name, first->name) != 0 || r->major != first->major))
			return "conditions compare with one variable at most";
		first = r->name ? r : first;
		if (all->at[i].absent && all->at[i].variable == VAR_TORCH && severity == SEV_ERROR)
			return "`torch: absent` is for warnings and notes";
		if (all->at[i].variable != VAR_SOURCE)
			continue;
		for (size_t k = 0; k <= all->n; k++)
			if (k == all->n)
				return "`source` is that of `extension`, which is not named";
			else if (all->at[k].variable == VAR_EXTENSION)
				break;
	}
	return anchored || severity != SEV_ERROR ? NULL :
						   "an error needs a condition on something other "
						   "than env, apt, from and library";
}

bool
rule_read(struct arena *a, struct diags *ds, const struct pair *rule, struct rule *out)
{
	const struct node *map = rule->value, *when = node_get(map, "when");
	struct text severity = node_text(node_get(map, "severity"));
	struct text id = node_text(node_get(map, "code"));
	struct text texts[] = { node_text(node_get(map, "sentence")),
				node_text(node_get(map, "help")) };
	struct rule_condition c;
	const char *why;
	bool ok = true;

	*out = (struct rule){ .name = rule->key, .sentence = texts[0].s, .help = texts[1].s };
	for (size_t i = 0; i < when->n; i++) {
		const struct pair *p = &when->pairs[i];

		why = rule_condition_parse(a, p->key, p->value->s, &c);
		list_push(a, &out->when, c);
		if (why)
			ok = wrong(ds, p->value->at, rule->key,
				   arena_printf(a, "condition `%s: %s`: %s", p->key, p->value->s,
						why));
	}
	if (!rule_severity_of(severity.s, &out->severity))
		return wrong(ds, severity.at, rule->key, "severity is error, warning or note");
	if (!rule_code_of(id.s, out->severity, &out->code))
		ok = wrong(
			ds, id.s ? id.at : rule->key_at, rule->key,
			arena_printf(a,
				     "`code` must be the id of a diagnostic that is of severity %s",
				     severity.s));
	why = ok ? wrong_together(&out->when, out->severity) : NULL;
	if (why)
		ok = wrong(ds, rule->key_at, rule->key, why);
	for (size_t i = 0; ok && ds && i < sizeof(texts) / sizeof(*texts); i++) {
		why = texts[i].s ? wrong_in_text(a, when, texts[i].s) : NULL;
		if (why)
			ok = wrong(ds, texts[i].at, rule->key, why);
	}
	return ok;
}
