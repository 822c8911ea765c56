#ifndef SCREEN_H
#define SCREEN_H

#include "base/mask.h"
#include "base/str.h"
#include "progress.h"

/* Shared by the files of the progress: its state, and the interface of a printer. */

enum { TAIL_BYTES = 240, TAIL_LINES = 8 /* that are told */, DETAIL_BYTES = 64, TIME_BYTES = 24 };

/* Lines that name a cause; that speak of an error; all. */
enum tail_rank { TAIL_ROOT, TAIL_ERROR, TAIL_RECENT, TAIL_RANKS };

struct tail_line {
	unsigned no; /* of the step's lines, from 1 */
	char text[TAIL_BYTES];
};

/* The last lines of a step that matter, kept as they come. */
struct tail {
	unsigned lines, n[TAIL_RANKS];
	struct tail_line kept[TAIL_RANKS][TAIL_LINES];
};

/* A step, in addition to progress.h. */
struct step_work {
	unsigned open;              /* instructions that run */
	double opened_s;            /* since when */
	bool announced;             /* the printer knows that it runs */
	bool built, hit;            /* an instruction was carried out; was found in the cache */
	bool shown;                 /* its end was shown */
	unsigned files_done, files; /* ninja's count; 0: none */
	char detail[DETAIL_BYTES];  /* its current action */
	bool compiles;              /* detail is a source file */
	struct tail *tail;          /* NULL: it printed nothing */
};

struct printer { /* a function may be NULL */
	void (*begin)(struct progress *p);
	/* A step started or ended, as its state shows. */
	void (*change)(struct progress *p, size_t step);
	/* Prints a line of output; without a step, step is p->nsteps. */
	void (*line)(struct progress *p, size_t step, double at_s, const char *text);
	void (*tick)(struct progress *p);
	void (*end)(struct progress *p);
};
extern const struct printer progress_tty, progress_plain, progress_json;

struct stream { /* out or log: until the first failure */
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
	double now_s;
	bool ended;
	size_t failed; /* the first; nsteps: none */
	struct stream out, log;
	struct buf to;            /* the output to write */
	struct buf say;           /* words on the way to it */
	char other[DETAIL_BYTES]; /* without a step: action of the engine */
	double other_s;           /* since when */
	struct mask *mask;
	struct tty *tty;
};

/* Writes and flushes; the first failure is kept, and nothing is written after it. */
void progress_write(struct stream *to, const char *text, size_t n);

/* "5:40", "1:02:10" */
const char *progress_time(char to[TIME_BYTES], double seconds);
/* Returns how long the step has taken so far. */
double progress_spent(const struct progress *p, size_t step);
/* Returns the text after a step's time: "exit 137", "failed", "from the store (...)", "cached". */
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
