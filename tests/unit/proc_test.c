/* Children: their inputs and their output. */
#include "proc_help.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/wait.h>

static void
argv_is_exact(void **state)
{
	struct proc_result r;
	const char *const argv[] = { "printf", "%s.",  "$HOME", "a b", "",     "'\"`id`", "*",
				     "\\n\n",  "; ls", "|",     "&",   "\xff", NULL };

	(void)state;
	assert_true(run(argv, NULL, (struct proc_spec){ .keep = 100 }, &r));
	assert_string_equal(buf_text(&r.out), "$HOME.a b..'\"`id`.*.\\n\n.; ls.|.&.\xff.");
	assert_int_equal(r.err.n, 0);
}

static void
status_and_signals(void **state)
{
	struct proc_result r;

	(void)state;
	assert_false(sh("exit 7", NULL, (struct proc_spec){ 0 }, &r));
	assert_true(r.started);
	assert_int_equal(r.status, 7);
	assert_false(sh("kill -9 $$", NULL, (struct proc_spec){ 0 }, &r));
	assert_int_equal(r.status, 128 + 9);
	assert_false(r.timed_out || r.interrupted);
	/* SIGPIPE ends children, although this process ignores it. */
	signal(SIGPIPE, SIG_IGN);
	assert_false(sh("kill -PIPE $$", NULL, (struct proc_spec){ 0 }, &r));
	assert_int_equal(r.status, 128 + SIGPIPE);
}

static void
what_cannot_be_started_says_why(void **state)
{
	struct proc_result r;
	const char *plain = fs_join(a, folder, "plain"), *script = fs_join(a, folder, "bare");
	FILE *f = fopen(plain, "w");

	(void)state;
	fclose(f);
	f = fopen(script, "w");
	fputs("echo no shell reads this\n", f);
	fclose(f);
	chmod(script, 0755);
	assert_false(run(ARGV("no-such-program"), NULL, (struct proc_spec){ 0 }, &r));
	assert_false(r.started);
	assert_int_equal(r.error, ENOENT);
	assert_false(run(ARGV(plain), NULL, (struct proc_spec){ 0 }, &r));
	assert_int_equal(r.error, EACCES);
	assert_false(run(ARGV(folder), NULL, (struct proc_spec){ 0 }, &r));
	assert_int_equal(r.error, EACCES);
	assert_false(run(ARGV(script), NULL, (struct proc_spec){ 0 }, &r));
	assert_int_equal(r.error, ENOEXEC);
	assert_false(run(ARGV("true"), NULL, (struct proc_spec){ .cwd = plain }, &r));
	assert_false(r.started);
	assert_int_equal(r.error, ENOTDIR);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no zombie is left */
}

static void
programs_are_found_in_path(void **state)
{
	struct names all;
	const char *path = arena_strdup(a, getenv("PATH"));
	const char *tool = fs_join(a, folder, "tool");

	(void)state;
	assert_string_equal(fs_stem(a, proc_which(a, "sh")), "sh");
	assert_null(proc_which(a, "no-such-program"));
	assert_null(proc_which(a, ""));
	assert_null(proc_which(a, "/tmp"));
	assert_string_equal(proc_which(a, "/bin/sh"), "/bin/sh");
	fclose(fopen(tool, "w"));
	chmod(tool, 0755);
	setenv("PATH", arena_printf(a, "%s:/nowhere::%s/../%s", folder, folder, folder + 5), 1);
	all = proc_which_all(a, "tool");
	assert_int_equal(all.n, 1); /* the same file with another name counts once */
	assert_string_equal(all.at[0], tool);
	unsetenv("PATH");
	assert_string_equal(proc_which(a, "sh"), "/bin/sh");
	setenv("PATH", path, 1);
}

static void
variables_are_set_and_removed(void **state)
{
	struct proc_result r;
	struct proc_spec spec = { .keep = 1000,
				  .env = ARGV("SB_SET=1 2", "SB_GONE", "SB_TWICE=a", "SB_TWICE=b",
					      "SB_EMPTY=") };

	(void)state;
	setenv("SB_GONE", "here", 1);
	setenv("SB_STAYS", "here", 1);
	setenv("SB_SET", "before", 1);
	assert_true(sh("env | grep ^SB_ | sort", NULL, spec, &r));
	assert_string_equal(buf_text(&r.out), "SB_EMPTY=\nSB_SET=1 2\nSB_STAYS=here\nSB_TWICE=b\n");
}

static void
it_runs_in_its_folder(void **state)
{
	struct proc_result r;
	struct proc_spec spec = { .keep = 1000, .cwd = folder };

	(void)state;
	assert_true(run(ARGV("pwd"), NULL, spec, &r));
	assert_string_equal(buf_text(&r.out), arena_printf(a, "%s\n", folder));
}

static void
a_megabyte_goes_in_while_it_comes_out(void **state)
{
	enum { SIZE = 1024 * 1024 };
	struct proc_result r;
	char *big = arena_alloc(a, SIZE, 1);
	struct proc_spec spec = { .input = big, .input_size = SIZE, .keep = 2 * SIZE };

	(void)state;
	for (size_t i = 0; i < SIZE; i++)
		big[i] = (char)(i * 7 + i / 251);
	assert_true(run(ARGV("cat"), NULL, spec, &r));
	assert_int_equal(r.out.n, SIZE);
	assert_false(r.out.over);
	assert_memory_equal(r.out.p, big, SIZE);
	/* A child that does not read its input also ends. */
	assert_true(run(ARGV("true"), NULL, spec, &r));
	/* Without input, the child reads the end of file at once. */
	spec.input = NULL;
	assert_true(run(ARGV("cat"), NULL, spec, &r));
	assert_int_equal(r.out.n, 0);
}

