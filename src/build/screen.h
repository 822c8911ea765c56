#ifndef SCREEN_H
#define SCREEN_H

#include "base/mask.h"
#include "base/str.h"
#include "progress.h"

/* Shared by the files of the progress: its state, and the interface of a printer. */

enum {
	TAIL_BYTES = 240,
	TAIL_LINES = 8 /* lines of a failed step that are shown */,
	DETAIL_BYTES = 64,
	TIME_BYTES = 24
};

/* Ranks of lines: those that name a cause, those with an error, and all others. */
enum tail_rank { TAIL_ROOT, TAIL_ERROR, TAIL_RECENT, TAIL_RANKS };

struct tail_line {
	unsigned no; /* number of the line in its step, from 1 */
	char text[TAIL_BYTES];
};

/* The relevant last lines of a step. */
struct tail {
	unsigned lines, n[TAIL_RANKS];
	struct tail_line kept[TAIL_RANKS][TAIL_LINES];
};

/* A step, in addition to progress.h. */
struct step_work {
	unsigned open;              /* number of running instructions */
	double opened_s;            /* start of the first one */
	bool announced;             /* the printer has reported its start */
	bool built, hit;            /* an instruction ran; an instruction was cached */
	bool shown;                 /* the printer has reported its end */
	unsigned files_done, files; /* ninja's count; 0: none */
	char detail[DETAIL_BYTES];  /* its current action */
	bool compiles;              /* detail is a source file */
	struct tail *tail;          /* NULL: it printed nothing */
};

struct printer { /* each function may be NULL */
	void (*begin)(struct progress *p);
	/* Reports that a step started or ended; see its state. */
	void (*change)(struct progress *p, size_t step);
	/* Prints a line of output; without a step, step is p->nsteps. */
	void (*line)(struct progress *p, size_t step, double at_s, const char *text);
	void (*tick)(struct progress *p);
	void (*end)(struct progress *p);
};
extern const struct printer progress_tty, progress_plain, progress_json;

struct stream { /* screen or log, written up to the first failure */
	FILE *f;
	int error; /* errno */
	const char *name;
};

struct progress {
	struct arena *a;
	struct progress_options o;
	struct progress_step *steps;
	struct step_work *work;
	size_t nsteps, id_width;
	const struct printer *printer;
	double now_s, said_s; /* now; the last line of the plain form */
	bool ended;
	size_t failed; /* the first failed step failed step; nsteps: none */
	struct stream out, log;
	struct buf to;            /* the output to write */
	struct buf say;           /* buffer for a part of it */
	char other[DETAIL_BYTES]; /* action of the engine outside of all steps */
	double other_s;           /* its start */
	struct mask *mask;
	struct tty *tty;
};

/* Writes and flushes; after the first failure, which it records, it writes nothing. */
void progress_write(struct stream *to, const char *text, size_t n);

/* Writes "5:40" or "1:02:10". */
const char *progress_time(char to[TIME_BYTES], double seconds);
/* Returns how long the step has taken so far. */
double progress_spent(const struct progress *p, size_t step);
/* Writes the text after a step's time: "exit 137", "failed", "from the store (...)", "cached". */
void progress_outcome(const struct progress *p, size_t step, struct buf *out);

/* Returns an estimate of the remaining seconds; negative: unknown. */
double progress_remaining(const struct progress *p);
/* Returns the factor for estimates on this host, from the finished steps: 1/4 to 4. */
double progress_pace(const struct progress *p);

/* --- progress_tail.c --- */

void tail_add(struct arena *a, struct step_work *w, const char *text);
struct names tail_lines(struct arena *a, const struct tail *t);
/* Parses the current action from a line: a compiled file, a download. */
void tail_detail(struct step_work *w, const char *text);

#endif
