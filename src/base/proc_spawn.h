#ifndef PROC_SPAWN_H
#define PROC_SPAWN_H

#include "proc.h"

#include <sys/types.h>

/* Inside proc: a child that was started, before anything of it is read. */
struct spawned {
	pid_t pid;
	bool group;   /* it leads a session and so a process group: -pid names all of it */
	int out, err; /* read ends, non-blocking, close-on-exec; -1: the terminal's */
};

/* 0, or the errno of what could not be done: then nothing runs and nothing is open. */
int proc_spawn(struct arena *a, const struct proc_spec *spec, struct spawned *s);

/* The parent and the session of a process, by /proc: its name may hold anything. */
bool proc_stat(const char *pid, int *parent, int *session);

struct pids LIST(pid_t);
/* All that stand below a process now, whatever their group or session. */
struct pids proc_descendants(struct arena *a, pid_t of);
/* Ends those of them that became our own children since: theirs are gone. */
void proc_end_orphans(const struct pids *all);

/*
 * A process that outlives us by a moment.  kill -9 leaves nobody to end a child's
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
