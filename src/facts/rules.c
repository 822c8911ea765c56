#include "internal.h"
#include "schema.h"

/* Compatibility rules: their grammar stands in facts.h. */

struct rules LIST(struct rule);

static struct rule
read_rule(const struct facts *f, const char *name, struct trail t)
{
	struct fact x = t.at[t.n - 1], when = fact_get(x, "when");
	const char *research = fact_text_of(x, "research");
	struct rule r = { .name = name,
			  .research = research ? research : "",
			  .sentence = fact_text_of(x, "sentence"),
			  .help = fact_text_of(x, "help"),
			  .source = trail_source(f, t) };

	rule_severity_of(fact_text_of(x, "severity"), &r.severity);
	rule_code_of(fact_text_of(x, "code"), r.severity, &r.code);
	for (size_t i = 0; i < fact_count(when); i++) {
		struct rule_condition c;

		rule_condition_parse(f->a, fact_key(when, i), fact_text(fact_at(when, i)), &c);
		list_push(f->a, &r.when, c);
	}
	return r;
}

static void
add_rules(const struct facts *f, struct fact file, struct rules *all)
{
	struct fact rules = fact_get(file, "rules");

	for (size_t i = 0; i < fact_count(rules); i++)
		list_push(f->a, all,
			  read_rule(f, fact_key(rules, i),
				    trail_to(trail_of(file), fact_at(rules, i))));
}

const struct rule *
facts_rules(const struct facts *f, size_t *n)
{
	struct facts_read *read = f->read;

	if (!read->rules) {
		struct names extensions = facts_extension_names(f);
		struct rules all = { 0 };

		add_rules(f, facts_file(f, "rules.yaml"), &all);
		for (size_t i = 0; i < extensions.n; i++)
			add_rules(f, extension_file_of(f, extensions.at[i]), &all);
		read->rules = all.at;
		read->nrules = all.n;
	}
	*n = read->nrules;
	return read->rules;
}

const struct research_rule *
facts_research(const struct facts *f, size_t *n)
{
	struct fact rules = fact_get(facts_file(f, "research.yaml"), "research");
	struct research_rule *all = arena_array_of(f->a, struct research_rule, fact_count(rules));

	*n = fact_count(rules);
	for (size_t i = 0; i < *n; i++) {
		struct fact x = fact_at(rules, i);

		all[i] = (struct research_rule){
			.id = fact_key(rules, i),
			.title = fact_text_of(x, "title"),
			.severity = fact_text_of(x, "severity"),
			.basis = fact_text_of(x, "basis"),
			.class = fact_text_of(x, "class"),
			.how = fact_text_of(x, "how"),
			.codes = fact_text_of(x, "codes"),
			.test = fact_text_of(x, "test"),
			.near = fact_text_of(x, "near"),
			.source = fact_text_of(x, "source"),
		};
	}
	return all;
}
