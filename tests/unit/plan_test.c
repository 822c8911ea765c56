/* plan/: the order of jobs; a plan of a hand-made stack. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "plan/plan.h"

static struct arena *a;
static struct diags ds;

static int
setup(void **state)
{
	(void)state;
	a = arena_new();
	ds = DIAGS(ds, a);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	arena_free(a);
	return 0;
}

/* --- the order --- */

static const size_t on_0[] = { 0 }, on_1[] = { 1 }, on_2[] = { 2 };

static void
what_changes_least_for_its_cost_comes_first(void **state)
{
	const struct job jobs[] = { { "app", 1, 2, NULL, 0 },
				    { "torch", 0.01, 100, NULL, 0 },
				    { "packages", 0.1, 20, NULL, 0 } };
	size_t order[3];
	bool exact = false;

	(void)state;
	assert_true(order_jobs(jobs, 3, order, &exact));
	assert_true(exact);
	assert_int_equal(order[0], 1);
	assert_int_equal(order[1], 2);
	assert_int_equal(order[2], 0);
}

static void
the_cost_is_the_sum_that_the_header_states(void **state)
{
	const struct job jobs[] = { { "a", 0.5, 10, NULL, 0 }, { "b", 2, 3, NULL, 0 } };
	const size_t ab[] = { 0, 1 }, ba[] = { 1, 0 };

	(void)state;
	assert_true(order_cost(jobs, ab, 2) == 0.5 * (10 + 3) + 2 * 3);
	assert_true(order_cost(jobs, ba, 2) == 2 * (3 + 10) + 0.5 * 10);
}

/* A cheap job that changes often comes early if the jobs that need it are worth it. */
static void
needs_are_kept_and_pull_forward(void **state)
{
	const struct job jobs[] = { { "late", 1, 10, NULL, 0 },
				    { "cheap", 0.5, 0, NULL, 0 },
				    { "costly", 0.1, 1000, on_1, 1 } };
	size_t order[3];
	bool exact;

	(void)state;
	assert_true(order_jobs(jobs, 3, order, &exact));
	assert_int_equal(order[0], 1);
	assert_int_equal(order[1], 2);
	assert_int_equal(order[2], 0);
}

static void
a_circle_is_refused(void **state)
{
	const struct job jobs[] = { { "a", 1, 1, on_2, 1 },
				    { "b", 1, 1, on_0, 1 },
				    { "c", 1, 1, on_1, 1 } };
	const struct job own[] = { { "a", 1, 1, on_0, 1 } };
	size_t order[3] = { 7, 7, 7 };
	bool exact;

	(void)state;
	assert_false(order_jobs(jobs, 3, order, &exact));
	assert_int_equal(order[0], 7);
	assert_false(order_jobs(own, 1, order, &exact));
}

static void
nothing_to_order(void **state)
{
	size_t order[1] = { 7 };
	bool exact = false;

	(void)state;
	assert_true(order_jobs(NULL, 0, order, &exact));
	assert_true(exact);
	assert_int_equal(order[0], 7);
}

/* With too many jobs for a complete search, the order keeps the needs and is not called exact. */
static void
the_order_of_many_jobs_is_estimated(void **state)
{
	enum { TOPS = 40, BOTTOMS = 40, EACH = 8 };
	static struct job jobs[TOPS + BOTTOMS];
	static size_t needs[BOTTOMS][EACH];
	size_t order[TOPS + BOTTOMS], at[TOPS + BOTTOMS];
	bool exact = true;
	unsigned seed = 1;

	(void)state;
	for (size_t i = 0; i < TOPS; i++)
		jobs[i] = (struct job){ "t", 1 + (double)i / TOPS, 0.001, NULL, 0 };
	for (size_t i = 0; i < BOTTOMS; i++) {
		for (size_t k = 0; k < EACH; k++) {
			seed = seed * 1103515245 + 12345;
			needs[i][k] = (seed >> 16) % TOPS;
		}
		jobs[TOPS + i] = (struct job){ "b", 0.001, 1 + (double)(i * 7 % BOTTOMS) / BOTTOMS,
					       needs[i], EACH };
	}
	assert_true(order_jobs(jobs, TOPS + BOTTOMS, order, &exact));
	assert_false(exact);
	for (size_t i = 0; i < TOPS + BOTTOMS; i++)
		at[order[i]] = i;
	for (size_t i = 0; i < TOPS + BOTTOMS; i++)
		for (size_t k = 0; k < jobs[i].nneeds; k++)
			assert_true(at[jobs[i].needs[k]] < at[i]);
}

/* --- a plan --- */

