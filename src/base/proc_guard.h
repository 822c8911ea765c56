#ifndef PROC_GUARD_H
#define PROC_GUARD_H

#include <sys/types.h>

/*
 * Inside proc: a process that outlives us by a moment.  kill -9 leaves nobody to end a child's
 * own children (a shell waits for its command before it minds a signal): the guard sees our end
 * of a pipe close, and ends the session that the child leads.
 */
struct proc_guard {
	pid_t pid; /* 0: there is none, for want of a process or a descriptor */
	int fd;
};

/* group: of the child that was just started. */
struct proc_guard proc_guard_start(pid_t group);
/* The child has ended, and its group with it: the guard goes home. */
void proc_guard_end(struct proc_guard *g);

#endif
