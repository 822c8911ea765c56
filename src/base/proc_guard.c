#include "proc_spawn.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "str.h"

enum { STEP_MS = 100 };

/* Every process of the session: ninja gives each compiler a group of its own.  How many. */
static unsigned
signal_session(pid_t session, int number)
{
	unsigned n = 0;
	DIR *d = opendir("/proc");
	const struct dirent *e;
	int parent, of;

	while (d && (e = readdir(d)))
		if (is_digit(*e->d_name) && proc_stat(e->d_name, &parent, &of) && of == session) {
			kill((pid_t)strtol(e->d_name, NULL, 10), number);
			n++;
		}
	if (d)
		closedir(d);
	return n;
}

static _Noreturn void
watch(int fd, pid_t group)
{
	char said;
	ssize_t n;

	/* Ours alone: what else we hold open would keep pipes of others from ending. */
	if ((fd > 0 && syscall(SYS_close_range, 0u, (unsigned)fd - 1, 0u) != 0) ||
	    syscall(SYS_close_range, (unsigned)fd + 1, ~0u, 0u) != 0)
		for (int i = 0; i < 1024; i++) /* a kernel before 5.9 */
			if (i != fd)
				close(i);
	for (int i = 1; i < 32; i++)
		if (i != SIGKILL && i != SIGSTOP)
			signal(i, SIG_IGN);
	while ((n = read(fd, &said, 1)) < 0 && errno == EINTR) {
	}
	if (n == 0 && signal_session(group, SIGTERM)) {
		for (int ms = 0; ms < PROC_GRACE_MS && signal_session(group, 0); ms += STEP_MS)
			poll(NULL, 0, STEP_MS);
		signal_session(group, SIGKILL);
	}
	_exit(0);
}

struct proc_guard
proc_guard_start(pid_t group)
{
	struct proc_guard g = { .fd = -1 };
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) != 0)
		return g;
	g.pid = fork();
	if (g.pid == 0) {
		/* Not of our group: who ends that by a key or a signal ends the guard last. */
		setsid();
		close(ends[1]);
		watch(ends[0], group);
	}
	close(ends[0]);
	if (g.pid < 0) {
		close(ends[1]);
		g.pid = 0;
		return g;
	}
	g.fd = ends[1];
	return g;
}

void
proc_guard_end(struct proc_guard *g)
{
	if (!g->pid)
		return;
	while (write(g->fd, "", 1) < 0 && errno == EINTR) {
	}
	close(g->fd);
	while (waitpid(g->pid, NULL, 0) < 0 && errno == EINTR) {
	}
	g->pid = 0;
}
