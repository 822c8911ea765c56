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
 * The cells of a matrix as one plan: which wheels they share, which base stages, and in which
 * order several workers make them.  Steps are equal if their keys are.  Pure.
 */

struct indexes LIST(size_t);

/* A wheel that at least one cell compiles. */
struct matrix_wheel {
	const char *key; /* of the step that compiles it; chain: with all earlier installations */
	const char *step, *version; /* "mamba-ssm"; version may be NULL */
	size_t cell;                /* the first cell that needs it, which compiles it */
	size_t base;
	size_t cells;  /* how many need it */
	double cost_s; /* of its step; a guess if it is unknown */
	double cost_cores;
	unsigned memory_mib; /* of a compile job */
	bool unknown;
};

struct matrix_cell {
	const char *name; /* NULL: the recipe has no matrix */
	const char *key;  /* of the whole image: all of its steps' keys, its environment and user */
	const char *plan; /* sha256 of its steps' keys and the recipe's digest */
	struct indexes wheels;
	size_t base;
	double cost_s; /* of the steps on the base stage, without compiles */
};

struct matrix_base {
	const char *key;
	double cost_s;
};

struct matrix {
	struct arena *a;
	const char *name; /* the stack's */
	/* Wheels of an environment are compiled after all other packages are installed. */
	bool chain;
	struct matrix_wheels LIST(struct matrix_wheel) wheels;
	struct matrix_cells LIST(struct matrix_cell) cells;
	struct matrix_bases LIST(struct matrix_base) bases;
	size_t images;     /* cells with different keys */
	double cost_s;     /* every distinct step once, without those whose time is unknown */
	bool unknown;      /* there are such */
	double critical_s; /* the longest path: the least time with any number of workers */
	struct map wheel_of, base_of, step_of, image_of;
};

/* matrix_new -- a matrix without cells.  memory: a; chain: as in struct matrix */
struct matrix *matrix_new(struct arena *a, bool chain);

/* Adds a cell.  The plan may be forgotten afterwards. */
void matrix_add(struct matrix *m, const struct plan *p);

/* Lets every cell compile its own wheels, without a store. */
void matrix_forget_wheels(struct matrix *m);

/*
 * matrix_shard -- the cells of part `i` of `n`.
 *
 *   in      1 <= i <= n
 *   out     indexes of cells in their order. Cells with the same wheels are together, so that few
 *           wheels belong to two parts; the parts differ by one cell at most
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

/* One thing that a worker does: compiles a wheel, or assembles a cell from wheels and a base. */
struct unit {
	bool wheel;
	size_t of; /* index of the wheel or of the cell */
	size_t base;
	bool unknown;          /* cost_s has a guess in it */
	double cost_s, rest_s; /* of itself; of itself and the longest cell that needs it */
	enum unit_state state;
	size_t cause; /* BLOCKED: the unit that failed */
};

struct schedule {
	const struct matrix *m;
	struct unit *units; /* wheels first, each at its index; then cells */
	size_t n;
	enum base_state { BASE_ABSENT, BASE_RUNNING, BASE_READY } * bases;
};

enum { NO_UNIT = -1 };

/*
 * schedule_new -- the units of a matrix, all of them waiting.
 *
 *   in      cells: those to build; the others are LEFT, as are the wheels that only they need
 */
struct schedule schedule_new(struct arena *a, const struct matrix *m, struct indexes cells);

/*
 * schedule_next -- the unit that a free worker starts; it is RUNNING then.
 *
 *   out     NO_UNIT: none can start now.  Of those that can, the one with the longest path ahead; one
 *           whose base stage another unit is making comes after all others
 */
int schedule_next(struct schedule *s);

/* Ends a unit. If a wheel failed, its cells are BLOCKED. */
void schedule_end(struct schedule *s, size_t unit, bool good);

/* Marks a waiting cell as LEFT, and the wheels that no other waiting cell needs. */
void schedule_leave(struct schedule *s, size_t cell);

#endif
