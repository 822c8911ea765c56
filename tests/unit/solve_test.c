/* solve/: small hand-made universes, including the examples of PubGrub's own documentation. */
#include "solve_help.h"

/* --- https://github.com/dart-lang/pub/blob/master/doc/solver.md, "Examples" --- */

static void
no_conflicts(void **state)
{
	struct universe *u = universe("foo = 1.0.0\nbar = 2.0.0 1.0.0\nfoo 1.0.0 > bar 1.0.0");

	(void)state;
	pin(u, "foo 1.0.0");
	expect(u, "foo 1.0.0, bar 1.0.0");
	done(u);
}

static void
avoiding_conflict_during_decision_making(void **state)
{
	struct universe *u = universe("foo = 1.1.0 1.0.0\nbar = 2.0.0 1.1.0 1.0.0\n"
				      "foo 1.1.0 > bar 2.0.0");

	(void)state;
	pin(u, "foo 1.1.0 1.0.0");
	pin(u, "bar 1.1.0 1.0.0");
	expect(u, "foo 1.0.0, bar 1.1.0");
	done(u);
}

static void
performing_conflict_resolution(void **state)
{
	struct universe *u = universe("foo = 2.0.0 1.0.0\nbar = 1.0.0\n"
				      "foo 2.0.0 > bar 1.0.0\nbar 1.0.0 > foo 1.0.0");

	(void)state;
	pin(u, "foo *");
	expect(u, "foo 1.0.0");
	done(u);
}

static void
conflict_resolution_with_a_partial_satisfier(void **state)
{
	struct universe *u = universe("foo = 1.1.0 1.0.0\ntarget = 2.0.0 1.0.0\nleft = 1.0.0\n"
				      "right = 1.0.0\nshared = 2.0.0 1.0.0\n"
				      "foo 1.1.0 > left 1.0.0\nfoo 1.1.0 > right 1.0.0\n"
				      "left 1.0.0 > shared *\nright 1.0.0 > shared 1.0.0\n"
				      "shared 1.0.0 > target 1.0.0");

	(void)state;
	pin(u, "foo *");
	pin(u, "target 2.0.0");
	expect(u, "foo 1.0.0, target 2.0.0");
	done(u);
}

static void
linear_error_reporting(void **state)
{
	struct universe *u = universe("foo = 1.0.0\nbar = 2.0.0\nbaz = 3.0.0 1.0.0\n"
				      "foo 1.0.0 > bar 2.0.0\nbar 2.0.0 > baz 3.0.0");
	struct solve_conflicts c;

	(void)state;
	pin(u, "foo 1.0.0");
	pin(u, "baz 1.0.0");
	expect(u, NULL);
	c = conflicts(u);
	assert_int_equal(c.n, 1);
	assert_string_equal(pins_of(u, &c.at[0].pins), "0 1");
	assert_string_equal(facts_of(u, &c.at[0].facts),
			    "foo 1.0.0 > bar 2.0.0, bar 2.0.0 > baz 3.0.0");
	/* Two pins, two facts, and three steps to a contradiction. */
	assert_int_equal(c.at[0].proof.n, 7);
	done(u);
}

static void
branching_error_reporting(void **state)
{
	struct universe *u = universe("foo = 1.1.0 1.0.0\na = 1.0.0\nb = 2.0.0 1.0.0\n"
				      "x = 1.0.0\ny = 2.0.0 1.0.0\n"
				      "foo 1.0.0 > a 1.0.0\nfoo 1.0.0 > b 1.0.0\n"
				      "foo 1.1.0 > x 1.0.0\nfoo 1.1.0 > y 1.0.0\n"
				      "a 1.0.0 > b 2.0.0\nx 1.0.0 > y 2.0.0");
	struct solve_conflicts c;

	(void)state;
	pin(u, "foo *");
	expect(u, NULL);
	c = conflicts(u);
	assert_int_equal(c.n, 1);
	assert_string_equal(pins_of(u, &c.at[0].pins), "0");
	assert_int_equal(c.at[0].facts.n, 6);
	done(u);
}

/* --- variables and facts --- */

static void
only_what_is_tried_is_asked_about(void **state)
{
	struct universe *u = universe("a = 2 1\nb = 2 1\nc = 1\nd = 1\n"
				      "a 2 > b 2 1\nb 2 > c 1\nc 1 & a 2\nb 1 ? d 1");

	(void)state;
	pin(u, "a 2");
	expect(u, "a 2, b 1");
	for (unsigned x = 0; x < u->n; x++)
		assert_int_equal(u->met[x], 1);
	assert_int_equal(u->asked[0][0], 1);
	assert_int_equal(u->asked[0][1], 0);
	assert_int_equal(u->asked[1][0] + u->asked[1][1], 2);
	assert_int_equal(u->asked[3][0], 0);
	done(u);
}

