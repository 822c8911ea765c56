#ifndef HOST_H
#define HOST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/list.h"
#include "base/proc.h"

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

/*
 * A process that samples the GPUs with NVML or nvidia-smi. A driver that hangs blocks only that
 * process, so none of these functions waits longer than its caller allows.
 */
struct sampler {
	const struct host_gpus *gpus; /* NULL before the first answer */
	const char *source; /* "NVML", "nvidia-smi"; NULL: neither, gpus->why_none has the reason */
	const char *why_ended; /* why there will be no answer any more; otherwise NULL */
	double asked_s;        /* time (proc_clock_s) of an unanswered question; 0: none */
	double slowest_s;      /* longest time from a question to its answer */
	double cpu_s;          /* processor time of its process since the first answer */
	struct proc_helper helper;
	struct arena *a;
	struct buf got; /* a part of an answer */
};

/* Starts the process and asks for the GPUs and the first sample; library: as for host_gpus(). */
struct sampler *sampler_start(struct arena *a, const char *library);
/* Asks for the activity since the last sample, unless a question is unanswered. */
void sampler_ask(struct sampler *s);
/*
 * sampler_answer -- returns the answer to the question, one sample for each of gpus->list.
 *
 *   in      within_s: waits for this many seconds at most; 0: does not wait
 *   out     lives in a; NULL: no answer yet, or never (why_ended), or after a signal
 */
const struct gpu_sample *sampler_answer(struct sampler *s, struct arena *a, double within_s);
/*
 * Returns why answers are missing: the process ended, the last question has no answer, or an answer
 * took longer than max_s; NULL: none is missing.
 */
const char *sampler_silence(const struct sampler *s, struct arena *a, double max_s);
/* Ends the process; does not wait for one that the driver blocks. */
void sampler_end(struct sampler *s);

#endif
