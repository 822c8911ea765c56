#ifndef HOST_H
#define HOST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/list.h"

/* This machine: processors, memory, GPUs, and where it is not what it seems. */

struct host {
	unsigned cpus; /* that this process may use: affinity and cgroup quota, at least 1 */
	size_t mem_total_mib;
	size_t mem_free_mib;  /* MemAvailable, or less if the cgroup has less left */
	size_t mem_limit_mib; /* of the cgroup (v1 or v2); 0: none */
	bool wsl2;
	const char *kernel, *os; /* "6.1.0-18-amd64", "Debian GNU/Linux 12 (bookworm)" */
};

/* root: "" for the machine, a folder with proc/ and sys/ in the tests. */
const struct host *host_read(struct arena *a, const char *root);

struct host_gpu {
	const char *name, *uuid;
	unsigned major, minor; /* compute capability */
	size_t mem_mib;        /* 0: it does not tell */
};

struct host_gpus {
	struct host_gpu_list LIST(struct host_gpu) list;
	const char *driver;   /* "550.54.15"; or NULL */
	const char *cuda;     /* the newest CUDA that the driver runs, "12.4"; or NULL */
	const char *why_none; /* if there is none: in words; else NULL */
	struct names lost;    /* "GPU 1: ...": that are there and cannot be used, and why */
};

/* By NVML, opened when asked (dlopen libnvidia-ml.so.1); library: NULL, or the tests' own. */
const struct host_gpus *host_gpus(struct arena *a, const char *library);

#endif
