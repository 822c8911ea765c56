#include "proc.h"
#include "alive.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "proc_spawn.h"

/* --- signals --- */

/* The number of signals, and the last one. */
static atomic_int signals_came, signal_last;

static void
on_signal(int number)
{
	atomic_store(&signal_last, number);
	atomic_fetch_add(&signals_came, 1);
}

/*
 * Does nothing: the handler exists so that a child's end wakes ppoll; an ignored SIGCHLD would
 * discard its status.
 */
static void
on_child(int number)
{
	(void)number;
}

static void
install(int number, void (*with)(int), int flags)
{
	struct sigaction sa = { .sa_handler = with, .sa_flags = flags };

	sigemptyset(&sa.sa_mask);
	sigaction(number, &sa, NULL);
}

void
proc_signals(void)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction was;

	/* A signal that is already ignored, as under nohup, stays ignored. */
	for (size_t i = 0; i < COUNT(ends); i++)
		if (!sigaction(ends[i], NULL, &was) && was.sa_handler != SIG_IGN)
			install(ends[i], on_signal, SA_RESTART);
}

unsigned
proc_interruptions(void)
{
	return (unsigned)atomic_load(&signals_came);
}

int
proc_interrupted(void)
{
	return proc_interruptions() ? atomic_load(&signal_last) : 0;
}

/* --- output --- */

enum { CHUNK = 64 * 1024, KEEP_MAX = BUF_MAX / 2 - CHUNK };

struct stream {
	int fd; /* -1: at its end */
	enum proc_stream from;
	char *line; /* PROC_LINE_MAX bytes and a NUL */
	size_t n;
	bool returned; /* the last byte was a carriage return, which a newline may follow */
	struct buf *kept;
	size_t keep; /* maximum size of `kept` in bytes */
	bool over;   /* more bytes arrived */
};

struct child {
	struct arena *a;
	const struct proc_spec *spec;
	struct proc_result *r;
	struct spawned at;
	struct stream streams[2];
	char *chunk;
	double start_s, tick_s;
	int signals_base;      /* earlier signals do not affect this child */
	bool ending;           /* the child received the signal */
	int signals_at_ending; /* one more ends the grace period */
	double settle_s;       /* time of the next look at its containers */
	double term_s, kill_s; /* when it gets SIGTERM, SIGKILL */
	double stuck_s;        /* after SIGKILL: deadline for its end */
	bool reaped;
	double left_s;     /* deadline for the rest of its group to exit by itself */
	struct pids below; /* its descendants at its first signal */
	struct pids seen;  /* our descendants at the last search for containers */
	double drain_s;    /* deadline for output from other holders of the pipe */
};

double
proc_clock_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Keeps the last bytes of the output, up to the limit. */
static void
trim(struct stream *s)
{
	struct buf *b = s->kept;

	if (b->n > s->keep) {
		memmove(b->p, b->p + b->n - s->keep, s->keep + 1);
		b->n = s->keep;
		s->over = true;
	}
}

static void
line_out(struct child *c, struct stream *s)
{
	s->line[s->n] = '\0';
	if (c->spec->line)
		c->spec->line(c->spec->ctx, s->from, s->line, s->n);
	s->n = 0;
}

static void
lines(struct child *c, struct stream *s, const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		bool begun = s->n > 0;

		/*
		 * An empty turn of a progress bar is not a line, nor is a newline after a return.
		 */
		if (p[i] == '\n' ? begun || !s->returned :
		    p[i] == '\r' ? begun :
				   s->n == PROC_LINE_MAX)
			line_out(c, s);
		if (p[i] != '\n' && p[i] != '\r')
			s->line[s->n++] = p[i];
		s->returned = p[i] == '\r' && begun;
	}
}

/* Reads the available bytes, at most one chunk, so that neither stream delays the other. */
static void
take(struct child *c, struct stream *s)
{
	ssize_t n = read(s->fd, c->chunk, CHUNK);

	if (n > 0) {
		buf_add(s->kept, c->chunk, (size_t)n);
		/* Moves the bytes only when there are twice as many, so each byte moves once. */
		if (s->kept->n >= 2 * s->keep)
			trim(s);
		lines(c, s, c->chunk, (size_t)n);
	} else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
		close(s->fd);
		s->fd = -1;
	}
}

/* --- one child --- */

