#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "render/target.h"

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

/* --- quoting --- */

static const char *
quoted(enum quoting q, enum language l, const char *text)
{
	struct buf b = BUF(a);
	const char *why = NULL;

	return quote(&b, q, l, text, &why) ? buf_text(&b) : NULL;
}

static void
test_quote(void **state)
{
	static const struct {
		enum quoting q;
		enum language l;
		const char *text, *want;
	} rows[] = {
		{ QUOTE_SH, LANG_SH, "torch==2.2.2", "torch==2.2.2" },
		{ QUOTE_SH, LANG_SH, "", "''" },
		{ QUOTE_SH, LANG_SH, "numpy<2", "'numpy<2'" },
		{ QUOTE_SH, LANG_SH, "it's", "\"it's\"" },
		{ QUOTE_SH, LANG_SH, "it's $HOME", "'it'\\''s $HOME'" },
		{ QUOTE_SH, LANG_SH, "two\nlines", "'two\nlines'" },
		{ QUOTE_SH, LANG_DOCKERFILE, "two\nlines", NULL },
		{ QUOTE_SH, LANG_DOCKERFILE, "# no comment", "'# no comment'" },
		{ QUOTE_SH, LANG_DOCKERFILE, "<<EOF", "'<<EOF'" },
		{ QUOTE_SH, LANG_DOCKERFILE, "end\\", "'end\\'" },
		{ QUOTE_TEXT, LANG_DOCKERFILE, "else", "'else'" },
		{ QUOTE_TEXT, LANG_DOCKERFILE, "", "''" },
		{ QUOTE_DOCKERFILE, LANG_DOCKERFILE, "1", "1" },
		{ QUOTE_DOCKERFILE, LANG_DOCKERFILE, "", "\"\"" },
		{ QUOTE_DOCKERFILE, LANG_DOCKERFILE, "a $B \"c\" \\", "\"a \\$B \\\"c\\\" \\\\\"" },
		{ QUOTE_DOCKERFILE, LANG_DOCKERFILE, "a\nRUN evil", NULL },
		{ QUOTE_COPY, LANG_DOCKERFILE, "my src/", "\"my src/\"" },
		{ QUOTE_COPY, LANG_DOCKERFILE, "a$b'", "\"a\\\\$b\\\\'\"" },
		{ QUOTE_JSON, LANG_DOCKERFILE, "say \"hi\"", "\"say \\\"hi\\\"\"" },
		{ QUOTE_PYTHON, LANG_PYTHON, "a\\b\n", "\"a\\\\b\\n\"" },
		{ QUOTE_PYTHON, LANG_PYTHON, "say \"hi\"", "'say \"hi\"'" },
		{ QUOTE_PYTHON, LANG_PYTHON, "'\"", "\"'\\\"\"" },
		{ QUOTE_PYTHON, LANG_PYTHON, "\x1b", "\"\\x1b\"" },
		{ QUOTE_COMMENT, LANG_SH, "any $(text)", "any $(text)" },
		{ QUOTE_COMMENT, LANG_SH, "a\nrm -rf x", "a\\u000arm -rf x" },
		{ QUOTE_COMMENT, LANG_PYTHON, "a\rb", "a\\u000db" },
		{ QUOTE_REQUIREMENT, LANG_PIP, "numpy<2; python_version < \"3.12\"",
		  "numpy<2; python_version < \"3.12\"" },
		{ QUOTE_REQUIREMENT, LANG_PIP, "-r other.txt", NULL },
		{ QUOTE_REQUIREMENT, LANG_PIP, "a #b", NULL },
		{ QUOTE_REQUIREMENT, LANG_PIP, "a @ https://x/${TOKEN}", NULL },
		{ QUOTE_REQUIREMENT, LANG_PIP, "a\\", NULL },
		{ QUOTE_REQUIREMENT, LANG_PIP, "", NULL },
		{ QUOTE_JSON, LANG_HCL, "a ${b} %{c} $d \"e\"", "\"a $${b} %%{c} $d \\\"e\\\"\"" },
		{ QUOTE_JSON, LANG_YAML, "a: ${b} #c", "\"a: ${b} #c\"" },
		{ QUOTE_JSON, LANG_YAML, "a ${{ b }}", NULL },
		{ QUOTE_PLAIN, LANG_DOCKERFILE, "nvidia/cuda:12.1.1-devel-ubuntu22.04",
		  "nvidia/cuda:12.1.1-devel-ubuntu22.04" },
		{ QUOTE_PLAIN, LANG_DOCKERFILE, "a b", NULL },
		{ QUOTE_PLAIN, LANG_DOCKERFILE, "--platform=x", NULL },
		{ QUOTE_PLAIN, LANG_DOCKERFILE, "", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *got = quoted(rows[i].q, rows[i].l, rows[i].text);

		if (rows[i].want)
			assert_string_equal(got ? got : "(refused)", rows[i].want);
		else
			assert_null(got);
	}
}

static void
test_quoting_names(void **state)
{
	(void)state;
	for (enum quoting q = 0; q < QUOTINGS; q++)
		assert_int_equal(quoting_named(str_of(quoting_name(q))), q);
	assert_int_equal(quoting_named(STR("raw")), QUOTINGS);
	assert_true(quoting_fits(QUOTE_SH, LANG_DOCKERFILE));
	assert_false(quoting_fits(QUOTE_PYTHON, LANG_DOCKERFILE));
	assert_false(quoting_fits(QUOTE_SH, LANG_PYTHON));
}

/* --- templates --- */

static const struct shape package_shape[] = {
	{ "name", VALUE_TEXT, "its name", NULL },
	{ "pinned", VALUE_FLAG, "it has a version", NULL },
	{ "extras", VALUE_LIST, "plain texts", NULL },
	{ 0 },
};

static const struct shape test_shape[] = {
	{ "title", VALUE_TEXT, "a text", NULL },
	{ "missing", VALUE_TEXT, "a text that is not given", NULL },
	{ "code", VALUE_CODE, "code", NULL },
	{ "yes", VALUE_FLAG, "on", NULL },
	{ "no", VALUE_FLAG, "off", NULL },
	{ "packages", VALUE_LIST, "a list", package_shape },
	{ "none", VALUE_LIST, "an empty list", package_shape },
	{ 0 },
};

static struct scope *
values(void)
{
	struct scope *s = scope_new(a, test_shape), *p;

	scope_text(s, "title", "it's $x", (struct span){ 0 });
	scope_code(s, "code", "one \\\n  two\nthree");
	scope_flag(s, "yes", true);
	p = scope_item(s, "packages");
	scope_text(p, "name", "torch", (struct span){ 0 });
	scope_flag(p, "pinned", true);
	p = scope_item(s, "packages");
	scope_text(p, "name", "numpy", (struct span){ 0 });
	scope_item_text(p, "extras", "a b", (struct span){ 0 });
	scope_item_text(p, "extras", "c", (struct span){ 0 });
	return s;
}

/* Returns the expansion; NULL if it was rejected, with at least one error. */
static const char *
expanded(const char *text)
{
	struct source src = { "t", text, strlen(text) };
	struct buf b = BUF(a);
	unsigned errors = ds.errors;

	if (template_expand(&ds, &src, LANG_DOCKERFILE, values(), &b, NULL))
		return buf_text(&b);
	assert_true(ds.errors > errors);
	return NULL;
}

static void
test_expand(void **state)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{ "", "" },
		{ "no tags { or } }}", "no tags { or } }}" },
		{ "a {{title|sh}} b", "a 'it'\\''s $x' b" },
		{ "{{ title | comment }}\n", "it's $x\n" },
		{ "{{#yes}}y{{/yes}}{{^yes}}n{{/yes}}", "y" },
		{ "{{#no}}y{{/no}}{{^no}}n{{/no}}", "n" },
		{ "{{#title}}t{{/title}}{{#missing}}m{{/missing}}", "t" },
		{ "{{#packages}}{{name|sh}}{{^last}}, {{/last}}{{/packages}}", "torch, numpy" },
		{ "{{#packages}}{{#first}}[{{/first}}{{name|sh}}{{/packages}}", "[torchnumpy" },
		{ "{{#packages}}{{name|sh}}{{#pinned}}!{{/pinned}} {{/packages}}",
		  "torch! numpy " },
		{ "{{#packages}}{{#extras}}{{.|sh}},{{/extras}}{{/packages}}", "'a b',c," },
		{ "{{#packages}}{{title|comment}};{{/packages}}", "it's $x;it's $x;" },
		{ "{{#none}}x{{/none}}{{^none}}empty{{/none}}", "empty" },
		{ "{{^none}}{{title|comment}}{{/none}}", "it's $x" },
		{ "{{! gone }}a{{! and\n gone }}b", "ab" },
		{ "{{{{x}}", "{{x}}" },
		/* Lines with only tags leave nothing behind; other lines keep their ends. */
		{ "a\n  {{#yes}}\nb\n{{/yes}}\nc\n", "a\nb\nc\n" },
		{ "{{#packages}} {{#pinned}}\n{{name|sh}}\n{{/pinned}}{{/packages}}", "torch\n" },
		{ "{{! remark\n   of two lines }}\na\n", "a\n" },
		{ "a {{#yes}}\nb{{/yes}}\n", "a \nb\n" },
		{ "{{#yes}}\n{{/yes}}", "" },
		/* Code that is alone on its line is indented as a whole. */
		{ "RUN {{code|code}}\n", "RUN one \\\n  two\nthree\n" },
		{ "    {{code|code}}\n", "    one \\\n      two\n    three\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *got = expanded(rows[i].text);

		assert_string_equal(got ? got : "(refused)", rows[i].want);
	}
	assert_int_equal(ds.errors, 0);
}