static void
what_nobody_names_is_never_met(void **state)
{
	struct universe *u = universe("a = 1\nb = 1\nc = 1\nb 1 > c 1");

	(void)state;
	pin(u, "a 1");
	expect(u, "a 1");
	assert_int_equal(u->met[1] + u->met[2], 0);
	done(u);
}

static void
conflicts_ask_about_each_candidate_once(void **state)
{
	struct universe *u = universe("a = 2 1\nb = 2 1\nc = 2 1\na * > b 1\nb 1 > c 1\nc 1 > a 1");

	(void)state;
	pin(u, "a 2");
	pin(u, "c 2 1");
	assert_int_equal(conflicts(u).n, 1);
	for (unsigned x = 0; x < u->n; x++) {
		assert_true(u->met[x] <= 1);
		assert_true(u->asked[x][0] <= 1 && u->asked[x][1] <= 1);
	}
	done(u);
}

static void
an_optional_pin_counts_if_its_thing_is_there(void **state)
{
	struct universe *u = universe("a = 2 1\nb = 2 1\na 2 > b 2 1\na 1 ? b 2");

	(void)state;
	pin(u, "b 1")->optional = true;
	expect(u, "");
	pin(u, "a *");
	expect(u, "a 2, b 1");
	pin(u, "a 1");
	expect(u, "a 1");
	pin(u, "b *");
	expect(u, NULL);
	done(u);
}

/* Python is decided late, so its facts are requested late, too. */
static void
a_pin_counts_while_its_condition_holds(void **state)
{
	const char *text = "python = 3.11 3.12\ntriton = 3.6 2.2\ntorch = 2.11\n"
			   "torch 2.11 > triton 3.6";
	struct universe *u = universe(text);
	solve_word *old = solve_set(u->a, 2);
	struct solve_term when = { .variable = variable(u, "python"), .set = old };
	struct solve_conflicts c;

	(void)state;
	solve_set_add(old, 0);
	pin(u, "python *");
	pin(u, "triton 2.2")->when = &when;
	expect(u, "python 3.11, triton 2.2");
	pin(u, "torch 2.11");
	expect(u, "python 3.12, triton 3.6, torch 2.11");
	pin(u, "python 3.11");
	expect(u, NULL);
	c = conflicts(u);
	assert_int_equal(c.n, 1);
	assert_string_equal(pins_of(u, &c.at[0].pins), "1 2 3");
	done(u);
}

static void
a_thing_without_candidates_cannot_be_had(void **state)
{
	struct universe *u = universe("a = 2 1\ngone =\na 2 > gone *\na 1 ? gone *");

	(void)state;
	pin(u, "a *");
	expect(u, "a 1");
	pin(u, "gone *");
	expect(u, NULL);
	assert_string_equal(repair(u, NULL), "[1] a 1");
	done(u);
}

static void
facts_of_three(void **state)
{
	struct universe *u = universe("a = 2 1\nb = 2 1\nc = 2 1\nd = 1\n"
				      "a 2 & b 2 & c 2\na 2 & b 2 & ! d 1");

	(void)state;
	pin(u, "a *");
	pin(u, "b *");
	expect(u, "a 2, b 2, d 1");
	pin(u, "c *");
	expect(u, "a 2, b 2, c 1, d 1");
	pin(u, "c 2");
	expect(u, "a 2, b 1, c 2");
	done(u);
}

static void
of_several_the_lowest_is_taken(void **state)
{
	struct universe *u = universe("a = 1\nb = 2 1\nc = 2 1\na 1 & ! b * & ! c *\nb 2 ? a *");

	(void)state;
	pin(u, "a 1");
	expect(u, "a 1, b 2");
	u->rank[1] = 1;
	expect(u, "a 1, c 2");
	/* It is in the solution anyway, so b is not requested. */
	u->rank[1] = 0;
	pin(u, "c 1");
	expect(u, "a 1, c 1");
	done(u);

	u = universe("a = 1\nb = 2 1\nc = 2 1\na 1 & ! b * & ! c *\nb * & a 1");
	pin(u, "a 1");
	expect(u, "a 1, c 2");
	done(u);
}

