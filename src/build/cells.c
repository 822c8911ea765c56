/* Runs the units of a matrix, several at a time: each is a separate stackbuild process. */
#include "build.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/proc.h"
#include "base/sha256.h"
#include "work.h"

enum { POLL_MS = 50, SAID_MAX = 1 << 20 };

/* A unit while it runs. */
struct worker {
	size_t unit;
	pid_t pid;
	int fd;          /* the pipe with its lines */
	size_t addr;     /* index of its builder */
	struct buf part; /* a line whose end has not arrived */
};

struct watch {
	struct arena *a;
	const struct matrix_build *b;
	struct schedule s;
	struct progress *progress;
	struct progress_step *shown; /* a row for each unit that runs or waits */
	const char **ids;            /* id of each unit */
	struct worker *workers;      /* at_once elements; the first n run */
	struct pollfd *fds;          /* parallel to workers */
	size_t n, *load;             /* number of units on each builder */
	double began_s;
	bool stopping; /* starts no more units */
};

/* --- names --- */

/* Returns the id of a wheel, unique in the matrix and the name of its directory:
 * "mamba-ssm-1b488b28006a". */
static const char *
wheel_id(struct arena *a, const struct matrix_wheel *w)
{
	return arena_printf(a, "%s-%.12s", w->step, w->key);
}

static const char *
wheel_dir(struct arena *a, const struct matrix_build *b, const struct matrix_wheel *w)
{
	return fs_join(a, b->out, fs_join(a, "wheels", wheel_id(a, w)));
}

/* --- a unit, in a separate process --- */

/* Writes each line with one call, so that a pipe does not split it. */
static void
pass_on(void *ctx, enum proc_stream from, const char *line, size_t n)
{
	const int *fd = ctx;
	char text[PIPE_BUF];

	if (from != PROC_ERR)
		return;
	n = n < sizeof(text) - 1 ? n : sizeof(text) - 1;
	memcpy(text, line, n);
	text[n++] = '\n';
	if (!fs_write_all(*fd, text, n))
		_exit(1);
}

static const char *const *
argv_of(struct watch *w, const struct unit *u, size_t addr)
{
	const struct matrix_build *b = w->b;
	const struct matrix_wheel *wheel = u->wheel ? &b->m->wheels.at[u->of] : NULL;
	const char *cell = b->m->cells.at[wheel ? wheel->cell : u->of].name;
	struct names argv = b->words;

	list_printf(w->a, &argv, "--cell=%s", cell);
	if (b->addrs.n)
		list_printf(w->a, &argv, "--addr=%s", b->addrs.at[addr]);
	if (wheel) {
		list_printf(w->a, &argv, "--wheel=%s", wheel->step);
		list_printf(w->a, &argv, "--out=%s", wheel_dir(w->a, b, wheel));
	}
	for (size_t k = 0; k < b->after.n; k++)
		list_push(w->a, &argv, b->after.at[k]);
	list_push(w->a, &argv, NULL);
	return argv.at;
}

static int
build_one(struct watch *w, size_t unit, size_t addr, int fd)
{
	struct proc_spec spec = { .argv = argv_of(w, &w->s.units[unit], addr),
				  .env = w->b->env.at,
				  .line = pass_on,
				  .ctx = &fd,
				  .keep = SAID_MAX };
	struct proc_result r;

	proc_run(w->a, &spec, &r);
	if (!r.started)
		dprintf(fd, "stackbuild: %s cannot be started: %s\n", spec.argv[0],
			strerror(r.error));
	if (!fs_write_all(STDOUT_FILENO, buf_text(&r.out), r.out.n)) {
		dprintf(fd, "stackbuild: cannot write to standard output\n");
		return 1;
	}
	return r.started ? r.status : 1;
}

static void
tell(struct watch *w, size_t unit, enum build_event_kind kind, const char *text, int status)
{
	progress_tick(w->progress, proc_clock_s() - w->began_s);
	progress_event(w->progress, &(struct build_event){ .kind = kind,
							   .step = w->ids[unit],
							   .seconds = -1,
							   .status = status,
							   .text = text,
							   .last = true });
}

