/* python/: the parts that build/python_cli and the suite python-packaging do not reach. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "specifier_text.h"

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
versions_come_apart(void **state)
{
	const struct version *v = version_parse(a, "v2.010.0.0RC3+Cu121");
	const struct version *huge = version_parse(a, "99999999999999999999.18446744073709551615");

	(void)state;
	assert_int_equal(version_release_count(v), 4);
	assert_int_equal(version_release(v, 0), 2);
	assert_int_equal(version_release(v, 1), 10);
	assert_int_equal(version_release(v, 3), 0);
	assert_int_equal(version_release(v, 99), 0);
	assert_string_equal(version_text(a, v), "2.10.0.0rc3+cu121");
	assert_string_equal(version_public(a, v), "2.10.0.0rc3");
	assert_string_equal(version_local(a, v), "cu121");
	assert_null(version_local(a, version_parse(a, "1.0")));
	assert_true(version_release(huge, 0) == ULONG_MAX);
	assert_true(version_release(huge, 1) == ULONG_MAX);
	assert_string_equal(version_text(a, huge), "99999999999999999999.18446744073709551615");
	assert_int_equal(version_release_count(version_parse(a, "1!0.0")), 2);
	assert_string_equal(version_public(a, version_parse(a, "1!2-3")), "1!2.post3");
}

static void
prereleases_are_told(void **state)
{
	(void)state;
	assert_true(version_is_prerelease(version_parse(a, "1.0a1")));
	assert_true(version_is_prerelease(version_parse(a, "1.0.dev0")));
	assert_true(version_is_prerelease(version_parse(a, "1.0.post1.dev2")));
	assert_false(version_is_prerelease(version_parse(a, "1.0.post1+local")));
}

/* Versions are compared by value, not by their text. */
static void
arbitrary_equality_takes_the_normal_form(void **state)
{
	const struct specifiers *plain = specifiers_parse(a, "===1.0.DEV1");
	const struct specifiers *spelled = specifiers_parse(a, "===1.0-dev1");

	(void)state;
	assert_true(specifiers_match(plain, version_parse(a, "1.0-dev1")));
	assert_false(specifiers_match(plain, version_parse(a, "1.dev1")));
	assert_false(specifiers_match(spelled, version_parse(a, "1.0-dev1")));
	assert_true(specifiers_match_text(a, spelled, "1.0-DEV1"));
	assert_true(specifiers_match_text(a, specifiers_parse(a, ""), "no version"));
}

static void
pins_are_found(void **state)
{
	static const char *const no[] = { "", ">=1", "==1.*", "~=1.0", "!=1", "===one", "<2,>1" };

	(void)state;
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		assert_null(specifiers_pin(specifiers_parse(a, no[i])));
	assert_string_equal(
		version_text(a, specifiers_pin(specifiers_parse(a, ">=1,==2.2.2+CU121"))),
		"2.2.2+cu121");
	assert_string_equal(version_text(a, specifiers_pin(specifiers_parse(a, "===1.0-1"))),
			    "1.0.post1");
}

static void
long_numbers_are_not_valid(void **state)
{
	char *digits = arena_alloc(a, 104, 1);

	(void)state;
	memset(digits, '9', 103);
	memcpy(digits, "<=", 2);
	assert_null(specifiers_parse(a, digits));
	assert_null(version_parse(a, digits + 2));
	assert_non_null(version_parse(a, digits + 3));
}

static void
names_are_normalised(void **state)
{
	static const char *const bad[] = { "", "_x", "x_", "-", "x y", "x+y", "\u00e9", ".x" };

	(void)state;
	assert_string_equal(name_normalize(a, "Foo._-Bar__baz"), "foo-bar-baz");
	assert_string_equal(name_normalize(a, "-_X_-"), "-x-");
	assert_string_equal(name_normalize(a, ""), "");
	assert_true(name_valid("x"));
	assert_true(name_valid("Zope.Interface_2"));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(name_valid(bad[i]));
}