static void
the_lowest_rank_chooses_first(void **state)
{
	struct universe *u = universe("a = 2 1\nb = 2 1\na 2 & b 2");

	(void)state;
	pin(u, "a *");
	pin(u, "b *");
	expect(u, "a 2, b 1");
	u->rank[0] = 1;
	expect(u, "a 1, b 2");
	u->p.rank = NULL;
	expect(u, "a 2, b 1");
	done(u);
}

static void
who_is_needed_waits_for_who_needs_it(void **state)
{
	struct universe *u = universe("a = 2 1\nb = 2 1\nc = 2 1\nc * > b *\na 2 & b 2");

	(void)state;
	u->rank[0] = 1;
	u->rank[2] = 2;
	pin(u, "a *");
	pin(u, "c *");
	expect(u, "a 2, b 1, c 2");
	pin(u, "b *");
	expect(u, "a 1, b 2, c 2");
	done(u);
}

static void
pins_that_are_off_do_not_count(void **state)
{
	struct universe *u = universe("a = 3 2 1");
	const bool on[] = { true, false, true };
	struct solve_result r;

	(void)state;
	pin(u, "a 3 2");
	pin(u, "a 1");
	pin(u, "a 2 1");
	expect(u, NULL);
	r = solve(u->a, &u->p, u->pins.at, u->pins.n, on, SOLVE_BUDGET);
	assert_int_equal(r.status, SOLVE_FOUND);
	assert_string_equal(text_of(u, &r), "a 2");
	done(u);
}

static void
nothing_asked_nothing_there(void **state)
{
	struct universe *u = universe("a = 1");

	(void)state;
	expect(u, "");
	assert_int_equal(conflicts(u).n, 0);
	assert_string_equal(repair(u, NULL), "[] ");
	done(u);
}

/* --- the budget --- */

static void
the_budget_is_kept(void **state)
{
	struct universe *u = universe("a = 3 2 1\nb = 3 2 1\nc = 3 2 1\n"
				      "a 3 & b 3\na 3 & b 2\na 3 & b 1\nb 3 & c 3");
	struct solve_result full, r;
	struct solve_repair repaired;
	bool gave_up = false;

	(void)state;
	pin(u, "a *");
	pin(u, "b *");
	pin(u, "c *");
	full = solve_all(u);
	assert_int_equal(full.status, SOLVE_FOUND);
	assert_string_equal(text_of(u, &full), "a 2, b 3, c 2");
	for (unsigned steps = 0; steps <= full.steps; steps++) {
		start_again(u);
		r = solve(u->a, &u->p, u->pins.at, u->pins.n, NULL, (struct solve_budget){ steps });
		assert_int_equal(r.status, steps < full.steps ? SOLVE_GAVE_UP : SOLVE_FOUND);
		assert_int_equal(r.steps, steps);
	}
	start_again(u);
	assert_int_equal(
		solve_conflicts(u->a, &u->p, u->pins.at, 3, (struct solve_budget){ 1 }, &gave_up).n,
		0);
	assert_true(gave_up);
	gave_up = false;
	start_again(u);
	assert_false(solve_repair(u->a, &u->p, u->pins.at, 3, NULL, (struct solve_budget){ 1 },
				  &gave_up, &repaired));
	assert_true(gave_up);
	done(u);
}

/* --- large variables: the provider counts --- */

struct counted {
	struct arena *a;
	size_t n;   /* candidates of each */
	bool alike; /* otherwise, no two variables may have the same candidate */
};

static size_t
count(void *ctx, unsigned x)
{
	(void)x;
	return ((struct counted *)ctx)->n;
}

/* Gives a variable the candidate of the previous one or, if they must differ, a unique one. */
static void
compare(void *ctx, unsigned x, size_t candidate, struct solve_facts *out)
{
	struct counted *c = ctx;
	solve_word *one = solve_set(c->a, c->n);

	solve_set_add(one, candidate);
	if (c->alike && x > 0)
		solve_needs(c->a, out, x, one, x - 1, one, NULL);
	for (unsigned y = 0; !c->alike && y < x; y++)
		solve_allows(c->a, out, x, one, y, solve_set_not(c->a, one, c->n), c->n, NULL);
}

