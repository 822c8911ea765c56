#ifndef PROC_SPAWN_H
#define PROC_SPAWN_H

#include "proc.h"

#include <sys/types.h>

/* A started child, before its output is read. For proc*.c only. */
struct spawned {
	pid_t pid;
	bool group;   /* it leads a session and so a process group: -pid names all of it */
	int out, err; /* read ends, non-blocking, close-on-exec; -1: the terminal's */
};

/* Returns 0, or the errno of the failure: then no process runs and no file is open. */
int proc_spawn(struct arena *a, const struct proc_spec *spec, struct spawned *s);

/* Kills those with another root directory than ours: containers, unpackers of archives. */
void proc_end_containers(struct arena *a, const struct pids *pids);
/* Ends those that became children of this process, because their own parent has ended. */
void proc_end_orphans(struct arena *a, const struct pids *all);

/*
 * A process that outlives this one for a moment. After kill -9, nothing would end the children
 * of a child (a shell handles a signal only after its command): the guard sees the pipe to this
 * process close, and ends the child and the session that it leads.
 */
struct proc_guard {
	pid_t pid; /* 0: it could not be started: too few processes or descriptors */
	int fd;
};

struct proc_guard proc_guard_start(pid_t child);
/* Ends the guard, after the child and its group have ended. */
void proc_guard_end(const struct proc_guard *g);

#endif
