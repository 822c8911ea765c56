#include <stdio.h>
#include <stdlib.h>

#include "base/proc.h"
#include "base/str.h"
#include "sample.h"

/*
 * Reads GPUs and samples with nvidia-smi if NVML's library cannot be opened. It takes much longer,
 * so callers adapt the interval to the time of a sample. Source: `nvidia-smi --help-query-gpu`;
 * `nvidia-smi pmon -h`.
 */

enum { TIMEOUT_S = 20, OUTPUT_MAX = 256 * 1024 };

/* Runs nvidia-smi; returns its lines, none if it fails. */
static struct names
ask(struct arena *a, const char *const *argv)
{
	const struct proc_spec spec = { .argv = argv, .timeout_s = TIMEOUT_S, .keep = OUTPUT_MAX };
	struct proc_result r;

	if (!proc_run(a, &spec, &r))
		return (struct names){ 0 };
	return names_split(a, buf_text(&r.out), '\n');
}

/* Returns the number at the start of a text; -1: "-", "N/A", "[Not Supported]". */
static int
number(const char *s)
{
	while (*s == ' ' || *s == '[')
		s++;
	return is_digit(*s) ? (int)strtol(s, NULL, 10) : -1;
}

/* Reads a line: NVIDIA H100 80GB HBM3, GPU-..., 550.54.15, 81559, 12, 9.0 */
static void
take_gpu(struct arena *a, const char *line, struct host_gpus *out)
{
	struct names w = names_split(a, line, ',');
	struct host_gpu gpu = { 0 };
	const char *dot;

	for (size_t i = 0; i < w.n; i++)
		w.at[i] += strspn(w.at[i], " ");
	if (w.n < 5)
		return;
	gpu.name = w.at[0];
	gpu.uuid = w.at[1];
	out->driver = w.at[2];
	gpu.mem_mib = number(w.at[3]) > 0 ? (size_t)number(w.at[3]) : 0;
	gpu.mem_used_mib = number(w.at[4]) > 0 ? (size_t)number(w.at[4]) : 0;
	dot = w.n > 5 ? strchr(w.at[5], '.') : NULL;
	if (dot) {
		gpu.major = (unsigned)strtoul(w.at[5], NULL, 10);
		gpu.minor = (unsigned)strtoul(dot + 1, NULL, 10);
	}
	list_push(a, &out->list, gpu);
}

const struct host_gpus *
smi_gpus(struct arena *a)
{
	/* An nvidia-smi without the last field prints no GPU. */
	static const char *const fields[] = {
		"--query-gpu=name,uuid,driver_version,memory.total,memory.used,compute_cap",
		"--query-gpu=name,uuid,driver_version,memory.total,memory.used"
	};
	struct host_gpus *g = arena_new_of(a, struct host_gpus);

	for (size_t k = 0; k < 2 && !g->list.n && proc_which(a, "nvidia-smi"); k++) {
		const char *const argv[] = { "nvidia-smi", fields[k],
					     "--format=csv,noheader,nounits", NULL };
		struct names lines = ask(a, argv);

		for (size_t i = 0; i < lines.n; i++)
			take_gpu(a, lines.at[i], g);
	}
	return g->list.n ? g : NULL;
}

/*
 *     # gpu         pid   type     sm    mem    enc    dec     fb   command
 *         0      12345     C      87     42      -      -  20480   python
 *
 * Newer drivers have more columns: the first line of the header names them.
 */
static void
take_processes(struct arena *a, const struct names *lines, size_t n, struct gpu_sample *out)
{
	size_t sm = 0, fb = 0;

	for (size_t i = 0; i < lines->n; i++) {
		struct names w = names_split(a, lines->at[i], ' ');
		struct gpu_use *u;
		int gpu = w.n ? number(w.at[0]) : -1, busy;

		/* Only the header contains the word "#". */
		for (size_t k = 1; w.n && !strcmp(w.at[0], "#") && k < w.n; k++) {
			sm = !strcmp(w.at[k], "sm") ? k - 1 : sm;
			fb = !strcmp(w.at[k], "fb") ? k - 1 : fb;
		}
		if (!sm || gpu < 0 || (size_t)gpu >= n || w.n <= sm || number(w.at[1]) <= 0)
			continue;
		busy = number(w.at[sm]);
		out[gpu].by_process = true;
		u = sample_use(a, &out[gpu], number(w.at[1]));
		u->busy = u->busy_mean = busy < 0 ? 0 : busy;
		u->listed = strchr(w.at[2], 'C');
		if (fb && w.n > fb && number(w.at[fb]) > 0)
			u->mem_mib = (size_t)number(w.at[fb]);
	}
}

void
smi_take(struct arena *a, const struct host_gpus *gpus, struct gpu_sample *out)
{
	static const char *const device[] = { "nvidia-smi",
					      "--query-gpu=utilization.gpu,memory.used",
					      "--format=csv,noheader,nounits", NULL };
	static const char *const users[] = { "nvidia-smi", "pmon", "-s", "um", "-c", "1", NULL };
	struct names lines = ask(a, device);
	size_t n = gpus->list.n;

	for (size_t i = 0; i < n; i++) {
		struct names w = names_split(a, i < lines.n ? lines.at[i] : "", ',');

		out[i] = (struct gpu_sample){ .busy = w.n > 1 ? number(w.at[0]) : -1 };
		if (w.n > 1 && number(w.at[1]) > 0)
			out[i].mem_mib = (size_t)number(w.at[1]);
	}
	lines = ask(a, users);
	take_processes(a, &lines, n, out);
}
