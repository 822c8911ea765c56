/* Children end: by a time limit, by signals, with their own children, with this process. */
#include "proc_help.h"

#include <sys/wait.h>
#include <time.h>

static void
a_time_limit_ends_it(void **state)
{
	struct heard h = { 0 };
	struct proc_result r;

	(void)state;
	assert_false(
		sh("echo first; sleep 60 & wait", &h, (struct proc_spec){ .timeout_s = 0.3 }, &r));
	assert_true(r.timed_out);
	assert_false(r.interrupted);
	assert_int_equal(r.status, 128 + SIGTERM);
	assert_true(r.seconds >= 0.3 && r.seconds < 3);
	assert_string_equal(h.out.at[0], "first");
	/* Ticks arrived without any output, and without a busy loop. */
	assert_true(h.ticks >= 2 && h.ticks < 20);
	assert_true(h.gap_s < 0.3);
	assert_true(r.cpu_s < 0.3);
}

static void
grandchildren_are_ended(void **state)
{
	struct proc_result r;
	const char *file = fs_join(a, folder, "pid");
	double limit_s = 5;

	(void)state;
	/* At a time limit: the whole group. */
	assert_false(sh(arena_printf(a, "sh -c 'echo $$ > %s; sleep 60' & wait", file), NULL,
			(struct proc_spec){ .timeout_s = 0.3 }, &r));
	assert_false(alive(file));
	/* After a successful end: a process that holds the pipe, and one that ignores SIGTERM. */
	assert_true(sh(arena_printf(a,
				    "sh -c 'trap \"\" TERM; echo $$ > %s; sleep 60; sleep 60' & "
				    "while [ ! -s %s ]; do :; done; echo done",
				    fs_join(a, folder, "deaf"), fs_join(a, folder, "deaf")),
		       NULL, (struct proc_spec){ .keep = 10 }, &r));
	assert_string_equal(buf_text(&r.out), "done\n");
	for (int i = 0; i < 100 && alive(fs_join(a, folder, "deaf")); i++)
		nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
	assert_false(alive(fs_join(a, folder, "deaf")));
	assert_true(r.seconds < limit_s);
}

static void
what_left_the_group_is_ended_with_it(void **state)
{
	struct proc_result r;
	const char *file = fs_join(a, folder, "session");

	(void)state;
	/* Like a container's process: in a separate session, and ignores SIGTERM. */
	assert_false(
		sh(arena_printf(a,
				"setsid sh -c 'trap \"\" TERM; echo $$ > %s; sleep 60; sleep 60' & "
				"wait",
				file),
		   NULL, (struct proc_spec){ .timeout_s = 0.5 }, &r));
	assert_true(r.timed_out);
	assert_false(alive(file));
}

static void
a_pipe_held_by_others_is_not_waited_for(void **state)
{
	struct proc_result r;
	const char *file = fs_join(a, folder, "away");
	struct timespec before, after;
	FILE *f;
	long pid = 0;

	(void)state;
	clock_gettime(CLOCK_MONOTONIC, &before);
	/* A process in a separate session holds the pipe: proc_run does not wait for it. */
	assert_true(
		sh(arena_printf(a,
				"setsid sh -c 'echo $$ > %s; exec sleep 20' & while [ ! -s %s ]; "
				"do :; done; echo done",
				file, file),
		   NULL, (struct proc_spec){ .keep = 10 }, &r));
	clock_gettime(CLOCK_MONOTONIC, &after);
	assert_string_equal(buf_text(&r.out), "done\n");
	assert_true(after.tv_sec - before.tv_sec < 5);
	assert_true(alive(file));
	f = fopen(file, "r");
	assert_int_equal(fscanf(f, "%ld", &pid), 1);
	fclose(f);
	kill((pid_t)pid, SIGKILL);
}

static void
there_is_no_terminal_to_wait_for(void **state)
{
	struct proc_result r;

	(void)state;
	assert_false(sh("exec < /dev/tty", NULL, (struct proc_spec){ .timeout_s = 5 }, &r));
	assert_false(r.timed_out);
}

static void
it_does_not_outlive_us(void **state)
{
	const char *file = fs_join(a, folder, "orphan");
	pid_t pid = fork();

	(void)state;
	if (pid == 0) {
		struct proc_result r;

		run(ARGV("sh", "-c", arena_printf(a, "echo $$ > %s; exec sleep 60", file)), NULL,
		    (struct proc_spec){ 0 }, &r);
		_exit(0);
	}
	for (int i = 0; i < 500 && (!fs_exists(file) || access(file, R_OK)); i++)
		nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
	nanosleep(&(struct timespec){ .tv_nsec = 100000000 }, NULL);
	assert_true(alive(file));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	for (int i = 0; i < 500 && alive(file); i++)
		nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
	assert_false(alive(file));
}

