#include "proc_spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fs.h"
#include "str.h"

extern char **environ;

static bool
runnable(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

/* Where execvp looks when there is no PATH. */
static const char default_path[] = "/bin:/usr/bin";

/* The files that a name without a slash may stand for, in PATH's order, there or not. */
static struct names
candidates(struct arena *a, const char *name)
{
	const char *path = getenv("PATH"), *end;
	struct names all = { 0 };

	for (const char *p = path ? path : default_path; *name; p = end + 1) {
		const char *file;

		end = p + strcspn(p, ":");
		file = fs_join(a, end > p ? arena_copy(a, p, (size_t)(end - p)) : ".", name);
		/* fs_join leaves "." out: the slash says that it is no name to be looked up. */
		list_push(a, &all, strchr(file, '/') ? file : arena_printf(a, "./%s", file));
		if (!*end)
			break;
	}
	return all;
}

struct names
proc_which_all(struct arena *a, const char *name)
{
	struct names all = { 0 }, places;
	struct stat st, other;

	if (strchr(name, '/')) {
		if (runnable(name))
			list_push(a, &all, name);
		return all;
	}
	places = candidates(a, name);
	for (size_t i = 0; i < places.n; i++) {
		bool again = !runnable(places.at[i]) || stat(places.at[i], &st) != 0;

		for (size_t k = 0; k < all.n && !again; k++)
			again = !stat(all.at[k], &other) && other.st_dev == st.st_dev &&
				other.st_ino == st.st_ino;
		if (!again)
			list_push(a, &all, places.at[i]);
	}
	return all;
}

const char *
proc_which(struct arena *a, const char *name)
{
	struct names all = proc_which_all(a, name);

	return all.n ? all.at[0] : NULL;
}

/* Why a name stands for no program: a file of that name that is not executable, or nothing. */
static int
which_error(struct arena *a, const char *name)
{
	struct names places;

	if (strchr(name, '/'))
		return access(name, F_OK) ? errno : EACCES;
	places = candidates(a, name);
	for (size_t i = 0; i < places.n; i++)
		if (fs_exists(places.at[i]) && !fs_is_dir(places.at[i]))
			return EACCES;
	return ENOENT;
}

static size_t
name_size(const char *entry)
{
	return strcspn(entry, "=");
}

static bool
same_name(const char *x, const char *y)
{
	return name_size(x) == name_size(y) && !memcmp(x, y, name_size(x));
}

static char **
environment(struct arena *a, const char *const *change)
{
	struct names env = { 0 };

	for (char **e = environ; e && *e; e++) {
		bool changed = false;

		for (size_t i = 0; change && change[i] && !changed; i++)
			changed = same_name(*e, change[i]);
		if (!changed)
			list_push(a, &env, *e);
	}
	for (size_t i = 0; change && change[i]; i++) {
		bool again = !strchr(change[i], '=');

		for (size_t k = i + 1; change[k] && !again; k++)
			again = same_name(change[i], change[k]); /* the last one counts */
		if (!again)
			list_push(a, &env, change[i]);
	}
	list_push(a, &env, NULL);
	return (char **)env.at;
}

/* All that the child needs, made before it exists: after fork only bare calls are safe. */
struct becoming {
	const char *file, *cwd;
	char *const *argv;
	char **env;
	int in, out, err, tell; /* -1: left as it is; tell: takes the errno of what failed */
	bool group;
	pid_t parent;
};

static _Noreturn void
become(const struct becoming *b)
{
	static const int ours[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction sa = { .sa_handler = SIG_DFL }, was;
	sigset_t none;
	int error;

	/* Caught signals would go to this process' own handler until exec; ignored ones stay so,
	 * but for those that stackbuild itself ignores. */
	for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++)
		if (!sigaction(ours[i], NULL, &was) && was.sa_handler != SIG_IGN)
			sigaction(ours[i], &sa, NULL);
	sigaction(SIGPIPE, &sa, NULL);
	sigaction(SIGCHLD, &sa, NULL);
	sigemptyset(&none);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != b->parent)
		_exit(127);
	/* A session, not only a group: with no terminal of its own, whoever asks for a password
	 * there fails at once instead of being stopped and waiting for ever. */
	if ((b->group && setsid() < 0) || (b->in >= 0 && dup2(b->in, 0) < 0) ||
	    (b->out >= 0 && dup2(b->out, 1) < 0) || (b->err >= 0 && dup2(b->err, 2) < 0) ||
	    (b->cwd && chdir(b->cwd) < 0))
		goto failed;
	sigprocmask(SIG_SETMASK, &none, NULL);
	execve(b->file, b->argv, b->env);
failed:
	error = errno;
	while (write(b->tell, &error, sizeof(error)) < 0 && errno == EINTR)
		;
	_exit(127);
}

