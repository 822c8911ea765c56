/* build.json: written, read again, kept; and the files that a build leaves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "build/screen.h"
#include "plan/plan.h"

static char folder[] = "/tmp/stackbuild-record-XXXXXX";

static const char *
file_of(struct arena *a, const char *name)
{
	return arena_printf(a, "%s/%s", folder, name);
}

static struct build_record
demo(struct arena *a)
{
	struct build_record r = { .stack = "demo",
				  .image = "demo:latest",
				  .image_id = "sha256:1",
				  .digest = NULL,
				  .engine = "docker",
				  .engine_version = "20.10 \"x\"\n\xc3\xa9",
				  .platform = "linux/amd64",
				  .recipe_digest = "sha256:2",
				  .dockerfile_digest = "sha256:3",
				  .base_digest = "sha256:4",
				  .started = "2026-11-21T08:00:00Z",
				  .seconds = 211.5,
				  .cpu_s = 600.25,
				  .size_bytes = 5400000000,
				  .cpus = 8,
				  .mem_mib = 31744 };

	list_push(a, &r.steps,
		  (struct build_record_step){ .id = "torch",
					      .from = "built",
					      .start_s = 3.5,
					      .seconds = 108.123,
					      .recipe_line = 4,
					      .key = "k1",
					      .own = "o1" });
	list_push(a, &r.steps,
		  (struct build_record_step){ .id = "conv",
					      .from = "compiled",
					      .seconds = 643,
					      .peak_mib = 3891,
					      .recipe_line = 9,
					      .key = "k2",
					      .own = "o2" });
	list_push(a, &r.wheels, "conv-1.0.whl sha256:5 key");
	return r;
}

static void
written_is_read(void **state)
{
	struct arena *a = arena_new();
	struct build_record in = demo(a), out;
	const char *path = file_of(a, "whole.json"), *text;
	struct diags ds;

	(void)state;
	ds = DIAGS(ds, a);
	assert_true(build_record_write(&ds, path, &in));
	assert_true(build_record_read(a, path, &out));
	assert_null(out.digest);
	assert_string_equal(out.image, in.image);
	assert_string_equal(out.image_id, in.image_id);
	assert_string_equal(out.engine, in.engine);
	assert_string_equal(out.recipe_digest, in.recipe_digest);
	assert_int_equal(out.steps.n, 2);
	assert_string_equal(out.steps.at[1].id, "conv");
	assert_string_equal(out.steps.at[1].own, "o2");
	assert_true(fabs(out.steps.at[0].start_s - 3.5) < 0.001);
	assert_true(fabs(out.steps.at[0].seconds - 108.123) < 0.001);
	assert_true(out.size_bytes == 5400000000 && fabs(out.seconds - 211.5) < 0.001);
	text = fs_read(a, &ds, path, 1 << 20, (struct span){ 0 })->text;
	assert_non_null(strstr(text, "\"engine_version\": \"20.10 \\\"x\\\"\\n\\u00e9\""));
	assert_non_null(strstr(text, "\"size_bytes\": 5400000000"));
	assert_non_null(strstr(text, "\"peak_mib\": 3891"));
	assert_non_null(strstr(text, "conv-1.0.whl sha256:5 key"));
	assert_true(fabs(build_record_measured(&out, "k1", NULL) - 108.123) < 0.001);
	assert_true(fabs(build_record_measured(&out, "other", "o2") - 643) < 0.001);
	assert_true(build_record_measured(&out, "other", "other") <= 0);
	arena_free(a);
}

/* A build from caches and the store keeps the costs of the steps. */
static void
measures_are_kept(void **state)
{
	struct arena *a = arena_new();
	struct build_record r = demo(a), out;
	const char *path = file_of(a, "kept.json");
	struct diags ds;

	(void)state;
	ds = DIAGS(ds, a);
	assert_true(build_record_write(&ds, path, &r));
	r.steps.at[0].cached = true;
	r.steps.at[0].seconds = 0;
	r.steps.at[1].from = "store";
	r.steps.at[1].seconds = 1;
	assert_true(build_record_write(&ds, path, &r));
	assert_true(build_record_read(a, path, &out));
	assert_true(fabs(out.steps.at[0].measured_s - 108.123) < 0.001);
	assert_true(fabs(out.steps.at[1].measured_s - 643) < 0.001);
	/* A step with the same name and another key is another step. */
	r.steps.at[0].key = r.steps.at[0].own = "new";
	r.steps.at[1].partly = true;
	r.steps.at[1].from = "built";
	assert_true(build_record_write(&ds, path, &r));
	assert_true(build_record_read(a, path, &out));
	assert_true(out.steps.at[0].measured_s <= 0);
	assert_true(fabs(out.steps.at[1].measured_s - 643) < 0.001);
	arena_free(a);
}