static void
requirements_come_apart(void **state)
{
	const struct requirement *r =
		requirement_parse(a, "Torch_Vision[b, A,b] >= 1 ; extra == 'X'", NULL, NULL);

	(void)state;
	assert_string_equal(r->name, "Torch_Vision");
	assert_string_equal(r->key, "torch-vision");
	assert_int_equal(r->extras.n, 2);
	assert_string_equal(r->extras.at[0], "A");
	assert_string_equal(r->extras.at[1], "b");
	assert_string_equal(specifiers_text(a, r->spec), ">=1");
	assert_null(r->url);
	assert_string_equal(marker_text(a, r->marker), "extra == \"x\"");
	r = requirement_parse(a, "x@https://example.org/x.whl", NULL, NULL);
	assert_string_equal(r->url, "https://example.org/x.whl");
	assert_string_equal(specifiers_text(a, r->spec), "");
	assert_null(r->marker);
}

static void
bad_requirements_say_where(void **state)
{
	static const struct {
		const char *text, *why;
		size_t at;
	} bad[] = {
		{ "", "expected the name of a package", 0 },
		{ "  -x", "expected the name of a package", 2 },
		{ "torch-", "a name ends with a letter or a digit", 6 },
		{ "numpy 2", "expected a version specifier, `@`, `;` or the end", 6 },
		{ "numpy<2 3", "expected a comma, `;` or the end", 8 },
		{ "numpy>=1,<2.*", "not a version specifier", 9 },
		{ "numpy (>=1", "expected a comma or a closing parenthesis", 10 },
		{ "x[a b]", "expected a comma or `]` after an extra", 4 },
		{ "x[a,]", "expected an extra after the comma", 4 },
		{ "x[", "expected an extra or `]`", 2 },
		{ "x @ ", "expected a url after `@`", 4 },
		{ "x; os_name", "expected a comparison: ==, !=, <, <=, >, >=, ~=, ===, in, not in",
		  10 },
		{ "x; os_name == posix", "expected a marker variable or a quoted string", 14 },
		{ "x; os_name == 'posix", "the quote is not closed", 14 },
		{ "x; os_name == 'a\\x'", "not a valid quoted string", 14 },
		{ "x; os_name not 'a'", "expected `in` after `not`", 15 },
		{ "x; os_name not'a'", "expected a space after `not`", 14 },
		{ "x; (os_name == 'a'", "expected `and`, `or` or a closing parenthesis", 18 },
		{ "x; os_name == 'a' 'b'", "expected `and`, `or` or the end", 18 },
	};
	const char *why;
	size_t at;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_null(requirement_parse(a, bad[i].text, &why, &at));
		assert_string_equal(why, bad[i].why);
		assert_int_equal(at, bad[i].at);
	}
}

static bool
holds(const char *marker, const struct marker_env *env)
{
	const struct marker *m = marker_parse(a, marker);
	bool value = false;

	assert_non_null(m);
	assert_true(marker_eval(m, env, &value));
	return value;
}

static void
markers_hold_on_linux(void **state)
{
	struct marker_env env = marker_env_linux(a, "3.11", "x86_64", "");
	struct marker_env full = marker_env_linux(a, "3.9.18", "aarch64", "");
	bool value;

	(void)state;
	assert_true(holds("python_version == '3.11' and python_full_version == '3.11.0'", &env));
	assert_true(holds("python_version >= '3.9'", &env));
	assert_true(holds("sys_platform == 'linux' and platform_system == 'Linux'", &env));
	assert_true(holds("os_name == 'posix' and implementation_name == 'cpython'", &env));
	assert_true(holds("platform_python_implementation == 'CPython' and extra == ''", &env));
	assert_true(holds("platform_machine == 'x86_64'", &env));
	assert_true(holds("python_full_version >= '3.9.2' and python_version < '3.10'", &full));
	assert_true(holds("platform_machine in 'arm64 aarch64'", &full));
	assert_false(marker_eval(marker_parse(a, "platform_release >= '5'"), &env, &value));
}

