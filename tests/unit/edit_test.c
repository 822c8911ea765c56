/* base/edit, base/fix: changes to a file in place. */
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
#include "base/edit.h"
#include "base/fix.h"
#include "base/fs.h"
#include "base/yaml.h"

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

static const struct source *
source_of(const char *text)
{
	struct source *src = arena_new_of(a, struct source);

	*src = (struct source){ "r.yaml", text, strlen(text) };
	return src;
}

static const struct node *
read_text(const char *text)
{
	return yaml_read(a, &ds, source_of(text), YAML_LIMITS_DEFAULT);
}

/* Returns the text of a value in place of `old` after `k: `. */
static const char *
instead_of(const char *old, const char *value)
{
	const struct node *n = node_get(read_text(arena_printf(a, "k: %s", old)), "k");

	return edit_scalar(a, n->at, value);
}

static void
scalars_keep_their_style(void **state)
{
	(void)state;
	assert_string_equal(instead_of("2.2.2", "2.5.1"), "2.5.1");
	assert_string_equal(instead_of("\"2.2.2\"", "2.5.1"), "\"2.5.1\"");
	assert_string_equal(instead_of("'2.2.2'", "2.5.1"), "'2.5.1'");
	assert_string_equal(instead_of("'a'", "it's"), "'it''s'");
	assert_string_equal(instead_of("'a'", "a\nb"), "\"a\\nb\"");
	assert_string_equal(instead_of("\"a\"", "say \"\\\" \xc3\xa9\x01"),
			    "\"say \\\"\\\\\\\" \xc3\xa9\\x01\"");
	assert_string_equal(instead_of("&v \"a\"", "b"), "\"b\"");
	assert_string_equal(instead_of("!!str 'a'", "b"), "'b'");
	assert_string_equal(edit_scalar(a, (struct span){ 0 }, "3.10"), "\"3.10\"");
	assert_string_equal(
		edit_scalar(a, (struct span){ source_of("- \"x==1.10\""), 1, 7, 4 }, "1.20"),
		"1.20");
	assert_string_equal(
		edit_scalar(a, (struct span){ source_of("{\"a\":\"b\"}"), 1, 6, 3 }, "c"), "\"c\"");
	assert_string_equal(
		edit_scalar(a, (struct span){ source_of("b: x/y:1.2"), 1, 8, 3 }, "1.10"), "1.10");
}

static void
a_value_comes_where_nothing_was(void **state)
{
	const struct source *src = source_of("k: # why\n");
	const struct node *n = node_get(yaml_read(a, &ds, src, YAML_LIMITS_DEFAULT), "k");

	(void)state;
	assert_int_equal(n->at.col, 3);
	assert_int_equal(n->at.width, 0);
	assert_string_equal(edit_scalar(a, n->at, "2.2.2"), " 2.2.2");
	n = node_get(read_text("k:\n"), "k");
	assert_string_equal(edit_scalar(a, n->at, ""), " \"\"");
}

/* A text is in quotes if any YAML reader would take it for another value. */
static void
plain_is_what_all_readers_take_for_this_text(void **state)
{
	static const char *const plain[] = { "2.2.2",
					     "cu121",
					     "12.4",
					     "0",
					     "86400",
					     "-3",
					     "0.5",
					     "causal-conv1d==1.4.0",
					     "nvidia/cuda:12.1.1-devel-ubuntu22.04",
					     "https://example.org/x#y",
					     "a b",
					     "yes-no",
					     "2.5.1+cu121",
					     "train.py::main",
					     "2.3.2.post1",
					     "a100-80gb" };
	static const char *const quoted[] = {
		"",         "3.10",    "9.0",  "007",      "1_000",      "0x1f",
		"0o7",      "1e3",     "1.",   ".5",       "+1",         "1:30",
		"12:30:45", "null",    "Null", "~",        "yes",        "NO",
		"on",       "Off",     "y",    "true",     ".inf",       "-.Inf",
		".NaN",     "=",       "<<",   "- a",      "-a",         "? a",
		": a",      "#",       "a #b", "a: b",     "a:",         " a",
		"a ",       "numpy<2", "a,b",  "[a]",      "{a}",        "a]",
		"a}",       "&a",      "*a",   "!a",       "|",          ">",
		"'a'",      "\"a\"",   "%a",   "@a",       "`a`",        "---",
		"...",      "a\tb",    "a\nb", "\xc3\xa9", "2025-06-01", "123456789012345678",
		"550.120",  "a\\b",    "x[y]", "b:?"
	};

	(void)state;
	for (size_t i = 0; i < sizeof(plain) / sizeof(*plain); i++)
		assert_string_equal(edit_scalar(a, (struct span){ 0 }, plain[i]), plain[i]);
	for (size_t i = 0; i < sizeof(quoted) / sizeof(*quoted); i++)
		if (edit_is_plain(quoted[i]))
			fail_msg("`%s` is written plain", quoted[i]);
}

