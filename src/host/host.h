#ifndef HOST_H
#define HOST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/list.h"

/* Describes this machine: processors, memory, GPUs, and the limits of containers and WSL. */

struct host {
	unsigned cpus; /* CPUs for this process by affinity and cgroup quota, at least 1 */
	size_t mem_total_mib;
	size_t mem_free_mib;  /* MemAvailable, or the free memory of the cgroup if that is less */
	size_t mem_limit_mib; /* limit of the cgroup (v1 or v2); 0: none */
	bool wsl2;
	const char *kernel, *os; /* "6.1.0-18-amd64", "Debian GNU/Linux 12 (bookworm)" */
};

/* Reads the machine; root: "", or in tests a directory with proc/ and sys/. */
const struct host *host_read(struct arena *a, const char *root);

struct host_gpu {
	const char *name, *uuid;
	unsigned major, minor; /* compute capability */
	size_t mem_mib;        /* 0: not reported */
	size_t mem_used_mib;
};

struct host_gpus {
	struct host_gpu_list LIST(struct host_gpu) list;
	const char *driver;   /* "550.54.15"; or NULL */
	const char *cuda;     /* the newest CUDA that the driver runs, "12.4"; or NULL */
	const char *why_none; /* the reason if there is none; else NULL */
	struct names lost;    /* "GPU 1: ...": GPUs that cannot be used, with the reason */
};

/* Reads the GPUs with NVML, which each call opens (libnvidia-ml.so.1); library: NULL, or that of a
 * test. */
const struct host_gpus *host_gpus(struct arena *a, const char *library);

/*
 * host_gpu_settings -- reads the settings of each GPU that change whether and how fast programs run.
 *
 *   in      library: as for host_gpus()
 *   out     lines: "GPU 0: NVIDIA H100", "  persistence mode    on", ...; without NVML, as nvidia-smi
 *           prints the values; none without both
 *   memory  lives in a
 */
struct names host_gpu_settings(struct arena *a, const char *library);

/* --- the use of the GPUs by processes --- */

/* The use of one GPU by one process. */
struct gpu_use {
	int pid;
	int busy;      /* peak per cent of the multiprocessors since the last sample; -1: unknown */
	int busy_mean; /* the mean of the same; -1: unknown */
	bool listed;   /* it has a CUDA context */
	size_t mem_mib; /* 0: unknown */
};

struct gpu_sample {
	int busy;        /* per cent of the time in which a kernel ran; -1: unknown */
	size_t mem_mib;  /* used by all processes */
	bool by_process; /* false: the driver does not report the utilisation of each process */
	struct gpu_uses LIST(struct gpu_use) uses;
};

struct sampler;

/*
 * sampler_open -- opens NVML, or finds nvidia-smi, to sample the GPUs of this machine.
 *
 *   in      library: as for host_gpus()
 *   out *gpus: the GPUs, or why there are none; NULL without NVML and nvidia-smi
 *   memory  lives in a, until sampler_close
 */
struct sampler *sampler_open(struct arena *a, const char *library, const struct host_gpus **gpus);
/* Returns "NVML" or "nvidia-smi". */
const char *sampler_source(const struct sampler *s);
/* Fills out[0..gpus->list.n) with the activity since the last call; lists live in a. */
void sampler_take(struct sampler *s, struct arena *a, struct gpu_sample *out);
void sampler_close(struct sampler *s);

#endif