static void
send(struct child *c, int number)
{
	pid_t to = c->at.group ? -c->at.pid : c->at.pid;

	if (!c->at.group && c->reaped)
		return;
	kill(to, number);
	if (number == SIGTERM)
		kill(to, SIGCONT);
}

/* Enforces the time limit, signals, and the grace period after them. */
static void
enforce_limits(struct child *c, double now)
{
	int came = atomic_load(&signals_came), number;
	bool again;

	if (!c->ending && !c->reaped) {
		c->r->interrupted = came > c->signals_base;
		c->r->timed_out = !c->r->interrupted && c->spec->timeout_s > 0 &&
				  now - c->start_s >= c->spec->timeout_s;
		c->ending = c->r->interrupted || c->r->timed_out;
		c->term_s = now + c->spec->patience_s;
		c->kill_s = c->term_s + PROC_GRACE_MS / 1e3;
		c->signals_at_ending = came;
	}
	again = came > c->signals_at_ending;
	number = again || now >= c->kill_s ? SIGKILL : SIGTERM;
	if (c->ending && c->reaped) {
		c->left_s = again ? now : c->left_s;
	} else if (c->ending && !again && now < c->term_s) {
		/* A new container is left alone, because its client may still be setting it up. */
		if (now >= c->settle_s) {
			proc_end_containers(c->a, &c->seen);
			c->seen = proc_descendants(c->a, getpid(), 0);
			c->settle_s = now + PROC_LEFT_MS / 1e3;
		}
	} else if (c->ending && c->r->sent != number) {
		if (!c->r->sent)
			c->below = proc_descendants(c->a, c->at.pid, 0);
		send(c, c->r->sent = number);
		c->stuck_s = now + PROC_STUCK_MS / 1e3;
	}
}

static void
reap(struct child *c, double now)
{
	struct rusage ru;
	struct proc_result *r = c->r;
	int status;
	pid_t pid = wait4(c->at.pid, &status, WNOHANG, &ru);
	bool stuck = pid == 0 && r->sent == SIGKILL && now >= c->stuck_s;

	if ((pid == 0 && !stuck) || (pid < 0 && errno == EINTR))
		return;
	c->reaped = true;
	r->seconds = now - c->start_s;
	if (stuck) { /* in the kernel's state D, as in a driver that hangs */
		r->status = 128 + SIGKILL;
	} else if (pid < 0) { /* another waiter reaped it: its exit status is unknown */
		r->status = 255;
	} else {
		r->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
		r->cpu_s = (double)ru.ru_utime.tv_sec + (double)ru.ru_stime.tv_sec +
			   (double)(ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) / 1e6;
	}
	c->left_s = c->drain_s = now + PROC_LEFT_MS / 1e3;
	if (!c->r->sent)
		send(c, SIGTERM);
	else if (c->r->sent == SIGTERM && c->kill_s > c->left_s)
		c->left_s = c->kill_s; /* a runtime may still have to end a container */
}

/*
 * The kernel does not reuse the group's number while it has a member, so this kills no other
 * process.
 */
static bool
group_is_gone(const struct child *c)
{
	if (!c->at.group)
		return true;
	while (waitpid(-c->at.pid, NULL, WNOHANG) > 0)
		; /* adopts orphans of the group */
	return kill(-c->at.pid, 0) < 0 && errno == ESRCH;
}

static bool
is_over(struct child *c, double now)
{
	if (!c->reaped)
		return false;
	if (group_is_gone(c))
		return now >= c->drain_s || (c->streams[0].fd < 0 && c->streams[1].fd < 0);
	if (now < c->left_s)
		return false;
	send(c, SIGKILL);
	return true;
}

/* Returns the time until the next event that neither a descriptor nor a signal reports. */
static struct timespec
wait_time(const struct child *c, double now)
{
	double s = PROC_TICK_MS / 1e3;

	if (c->reaped)
		s = 0.01;
	else if (!c->ending && c->spec->timeout_s > 0 && c->start_s + c->spec->timeout_s - now < s)
		s = c->start_s + c->spec->timeout_s - now;
	s = s < 0.001 ? 0.001 : s;
	return (struct timespec){ .tv_nsec = (long)(s * 1e9) };
}

