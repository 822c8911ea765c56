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
	/* Limit of a pattern's work: 60,000 lines of 130 bytes, or 28 lines of 8 KiB, for which a
	 * match takes longest. */
	WORK_MAX = 15 * 1000 * 1000,
	LINES_MAX = 3, /* maximum lines that show a cause */
};

struct indexes LIST(uint16_t);

/* The matches of one signature so far. */
struct seen {
	struct pattern *pattern;              /* compiled when its literal is first found */
	unsigned long long work;              /* number of searched bytes; long lines count more */
	unsigned long long tried_to;          /* offset in the log: earlier lines were compared */
	size_t count;                         /* number of matching lines; 0 after it was undone */
	unsigned long long first_at, last_at; /* offsets in the log */
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
	const struct signature *signatures;
	size_t n;
	struct seen *seen; /* indexed by signature */
	struct literals *literals;
	struct indexes *users; /* signatures with a literal, by the index of the literal */
	struct pattern *calm;  /* the mark `calm`: families ignore its lines; or NULL */
	struct pattern *aside; /* the mark `aside`: no signature counts its lines; or NULL */

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

/* Selects the causes among the signatures that matched. */
struct causes *judge(const struct diagnosis *d);

#endif
