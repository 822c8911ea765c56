#include "recipe_help.h"

/* Tests a key with accepted texts and rejected texts; each list ends with NULL. */
static void
judge(const char *before, const char *after, const char *const *good, const char *const *bad)
{
	for (; *good; good++) {
		const char *text = arena_printf(a, "%s'%s'%s\n", before, *good, after);

		if (!load_text(text)) {
			print_error("refused: %s", text);
			print_errors();
			fail();
		}
	}
	for (; *bad; bad++) {
		const char *text = arena_printf(a, "%s'%s'%s\n", before, *bad, after);

		if (load_text(text))
			print_error("taken: %s", text);
		assert_int_not_equal(ds.errors, 0);
	}
}

#define DIGEST "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define COMMIT "0123456789abcdef0123456789abcdef01234567"
#define LIST_OF(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define HOSTILE \
	"", " ", "a b", "$(id)", "`id`", "a;b", "a|b", "a&b", "a\"b", "a''b", "a\\b", "a{b}", \
		"-x", "\xc3\xa9", \
		"a\xc2\xa0" \
		"b"

static void
names_have_grammars(void **state)
{
	(void)state;
	judge("stack: ", "", LIST_OF("x", "A-b_c.1", "9"), LIST_OF(HOSTILE, ".x", "_x", "a/b"));
	judge("torch: 1.0\napt: [", "]",
	      LIST_OF("git", "g++", "libc6-dev", "libc6:amd64", "gcc=1:2~3"),
	      LIST_OF(HOSTILE, "x", "Git", "git-", "git=", "git=a b", "git/x", "git=$(id)", "a:"));
	judge("torch: 1.0\nuser: ", "", LIST_OF("app", "_x", "a-1"),
	      LIST_OF(HOSTILE, "root", "1a", "App", "a.b"));
	judge("torch: 1.0\nsecrets: [", "]", LIST_OF("A", "_a1"),
	      LIST_OF(HOSTILE, "1A", "A-B", "A.B"));
	judge("verify: {modules: [", "]}", LIST_OF("a", "a.b_c", "_x"),
	      LIST_OF(HOSTILE, "a.", ".a", "a..b", "1a", "a-b"));
	judge("modal: {app: ", "}", LIST_OF("a", "A.b-c_d", "-a"),
	      LIST_OF("", "a b", "$(id)", "a/b", "ap-0123456789abcdefghijkl"));
	judge("modal: {entrypoint: ", "}", LIST_OF("train.py::main", "a/b_c.py::f1"),
	      LIST_OF(HOSTILE, "train.py::", "t.v2.py::main", "/t.py::f", "../t.py::f", "t.py::f()",
		      "t.py:f"));
	judge("torch: 1.0\nindex: {url: https://h/s, extra: [{url: https://h/e, packages: [",
	      "]}]}", LIST_OF("a", "A.b-c_d"), LIST_OF(HOSTILE, "a==1", "a-"));
}