static void
things_of_every_size(void **state)
{
	static const size_t sizes[] = { 1, 2, 62, 63, 64, 65, 127, 128, 129, 300 };

	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		struct counted c = { arena_new(), sizes[i], true };
		const struct solve_provider p = { .ctx = &c,
						  .candidates = count,
						  .facts = compare };
		solve_word *last = solve_set(c.a, c.n), *first = solve_set(c.a, c.n);
		struct solve_pin pins[] = { { .variable = 4, .set = solve_set_full(c.a, c.n) },
					    { .variable = 0, .set = last },
					    { .variable = 4, .set = first } };
		struct solve_result r;

		solve_set_add(last, c.n - 1);
		solve_set_add(first, 0);
		r = solve(c.a, &p, pins, 2, NULL, SOLVE_BUDGET);
		assert_int_equal(r.status, SOLVE_FOUND);
		assert_int_equal(r.nvariables, 5);
		for (unsigned x = 0; x < 5; x++)
			assert_int_equal(r.chosen[x], (int)c.n - 1);
		r = solve(c.a, &p, pins, 3, NULL, SOLVE_BUDGET);
		assert_int_equal(r.status, c.n == 1 ? SOLVE_FOUND : SOLVE_IMPOSSIBLE);
		arena_free(c.a);
	}
}

/* Fourteen pigeons in thirteen holes: there is no short proof. */
static void
a_hard_universe_ends(void **state)
{
	struct counted c = { arena_new(), 13, false };
	const struct solve_provider p = { .ctx = &c, .candidates = count, .facts = compare };
	const struct solve_budget budget = { 3000 };
	struct solve_pin pins[14];
	struct solve_result r;
	bool gave_up = false;

	(void)state;
	for (unsigned i = 0; i < 14; i++)
		pins[i] = (struct solve_pin){ .variable = i, .set = solve_set_full(c.a, 13) };
	r = solve(c.a, &p, pins, 14, NULL, budget);
	assert_int_equal(r.status, SOLVE_GAVE_UP);
	assert_int_equal(r.steps, 3000);
	assert_int_equal(solve_conflicts(c.a, &p, pins, 14, budget, &gave_up).n, 0);
	assert_true(gave_up);
	r = solve(c.a, &p, pins, 13, NULL, budget);
	assert_int_equal(r.status, SOLVE_FOUND);
	for (int i = 0; i < 13; i++)
		assert_int_equal(r.chosen[i], i);
	arena_free(c.a);
}

/* --- sets --- */

static void
sets_of_every_length(void **state)
{
	static const size_t lengths[] = { 0, 1, 63, 64, 65, 127, 128, 130 };
	struct arena *a = arena_new();

	(void)state;
	for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
		size_t n = lengths[i];
		solve_word *none = solve_set(a, n), *all = solve_set_full(a, n), *other;

		assert_int_equal(solve_set_count(none, n), 0);
		assert_int_equal(solve_set_count(all, n), n);
		assert_int_equal(solve_set_count(solve_set_not(a, none, n), n), n);
		if (!n)
			continue;
		solve_set_add(none, n - 1);
		assert_true(solve_set_has(none, n - 1));
		other = solve_set_not(a, none, n);
		assert_false(solve_set_has(other, n - 1));
		assert_int_equal(solve_set_count(other, n), n - 1);
	}
	arena_free(a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_conflicts),
		cmocka_unit_test(avoiding_conflict_during_decision_making),
		cmocka_unit_test(performing_conflict_resolution),
		cmocka_unit_test(conflict_resolution_with_a_partial_satisfier),
		cmocka_unit_test(linear_error_reporting),
		cmocka_unit_test(branching_error_reporting),
		cmocka_unit_test(only_what_is_tried_is_asked_about),
		cmocka_unit_test(what_nobody_names_is_never_met),
		cmocka_unit_test(conflicts_ask_about_each_candidate_once),
		cmocka_unit_test(an_optional_pin_counts_if_its_thing_is_there),
		cmocka_unit_test(a_pin_counts_while_its_condition_holds),
		cmocka_unit_test(a_thing_without_candidates_cannot_be_had),
		cmocka_unit_test(facts_of_three),
		cmocka_unit_test(of_several_the_lowest_is_taken),
		cmocka_unit_test(the_lowest_rank_chooses_first),
		cmocka_unit_test(who_is_needed_waits_for_who_needs_it),
		cmocka_unit_test(pins_that_are_off_do_not_count),
		cmocka_unit_test(nothing_asked_nothing_there),
		cmocka_unit_test(the_budget_is_kept),
		cmocka_unit_test(things_of_every_size),
		cmocka_unit_test(a_hard_universe_ends),
		cmocka_unit_test(sets_of_every_length),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
