/* base/: lists, maps, text, JSON, SHA-256, files, diagnostics. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/diag.h"
#include "base/fold.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/list.h"
#include "base/map.h"
#include "base/sha256.h"
#include "base/str.h"

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
lists_and_maps(void **state)
{
	struct names n = { 0 };
	struct map m = MAP(a);

	(void)state;
	for (int i = 0; i < 1000; i++) {
		const char *key = arena_printf(a, "key-%d", i);

		list_push(a, &n, key);
		assert_null(map_put(&m, key, &n.at[0]));
	}
	assert_int_equal(n.n, 1000);
	assert_string_equal(n.at[999], "key-999");
	assert_null(map_get(&m, "key-1000"));
	assert_non_null(map_put(&m, "key-7", &m));
	assert_ptr_equal(map_get(&m, "key-7"), &m);
	assert_int_equal(m.n, 1000);
}

static void
large_allocations_leave_room(void **state)
{
	char *small = arena_alloc(a, 10, 1), *large = arena_alloc(a, 10 * 1024 * 1024, 16);

	(void)state;
	memset(large, 'x', 10 * 1024 * 1024);
	small[9] = 'y';
	assert_int_equal((uintptr_t)large % 16, 0);
	assert_string_equal(arena_printf(a, "%s-%d", "torch", 2), "torch-2");
}

static void
buffers_have_a_maximum(void **state)
{
	struct buf b = { .a = a, .max = 10 };

	(void)state;
	assert_string_equal(buf_text(&b), "");
	buf_puts(&b, "12345");
	buf_printf(&b, "%d", 67890);
	assert_false(b.over);
	buf_putc(&b, '!');
	assert_true(b.over);
	assert_string_equal(buf_text(&b), "1234567890");
}

static void
nearest_words(void **state)
{
	static const char *const words[] = { "torch", "python", "packages", "extensions", "gpus" };

	(void)state;
	assert_string_equal(str_nearest("trch", words, 5), "torch");
	assert_string_equal(str_nearest("pyhton", words, 5), "python");
	assert_string_equal(str_nearest("Packges", words, 5), "packages");
	assert_string_equal(str_nearest("gpu", words, 5), "gpus");
	assert_null(str_nearest("entirely-else", words, 5));
	assert_null(str_nearest("", words, 5));
}

static void
json_of(const char *s, const char *want)
{
	struct buf b = BUF(a);

	json_quote(&b, s);
	assert_string_equal(buf_text(&b), want);
}

static void
json_escapes(void **state)
{
	(void)state;
	json_of("a\"b\\c\n\t\x01", "\"a\\\"b\\\\c\\n\\t\\u0001\"");
	json_of("\xc3\xa9\xe2\x82\xac", "\"\\u00e9\\u20ac\"");
	json_of("\xf0\x9f\x98\x80", "\"\\ud83d\\ude00\"");
	/* not UTF-8: a lone continuation, an overlong slash, a surrogate, a truncated character */
	json_of("\x80", "\"\\ufffd\"");
	json_of("\xc0\xaf", "\"\\ufffd\\ufffd\"");
	json_of("\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\"");
	json_of("\xe2\x82", "\"\\ufffd\\ufffd\"");
}

static void
json_from_a_pattern(void **state)
{
	struct buf b = BUF(a);
	struct json j = json_flat_to(&b);

	(void)state;
	json_put(&j, "{'a b': ['x, y', %s, true, -1], %s: {'n': %d", "it's: {", "key", 7);
	json_text(&j, "more", "1");
	json_put(&j, "}, 'empty': {}}");
	assert_string_equal(buf_text(&b), "{\"a b\": [\"x, y\", \"it's: {\", true, -1], "
					  "\"key\": {\"n\": 7, \"more\": \"1\"}, \"empty\": {}}");
}

