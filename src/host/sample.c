#include "sample.h"

#include <dlfcn.h>
#include <string.h>

/*
 * Samples of utilisation and memory by NVML.
 * Source: NVIDIA's nvml.h, and pynvml.py of nvidia-ml-py 13.615.71 (PyPI) for structures and values.
 */

enum { OK = 0, NOT_SUPPORTED = 3, NOT_FOUND = 6, TOO_SMALL = 7 };
enum { USERS_MAX = 1024 }; /* maximum processes and samples of a GPU */

#define NOT_AVAILABLE (~0ull)

struct process_info {
	unsigned pid;
	unsigned long long bytes;
	unsigned gpu_instance, compute_instance; /* not in the first version */
};

struct process_info_1 {
	unsigned pid;
	unsigned long long bytes;
};

struct process_sample {
	unsigned pid;
	unsigned long long time_us;
	unsigned sm, mem, enc, dec; /* per cent */
};

struct rates {
	unsigned gpu, memory; /* per cent */
};

struct memory {
	unsigned long long total, free, used; /* bytes */
};

struct probe {
	const struct host_gpus *gpus;
	void *library; /* NULL: nvidia-smi */
	void **devices;
	unsigned long long *seen_us; /* time of the newest sample of each GPU */
	int (*init)(void);
	int (*by_uuid)(const char *, void **);
	int (*rates)(void *, struct rates *);
	int (*memory)(void *, struct memory *);
	int (*samples)(void *, struct process_sample *, unsigned *, unsigned long long);
	int (*processes)(void *, unsigned *,
			 void *); /* version 2 or 3: the structures are the same */
	int (*processes_1)(void *, unsigned *, void *);
};

struct gpu_use *
sample_use(struct arena *a, struct gpu_sample *s, int pid)
{
	for (size_t i = 0; i < s->uses.n; i++)
		if (s->uses.at[i].pid == pid)
			return &s->uses.at[i];
	list_push(a, &s->uses, (struct gpu_use){ .pid = pid, .busy = -1, .busy_mean = -1 });
	return &s->uses.at[s->uses.n - 1];
}

/* Finds a function by its names, the newest first; false: the library has none of them. */
static bool
find(void *library, void *into, const char *name, const char *older)
{
	void *f = dlsym(library, name);

	if (!f && older)
		f = dlsym(library, older);
	memcpy(into, &f, sizeof(f));
	return f;
}

static bool
find_all(struct probe *s)
{
	void *l = s->library;

	find(l, &s->rates, "nvmlDeviceGetUtilizationRates", NULL);
	find(l, &s->samples, "nvmlDeviceGetProcessUtilization", NULL);
	find(l, &s->processes, "nvmlDeviceGetComputeRunningProcesses_v3",
	     "nvmlDeviceGetComputeRunningProcesses_v2");
	find(l, &s->processes_1, "nvmlDeviceGetComputeRunningProcesses", NULL);
	return find(l, &s->init, "nvmlInit_v2", "nvmlInit") &&
	       find(l, &s->memory, "nvmlDeviceGetMemoryInfo", NULL) &&
	       find(l, &s->by_uuid, "nvmlDeviceGetHandleByUUID", NULL);
}

struct probe *
probe_open(struct arena *a, const char *library, const struct host_gpus **gpus)
{
	struct probe *s = arena_new_of(a, struct probe);
	const char *why;
	bool begun;

	s->library = nvml_library(a, library, &why);
	begun = s->library && find_all(s) && s->init() == OK;
	/* NVML counts its initialisations, so that this keeps it initialised. */
	*gpus = s->gpus = host_gpus(a, library);
	if (!begun && (!s->library || s->gpus->list.n)) {
		s->library = NULL;
		s->gpus = smi_gpus(a);
		*gpus = s->gpus ? s->gpus : *gpus;
		return s->gpus ? s : NULL;
	}
	s->devices = arena_array_of(a, void *, s->gpus->list.n + 1);
	s->seen_us = arena_array_of(a, unsigned long long, s->gpus->list.n + 1);
	for (size_t i = 0; i < s->gpus->list.n; i++)
		if (s->by_uuid(s->gpus->list.at[i].uuid, &s->devices[i]) != OK)
			s->devices[i] = NULL;
	return s;
}

const char *
probe_source(const struct probe *s)
{
	return s->library ? "NVML" : "nvidia-smi";
}

/* Reads the processes that have a context, with their memory. */
static void
take_processes(struct arena *a, const struct probe *s, void *device, struct gpu_sample *out)
{
	const size_t size =
		s->processes ? sizeof(struct process_info) : sizeof(struct process_info_1);
	char *rows = arena_alloc(a, USERS_MAX * size, sizeof(unsigned long long));
	int (*ask)(void *, unsigned *, void *) = s->processes ? s->processes : s->processes_1;
	unsigned n = USERS_MAX;

	if (!ask || ask(device, &n, rows) != OK)
		return;
	for (unsigned i = 0; i < n && i < USERS_MAX; i++) {
		struct process_info_1 row;
		struct gpu_use *u;

		memcpy(&row, rows + i * size, sizeof(row));
		u = sample_use(a, out, (int)row.pid);
		u->listed = true;
		if (row.bytes != NOT_AVAILABLE)
			u->mem_mib = (size_t)(row.bytes >> 20);
	}
}

/* Reads the driver's records of each process since the last sample. */
static void
take_samples(struct arena *a, const struct probe *s, size_t gpu, struct gpu_sample *out)
{
	struct process_sample *rows = arena_array_of(a, struct process_sample, USERS_MAX);
	unsigned n = USERS_MAX, *counts = arena_array_of(a, unsigned, USERS_MAX);
	int *sums = arena_array_of(a, int, USERS_MAX);
	int result =
		s->samples ? s->samples(s->devices[gpu], rows, &n, s->seen_us[gpu]) : NOT_SUPPORTED;
	unsigned long long newest = s->seen_us[gpu];

	/* NVML answers NOT_FOUND or TOO_SMALL if the interval has no sample. */
	out->by_process = result == OK || result == NOT_FOUND || result == TOO_SMALL;
	for (unsigned i = 0; result == OK && i < n && i < USERS_MAX; i++) {
		int busy = rows[i].sm <= 100 ? (int)rows[i].sm : 0;
		struct gpu_use *u;
		size_t at;

		if (!rows[i].pid || rows[i].time_us <= s->seen_us[gpu])
			continue;
		u = sample_use(a, out, (int)rows[i].pid);
		at = (size_t)(u - out->uses.at);
		u->busy = busy > u->busy ? busy : u->busy;
		if (at < USERS_MAX) {
			sums[at] += busy;
			u->busy_mean = sums[at] / (int)++counts[at];
		}
		newest = rows[i].time_us > newest ? rows[i].time_us : newest;
	}
	s->seen_us[gpu] = newest;
}

void
probe_take(struct probe *s, struct arena *a, struct gpu_sample *out)
{
	if (!s->library) {
		smi_take(a, s->gpus, out);
		return;
	}
	for (size_t i = 0; i < s->gpus->list.n; i++) {
		struct rates rates = { 0 };
		struct memory memory = { 0 };

		out[i] = (struct gpu_sample){ .busy = -1 };
		if (!s->devices[i])
			continue;
		if (s->rates && s->rates(s->devices[i], &rates) == OK && rates.gpu <= 100)
			out[i].busy = (int)rates.gpu;
		if (s->memory(s->devices[i], &memory) == OK)
			out[i].mem_mib = (size_t)(memory.used >> 20);
		take_processes(a, s, s->devices[i], &out[i]);
		take_samples(a, s, i, &out[i]);
	}
}
