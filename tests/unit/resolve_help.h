#ifndef RESOLVE_HELP_H
#define RESOLVE_HELP_H

#include "recipe_help.h"

#include "resolve/resolve.h"

/* Makes and solves recipes from texts, for the tests of src/resolve/. */

static inline const struct solution *__attribute__((unused)) solved(const char *text)
{
	return resolve_solve(a, facts, one(text), 0);
}

/* Returns the codes of a solution: "SB0235" for each error, "(SB0256)" for each warning. */
static inline const char *__attribute__((unused)) codes_of(const struct solution *solution)
{
	struct buf b = BUF(a);

	for (size_t i = 0; i < solution->errors.n; i++)
		buf_printf(&b, "%s%s", b.n ? " " : "", code_table[solution->errors.at[i].code].id);
	for (size_t i = 0; i < solution->warnings.n; i++)
		buf_printf(&b, "%s(%s)", b.n ? " " : "",
			   code_table[solution->warnings.at[i].code].id);
	for (size_t i = 0; i < solution->findings.n; i++)
		if (solution->findings.at[i].rule->severity == SEV_WARNING)
			buf_printf(&b, "%s(%s)", b.n ? " " : "",
				   code_table[solution->findings.at[i].rule->code].id);
	return buf_text(&b);
}

static inline void __attribute__((unused)) print_conflicts(const struct conflicts *all)
{
	for (size_t i = 0; i < all->n; i++)
		for (size_t k = 0; k < all->at[i].found.facts.n; k++) {
			const struct constraint *f = all->at[i].found.facts.at[k].why;

			print_error("  %s: %s\n", f->kind->name, f->sentence);
		}
}

static inline void __attribute__((unused)) comes_to(const char *codes, const char *text)
{
	const struct solution *solution = solved(text);

	if (strcmp(codes, codes_of(solution)) != 0) {
		print_error("%s\n", text);
		print_conflicts(&solution->errors);
		print_conflicts(&solution->warnings);
	}
	assert_string_equal(codes, codes_of(solution));
}

/* Checks that a sentence of the first error, or of the first warning, contains `part`. */
static inline void __attribute__((unused)) says(const char *part, const char *text)
{
	const struct solution *solution = solved(text);
	const struct conflicts *all = solution->errors.n ? &solution->errors : &solution->warnings;

	assert_true(all->n > 0);
	for (size_t k = 0; k < all->at[0].found.facts.n; k++) {
		const struct constraint *f = all->at[0].found.facts.at[k].why;

		if (strstr(f->sentence, part))
			return;
	}
	print_conflicts(all);
	fail_msg("nothing says: %s", part);
}

static inline const char *__attribute__((unused))
chosen(const struct solution *solution, const char *key)
{
	const struct candidate *c = solution_selected(solution, key);

	return c ? c->text : "";
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