static void
json_shapes(void **state)
{
	struct buf b = BUF(a);
	struct json j = json_flat_to(&b);

	(void)state;
	json_map(&j, NULL);
	json_list(&j, "empty");
	json_end(&j);
	json_list(&j, "n");
	json_number(&j, NULL, 0.5);
	json_number(&j, NULL, 100);
	json_int(&j, NULL, -3);
	json_bool(&j, NULL, true);
	json_text(&j, NULL, NULL);
	json_end(&j);
	json_end(&j);
	assert_string_equal(buf_text(&b), "{\"empty\": [], \"n\": [0.5, 100, -3, true, null]}");
}

static void
sha256_vectors(void **state)
{
	(void)state;
	/* FIPS 180-2, appendix B.1 and the empty message */
	assert_string_equal(sha256_hex(a, "abc", 3),
			    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	assert_string_equal(sha256_hex(a, "", 0),
			    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

static void
credentials_are_masked(void **state)
{
	(void)state;
	assert_string_equal(mask_credentials(a, "get https://me:s3cret@host/x?a=b@c now"),
			    "get https://***@host/x?a=b@c now");
	assert_string_equal(mask_credentials(a, "http://t@a/ and https://u:p@b/"),
			    "http://***@a/ and https://***@b/");
	assert_string_equal(mask_credentials(a, "no url, mail a@b"), "no url, mail a@b");
	assert_string_equal(mask_credentials(a, "https://host/path"), "https://host/path");
}

static void
files_appear_whole_or_not(void **state)
{
	char dir[] = "/tmp/stackbuild-base-XXXXXX";
	const struct source *src;
	const char *path;
	struct diags ds;
	bool changed;

	(void)state;
	ds = DIAGS(ds, a);
	assert_non_null(mkdtemp(dir));
	path = fs_join(a, dir, "x/y/z.txt");
	assert_true(fs_write(&ds, path, "one", 3, 0644, true, &changed));
	assert_true(changed);
	assert_true(fs_write(&ds, path, "one", 3, 0644, false, &changed));
	assert_false(changed);
	assert_true(fs_write(&ds, path, "two!", 4, 0644, false, &changed));
	assert_true(changed);
	src = fs_read(a, &ds, path, 4, (struct span){ 0 });
	assert_non_null(src);
	assert_memory_equal(src->text, "two!", 5);
	assert_null(fs_read(a, &ds, path, 3, (struct span){ 0 }));
	assert_null(fs_read(a, &ds, dir, 100, (struct span){ 0 }));
	assert_null(fs_read(a, &ds, "/dev/zero", 100, (struct span){ 0 }));
	assert_int_equal(ds.errors, 3);
	/* a directory in the way: an error, and no leftover next to it */
	assert_false(fs_write(&ds, fs_join(a, dir, "x"), "no", 2, 0644, false, NULL));
	assert_int_equal(ds.errors, 4);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(fs_join(a, dir, "x/y")), 0);
	assert_int_equal(rmdir(fs_join(a, dir, "x")), 0);
	assert_int_equal(rmdir(dir), 0);
}

/* Adds a text that is wrapped at a width, and returns it. */
static const char *
wrapped(const char *text, size_t indent, size_t width)
{
	struct buf b = BUF(a);

	buf_wrap(&b, text, indent, width);
	return buf_text(&b);
}

static void
a_number_stays_with_its_unit(void **state)
{
	(void)state;
	assert_string_equal(wrapped("one two", 2, 5), "one\n  two");
	assert_string_equal(wrapped("about 4.0 / s", 0, 9), "about\n4.0 / s");
	assert_string_equal(wrapped("with 16 GiB, or", 0, 8), "with\n16 GiB,\nor");
	assert_string_equal(wrapped("with 16 files", 0, 8), "with 16\nfiles");
	assert_string_equal(wrapped("no min", 0, 5), "no\nmin");
}

/* Returns a text that is folded at a width. */
static const char *
folded(const char *text, size_t width)
{
	struct buf b = BUF(a);

	fold(text, width, &b);
	return buf_text(&b);
}

static void
lines_fold_below_their_cell(void **state)
{
	(void)state;
	assert_string_equal(folded("short\n\n", 40), "short\n\n");
	assert_string_equal(folded("  name  some words about it and more\nnext", 30),
			    "  name  some words about it\n        and more\nnext");
	assert_string_equal(folded("\033[1mname\033[0m  some words about it and", 26),
			    "\033[1mname\033[0m  some words about it\n      and");
	assert_string_equal(folded("    5 | a line of a file is not broken", 20),
			    "    5 | a line of a file is not broken");
	assert_string_equal(folded("https://example.org/a/long/word", 10),
			    "https://example.org/a/long/word");
}

static void
path_parts(void **state)
{
	(void)state;
	assert_string_equal(fs_dir(a, "recipes/x.yaml"), "recipes");
	assert_string_equal(fs_dir(a, "x.yaml"), ".");
	assert_string_equal(fs_dir(a, "/x"), "/");
	assert_string_equal(fs_stem(a, "recipes/torch2.2.yaml"), "torch2.2");
	assert_string_equal(fs_stem(a, ".hidden"), ".hidden");
	assert_string_equal(fs_join(a, "a", "b"), "a/b");
	assert_string_equal(fs_join(a, "a/", "b"), "a/b");
	assert_string_equal(fs_join(a, ".", "b"), "b");
	assert_string_equal(fs_join(a, "a", "/b"), "/b");
}

static const char *
printed(const struct diags *ds)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);
	const char *copy;

	assert_true(diags_print(ds, f, false));
	fclose(f);
	copy = arena_copy(a, text, n);
	free(text);
	return copy;
}

