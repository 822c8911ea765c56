#include <strings.h>

#include "base/str.h"
#include "resolve.h"
#include "solution.h"

static const struct rule_row rows[] = {
#define RULE(id, told, basis, class, codes, title, how, test, near, source) \
	{ id, told, BASIS_##basis, RULE_##class, codes, title, how, test, near, source },
#include "rules.def"
#undef RULE
};

static const char *const classes[] = { "fact", "check", "prevented", "later" };
static const char *const bases[] = { "quoted", "code", "inferred", "general" };
static const char *const severities[] = { "note", "warning", "error" };

const struct rule_row *
rule_of(const char *id)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (!strcasecmp(rows[i].id, id))
			return &rows[i];
	return NULL;
}

static bool
has_word(const char *words, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = words; (p = strstr(p, word)); p += n)
		if ((p == words || p[-1] == ' ') && (!p[n] || p[n] == ' '))
			return true;
	return false;
}

static void
add(struct arena *a, struct names *list, const char *word)
{
	for (size_t i = 0; i < list->n; i++)
		if (!strcmp(list->at[i], word))
			return;
	list_push(a, list, word);
	for (size_t i = list->n - 1; i && strcmp(list->at[i - 1], word) > 0; i--) {
		list->at[i] = list->at[i - 1];
		list->at[i - 1] = word;
	}
}

static struct names
rule_codes(struct arena *a, const struct facts *f, const struct rule_row *r)
{
	struct names list = { 0 };
	size_t n;
	const struct constraint_kind *kinds = constraint_kinds(&n);
	size_t nrules;
	const struct rule *rules = facts_rules(f, &nrules);

	for (const char *p = r->codes; *p; p += strspn(p, " ")) {
		size_t size = strcspn(p, " ");

		add(a, &list, arena_copy(a, p, size));
		p += size;
	}
	for (size_t i = 0; i < n; i++)
		if (kinds[i].strength < STRENGTH_PREFERENCE && has_word(kinds[i].rules, r->id))
			add(a, &list, code_table[kinds[i].code].id);
	for (size_t i = 0; i < nrules; i++)
		if (has_word(rules[i].research, r->id))
			add(a, &list, code_table[rules[i].code].id);
	return list;
}

static void
codes_text(struct arena *a, const struct facts *f, const struct rule_row *r, struct buf *out)
{
	struct names codes = rule_codes(a, f, r);

	for (size_t i = 0; i < codes.n; i++)
		buf_printf(out, "%s%s", i ? " " : "", codes.at[i]);
}

void
rule_text(struct arena *a, const struct facts *f, const struct rule_row *r, struct buf *out)
{
	struct names codes = rule_codes(a, f, r);

	buf_printf(out, "%s (%s): %s\n\n%s: %s\n", r->id, severities[r->told], r->title,
		   classes[r->class], r->how);
	if (codes.n) {
		buf_puts(out, "told by: ");
		codes_text(a, f, r, out);
		buf_putc(out, '\n');
	}
	buf_printf(out, "tests: tests/%s.test, tests/%s.test\nsource (%s): %s\n", r->test, r->near,
		   bases[r->basis], r->source);
}

void
rules_of_code(struct arena *a, const struct facts *f, const char *code, struct buf *out)
{
	bool first = true;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct names codes = rule_codes(a, f, &rows[i]);

		for (size_t k = 0; k < codes.n; k++) {
			if (strcmp(codes.at[k], code) != 0)
				continue;
			if (first)
				buf_puts(out, "\nrules that it tells:\n");
			first = false;
			buf_printf(out, "    %s  %s\n", rows[i].id, rows[i].title);
		}
	}
}

static const char intro[] =
	"# The rules\n"
	"\n"
	"What breaks CUDA extension stacks: a hundred rules gathered from issues, sources and "
	"wheels, "
	"and what\nbecomes of each here. The ids are those of that collection; diagnostics have "
	"codes "
	"of their own, which\n`stackbuild explain CODE` tells more of. `make docs` writes this "
	"file "
	"from the program's own table\n(`stackbuild explain --format markdown`).\n"
	"\n"
	"- **fact**: follows from the knowledge, by a rule of it or a row of "
	"`src/resolve/rows.def`.\n"
	"- **check**: judged in the recipe, by a row of `src/resolve/checks.def` or where the "
	"value is "
	"read.\n"
	"- **prevented**: the plan adds the pin, the flag or the file; nothing is reported. The "
	"test "
	"shows the\n  rendered file.\n"
	"- **later**: only seen when it runs; the first word says by which verb. The test shows "
	"what "
	"the rendered\n  files do about it.\n"
	"\n"
	"Severity is how it is told, or would be. What is only *inferred* from sources warns at "
	"most, "
	"but for git\nsources without a ref and the mamba-ssm and causal-conv1d pairing; *quoted* "
	"was "
	"met by people, *code* was\nread in sources and tables, *general* is general knowledge. "
	"Each "
	"rule has a test that provokes it and one\nthat nearly does.\n";

void
rules_markdown(struct arena *a, const struct facts *f, struct buf *out)
{
	size_t count[4] = { 0 }, n = sizeof(rows) / sizeof(*rows);

	for (size_t i = 0; i < n; i++)
		count[rows[i].class]++;
	buf_puts(out, intro);
	buf_printf(out, "\n%zu rules: ", n);
	for (size_t i = 0; i < 4; i++)
		buf_printf(out, "%s%zu %s", i ? ", " : "", count[i], classes[i]);
	buf_puts(out, ".\n\n| rule | | severity | class | code | how | tests | source |\n"
		      "|---|---|---|---|---|---|---|---|\n");
	for (size_t i = 0; i < n; i++) {
		const struct rule_row *r = &rows[i];

		buf_printf(out, "| %s | %s | %s | %s | ", r->id, r->title, severities[r->told],
			   classes[r->class]);
		codes_text(a, f, r, out);
		buf_printf(out, " | %s | `%s` `%s` | %s: %s |\n", r->how, r->test, r->near,
			   bases[r->basis], r->source);
	}
}
