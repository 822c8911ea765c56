#ifndef PROC_HELP_H
#define PROC_HELP_H

/* Shared by the tests of children: their output, and the directory of their files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <signal.h>

#include "base/arena.h"
#include "base/fs.h"
#include "base/proc.h"

static struct arena *a;
static char folder[] = "/tmp/proc-test-XXXXXX";

struct heard {
	struct names out, err;
	size_t longest, pieces, ticks, bytes;
	double tick_s, gap_s;
	double signal_s; /* after this time, this process gets `signals` signals */
	int signal, signals;
};

static void
hear(void *ctx, enum proc_stream from, const char *line, size_t n)
{
	struct heard *h = ctx;

	h->longest = n > h->longest ? n : h->longest;
	h->bytes += n;
	h->pieces++;
	if (h->pieces < 1000)
		list_push(a, from == PROC_OUT ? &h->out : &h->err, arena_copy(a, line, n));
}

static void
tick(void *ctx, double now_s)
{
	struct heard *h = ctx;

	h->gap_s = now_s - h->tick_s > h->gap_s ? now_s - h->tick_s : h->gap_s;
	h->tick_s = now_s;
	h->ticks++;
	if (h->signals && now_s >= h->signal_s) {
		h->signals--;
		h->signal_s = now_s + 0.3;
		raise(h->signal);
	}
}

#define ARGV(...) ((const char *const[]){ __VA_ARGS__, NULL })

static inline bool
run(const char *const *argv, struct heard *h, struct proc_spec spec, struct proc_result *r)
{
	spec.argv = argv;
	spec.line = h ? hear : NULL;
	spec.tick = h ? tick : NULL;
	spec.ctx = h;
	return proc_run(a, &spec, r);
}

static inline bool
sh(const char *script, struct heard *h, struct proc_spec spec, struct proc_result *r)
{
	return run(ARGV("sh", "-c", script), h, spec, r);
}

static inline bool
alive(const char *file)
{
	FILE *f = fopen(file, "r");
	long pid = 0;
	char state = '?', path[64], line[256];

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%ld", &pid), 1);
	fclose(f);
	snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
	if (!(f = fopen(path, "r")))
		return false;
	if (fgets(line, sizeof(line), f))
		state = strrchr(line, ')')[2];
	fclose(f);
	return state != 'Z' && state != 'X';
}

static inline int
proc_tests(const struct CMUnitTest *tests, size_t n)
{
	struct proc_result r;
	int failed;

	close_range(3, ~0U, 0); /* inherited descriptors */
	/* A shell ignores SIGINT for background jobs, and nohup ignores SIGHUP. */
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	a = arena_new();
	if (!mkdtemp(folder))
		return 1;
	failed = _cmocka_run_group_tests("proc", tests, n, NULL, NULL);
	run(ARGV("rm", "-rf", folder), NULL, (struct proc_spec){ .cleanup = true }, &r);
	arena_free(a);
	return failed;
}

#endif