/* Starts a unit in a separate group: this process passes each signal on once. */
static void
start(struct watch *w, size_t unit)
{
	pid_t parent = getpid(), pid = -1;
	struct worker *mine = &w->workers[w->n];
	int fds[2] = { -1, -1 };
	size_t best = 0;

	for (size_t k = 1; k < w->b->addrs.n; k++)
		if (w->load[k] < w->load[best])
			best = k;
	tell(w, unit, EVENT_START, NULL, 0);
	if (pipe2(fds, O_CLOEXEC) == 0 && (pid = fork()) == 0) {
		setpgid(0, 0);
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (getppid() != parent)
			_exit(1);
		_exit(build_one(w, unit, best, fds[1]));
	}
	if (fds[1] >= 0)
		close(fds[1]);
	if (pid < 0) {
		if (fds[0] >= 0)
			close(fds[0]);
		tell(w, unit, EVENT_FAILED, strerror(errno), -1);
		schedule_end(&w->s, unit, false);
		w->stopping = true;
		return;
	}
	*mine = (struct worker){ unit, pid, fds[0], best, BUF(w->a) };
	w->n++;
	w->load[best]++;
}

/* --- all units --- */

/* Passes the diagnostics of a unit on unchanged, for a program. */
static void
show_line(struct watch *w, const struct worker *x, const char *line)
{
	if (!w->b->raw)
		tell(w, x->unit, EVENT_LINE, line, 0);
	else if (fprintf(stderr, "%s\n", line) < 0)
		w->stopping = true;
}

/* Reads lines of a unit; false at the end of its output. */
static bool
read_lines(struct watch *w, struct worker *x)
{
	char block[4096];
	ssize_t n = read(x->fd, block, sizeof(block));

	for (ssize_t i = 0; i < n; i++) {
		if (block[i] != '\n') {
			buf_putc(&x->part, block[i]);
			continue;
		}
		show_line(w, x, buf_text(&x->part));
		buf_clear(&x->part);
	}
	return n > 0 || (n < 0 && errno == EINTR);
}

/* Reports cells that cannot start because their wheel failed. */
static void
tell_blocked(struct watch *w, size_t failed)
{
	for (size_t i = 0; i < w->s.n; i++) {
		if (w->s.units[i].state != UNIT_BLOCKED || w->s.units[i].cause != failed)
			continue;
		for (struct progress_step *p = w->shown; p->id; p++)
			if (!strcmp(p->id, w->ids[i]))
				p->note = arena_printf(w->a, "needs %s, which failed",
						       w->ids[failed]);
		tell(w, i, EVENT_ENDED, NULL, -1);
	}
}

static void
ended(struct watch *w, struct worker *x)
{
	int status = 0, code;
	bool good;

	while (waitpid(x->pid, &status, 0) < 0 && errno == EINTR)
		;
	code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	good = code == 0;
	close(x->fd);
	if (good)
		tell(w, x->unit, EVENT_DONE, NULL, 0);
	else if (proc_interrupted())
		tell(w, x->unit, EVENT_ENDED, NULL, code);
	else
		tell(w, x->unit, EVENT_FAILED, NULL, code);
	schedule_end(&w->s, x->unit, good);
	if (!good)
		tell_blocked(w, x->unit);
	w->stopping |= !good && !w->b->keep_going;
	w->load[x->addr]--;
	*x = w->workers[--w->n];
}

/* Waits for lines, at most POLL_MS, and ends the units whose pipe is closed. */
static void
collect(struct watch *w)
{
	for (size_t i = 0; i < w->n; i++)
		w->fds[i] = (struct pollfd){ .fd = w->workers[i].fd, .events = POLLIN };
	if (poll(w->fds, (nfds_t)w->n, POLL_MS) > 0)
		for (size_t i = w->n; i-- > 0;)
			if (w->fds[i].revents && !read_lines(w, &w->workers[i]))
				ended(w, &w->workers[i]);
	progress_tick(w->progress, proc_clock_s() - w->began_s);
}

