/*
 * stackbuild-world: the verbs with network and child processes. stackbuild starts it by exec with
 * the same argv; users do not call it.
 */
#include <unistd.h>

#include "base/alive.h"
#include "base/pattern.h"
#include "base/proc.h"
#include "build/build.h"
#include "fetch/fetch.h"
#include "verbs.h"

bool
world_at_revision(struct arena *a, struct diags *ds, const char *path, const char *revision,
		  recipe_open **open, void **ctx)
{
	struct git_at *g = git_at_open(a, ds, path, revision);

	*open = git_at_read;
	*ctx = g;
	return g != NULL;
}

void
world_close_revision(void *ctx)
{
	git_at_close(ctx);
}

/*
 * Prints signs of life where standard error is a log for people. `run` passes the output of its command
 * on, and other forms of --progress have their own.
 */
static void
show_life(const struct options *o)
{
	bool plain = o->progress == PROGRESS_AUTO || o->progress == PROGRESS_PLAIN;

	if (o->verb != VERB_run && plain && !o->quiet && o->diagnostics == DIAG_TEXT &&
	    !isatty(STDERR_FILENO))
		alive_begin(verb_table[o->verb].name);
}

int
main(int argc, char **argv)
{
	struct arena *a = arena_new();
	struct options o;
	int status, number;

	proc_hold_standard_files();
	fact_is_pattern = pattern_is_valid;
	if (program_options(a, argc, argv, &o, &status)) {
		show_life(&o);
		status = program_run(&o);
	}
	if (status == EXIT_DIAGNOSED && (number = proc_interrupted()))
		status = EXIT_SIGNAL + number;
	arena_free(a);
	return status;
}
