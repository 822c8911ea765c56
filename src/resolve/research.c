#include <strings.h>

#include "base/str.h"
#include "internal.h"

static bool
has_word(struct arena *a, const char *words, const char *word)
{
	const struct names all = names_split(a, words ? words : "", ' ');

	return names_have(&all, word);
}

/* The codes that report a rule, a blank between two, in the order of the table of codes. */
static const char *
codes_of(struct arena *a, const struct facts *f, const struct research_rule *r)
{
	size_t n, nrules;
	const struct constraint_kind *kinds = constraint_kinds(&n);
	const struct rule *rules = facts_rules(f, &nrules);
	bool *told = arena_array_of(a, bool, CODE_COUNT);
	struct names all = { 0 };

	for (size_t i = 0; i < n; i++)
		if (kinds[i].strength < STRENGTH_PREFERENCE && has_word(a, kinds[i].rules, r->id))
			told[kinds[i].code] = true;
	for (size_t i = 0; i < nrules; i++)
		if (has_word(a, rules[i].research, r->id))
			told[rules[i].code] = true;
	for (size_t i = 0; i < CODE_COUNT; i++)
		if (told[i] || has_word(a, r->codes, code_table[i].id))
			list_push(a, &all, code_table[i].id);
	return names_join(a, &all, " ");
}

bool
research_text(struct arena *a, const struct facts *f, const char *id, struct buf *out)
{
	size_t n, i = 0;
	const struct research_rule *all = facts_research(f, &n), *r;
	const char *codes;

	while (i < n && strcasecmp(all[i].id, id) != 0)
		i++;
	if (i == n)
		return false;
	r = &all[i];
	codes = codes_of(a, f, r);
	buf_printf(out, "%s (%s): %s\n\n%s: %s\n", r->id, r->severity, r->title, r->class, r->how);
	if (*codes)
		buf_printf(out, "told by: %s\n", codes);
	buf_printf(out, "tests: tests/%s.test, tests/%s.test\nsource (%s): %s\n", r->test, r->near,
		   r->basis, r->source);
	return true;
}

void
research_of_code(struct arena *a, const struct facts *f, const char *code, struct buf *out)
{
	size_t n;
	const struct research_rule *all = facts_research(f, &n);
	bool first = true;

	for (size_t i = 0; i < n; i++) {
		if (!has_word(a, codes_of(a, f, &all[i]), code))
			continue;
		if (first)
			buf_puts(out, "\nrules that it tells:\n");
		first = false;
		buf_printf(out, "    %s  %s\n", all[i].id, all[i].title);
	}
}

static const char intro[] = "# The rules\n"
			    "\n"
			    "What breaks CUDA extension stacks: a hundred rules gathered from "
			    "issues, sources and wheels, and what\n"
			    "becomes of each here. The ids are those of that collection; "
			    "diagnostics have codes of their own, which\n"
			    "`stackbuild explain CODE` tells more of. `make docs` writes this file "
			    "from the program's own table\n"
			    "(`stackbuild explain --format markdown`).\n"
			    "\n"
			    "- **fact**: follows from the knowledge, by a rule of it or a row of "
			    "`src/resolve/rows.def`.\n"
			    "- **check**: judged in the recipe, by a row of "
			    "`src/resolve/checks.def` or where the value is read.\n"
			    "- **prevented**: the plan adds the pin, the flag or the file; nothing "
			    "is reported. The test shows the\n"
			    "  rendered file.\n"
			    "- **later**: only seen when it runs; the first word says by which "
			    "verb. The test shows what the rendered\n"
			    "  files do about it.\n"
			    "\n"
			    "Severity is how it is told, or would be. What is only *inferred* from "
			    "sources warns at most, but for git\n"
			    "sources without a ref and the mamba-ssm and causal-conv1d pairing; "
			    "*quoted* was met by people, *code* was\n"
			    "read in sources and tables, *general* is general knowledge. Each rule "
			    "has a test that provokes it and one\n"
			    "that nearly does.\n";

void
research_markdown(struct arena *a, const struct facts *f, struct buf *out)
{
	static const char *const classes[] = { "fact", "check", "prevented", "later" };
	size_t n;
	const struct research_rule *all = facts_research(f, &n);

	buf_puts(out, intro);
	buf_printf(out, "\n%zu rules: ", n);
	for (size_t k = 0; k < sizeof(classes) / sizeof(*classes); k++) {
		size_t count = 0;

		for (size_t i = 0; i < n; i++)
			count += !strcmp(all[i].class, classes[k]);
		buf_printf(out, "%s%zu %s", k ? ", " : "", count, classes[k]);
	}
	buf_puts(out, ".\n\n| rule | | severity | class | code | how | tests | source |\n"
		      "|---|---|---|---|---|---|---|---|\n");
	for (size_t i = 0; i < n; i++)
		buf_printf(out, "| %s | %s | %s | %s | %s | %s | `%s` `%s` | %s: %s |\n", all[i].id,
			   all[i].title, all[i].severity, all[i].class, codes_of(a, f, &all[i]),
			   all[i].how, all[i].test, all[i].near, all[i].basis, all[i].source);
}