static uint32_t seed = 7;

static uint32_t
next_random(uint32_t below)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % below;
}

/* In every style and place, the value is read back unchanged. */
static void
what_is_written_is_read_back(void **state)
{
	static const char *const pieces[] = {
		"a",    "7",  ".",  " ", ":",  ": ", "#", " #",       ",", "[", "]",
		"{",    "}",  "\"", "'", "\\", "-",  "?", "!",        "&", "*", "|",
		">",    "%",  "@",  "`", "\t", "\n", "<", "\xc3\xa9", "=", "~", "\xe2\x80\xa8",
		"null", "0x", "e"
	};
	static const char *const old[] = { "x", "\"x\"", "'x'" };
	static const char *const before[] = {
		"k: ", "k: ", "k: [", "k: [{j: ", "k:\n- ", "k: {j: "
	};
	static const char *const after[] = { "\n",   " # c\n",  ", y]\n",
					     "}]\n", "\n- y\n", ", i: z}\n" };

	(void)state;
	for (unsigned i = 0; i < 20000; i++) {
		struct buf value = BUF(a);
		const char *was = old[next_random(3)], *text;
		uint32_t place = next_random(6);
		const struct node *n;

		for (uint32_t k = next_random(6); k--;)
			buf_puts(&value, pieces[next_random(sizeof(pieces) / sizeof(*pieces))]);
		text = edit_scalar(a, (struct span){ source_of(was), 1, 1, (uint32_t)strlen(was) },
				   buf_text(&value));
		n = read_text(arena_printf(a, "%s%s%s", before[place], text, after[place]));
		if (!n)
			fail_msg("`%s` is no YAML", text);
		for (n = node_get(n, "k"); n->kind != NODE_SCALAR;)
			n = n->kind == NODE_LIST ? n->items[0] : n->pairs[0].value;
		if (strcmp(n->s, buf_text(&value)) != 0)
			fail_msg("`%s` is read as `%s`", text, n->s);
	}
	assert_int_equal(ds.errors, 0);
}

/* Runs one round on one file; returns its content. */
static const char *
fixed(const struct source *src, struct fixes *fixes)
{
	struct fix_files files = { 0 };
	const struct names none = { 0 };

	list_push(a, &files, (struct fix_file){ src, src->text, src->size });
	*fixes = fix_round(a, &ds, &none, &files);
	return files.at[0].text;
}