static void
test_refused(void **state)
{
	static const struct {
		const char *text;
		enum code code;
		unsigned line, col;
		const char *says, *fix;
	} rows[] = {
		{ "a\n b {{title", E_TEMPLATE_SYNTAX, 2, 4, "not closed", NULL },
		{ "{{#yes}}", E_TEMPLATE_SYNTAX, 1, 4, "`yes` is not closed", NULL },
		{ "{{/yes}}", E_TEMPLATE_SYNTAX, 1, 4, "not the section that is open", NULL },
		{ "{{#yes}}{{#no}}{{/yes}}{{/no}}", E_TEMPLATE_SYNTAX, 1, 19,
		  "not the section that is open", NULL },
		{ "{{a b|sh}}", E_TEMPLATE_SYNTAX, 1, 3, "not a name", NULL },
		{ "{{}}", E_TEMPLATE_SYNTAX, 1, 1, "not a name", NULL },
		{ "{{#packages}}{{#packages}}{{/packages}}{{/packages}}", E_TEMPLATE_SYNTAX, 1, 17,
		  "is already open", NULL },
		{ "\n\xc3\xa9 {{titel|sh}}", E_TEMPLATE_NAME, 2, 5, "no name `titel`", "title" },
		{ "{{#no}}{{nmae|sh}}{{/no}}", E_TEMPLATE_NAME, 1, 10, "no name `nmae`", NULL },
		{ "{{#none}}{{nmae|sh}}{{/none}}", E_TEMPLATE_NAME, 1, 12, "no name `nmae`",
		  "name" },
		{ "{{.|sh}}", E_TEMPLATE_NAME, 1, 3, "no name `.`", NULL },
		{ "{{#last}}{{/last}}", E_TEMPLATE_NAME, 1, 4, "no name `last`", NULL },
		{ "{{missing|sh}}", E_TEMPLATE_NAME, 1, 3, "no value for `missing`", NULL },
		{ "{{title}}", E_TEMPLATE_QUOTING, 1, 3, "without quoting", NULL },
		{ "{{title|raw}}", E_TEMPLATE_QUOTING, 1, 9, "no quoting `raw`", NULL },
		{ "{{title|python}}", E_TEMPLATE_QUOTING, 1, 9, "no quoting `python`", NULL },
		{ "{{title|code}}", E_TEMPLATE_QUOTING, 1, 9, "no quoting `code`", NULL },
		{ "{{code|sh}}", E_TEMPLATE_QUOTING, 1, 8, "is already quoted", NULL },
		{ "{{code}}", E_TEMPLATE_QUOTING, 1, 3, "is already quoted", NULL },
		{ "{{packages|sh}}", E_TEMPLATE_QUOTING, 1, 3, "is not a text", NULL },
		{ "{{yes|sh}}", E_TEMPLATE_QUOTING, 1, 3, "is not a text", NULL },
		{ "{{title|plain}}", E_UNQUOTABLE, 1, 3, "cannot be written as `plain`", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct diag *d;

		ds = DIAGS(ds, a);
		if (expanded(rows[i].text))
			fail_msg("`%s` was taken", rows[i].text);
		d = ds.head;
		if (!strstr(d->text, rows[i].says))
			fail_msg("`%s`: %s", rows[i].text, d->text);
		assert_string_equal(code_table[d->code].id, code_table[rows[i].code].id);
		assert_int_equal(d->at.line, rows[i].line);
		assert_int_equal(d->at.col, rows[i].col);
		if (rows[i].fix)
			assert_string_equal(d->notes->edits->replacement, rows[i].fix);
	}
}

static void
test_limits(void **state)
{
	struct buf deep = BUF(a), large = BUF(a), many = BUF(a), wrong = BUF(a);
	const struct diag *last;

	(void)state;
	for (int i = 0; i < TEMPLATE_DEPTH_MAX; i++)
		buf_puts(&deep, "{{#yes}}");
	for (int i = 0; i < TEMPLATE_DEPTH_MAX; i++)
		buf_puts(&deep, "{{/yes}}");
	assert_non_null(expanded(buf_text(&deep)));
	buf_puts(&many, "{{#yes}}");
	buf_puts(&many, buf_text(&deep));
	buf_puts(&many, "{{/yes}}");
	assert_null(expanded(buf_text(&many)));
	while (large.n <= TEMPLATE_BYTES_MAX)
		buf_puts(&large, "0123456789abcdef");
	ds = DIAGS(ds, a);
	assert_null(expanded(buf_text(&large)));
	assert_int_equal(ds.head->code, E_TEMPLATE_SYNTAX);
	for (int i = 0; i < 20; i++)
		buf_puts(&wrong, "{{missing}}");
	ds = DIAGS(ds, a);
	assert_null(expanded(buf_text(&wrong)));
	assert_int_equal(ds.errors, 20);
	buf_puts(&wrong, "{{missing}}{{missing}}");
	ds = DIAGS(ds, a);
	assert_null(expanded(buf_text(&wrong)));
	assert_int_equal(ds.errors, 21);
	last = ds.head;
	while (last->next)
		last = last->next;
	assert_string_equal(last->text,
			    "20 errors found; the rest of the template was not checked");
}

/* --- commands --- */

static const char *
command(enum language l, const char *const *argv, const struct variable *env, bool launched)
{
	struct shell sh = { .ds = &ds, .language = l, .column = 4, .indent = 4, .width = 60 };
	struct command c = { 0 };
	struct buf b = BUF(a);

	sh.places = (struct places){ .share = "/opt/s b", .venv = "$venv", .python = "python" };
	for (; *argv; argv++)
		list_push(a, &c.argv,
			  (struct word){ **argv == '!' ? *argv + 1 : *argv, **argv == '!' });
	for (; env && env->name; env++)
		list_push(a, &c.env, *env);
	if (launched) {
		list_push(a, &c.launcher, (struct word){ "{share}/go", false });
		list_push(a, &c.launcher, (struct word){ "a b", false });
	}
	shell_command(&sh, &c, &b);
	return ds.errors ? NULL : buf_text(&b);
}

#define ARGV(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void
test_command(void **state)
{
	static const struct variable env[] = { { "CC", "gcc", false },
					       { "NOTE", "{share} it", true },
					       { 0 } };

	(void)state;
	assert_string_equal(command(LANG_SH, ARGV("{python}", "-m", "pip"), NULL, false),
			    "python -m pip");
	assert_string_equal(command(LANG_SH, ARGV("cat", "{share}/x"), NULL, false),
			    "cat '/opt/s b/x'");
	assert_string_equal(command(LANG_SH, ARGV("cat", "!{share}/x"), NULL, false),
			    "cat '{share}/x'");
	assert_string_equal(command(LANG_SH, ARGV("{venv}/bin/a $b\"`"), NULL, false),
			    "\"$venv/bin/a \\$b\\\"\\`\"");
	assert_string_equal(command(LANG_SH, ARGV("make"), env, true),
			    "CC=gcc NOTE='{share} it' \\\n    '/opt/s b/go' 'a b' \\\n    make");
	assert_string_equal(command(LANG_SH, ARGV("make"), NULL, true),
			    "'/opt/s b/go' 'a b' \\\n    make");
	/* Long commands break between words, never between an option and its value. */
	assert_string_equal(command(LANG_SH,
				    ARGV("python", "-m", "pip", "install", "--index-url",
					 "https://example.org/whl", "torch==2.2.2", "numpy<2"),
				    NULL, false),
			    "python -m pip install \\\n"
			    "        --index-url https://example.org/whl \\\n"
			    "        torch==2.2.2 'numpy<2'");
	assert_string_equal(command(LANG_SH,
				    ARGV("apt-get", "install", "-y", "--no-install-recommends",
					 "build-essential", "git", "ninja-build"),
				    NULL, false),
			    "apt-get install -y --no-install-recommends \\\n"
			    "        build-essential git ninja-build");
	assert_null(command(LANG_DOCKERFILE, ARGV("echo", "!two\nlines"), NULL, false));
	assert_int_equal(ds.head->code, E_UNQUOTABLE);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_quote, setup, teardown),
		cmocka_unit_test_setup_teardown(test_quoting_names, setup, teardown),
		cmocka_unit_test_setup_teardown(test_expand, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(test_limits, setup, teardown),
		cmocka_unit_test_setup_teardown(test_command, setup, teardown),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
