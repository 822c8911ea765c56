#include "build.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/proc.h"

enum { POLL_NS = 50 * 1000 * 1000, SAID_MAX = 1 << 20 };

enum cell_state { CELL_WAITING, CELL_RUNNING, CELL_BUILT, CELL_FAILED };

struct cell {
	enum cell_state state;
	pid_t pid;
	size_t addr;
};

struct watch {
	struct arena *a;
	const struct cells *of;
	struct cell *cells;
	size_t running, *load; /* of all; of each builder */
	bool stopping;         /* no other is started */
};

/* --- a cell, in a process of its own --- */

struct relay {
	const char *prefix;
	struct buf line;
	bool lost; /* standard error takes no more */
};

/* One write a line: those of other cells do not come between. */
static void
pass_on(void *ctx, enum proc_stream from, const char *line, size_t n)
{
	struct relay *s = ctx;

	if (from != PROC_ERR)
		return;
	s->line.n = 0;
	buf_puts(&s->line, s->prefix);
	buf_add(&s->line, line, n);
	buf_putc(&s->line, '\n');
	s->lost |= !fs_write_all(STDERR_FILENO, s->line.p, s->line.n);
}

static const char *const *
argv_of(struct arena *a, const struct cells *c, size_t i, size_t addr)
{
	struct names argv = c->words;

	list_push(a, &argv, arena_printf(a, "--cell=%s", c->names.at[i]));
	if (c->addrs.n)
		list_push(a, &argv, arena_printf(a, "--addr=%s", c->addrs.at[addr]));
	for (size_t k = 0; k < c->after.n; k++)
		list_push(a, &argv, c->after.at[k]);
	list_push(a, &argv, NULL);
	return argv.at;
}

/*
 *   python-3.11,torch-2.11.0 |   4:32  mamba-ssm      |   Building wheel for mamba-ssm
 */
static int
build_one(struct arena *a, const struct cells *c, size_t i, size_t addr)
{
	struct relay relay = { .prefix =
				       c->prefixed ? arena_printf(a, "%s | ", c->names.at[i]) : "",
			       .line = BUF(a) };
	struct proc_spec spec = {
		.argv = argv_of(a, c, i, addr), .line = pass_on, .ctx = &relay, .keep = SAID_MAX
	};
	struct proc_result r;

	proc_run(a, &spec, &r);
	if (!r.started)
		fprintf(stderr, "stackbuild: %s cannot be started: %s\n", spec.argv[0],
			strerror(r.error));
	if (!fs_write_all(STDOUT_FILENO, buf_text(&r.out), r.out.n)) {
		fputs("stackbuild: cannot write to standard output\n", stderr);
		return 1;
	}
	return r.started && !relay.lost ? r.status : 1;
}

/* In a group of its own: a signal reaches the cells through us, each once. */
static void
start(struct watch *w, size_t i, size_t addr)
{
	struct cell *cell = &w->cells[i];
	pid_t parent = getpid(), pid = fork();

	if (pid == 0) {
		setpgid(0, 0);
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (getppid() != parent)
			_exit(1);
		_exit(build_one(w->a, w->of, i, addr));
	}
	*cell = (struct cell){ CELL_FAILED, pid, addr };
	if (pid < 0) {
		w->stopping = true;
		return;
	}
	cell->state = CELL_RUNNING;
	w->running++;
	w->load[addr]++;
}

/* --- all of them --- */

/* Each to the builder that has the fewest cells, the first of several. */
static void
start_more(struct watch *w)
{
	for (size_t i = 0; i < w->of->names.n && w->running < w->of->at_once; i++) {
		size_t best = 0;

		if (w->stopping || w->cells[i].state != CELL_WAITING)
			continue;
		for (size_t k = 1; k < w->of->addrs.n; k++)
			if (w->load[k] < w->load[best])
				best = k;
		start(w, i, best);
	}
}

static void
collect(struct watch *w)
{
	for (size_t i = 0; i < w->of->names.n; i++) {
		struct cell *cell = &w->cells[i];
		int status;

		if (cell->state != CELL_RUNNING || waitpid(cell->pid, &status, WNOHANG) == 0)
			continue;
		cell->state =
			WIFEXITED(status) && WEXITSTATUS(status) == 0 ? CELL_BUILT : CELL_FAILED;
		w->stopping |= cell->state == CELL_FAILED;
		w->running--;
		w->load[cell->addr]--;
	}
}

static bool
report(struct watch *w, struct diags *ds)
{
	struct names of[CELL_FAILED + 1] = { 0 };
	struct diag *d;

	for (size_t i = 0; i < w->of->names.n; i++)
		list_push(w->a, &of[w->cells[i].state], w->of->names.at[i]);
	if (of[CELL_BUILT].n == w->of->names.n)
		return true;
	if (proc_interrupted()) {
		diag_at(ds, E_BUILD_INTERRUPTED, (struct span){ 0 }, "the build was interrupted");
		return false;
	}
	d = diag_at(ds, E_CELLS, (struct span){ 0 }, "%zu of %zu cells failed: %s",
		    of[CELL_FAILED].n, w->of->names.n, names_join(w->a, &of[CELL_FAILED], "; "));
	if (of[CELL_WAITING].n)
		diag_note(d, (struct span){ 0 }, "not started after that: %s",
			  names_join(w->a, &of[CELL_WAITING], "; "));
	return false;
}

bool
cells_build(struct arena *a, struct diags *ds, const struct cells *c)
{
	struct watch w = { .a = a, .of = c };
	unsigned told = 0;

	w.cells = arena_array_of(a, struct cell, c->names.n);
	w.load = arena_array_of(a, size_t, c->addrs.n + 1);
	fflush(NULL);
	for (;;) {
		unsigned came = proc_interruptions();

		w.stopping |= came > 0;
		start_more(&w);
		if (!w.running)
			break;
		for (; told < came; told++)
			for (size_t i = 0; i < c->names.n; i++)
				if (w.cells[i].state == CELL_RUNNING)
					kill(w.cells[i].pid, SIGTERM);
		nanosleep(&(struct timespec){ .tv_nsec = POLL_NS }, NULL);
		collect(&w);
	}
	return report(&w, ds);
}
