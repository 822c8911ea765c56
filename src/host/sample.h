#ifndef SAMPLE_H
#define SAMPLE_H

#include "host.h"

/* Shared by the files of host/. */

/* Opens NVML's library, or the given one; NULL: *why has the reason. */
void *nvml_library(struct arena *a, const char *library, const char **why);

/* --- nvidia-smi, the second source --- */

/* Returns the GPUs as nvidia-smi lists them; NULL: it is not installed, or it fails. */
const struct host_gpus *smi_gpus(struct arena *a);
void smi_take(struct arena *a, const struct host_gpus *gpus, struct gpu_sample *out);

/* Returns the use of a process in a sample, added if it is new. */
struct gpu_use *sample_use(struct arena *a, struct gpu_sample *s, int pid);

#endif
