#ifndef WATCH_H
#define WATCH_H

#include "base/proc.h"
#include "host/host.h"

/* Runs a command unchanged, and records its use of the GPUs. */

/* --- the command --- */

struct job_spec {
	const char *const *argv; /* ends with NULL */
	const char *const *env;  /* "NAME=value" sets; ends with NULL; or NULL */
	bool tee; /* standard output and error pass through this process, unchanged */
	/* With tee: gets bytes as they arrive; now_s counts from the start. */
	void (*output)(void *ctx, enum proc_stream from, const char *bytes, size_t n, double now_s);
	/* Called again within the returned number of seconds, or when the helper has sent something. */
	double (*tick)(void *ctx, double now_s);
	void *ctx;
	const struct proc_helper *helper; /* does not count as a process of the command */
};

struct job_end {
	int error;  /* errno of the failed start; otherwise 0 */
	int status; /* exit status; 128 + signal */
	int signal; /* signal that ended it; 0: none */
	double seconds;
	pid_t pid;
	unsigned left; /* number of its processes that continue */
	int lost[2];   /* with tee: errno of the first lost byte of each stream; 0: none is lost */
};

/*
 * job_run -- runs a command to its end.
 *
 *   in      spec
 *   out     *end
 *   memory  lives in a
 *
 * The command has its own process group. If this process leads the foreground job of a terminal,
 * the command's group takes the terminal over; a stop of the command (Ctrl-Z) stops this process
 * too, and `fg` continues both. In a pipeline or a script on a terminal, the command stays in this
 * process's group. Signals that this process gets are sent to the command's group. Orphans become
 * children of this process, which does not end them.
 *
 * With tee, a reader that does not read delays the command as a pipe does, but not its signals. If
 * it has exited, the command gets SIGPIPE. If output cannot be written for another reason, as on a
 * full device, the command goes on.
 */
void job_run(struct arena *a, const struct job_spec *spec, struct job_end *end);

/* --- the use of the GPUs --- */

enum verdict { VERDICT_UNKNOWN, VERDICT_UNUSED, VERDICT_USED };

/* A span of time on one GPU: the plot has at most POINTS_MAX of them. */
struct use_point {
	double from_s, to_s;
	double busy; /* mean in per cent; -1: unknown */
	double mem_mib;
};

enum { POINTS_MAX = 480 };

struct use_process {
	int pid;
	const char *name;
	int busy_peak; /* per cent; -1: unknown */
	size_t mem_peak_mib;
};

struct use_gpu {
	const struct host_gpu *gpu;
	enum verdict verdict;
	bool by_time;        /* counts as the command's, because there were no other processes */
	double busy_mean;    /* per cent of the run; -1: unknown */
	int busy_peak;       /* -1: unknown */
	double mem_mean_mib; /* memory of the command, or the increase since its start */
	size_t mem_peak_mib;
	struct use_processes LIST(struct use_process) processes;
	struct names present; /* earlier processes: "python (PID 7), 900 MiB" */
	struct names others;  /* other processes that used it: "python (PID 7)" */
	struct use_points LIST(struct use_point) points;
};

struct use {
	enum verdict verdict;
	const char *why;    /* reason for "not used" and "unknown"; otherwise NULL */
	const char *source; /* "NVML"; NULL: none */
	const char *command;
	struct job_end end;
	struct use_gpus LIST(struct use_gpu) gpus;
	struct names notes; /* sentences */
	double sampler_cpu_s;
	unsigned samples;
};

struct watch;

/*
 * watch_new -- starts the process that samples, and takes the first sample before the command starts
 * if the driver answers within 3 s.
 *
 *   memory lives in a; its size does not depend on the run time
 */
struct watch *watch_new(struct arena *a);
/* Returns the process that samples, for job_spec. */
const struct proc_helper *watch_helper(const struct watch *w);
/*
 * Takes the sample that has arrived; if the next one is due, asks for it and looks at the processes.
 * Returns the seconds until the next one is due. Never waits for the driver.
 */
double watch_tick(struct watch *w, double now_s);
/* Takes the last sample, for at most 6 s, ends the process that samples, and makes the verdict. */
const struct use *watch_end(struct watch *w, const struct job_end *end, const char *const *argv);

/* Writes the driver, the GPUs and their processes before the command starts. */
void watch_block(const struct watch *w, struct buf *out);

/* --- output --- */

/* Writes the verdict as a screen; plot: with a line of bars for each GPU. */
void use_text(struct arena *a, const struct use *u, bool plot, struct buf *out);
/*
 * Writes lines so that they are safe on a terminal: names of processes may contain any character.
 */
void inert_lines(struct arena *a, const char *text, struct buf *out);
void use_json(const struct use *u, struct buf *out);
/* Writes a picture of the run, with the JSON as its metadata. */
void use_svg(struct arena *a, const struct use *u, struct buf *out);

/* Writes the memory (an area) and the utilisation (a line) of one GPU as SVG elements of the classes
 * `memory` and `busy`. */
struct use_box {
	int left, top, width, height; /* in units of the picture */
};
void use_plot(const struct use *u, const struct use_gpu *g, struct use_box box, struct buf *out);

/*
 * use_read -- reads the output of use_json or use_svg, for use_text and use_plot.
 *
 *   out     false: the text is neither
 *   memory  lives in a
 */
bool use_read(struct arena *a, const char *text, size_t n, struct use *out);

/* --- Python programs --- */

/*
 * python_block -- writes the devices that torch sees in the Python of a command, and the result of
 * a computation on the GPU, which runs in a child for at most 120 s.
 *
 *   out   false: torch cannot be imported, CUDA is not available, or the computation failed
 */
bool python_block(struct arena *a, const char *const *argv, struct buf *out);

/*
 * trace_hook -- prepares the trace of torch in every Python process of a command.
 *
 *   in      many: "3" steps or "10s"; out: the directory of the traces
 *   out     a temporary directory for trace_said, and variables of the command's environment in *env
 *   errors  SB0406, NULL
 */
const char *trace_hook(struct arena *a, struct diags *ds, const char *many, const char *out,
		       struct names *env);
/* Writes the summaries of the traces, and removes the directory; false: nothing was traced. */
bool trace_said(struct arena *a, struct diags *ds, const char *dir, struct buf *out);

/* --- the pace --- */

struct pace;

/*
 * pace_new -- follows progress in a command's output: counters such as "12/1000".
 *
 *   in   limit_s: 0: none; usd_per_hour: 0: unknown; price: GPUs in the price, "2 x H100"
 */
struct pace *pace_new(struct arena *a, double limit_s, double usd_per_hour, const char *price);
void pace_feed(struct pace *p, enum proc_stream from, const char *bytes, size_t n, double now_s);
/* Returns the warning SB0903 once, as soon as the pace is too slow; otherwise NULL. */
const char *pace_warning(struct pace *p, double now_s);
/* Returns the cost of a number of seconds as a sentence; NULL: unknown price. */
const char *pace_cost(const struct pace *p, double seconds);

#endif