static void
sources_have_grammars(void **state)
{
	(void)state;
	judge("base: ", "",
	      LIST_OF("debian", "debian:12-slim", "nvidia/cuda:12.1.1-devel-ubuntu22.04",
		      "h:5000/a/b__c-d.e", "localhost/x", "H.example/x:Tag_1.2-3",
		      "x@sha256:" DIGEST, "x:t@sha256:" DIGEST, "[::1]:5000/x"),
	      LIST_OF(HOSTILE, "Debian", "a//b", "a:", "a@sha256:1", "https://h/x", "a_-b", "a:t:u",
		      "h:port/x", "/a", "a/", "x@md5:" DIGEST, "a:-t"));
	judge("torch: {version: 1.0, index: ", "}",
	      LIST_OF("cu121", "cu92", "cpu", "pypi", "rocm6.1", "https://h/x", "http://h:80/x"),
	      LIST_OF(HOSTILE, "cu1", "cu1234", "gpu", "file:///x", "https://", "https://u:p@h/x",
		      "https://h/$(id)", "https://h/a b", "https://h/\"x", "https://t@h/x",
		      "https://h/%zz", "https://-h/"));
	judge("torch: 1.0\nextensions: [{name: x, ref: v1, git: ", "}]",
	      LIST_OF("https://h/x.git", "ssh://git@h/x", "ssh://h:22/~a/x.git", "git@h:a/x.git"),
	      LIST_OF(HOSTILE, "file:///x", "git://h/x", "-u x", "/x", "ssh://a:b@h/x", "git@h:-x",
		      "https://h/x@v1", "https://h/x?y", "https://h/x#y", "ext::sh -c id",
		      "https://h", "ssh://-oProxyCommand=x/y"));
	judge("torch: 1.0\nextensions: [{name: x, git: https://h/x, ref: ", "}]",
	      LIST_OF("v1.0", "1.0", "release/1.0", COMMIT, "20240101", "refs/tags/v1"),
	      LIST_OF(HOSTILE, "main", "HEAD", "Master", "refs/heads/x", "origin/x", "abcdef0",
		      "a..b", "a.lock", "/a", "a/", "a@{1}", "a@b", "a#b", "a%b", "a~1", "a^",
		      "a:b", "@"));
	judge("torch: 1.0\nextensions: [{name: x, url: ", "}]",
	      LIST_OF("https://h/x-1.0-py3-none-any.whl", "https://h/x-1.0.tar.gz",
		      "http://h/a/x-1.0%2Bcu121-cp311-cp311-linux_x86_64.whl?y=1"),
	      LIST_OF(HOSTILE, "https://h/x.git", "https://h/", "https://h/y-1.0.tar.gz",
		      "https://h/x-1.0.rpm", "https://u@h/x-1.0.tar.gz", "x-1.0.tar.gz"));
	judge("torch: 1.0\nextensions: [{name: x, url: https://h/x-1.0.tar.gz, sha256: ", "}]",
	      LIST_OF(DIGEST), LIST_OF(HOSTILE, "abc", DIGEST "0", "sha256:" DIGEST));
	judge("packages: [", "]",
	      LIST_OF("a", "a[b]>=1,<2", "a==1.* ; python_version<\"3.9\"", "a @ https://h/a.whl",
		      "a @ git+https://h/a@v1", "a @ git+ssh://git@h/a@" COMMIT),
	      LIST_OF("", " ", "-r x", "--index-url=x", "a b", "a;b", "a==", "./a",
		      "https://h/a.whl", "a @ file:///a", "a @ git+https://h/a",
		      "a @ git+https://h/a@main", "a @ https://u:p@h/a.whl", "a\"", "a`id`",
		      "a$(id)", "\xc3\xa9"));
}

static void
numbers_have_limits(void **state)
{
	(void)state;
	judge("modal: {timeout_s: ", "}", LIST_OF("10", "86400"),
	      LIST_OF(HOSTILE, "9", "86401", "0x10", "1e3", "010", "10.0", "99999999999999999999"));
	judge("modal: {scaledown_window_s: ", "}", LIST_OF("2", "3600"),
	      LIST_OF(HOSTILE, "1", "3601"));
	judge("modal: {cpu: ", "}", LIST_OF("8", "0.5"),
	      LIST_OF(HOSTILE, "0", "0.0", ".5", "1.", "1e3"));
	judge("modal: {memory_mib: ", "}", LIST_OF("1"), LIST_OF(HOSTILE, "0", "1.5"));
	judge("modal: {gpu: ", "}", LIST_OF("H100", "h100:2", "A100-80GB"),
	      LIST_OF(HOSTILE, "H100:0", "H100:99", "H100:", "H100:x", "H1000", "H100:02"));
	judge("modal: {builder: ", "}", LIST_OF("2025.06"), LIST_OF(HOSTILE, "2025.6", "latest"));
	judge("verify: {import_timeout_s: ", "}", LIST_OF("1", "3600"),
	      LIST_OF(HOSTILE, "0", "3601"));
	judge("torch: 1.0\ndriver: ", "", LIST_OF("550", "550.54", "550.54.15"),
	      LIST_OF(HOSTILE, "55", "550.", "550.54.15.1", "r550"));
	judge("cuda: ", "", LIST_OF("12.1", "12.1.1"), LIST_OF(HOSTILE, "12", "12.1.1.1", "cu121"));
	judge("torch: ", "", LIST_OF("2.2.2", "2.2.2+cu121", "2.6.0.dev20250101"),
	      LIST_OF(HOSTILE, "latest", ">=2", "==2.2.2", "2.2.*"));
	judge("python: ", "", LIST_OF("3.10", "3.11"),
	      LIST_OF(HOSTILE, "3", "3.11.5", "2.7", "3.99"));
	judge("torch: 1.0\nplatform: ", "", LIST_OF("linux/amd64", "linux/arm64/v8"),
	      LIST_OF(HOSTILE, "linux", "linux/", "windows/amd64", "linux/amd64/"));
	judge("gpus: [", "]", LIST_OF("a100-80gb", "rtx4090", "9.0", "8.6"),
	      LIST_OF(HOSTILE, "rtx9999", "9.9", "sm_99"));
}