static void
damage_is_no_record(void **state)
{
	struct arena *a = arena_new();
	struct build_record r = demo(a), out;
	const char *path = file_of(a, "damaged.json"), *whole = file_of(a, "whole2.json");
	const struct source *src;
	unsigned good = 0;
	struct diags ds;

	(void)state;
	ds = DIAGS(ds, a);
	assert_false(build_record_read(a, file_of(a, "none.json"), &out));
	assert_false(build_record_read(a, folder, &out));
	assert_true(build_record_write(&ds, whole, &r));
	src = fs_read(a, &ds, whole, 1 << 20, (struct span){ 0 });
	assert_non_null(src);
	for (size_t n = 0; n < src->size - 2; n += 7) {
		assert_true(fs_write(&ds, path, src->text, n, 0644, false, NULL));
		assert_false(build_record_read(a, path, &out));
	}
	srand(1);
	for (unsigned i = 0; i < 500; i++) {
		char *copy = arena_copy(a, src->text, src->size);

		for (unsigned k = 0; k < 3; k++)
			copy[(size_t)rand() % src->size] = (char)rand();
		assert_true(fs_write(&ds, path, copy, src->size, 0644, false, NULL));
		good += build_record_read(a, path, &out);
	}
	assert_in_range(good, 1, 499);
	assert_true(fs_write(&ds, path, "[[[[", 4, 0644, false, NULL));
	assert_false(build_record_read(a, path, &out));
	arena_free(a);
}

/* The plan reads the same file without a JSON parser. */
static void
plan_reads_it(void **state)
{
	struct arena *a = arena_new();
	struct build_record r = demo(a);
	const char *path = file_of(a, "plan.json");
	struct step steps[] = {
		{ .id = "torch",
		  .key = "k1",
		  .own = "x",
		  .cost_s = 5,
		  .cost_source = "k",
		  .change_rate = 1 },
		{ .id = "conv",
		  .key = "x",
		  .own = "o2",
		  .cost_s = 6,
		  .cost_source = "k",
		  .change_rate = 1 },
		{ .id = "torch-x",
		  .key = "x",
		  .own = "x",
		  .cost_s = 7,
		  .cost_source = "k",
		  .change_rate = 1 },
	};
	struct plan p = { .name = "demo", .steps = steps, .n = 3 };
	const struct plan *out;
	struct diags ds;

	(void)state;
	ds = DIAGS(ds, a);
	assert_true(build_record_write(&ds, path, &r));
	out = plan_measured(a, &p, fs_read(a, &ds, path, 1 << 20, (struct span){ 0 }));
	assert_int_equal(out->measured, 2);
	assert_true(fabs(out->steps[0].cost_s - 108.123) < 0.001);
	assert_true(fabs(out->steps[1].cost_s - 643) < 0.001);
	assert_true(fabs(out->steps[2].cost_s - 7) < 0.001);
	assert_string_equal(out->steps[0].cost_source, path);
	assert_true(fabs(out->expected_cost_s - (108.123 + 2 * 643 + 3 * 7)) < 0.01);
	assert_true(p.steps[0].cost_s < 6);
	arena_free(a);
}

