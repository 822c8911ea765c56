#ifndef VERBS_H
#define VERBS_H

#include "base/buf.h"
#include "base/diag.h"
#include "facts/facts.h"
#include "options.h"
#include "plan/plan.h"
#include "recipe/recipe.h"
#include "resolve/resolve.h"

/* The verbs of both programs, and the functions that they share. */
enum { EXIT_DONE = 0, EXIT_DIAGNOSED = 1, EXIT_USAGE = 2, EXIT_SIGNAL = 128 };

/* The state of a run of a verb. */
struct run {
	struct arena *a;
	struct diags ds;
	const struct options *o;
	const struct facts *facts; /* for verbs with --knowledge */
	struct buf out;            /* standard output, written once at the end */
	struct questions answered; /* by check --online, for the cells of this run */
	bool unlocked;             /* uses no lock: the recipe is not read from its file */
	bool command_ran; /* the exit status comes from another program, even after errors */
};

/*
 * Each verb returns the exit status; an error in ds changes it to EXIT_DIAGNOSED. Functions that
 * use the network or processes are weak: they are NULL in `stackbuild`, which then starts
 * stackbuild-world.
 */
#define LINKED_HERE
#define LINKED_WORLD __attribute__((weak))
#define VERB(name, program, ...) LINKED_##program int verb_##name(struct run *r);
#include "verbs.def"

/*
 * Returns an opener and its context, for recipes_load_from, that reads the files of the recipe
 * `path` at a git revision. False after a diagnostic.
 */
LINKED_WORLD bool world_at_revision(struct arena *a, struct diags *ds, const char *path,
				    const char *revision, recipe_open **open, void **ctx);
LINKED_WORLD void world_close_revision(void *ctx);

/* Runs templates/modal_chain.py; see `chain` in init/init.h. */
struct init;
LINKED_WORLD const struct source *world_modal_chain(struct init *rd, const struct source *app,
						    const char *function);
/* Returns whether `init` reads a Modal app: one of its files, or one in this directory that it
 * may offer. */
bool init_reads_modal(const struct options *o);

/* Returns true for `facts refresh`. */
bool is_refresh(const struct options *o);
/* Runs `facts refresh`: writes data of the package index to --out, or to `user`. */
LINKED_WORLD int world_facts_refresh(struct run *r, const char *user);

struct cell_verdict;
/*
 * Runs `check --online`: resolves one cell with uv, as `lock` does. The parts of v->parts that
 * uv resolved count as read; conflicts become errors.
 *
 *   in      s: NULL: the cell has no stack, and its errors begin with `since`; the function tries
 *           their helps with uv, and adds to each whether the stack then locks
 *   errors  SB1005 to SB1008; v->failed after all except SB1008
 */
LINKED_WORLD void world_check_online(struct run *r, const struct recipe *cell,
				     const struct stack *s, struct diag *since,
				     struct cell_verdict *v);
/*
 * Locks a changed recipe and prints the changes of its lock; write: also writes the lock.
 *
 *   out     false: there is no lock, or no uv
 *   errors  those of `stackbuild lock`
 */
LINKED_WORLD bool world_lock_changed(struct run *r, const struct recipe *changed, bool write);

/* Loads the knowledge base, for a verb that does not always need it; NULL after an error. */
const struct facts *program_knowledge(struct run *r);

/*
 * Returns the user's directory for knowledge, $XDG_DATA_HOME/stackbuild/knowledge; NULL: HOME is
 * not set.
 */
const char *user_knowledge(struct arena *a);

/* Runs o->verb.  Returns the exit status: 0, 1 or 2. */
int program_run(const struct options *o);

/* Parses the options in argv and prints a usage error. False: *status is the exit status. */
bool program_options(struct arena *a, int argc, char **argv, struct options *o, int *status);

/* Returns true if the command needs the second program. */
bool program_needs_world(const struct options *o);

/* --- recipe -> resolve -> plan: each stage adds an error when it fails --- */

/*
 * pipeline_load -- returns the cells of a recipe file, with the command line's changes.
 *
 *   in      ds: takes the errors; open, ctx: where the files come from; NULL: the file system
 *   errors  SB01xx, NULL
 *   memory  lives in r->a
 */
const struct recipes *pipeline_load(struct run *r, struct diags *ds, const char *path,
				    recipe_open *open, void *ctx);

/*
 * pipeline_plan -- returns the plan of a cell. The lock beside the recipe is used, unless
 * --no-lock.
 *
 *   errors  SB02xx, SB03xx, SB10xx, NULL
 *   memory  lives in a: an arena of the caller's for one cell, or the run's
 */
