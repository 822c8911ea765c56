#ifndef WORK_H
#define WORK_H

#include "build.h"

/* Private to build/: one build while it runs, and the parts that it is made of. */
struct work {
	struct arena *a;
	struct diags *ds;
	const struct plan *plan;
	const struct templates *templates;
	const struct build_options *o;
	struct build_record *record; /* filled in as things become known */

	const char *dir;           /* out/STACK/.build, while this process has its lock */
	const char *context;       /* dir/context: app/, stackbuild/, .stackbuild/wheels/ */
	const char *app;           /* dir/context/app: the files of app.copy */
	const char *dockerfile;    /* dir/Dockerfile */
	const char *secrets;       /* a directory of secrets, readable only by this user; or NULL */
	int lock;                  /* descriptor, or -1 */
	struct names secret_files; /* "NAME=FILE" */
	struct names masked;       /* their values */

	struct progress *progress;
	struct progress_step *steps;
	FILE *log;
	double began_s; /* of the monotonic clock */
	bool preparing; /* the call that only reads the inputs of wheels */

	struct render_build hits; /* contents of the context */
	struct wanted_wheels LIST(struct wanted_wheel) wanted;
	struct instructions instructions; /* of the file that the engine reads */
	unsigned retries;                 /* after broken downloads */
	const char *pushing;              /* the reference being pushed, or NULL */
};

/* An extension that is compiled, for which stores are searched, or one that is downloaded as a
 * wheel.  Either wheel is checked before an image is made of it. */
struct wanted_wheel {
	const struct step *step;
	bool prebuilt; /* downloaded */
	struct store_want want;
	const char *inputs, *key; /* once they are known */
	const char *got;          /* the store's name, if it had it */
	const char *file, *put;   /* the wheel; "NAME.whl sha256:HEX" */
};

/*
 * Returns how long a compile may take on this machine: it runs as many jobs as there are cores and
 * memory, as templates/compile.py chooses them.  cores: those that cost_s is for; 0: the same
 * everywhere.
 */
double compile_estimate(const struct build_machine *m, double cost_s, double cores,
			unsigned memory_mib);

/*
 * work_open -- the directory of a build, locked and empty, with the application's files in the
 * context (hard links where the file system allows).
 *
 *   errors  SB0508: another build of the stack is running; SB0510: a file could not be copied; false
 */
bool work_open(struct work *w);
/* Removes everything that is not for the user, and releases the lock. */
void work_close(struct work *w);

/* Returns the directory of the stack's files, out/STACK: that of a cell is in it. */
const char *work_stack_dir(struct work *w);
/* Creates an empty directory `name` below that of the build.  errors SB0510, NULL */
const char *work_folder(struct work *w, const char *name);
/* Creates a directory with its parents. errors SB0510, false */
bool work_make(struct work *w, const char *path);
/* Links or copies a file to another name. errors SB0510, false */
bool work_place(struct work *w, const char *from, const char *to);

/*
 * work_secrets -- a file for each secret that the plan's commands mount, in a directory of our own.
 *
 *   in      o->secrets NAME=FILE, else the environment's variable of that name
 *   errors  SB0504: one of them is not given; false
 */
bool work_secrets(struct work *w);

/*
 * work_run -- one command of the engine; its output goes through the parser of its dialect to
 * the progress and the log.
 *
 *   errors  SB0503 (a step failed), SB0506 (interrupted), SB0507 (time limit), SB0511 (it could
 *           not be started, or failed outside of any step), false
 */
bool work_run(struct work *w, struct engine_command c);

/*
 * commits_resolve -- sets the commit of each extension from git, for the files that are rendered
 * from here on.  A lock has named it already.
 *
 *   errors  warnings alone: SB0513 (a tag cannot be resolved), SB0514 (it moved)
 */
void commits_resolve(struct work *w);

/* Fills the record of a build that has ended; not good: with the first error and its step. */
void record_fill(struct work *w, bool good);

/* --- wheels (wheels.c) --- */

/* Lists the compiled and prebuilt extensions, and the requirements on their wheels. */
void wheels_wanted(struct work *w);
/* Computes the keys from the inputs DIR/NAME.json. errors SB0505, SB0540; false */
bool wheels_keys(struct work *w, const char *dir);
/* Copies wheels of the stores to DIR/NAME/.  errors SB0510, false */
bool wheels_take(struct work *w, const char *dir);
/* Returns true if an extension compiles. */
bool wheels_compile(const struct work *w);
/* Returns true if one is still to be compiled or downloaded. */
bool wheels_missing(const struct work *w);
/* Checks compiled and downloaded wheels, DIR/NAME/x.whl.  Saves compiled ones to the first store, and
 * copies both kinds to CONTEXT/NAME/ (or NULL) for the image.  errors SB0509, SB0510, SB0516; false */
bool wheels_keep(struct work *w, const char *dir, const char *context);
/* Checks the wheels that an environment's script downloaded, DIR/NAME/x.whl.  errors SB0510, SB0516; false */
bool wheels_check(struct work *w, const char *dir);

#endif