static void
watch(struct child *c)
{
	sigset_t held, was, open;
	double now = proc_clock_s();

	/* Signals are blocked except while ppoll waits, so that none is missed between a check and
	 * the wait. */
	sigemptyset(&held);
	sigaddset(&held, SIGINT);
	sigaddset(&held, SIGTERM);
	sigaddset(&held, SIGHUP);
	sigaddset(&held, SIGCHLD);
	pthread_sigmask(SIG_BLOCK, &held, &was);
	open = was;
	sigdelset(&open, SIGCHLD);
	while (!is_over(c, now)) {
		struct pollfd fds[2] = { { .fd = c->streams[0].fd, .events = POLLIN },
					 { .fd = c->streams[1].fd, .events = POLLIN } };
		struct timespec wait = wait_time(c, now);
		int n;

		enforce_limits(c, now);
		n = ppoll(fds, 2, &wait, &open);
		for (size_t i = 0; n > 0 && i < 2; i++)
			if (fds[i].revents)
				take(c, &c->streams[i]);
		now = proc_clock_s();
		if (!c->reaped)
			reap(c, now);
		if (!c->reaped && c->spec->tick && now >= c->tick_s) {
			c->tick_s = now + PROC_TICK_MS / 2e3;
			c->spec->tick(c->spec->ctx, now - c->start_s);
		}
		if (!c->spec->terminal)
			alive_tick("waiting for", c->spec->argv[0]);
	}
	pthread_sigmask(SIG_SETMASK, &was, NULL);
}

static void
stream_open(struct arena *a, struct child *c, enum proc_stream from, int fd, struct buf *kept)
{
	struct stream *s = &c->streams[from];

	*s = (struct stream){ .fd = fd, .from = from, .kept = kept };
	s->keep = c->spec->keep < KEEP_MAX ? c->spec->keep : KEEP_MAX;
	s->line = arena_alloc(a, PROC_LINE_MAX + 1, 1);
}

static void
stream_end(struct child *c, struct stream *s)
{
	if (s->n)
		line_out(c, s);
	trim(s);
	s->kept->over = s->over;
	if (s->fd >= 0)
		close(s->fd);
}

bool
proc_run(struct arena *a, const struct proc_spec *spec, struct proc_result *r)
{
	struct child c = { .a = a, .spec = spec, .r = r };
	struct proc_guard guard;

	*r = (struct proc_result){ .out = BUF(a), .err = BUF(a) };
	install(SIGCHLD, on_child, SA_RESTART | SA_NOCLDSTOP);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	c.signals_base = atomic_load(&signals_came);
	if ((r->interrupted = c.signals_base && !spec->cleanup))
		return false;
	c.start_s = proc_clock_s();
	if ((r->error = proc_spawn(a, spec, &c.at)))
		return false;
	guard = proc_guard_start(c.at.pid);
	r->started = true;
	c.chunk = arena_alloc(a, CHUNK, 1);
	stream_open(a, &c, PROC_OUT, c.at.out, &r->out);
	stream_open(a, &c, PROC_ERR, c.at.err, &r->err);
	watch(&c);
	proc_guard_end(&guard);
	/* A container is not in the child's group, and podman ends before its container. */
	proc_end_orphans(a, &c.below);
	stream_end(&c, &c.streams[0]);
	stream_end(&c, &c.streams[1]);
	return r->status == 0 && !r->timed_out && !r->interrupted;
}

/* --- temporary directories --- */

/* The newest temporary directories; a process has fewer at a time. "": none */
static char temps[8][PATH_MAX];

/* Starts rm(1), because removing a directory in this process needs memory. */
static void
remove_temps(void)
{
	for (size_t i = 0; i < COUNT(temps); i++) {
		char *const argv[] = { "rm", "-rf", "--", temps[i], NULL };
		pid_t pid;

		if (*temps[i] && posix_spawn(&pid, "/bin/rm", NULL, NULL, argv, environ) == 0)
			waitpid(pid, NULL, 0);
	}
}

void
proc_remove_at_exhaustion(const char *path)
{
	static size_t made;

	if (strlen(path) >= sizeof(temps[0]))
		return;
	memcpy(temps[made++ % COUNT(temps)], path, strlen(path) + 1);
	memory_at_exhaustion(remove_temps);
}

const char *
proc_temp(struct arena *a, const char *dir, const char *name)
{
	const char *tmp = getenv("TMPDIR");
	char *path = arena_printf(a, "%s/%s-XXXXXX", dir ? dir : tmp && *tmp ? tmp : "/tmp", name);

	if (!mkdtemp(path))
		return NULL;
	proc_remove_at_exhaustion(path);
	return path;
}