static void
signals_end_it(void **state)
{
	static const int all[] = { SIGINT, SIGTERM, SIGHUP };
	struct proc_result r;

	(void)state;
	proc_signals();
	assert_int_equal(proc_interrupted(), 0);
	for (size_t i = 0; i < 3; i++) {
		struct heard h = { .signal = all[i], .signals = 1, .signal_s = 0.1 };

		assert_false(sh("trap 'echo told; exit 0' TERM; sleep 60 & wait", &h,
				(struct proc_spec){ .cleanup = true, .keep = 10 }, &r));
		assert_true(r.interrupted);
		assert_false(r.timed_out);
		assert_string_equal(buf_text(&r.out), "told\n");
		assert_int_equal(proc_interrupted(), all[i]);
		/* A child with `cleanup` still runs. */
		assert_true(sh("sleep 0.1", NULL, (struct proc_spec){ .cleanup = true }, &r));
		assert_false(r.interrupted);
	}
}

static void
a_second_signal_kills(void **state)
{
	struct heard h = { .signal = SIGINT, .signals = 2, .signal_s = 0.1 };
	struct proc_result r;

	(void)state;
	assert_false(sh("trap '' TERM; sleep 60 & sleep 60 & wait; sleep 60", &h,
			(struct proc_spec){ .cleanup = true, .keep = 10 }, &r));
	assert_true(r.interrupted);
	assert_int_equal(r.status, 128 + SIGKILL);
	assert_true(r.seconds < 5);
}

static void
after_a_signal_only_clean_ups_start(void **state)
{
	struct proc_result r;

	(void)state;
	/* The signal arrives between two children. */
	raise(SIGINT);
	for (int i = 0; i < 2; i++) {
		assert_false(sh("sleep 60", NULL, (struct proc_spec){ 0 }, &r));
		assert_true(r.interrupted);
		assert_false(r.started);
	}
	assert_true(sh("true", NULL, (struct proc_spec){ .cleanup = true }, &r));
	assert_false(r.interrupted);
}

/* Like podman, removes its file only if it ends by itself. */
#define CLIENT "trap 'exit 0' TERM; touch %1$s; %2$s; rm %1$s; exit 1"

static void
a_client_is_given_time(void **state)
{
	struct heard h = { .signal = SIGINT, .signals = 1, .signal_s = 0.1 };
	struct proc_spec patient = { .cleanup = true, .patience_s = 20 };
	const char *file = fs_join(a, folder, "made");
	struct proc_result r;

	(void)state;
	assert_false(sh(arena_printf(a, CLIENT, file, "sleep 1"), &h, patient, &r));
	assert_true(r.interrupted && r.status == 1 && !r.sent && !fs_exists(file));
	/* A client that takes too long, then a second signal. */
	h.signals = 1;
	h.signal_s = 0.1;
	patient.patience_s = 0.5;
	assert_false(sh(arena_printf(a, CLIENT, file, "sleep 60 & wait"), &h, patient, &r));
	assert_true(r.interrupted && r.sent == SIGTERM && r.seconds < 5 && fs_exists(file));
	h.signals = 2;
	h.signal_s = 0.1;
	patient.patience_s = 20;
	assert_false(sh(arena_printf(a, CLIENT, file, "sleep 60 & wait"), &h, patient, &r));
	assert_true(r.interrupted && r.sent == SIGKILL && r.seconds < 5 && fs_exists(file));
}

static void
its_containers_are_killed_meanwhile(void **state)
{
	struct heard h = { .signal = SIGINT, .signals = 1, .signal_s = 0.1 };
	struct proc_spec patient = { .cleanup = true, .patience_s = 20 };
	const char *file = fs_join(a, folder, "made");
	struct proc_result r;

	(void)state;
	if (geteuid() != 0) /* chroot */
		skip();
	assert_false(
		sh(arena_printf(a, CLIENT, file,
				arena_printf(a, "%s %s", fs_real(a, "/proc/self/exe"), folder)),
		   &h, patient, &r));
	assert_true(r.interrupted && r.status == 1 && !r.sent && r.seconds < 10);
	assert_false(fs_exists(file));
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_time_limit_ends_it),
		cmocka_unit_test(grandchildren_are_ended),
		cmocka_unit_test(what_left_the_group_is_ended_with_it),
		cmocka_unit_test(a_pipe_held_by_others_is_not_waited_for),
		cmocka_unit_test(there_is_no_terminal_to_wait_for),
		cmocka_unit_test(it_does_not_outlive_us),
		cmocka_unit_test(signals_end_it),
		cmocka_unit_test(a_second_signal_kills),
		cmocka_unit_test(after_a_signal_only_clean_ups_start),
		cmocka_unit_test(a_client_is_given_time),
		cmocka_unit_test(its_containers_are_killed_meanwhile),
	};

	if (argc == 2) /* runs as a container's process */
		return chroot(argv[1]) ? 2 : pause();
	return proc_tests(tests, sizeof(tests) / sizeof(*tests));
}