static void
all_edits_of_a_fix_or_none(void **state)
{
	const struct source *src = source_of("a: 1\nb: 2\nc:\n- x\n- y\n"),
			    *other = source_of("a: 1");
	struct fixes f;
	struct diag *d;

	(void)state;
	ds = DIAGS(ds, a);
	d = diag_at(&ds, E_KEY_TWICE, (struct span){ src, 1, 1, 1 }, "one");
	diag_fix(d, (struct span){ src, 1, 4, 1 }, "10", "do");
	diag_fix_more(d, (struct span){ src, 4, 4, 0 }, "\n- z");
	d = diag_at(&ds, E_KEY_TWICE, (struct span){ src, 2, 1, 1 }, "it meets the first");
	diag_fix(d, (struct span){ src, 2, 4, 1 }, "20", "do");
	diag_fix_more(d, (struct span){ src, 1, 4, 1 }, "11");
	d = diag_at(&ds, E_KEY_TWICE, (struct span){ src, 2, 1, 1 }, "the same again");
	diag_fix(d, (struct span){ src, 1, 4, 1 }, "10", "do");
	d = diag_at(&ds, E_KEY_TWICE, (struct span){ src, 5, 1, 1 }, "a line goes");
	diag_fix(d, (struct span){ src, 5, 1, 3 }, "", "do");
	d = diag_at(&ds, E_KEY_TWICE, (struct span){ src, 2, 1, 1 }, "in no file");
	diag_fix(d, (struct span){ src, 2, 4, 1 }, "20", "do");
	diag_fix_more(d, (struct span){ other, 1, 4, 1 }, "20");
	d = diag_at(&ds, E_KEY_TWICE, (struct span){ src, 2, 1, 1 }, "past the end of the line");
	diag_fix(d, (struct span){ src, 2, 4, 5 }, "20", "do");
	d = diag_at(&ds, E_KEY_TWICE, (struct span){ src, 9, 1, 1 }, "past the end");
	diag_fix(d, (struct span){ src, 9, 4, 5 }, "20", "do");
	d = diag_at(&ds, E_KEY_TWICE, (struct span){ src, 2, 1, 1 }, "only the first help counts");
	diag_help(d, "think");
	diag_fix(d, (struct span){ src, 2, 4, 1 }, "20", "do");
	d = diag_at(&ds, W_UNPINNED, (struct span){ src, 2, 1, 1 }, "no warning");
	diag_fix(d, (struct span){ src, 2, 4, 1 }, "20", "do");
	assert_string_equal(fixed(src, &f), "a: 10\nb: 2\nc:\n- x\n- z\n");
	assert_int_equal(f.n, 7);
	assert_int_equal(f.at[0].state, FIX_DONE);
	assert_int_equal(f.at[1].state, FIX_LATER);
	assert_int_equal(f.at[2].state, FIX_DONE);
	assert_int_equal(f.at[3].state, FIX_DONE);
	for (size_t i = 4; i < 7; i++)
		assert_int_equal(f.at[i].state, FIX_REFUSED);
}

/* Errors of later stages may have the same cause: after the first fix, all are checked again. */
static void
of_conflicts_one_at_a_time(void **state)
{
	const struct source *src = source_of("a: 1\nb: 2\n");
	struct fixes f;
	struct diag *d;

	(void)state;
	ds = DIAGS(ds, a);
	d = diag_at(&ds, E_IMAGE_NEVER, (struct span){ src, 1, 1, 1 }, "one");
	diag_fix(d, (struct span){ src, 1, 4, 1 }, "10", "do");
	d = diag_at(&ds, E_CUDA_NEVER, (struct span){ src, 2, 1, 1 }, "another");
	diag_fix(d, (struct span){ src, 2, 4, 1 }, "20", "do");
	assert_string_equal(fixed(src, &f), "a: 10\nb: 2\n");
	assert_int_equal(f.at[0].state, FIX_DONE);
	assert_int_equal(f.at[1].state, FIX_LATER);
}

static void
what_would_be_no_yaml_is_left(void **state)
{
	const struct source *src = source_of("a: 1\r\nb: \"x\r\n  y\"\r\nc: 3");
	struct fixes f;
	struct diag *d;

	(void)state;
	ds = DIAGS(ds, a);
	d = diag_at(&ds, E_KEY_TWICE, (struct span){ src, 1, 1, 1 }, "breaks it");
	diag_fix(d, (struct span){ src, 1, 4, 1 }, "[", "do");
	d = diag_at(&ds, E_KEY_TWICE, (struct span){ src, 2, 1, 1 }, "two lines");
	diag_fix(d, (struct span){ src, 2, 4, 1 }, "z", "do");
	d = diag_at(&ds, E_KEY_TWICE, (struct span){ src, 1, 1, 1 }, "twice the key");
	diag_fix(d, (struct span){ src, 1, 1, 1 }, "c", "do");
	d = diag_at(&ds, E_KEY_TWICE, (struct span){ src, 3, 1, 1 }, "good");
	diag_fix(d, (struct span){ src, 4, 4, 1 }, "4\nd: 5", "do");
	assert_string_equal(fixed(src, &f), "a: 1\r\nb: \"x\r\n  y\"\r\nc: 4\r\nd: 5");
	assert_string_equal(f.at[0].why, "the file would no longer be valid YAML");
	assert_string_equal(f.at[1].why, "the value spans more than one line");
	assert_string_equal(f.at[2].why, "the file would no longer be valid YAML");
	assert_int_equal(f.at[3].state, FIX_DONE);
}