static void
diagnostics_point_at_the_place(void **state)
{
	static const char text[] = "base:\n  cuda: 12.4.1\nn\xc3\xa9"
				   ": x\ttorch \x1b[31m\n";
	const struct source src = { "r.yaml", text, sizeof(text) - 1 };
	struct diags ds;
	struct diag *d;

	(void)state;
	ds = DIAGS(ds, a);
	d = diag_at(&ds, E_KEY_TWICE, (struct span){ &src, 3, 7, 5 }, "torch %s", "here");
	diag_why(d, "one");
	diag_why(d, "two");
	diag_note(d, (struct span){ &src, 2, 9, 6 }, "there");
	diag_help(d, "do this");
	diag_fix(d, (struct span){ &src, 2, 9, 6 }, "12.1.1", "do that");
	diag_source(d, "somewhere");
	assert_string_equal(printed(&ds), "r.yaml:3:7: error[SB0104]: torch here\n"
					  "    3 | n\xc3\xa9: x\ttorch ?[31m\n"
					  "      |      \t^^^^^\n"
					  "  because one\n"
					  "      and two\n"
					  "  note: r.yaml:2:9: there\n"
					  "    2 |   cuda: 12.4.1\n"
					  "      |         ^^^^^^\n"
					  "  help: do this\n"
					  "  or do that\n"
					  "  source: somewhere\n");
	assert_int_equal(ds.errors, 1);
}

/* The first help is shown with its result: changed, added and removed lines. */
static void
a_fix_is_shown(void **state)
{
	static const char text[] = "a: 1, b: 2\n- x\n- y\n";
	static const char base[] = "c: 3\n";
	const struct source src = { "r.yaml", text, sizeof(text) - 1 };
	const struct source other = { "base.yaml", base, sizeof(base) - 1 };
	struct diags ds;
	struct diag *d;

	(void)state;
	ds = DIAGS(ds, a);
	d = diag_at(&ds, E_KEY_TWICE, (struct span){ 0 }, "all");
	diag_fix(d, (struct span){ &src, 1, 10, 1 }, "22", "change two");
	diag_fix_more(d, (struct span){ &src, 1, 4, 1 }, "11");
	diag_fix_more(d, (struct span){ &src, 2, 4, 0 }, "\n- z");
	diag_fix_more(d, (struct span){ &src, 3, 1, 3 }, "");
	diag_fix_more(d, (struct span){ &other, 1, 4, 1 }, "4");
	diag_cost(d, "%s", "1 layer");
	diag_fix(d, (struct span){ &src, 1, 4, 1 }, "5", "change one only");
	diag_cost(d, "%d layers", 9);
	assert_string_equal(printed(&ds), "error[SB0104]: all\n"
					  "  help: change two     1 layer\n"
					  "    1 | a: 11, b: 22\n"
					  "    2 | - x\n"
					  "    3 | - z\n"
					  "    3 - - y\n"
					  "      in base.yaml\n"
					  "    1 | c: 4\n"
					  "  or change one only   9 layers\n");
}

