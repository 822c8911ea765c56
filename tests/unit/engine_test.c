/* engine_choose without a usable engine, and the files that builds leave behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fs.h"
#include "build/engine.h"

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
every_engine_is_whole(void **state)
{
	(void)state;
	for (size_t i = 0; i < engines_n; i++) {
		const struct engine *e = &engines[i];

		assert_ptr_equal(engine_find(e->name), e);
		assert_non_null(e->what);
		assert_non_null(e->probe);
		assert_true(!e->run == !e->kill);
		assert_true(!e->prepare || e->run);
	}
}

static void
where_there_is_none_each_says_why(void **state)
{
	struct diags ds;
	struct engine_state s;
	const struct engine_at at = { 0 };
	const char *path = arena_strdup(a, getenv("PATH"));
	unsigned notes = 0;

	(void)state;
	setenv("PATH", "/nowhere", 1);
	ds = DIAGS(ds, a);
	assert_null(engine_choose(a, &ds, NULL, &at, &s));
	assert_string_equal(code_table[ds.head->code].id, "SB0502");
	for (const struct note *n = ds.head->notes; n; n = n->next)
		notes += strstr(n->text, "not installed") != NULL;
	assert_int_equal(notes, 4); /* docker, podman, buildah, buildctl */
	ds = DIAGS(ds, a);
	assert_null(engine_choose(a, &ds, "podman", &at, &s));
	assert_string_equal(code_table[ds.head->code].id, "SB0501");
	assert_non_null(strstr(ds.head->text, "podman cannot be used: not installed"));
	assert_string_equal(diag_first_help(ds.head)->text, "apt-get install podman");
	setenv("PATH", path, 1);
}

#define HEX "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static bool
built(const char *text, struct image_about *about)
{
	char path[] = "/tmp/engine-test-XXXXXX";
	int fd = mkstemp(path);
	bool good;

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	good = engine_built(a, path, about);
	unlink(path);
	return good;
}

static void
a_build_leaves_its_id(void **state)
{
	struct image_about about;

	(void)state;
	assert_true(built("sha256:" HEX, &about));
	assert_string_equal(about.id, "sha256:" HEX);
	assert_null(about.digest);
	assert_true(built(HEX "\n", &about)); /* podman */
	assert_string_equal(about.id, "sha256:" HEX);
	assert_true(built("{\"containerimage.config.digest\": \"sha256:" HEX
			  "\", \"containerimage.digest\": \"sha256:a" HEX "\"}",
			  &about));
	assert_string_equal(about.id, "sha256:" HEX);
	assert_string_equal(about.digest, "sha256:a" HEX);
	assert_false(built("", &about));
	assert_false(built("sha256:123", &about));
	assert_false(built("{", &about));
	assert_false(built("{\"containerimage.digest\": 5}", &about));
	assert_false(engine_built(a, "/nowhere/at/all", &about));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_engine_is_whole),
		cmocka_unit_test(where_there_is_none_each_says_why),
		cmocka_unit_test(a_build_leaves_its_id),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, setup, teardown);
}
