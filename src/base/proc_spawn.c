#include "proc_spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fs.h"

extern char **environ;

/*
 * Adds a file that a program's name may mean, unless the list has it by another name. If the file
 * is not executable, *error becomes EACCES.
 */
static void
add_program(struct arena *a, struct names *all, const char *file, int *error)
{
	struct stat st, other;

	if (stat(file, &st) != 0)
		return;
	if (!S_ISREG(st.st_mode) || access(file, X_OK) != 0) {
		*error = EACCES;
		return;
	}
	for (size_t i = 0; i < all->n; i++)
		if (!stat(all->at[i], &other) && other.st_dev == st.st_dev &&
		    other.st_ino == st.st_ino)
			return;
	list_push(a, all, file);
}

/* The directories that execvp searches without PATH. */
static const char default_path[] = "/bin:/usr/bin";

/* Returns the programs that a name may mean, in PATH's order; *error has the reason if there are
 * none. */
static struct names
programs(struct arena *a, const char *name, int *error)
{
	const char *path = getenv("PATH"), *end;
	struct names all = { 0 };

	*error = ENOENT;
	if (strchr(name, '/') || !*name) {
		add_program(a, &all, name, error);
		return all;
	}
	for (const char *p = path ? path : default_path;; p = end + 1) {
		end = p + strcspn(p, ":");
		/* A name with a slash is a path and is not searched in PATH. */
		add_program(a, &all,
			    arena_printf(a, "%.*s/%s", end > p ? (int)(end - p) : 1,
					 end > p ? p : ".", name),
			    error);
		if (!*end)
			return all;
	}
}

struct names
proc_which_all(struct arena *a, const char *name)
{
	int error;

	return programs(a, name, &error);
}

const char *
proc_which(struct arena *a, const char *name)
{
	struct names all = proc_which_all(a, name);

	return all.n ? all.at[0] : NULL;
}

static struct names hidden;

void
proc_hide(struct arena *a, const char *name)
{
	names_once(a, &hidden, name);
}

static char **
environment(struct arena *a, const char *const *change)
{
	struct names env = { 0 };

	for (char **e = environ; e && *e; e++)
		if (!names_have(&hidden, arena_copy(a, *e, strcspn(*e, "="))))
			list_push(a, &env, *e);
	for (; change && *change; change++) {
		size_t name = strcspn(*change, "="), kept = 0;

		for (size_t i = 0; i < env.n; i++)
			if (strncmp(env.at[i], *change, name) != 0 || env.at[i][name] != '=')
				env.at[kept++] = env.at[i];
		env.n = kept;
		if ((*change)[name])
			list_push(a, &env, *change);
	}
	list_push(a, &env, NULL);
	return (char **)env.at;
}

static void
close_all(const int *fd, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (fd[i] >= 0)
			close(fd[i]);
}

static bool
make_pipe(int *read_end, int *write_end)
{
	int p[2];

	if (pipe2(p, O_CLOEXEC) < 0)
		return false;
	*read_end = p[0];
	*write_end = p[1];
	return !fcntl(*read_end, F_SETFL, O_NONBLOCK);
}

void
proc_hold_standard_files(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd ? O_RDONLY : O_RDWR) < 0)
			_exit(1);
}

/*
 * Makes a file in memory with all bytes of standard input. A pipe would have to be fed while output
 * is read, and can break.
 */
static int
open_input(const struct proc_spec *spec)
{
	int fd = spec->input ? memfd_create("input", MFD_CLOEXEC) :
			       open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (fd >= 0 && spec->input &&
	    (!fs_write_all(fd, spec->input, spec->input_size) || lseek(fd, 0, SEEK_SET) < 0)) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Descriptors: the child's standard files in the order of their numbers, then our ends of its
 * output. */
enum { IN, OUT_WRITE, ERR_WRITE, OUT_READ, ERR_READ, FDS };

/* Starts `file` with the standard files; returns 0 or an errno. */
static int
spawn(const struct proc_spec *spec, const char *file, char **env, const int *fd, struct spawned *s)
{
	short flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK;
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none, fresh;
	int error = 0, here = -1;

	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&attr);
	/*
	 * A session, unlike a group, has no terminal: a child that asks for a password fails
	 * instead of waiting.
	 */
	posix_spawnattr_setflags(&attr, s->group ? flags | POSIX_SPAWN_SETSID : flags);
	/*
	 * A child ignores the signals that this process inherited as ignored, but not those that
	 * stackbuild itself ignores.
	 */
	sigemptyset(&none);
	sigemptyset(&fresh);
	sigaddset(&fresh, SIGPIPE);
	sigaddset(&fresh, SIGCHLD);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &fresh);
	for (int i = IN; i <= ERR_WRITE && !error; i++)
		if (fd[i] >= 0)
			error = posix_spawn_file_actions_adddup2(&files, fd[i], i);
	/* glibc before 2.29 cannot change the directory in the child; nothing else runs in this process. */
	if (!error && spec->cwd)
		here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (!error && spec->cwd && (here < 0 || chdir(spec->cwd) < 0))
		error = errno;
	if (!error)
		error = posix_spawn(&s->pid, file, &files, &attr, (char *const *)spec->argv, env);
	if (here >= 0 && fchdir(here) < 0 && !error)
		error = errno;
	close_all(&here, 1);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	return error;
}

int
proc_spawn(struct arena *a, const struct proc_spec *spec, struct spawned *s)
{
	int fd[FDS] = { -1, -1, -1, -1, -1 }, error;
	struct names found = programs(a, spec->argv[0], &error);
	const char *file = found.n ? found.at[0] : NULL;
	char here[PATH_MAX];

	if (!file)
		return error;
	/* Relative paths are relative to this process, not to the child's directory. */
	if (spec->cwd && *file != '/' && getcwd(here, sizeof(here)))
		file = fs_join(a, arena_strdup(a, here), file);
	proc_hold_standard_files(); /* dup2 of a number onto itself would close it by exec */
	s->group = !spec->terminal || !isatty(0);
	if (!spec->terminal &&
	    ((fd[IN] = open_input(spec)) < 0 || !make_pipe(&fd[OUT_READ], &fd[OUT_WRITE]) ||
	     !make_pipe(&fd[ERR_READ], &fd[ERR_WRITE])))
		error = errno;
	else
		error = spawn(spec, file, environment(a, spec->env), fd, s);
	close_all(fd, error ? FDS : OUT_READ);
	s->out = fd[OUT_READ];
	s->err = fd[ERR_READ];
	return error;
}
