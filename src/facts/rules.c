#include "internal.h"

#include <string.h>

/* Compatibility rules; facts.h has their grammar. */

static void
add_rules(const struct facts *f, size_t file)
{
	struct names on = names_split(f->a, text_at(&facts_row(f, file)->on), ' ');

	for (size_t i = 0; i < on.n; i++)
		list_push(f->a, &f->read->rules,
			  (struct written_rule){
				  .on = strcmp(on.at[i], "-") != 0 ? on.at[i] : NULL,
				  .file = file,
				  .i = i,
			  });
}

/* Lists the rules in the order of the files; files of the top directory come first. */
static const struct written_rules *
rules_of(const struct facts *f)
{
	size_t n = f->read->rules.n ? 0 : facts_file_count(f);

	for (int below = 0; below < 2; below++)
		for (size_t i = 0; i < n; i++) {
			const struct fact_row *file = facts_row(f, i);

			if (*text_at(&file->on) &&
			    (strchr(text_at(&file->name), '/') != NULL) == below)
				add_rules(f, i);
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
	return f->read->rules.at[i].on;
}

const struct rule *
facts_rule(const struct facts *f, size_t i)
{
	static const struct source built_in = { .path = "", .text = "" };
	struct written_rule *w = &rules_of(f)->at[i];
	struct rule *r;

	if (!w->rule) {
		const struct claim *rules = fact_get(row_root(facts_row(f, w->file)), "rules"),
				   *written = fact_at(rules, w->i);

		w->rule = r = arena_new_of(f->a, struct rule);
		rule_read(f->a, NULL,
			  &(struct pair){ .key = fact_key(rules, w->i),
					  .value = fact_node(f->a, written, &built_in) },
			  r);
		r->source = fact_source(f->a, written);
	}
	return w->rule;
}
