#include "proc_spawn.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "str.h"

struct process {
	pid_t pid, parent, session;
};
struct processes LIST(struct process);

/* Returns all processes, from /proc/PID/stat; the name in it may contain any character. */
static struct processes
all_processes(struct arena *a)
{
	struct processes all = { 0 };
	DIR *d = opendir("/proc");
	const struct dirent *e;

	while (d && (e = readdir(d))) {
		struct process p = { .pid = (pid_t)strtol(e->d_name, NULL, 10) };
		char path[64], line[512] = "";
		const char *end;
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%.16s/stat", e->d_name);
		if (!is_digit(*e->d_name) || !(f = fopen(path, "re")))
			continue;
		if (fgets(line, sizeof(line), f) && (end = strrchr(line, ')')) &&
		    sscanf(end + 1, " %*c %d %*d %d", &p.parent, &p.session) == 2)
			list_push(a, &all, p);
		fclose(f);
	}
	if (d)
		closedir(d);
	return all;
}

struct pids
proc_descendants(struct arena *a, pid_t of, pid_t except)
{
	const struct processes all = all_processes(a);
	struct pids below = { 0 };

	for (size_t i = 0;; i++) {
		for (size_t k = 0; k < all.n; k++)
			if (all.at[k].parent == of && all.at[k].pid != except)
				list_push(a, &below, all.at[k].pid);
		if (i == below.n)
			return below;
		of = below.at[i];
	}
}

void
proc_end_containers(struct arena *a, const struct pids *pids)
{
	struct stat own, its;

	for (size_t i = 0; i < pids->n; i++)
		if (!stat(arena_printf(a, "/proc/%d/root/", pids->at[i]), &its) &&
		    !stat("/", &own) && (own.st_dev != its.st_dev || own.st_ino != its.st_ino))
			kill(pids->at[i], SIGKILL);
}

void
proc_end_orphans(struct arena *a, const struct pids *pids)
{
	const struct processes all = pids->n ? all_processes(a) : (struct processes){ 0 };

	for (size_t i = 0; i < all.n; i++)
		for (size_t k = 0; k < pids->n; k++)
			if (all.at[i].pid == pids->at[k] && all.at[i].parent == getpid())
				proc_kill(pids->at[k]);
}

void
proc_end_descendants(struct arena *a)
{
	enum { ROUNDS = 20, WAIT_MS = 50 };

	/* Repeats, because a process may fork while another is killed; does not wait for one that
	 * the kernel blocks. */
	for (unsigned i = 0; i < ROUNDS; i++) {
		const struct pids all = proc_descendants(a, getpid(), 0);

		for (size_t k = 0; k < all.n; k++)
			kill(all.at[k], SIGKILL);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			; /* adopted orphans */
		if (!all.n)
			return;
		poll(NULL, 0, WAIT_MS);
	}
}

/* --- the guard --- */

enum { STEP_MS = 100 };

/* Returns every process of the session, and the child itself: ninja gives each compiler a group of its
 * own.  Returns how many there are. */
static unsigned
signal_session(pid_t child, int number)
{
	struct arena *scratch = arena_new();
	const struct processes all = all_processes(scratch);
	unsigned n = 0;

	for (size_t i = 0; i < all.n; i++)
		if (all.at[i].session == child || all.at[i].pid == child) {
			kill(all.at[i].pid, number);
			n++;
		}
	arena_free(scratch);
	return n;
}

static _Noreturn void
guard(int fd, pid_t child)
{
	char said;
	ssize_t n;

	/* Close-on-exec: an inherited descriptor would keep pipes of other processes open. */
	proc_close_between(0, fd - 1);
	proc_close_between(fd + 1, INT_MAX);
	for (int i = 1; i < 32; i++)
		if (i != SIGKILL && i != SIGSTOP)
			signal(i, SIG_IGN);
	while ((n = read(fd, &said, 1)) < 0 && errno == EINTR) {
	}
	if (n == 0 && signal_session(child, SIGTERM)) {
		for (int ms = 0; ms < PROC_GRACE_MS && signal_session(child, 0); ms += STEP_MS)
			poll(NULL, 0, STEP_MS);
		signal_session(child, SIGKILL);
	}
	_exit(0);
}

struct proc_guard
proc_guard_start(pid_t child)
{
	struct proc_guard g = { 0 };
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) != 0)
		return g;
	g = (struct proc_guard){ fork(), ends[1] };
	if (g.pid == 0) {
		/* Leaves the group, so that a key or signal for the group does not end the
		 * guard. */
		setsid();
		close(ends[1]);
		guard(ends[0], child);
	}
	close(ends[0]);
	if (g.pid < 0) {
		close(ends[1]);
		g.pid = 0;
	}
	return g;
}

void
proc_guard_end(const struct proc_guard *g)
{
	if (!g->pid)
		return;
	while (write(g->fd, "", 1) < 0 && errno == EINTR) {
	}
	close(g->fd);
	while (waitpid(g->pid, NULL, 0) < 0 && errno == EINTR) {
	}
}
