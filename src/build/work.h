#ifndef WORK_H
#define WORK_H

#include "build.h"

/* Private to build/: the state of a running build, and its parts. */
struct work {
	struct arena *a;
	struct diags *ds;
	const struct plan *plan;
	const struct templates *templates;
	const struct build_options *o;
	struct build_record *record; /* filled in during the build */

	const char *dir;           /* out/STACK/.build, locked by this process */
	const char *context;       /* dir/context: app/, stackbuild/, .stackbuild/wheels/ */
	const char *app;           /* dir/context/app: the files of app.copy */
	const char *dockerfile;    /* dir/Dockerfile */
	const char *secrets;       /* a directory of secrets, readable only by this user; or NULL */
	int lock;                  /* descriptor, or -1 */
	struct names secret_files; /* "NAME=FILE" */
	struct names masked;       /* their values */

	struct progress *progress;
	struct progress_step *steps;
	double began_s; /* start, on the monotonic clock */
	bool preparing; /* the call that only reads the inputs of wheels */

	struct render_build hits; /* helpers and wheels in the context */
	struct wanted_wheels LIST(struct wanted_wheel) wanted;
	struct instructions instructions; /* instructions of the file that the engine reads */
	unsigned retries;                 /* number of retries after broken downloads */
	const char *pushing;              /* the reference being pushed, or NULL */
};

/* An extension that is compiled, or taken from a store, or downloaded as a wheel. Every wheel is
 * checked before it is installed in an image. */
struct wanted_wheel {
	const struct step *step;
	bool prebuilt; /* downloaded as a wheel */
	struct store_want want;
	const char *inputs, *key; /* NULL until they are known */
	const char *got;          /* name of the store with the wheel; or NULL */
	const char *file, *put;   /* path of the wheel; "NAME.whl sha256:HEX" */
};

/*
 * work_open -- locks and empties the directory of a build, and puts the application's files into
 * the context (as hard links if the file system allows it).
 *
 *   errors  SB0508: another build of the stack is running; SB0510: a file could not be copied;
 *           false
 */
bool work_open(struct work *w);
/* Removes temporary files, and releases the lock. */
void work_close(struct work *w);

/* Returns the directory of the stack's files, out/STACK, which contains those of cells. */
const char *work_stack_dir(struct work *w);
/* Creates an empty directory `name` below that of the build.  errors SB0510, NULL */
const char *work_folder(struct work *w, const char *name);
/* Creates a directory with its parents. errors SB0510, false */
bool work_make(struct work *w, const char *path);
/* Adds SB0510 "cannot WHAT PATH", with the reason in errno.  Returns false. */
bool work_cannot(struct work *w, const char *what, const char *path);

/* --- the user's files (copy.c, ignore.c, own.c) --- */

/* Links or copies a file to another name, in a new directory if necessary. errors SB0510, false */
bool work_place(struct work *w, const char *from, const char *to);
/* Copies a file, or a directory with its content, without the files of this build. errors SB0510, false */
bool work_copy(struct work *w, const char *from, const char *to);

/* Returns true for a directory of files that a build leaves beside the recipe: they do not belong in an
 * image, and change with each build. */
struct stat;
bool work_is_ours(struct work *w, const struct stat *st);

/* Writes .dockerignore and .containerignore of the recipe's directory to the context, for the files in
 * app/.  errors SB0100, SB0406, false */
bool ignore_copy(struct work *w, const char *from);

/* The patterns of .dockerignore, or of .containerignore if there is no other; maybe none. */
struct ignore;
struct ignore *ignore_read(struct work *w, const char *dir);
void ignore_free(struct ignore *i);
/* Returns whether a path below the recipe's directory is ignored, as docker does it. */
bool ignore_has(const struct ignore *i, const char *path);

/*
 * own_code_copy -- copies own code to the context, without the files that git or .dockerignore ignores, and
 * sets the digest of its files, and which other files its last compile read, in the stack.
 *
 *   errors  SB0135 (a link leads out, or setup.py is ignored), SB0510; false
 */