static void
close_all(int *fd, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (fd[i] >= 0)
			close(fd[i]);
		fd[i] = -1;
	}
}

/*
 * A descriptor above 2: where this process was started with standard output closed, a pipe
 * would get its number, and dup2 of a number onto itself leaves it to be closed by exec.
 */
static int
high(int fd)
{
	int up;

	if (fd < 0 || fd > 2)
		return fd;
	up = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	close(fd);
	return up;
}

static bool
make_pipe(int *read_end, int *write_end)
{
	int p[2];

	if (pipe2(p, O_CLOEXEC) < 0)
		return false;
	*read_end = high(p[0]);
	*write_end = high(p[1]);
	return *read_end >= 0 && *write_end >= 0;
}

/*
 * Standard input is a file in memory with all of the bytes: there is no pipe to be fed while
 * output is read, and none that breaks.
 */
static int
open_input(const struct proc_spec *spec)
{
	int fd;

	if (!spec->input)
		return high(open("/dev/null", O_RDONLY | O_CLOEXEC));
	fd = high(memfd_create("input", MFD_CLOEXEC));
	for (size_t at = 0; fd >= 0 && at < spec->input_size;) {
		ssize_t n = write(fd, spec->input + at, spec->input_size - at);

		if (n < 0 && errno != EINTR) {
			close(fd);
			return -1;
		}
		at += n > 0 ? (size_t)n : 0;
	}
	if (fd >= 0)
		lseek(fd, 0, SEEK_SET);
	return fd;
}

enum { TELL_READ, TELL_WRITE, IN, OUT_READ, OUT_WRITE, ERR_READ, ERR_WRITE, FDS };

static bool
open_all(const struct proc_spec *spec, int *fd)
{
	if (!make_pipe(&fd[TELL_READ], &fd[TELL_WRITE]))
		return false;
	if (spec->terminal)
		return true;
	if ((fd[IN] = open_input(spec)) < 0 || !make_pipe(&fd[OUT_READ], &fd[OUT_WRITE]) ||
	    !make_pipe(&fd[ERR_READ], &fd[ERR_WRITE]))
		return false;
	return !fcntl(fd[OUT_READ], F_SETFL, O_NONBLOCK) &&
	       !fcntl(fd[ERR_READ], F_SETFL, O_NONBLOCK);
}

static pid_t
fork_quietly(const struct becoming *b)
{
	sigset_t all, was;
	pid_t pid;
	int error;

	/* No signal may find the child while it still has our handlers. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &was);
	pid = fork();
	if (pid == 0)
		become(b);
	error = errno;
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	errno = error;
	return pid;
}

int
proc_spawn(struct arena *a, const struct proc_spec *spec, struct spawned *s)
{
	int fd[FDS] = { -1, -1, -1, -1, -1, -1, -1 }, error = 0;
	const char *file = proc_which(a, spec->argv[0]);
	struct becoming b = { .cwd = spec->cwd,
			      .argv = (char *const *)spec->argv,
			      .env = environment(a, spec->env),
			      .group = !spec->terminal || !isatty(0),
			      .parent = getpid() };
	char here[PATH_MAX];
	ssize_t n;

	if (!file)
		return which_error(a, spec->argv[0]);
	/* What PATH or the name says counts from here, not from the child's directory. */
	if (spec->cwd && *file != '/' && getcwd(here, sizeof(here)))
		file = fs_join(a, arena_strdup(a, here), file);
	b.file = file;
	if (!open_all(spec, fd)) {
		error = errno;
		close_all(fd, FDS);
		return error;
	}
	b.in = fd[IN];
	b.out = fd[OUT_WRITE];
	b.err = fd[ERR_WRITE];
	b.tell = fd[TELL_WRITE];
	if ((s->pid = fork_quietly(&b)) < 0) {
		error = errno;
		close_all(fd, FDS);
		return error;
	}
	close_all(fd + TELL_WRITE, 2);
	close_all(&fd[OUT_WRITE], 1);
	close_all(&fd[ERR_WRITE], 1);
	do
		n = read(fd[TELL_READ], &error, sizeof(error));
	while (n < 0 && errno == EINTR);
	if (n == (ssize_t)sizeof(error)) {
		close_all(fd, FDS);
		while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
			;
		return error;
	}
	close_all(fd, 1);
	s->group = b.group;
	s->out = fd[OUT_READ];
	s->err = fd[ERR_READ];
	return 0;
}
