#ifndef VERIFY_PROBE_H
#define VERIFY_PROBE_H

#include "verify.h"

/*
 * The probe protocol: turns the output of a probe into a proof. Its lines start with a secret
 * token; all other output of the image is ignored.
 */
struct probe_session {
	struct arena *a;
	struct diags *ds;
	const struct plan *plan; /* or NULL */
	struct proof *proof;
	const char *token;
	struct names expected; /* ids of the checks that must answer */
	const char *current;   /* the running check; NULL: none */
	bool answered, ended;
	bool failed;            /* a failure outside of the checks */
	const char *plan_error; /* why an image's plan cannot be read; or NULL */
	double began_s, now_s;
};

/* Reads one line of output. An invalid line with the token fails the running check, because a lost
 * result must not count as passed. */
void probe_line(struct probe_session *t, const char *line, size_t n);

/* Fails the running check; at_end: the probe itself has ended. */
void probe_fail(struct probe_session *t, bool at_end, const char *why, const char *help);

/* Returns the program and its expected values, as the text of its standard input. */
const char *probe_input(struct arena *a, struct diags *ds, const struct plan *p,
			const struct verify_options *o, const char *token, size_t *size);
/* The argument of `python -c` that runs the program. */
extern const char probe_boot[];

/* Returns the diagnostic code of a check. */
enum code proof_code(const char *check);

#endif
