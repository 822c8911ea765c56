#ifndef VERIFY_H
#define VERIFY_H

#include "base/buf.h"
#include "build/build.h"
#include "plan/plan.h"

/*
 * Proven: what is true of an image (or a venv), most basic first.  The probes are
 * templates/verify/: one Python program that the environment itself runs, told by a JSON text what
 * to expect; each check answers with one JSON line as soon as it is known, so that a hang or a
 * crash later loses nothing.
 */

enum proof_level { PROOF_NONE, PROOF_IMPORT, PROOF_COMPILE, PROOF_GPU };
enum proof_result { PROOF_PASSED, PROOF_FAILED, PROOF_NOT_RUN };

struct proof_check {
	const char *
		id; /* "loads", "code", "versions", "imports", "compile", "run", "numbers/mamba-ssm", "evidence" */
	enum proof_result result;
	const char *why;     /* of a failure or of what was not run; or NULL */
	const char *what;    /* the table's middle: what was looked at, in a line */
	const char *figures; /* a JSON object */
	double seconds;
};
struct proof_checks LIST(struct proof_check);

struct proof {
	const char *stack, *image, *image_digest, *recipe_digest, *engine;
	const char *driver, *gpu; /* or NULL */
	enum proof_result result;
	struct proof_checks checks;
};

struct verify_options {
	const struct engine *engine; /* NULL: venv */
	const struct engine_state *state;
	const char *image; /* or */
	const char *venv;  /* a folder with bin/python */
	const char *out;   /* folder for proof.json and junit.xml */
	enum proof_level require;
	double timeout_s; /* of all probes together */
};

/* errors SB06xx; NULL: it could not even be started.  What fails is in the proof and a diagnostic. */
const struct proof *verify_stack(struct arena *a, struct diags *ds, const struct plan *p,
				 const struct verify_options *o);
void proof_table(const struct proof *p, struct buf *out);
void proof_json(const struct proof *p, struct buf *out); /* docs/proof.schema.json */
void proof_junit(const struct proof *p, struct buf *out);
/* 0 everything ran and passed; 1 a failure; 3 nothing failed but some could not run.  With
 * `require`: 0 if all up to that level passed and nothing failed, else 1 (3: what is demanded could not run). */
int proof_status(const struct proof *p, enum proof_level require);

#endif