/* Moved diagnostics belong to their new list; the old list may no longer exist. */
static void
appended_diagnostics_count_where_they_are(void **state)
{
	struct diags to;
	struct diag *d;

	(void)state;
	to = DIAGS(to, a);
	{
		struct diags from;

		from = DIAGS(from, a);
		d = diag_at(&from, E_FILE, (struct span){ 0 }, "first");
		diags_append(&to, &from);
		assert_int_equal(from.errors, 0);
		from.arena = NULL;
	}
	assert_int_equal(to.errors, 1);
	diag_help(d, "more of it");
	diag_force(d);
	assert_int_equal(to.errors, 0);
	assert_int_equal(to.warnings, 1);
}

static void
repeated_diagnostics_are_folded_and_capped(void **state)
{
	static const char text[] = "a\nb\n";
	const struct source src = { "r.yaml", text, sizeof(text) - 1 };
	struct diags ds;

	(void)state;
	ds = DIAGS(ds, a);
	for (unsigned i = 0; i < 3; i++)
		for (unsigned line = 1; line <= 2; line++)
			diag_at(&ds, E_KEY_TWICE, (struct span){ &src, line, 1, 1 }, "same");
	diags_fold(&ds);
	assert_int_equal(ds.errors, 2);
	assert_null(ds.head->next->next);
	for (unsigned i = 0; i < 20000; i++)
		diag_at(&ds, E_KEY_TWICE, (struct span){ &src, 1, 1, 1 }, "number %u", i);
	assert_true(strlen(printed(&ds)) <= DIAG_BYTES_MAX);
	assert_non_null(strstr(printed(&ds), " more, left out\n"));
}

static void
a_long_line_is_shown_in_part(void **state)
{
	char *text = arena_alloc(a, 100001, 1);
	const struct source src = { "r.yaml", text, 100000 };
	struct diags ds;

	(void)state;
	memset(text, 'x', 100000);
	ds = DIAGS(ds, a);
	diag_at(&ds, E_KEY_TWICE, (struct span){ &src, 1, 50000, 90000 }, "far");
	assert_true(strlen(printed(&ds)) < 600);
	assert_non_null(strstr(printed(&ds), "^^^"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_and_maps),
		cmocka_unit_test(large_allocations_leave_room),
		cmocka_unit_test(buffers_have_a_maximum),
		cmocka_unit_test(nearest_words),
		cmocka_unit_test(json_escapes),
		cmocka_unit_test(json_from_a_pattern),
		cmocka_unit_test(json_shapes),
		cmocka_unit_test(sha256_vectors),
		cmocka_unit_test(credentials_are_masked),
		cmocka_unit_test(files_appear_whole_or_not),
		cmocka_unit_test(a_number_stays_with_its_unit),
		cmocka_unit_test(lines_fold_below_their_cell),
		cmocka_unit_test(path_parts),
		cmocka_unit_test(diagnostics_point_at_the_place),
		cmocka_unit_test(a_fix_is_shown),
		cmocka_unit_test(appended_diagnostics_count_where_they_are),
		cmocka_unit_test(repeated_diagnostics_are_folded_and_capped),
		cmocka_unit_test(a_long_line_is_shown_in_part),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, setup, teardown);
}
