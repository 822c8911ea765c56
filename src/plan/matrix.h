#ifndef PLAN_MATRIX_H
#define PLAN_MATRIX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/list.h"
#include "base/map.h"

struct plan;

/*
 * The cells of a matrix as one plan: their shared wheels and base stages, and the order in which
 * several workers build them. Steps are equal if their keys are. Pure.
 */

struct indexes LIST(size_t);

/* A wheel that at least one cell compiles. */
struct matrix_wheel {
	const char *key; /* key of its compile step; chain: with all earlier installations */
	const char *step, *version; /* "mamba-ssm"; version may be NULL */
	size_t cell;                /* the first cell that needs it, which compiles it */
	size_t base;
	size_t cells;  /* number of cells that need it */
	double cost_s; /* cost of its step; a guess if it is unknown */
	double cost_cores;
	unsigned useful_jobs;
	unsigned memory_mib; /* memory of a compile job */
	bool unknown;
};

struct matrix_cell {
	const char *name; /* NULL: the recipe has no matrix */
	const char *key;  /* identity of the image: keys of all steps, environment and user */
	const char *plan; /* sha256 of its steps' keys and the recipe's digest */
	struct indexes wheels;
	size_t base;
	double cost_s; /* cost of the steps after the base stage, without compiles */
};

struct matrix_base {
	const char *key;
	double cost_s;
};

struct matrix {
	struct arena *a;
	const char *name; /* name of the stack */
	/* Wheels of an environment are compiled after all other packages are installed. */
	bool chain;
	struct matrix_wheels LIST(struct matrix_wheel) wheels;
	struct matrix_cells LIST(struct matrix_cell) cells;
	struct matrix_bases LIST(struct matrix_base) bases;
	size_t images;     /* cells with different keys */
	double cost_s;     /* counts every distinct step once, except steps of unknown time */
	bool unknown;      /* the time of a step is unknown */
	double critical_s; /* the longest path: the least time with any number of workers */
	struct map wheel_of, base_of, step_of, image_of;
};

/* matrix_new -- returns a matrix without cells.  memory: a; chain: as in struct matrix */
struct matrix *matrix_new(struct arena *a, bool chain);

/* Adds a cell; the plan may be released afterwards. */
void matrix_add(struct matrix *m, const struct plan *p);

/* Lets every cell compile its own wheels, without a store. */
void matrix_forget_wheels(struct matrix *m);

/*
 * matrix_shard -- returns the cells of part `i` of `n`.
 *
 *   in      1 <= i <= n
 *   out     indexes of cells in their order. Cells with the same wheels are together, so that few
 *           wheels belong to two parts; the sizes of the parts differ by at most one cell
 */
struct indexes matrix_shard(struct arena *a, const struct matrix *m, size_t i, size_t n);

/*
 * Writes the output of `plan --matrix`: a line with the sums, and a table of the wheels; or JSON.
 */
void matrix_text(const struct matrix *m, struct buf *out);
void matrix_json(const struct matrix *m, struct buf *out);

/* --- the order of the work --- */

enum unit_state {
	UNIT_WAITING,
	UNIT_RUNNING,
	UNIT_DONE,
	UNIT_FAILED,
	UNIT_BLOCKED, /* a wheel that it needs failed */
	UNIT_LEFT     /* finished before, or not to be built in this run */
};

/* A unit of work: compile a wheel, or build a cell from wheels and a base. */
struct unit {
	bool wheel;
	size_t of; /* index of the wheel or the cell */
	size_t base;
	bool unknown;          /* cost_s contains a guess */
	double cost_s, rest_s; /* own cost; with that of the longest cell that needs it */
	enum unit_state state;
	size_t cause; /* for BLOCKED: the failed unit */
};

struct schedule {
	const struct matrix *m;
	struct unit *units; /* wheels, each at its index, then cells */
	size_t n;
	enum base_state { BASE_ABSENT, BASE_RUNNING, BASE_READY } * bases;
};

enum { NO_UNIT = -1 };

/*
 * schedule_new -- returns the units of a matrix, all of them waiting.
 *
 *   in      cells: the cells to build; the others, and wheels that only they need, are LEFT
 */
struct schedule schedule_new(struct arena *a, const struct matrix *m, struct indexes cells);

/*
 * schedule_next -- returns the unit that a free worker starts, which becomes RUNNING.
 *
 *   out     NO_UNIT: no unit can start now. Otherwise, the unit with the longest remaining path; a
 *           unit whose base stage is being built by another one comes last
 */
int schedule_next(struct schedule *s);

/* Ends a unit. If a wheel failed, its cells are BLOCKED. */
void schedule_end(struct schedule *s, size_t unit, bool good);

/* Marks a waiting cell as LEFT, and the wheels that no other waiting cell needs. */
void schedule_leave(struct schedule *s, size_t cell);

#endif
