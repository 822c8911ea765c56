#ifndef FIT_HELP_H
#define FIT_HELP_H

#include "recipe_help.h"

#include "resolve/fit.h"

/* Recipes out of texts, solved, for the tests of src/fit/. */

/* What a recipe comes to: "SB0235" for each error, "(SB0256)" for each warning. */
static inline const struct fit *__attribute__((unused)) solved(const char *text)
{
	return fit_solve(a, facts, one(text));
}

static inline const char *__attribute__((unused)) codes_of(const struct fit *fit)
{
	struct buf b = BUF(a);

	for (size_t i = 0; i < fit->errors.n; i++)
		buf_printf(&b, "%s%s", b.n ? " " : "", code_table[fit->errors.at[i].code].id);
	for (size_t i = 0; i < fit->warnings.n; i++)
		buf_printf(&b, "%s(%s)", b.n ? " " : "", code_table[fit->warnings.at[i].code].id);
	return buf_text(&b);
}

static inline void __attribute__((unused)) print_conflicts(const struct fit_conflicts *all)
{
	for (size_t i = 0; i < all->n; i++)
		for (size_t k = 0; k < all->at[i].found->facts.n; k++) {
			const struct fit_fact *f = all->at[i].found->facts.at[k].why;

			print_error("  %s: %s\n", f->row->name, f->sentence);
		}
}

static inline void __attribute__((unused)) comes_to(const char *codes, const char *text)
{
	const struct fit *fit = solved(text);

	if (strcmp(codes, codes_of(fit)) != 0) {
		print_error("%s\n", text);
		print_conflicts(&fit->errors);
		print_conflicts(&fit->warnings);
	}
	assert_string_equal(codes, codes_of(fit));
}

/* A sentence of the first error, or of the first warning. */
static inline void __attribute__((unused)) says(const char *part, const char *text)
{
	const struct fit *fit = solved(text);
	const struct fit_conflicts *all = fit->errors.n ? &fit->errors : &fit->warnings;

	assert_true(all->n > 0);
	for (size_t k = 0; k < all->at[0].found->facts.n; k++) {
		const struct fit_fact *f = all->at[0].found->facts.at[k].why;

		if (strstr(f->sentence, part))
			return;
	}
	print_conflicts(all);
	fail_msg("nothing says: %s", part);
}

static inline const char *__attribute__((unused)) chosen(const struct fit *fit, const char *key)
{
	const struct fit_candidate *c = fit_chosen(fit, key);

	return c ? c->text : "";
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
