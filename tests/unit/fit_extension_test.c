/* fit/: extensions, their wheels and their GPUs: what is chosen, and what cannot be. */
#include "recipe_help.h"

#include "fit/fit.h"

/* What a recipe comes to: "SB0235" for each error, "(SB0256)" for each warning. */
static const struct fit *
solved(const char *text)
{
	return fit_solve(a, facts, one(text));
}

static const char *
codes_of(const struct fit *fit)
{
	struct buf b = BUF(a);

	for (size_t i = 0; i < fit->errors.n; i++)
		buf_printf(&b, "%s%s", b.n ? " " : "", code_table[fit->errors.at[i].code].id);
	for (size_t i = 0; i < fit->warnings.n; i++)
		buf_printf(&b, "%s(%s)", b.n ? " " : "",
			   code_table[fit->warnings.at[i].code].id);
	return buf_text(&b);
}

static void
print_conflicts(const struct fit_conflicts *all)
{
	for (size_t i = 0; i < all->n; i++)
		for (size_t k = 0; k < all->at[i].found->facts.n; k++) {
			const struct fit_fact *f = all->at[i].found->facts.at[k].why;

			print_error("  %s: %s\n", f->row->name, f->sentence);
		}
}

static void
comes_to(const char *codes, const char *text)
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
static void
says(const char *part, const char *text)
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

static const char *
chosen(const struct fit *fit, const char *key)
{
	const struct fit_candidate *c = fit_chosen(fit, key);

	return c ? c->text : "";
}

#define STACK "torch: {version: 2.2.2, index: cu121}\ncuda: \"12.1\"\npython: \"3.11\"\n"

/* --- where a release comes from --- */

static void
a_source_archive_without_its_source(void **state)
{
	(void)state;
	comes_to("SB0235", STACK "extensions: [{name: mamba-ssm, version: 2.2.2, from: sdist}]\n");
	says("the source archive on PyPI cannot be compiled of mamba-ssm 2.2.2: it holds no file of",
	     STACK "extensions: [{name: mamba-ssm, version: 2.2.2, from: sdist}]\n");
	comes_to("SB0235",
		 STACK "extensions: [{name: causal-conv1d, version: 1.5.1, from: sdist}]\n");
	/* Left open it comes from git; and from the next release on the archive is whole. */
	comes_to("", STACK "extensions: [mamba-ssm==2.2.2]\n");
	assert_string_equal(
		"git", chosen(solved(STACK "extensions: [mamba-ssm==2.2.2]\n"), "mamba-ssm source"));
	comes_to("", STACK "extensions: [{name: causal-conv1d, version: 1.5.2, from: sdist}]\n");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_source_archive_without_its_source, setup,
						teardown),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
