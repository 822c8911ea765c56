#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/str.h"
#include "internal.h"

/* Reads a file of /proc, whose size is unknown; NULL: it cannot be read. */
static const char *
proc_text(struct arena *a, int pid, const char *name, size_t max, size_t *n)
{
	int fd = open(arena_printf(a, "/proc/%d/%s", pid, name), O_RDONLY | O_CLOEXEC);
	struct buf b = BUF(a);
	char chunk[16 * 1024];
	ssize_t got = 0;

	while (fd >= 0 && b.n < max && (got = read(fd, chunk, sizeof(chunk))) > 0)
		buf_add(&b, chunk, (size_t)got);
	if (fd >= 0)
		close(fd);
	*n = b.n;
	return fd < 0 || got < 0 ? NULL : buf_text(&b);
}

/* Returns the parent of a process; -1: there is none. The name in the file may contain any
 * character. */
static int
parent_of(int pid)
{
	char path[64], line[512];
	const char *end;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	n = read(fd, line, sizeof(line) - 1);
	close(fd);
	line[n > 0 ? n : 0] = '\0';
	end = strrchr(line, ')');
	return end && strlen(end) > 4 ? (int)strtol(end + 4, NULL, 10) : -1;
}

enum whose
process_whose(int pid, pid_t sampler)
{
	enum { DEPTH_MAX = 1000 };
	int parent = pid;

	for (int i = 0; i < DEPTH_MAX && parent > 0 && parent != sampler; i++) {
		if ((parent = parent_of(parent)) == getpid())
			return OURS;
		if (!i && parent < 0)
			return GONE;
	}
	return OTHERS;
}

const char *
process_name(struct arena *a, int pid)
{
	size_t n;
	const char *s = proc_text(a, pid, "comm", 64, &n);

	return s && n ? arena_copy(a, s, strcspn(s, "\n")) : "?";
}

bool
pids_foreign(struct arena *a)
{
	/* The first namespace of PIDs has a fixed number: PROC_PID_INIT_INO of linux/proc_ns.h. */
	static const char first[] = "pid:[4026531836]";
	char ns[64];
	ssize_t n = readlink("/proc/self/ns/pid", ns, sizeof(ns) - 1);

	ns[n > 0 ? n : 0] = '\0';
	return strcmp(ns, first) != 0 || host_read(a, "")->wsl2;
}

/*
 * CUDA uses the numbers up to the first invalid one.
 * Source: CUDA C++ Programming Guide, CUDA Environment Variables.
 */
bool
hides_gpus(const char *value, size_t gpus)
{
	char *end;
	long n;

	value += strspn(value, " ");
	if (starts_with(value, "GPU-") || starts_with(value, "MIG-"))
		return false;
	n = strtol(value, &end, 10);
	return end == value || n < 0 || (gpus && (size_t)n >= gpus);
}

static void
look_at_environment(struct arena *a, struct evidence *e, int pid, size_t gpus)
{
	static const char name[] = "CUDA_VISIBLE_DEVICES=";
	size_t n;
	const char *all = proc_text(a, pid, "environ", FS_READ_MAX, &n);

	for (const char *p = all; p && p < all + n; p += strlen(p) + 1)
		if (starts_with(p, name) && hides_gpus(p + strlen(name), gpus)) {
			e->hidden_pid = pid;
			e->hidden = p + strlen(name);
		}
}

/* Returns the version in torch/version.py: __version__ = '2.8.0+cpu' */
static const char *
torch_version(struct arena *a, const char *torch)
{
	const struct source *s = fs_read_quiet(a, fs_join(a, torch, "version.py"), FS_READ_MAX);
	const char *p = s ? strstr(s->text, "__version__ = '") : NULL;

	if (!p)
		return NULL;
	p += strlen("__version__ = '");
	return arena_copy(a, p, strcspn(p, "'\n"));
}

/* Looks for torch and the driver among the libraries that a process has mapped. */
static void
look_at_maps(struct arena *a, struct evidence *e, int pid)
{
	static const char library[] = "/lib/libtorch_cpu.so";
	size_t n;
	const char *all = proc_text(a, pid, "maps", 8 * FS_READ_MAX, &n), *p, *line, *torch;

	if (!all)
		return;
	e->cuda |= strstr(all, "/libcuda.so") != NULL;
	p = strstr(all, library);
	if (!p)
		return;
	for (line = p; line > all && line[-1] != '\n'; line--)
		;
	line += strcspn(line, "/\n");
	torch = arena_copy(a, line, (size_t)(p - line));
	if (fs_exists(fs_join(a, torch, "lib/libtorch_cuda.so"))) {
		e->cuda_torch = torch;
	} else {
		e->cpu_torch = torch;
		e->version = torch_version(a, torch);
	}
}

void
evidence_take(struct arena *a, struct evidence *e, size_t gpus, pid_t sampler)
{
	struct arena *scratch = arena_new();
	const struct pids all = proc_descendants(scratch, getpid(), sampler);
	struct evidence seen = *e;

	for (size_t i = 0; i < all.n; i++) {
		if (!seen.hidden_pid)
			look_at_environment(scratch, &seen, all.at[i], gpus);
		if (!seen.cuda_torch && !seen.cpu_torch)
			look_at_maps(scratch, &seen, all.at[i]);
	}
	/* Copies the text once, because the scratch memory is freed. */
	if (!e->hidden && seen.hidden)
		seen.hidden = arena_strdup(a, seen.hidden);
	if (!e->cpu_torch && seen.cpu_torch) {
		seen.cpu_torch = arena_strdup(a, seen.cpu_torch);
		seen.version = seen.version ? arena_strdup(a, seen.version) : NULL;
	}
	if (!e->cuda_torch && seen.cuda_torch)
		seen.cuda_torch = arena_strdup(a, seen.cuda_torch);
	*e = seen;
	arena_free(scratch);
}
