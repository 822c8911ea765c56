#ifndef VERIFY_H
#define VERIFY_H

#include "base/buf.h"
#include "build/build.h"
#include "plan/plan.h"

/*
 * Tests an image or a virtual environment, the most basic properties first.  The probes are in
 * templates/verify/: one Python program that the environment itself runs, with the expected values
 * as JSON.  Each check prints its result at once as a JSON line, so a later hang or crash loses
 * nothing.
 */

enum proof_level { PROOF_NONE, PROOF_IMPORT, PROOF_COMPILE, PROOF_GPU };
enum proof_result { PROOF_PASSED, PROOF_FAILED, PROOF_NOT_RUN };

struct proof_check {
	/* "installed", "lock", "loads", "code", "versions", "imports", "fallback", "compile", "run",
	 * "numbers/mamba", "evidence" */
	const char *id;
	enum proof_result result;
	const char *why;     /* reason of a failure, or of a check that did not run; or NULL */
	const char *what;    /* the table's middle column: the tested objects, on one line */
	const char *figures; /* a JSON object on one line */
	double seconds;
};
struct proof_checks LIST(struct proof_check);

struct proof {
	const char *stack, *image, *image_digest, *recipe_digest, *engine;
	const char *lock_digest; /* digest of the lock file; NULL: no lock */
	const char *recipe;      /* path on the command line; NULL: an image without a recipe */
	const char *venv;        /* the directory, instead of an image; or NULL */
	const char *python;      /* "3.11.2" */
	const char *driver, *driver_cuda, *gpu; /* or NULL */
	const char *no_gpu;                     /* why nothing could run on a GPU; or NULL */
	double import_timeout_s, timeout_s, seconds;
	enum proof_result result;
	struct proof_checks checks;
};

struct verify_options {
	const struct engine *engine; /* NULL: venv */
	const struct engine_state *state;
	const char *image; /* either an image or */
	const char *venv;  /* a directory with bin/python */
	const char *recipe_path;
	double timeout_s; /* time limit of all probes together; 0: 1800 */
};

/*
 * verify_stack -- runs the probes.
 *
 *   in      p: NULL: an image that contains its plan, /opt/stackbuild/plan.json
 *   out     failures are in the proof, and diagnostics at the recipe's lines
 *   errors  SB0600 (it cannot be started), SB0601 (no plan in the image), SB0602 (interrupted):
 *           NULL; SB0603, SB061x: the proof says failed
 *   memory  lives in a
 */
const struct proof *verify_stack(struct arena *a, struct diags *ds, const struct plan *p,
				 const struct verify_options *o);

/* Returns true for a usable virtual environment.  errors SB0600 with the reason, false */
bool verify_venv(struct arena *a, struct diags *ds, const char *dir);

/* Prints the table. what: recipe or image in a command; path: of proof.json; app: a Modal app that
 * can run the checks, or NULL */
void proof_table(const struct proof *p, const char *what, const char *path, const char *app,
		 struct buf *out);
void proof_json(const struct proof *p, struct buf *out); /* docs/proof.schema.json */
void proof_junit(const struct proof *p, struct buf *out);

/*
 * proof_read -- reads a proof.json: digests, Python, GPU and driver, the result, and every check without
 * its figures.
 *
 *   out     false: it is not a proof.  A missing check of the plan counts as not run
 */
bool proof_read(struct arena *a, const struct plan *p, const char *text, size_t n,
		struct proof *out);

/* Returns the ids of the checks that apply to a plan, in their order; for NULL (an image contains
 * its plan), those that apply to every stack. */
struct names proof_expected(struct arena *a, const struct plan *p);
/* Returns the check of that id; NULL: the proof has none. */
const struct proof_check *proof_check_of(const struct proof *p, const char *id);
/* Adds missing checks as not run, with that reason, and sets the overall result, unless it is
 * already a failure; a failure counts more than `not run`. */
void proof_complete(struct arena *a, struct proof *p, const struct names *expected,
		    const char *why);
/* Parses "passed", "failed" or "not run"; another word returns false and means failed. */
bool proof_result_parse(const char *word, enum proof_result *out);

/* Returns the highest level up to which all checks passed. */
enum proof_level proof_proven(const struct proof *p);
extern const char *const proof_result_words[]; /* "passed", "failed", "not run" */
extern const char *const proof_level_words[];  /* "none", "import", "compile", "gpu" */

/* Returns the exit status: 0, all checks passed; 1, a failure; 3, no failure, but some checks could
 * not run. With `require`: 0 if all checks up to that level passed and nothing failed; 3 if a
 * required check could not run, or the stack has nothing to run on the required GPU. */
int proof_status(const struct proof *p, enum proof_level require);

#endif
