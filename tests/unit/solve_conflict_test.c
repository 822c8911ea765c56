/* solve/: the reasons of conflicts, and the repairs. */
#include "solve_help.h"

/* --- conflicts --- */

static const char *const stack = "torch = 2.5 2.4 2.2\npython = 3.13 3.12 3.11\nnumpy = 2 1\n"
				 "gpu = b200 h100\ncuda = 12.8 12.4 12.1\nmamba = 2.3 2.2\n"
				 "torch 2.2 > python 3.12 3.11\n"
				 "torch 2.2 ? numpy 1\n"
				 "torch 2.5 2.4 2.2 > cuda 12.4 12.1\n"
				 "gpu b200 > cuda 12.8\n"
				 "mamba 2.3 > torch 2.5 2.4\n"
				 "torch 2.4 ? python 3.12 3.11";

static void
independent_conflicts_are_told_apart(void **state)
{
	struct universe *u = universe(stack);
	struct solve_conflicts c;

	(void)state;
	pin(u, "torch 2.2");
	pin(u, "python 3.13");
	pin(u, "gpu b200");
	pin(u, "cuda 12.4");
	pin(u, "numpy 1");
	c = conflicts(u);
	assert_int_equal(c.n, 2);
	assert_string_equal(pins_of(u, &c.at[0].pins), "0 1");
	assert_string_equal(facts_of(u, &c.at[0].facts), "torch 2.2 > python 3.12 3.11");
	assert_string_equal(pins_of(u, &c.at[1].pins), "2 3");
	assert_string_equal(facts_of(u, &c.at[1].facts), "gpu b200 > cuda 12.8");
	done(u);
}

static void
a_fixed_pin_may_be_in_two_conflicts(void **state)
{
	struct universe *u = universe(stack);
	struct solve_conflicts c;

	(void)state;
	pin(u, "torch 2.2")->fixed = true;
	pin(u, "numpy 2");
	pin(u, "mamba 2.3");
	c = conflicts(u);
	assert_int_equal(c.n, 2);
	assert_string_equal(pins_of(u, &c.at[0].pins), "0 1");
	assert_string_equal(pins_of(u, &c.at[1].pins), "0 2");
	u->pins.at[0].fixed = false;
	assert_int_equal(conflicts(u).n, 1);
	done(u);
}

static void
a_conflict_of_facts_alone_has_no_pins(void **state)
{
	struct universe *u = universe("a = 1\nb = 1\n! b *\nb 1");
	struct solve_conflicts c;

	(void)state;
	pin(u, "a 1");
	expect(u, NULL);
	c = conflicts(u);
	assert_int_equal(c.n, 1);
	assert_int_equal(c.at[0].pins.n, 0);
	assert_string_equal(facts_of(u, &c.at[0].facts), "! b *, b 1");
	assert_string_equal(repair(u, NULL), "");
	done(u);
}

/* --- repairs --- */

static void
the_fewest_then_the_lightest_then_the_best(void **state)
{
	struct universe *u = universe(stack);

	(void)state;
	pin(u, "torch 2.2");
	pin(u, "python 3.13");
	pin(u, "numpy 2");
	pin(u, "torch *")->fixed = true;
	pin(u, "python *")->fixed = true;
	assert_string_equal(repair(u, NULL), "[0] torch 2.5, python 3.13, numpy 2, cuda 12.4");
	done(u);

	u = universe("a = 2 1\nb = 2 1\na 2 & b 2");
	pin(u, "a 2");
	pin(u, "b 2");
	assert_string_equal(repair(u, NULL), "[1] a 2");
	u->rank[0] = 1;
	assert_string_equal(repair(u, NULL), "[0] b 2");
	u->pins.at[0].weight = 2;
	u->pins.at[1].weight = 1;
	assert_string_equal(repair(u, NULL), "[1] a 2");
	done(u);
}

static void
what_is_kept_is_not_changed(void **state)
{
	struct universe *u = universe("a = 2 1\nb = 2 1\na 2 & b 2");
	const bool keep_b[] = { false, true }, both[] = { true, true };

	(void)state;
	pin(u, "a 2");
	pin(u, "b 2");
	assert_string_equal(repair(u, keep_b), "[0] b 2");
	assert_string_equal(repair(u, both), "");
	u->pins.at[0].fixed = true;
	assert_string_equal(repair(u, NULL), "[1] a 2");
	/* Only the fixed pin is left to change. */
	assert_string_equal(repair(u, keep_b), "[0] b 2");
	done(u);
}

/* --- wanted candidates --- */

static const solve_word *
all_but_the_first(void *ctx, unsigned x)
{
	struct universe *u = ctx;
	solve_word *first = solve_set(u->a, u->candidates[x]);

	solve_set_add(first, 0);
	return solve_set_not(u->a, first, u->candidates[x]);
}

static void
wanted_candidates_are_tried_first(void **state)
{
	struct universe *u =
		universe("foo = 3 2 1\nbar = 2 1\nbaz = 1\nfoo 2 > bar 2\nfoo 3 > baz 1");

	(void)state;
	u->p.wanted = all_but_the_first;
	pin(u, "foo *");
	expect(u, "foo 2, bar 2");
	pin(u, "bar 1");
	expect(u, "foo 1, bar 1");
	pin(u, "baz 1");
	pin(u, "foo 3");
	expect(u, "foo 3, bar 1, baz 1");
	done(u);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wanted_candidates_are_tried_first),
		cmocka_unit_test(independent_conflicts_are_told_apart),
		cmocka_unit_test(a_fixed_pin_may_be_in_two_conflicts),
		cmocka_unit_test(a_conflict_of_facts_alone_has_no_pins),
		cmocka_unit_test(the_fewest_then_the_lightest_then_the_best),
		cmocka_unit_test(what_is_kept_is_not_changed),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
