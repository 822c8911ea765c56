/*
 * A library in place of NVIDIA's NVML, for suites: programs describe their use of GPUs in files.
 *
 * STUB_GPUS is a directory. `gpus`: number of GPUs (default: 1). A file named by a PID contains lines "GPU BUSY MEM": from
 * then on, that process uses GPU by BUSY per cent and has a context of MEM MiB; the last line of each GPU counts. Like the
 * driver, the library keeps samples: it also reports a line that was replaced before a query, and those of a process that
 * has ended. `hidden`: processes are not reported (as in a container); `wsl`: no call reports processes; `init`: the
 * result of nvmlInit. `base`: per cent of each GPU that other processes use. `hang`: "CALL" waits until the file is removed,
 * "CALL PATH" also opens PATH, which may block; CALL may be `dlopen`. `crash`: "CALL" crashes.
 *
 * suites/doctor compiles it with the values of a made-up host (-D); HOLDER is the PID of a process that uses all of USED.
 */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct process_info {
	unsigned pid;
	unsigned long long bytes;
	unsigned gpu_instance, compute_instance;
};
struct process_sample {
	unsigned pid;
	unsigned long long time_us;
	unsigned sm, mem, enc, dec;
};
struct memory {
	unsigned long long total, free, used;
};

#ifndef DRIVER
#define DRIVER "550.54.15"
#define CUDA 12040
#define NAME "NVIDIA Stub"
#define CC 80
#define GPUS 1
#define TOTAL 16384
#endif
#ifndef INIT
#define INIT 0
#endif
#ifndef SECOND /* the result of opening the second GPU */
#define SECOND 0
#endif
#ifndef USED
#define USED 100
#endif
#ifndef HOLDER
#define HOLDER 0
#endif

enum { LINES = 4096 };

static struct {
	unsigned pid, gpu, busy, mem, number; /* number: of the line in its file */
	unsigned long long time_us;
	int last;
} lines[LINES];
static unsigned count;
static unsigned long long clock_us = 1000;

static long
setting(const char *name, long none)
{
	char path[4096];
	FILE *f;
	long value = none;

	snprintf(path, sizeof(path), "%s/%s", getenv("STUB_GPUS") ? getenv("STUB_GPUS") : "", name);
	if (getenv("STUB_GPUS") && (f = fopen(path, "r"))) {
		if (fscanf(f, "%ld", &value) != 1)
			value = 1;
		fclose(f);
	}
	return value;
}

/* Hangs or crashes if a file asks for it in this call. */
static void
fault(const char *call)
{
	static const char *const files[] = { "crash", "hang" };
	const char *dir = getenv("STUB_GPUS");

	for (int i = 0; dir && i < 2; i++) {
		char path[4096], name[128] = "", blocked[4096] = "";
		FILE *f;

		snprintf(path, sizeof(path), "%s/%s", dir, files[i]);
		while ((f = fopen(path, "r"))) {
			int n = fscanf(f, "%127s %4095s", name, blocked);

			fclose(f);
			if (n < 1 || strcmp(name, call))
				break;
			if (!i)
				raise(SIGSEGV);
			if (n == 2 && (f = fopen(blocked, "r")))
				fclose(f);
			usleep(10000);
		}
	}
}

__attribute__((constructor)) static void
loaded(void)
{
	fault("dlopen");
}

static void
add(unsigned pid, unsigned gpu, unsigned busy, unsigned mem, unsigned number)
{
	for (unsigned i = 0; i < count; i++)
		if (lines[i].pid == pid && lines[i].gpu == gpu) {
			if (lines[i].number == number)
				return;
			lines[i].last = 0;
		}
	if (count == LINES)
		return;
	lines[count].pid = pid;
	lines[count].gpu = gpu;
	lines[count].busy = busy;
	lines[count].mem = mem;
	lines[count].number = number;
	lines[count].time_us = ++clock_us;
	lines[count++].last = 1;
}

/* Reads the new lines of the programs. */
static void
refresh(void)
{
	const char *dir = getenv("STUB_GPUS");
	DIR *d = dir ? opendir(dir) : NULL;
	struct dirent *e;

	while (d && (e = readdir(d))) {
		unsigned pid = (unsigned)strtoul(e->d_name, NULL, 10), gpu, busy, mem, n = 0;
		char path[4096], line[128];
		FILE *f;

		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		if (!pid || !(f = fopen(path, "r")))
			continue;
		while (fgets(line, sizeof(line), f))
			if (sscanf(line, "%u %u %u", &gpu, &busy, &mem) == 3)
				add(pid, gpu, busy, mem, ++n);
		fclose(f);
	}
	if (d)
		closedir(d);
}

static int
lives(unsigned i)
{
	return lines[i].last && kill((int)lines[i].pid, 0) == 0;
}

int
nvmlInit_v2(void)
{
	fault("nvmlInit_v2");
	return (int)setting("init", INIT);
}
int
nvmlShutdown(void)
{
	return 0;
}
const char *
nvmlErrorString(int r)
{
	(void)r;
	return "an error of the stub";
}

