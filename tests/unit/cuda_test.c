/* cuda/: compute capabilities, CUDA releases, tags of torch's builds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/list.h"
#include "cuda/cuda.h"

static struct arena *a;

static int
setup(void **state)
{
	(void)state;
	a = arena_new();
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	arena_free(a);
	return 0;
}

static void
every_spelling_is_read(void **state)
{
	static const char *const same[][2] = {
		{ "8.0", "8.0" },
		{ "9.0a", "9.0a" },
		{ "8.9+PTX", "8.9+PTX" },
		{ "10.0f", "10.0f" },
		{ "9.0a+PTX", "9.0a+PTX" },
		{ "80", "8.0" },
		{ "120", "12.0" },
		{ "90a", "9.0a" },
		{ "sm_90a", "9.0a" },
		{ "sm_86", "8.6" },
		{ "compute_120", "12.0+PTX" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(same) / sizeof(*same); i++) {
		struct capability c;

		assert_true(capability_parse(same[i][0], &c));
		assert_string_equal(capability_text(a, &c), same[i][1]);
	}
}

static void
nothing_else_is_read(void **state)
{
	static const char *const not_one[] = {
		"",      "8",      "8.",     ".8",     "8.0.0",    "8.0b",        "8.0 ",  "a",
		"sm_",   "sm_8",   "1200",   "8.0+",   "8.0+ptx",  "+PTX",        "8.0aa", "100.0",
		"8.100", "native", "Ampere", "sm_9.0", "compute_", "9.0+PTX+PTX",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(not_one) / sizeof(*not_one); i++) {
		struct capability c;

		if (capability_parse(not_one[i], &c))
			fail_msg("%s was read", not_one[i]);
	}
}

static void
capabilities_are_ordered_by_number(void **state)
{
	static const char *const ordered[] = { "none", "3.5",     "8.0",  "8.6",  "8.9",
					       "9.0",  "9.0+PTX", "9.0a", "10.0", "12.0" };
	enum { N = sizeof(ordered) / sizeof(*ordered) };

	(void)state;
	for (int i = 0; i < N; i++)
		for (int k = 0; k < N; k++) {
			int order = capability_order(ordered[i], ordered[k]);

			assert_int_equal((order > 0) - (order < 0), (i > k) - (i < k));
		}
}

static void
code_runs_within_its_major(void **state)
{
	const char *const code[] = { "7.0", "8.0", "9.0" };
	struct names codes = { (const char **)code, 3, 3 };

	(void)state;
	assert_true(capability_runs(&codes, "8.0"));
	assert_true(capability_runs(&codes, "8.9"));
	assert_true(capability_runs(&codes, "7.5"));
	assert_false(capability_runs(&codes, "6.1"));
	assert_false(capability_runs(&codes, "12.0"));
	assert_true(capability_ptx_runs("9.0", "12.0"));
	assert_true(capability_ptx_runs("9.0", "9.0"));
	assert_false(capability_ptx_runs("9.0", "8.9"));
	assert_false(capability_ptx_runs(NULL, "12.0"));
}

static void
nvcc_has_its_own_numbers(void **state)
{
	(void)state;
	assert_string_equal(capability_nvcc(a, "8.0"), "80");
	assert_string_equal(capability_nvcc(a, "9.0a"), "90a");
	assert_string_equal(capability_nvcc(a, "12.0+PTX"), "120");
	assert_string_equal(capability_nvcc(a, "native"), "native");
}

static void
tags_name_a_series(void **state)
{
	static const char *const none[] = { "cpu", "cu", "cu1", "cu1210", "cu12x", "rocm6.0", "" };

	(void)state;
	assert_string_equal(cuda_of_tag(a, "cu121"), "12.1");
	assert_string_equal(cuda_of_tag(a, "cu92"), "9.2");
	assert_null(cuda_of_tag(a, NULL));
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
		assert_null(cuda_of_tag(a, none[i]));
	assert_string_equal(cuda_tag(a, "12.1"), "cu121");
	assert_string_equal(cuda_tag(a, "13.0.2"), "cu130");
	assert_string_equal(cuda_tag(a, "12"), "cu120");
	assert_string_equal(cuda_dashed(a, "12.1.0"), "12-1");
	assert_int_equal(cuda_major_of_tag("cu122"), 12);
	assert_int_equal(cuda_major_of_tag("cu11"), 11);
	assert_int_equal(cuda_major_of_tag("cpu"), 0);
}

static void
some_tags_exist(void **state)
{
	static const char *const tags[] = { "cu118",   "cu92",      "cpu",  "xpu",
					    "rocm6.0", "rocm5.4.2", "rocm6" };
	static const char *const none[] = { "",     "cu",          "cu1",  "cu1210",
					    "rocm", "rocm6.",      "CPU",  "rocm6..0",
					    "12.1", "rocm1.2.3.4", "pypi", "rocmx" };

	(void)state;
	for (size_t i = 0; i < sizeof(tags) / sizeof(*tags); i++)
		assert_true(cuda_tag_valid(tags[i]));
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
		if (cuda_tag_valid(none[i]))
			fail_msg("%s was taken", none[i]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_spelling_is_read),
		cmocka_unit_test(nothing_else_is_read),
		cmocka_unit_test(capabilities_are_ordered_by_number),
		cmocka_unit_test(code_runs_within_its_major),
		cmocka_unit_test(nvcc_has_its_own_numbers),
		cmocka_unit_test(tags_name_a_series),
		cmocka_unit_test(some_tags_exist),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, setup, teardown);
}
