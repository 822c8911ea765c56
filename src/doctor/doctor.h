#ifndef DOCTOR_H
#define DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/list.h"
#include "facts/facts.h"
#include "resolve/resolve.h"

/*
 * Examines this host for work with CUDA and torch. Every finding has its evidence, the consequence
 * and a fix.
 */

enum finding_level { FINDING_WARNING, FINDING_ERROR };

struct host_finding {
	enum finding_level level;
	const char *id;          /* "venv-on-windows-drive" */
	const char *evidence;    /* the value, and its source */
	const char *consequence; /* the consequence */
	const char *fix;         /* the fix */
};
struct host_findings LIST(struct host_finding);

struct doctor_options {
	/* "" for this host; otherwise a directory with the proc/, sys/, dev/ and etc/ of another
	 * host, with its variables in proc/self/environ and its date in proc/driver/rtc. */
	const char *root;
	const struct facts *facts;
	struct doctor_stacks LIST(
		const struct stack *) stacks; /* stacks of the cells of --recipe */
	const char *venv;                     /* directory of --python, or NULL */
	double import_s;                      /* time limit of each import, seconds */
};

struct checkup {
	const char *head;  /* "Debian GNU/Linux 12, kernel 6.1.0, NVIDIA H100, driver 550.54.15" */
	struct names fine; /* checks without a problem */
	struct host_findings all; /* errors first */
	size_t errors;
};

/*
 * doctor_check -- examines the host.
 *
 *   in      starts nvidia-smi, df, gcc, nvcc, the clients of engines and the Python of `venv`, each
 *           under a time limit
 *   errors  none: a check without a readable value is skipped
 *   memory  lives in a
 */
const struct checkup *doctor_check(struct arena *a, const struct doctor_options *o);

/* Writes the result as text, or as JSON (docs/doctor.schema.json). */
void doctor_text(const struct checkup *c, struct buf *out);
void doctor_json(const struct checkup *c, struct buf *out);

/* What the caller adds to a help bundle. */
struct help_input {
	struct names hidden;   /* names of variables that the recipe lists under `secrets:` */
	const char *log;       /* the end of a log, or NULL */
	const char *diagnosis; /* what `diagnose` finds in it, or NULL */
};

/*
 * doctor_report -- writes the help bundle, a tar archive compressed with zstd.
 *
 *   in      path: replaced atomically
 *   out     *listed: a line for each member, as in the first member, MANIFEST.txt
 *   errors  SB0406, false
 */
bool doctor_report(struct arena *a, struct diags *ds, const struct doctor_options *o,
		   const struct checkup *c, const char *path, const struct help_input *in,
		   struct names *listed);

#endif