static void
sarif_has_every_edit(void **state)
{
	const struct source *src = source_of("a: 1\n- x\n"), *other = source_of("c: 3\n");
	struct buf out = BUF(a);
	const char *text;
	struct diag *d;

	(void)state;
	ds = DIAGS(ds, a);
	d = diag_at(&ds, E_KEY_TWICE, (struct span){ src, 1, 1, 1 }, "all");
	diag_fix(d, (struct span){ src, 1, 4, 1 }, "2", "do");
	diag_fix_more(d, (struct span){ src, 2, 1, 3 }, "");
	diag_fix_more(d, (struct span){ other, 1, 5, 0 }, "\nd: 4");
	diag_cost(d, "an hour");
	report_sarif(&ds, "0", &out);
	text = strstr(buf_text(&out), "\"fixes\"");
	assert_non_null(text);
	assert_non_null(strstr(text, "\"startLine\": 1"));
	assert_non_null(strstr(text, "\"endLine\": 3"));
	assert_non_null(strstr(text, "\"startColumn\": 5"));
	assert_non_null(strstr(text, "\"endColumn\": 5"));
	assert_non_null(strstr(text, "\"text\": \"\\nd: 4\""));
	assert_non_null(strstr(buf_text(&out), "help: do (an hour)"));
	for (unsigned i = 0; i < 2; i++)
		assert_non_null(text = strstr(text + 1, "\"artifactLocation\""));
	assert_null(strstr(text + 1, "\"artifactLocation\""));
}

static const char *
diff(const char *old, const char *new)
{
	struct buf b = BUF(a);

	fix_diff("/x y", old, strlen(old), new, strlen(new), &b);
	return buf_text(&b);
}

static void
differences_are_told_in_hunks(void **state)
{
	(void)state;
	assert_string_equal(diff("a\n", "a\n"), "");
	assert_string_equal(diff("", "a\n"), "--- a/x y\t\n+++ b/x y\t\n@@ -0,0 +1,1 @@\n+a\n");
	assert_string_equal(diff("a\nb", "b\n"),
			    "--- a/x y\t\n+++ b/x y\t\n@@ -1,2 +1,1 @@\n-a\n-b\n"
			    "\\ No newline at end of file\n+b\n");
	assert_string_equal(diff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\nx\n3\n4\n5\n6\n7\n8\n"),
			    "--- a/x y\t\n+++ b/x y\t\n@@ -1,9 +1,8 @@\n 1\n-2\n+x\n 3\n 4\n"
			    " 5\n 6\n 7\n 8\n-9\n");
}

/* A file is changed only if its content is still the same; its mode and a link to it stay. */
static void
a_file_is_replaced(void **state)
{
	char dir[] = "/tmp/stackbuild-edit-XXXXXX";
	const char *path, *link;
	struct stat st;

	(void)state;
	assert_non_null(mkdtemp(dir));
	path = fs_join(a, dir, "r");
	link = fs_join(a, dir, "link");
	ds = DIAGS(ds, a);
	assert_true(fs_write(&ds, path, "one", 3, 0644, false, NULL));
	assert_int_equal(chmod(path, 01751), 0);
	assert_int_equal(symlink("r", link), 0);
	assert_false(fs_replace(&ds, link, "six", 3, "two", 3));
	assert_int_equal(ds.errors, 1);
	assert_true(fs_replace(&ds, link, "one", 3, "two", 3));
	assert_string_equal(fs_read(a, &ds, path, 100, (struct span){ 0 })->text, "two");
	assert_int_equal(lstat(link, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 01751);
	assert_int_equal(unlink(link), 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(dir), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scalars_keep_their_style),
		cmocka_unit_test(a_value_comes_where_nothing_was),
		cmocka_unit_test(plain_is_what_all_readers_take_for_this_text),
		cmocka_unit_test(what_is_written_is_read_back),
		cmocka_unit_test(all_edits_of_a_fix_or_none),
		cmocka_unit_test(of_conflicts_one_at_a_time),
		cmocka_unit_test(what_would_be_no_yaml_is_left),
		cmocka_unit_test(sarif_has_every_edit),
		cmocka_unit_test(differences_are_told_in_hunks),
		cmocka_unit_test(a_file_is_replaced),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, setup, teardown);
}
