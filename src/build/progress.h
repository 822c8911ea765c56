#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/list.h"
#include "base/proc.h"
#include "render/render.h"

/*
 * What an engine prints, as events of the plan's steps; and the events as what a user sees:
 * live lines on a terminal, plain lines, or JSON lines.  The log has every line with its time.
 *
 *     engine's output --parser--> events --+--> struct progress (states, times) --> tty|plain|json
 *                                          +--> build.log
 */

enum step_state {
	STEP_WAITING,
	STEP_RUNNING,
	STEP_DONE,
	STEP_CACHED,
	STEP_STORE /* taken from the store */,
	STEP_FAILED,
	STEP_ENDED /* interrupted */
};

enum build_event_kind {
	EVENT_START,  /* an instruction of the step began */
	EVENT_LINE,   /* it printed text */
	EVENT_DONE,   /* it ended well; seconds is the engine's own figure, or -1 */
	EVENT_CACHED, /* nothing was to be done */
	EVENT_FAILED, /* status: exit status of the command, or -1; text: the engine's words */
	EVENT_OTHER   /* of no step: exporting, pushing, pulling the base */
};

struct build_event {
	enum build_event_kind kind;
	const char *step;                      /* or NULL */
	const struct instruction *instruction; /* or NULL */
	double seconds;
	int status;
	const char *text;
};
typedef void on_build_event(void *ctx, const struct build_event *e);

enum output_dialect { DIALECT_BUILDKIT, DIALECT_BUILDAH, DIALECT_SCRIPT, DIALECT_MODAL };

/* One parser a dialect: fed with lines as they come, it sends events. */
struct output_parser;
struct output_parser *output_parser_new(struct arena *a, enum output_dialect dialect,
					struct instructions of, on_build_event *on, void *ctx);
void output_parser_line(struct output_parser *p, enum proc_stream from, const char *line, size_t n);
/* The engine's output has ended: what is still open is told as ended. */
void output_parser_end(struct output_parser *p, int status);

enum progress_mode { PROGRESS_AUTO, PROGRESS_TTY, PROGRESS_PLAIN, PROGRESS_JSON, PROGRESS_QUIET };

struct progress_step { /* of the plan, in its order */
	const char *id;
	unsigned recipe_line;
	double estimate_s; /* from this host's earlier builds, else from the knowledge */
	/* filled in while it runs: */
	enum step_state state;
	double started_s, seconds; /* since the build's start; all of its instructions */
	size_t peak_mib;
	const char *note;      /* "from the store (sm_90, torch 2.11.0+cu130)" */
	const char *last_file; /* "causal_conv1d_bwd.cu": what is compiled now */
	int status;            /* of the command that failed */
	struct names tail;     /* its last lines that matter */
};

struct progress;
/*
 *   in   out: standard error; log: build.log, open, or NULL; head: the first line of the screen
 *   The progress is an on_build_event (ctx: the progress); progress_tick is called while it runs.
 */
struct progress *progress_new(struct arena *a, enum progress_mode mode, FILE *out, FILE *log,
			      struct progress_step *steps, size_t nsteps, const char *head,
			      const char *log_path);
void progress_event(void *ctx, const struct build_event *e);
void progress_tick(struct progress *p, double now_s);
/* What the orchestrator itself knows: a wheel came from the store, a step was measured. */
void progress_state(struct progress *p, const char *step, enum step_state state, const char *note);
/* The screen's end: live lines give way to the last state; closed stdout or a full disk: false. */
bool progress_end(struct progress *p);

/* --- the record --- */

struct build_record_step {
	const char *id;
	bool cached;
	const char *from; /* "compiled", "store", "cache", "built" */
	double seconds;
	size_t size_bytes, peak_mib; /* 0: not known */
	unsigned recipe_line;
	const char *key;
};
struct build_record_steps LIST(struct build_record_step);

struct build_record {
	const char *stack, *image, *image_id, *digest, *engine, *engine_version, *platform;
	const char *recipe_digest, *dockerfile_digest, *base_digest;
	const char *started; /* RFC 3339 */
	double seconds, cpu_s;
	size_t size_bytes;
	unsigned cpus;
	size_t mem_mib;
	struct build_record_steps steps;
	struct names wheels; /* "mamba_ssm-...whl sha256:... key" */
};

/* build.json: appears by rename, after fsync.  errors SB0406, false */
bool build_record_write(struct diags *ds, const char *path, const struct build_record *r);
/* Seconds of steps, by key or id, of an earlier build; false: there is none, or it is not readable. */
bool build_record_read(struct arena *a, const char *path, struct build_record *out);

#endif
