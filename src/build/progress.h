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
 * Turns the output of an engine into events of the plan's steps, and shows these to the user:
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
	STEP_STORE /* its wheel came from the store */,
	STEP_FAILED,
	STEP_ENDED /* interrupted */
};

enum build_event_kind {
	EVENT_START,  /* an instruction of the step began */
	EVENT_LINE,   /* it printed text */
	EVENT_DONE,   /* it succeeded; seconds is the engine's value, or -1 */
	EVENT_CACHED, /* it was cached */
	EVENT_FAILED, /* it failed; status: exit status or -1; text: the engine's message */
	EVENT_OTHER,  /* not part of a step: exporting, pushing, pulling the base */
	EVENT_ENDED   /* it was stopped by the user, or after another failure */
};

/*
 * Texts are inert (no control characters, no escape sequences, UTF-8) and live as long as the call
 * of on_build_event. seconds: for DONE the engine's value, for LINE since the instruction began;
 * -1: unknown, use the time of arrival.
 */
struct build_event {
	enum build_event_kind kind;
	const char *step;                      /* or NULL */
	const struct instruction *instruction; /* or NULL */
	double seconds;
	int status;
	const char *text;
	bool last; /* for DONE and CACHED: it completes the step */
};
typedef void on_build_event(void *ctx, const struct build_event *e);

enum output_dialect { DIALECT_BUILDKIT, DIALECT_BUILDAH, DIALECT_SCRIPT, DIALECT_MODAL };

/* A parser for a dialect: it takes lines as they arrive, and sends events. */
struct output_parser;
struct output_parser *output_parser_new(struct arena *a, enum output_dialect dialect,
					struct instructions of, on_build_event *on, void *ctx);
void output_parser_line(struct output_parser *p, enum proc_stream from, const char *line, size_t n);
/*
 * Ends the engine's output. status: its exit status, or -1 if stackbuild ended it (Ctrl-C, the time
 * limit). Reports open instructions: done for status 0; failed if the engine runs one instruction
 * at a time and reports no other failure; else ended.
 */
void output_parser_end(struct output_parser *p, int status);

enum progress_mode { PROGRESS_AUTO, PROGRESS_TTY, PROGRESS_PLAIN, PROGRESS_JSON, PROGRESS_QUIET };

struct progress_step { /* a step of the plan, in the plan's order */
	const char *id;
	unsigned recipe_line;
	double estimate_s; /* from earlier builds, or from the knowledge base; 0: none */
	const char *lane;  /* steps of a lane run one after another, lanes in parallel */
	/* set while the step runs: */
	enum step_state state;
	double seconds;    /* total time of its instructions */
	double start_s;    /* start of the first one, since the build's start; -1: not yet */
	size_t peak_mib;   /* highest memory use so far */
	bool partly;       /* only some of its instructions were cached */
	const char *note;  /* "from the store (sm_90, torch 2.11.0+cu130)" */
	int status;        /* exit status of the failed command; -1: unknown */
	struct names tail; /* relevant last lines of a failed step, at most 8 */
};

struct progress;
struct progress_options {
	enum progress_mode mode; /* AUTO: TTY on a terminal, otherwise PLAIN */
	FILE *out;               /* standard error */
	FILE *log;               /* build.log, which progress_end closes; or NULL */
	const char *head;        /* the first line of the screen; or NULL */
	const char *log_path;    /* for display; or NULL */
	bool colour;
	/* Secret values, which become *** in log and screen. Each line of at least SECRET_MIN bytes
	 * is masked, and so are credentials in URLs. */
	struct names masked;
	unsigned columns, rows; /* size of the terminal; 0: read it for each frame */
};

/*
 * progress_new -- shows and logs a build.
 *
 *   in steps: updated during the build; they and the options' texts outlive it
 *   out     an on_build_event (progress_event, with the progress as ctx)
 *   memory  in a, bounded: independent of the length of the output
 *
 * Times are those of the build: progress_tick sets the current time, and is called before the first
 * event and at least every 100 ms.
 */
struct progress *progress_new(struct arena *a, const struct progress_options *o,
			      struct progress_step *steps, size_t nsteps);
void progress_event(void *ctx, const struct build_event *e);
void progress_tick(struct progress *p, double now_s);
/*
 * Records that the wheel of a step came from the store; the screen shows this when it is installed.
 */
void progress_stored(struct progress *p, const char *step, const char *note);
/*
 * Completes a step after a successful call of the engine: its other instructions are in stages
 * outside the call.
 */
void progress_complete(struct progress *p, const char *step);
/*
 * Ends the screen: the last state replaces the live lines, and running steps are reported as ended.
 * False: the output or the log could not be written (closed, disk full); *why says which and
 * what (may be NULL).  Safe to call twice.
 */
bool progress_end(struct progress *p, const char **why);

/*
 * Returns true if a step failed because a download broke off: the next call of the engine repeats
 * it.
 */
bool progress_retry(struct progress *p);

/* Returns a text without secrets, valid until the next call. */
const char *progress_masked(struct progress *p, const char *text);

/*
 * Returns the first step that failed; NULL: none did.
 *
 *   out     *why: "the process was killed: most likely, memory ran out"; *help: the fix; or NULL
 */
const struct progress_step *progress_failed(struct progress *p, const char **why,
					    const char **help);

/* --- the record --- */

struct build_record_step {
	const char *id;
	bool cached;
	const char *from; /* "compiled", "store", "cache", "built"; NULL: not finished */
	double start_s;   /* since the build's start; -1: it did not run, or unknown */
	double seconds;
	size_t peak_mib; /* 0: unknown */
	unsigned recipe_line;
	const char *key, *own; /* keys of the plan */
	const char *commit;    /* commit of an extension from git; or NULL */
	bool partly;           /* a part was cached: seconds are not its full cost */
	double measured_s;     /* time of its last complete run; 0: unknown */
};
struct build_record_steps LIST(struct build_record_step);

struct build_record {
	const char *stack, *image, *image_id, *digest, *engine, *engine_version, *platform;
	const char *recipe_digest, *dockerfile_digest, *base_digest;
	const char *lock_digest; /* NULL: built without a lock */
	const char *started;     /* RFC 3339 */
	double seconds, cpu_s;
	size_t size_bytes;
	unsigned cpus;
	size_t mem_mib;
	struct build_record_steps steps;
	struct names wheels; /* "mamba_ssm-...whl sha256:... key" */
	/*
	 * For a failed build: the code and text of the error, the step (or NULL) with its exit
	 * status (-1: unknown), and the relevant lines of the log.
	 */
	const char *code, *error, *failed_step;
	int failed_status;
	struct names log;
};

/*
 * build_record_write -- writes build.json (docs/build.md) by rename, after fsync.
 *
 *   in      a step's measured_s may be 0: it becomes the step's seconds if the step ran completely,
 *           otherwise the value of the existing record
 *   errors  SB0406, false
 */
bool build_record_write(struct diags *ds, const char *path, const struct build_record *r);
/* Reads the parts that the next build, publish and report need; measured_s as the file has it.  Returns false if
 * the file does not exist or is not a record; neither is an error. */
bool build_record_read(struct arena *a, const char *path, struct build_record *out);
/* Returns the time of a step by its key, or by its own key; 0: unknown. */
double build_record_measured(const struct build_record *r, const char *key, const char *own);

#endif
