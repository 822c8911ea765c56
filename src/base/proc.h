#ifndef PROC_H
#define PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "arena.h"
#include "buf.h"
#include "diag.h"
#include "list.h"

/*
 * Child processes, one at a time or side by side: an argv (never a shell command), a process group
 * of its own, output by lines, a time limit, and an end on the user's signal. Not pure: only
 * stackbuild-world has children.
 */

enum proc_stream { PROC_OUT, PROC_ERR };

/*
 * One line of a child's output, without its line end; a carriage return also ends a line, and an
 * unfinished line follows when the child ends. Lines longer than PROC_LINE_MAX arrive in pieces.
 */
typedef void proc_line(void *ctx, enum proc_stream from, const char *line, size_t n);
/* Called at least every PROC_TICK_MS while a child runs; now_s counts from its start. */
typedef void proc_tick(void *ctx, double now_s);

enum {
	PROC_LINE_MAX = 64 * 1024,
	PROC_TICK_MS = 100,
	PROC_GRACE_MS = 10000,
	PROC_LEFT_MS = 500,
	PROC_STUCK_MS = 2000
};

struct proc_spec {
	const char *const *argv; /* ends with NULL; argv[0] is searched in our PATH */
	const char *const *env;  /* "NAME=value" sets, "NAME" removes; ends with NULL; or NULL */
	const char *cwd;         /* or NULL */
	const char *input;       /* bytes for its standard input; NULL: /dev/null */
	size_t input_size;
	bool terminal;     /* inherits standard input, output and error: stackbuild reads nothing */
	double timeout_s;  /* 0: none */
	bool cleanup;      /* starts even after a signal */
	double patience_s; /* time to end by itself before SIGTERM; its containers are killed */
	proc_line *line;   /* or NULL */
	proc_tick *tick;   /* or NULL */
	void *ctx;
	size_t keep; /* the result keeps so many of the last bytes of each stream */
};

struct proc_result {
	bool started;     /* false: not found or not executable; `error` has the reason */
	int status;       /* exit status; 128 + signal if a signal ended it */
	bool timed_out;   /* stackbuild ended it at the time limit */
	bool interrupted; /* stackbuild ended it after SIGINT, SIGTERM or SIGHUP */
	int sent;  /* signal sent in these cases: SIGTERM or SIGKILL; 0: it ended by itself */
	int error; /* errno of the failed start; else 0 */
	struct buf out, err;   /* over: more output arrived than is kept */
	double seconds, cpu_s; /* wall clock time; user and system time with its children */
};

/*
 * proc_run -- runs a child to its end.
 *
 *   in      spec; proc_signals() was called once before, if Ctrl-C is to end children
 *   out     *r; true if it started and ended with status 0 by itself
 *   errors  adds no diagnostic: the caller knows the purpose of the child
 *   memory  r's buffers live in a
 *
 * At a time limit or a signal, the child's process group gets SIGTERM (after patience_s), and
 * SIGKILL after another PROC_GRACE_MS or a second signal. If the kernel blocks the child (state D),
 * proc_run stops waiting PROC_STUCK_MS later. After the child, the rest of its group is ended:
 * after the remaining grace, or after PROC_LEFT_MS if the child ended by itself. Orphans become
 * children of stackbuild (PR_SET_CHILD_SUBREAPER); those in other sessions, such as the processes
 * of a container, are killed if stackbuild ended the child. When stackbuild is killed, a guard ends
 * the child and its session.
 *
 * The group is a session without a terminal, so that a child that asks for a password fails at
 * once. One with `terminal` stays in our group: Ctrl-C and Ctrl-Z reach both.
 *
 * After a signal, proc_run starts only children with `cleanup`.
 */
bool proc_run(struct arena *a, const struct proc_spec *spec, struct proc_result *r);

/* A process that runs a part of this program. */
struct proc_helper {
	pid_t pid; /* 0: not started */
	int fd;    /* a non-blocking stream socket to it; -1: none */
};

/*
 * proc_helper_start -- starts a process for calls that may hang, such as those of a driver.
 *
 *   in      body: gets the other end of the socket and ctx; the process ends when it returns
 *   errors  false: errno has the reason
 *
 * The helper runs in a separate session, so that no key of a terminal reaches it, and no other file
 * of this process. It ignores signals that end programs, but it is killed when this process ends.
 */
bool proc_helper_start(struct proc_helper *h, void (*body)(int fd, const void *ctx),
		       const void *ctx);
/* Kills a helper. Does not wait for one that the kernel blocks. */
void proc_helper_end(struct proc_helper *h);

/* Hides a variable from all later children. The name must live as long as the process. */
void proc_hide(struct arena *a, const char *name);

/* Opens /dev/null for closed standard files: so that no file opened later takes their place. */
void proc_hold_standard_files(void);

/* Lets SIGINT, SIGTERM and SIGHUP end children instead of this process. */
void proc_signals(void);
/* Returns the signal that came since then, or 0. */
int proc_interrupted(void);
/* Returns how many signals came since then. */
unsigned proc_interruptions(void);

/* Returns seconds of a clock that only runs forward. */
double proc_clock_s(void);

struct pids LIST(pid_t);
/* Returns all descendants of a process, in any group or session; except: left out with its own
 * descendants, 0: none. */
struct pids proc_descendants(struct arena *a, pid_t of, pid_t except);

/* Kills every process that descends from this one, also those in sessions of their own. */
void proc_end_descendants(struct arena *a);

/*
 * proc_temp -- makes a temporary directory DIR/NAME-xxxxxx, as mkdtemp(3).
 *
 *   in      dir NULL: $TMPDIR, or /tmp
 *   out     the caller removes the directory; if memory runs out before, rm(1) does
 *   errors  NULL: errno has the reason
 */
const char *proc_temp(struct arena *a, const char *dir, const char *name);
/* Lets rm(1) remove a directory if memory runs out. By then, the path may no longer exist. */
void proc_remove_at_exhaustion(const char *path);

/* Returns every file of that name in PATH, in order; a file with several names appears once. */
struct names proc_which_all(struct arena *a, const char *name);
/* Returns the file of a program's name in PATH (or the name, if it has a slash and is
 * executable), or NULL. */
const char *proc_which(struct arena *a, const char *name);

#endif