static void
run_all(struct watch *w)
{
	unsigned told = 0;

	fflush(NULL);
	for (;;) {
		unsigned came = proc_interruptions();
		int next = NO_UNIT;

		w->stopping |= came > 0;
		while (!w->stopping && w->n < w->b->at_once &&
		       (next = schedule_next(&w->s)) != NO_UNIT)
			start(w, (size_t)next);
		if (!w->n)
			break;
		for (; told < came; told++)
			for (size_t i = 0; i < w->n; i++)
				kill(w->workers[i].pid, SIGTERM);
		collect(w);
	}
}

/* --- cells that an earlier run finished --- */

/*
 * Returns whether build.json records a finished build of that plan (NULL: any plan) under that
 * name.
 */
static bool
is_finished(struct arena *a, const char *dir, const char *image, const char *plan)
{
	struct build_record r;
	struct buf keys = BUF(a);

	if (!build_record_read(a, fs_join(a, dir, "build.json"), &r) || r.code ||
	    (image && (!r.image || strcmp(r.image, image) != 0)))
		return false;
	for (size_t i = 0; i < r.steps.n; i++)
		buf_puts(&keys, r.steps.at[i].key ? r.steps.at[i].key : "");
	buf_puts(&keys, r.recipe_digest ? r.recipe_digest : "");
	return !plan || !strcmp(sha256_hex(a, buf_text(&keys), keys.n), plan);
}

static void
leave_finished(struct watch *w)
{
	const struct matrix_build *b = w->b;
	const struct matrix *m = b->m;

	for (size_t i = 0; i < b->cells.n; i++) {
		const struct matrix_cell *c = &m->cells.at[b->cells.at[i]];

		if (is_finished(w->a, fs_join(w->a, b->out, c->name), b->images.at[b->cells.at[i]],
				c->plan))
			schedule_leave(&w->s, b->cells.at[i]);
	}
	/* The directory's name contains the key of the wheel. */
	for (size_t i = 0; i < m->wheels.n; i++) {
		const char *dir = wheel_dir(w->a, b, &m->wheels.at[i]);

		if (w->s.units[i].state == UNIT_WAITING && is_finished(w->a, dir, NULL, NULL))
			w->s.units[i].state = UNIT_LEFT;
	}
}

/* --- the screen and the end --- */

/* Returns the estimate for a unit: compile steps for this machine, and other steps as in the
 * plan. */
static double
estimate(const struct matrix_build *b, const struct unit *u)
{
	const struct matrix_cell *c = &b->m->cells.at[u->of];
	const struct matrix_wheel *w = &b->m->wheels.at[u->of];
	double sum = u->cost_s;

	if (u->unknown)
		return 0;
	if (u->wheel)
		return compile_estimate(&b->machine, w->cost_s, w->cost_cores, w->useful_jobs,
					w->memory_mib);
	/* A wheel that only this cell needs is compiled with the cell. */
	for (size_t i = 0; i < c->wheels.n; i++) {
		w = &b->m->wheels.at[c->wheels.at[i]];
		if (w->cells == 1)
			sum += compile_estimate(&b->machine, w->cost_s, w->cost_cores,
						w->useful_jobs, w->memory_mib) -
			       w->cost_s;
	}
	return sum;
}