int
nvmlSystemGetDriverVersion(char *s, unsigned n)
{
	snprintf(s, n, DRIVER);
	return 0;
}

int
nvmlSystemGetCudaDriverVersion_v2(int *v)
{
	*v = CUDA;
	return 0;
}
int
nvmlDeviceGetCount_v2(unsigned *n)
{
	fault("nvmlDeviceGetCount_v2");
	*n = (unsigned)setting("gpus", GPUS);
	return 0;
}

int
nvmlDeviceGetHandleByIndex_v2(unsigned i, void **d)
{
	*d = (char *)0 + i + 1;
	return i ? SECOND : 0;
}

static unsigned
index_of(void *d)
{
	return (unsigned)((char *)d - (char *)0) - 1;
}

int
nvmlDeviceGetName(void *d, char *s, unsigned n)
{
	(void)d;
	snprintf(s, n, NAME);
	return 0;
}

int
nvmlDeviceGetUUID(void *d, char *s, unsigned n)
{
	snprintf(s, n, "GPU-%u", index_of(d));
	return 0;
}

int
nvmlDeviceGetHandleByUUID(const char *uuid, void **d)
{
	return nvmlDeviceGetHandleByIndex_v2((unsigned)strtoul(uuid + 4, NULL, 10), d);
}

int
nvmlDeviceGetCudaComputeCapability(void *d, int *x, int *y)
{
	(void)d;
	*x = CC / 10;
	*y = CC % 10;
	return 0;
}

int
nvmlDeviceGetMemoryInfo(void *d, struct memory *m)
{
	refresh();
	m->total = (unsigned long long)TOTAL << 20;
	m->used = (unsigned long long)USED << 20;
	for (unsigned i = 0; i < count; i++)
		if (lines[i].gpu == index_of(d) && lives(i))
			m->used += (unsigned long long)lines[i].mem << 20;
	m->free = m->total - m->used;
	return 0;
}

int
nvmlDeviceGetUtilizationRates(void *d, unsigned *rates)
{
	fault("nvmlDeviceGetUtilizationRates");
	rates[0] = (unsigned)setting("base", 0);
	rates[1] = 0;
	refresh();
	for (unsigned i = 0; i < count; i++)
		if (lines[i].gpu == index_of(d) && lives(i))
			rates[0] += lines[i].busy;
	rates[0] = rates[0] > 100 ? 100 : rates[0];
	return 0;
}

int
nvmlDeviceGetComputeRunningProcesses_v3(void *d, unsigned *n, struct process_info *all)
{
	unsigned k = 0;

	refresh();
	if (setting("wsl", 0))
		return 3;
	if (HOLDER && k < *n) {
		all[k].pid = HOLDER;
		all[k++].bytes = (unsigned long long)USED << 20;
	}
	for (unsigned i = 0; i < count; i++)
		if (lines[i].gpu == index_of(d) && lives(i) && k < *n && !setting("hidden", 0)) {
			all[k].pid = lines[i].pid;
			all[k++].bytes = (unsigned long long)lines[i].mem << 20;
		}
	*n = k;
	return 0;
}

int
nvmlDeviceGetProcessUtilization(void *d, struct process_sample *all, unsigned *n,
				unsigned long long seen)
{
	unsigned k = 0;

	fault("nvmlDeviceGetProcessUtilization");
	refresh();
	if (setting("wsl", 0))
		return 3;
	for (unsigned i = 0; i < count; i++) {
		/* A living process continues: its newest sample is always new. */
		if (lives(i))
			lines[i].time_us = ++clock_us;
		if (lines[i].gpu == index_of(d) && lines[i].time_us > seen && k < *n) {
			all[k].pid = lines[i].pid + (setting("hidden", 0) ? 3000000 : 0);
			all[k].time_us = lines[i].time_us;
			all[k++].sm = lines[i].busy;
		}
	}
	*n = k;
	return k ? 0 : 6;
}

/* --- settings: doctor reads them --- */

static int
put(unsigned *out, unsigned value)
{
	*out = value;
	return 0;
}
int
nvmlDeviceGetPersistenceMode(void *d, unsigned *on)
{
	(void)d;
	return put(on, 1);
}
int
nvmlDeviceGetComputeMode(void *d, unsigned *mode)
{
	(void)d;
	return put(mode, 3);
}
int
nvmlDeviceGetMigMode(void *d, unsigned *now, unsigned *next)
{
	(void)d;
	*next = 1;
	return put(now, 0);
}
int
nvmlDeviceGetEccMode(void *d, unsigned *now, unsigned *next)
{
	(void)d;
	(void)now;
	(void)next;
	return 3; /* not supported */
}
int
nvmlDeviceGetPowerManagementLimit(void *d, unsigned *milliwatt)
{
	(void)d;
	return put(milliwatt, 450500);
}
int
nvmlDeviceGetMaxClockInfo(void *d, unsigned which, unsigned *mhz)
{
	(void)d;
	return put(mhz, which == 1 ? 2520 : 10501);
}
int
nvmlDeviceGetCurrentClocksThrottleReasons(void *d, unsigned long long *bits)
{
	(void)d;
	*bits = 4 | 64;
	return 0;
}
