#ifndef DIAGNOSE_INTERNAL_H
#define DIAGNOSE_INTERNAL_H

#include "base/pattern.h"
#include "diagnose.h"
#include "literals.h"

enum {
	BEFORE = 64 * 1024, /* bytes kept before the searched text */
	CHUNK = 1024 * 1024,
	AHEAD = 64 * 1024,     /* bytes that a search may read after a place */
	LINE_BYTES = 4 * 1024, /* bytes of a line on each side of a literal */
	PLAIN_BYTES = 16 * LINE_BYTES,
	/*
	 * Limits of the work of patterns, in steps of pattern_find_within(). A search costs at least one
	 * for each SCANNED bytes of its text. Each MiB of the log allows more, so that a log of any size
	 * is searched to its end.
	 */
	SCANNED = 16,
	SEARCH_STEPS = 20 * 1000,      /* of one search */
	SIGNATURE_STEPS = 200 * 1000,  /* of a signature's searches in each MiB */
	MIB_STEPS = 1500 * 1000,       /* of all searches in each MiB */
	LOG_STEPS = 25 * 1000 * 1000,  /* of all searches */
	JUDGE_STEPS = 5 * 1000 * 1000, /* of the searches at the end */
	FATAL_STEPS = 500 * 1000,      /* of the search for the block that ended the program */
	HASTE_AFTER = 4000,            /* searched bytes; then a pattern becomes machine code */
	LINES_MAX = 3,                 /* maximum lines that show a cause */
	WARNINGS_MAX = 16,             /* lines of a signature that may be recognised as warnings */
};

struct indexes LIST(uint16_t);

/* A pattern, and the number of bytes that it has searched. */
struct matcher {
	struct pattern *pattern;
	unsigned long long bytes;
};

/* The matches of one signature so far. */
struct seen {
	struct matcher matcher;               /* compiled when its literal is first found */
	unsigned long long steps;             /* in this MiB of the log */
	unsigned long long bytes;             /* searched in the log */
	unsigned long long tried_to;          /* offset in the log: earlier lines were compared */
	unsigned long long record;            /* offset of the progress record with tried_to */
	size_t count;                         /* number of matching lines; 0 after it was undone */
	unsigned long long first_at, last_at; /* offsets in the log */
	bool failed;                          /* a line that shows it is no warning */
	unsigned checked;                     /* lines that were compared with the mark `warning` */
	struct log_line lines[LINES_MAX];
	char *texts;           /* (LINES_MAX + PATTERN_GROUPS) * (LOG_LINE_MAX + 1) bytes */
	struct indexes undoes; /* for a mark: the signatures that it undoes */
};

/* The decoder of terminal colours: its state in an escape sequence (ECMA-48). */
struct escapes {
	enum { PLAIN, ESCAPE, CSI, OSC } state;
	unsigned n; /* bytes of the sequence so far */
};

struct diagnosis {
	struct arena *a;
	const struct facts *f;
	const struct signature *signatures;
	size_t n;
	struct seen *seen; /* indexed by signature */
	struct literals *literals;
	struct indexes *users; /* signatures with a literal, by the index of the literal */
	struct matcher calm;   /* the mark `calm`: families ignore its lines; or NULL */
	struct matcher aside;  /* the mark `aside`: no signature counts its lines; or NULL */
	/* The marks that find the end of the program (fatal.c); or NULL. */
	struct matcher exception, wrapper, warning;
	unsigned long long steps, all_steps; /* taken in this MiB, and in all */

	char *p;                   /* BEFORE + CHUNK + AHEAD bytes */
	size_t size;               /* bytes in p */
	size_t done;               /* searched bytes in p */
	unsigned long long offset; /* offset of p[0] in the log */
	unsigned long long line;   /* number of the line with p[counted] */
	size_t counted;
	struct escapes escapes;
	unsigned long long record_to; /* end of the decoded progress records, as an offset */
	unsigned long long text_to;   /* end of the text outside progress records, as an offset */
	char *plain;                  /* PLAIN_BYTES: a line with plain quotes and line ends */
	char *decoded;                /* AHEAD bytes: the text of one record */
};

/* Removes colours and other escape sequences in place; returns the remaining number of bytes. */
size_t escapes_strip(struct escapes *e, char *p, size_t n);

/* Writes the text of a progress record (a line of JSON) to out; at most n bytes, never more than the
 * line has.  Returns their number. */
size_t record_decode(struct str line, char *out);

/*
 * Returns the bytes of the line around p[at]: at most LINE_BYTES on each side, and `more` lines
 * after it.
 */
struct str line_round(const char *p, size_t n, size_t at, size_t bytes, unsigned more);

/*
 * Searches a text, within SEARCH_STEPS and the steps that remain of *max, from which it subtracts the
 * steps taken. A pattern that is used much becomes machine code.
 */
bool find_within(struct matcher *m, struct str s, struct str *groups, unsigned long long *max);

/* Returns true if the line s of the text p is source code below a frame of a traceback. */
bool is_code(const char *p, struct str s);

/*
 * Returns the offset in the log of the traceback that ended the program; 0: it did not end with one,
 * or the traceback only repeats that another program failed.
 */
unsigned long long fatal_block(struct diagnosis *d);

/* Compiles the words by which a line looks like an error. */
struct pattern *errors_pattern(void);

/* Returns the length of the name: "numpy" of "numpy<2" and "numpy==1.26.4". */
size_t requirement_name(const char *requirement);

/* Adds the change of the recipe (its root) that compiles the extension of a cause. */
void rebuild_help(struct arena *a, struct diag *d, const struct node *root, const struct cause *c);

/* Returns the extension whose module lacks a symbol, and the torch of its wheel, or NULL for both. */
const struct extension *known_rebuild(struct arena *a, const struct facts *f,
				      const struct signature *s, const char *const *groups,
				      const char **torch);

/*
 * known_fix -- writes the fix of a signature for the extension that the log names.
 *
 *   in   groups: texts of the pattern's groups
 *   out  NULL: the knowledge base has no such extension, or the signature no such fix
 */
const char *known_fix(struct arena *a, const struct facts *f, const struct signature *s,
		      const char *const *groups);

/* Selects the causes among the signatures that matched. */
struct causes *judge(struct diagnosis *d);

#endif
