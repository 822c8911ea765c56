#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/fs.h"
#include "watch.h"

/* Signals to pass on to the command. */
static const int passed[] = { SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,  SIGUSR1,
			      SIGUSR2, SIGALRM, SIGTSTP, SIGWINCH, SIGCONT };

enum { CHUNK = 64 * 1024, DRAIN_MS = 500, LAST_CHUNKS = 32 };

/* A stream of the command with tee. */
struct lane {
	int from; /* read end; -1: at its end */
	int to;
	char *chunk;
	size_t at, n; /* the bytes of the chunk that are not written yet */
};

struct job {
	const struct job_spec *spec;
	struct job_end *end;
	pid_t pid;
	bool own_group;
	bool has_terminal; /* its group gets the terminal when this job is in the foreground */
	struct lane lanes[2];
	bool reaped;
	double start_s, tick_s;
};

static bool
is_pipe(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode);
}

static void
take_terminal(pid_t group)
{
	if (tcgetpgrp(0) >= 0)
		tcsetpgrp(0, group);
}

/* Starts the command in the new process; reports errno through `report`. */
static _Noreturn void
become(const struct job *j, const int out[2], int report, const sigset_t *mask)
{
	int error;

	if (j->own_group)
		setpgid(0, 0);
	if (j->has_terminal)
		take_terminal(getpid()); /* SIGTTOU is still ignored */
	signal(SIGTTOU, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	for (int i = 0; i < 2; i++)
		if (j->spec->tee && dup2(out[i], i + 1) < 0)
			_exit(126);
	for (const char *const *e = j->spec->env; e && *e; e++)
		putenv((char *)*e);
	execvp(j->spec->argv[0], (char *const *)j->spec->argv);
	error = errno;
	if (write(report, &error, sizeof(error)) < 0)
		_exit(126);
	_exit(127);
}

static int
open_pipes(const struct job *j, int ends[2][2], int report[2])
{
	for (int i = 0; j->spec->tee && i < 2; i++)
		if (pipe2(ends[i], O_CLOEXEC) < 0)
			return errno;
	return pipe2(report, O_CLOEXEC) < 0 ? errno : 0;
}

/* Starts the command; returns 0 or an errno. */
static int
start(struct job *j, const sigset_t *mask)
{
	int ends[2][2] = { { -1, -1 }, { -1, -1 } }, report[2], error = open_pipes(j, ends, report);
	const int out[2] = { ends[0][1], ends[1][1] };

	if (error)
		return error;
	/* We lead the job in front of it, alone: a pipeline's other members, or the script that started us,
	 * would lose the terminal and its signals. */
	j->has_terminal = isatty(0) && tcgetpgrp(0) == getpgrp() && getpgrp() == getpid() &&
			  !is_pipe(1) && !is_pipe(2);
	j->own_group = j->has_terminal || !isatty(0) || tcgetpgrp(0) != getpgrp();
	j->pid = fork();
	if (j->pid == 0)
		become(j, out, report[1], mask);
	error = j->pid < 0 ? errno : 0;
	/* Parent and child both call it, so that neither has to wait. */
	if (!error && j->own_group)
		setpgid(j->pid, j->pid);
	close(report[1]);
	while (!error && read(report[0], &error, sizeof(error)) < 0 && errno == EINTR)
		;
	close(report[0]);
	for (int i = 0; i < 2; i++) {
		if (out[i] >= 0)
			close(out[i]);
		j->lanes[i].from = ends[i][0];
		if (ends[i][0] >= 0)
			fcntl(ends[i][0], F_SETFL, O_NONBLOCK);
	}
	return error;
}

static void
pass(const struct job *j, int number, bool by_kernel)
{
	if (j->reaped)
		return;
	if (number == SIGCONT && j->has_terminal && tcgetpgrp(0) == getpgrp())
		take_terminal(j->pid);
	/* In a shared group, the command also gets the terminal's signals directly. */
	if (j->own_group || !by_kernel)
		kill(j->own_group ? -j->pid : j->pid, number);
}

/* Also stops this process if there is a terminal: the shell takes over until it continues this
 * process. */
static void
stop_with(const struct job *j)
{
	if (!isatty(0))
		return;
	if (j->has_terminal)
		take_terminal(getpgrp());
	kill(getpid(), SIGSTOP);
	pass(j, SIGCONT, false);
}

static void
reap(struct job *j, double now)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
		if (pid != j->pid)
			continue; /* an orphan of the command */
		if (WIFSTOPPED(status)) {
			stop_with(j);
			continue;
		}
		j->reaped = true;
		j->end->seconds = now - j->start_s;
		j->end->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
		j->end->status = WIFSIGNALED(status) ? 128 + j->end->signal : WEXITSTATUS(status);
	}
}

/* Handles an error of write(2). If the reader has exited, the command gets SIGPIPE. */
static void
cannot_write(struct job *j, int i)
{
	struct lane *l = &j->lanes[i];

	l->n = 0;
	if (errno == EPIPE) {
		close(l->from);
		l->from = -1;
	} else if (!j->end->lost[i]) {
		j->end->lost[i] = errno;
	}
}

