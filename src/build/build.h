#ifndef BUILD_H
#define BUILD_H

#include "engine.h"
#include "host/host.h"
#include "mirror/mirror.h"
#include "plan/plan.h"
#include "progress.h"
#include "publish.h"
#include "render/render.h"
#include "store/store.h"

/*
 * Builds a plan with an engine, in four steps:
 *   1. the context: a directory with the Dockerfile, the files of app:, and wheels from the store
 *   2. target `inputs`: builds the trunk, fetches sources, and reads each extension's inputs in its
 *   compile environment (templates/inputs.py); their JSON determines the store's keys
 *   3. the context gets the store's wheels; target `wheels` compiles the others, which are checked
 *   and saved to the store
 *   4. the image, tagged; build.json
 */
struct build_options {
	const struct engine *engine;
	const struct engine_state *state;
	const char *tag; /* the image's name */
	const char *out; /* directory: out/STACK */
	struct stores LIST(
		struct store *) stores; /* searched in order; new wheels are saved to the first */
	struct names secrets;           /* "NAME=FILE" */
	unsigned jobs;                  /* 0: by memory */
	double timeout_s;               /* 0: none */
	enum progress_mode progress;
	bool no_cache, push;
	bool no_apt; /* the script installs no system packages */
	struct names cache_from, cache_to;
	bool keep_context;
	bool colour;
	const struct mirror_use *mirror; /* replaces the network; or NULL */
	const char *wheel;               /* id of an extension: makes only its wheel; or NULL */
};

/* errors SB05xx, false: no image was tagged */
bool build_stack(struct arena *a, struct diags *ds, const struct plan *p,
		 const struct templates *templates, const struct build_options *o,
		 struct build_record *record);

/*
 * build_preview -- prints what build_stack would do, for --dry-run; writes nothing, starts no build and
 * uses no network.
 *
 *   out     the engine, the result, and for each step its time and where it comes from
 *   errors  those of --wheel, false
 */
bool build_preview(struct arena *a, struct diags *ds, const struct plan *p,
		   const struct build_options *o, struct buf *out);

/* Returns the absolute path at which a script sees the parts of a mirror; out: as in build_options. */
const char *build_mirror_place(struct arena *a, const char *out);

/*
 * The cells of a matrix. Each unit is a separate build: `build --cell C --wheel NAME` compiles a
 * wheel that several cells need and saves it to the store, `build --cell C` builds a cell from it.
 * With several addresses, each is a machine, and a unit goes to the one with the fewest units.
 */
/* Returns the machine that compiles: all zero for another machine, whose cores are unknown. */
struct compile_machine build_machine(struct arena *a, const struct build_options *o);

struct matrix_build {
	const struct matrix *m;
	struct indexes cells;      /* indexes of the cells to build in m */
	struct names images;       /* image name of each cell of m; NULL: not compared */
	struct names words, after; /* argv of a unit, before and after its own options */
	struct names env;          /* secrets of a unit, "NAME=value"; ends with NULL */
	struct names addrs;        /* addresses of builders; may be empty */
	unsigned at_once;
	struct compile_machine machine; /* each unit's share of the machine */
	const char *out, *head;         /* out/STACK; the first line of the screen */
	enum progress_mode progress;
	bool colour;
	bool raw;        /* passes the output of the units on unchanged, for a program */
	bool keep_going; /* after a failure, builds all units that do not depend on it */
	bool resume;     /* units that build.json lists as finished for the same plan are skipped */
};

/*
 * matrix_build -- builds wheels first, then each cell whose wheels are ready.
 *
 *   in      b; proc_signals() was called
 *   out     false: a cell was not built; out/STACK/matrix.log; the screen has a line for each unit
 *   errors  SB0512 with what failed, once for each cause; SB0506, SB0510
 *   memory  a
 */
bool matrix_build(struct arena *a, struct diags *ds, const struct matrix_build *b, struct buf *out);

#endif