static void
event(struct progress *p, enum build_event_kind kind, const char *step, double seconds)
{
	struct build_event e = { .kind = kind, .step = step, .seconds = seconds, .last = true };

	progress_event(p, &e);
}

static void
what_is_left(void **state)
{
	struct arena *a = arena_new();
	struct progress_step steps[] = { { .id = "torch", .estimate_s = 100 },
					 { .id = "a", .estimate_s = 600, .lane = "ext-a" },
					 { .id = "b", .estimate_s = 500, .lane = "ext-b" },
					 { .id = "check", .estimate_s = 10 },
					 { .id = "odd" } };
	struct progress_options o = { .mode = PROGRESS_QUIET };
	struct progress *p = progress_new(a, &o, steps, 5);
	const char *why = NULL;

	(void)state;
	progress_tick(p, 0);
	assert_true(fabs(progress_remaining(p) - 710) < 0.01);
	event(p, EVENT_START, "torch", -1);
	progress_tick(p, 60);
	assert_true(fabs(progress_remaining(p) - 650) < 0.01);
	progress_tick(p, 1000);
	assert_true(progress_remaining(p) >= 610);
	/* Twice as slow as estimated: so is the rest, but a prior of 30 s dampens the factor. */
	event(p, EVENT_DONE, "torch", 200);
	assert_true(progress_pace(p) > 1.7 && progress_pace(p) < 2);
	assert_true(progress_remaining(p) > 1050 && progress_remaining(p) < 1220);
	event(p, EVENT_CACHED, "a", 0);
	event(p, EVENT_CACHED, "b", 0);
	assert_true(steps[1].state == STEP_CACHED);
	assert_true(progress_remaining(p) < 20);
	event(p, EVENT_CACHED, "check", 0);
	assert_true(progress_remaining(p) < 0);
	event(p, EVENT_DONE, "odd", 1e300);
	assert_true(progress_end(p, &why) && progress_end(p, &why));
	assert_null(why);
	arena_free(a);
}

/* A step that is cached in a second call of the engine was built in the first. */
static void
several_calls(void **state)
{
	struct arena *a = arena_new();
	struct progress_step steps[] = { { .id = "torch" }, { .id = "conv" } };
	struct progress_options o = { .mode = PROGRESS_QUIET };
	struct progress *p = progress_new(a, &o, steps, 2);
	struct build_event e = { .kind = EVENT_DONE, .step = "conv", .seconds = 2 };

	(void)state;
	progress_tick(p, 0);
	event(p, EVENT_START, "torch", -1);
	event(p, EVENT_DONE, "torch", 5);
	progress_event(p, &e);
	event(p, EVENT_START, "torch", -1);
	event(p, EVENT_CACHED, "torch", 0);
	assert_true(steps[0].state == STEP_DONE && fabs(steps[0].seconds - 5) < 0.001);
	e.kind = EVENT_CACHED;
	progress_event(p, &e);
	event(p, EVENT_DONE, "conv", 3);
	assert_false(steps[0].partly || steps[1].partly);
	assert_true(steps[1].state == STEP_DONE && fabs(steps[1].seconds - 5) < 0.001);
	assert_true(progress_end(p, NULL));
	arena_free(a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(written_is_read),     cmocka_unit_test(measures_are_kept),
		cmocka_unit_test(damage_is_no_record), cmocka_unit_test(plan_reads_it),
		cmocka_unit_test(what_is_left),        cmocka_unit_test(several_calls),
	};
	char command[128];
	int failed;

	cmocka_set_message_output(CM_OUTPUT_TAP);
	if (!mkdtemp(folder))
		return 1;
	failed = cmocka_run_group_tests_name("record", tests, NULL, NULL);
	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	return system(command) || failed;
}