/* Reads a chunk of output; false: there is none at the moment. */
static bool
read_chunk(struct job *j, int i)
{
	struct lane *l = &j->lanes[i];
	ssize_t n = read(l->from, l->chunk, CHUNK);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0) {
		close(l->from);
		l->from = -1;
		return false;
	}
	l->at = 0;
	l->n = (size_t)n;
	j->spec->output(j->spec->ctx, i ? PROC_ERR : PROC_OUT, l->chunk, l->n,
			proc_clock_s() - j->start_s);
	return true;
}

/* Passes output on. A file that poll(2) reports as ready takes PIPE_BUF bytes without a wait. */
static void
pump(struct job *j, int i)
{
	struct lane *l = &j->lanes[i];
	ssize_t n;

	if (!l->n) {
		read_chunk(j, i);
		return;
	}
	n = write(l->to, l->chunk + l->at, l->n < PIPE_BUF ? l->n : PIPE_BUF);
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		cannot_write(j, i);
	if (n > 0) {
		l->at += (size_t)n;
		l->n -= (size_t)n;
	}
}

/* Passes on what is left after the end of the command, and waits for the reader. */
static void
pump_rest(struct job *j, int i)
{
	struct lane *l = &j->lanes[i];

	/* A process that continues may write without end. */
	for (int k = 0; l->n || (l->from >= 0 && k < LAST_CHUNKS && read_chunk(j, i)); k++) {
		if (!fs_write_all(l->to, l->chunk + l->at, l->n))
			cannot_write(j, i);
		l->n = 0;
	}
	if (l->from >= 0)
		close(l->from);
}

static void
take_signals(struct job *j, int fd)
{
	struct signalfd_siginfo s;

	while (read(fd, &s, sizeof(s)) == sizeof(s))
		if (s.ssi_signo != SIGCHLD)
			pass(j, (int)s.ssi_signo, s.ssi_code == SI_KERNEL);
}

static struct pollfd
lane_poll(const struct lane *l)
{
	return (struct pollfd){ .fd = l->n ? l->to : l->from, .events = l->n ? POLLOUT : POLLIN };
}

/* Returns whether output may follow after the end of the command. */
static bool
drains(const struct job *j)
{
	return j->lanes[0].from >= 0 || j->lanes[1].from >= 0;
}

static void
loop(struct job *j, int signals)
{
	double now = proc_clock_s(), drain_s = 0;

	while (!j->reaped || (drains(j) && now < drain_s)) {
		struct pollfd fds[] = { lane_poll(&j->lanes[0]),
					lane_poll(&j->lanes[1]),
					{ .fd = signals, .events = POLLIN },
					{ .fd = j->spec->helper->fd, .events = POLLIN } };
		bool was = j->reaped;
		double wait = (was ? drain_s : j->tick_s) - now;

		poll(fds, COUNT(fds), wait > 0 ? (int)(wait * 1000) + 1 : 0);
		take_signals(j, signals);
		for (int i = 0; i < 2; i++)
			if (fds[i].fd >= 0 && fds[i].revents)
				pump(j, i);
		now = proc_clock_s();
		reap(j, now);
		if (j->reaped && !was)
			drain_s = now + DRAIN_MS / 1e3;
		if (!j->reaped && (now >= j->tick_s || fds[3].revents))
			j->tick_s = now + j->spec->tick(j->spec->ctx, now - j->start_s);
		now = proc_clock_s();
	}
}

void
job_run(struct arena *a, const struct job_spec *spec, struct job_end *end)
{
	struct job j = { .spec = spec,
			 .end = end,
			 .lanes = { { .from = -1, .to = 1 }, { .from = -1, .to = 2 } } };
	sigset_t held, was;
	int signals;

	*end = (struct job_end){ 0 };
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	sigemptyset(&held);
	sigaddset(&held, SIGCHLD);
	for (size_t i = 0; i < COUNT(passed); i++)
		sigaddset(&held, passed[i]);
	sigprocmask(SIG_BLOCK, &held, &was);
	signals = signalfd(-1, &held, SFD_NONBLOCK | SFD_CLOEXEC);
	signal(SIGTTOU, SIG_IGN);
	signal(SIGCHLD, SIG_DFL); /* children have no exit status if SIGCHLD is ignored */
	for (int i = 0; i < 2 && spec->tee; i++)
		j.lanes[i].chunk = arena_alloc(a, CHUNK, 1);
	j.start_s = proc_clock_s();
	end->error = signals < 0 ? errno : start(&j, &was);
	end->pid = j.pid;
	if (!end->error) {
		loop(&j, signals);
		end->left = (unsigned)proc_descendants(a, getpid(), spec->helper->pid).n;
	} else if (j.pid > 0) {
		waitpid(j.pid, NULL, 0);
	}
	if (j.has_terminal)
		take_terminal(getpgrp());
	close(signals);
	sigprocmask(SIG_SETMASK, &was, NULL);
	signal(SIGTTOU, SIG_DFL);
	for (int i = 0; i < 2; i++)
		pump_rest(&j, i);
}
