#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proc_spawn.h"

void
proc_close_between(int first, int last)
{
	if (first > last || syscall(SYS_close_range, (unsigned)first, (unsigned)last, 0u) == 0)
		return;
	for (int i = first; i <= last && i < 1024; i++) /* a kernel before 5.9 */
		close(i);
}

bool
proc_kill(pid_t pid)
{
	enum { ROUNDS = 50, WAIT_MS = 10 };
	pid_t got = waitpid(pid, NULL, WNOHANG);

	/* A PID that is not a child any more may be that of another process. */
	if (got == 0)
		kill(pid, SIGKILL);
	for (int i = 0; got == 0 && i < ROUNDS; i++) {
		poll(NULL, 0, i ? WAIT_MS : 1);
		got = waitpid(pid, NULL, WNOHANG);
	}
	return got != 0;
}

static void
nothing(int number)
{
	(void)number;
}

/* Sets up the new process: no file but the socket and /dev/null, no signal that ends programs. */
static void
settle(int fd, pid_t parent)
{
	/* A handler, because programs that the helper starts would inherit an ignored signal. */
	static const int harmless[] = { SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGUSR1,
					SIGUSR2, SIGALRM, SIGTSTP, SIGTTIN, SIGTTOU };
	struct sigaction act = { .sa_handler = nothing, .sa_flags = SA_RESTART };
	sigset_t none;
	int null;

	setsid();
	sigemptyset(&none);
	for (size_t i = 0; i < COUNT(harmless); i++)
		sigaction(harmless[i], &act, NULL);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	null = open("/dev/null", O_RDWR);
	for (int i = 0; i < 3; i++)
		if (null >= 0)
			dup2(null, i);
	proc_close_between(3, fd - 1);
	proc_close_between(fd + 1, INT_MAX);
}

bool
proc_helper_start(struct proc_helper *h, void (*body)(int fd, const void *ctx), const void *ctx)
{
	pid_t parent = getpid();
	int ends[2];

	*h = (struct proc_helper){ .fd = -1 };
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return false;
	h->pid = fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0 ? -1 : fork();
	if (h->pid == 0) {
		settle(ends[1], parent);
		body(ends[1], ctx);
		_exit(0);
	}
	close(ends[1]);
	if (h->pid > 0) {
		h->fd = ends[0];
		return true;
	}
	h->pid = 0;
	close(ends[0]);
	return false;
}

void
proc_helper_end(struct proc_helper *h)
{
	if (h->fd >= 0)
		close(h->fd);
	if (h->pid)
		proc_kill(h->pid);
	*h = (struct proc_helper){ .fd = -1 };
}
