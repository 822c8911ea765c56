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

/* What BuildKit calls #N. */
struct vertex {
	const struct instruction *of; /* or NULL: not an instruction of the Dockerfile */
	bool known, open;             /* its first line was seen; it has not ended */
	bool image; /* [stage i/n]: of the Dockerfile, though perhaps not of ours */
};

/* What buildah calls [s/n]. */
struct stage {
	const struct instruction *now; /* or NULL: nothing of the table */
	bool open, started, cached;    /* started: it waits for no other stage any more */
	bool complete;                 /* its last instruction has ended */
	bool at_last;                  /* the open one is the last */
	unsigned opened;               /* when: the larger the later */
	struct buf text;               /* of the open one, the beginning */
};

struct output_parser {
	struct arena *a;
	enum output_dialect dialect;
	struct instructions of;
	const bool *last; /* with `of`: the last instruction of its step */
	on_build_event *on;
	void *ctx;
	struct buf line, clean; /* the inert line, and on the way to it */

	/* BuildKit */
	struct vertex *vertices; /* VERTICES_MAX */
	unsigned current;        /* of the lines that have no number; NO_VERTEX */
	unsigned failed;         /* failed, its exit status not yet known; NO_VERTEX */
	struct buf failed_text;

	/* buildah: one open instruction a stage, most of them waiting for another stage */
	struct stage *stages;
	size_t nstages;
	unsigned opened; /* counts openings */

	/* script */
	struct buf step; /* id of the running instruction; empty: none */

	bool told; /* buildah, script: that something failed */
};

void output_buildkit(struct output_parser *p, enum proc_stream from, const char *line);
void output_buildkit_end(struct output_parser *p, int status);
void output_buildah(struct output_parser *p, enum proc_stream from, const char *line);
void output_buildah_end(struct output_parser *p, int status);

/* Reports an event of an instruction (or OTHER, without one). */
void output_tell(struct output_parser *p, enum build_event_kind kind, const struct instruction *of,
		 double seconds, int status, const char *text);
/* Parses seconds at *s, "12.345", and moves *s behind them; bounded to a year. */
bool output_seconds(const char **s, double *out);
/* Returns the number behind the last `words` in a text; STATUS_UNKNOWN. */
int output_status(const char *text, const char *words);

#endif