bool own_code_copy(struct work *w);
/*
 * own_code_built -- reads which other files a compile read, from the list beside the new wheel in DIR, keeps
 * the list for the next build, and adds the files to the inputs and the key of the wheel.
 *
 *   out     false: a file has a name that a key cannot contain, so the wheel is not saved
 */
struct wanted_wheel;
bool own_code_built(struct work *w, struct wanted_wheel *one, const char *dir);
/* Writes the list of the last compile beside a wheel of a store.  errors SB0406, false */
bool own_code_list(struct work *w, const struct wanted_wheel *one, const char *dir);

/* Loads the base images of a mirror into an engine that keeps images itself.  errors as of work_run */
bool work_load(struct work *w);

/*
 * work_secrets -- writes a file for each secret that the plan's commands mount, to a private
 * directory.
 *
 *   in o->secrets: NAME=FILE; otherwise, the environment variable of that name
 *   errors  SB0504: a secret is missing; false
 */
bool work_secrets(struct work *w);

/*
 * work_run -- runs a command of the engine; the parser of its dialect passes the output to the
 * progress and the log.
 *
 *   errors  SB0503 (a step failed), SB0506 (interrupted), SB0507 (time limit), SB0511 (it could not
 *           be started, or failed outside of all steps), false
 */
bool work_run(struct work *w, struct engine_command c);

/*
 * commits_resolve -- sets the commit of each extension from git, for files that are rendered
 * afterwards. A lock already has it.
 *
 *   errors  only warnings: SB0513 (a tag cannot be resolved), SB0514 (it moved)
 */
void commits_resolve(struct work *w);

/* Returns the plan with estimates for this machine, and with the times of an earlier build in o->out. */
const struct plan *work_timed(const struct work *w);
/* Returns "NAME: docker 24.0.7, 8 cores, 31 GiB; store DIR". */
const char *work_headline(struct work *w);
/* Returns whether the stack compiles the extension of --wheel.  errors SB0515, false */
bool work_check_wheel(struct work *w);

/* Fills the record of a build that has ended; if not good, with the first error and its step. */
void record_fill(struct work *w, bool good);

/* Opens a screen, with a new log at o.log_path.  errors SB0510, NULL */
struct progress *screen_open(struct arena *a, struct diags *ds, struct progress_options o,
			     struct progress_step *steps, size_t n);
/* Ends a screen.  errors SB0510: it or the log could not be written; false */
bool screen_close(struct diags *ds, struct progress *p);

/* --- wheels (wheels.c) --- */

/* Lists the compiled and prebuilt extensions, and the requirements on their wheels. */
void wheels_wanted(struct work *w);
/* Computes the keys from the inputs DIR/NAME.json. errors SB0505, SB0540; false */
bool wheels_keys(struct work *w, const char *dir);
/* Copies wheels of the stores to DIR/NAME/.  errors SB0510, false */
bool wheels_take(struct work *w, const char *dir);
/* Returns true if the build compiles an extension. */
bool wheels_compile(const struct work *w);
/* Returns true if a wheel must still be compiled or downloaded. */
bool wheels_missing(const struct work *w);
/* Checks compiled and downloaded wheels, DIR/NAME/x.whl.  Saves compiled ones to the first store, and
 * copies both kinds to CONTEXT/NAME/ (or NULL) for the image.  errors SB0509, SB0510, SB0516; false */
bool wheels_keep(struct work *w, const char *dir, const char *context);
/* Checks the wheels that an environment's script downloaded, DIR/NAME/x.whl.  errors SB0510, SB0516; false */
bool wheels_check(struct work *w, const char *dir);

/* Returns the system packages of a plan that setup.sh would install on this host; no dpkg: none. */
struct names venv_missing(struct arena *a, const struct plan *p);

#endif
