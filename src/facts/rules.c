#include "internal.h"

/* Compatibility rules: their grammar stands in facts.h. */

static void
add_rules(const struct facts *f, const struct claim *file)
{
	const struct claim *rules = fact_get(file, "rules");
	static const struct source built_in = { .path = "", .text = "" };
	struct rule r;

	for (size_t i = 0; i < fact_count(rules); i++) {
		const struct claim *rule = fact_at(rules, i);

		rule_read(f->a, NULL,
			  &(struct pair){ .key = fact_key(rules, i),
					  .value = fact_node(f->a, rule, &built_in) },
			  &r);
		r.source = fact_source(rule);
		list_push(f->a, &f->read->rules, r);
	}
}

const struct rule *
facts_rules(const struct facts *f, size_t *n)
{
	struct names extensions = facts_extension_names(f);

	if (!f->read->rules.n) {
		add_rules(f, facts_file(f, "rules.yaml"));
		for (size_t i = 0; i < extensions.n; i++)
			add_rules(f, extension_file_of(f, extensions.at[i]));
	}
	*n = f->read->rules.n;
	return f->read->rules.at;
}

const struct research_rule *
facts_research(const struct facts *f, size_t *n)
{
	const struct claim *rules = fact_get(facts_file(f, "research.yaml"), "research");
	struct research_rule *all = arena_array_of(f->a, struct research_rule, fact_count(rules));

	*n = fact_count(rules);
	for (size_t i = 0; i < *n; i++) {
		const struct claim *x = fact_at(rules, i);

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
