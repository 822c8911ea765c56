#ifndef SAMPLE_H
#define SAMPLE_H

#include "host.h"

/* Shared by the files of host/. */

/* Opens NVML's library, or the given one; NULL: *why has the reason. */
void *nvml_library(struct arena *a, const char *library, const char **why);

/* --- in the process of the sampler --- */

struct probe;

/* Opens NVML, or finds nvidia-smi; *gpus: the GPUs, or why there are none; NULL: neither works. */
struct probe *probe_open(struct arena *a, const char *library, const struct host_gpus **gpus);
/* Returns "NVML" or "nvidia-smi". */
const char *probe_source(const struct probe *s);
/* Fills out[0..gpus->list.n) with the activity since the last call; lists live in a. */
void probe_take(struct probe *s, struct arena *a, struct gpu_sample *out);

/* --- nvidia-smi, the second source --- */

/* Returns the GPUs as nvidia-smi lists them; NULL: it is not installed, or it fails. */
const struct host_gpus *smi_gpus(struct arena *a);
void smi_take(struct arena *a, const struct host_gpus *gpus, struct gpu_sample *out);

/* Returns the use of a process in a sample, added if it is new. */
struct gpu_use *sample_use(struct arena *a, struct gpu_sample *s, int pid);

#endif
