#ifndef BUILD_H
#define BUILD_H

#include "engine.h"
#include "host/host.h"
#include "plan/plan.h"
#include "progress.h"
#include "publish.h"
#include "render/render.h"
#include "store/store.h"

/*
 * Made: a plan, by an engine.  In order:
 *   1. the context: a folder with the Dockerfile, what app: copies, and wheels from the store
 *   2. target `inputs`: the trunk is built, sources are fetched, and each extension's inputs are
 *      read where they are compiled (templates/inputs.py): their JSON makes the store's keys
 *   3. what the store has is put into the context; target `wheels` compiles the rest, and its
 *      files go to the store after they were checked
 *   4. the image, tagged; build.json
 */
struct build_options {
	const struct engine *engine;
	const struct engine_state *state;
	const char *tag;                           /* the image's name */
	const char *out;                           /* folder: out/STACK */
	struct stores LIST(struct store *) stores; /* asked in order; the first is put into */
	struct names secrets;                      /* "NAME=FILE" */
	unsigned jobs;                             /* 0: by memory */
	double timeout_s;                          /* 0: none */
	enum progress_mode progress;
	bool no_cache, push;
	struct names cache_from, cache_to;
	bool keep_context;
	bool colour;
};

/* errors SB05xx, false: no image was tagged */
bool build_stack(struct arena *a, struct diags *ds, const struct plan *p,
		 const struct templates *templates, const struct build_options *o,
		 struct build_record *record);

/*
 * Cells of a matrix, several at once: each is a build of its own, a stackbuild with --cell, and
 * the engine shares them among its workers.  With several addresses each is a machine: a cell
 * goes to one that has the fewest.
 */
struct cells {
	struct names words, after; /* argv of a build; what is said of a cell goes between them */
	struct names names;        /* of the cells */
	struct names addrs;        /* of builders, or none */
	unsigned at_once;
	bool prefixed; /* each line of standard error after its cell's name */
};

/*
 * cells_build -- all of them, each to its end; after a failure none is started.
 *
 *   in      c; proc_signals() was called
 *   out     false: one failed or was not started; standard output and error are the cells' own,
 *           line by line, the former when a cell is done
 *   errors  SB0512 with the names; SB0506
 *   memory  a
 */
bool cells_build(struct arena *a, struct diags *ds, const struct cells *c);

#endif
