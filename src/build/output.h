#ifndef OUTPUT_H
#define OUTPUT_H

#include <stdint.h>

#include "base/map.h"
#include "base/str.h"
#include "progress.h"

/*
 * The parsers, one file for each dialect.  Each one takes a line without control characters and
 * reports events; its state is bounded and part of the parser.
 */
enum { VERTICES_MAX = 4096, NO_VERTEX = VERTICES_MAX, STATUS_UNKNOWN = -1 };

/* A vertex, which BuildKit shows as #N. */
struct vertex {
	const struct instruction *of; /* or NULL: not an instruction of the Dockerfile */
	bool known, open;             /* its first line has arrived; it has not ended */
	bool image; /* shown as [stage i/n]: an instruction of a Dockerfile, perhaps another one */
};

/* A stage, which buildah shows as [s/n]. */
struct stage {
	const struct instruction *now; /* NULL: not an instruction of the Dockerfile */
	bool open, started, cached;    /* started: it no longer waits for another stage */
	bool complete;                 /* its last instruction has ended */
	bool at_last;                  /* the open instruction is the last one */
	unsigned opened;               /* order of opening: a larger number is later */
	struct buf text;               /* the beginning of the open instruction */
};

struct output_parser {
	struct arena *a;
	enum output_dialect dialect;
	struct instructions of;
	const bool *last; /* parallel to `of`: is it the last instruction of its step? */
	on_build_event *on;
	void *ctx;
	struct buf line, clean; /* the safe line, and a buffer for making it */

	/* BuildKit */
	struct vertex *vertices; /* VERTICES_MAX */
	unsigned current;        /* vertex of lines without a number; or NO_VERTEX */
	unsigned failed; /* failed vertex whose exit status is still unknown; or NO_VERTEX */
	struct buf failed_text;

	/* buildah: one open instruction for each stage; most wait for another stage */
	struct stage *stages;
	size_t nstages;
	unsigned opened; /* counts openings */

	/* script */
	struct buf step; /* id of the running instruction; empty: none */

	bool told; /* buildah, script: has reported a failure */
};

void output_buildkit(struct output_parser *p, enum proc_stream from, const char *line);
void output_buildkit_end(struct output_parser *p, int status);
void output_buildah(struct output_parser *p, enum proc_stream from, const char *line);
void output_buildah_end(struct output_parser *p, int status);

/* Reports an event of an instruction (or OTHER, without one). */
void output_tell(struct output_parser *p, enum build_event_kind kind, const struct instruction *of,
		 double seconds, int status, const char *text);
/* Parses seconds at *s, "12.345", and moves *s after them; at most a year. */
bool output_seconds(const char **s, double *out);
/* Returns the number after the last `words` in a text, or STATUS_UNKNOWN. */
int output_status(const char *text, const char *words);

#endif
