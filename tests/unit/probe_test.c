#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "verify/probe.h"

/* An image may name its checks in its plan: the names are printed without control characters. */
static void
test_names_from_an_image(void **state)
{
	static const char line[] =
		"4711 {\"about\": {\"checks\": [\"loads\", \"\\u001b[31mred\\n\"]}}";
	struct arena *a = arena_new();
	struct proof proof = { .image = "me/stack:1", .engine = "docker" };
	struct diags ds;
	struct probe_session t = { .a = a, .ds = &ds, .proof = &proof, .token = "4711" };
	struct buf table = BUF(a);

	(void)state;
	ds = DIAGS(ds, a);
	probe_line(&t, line, strlen(line));
	assert_int_equal(t.expected.n, 2);
	assert_string_equal(t.expected.at[0], "loads");
	proof_complete(a, &proof, &t.expected, "no result");
	proof_table(&proof, "me/stack:1", "proof.json", NULL, &table);
	assert_non_null(strstr(buf_text(&table), "[31mred"));
	for (const char *s = buf_text(&table); *s; s++)
		assert_true(*s == '\n' || (unsigned char)*s >= ' ');
	assert_int_equal(ds.errors, 0);
	arena_free(a);
}

/* Without a check, nothing is proven; `--require gpu` needs a check of that level that passed. */
static void
test_proof_without_checks(void **state)
{
	struct arena *a = arena_new();
	struct proof none = { .image = "me/stack:1" }, import = { .image = "me/stack:1" };
	const struct names expected = { 0 };

	(void)state;
	proof_complete(a, &none, &expected, "no result");
	assert_int_equal(none.result, PROOF_NOT_RUN);
	list_push(a, &import.checks,
		  (struct proof_check){ .id = "imports", .result = PROOF_PASSED, .figures = "{}" });
	proof_complete(a, &import, &expected, "no result");
	assert_int_equal(import.result, PROOF_PASSED);
	assert_int_equal(proof_status(&import, PROOF_IMPORT), 0);
	assert_int_equal(proof_status(&import, PROOF_GPU), 3);
	arena_free(a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_names_from_an_image),
					    cmocka_unit_test(test_proof_without_checks) };

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("probe", tests, NULL, NULL);
}
