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