static bool
open_screen(struct watch *w, struct diags *ds)
{
	const struct matrix_build *b = w->b;
	const char *path = fs_join(w->a, b->out, "matrix.log");
	size_t n = 0;

	w->shown = arena_array_of(w->a, struct progress_step, w->s.n + 1);
	w->ids = arena_array_of(w->a, const char *, w->s.n);
	for (size_t i = 0; i < w->s.n; i++) {
		const struct unit *u = &w->s.units[i];

		w->ids[i] = u->wheel ? wheel_id(w->a, &b->m->wheels.at[u->of]) :
				       b->m->cells.at[u->of].name;
		if (u->state == UNIT_WAITING)
			w->shown[n++] = (struct progress_step){ .id = w->ids[i],
								.estimate_s = estimate(b, u) };
	}
	if (!fs_make_parents(w->a, path)) {
		diag_at(ds, E_BUILD_FILES, NOWHERE, "cannot write %s: %s", path, strerror(errno));
		return false;
	}
	w->progress = screen_open(
		w->a, ds,
		(struct progress_options){ .mode = b->raw ? PROGRESS_QUIET : b->progress,
					   .out = stderr,
					   .head = b->head,
					   .log_path = path,
					   .colour = b->colour },
		w->shown, n);
	return w->progress;
}

/* Adds a failed unit to the message, with its log and its last lines. */
static void
explain(struct watch *w, struct diag *d, size_t unit)
{
	const struct matrix_build *b = w->b;
	const struct unit *u = &w->s.units[unit];
	const struct matrix_wheel *wheel = u->wheel ? &b->m->wheels.at[u->of] : NULL;
	const char *dir = wheel ? wheel_dir(w->a, b, wheel) : fs_join(w->a, b->out, w->ids[unit]);
	size_t blocked = 0;

	for (size_t i = 0; i < w->s.n; i++)
		blocked += w->s.units[i].state == UNIT_BLOCKED && w->s.units[i].cause == unit;
	diag_why(d, "%s%s failed%s: %s", wheel ? "the wheel " : "", w->ids[unit],
		 wheel ? arena_printf(w->a, ", which %zu of these cells need", blocked) : "",
		 fs_join(w->a, dir, "build.log"));
}

static bool
report(struct watch *w, struct diags *ds, struct buf *out)
{
	size_t of[UNIT_LEFT + 1] = { 0 }, wheels = 0, n = w->b->cells.n, finished = n;
	struct diag *d;

	for (size_t i = 0; i < w->s.n; i++)
		if (w->s.units[i].wheel)
			wheels += w->s.units[i].state == UNIT_DONE;
		else
			of[w->s.units[i].state]++;
	finished -= of[UNIT_DONE] + of[UNIT_FAILED] + of[UNIT_BLOCKED] + of[UNIT_WAITING];
	buf_printf(out, "%s: %zu of %zu cells built, %zu finished before, %zu wheels made\n",
		   w->b->m->name, of[UNIT_DONE], n, finished, wheels);
	if (of[UNIT_DONE] + finished == n)
		return true;
	if (proc_interrupted()) {
		diag_help(diag_at(ds, E_BUILD_INTERRUPTED, NOWHERE, "the build was interrupted"),
			  "--resume builds the remaining %zu cells", n - finished - of[UNIT_DONE]);
		return false;
	}
	d = diag_at(ds, E_CELLS, NOWHERE, "%zu of %zu cells were not built",
		    n - finished - of[UNIT_DONE], n);
	for (size_t i = 0; i < w->s.n; i++)
		if (w->s.units[i].state == UNIT_FAILED)
			explain(w, d, i);
	if (of[UNIT_WAITING])
		diag_note(d, NOWHERE, "%zu cells were not started after that%s", of[UNIT_WAITING],
			  w->b->keep_going ? "" : ": --keep-going builds them");
	diag_help(d, "correct the cause, then run the command with --resume: it builds the rest");
	return false;
}

bool
matrix_build(struct arena *a, struct diags *ds, const struct matrix_build *b, struct buf *out)
{
	struct watch w = { .a = a, .b = b, .s = schedule_new(a, b->m, b->cells) };
	bool good;

	w.workers = arena_array_of(a, struct worker, b->at_once);
	w.fds = arena_array_of(a, struct pollfd, b->at_once);
	w.load = arena_array_of(a, size_t, b->addrs.n + 1);
	w.began_s = proc_clock_s();
	if (b->resume)
		leave_finished(&w);
	if (!open_screen(&w, ds))
		return false;
	run_all(&w);
	good = screen_close(ds, w.progress);
	return report(&w, ds, out) && good;
}