static struct stack *
small_stack(struct recipe *r)
{
	struct stack *s = arena_new_of(a, struct stack);

	memset(r, 0, sizeof(*r));
	r->stack.s = "small";
	r->digest = "sha256:0";
	s->recipe = r;
	s->facts = facts_load(a, &ds, NULL);
	assert_non_null(s->facts);
	s->base = (struct choice){ .value = "debian:12-slim", .reason = "the recipe names it" };
	s->python = (struct choice){ .value = "3.11", .reason = "debian12's own" };
	s->python_from = PYTHON_OS;
	s->platform = "linux/amd64";
	s->arch_list = "";
	s->cc = "gcc";
	s->cxx = "g++";
	return s;
}

static void
add_extension(struct stack *s, const char *name, const char *after)
{
	struct stack_extension e = { .name = name,
				     .requirement = name,
				     .source = SOURCE_SDIST,
				     .source_reason = "the sdist of the package index",
				     .arch_flags = "not known" };

	if (after)
		list_push(a, &e.after, after);
	list_push(a, &s->extensions, e);
}

static void
a_stack_without_anything_has_a_check(void **state)
{
	struct recipe r;
	const struct plan *p = plan_make(a, &ds, small_stack(&r), NULL);

	(void)state;
	assert_non_null(p);
	assert_int_equal(p->n, 3);
	assert_string_equal(p->steps[0].id, "base");
	assert_string_equal(p->steps[1].id, "python");
	assert_string_equal(p->steps[2].id, "check");
	assert_null(p->nvcc);
	assert_non_null(plan_step(p, "check"));
	assert_null(plan_step(p, "torch"));
	assert_null(strstr(p->json, "pip"));
}

static void
extensions_in_a_circle_are_refused(void **state)
{
	struct recipe r;
	struct stack *s = small_stack(&r);

	(void)state;
	add_extension(s, "one", "two");
	add_extension(s, "two", "one");
	assert_null(plan_make(a, &ds, s, NULL));
	assert_int_equal(ds.errors, 1);
	assert_int_equal(ds.head->code, E_CIRCLE);
}

/* Steps have the names of extensions, but not twice. */
static void
names_of_steps_are_unique(void **state)
{
	struct recipe r;
	struct stack *s = small_stack(&r);
	const struct plan *p;

	(void)state;
	add_extension(s, "check", NULL);
	add_extension(s, "base", NULL);
	p = plan_make(a, &ds, s, NULL);
	assert_non_null(p);
	for (size_t i = 0; i < p->n; i++)
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(p->steps[i].id, p->steps[k].id);
	assert_int_equal(p->steps[p->n - 1].kind, STEP_CHECK);
}

static void
equal_stacks_differ_in_nothing(void **state)
{
	struct recipe r, q;
	struct stack *s = small_stack(&r), *t = small_stack(&q);
	const struct plan *x = plan_make(a, &ds, s, NULL), *y;
	struct buf same = BUF(a), other = BUF(a);

	(void)state;
	plan_diff(x, plan_make(a, &ds, small_stack(&q), NULL), "HEAD", &same, false);
	assert_string_equal(buf_text(&same), "small: from HEAD to now\n\nno build step changes\n");
	t->base.value = "debian:13-slim";
	y = plan_make(a, &ds, t, NULL);
	plan_diff(x, y, "HEAD", &other, false);
	assert_non_null(
		strstr(buf_text(&other), "changed  base    debian:12-slim -> debian:13-slim\n"));
	assert_non_null(strstr(buf_text(&other), "rebuilt  python  stands on base\n"));
	assert_string_not_equal(x->steps[2].key, y->steps[2].key);
	assert_string_equal(x->steps[2].own, y->steps[2].own);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_changes_least_for_its_cost_comes_first, setup,
						teardown),
		cmocka_unit_test_setup_teardown(the_cost_is_the_sum_that_the_header_states, setup,
						teardown),
		cmocka_unit_test_setup_teardown(needs_are_kept_and_pull_forward, setup, teardown),
		cmocka_unit_test_setup_teardown(a_circle_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(nothing_to_order, setup, teardown),
		cmocka_unit_test_setup_teardown(the_order_of_many_jobs_is_estimated, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_stack_without_anything_has_a_check, setup,
						teardown),
		cmocka_unit_test_setup_teardown(extensions_in_a_circle_are_refused, setup,
						teardown),
		cmocka_unit_test_setup_teardown(names_of_steps_are_unique, setup, teardown),
		cmocka_unit_test_setup_teardown(equal_stacks_differ_in_nothing, setup, teardown),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