static void
wheels_come_apart(void **state)
{
	const struct wheel_file *w =
		wheel_file_parse(a, "Mamba_SSM-2.2.2+cu121-02b-cp311.cp310-cp311-linux_x86_64.whl");

	(void)state;
	assert_string_equal(w->name, "mamba-ssm");
	assert_string_equal(version_text(a, w->version), "2.2.2+cu121");
	assert_string_equal(w->build, "2b");
	assert_int_equal(w->tags.n, 2);
	assert_string_equal(w->tags.at[0], "cp310-cp311-linux_x86_64");
	w = wheel_file_parse(a, "x-1-py3-none-any.whl");
	assert_null(w->build);
}

/* Returns the Python series, plain and free-threaded, that install a wheel with this tag. */
static const char *
pythons(const char *tag)
{
	static const char *const all[] = { "3.8",  "3.11", "3.12",  "3.13",
					   "3.15", "2.11", "3.13t", "3.15t" };
	struct wheel_pythons set = { 0 };
	struct names have = { 0 };

	wheel_pythons_add(&set, tag);
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (wheel_pythons_have(&set, all[i]))
			list_push(a, &have, all[i]);
	return names_join(a, &have, " ");
}

static void
wheel_tags_fit(void **state)
{
	(void)state;
	assert_string_equal(pythons("py3-none-any"), "3.8 3.11 3.12 3.13 3.15 3.13t 3.15t");
	assert_string_equal(pythons("py312-none-any"), "3.12 3.13 3.15 3.13t 3.15t");
	assert_string_equal(pythons("cp311-cp311-linux_x86_64"), "3.11");
	assert_string_equal(pythons("cp313-cp313t-linux_x86_64"), "3.13t");
	assert_string_equal(pythons("cp38-cp38m-linux_x86_64"), "3.8");
	assert_string_equal(pythons("cp312-abi3-linux_x86_64"), "3.12 3.13 3.15");
	assert_string_equal(pythons("cp312-none-linux_x86_64"), "3.12");
	assert_string_equal(pythons("pp311-pypy311_pp73-linux_x86_64"), "");
	assert_string_equal(pythons("cp3-abi3-any"), "");
	assert_string_equal(pythons("cp399-abi3-any"), "");
	assert_string_equal(pythons("py3"), "");
	assert_true(wheel_fits_machine("py3-none-any", "aarch64"));
	assert_true(wheel_fits_machine("py3-none-manylinux_2_28_aarch64", "aarch64"));
	assert_true(wheel_fits_machine("py3-none-linux_x86_64", "x86_64"));
	assert_false(wheel_fits_machine("py3-none-manylinux2014_x86_64", "aarch64"));
	assert_false(wheel_fits_machine("py3-none-musllinux_1_2_x86_64", "x86_64"));
	assert_false(wheel_fits_machine("py3-none-macosx_10_9_x86_64", "x86_64"));
	assert_int_equal(wheel_glibc("py3-none-manylinux1_x86_64"), 5);
	assert_int_equal(wheel_glibc("py3-none-manylinux2014_x86_64"), 17);
	assert_int_equal(wheel_glibc("py3-none-manylinux_2_28_x86_64"), 28);
	assert_int_equal(wheel_glibc("py3-none-any"), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(versions_come_apart, setup, teardown),
		cmocka_unit_test_setup_teardown(prereleases_are_told, setup, teardown),
		cmocka_unit_test_setup_teardown(arbitrary_equality_takes_the_normal_form, setup,
						teardown),
		cmocka_unit_test_setup_teardown(pins_are_found, setup, teardown),
		cmocka_unit_test_setup_teardown(long_numbers_are_not_valid, setup, teardown),
		cmocka_unit_test_setup_teardown(names_are_normalised, setup, teardown),
		cmocka_unit_test_setup_teardown(requirements_come_apart, setup, teardown),
		cmocka_unit_test_setup_teardown(bad_requirements_say_where, setup, teardown),
		cmocka_unit_test_setup_teardown(markers_hold_on_linux, setup, teardown),
		cmocka_unit_test_setup_teardown(wheels_come_apart, setup, teardown),
		cmocka_unit_test_setup_teardown(wheel_tags_fit, setup, teardown),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
