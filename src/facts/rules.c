#include "internal.h"

#include <string.h>

/* Compatibility rules; facts.h has their grammar. */

static void
add_rules(const struct facts *f, const struct claim *file)
{
	const struct claim *rules = fact_get(file, "rules");

	for (size_t i = 0; i < fact_count(rules); i++) {
		const struct claim *rule = fact_at(rules, i);

		list_push(f->a, &f->read->rules,
			  (struct written_rule){
				  .name = fact_key(rules, i),
				  .written = rule,
				  .on = rule_package(f->a, fact_key(fact_get(rule, "when"), 0)),
			  });
	}
}

static const struct written_rules *
rules_of(const struct facts *f)
{
	struct names extensions;

	if (!f->read->rules.n) {
		extensions = facts_extension_names(f);
		add_rules(f, facts_file(f, "rules.yaml"));
		for (size_t i = 0; i < extensions.n; i++)
			add_rules(f, extension_file_of(f, extensions.at[i]));
	}
	return &f->read->rules;
}

size_t
facts_rule_count(const struct facts *f)
{
	return rules_of(f)->n;
}

const char *
facts_rule_package(const struct facts *f, size_t i)
{
	return rules_of(f)->at[i].on;
}

const struct rule *
facts_rule(const struct facts *f, size_t i)
{
	static const struct source built_in = { .path = "", .text = "" };
	struct written_rule *w = &rules_of(f)->at[i];
	struct rule *r;

	if (!w->rule) {
		w->rule = r = arena_new_of(f->a, struct rule);
		rule_read(f->a, NULL,
			  &(struct pair){ .key = w->name,
					  .value = fact_node(f->a, w->written, &built_in) },
			  r);
		r->source = fact_source(f->a, w->written);
	}
	return w->rule;
}
