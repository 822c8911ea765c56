#ifndef VERIFY_PROBE_H
#define VERIFY_PROBE_H

#include "verify.h"

/*
 * What a probe says, as a proof.  Its lines start with a token that only we and it know: all else
 * that an image prints is noise.
 */
struct talk {
	struct arena *a;
	struct diags *ds;
	const struct plan *plan; /* or NULL */
	struct proof *proof;
	const char *token;
	const char *current; /* the check that runs; NULL: none has begun */
	bool answered, ended;
	const char *plan_error; /* an image's plan cannot be read: why */
	double began_s, now_s;
};

/* One line of its output. */
void talk_line(struct talk *t, const char *line, size_t n);

/* A problem of a check: a diagnostic at the line of the recipe that it is about. */
void problem_tell(struct talk *t, const char *check, const char *subject, const char *text,
		  const char *help);

/* The program and what it is to expect, as the text of its standard input. */
const char *probe_input(struct arena *a, struct diags *ds, const struct plan *p,
			const struct verify_options *o, const char *token, size_t *size);
/* What an interpreter is told to do with it: python -c ... verify. */
const char *probe_boot(void);

#endif
