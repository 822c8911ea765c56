#ifndef WATCH_INTERNAL_H
#define WATCH_INTERNAL_H

#include "watch.h"

/* The place of the JSON in the picture of a run. */
#define USE_METADATA "<metadata id=\"stackbuild-run\">"

/* The words of verdicts in JSON, and their number. */
enum { VERDICTS = VERDICT_USED + 1 };
extern const char *const use_verdict_words[];

/* The state of the command's processes in /proc while they run: the reasons for an idle GPU. */
struct evidence {
	int hidden_pid;     /* a process whose CUDA_VISIBLE_DEVICES hides every GPU; 0: none */
	const char *hidden; /* its value */
	const char *cpu_torch, *cuda_torch; /* directories of torch that are mapped; NULL: none */
	const char *version;                /* of cpu_torch: "2.8.0+cpu"; NULL: not found */
	int torch_pid;                      /* that has one of them mapped */
	bool cuda;                          /* some process has the driver's library mapped */
};

/* Looks at every process below this one; gpus: how many there are. */
void evidence_take(struct arena *a, struct evidence *e, size_t gpus);
/* Returns true if a value of CUDA_VISIBLE_DEVICES hides all of `gpus` GPUs. */
bool hides_gpus(const char *value, size_t gpus);

enum whose { OURS, OTHERS, GONE };
/* Returns whose process it is: below this one, of others, or not in /proc. */
enum whose process_whose(int pid);
/* Returns the process's name; "?" if it is gone. */
const char *process_name(struct arena *a, int pid);
/* Returns true if the PIDs of NVML may be those of another namespace: a container's or WSL's host. */
bool pids_foreign(struct arena *a);

#endif
