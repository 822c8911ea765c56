/* Locks the cells of a matrix side by side: uv and the servers take most of the time. */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alive.h"
#include "base/fs.h"
#include "base/proc.h"
#include "world_lock.h"

enum { AT_ONCE = 4, POLL_MS = 20 };

/* Lets this process, a child, print to the files, and only what it adds from now on. */
static void
become_worker(struct run *r, const struct lock_worker *w, pid_t parent)
{
	struct options *o = arena_new_of(r->a, struct options);

	alive_begin(NULL);
	setpgid(0, 0); /* the parent passes each signal on once */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	*o = *r->o;
	if (option_colour(o, STDERR_FILENO))
		o->colour = COLOUR_ALWAYS;
	r->o = o;
	r->ds = DIAGS(r->ds, r->a);
	r->out = BUF(r->a);
	if (getppid() != parent || dup2(w->out, STDOUT_FILENO) < 0 ||
	    dup2(w->err, STDERR_FILENO) < 0)
		_exit(EXIT_DIAGNOSED);
}

static const char *
text_of(struct arena *a, int fd)
{
	off_t n = lseek(fd, 0, SEEK_END);
	char *text = arena_array_of(a, char, (size_t)(n > 0 ? n : 0) + 1);

	if (n > 0 && pread(fd, text, (size_t)n, 0) != n)
		*text = '\0';
	close(fd);
	return text;
}

/* Waits for the oldest worker, and prints its output; equal diagnostics of several cells appear once. */
static void
collect(struct run *r, struct lock_workers *all)
{
	const struct lock_worker *w = &all->at[all->ended++];
	struct buf out = BUF(r->a);
	const char *text;
	int status = 0;

	while (waitpid(w->pid, &status, WNOHANG) == 0) {
		for (; all->told < proc_interruptions(); all->told++)
			for (size_t i = all->ended - 1; i < all->n; i++)
				kill(all->at[i].pid, SIGTERM);
		poll(NULL, 0, POLL_MS);
		alive_tick("waiting for the cells", NULL);
	}
	buf_puts(&out, text_of(r->a, w->out));
	program_write(&out);
	fflush(stdout);
	text = text_of(r->a, w->err);
	if (!names_have(&all->shown, text)) {
		list_push(r->a, &all->shown, text);
		fputs(text, stderr);
	}
	if (WIFSIGNALED(status))
		diag_at(&r->ds, E_UV_FAILED, NOWHERE,
			"signal %d ended the process that locks a cell", WTERMSIG(status));
	all->failed |= status != 0;
}

pid_t
lock_fork(struct run *r, struct lock_workers *all)
{
	struct lock_worker w = { .out = memfd_create("out", MFD_CLOEXEC),
				 .err = memfd_create("err", MFD_CLOEXEC) };
	const pid_t parent = getpid();

	if (all->n - all->ended == AT_ONCE)
		collect(r, all);
	fflush(NULL);
	w.pid = w.out < 0 || w.err < 0 ? -1 : fork();
	if (w.pid > 0) {
		list_push(r->a, all, w);
		return w.pid;
	}
	if (w.pid == 0)
		become_worker(r, &w, parent);
	fs_close(&w.out);
	fs_close(&w.err);
	return w.pid;
}

bool
lock_join(struct run *r, struct lock_workers *all)
{
	while (all->ended < all->n)
		collect(r, all);
	return !all->failed;
}
