#include "proc_spawn.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "str.h"

enum { PIDS_MAX = 4096 };

static void
add_children_of_thread(struct arena *a, const char *path, struct pids *all)
{
	FILE *f = fopen(path, "re");
	int pid;

	while (f && all->n < PIDS_MAX && fscanf(f, "%d", &pid) == 1)
		list_push(a, all, (pid_t)pid);
	if (f)
		fclose(f);
}

/* /proc/PID/task/TID/children, of every thread: a program in Go forks in any of them. */
static void
add_children(struct arena *a, pid_t of, struct pids *all)
{
	const char *tasks = arena_printf(a, "/proc/%d/task", (int)of);
	DIR *d = opendir(tasks);
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (is_digit(*e->d_name))
			add_children_of_thread(
				a, arena_printf(a, "%s/%s/children", tasks, e->d_name), all);
	if (d)
		closedir(d);
}

struct pids
proc_descendants(struct arena *a, pid_t of)
{
	struct pids all = { 0 };

	add_children(a, of, &all);
	for (size_t i = 0; i < all.n; i++)
		add_children(a, all.at[i], &all);
	return all;
}

bool
proc_stat(const char *pid, int *parent, int *session)
{
	char path[64], line[512] = "";
	const char *end;
	FILE *f;
	bool good;

	snprintf(path, sizeof(path), "/proc/%.16s/stat", pid);
	if (!(f = fopen(path, "re")))
		return false;
	good = fgets(line, sizeof(line), f) && (end = strrchr(line, ')')) &&
	       sscanf(end + 1, " %*c %d %*d %d", parent, session) == 2;
	fclose(f);
	return good;
}

void
proc_end_orphans(const struct pids *all)
{
	for (size_t i = 0; i < all->n; i++) {
		char pid[16];
		int parent, session;

		snprintf(pid, sizeof(pid), "%d", (int)all->at[i]);
		if (!proc_stat(pid, &parent, &session) || parent != getpid())
			continue;
		kill(all->at[i], SIGKILL);
		waitpid(all->at[i], NULL, 0);
	}
}

void
proc_end_descendants(struct arena *a)
{
	enum { ROUNDS = 20, WAIT_MS = 50 };

	/* One may fork while another is killed; one that the kernel holds is not waited for. */
	for (unsigned i = 0; i < ROUNDS; i++) {
		const struct pids all = proc_descendants(a, getpid());

		for (size_t k = 0; k < all.n; k++)
			kill(all.at[k], SIGKILL);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			; /* orphans become ours */
		if (!all.n)
			return;
		nanosleep(&(struct timespec){ .tv_nsec = WAIT_MS * 1000000L }, NULL);
	}
}
