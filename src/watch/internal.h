#ifndef WATCH_INTERNAL_H
#define WATCH_INTERNAL_H

#include "watch.h"

/* The tag before the JSON in a run's SVG. */
#define USE_METADATA "<metadata id=\"stackbuild-run\">"

/* The number of verdicts. */
enum { VERDICTS = VERDICT_USED + 1 };
extern const char *const use_verdict_words[];

/* Adds a point to a plot; if it is full, two points become one. *width_s: seconds of a point, at first
 * 0. */
void use_add_point(struct arena *a, struct use_gpu *g, double *width_s, struct use_point p);

/* The reasons for an idle GPU: the state of the command's processes in /proc while they run. */
struct evidence {
	int hidden_pid;     /* a process whose CUDA_VISIBLE_DEVICES hides every GPU; 0: none */
	const char *hidden; /* value of its CUDA_VISIBLE_DEVICES */
	const char *cpu_torch, *cuda_torch; /* mapped directories of torch; NULL: none */
	const char *version;                /* version of cpu_torch: "2.8.0+cpu"; NULL: not found */
	bool cuda;                          /* a process has mapped the driver's library */
};

/* Examines every process below this one, without the sampler's; gpus: number of GPUs. */
void evidence_take(struct arena *a, struct evidence *e, size_t gpus, pid_t sampler);
/* Returns true if a value of CUDA_VISIBLE_DEVICES hides all of `gpus` GPUs. */
bool hides_gpus(const char *value, size_t gpus);

enum whose { OURS, OTHERS, GONE };
/* Returns whether a process is below this one, of others (as the sampler's), or not in /proc. */
enum whose process_whose(int pid, pid_t sampler);
/* Returns the process's name; "?" after its end. */
const char *process_name(struct arena *a, int pid);
/* Returns true if NVML's PIDs may be of another namespace: that of a container's host or of
 * WSL's. */
bool pids_foreign(struct arena *a);

#endif