const struct plan *pipeline_plan(const struct run *r, struct arena *a, struct diags *ds,
				 const struct recipe *cell, const struct resolve_options *o);

/*
 * Returns the plan with estimates for this machine, and with the times of an earlier build if
 * `build` left them in out/.
 */
const struct plan *plan_here(struct run *r, const struct plan *p, const char *cell);

/*
 * pipeline_pin -- returns a stack as the lock beside its recipe pins it; without a lock, or with
 * --no-lock, the stack itself.
 *
 *   out     *lock: or NULL
 *   errors  SB1000, SB1001, with --locked SB1002, NULL; SB1003, a warning
 *   memory  lives in a; borrows from s
 */
struct lock;
const struct stack *pipeline_pin(const struct run *r, struct arena *a, struct diags *ds,
				 const struct stack *s, const struct lock **lock);

/* Returns a recipe of the command line as words of a shell, for another command: "x.yaml --variant
 * wsl --cell python-3.10"; cell NULL: there is no matrix. */
const char *recipe_words(struct arena *a, const struct options *o, const char *path,
			 const char *cell);
/* Adds " --option VALUE"; nothing without a value. */
void add_word(struct buf *b, const char *option, const char *value);

/*
 * pipeline_matrix -- returns all cells as one plan.
 *
 *   in      chain: as in matrix_new
 *   errors  SB02xx, SB03xx of any cell, NULL
 *   memory lives in r->a, except the plans of the cells
 */
struct matrix *pipeline_matrix(struct run *r, const struct recipes *rs, bool chain);

/* The verdict on a cell of a recipe. */
struct cell_verdict {
	const char *path, *cell; /* cell: NULL without a matrix */
	const char *summary;     /* NULL: there is no stack */
	bool invalid;            /* the recipe cannot be read */
	bool incompatible;       /* an error that is not about the lock, uv or an index */
	bool failed;             /* check --online: uv or an index failed */
	bool stopped;            /* check --online: a signal ended it, so there is no verdict */
	struct names errors, warnings;
	struct reported LIST(const struct diag *) reported;
	struct stack_parts parts;
	bool resolved;              /* check --online: uv resolved the packages */
	struct questions questions; /* with the answers of check --online */
	size_t unlisted; /* packages that others require and of which no release is known */
	unsigned facts;
};
struct cell_verdicts LIST(struct cell_verdict);

/*
 * check_cells -- plans every cell of a recipe, so that all errors of all cells are reported.
 *
 *   in   ds: takes the diagnostics; open, ctx: as in pipeline_load
 *   out  a verdict for each cell; one if the recipe cannot be read. choices: takes every choice of
 *        the stacks with its reason, with --verbose; or NULL
 */
void check_cells(struct run *r, struct diags *ds, const char *path, recipe_open *open, void *ctx,
		 struct cell_verdicts *out, struct buf *choices);
/* Returns "compatible", "no known problem" or "incompatible". */
const char *verdict_word(const struct cell_verdict *v);

/*
 * check_recipe -- checks a recipe up to the plan of every cell.
 *
 *   in   ds: takes its diagnostics; open, ctx: as of pipeline_load
 *   out  the verdict, and a line for each part that was not checked; "": the recipe cannot be read.
 *        *complete: the recipe is compatible, and everything was checked
 */
const char *check_recipe(struct run *r, struct diags *ds, const char *path, recipe_open *open,
			 void *ctx, bool *complete);

/* Adds the line of `check` with what the verdict on the cells rests on, and what --online would read. */
void check_basis(struct run *r, const struct cell_verdicts *all, struct buf *out);

/* Returns the exit status of `check` without errors; --strict counts warnings and unchecked
 * parts. */
int check_status(const struct run *r, bool complete);

/* Runs `check --fix` for all files on the command line. */
int check_fix(struct run *r);

/* Returns "torch 2.2.2 (cu121), python 3.11, causal-conv1d 1.4.0 for sm_80, sm_89". */
const char *stack_summary(struct arena *a, const struct stack *s);

/*
 * Writes a text to standard output: exactly, or on a terminal without control sequences other than
 * colours.
 */
void program_write(struct buf *text);

/* Prints one line on standard error; returns EXIT_USAGE. */
int usage_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Sets *out to the seconds of --timeout, if it is given.  Returns false after a usage error. */
bool option_timeout(const struct options *o, double *out);

/* Reads the number of an option, 0 without text; false after a usage error. */
bool option_number(const char *option, const char *text, double most, double *out);

/* Returns whether to print in colour to a standard file: with --color, or on a terminal. */
bool option_colour(const struct options *o, int file);

#endif
