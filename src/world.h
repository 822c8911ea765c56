#ifndef WORLD_H
#define WORLD_H

#include "build/build.h"
#include "lock/lock.h"
#include "verbs.h"

/* Shared by the verbs of stackbuild-world. */

/* Returns the access to engines for engine_choose: --addr and --tls-... */
struct engine_at world_engine_at(const struct options *o);

/* Returns the name of the image that `build` makes: the stack's name in lower case, or tag; for a
 * cell of a matrix, "x:python-3.10". */
struct plan;
const char *world_image(struct arena *a, const char *tag, const struct plan *p);

/* Returns a recipe as words of a shell, for the next command: "x.yaml --variant wsl --cell
 * python-3.10 -o out/here"; cell NULL: there is no matrix. */
const char *world_recipe(struct arena *a, const struct options *o, const char *cell);

/*
 * world_report -- makes the page of `report`.
 *
 *   in      ds: takes the diagnostics of the recipe, too; dir: that of the records; NULL: out/STACK
 *   out     *page: its default path; html
 *   errors  SB01xx: the recipe cannot be read; SB04xx; false
 */
bool world_report(struct run *r, struct diags *ds, const char *dir, const char **page,
		  struct buf *html);

/* The settings of world_pin. */
struct world_pin_how {
	const struct lock *old; /* keep its digests and commits; or NULL */
	bool new_base, new_git; /* keep no digests of images; no commits */
	struct names unpinned;  /* "base", "git": do not resolve them */
};

/*
 * Pins base images, git sources and files of a lock, from registries and git hosts; sdists: those
 * of uv_resolve.
 *
 *   out     base, runtime, sources, python and unpinned of *out
 *   errors  SB1009, false
 */
bool world_pin(struct run *r, const struct stack *s, const struct world_pin_how *how,
	       const struct lock_packages *sdists, struct lock *out);

/* Downloads the files in the locks of the cells into the mirror `dir`. timeout_s: limit of each
 * download; 0: depends on its size. errors SB1000 to SB1002, and those of mirror_fill, false */
bool world_mirror(struct run *r, const struct recipes *rs, const char *dir, double timeout_s);
/* Returns the directory of the cache of package indexes and of answers; NULL: HOME is not set. */
const char *world_cache_dir(struct arena *a);
/* Returns today's date in UTC, "2026-11-23"; SOURCE_DATE_EPOCH replaces the clock. */
const char *world_today(struct arena *a);
/* Checks that the snapshot of a recipe's system packages is not of a later day: archives answer with the
 * packages of today then.  errors SB0238, false */
bool world_snapshot(struct run *r, const struct recipe *of);

/* Hides the variables of a recipe's secrets from all children. */
void world_hide_secrets(struct run *r, const struct recipe *of);

/* Returns the diagnosis of a log, "-": standard input; NULL after SB0700. Adds the last MiB of the log to
 * *tail (or NULL). */
struct causes;
const struct causes *diagnose_log(struct run *r, const char *log, struct buf *tail);

/* Adds the findings of `diagnose` in the build's log to the error of a failed step. */
void diagnose_build(struct run *r, const char *log);

#endif