static void
lines_end_in_every_way(void **state)
{
	struct heard h = { 0 };
	struct proc_result r;
	static const char *const want[] = {
		"one", "", "two", "10%", "20%", "dos", "", "nul", "end"
	};

	(void)state;
	assert_true(sh(
		"printf 'one\\n\\ntwo\\n10%%\\r\\r20%%\\rdos\\r\\n\\r\\nnul\\nend'; echo why >&2",
		&h, (struct proc_spec){ 0 }, &r));
	assert_int_equal(h.out.n, sizeof(want) / sizeof(*want));
	for (size_t i = 0; i < h.out.n; i++)
		assert_string_equal(h.out.at[i], want[i]);
	assert_int_equal(h.err.n, 1);
	assert_string_equal(h.err.at[0], "why");
}

static void
long_lines_come_in_pieces(void **state)
{
	struct heard h = { 0 };
	struct proc_result r;

	(void)state;
	assert_true(sh(
		"head -c 200000 /dev/zero | tr '\\0' x; echo; head -c 65536 /dev/zero | tr '\\0' "
		"y; echo; echo z",
		&h, (struct proc_spec){ 0 }, &r));
	assert_int_equal(h.longest, PROC_LINE_MAX);
	assert_int_equal(h.bytes, 200000 + 65536 + 1);
	assert_int_equal(h.pieces, 4 + 1 + 1);
}

static void
only_the_last_bytes_are_kept(void **state)
{
	struct heard h = { 0 };
	struct proc_result r;

	(void)state;
	/* Only the last bytes of 20 MB are kept, and the buffer does not grow. */
	assert_true(sh("head -c 20000000 /dev/zero | tr '\\0' x; echo end; echo E >&2", &h,
		       (struct proc_spec){ .keep = 10 }, &r));
	assert_int_equal(r.out.n, 10);
	assert_string_equal(buf_text(&r.out), "xxxxxxend\n");
	assert_true(r.out.over);
	assert_true(r.out.cap < 1024 * 1024);
	assert_string_equal(buf_text(&r.err), "E\n");
	assert_false(r.err.over);
}

static void
closed_output_is_not_the_end(void **state)
{
	struct proc_result r;

	(void)state;
	/* proc_run waits for a child that closes both streams and continues. */
	assert_false(sh("exec >&- 2>&-; sleep 0.4; exit 3", NULL, (struct proc_spec){ 0 }, &r));
	assert_int_equal(r.status, 3);
	assert_true(r.seconds >= 0.4);
}

static void
our_own_output_may_be_closed(void **state)
{
	struct proc_result r;
	int in = dup(0), out = dup(1), err = dup(2);

	(void)state;
	close(0);
	close(1);
	close(2);
	sh("echo out; echo err >&2; cat", NULL, (struct proc_spec){ .keep = 10 }, &r);
	dup2(in, 0);
	dup2(out, 1);
	dup2(err, 2);
	close(in);
	close(out);
	close(err);
	assert_string_equal(buf_text(&r.out), "out\n");
	assert_string_equal(buf_text(&r.err), "err\n");
	assert_int_equal(r.status, 0);
}

static void
no_descriptor_is_passed_on_or_left(void **state)
{
	struct proc_result r;

	(void)state;
	/* The child inherits no other descriptor, and none stays open here. */
	assert_true(run(ARGV("ls", "/proc/self/fd"), NULL, (struct proc_spec){ .keep = 100 }, &r));
	assert_string_equal(buf_text(&r.out), "0\n1\n2\n3\n"); /* 3: ls reads the directory */
	for (int i = 0; i < 50; i++)
		run(ARGV(i % 2 ? "true" : "no-such-program"), NULL, (struct proc_spec){ 0 }, &r);
	assert_int_equal(dup(0), 3);
	close(3);
}

static void
time_is_measured(void **state)
{
	struct proc_result r;

	(void)state;
	assert_true(sh("i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done", NULL,
		       (struct proc_spec){ 0 }, &r));
	assert_true(r.cpu_s > 0.005 && r.cpu_s <= r.seconds * 1.5 + 0.05);
}

static void
ignored_sigchld_does_not_eat_the_status(void **state)
{
	struct proc_result r;

	(void)state;
	/* The parent process ignored SIGCHLD: the status is available nevertheless. */
	signal(SIGCHLD, SIG_IGN);
	assert_false(sh("exit 9", NULL, (struct proc_spec){ 0 }, &r));
	assert_int_equal(r.status, 9);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_descriptor_is_passed_on_or_left),
		cmocka_unit_test(argv_is_exact),
		cmocka_unit_test(status_and_signals),
		cmocka_unit_test(what_cannot_be_started_says_why),
		cmocka_unit_test(programs_are_found_in_path),
		cmocka_unit_test(variables_are_set_and_removed),
		cmocka_unit_test(it_runs_in_its_folder),
		cmocka_unit_test(a_megabyte_goes_in_while_it_comes_out),
		cmocka_unit_test(lines_end_in_every_way),
		cmocka_unit_test(long_lines_come_in_pieces),
		cmocka_unit_test(only_the_last_bytes_are_kept),
		cmocka_unit_test(closed_output_is_not_the_end),
		cmocka_unit_test(our_own_output_may_be_closed),
		cmocka_unit_test(ignored_sigchld_does_not_eat_the_status),
		cmocka_unit_test(time_is_measured),
	};

	return proc_tests(tests, sizeof(tests) / sizeof(*tests));
}
