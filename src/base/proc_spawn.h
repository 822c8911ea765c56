#ifndef PROC_SPAWN_H
#define PROC_SPAWN_H

#include "proc.h"

#include <sys/types.h>

/* A started child, before its output is read. For proc*.c only. */
struct spawned {
	pid_t pid;
	bool group;   /* leads a session and its process group, -pid */
	int out, err; /* read ends, non-blocking, close-on-exec; -1: the terminal's */
};

/* Returns 0, or the errno of the failure: then no process runs and no file is open. */
int proc_spawn(struct arena *a, const struct proc_spec *spec, struct spawned *s);

/* Kills the processes whose root directory differs from ours: containers, unpackers of archives. */
void proc_end_containers(struct arena *a, const struct pids *pids);
/* Ends the processes that became children of this one because their parent has ended. */
void proc_end_orphans(struct arena *a, const struct pids *all);

/* Closes the descriptors first to last. */
void proc_close_between(int first, int last);
/*
 * Kills a child and waits up to 0.5 s for its end; false: the kernel blocks it (state D, as in a
 * driver that hangs).
 */
bool proc_kill(pid_t pid);

/*
 * A process that ends the child and its session after this process was killed with SIGKILL: it sees
 * the pipe to this process close. Without it, a shell would finish its command first.
 */
struct proc_guard {
	pid_t pid; /* 0: not started, for lack of processes or descriptors */
	int fd;
};

struct proc_guard proc_guard_start(pid_t child);
/* Ends the guard, after the child and its group have ended. */
void proc_guard_end(const struct proc_guard *g);

#endif