static void
paths_stay_inside(void **state)
{
	(void)state;
	judge("app: {copy: [", "]}", LIST_OF("src/", ".", "a/b.c", "a b/c", "..a", "a..", "x+y@z"),
	      LIST_OF("", " ", "-x", "/etc", "..", "../x", "a/../b", "a/..", "$(id)", "a`b", "a\"b",
		      "a''b", "a\\b", "a*", "a;b", "~/x", "\xc3\xa9"));
	judge("verify: {probes: [", "]}", LIST_OF("p.py", "a/p.py"),
	      LIST_OF(HOSTILE, "p.sh", "/p.py", "../p.py"));
	judge("modal: {volumes: {", ": v}}", LIST_OF("/data", "/root/x", "/a/b.c"),
	      LIST_OF(HOSTILE, "/", "/tmp", "/tmp/", "/root", "a", "/a/../b", "/a//b", "/a b",
		      "/$x", "/a/."));
}

static void
any_printable_value_is_an_environment(void **state)
{
	char value[128];
	const struct recipe *r;
	size_t n = 0;

	(void)state;
	for (char c = ' '; c < 0x7f; c++) {
		value[n++] = c;
		if (c == '\'')
			value[n++] = c;
	}
	value[n] = '\0';
	r = one(arena_printf(a, "env: {A: '%s', B: ''}", value));
	assert_int_equal(strlen(r->env.at[0].value.s), 95);
	assert_string_equal(r->env.at[1].value.s, "");
	refused("env: {A: \"a\\nb\"}", "1:10 SB0110");
	refused("env: {A: \"a\\tb\"}", "1:10 SB0110");
	refused("env:\n  A: |\n    a\n", "2:6 SB0110");
	refused("env: {A: \xc3\xa9}", "1:10 SB0110");
	refused("env: {A: \"\\x07\"}", "1:10 SB0102");
	refused("env: {A: \"\\0\"}", "1:10 SB0102");
}

static void
extends_stays_below_its_folder(void **state)
{
	static const char *const names[] = { "/x.yaml", "../x.yaml", "a/../../x.yaml", "..",
					     "./.." };
	const struct recipe_options o = { 0 }, anywhere = { .extends_anywhere = true };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const char *const files[] = { "f/r.yaml", arena_printf(a, "extends: %s", names[i]),
					      NULL };

		assert_null(load(files, &o));
		assert_int_equal(ds.head->code, E_EXTENDS_OUTSIDE);
	}
	{
		const char *const files[] = { "f/r.yaml", "extends: ../x.yaml", "x.yaml",
					      "torch: 2.2.2", NULL };

		assert_non_null(load(files, &anywhere));
	}
	{
		const char *const files[] = { "f/r.yaml",   "extends: a/b/../x.yaml",
					      "f/a/x.yaml", "extends: ../y.yaml",
					      "f/y.yaml",   "torch: 2.2.2",
					      NULL };

		assert_non_null(load(files, &o));
	}
}

static void
places_of_faults(void **state)
{
	(void)state;
	refused("tourch: 1", "1:1 SB0105");
	refused("torch: {vrsion: 1}", "1:9 SB0105");
	refused("packages: [a, \"b <<2\"]", "1:18 SB0112");
	refused("torch:\n", "1:7 SB0108");
	refused("extensions: [a]", "1:14 SB0106");
	refused("", "1:1 SB0108");
	refused("torch: [", "1:9 SB0101");
	refused("a: 1\na: 2", "2:1 SB0104");
	refused("torch: 1\n---\ntorch: 2", "2:1 SB0102");
	refused("variants: {x: {tourch: 1}}\ntorch: 1", "1:16 SB0105");
	refused("matrix: {torch: [1, x]}", "1:21 SB0111");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_have_grammars),
		cmocka_unit_test(sources_have_grammars),
		cmocka_unit_test(numbers_have_limits),
		cmocka_unit_test(paths_stay_inside),
		cmocka_unit_test(any_printable_value_is_an_environment),
		cmocka_unit_test(extends_stays_below_its_folder),
		cmocka_unit_test(places_of_faults),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, setup, teardown);
}
