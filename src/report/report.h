#ifndef REPORT_H
#define REPORT_H

#include "diagnose/diagnose.h"
#include "plan/plan.h"
#include "render/render.h"
#include "verify/verify.h"
#include "watch/watch.h"

/*
 * Writes an HTML page about a recipe, with the results of the other commands. The template is
 * templates/report.html; its quoting applies to every text.
 */

enum report_state { REPORT_OPEN, REPORT_GOOD, REPORT_BAD };

/* A state in words: "built in 14 min 32 s with docker". */
struct report_said {
	enum report_state state;
	const char *text;
};

/* The data in the files of one cell's directory. */
struct report_files {
	const char *dir;                   /* "out/torch222-cu121" */
	const struct build_record *record; /* build.json; NULL: not built */
	const struct proof *proof;         /* proof.json; NULL: not verified */
	const struct causes *causes; /* causes in build.log after a failed build; otherwise NULL */
	const struct use *use;       /* run.json or run.svg; NULL: neither exists */
	struct report_layers LIST(struct report_layer {
		const char *name;
		double bytes;
		double files;
	}) layers; /* inspect.json; empty: none */
};

struct report_cell {
	const char *name;  /* NULL: the recipe has no matrix */
	const char *codes; /* codes of its errors and warnings: "SB0242 SB0250"; or "" */
	struct report_said check, build, proof;
};

struct report {
	const struct recipe *recipe; /* recipe of the cell that the page describes */
	const char *command;         /* the recipe in a command: "x.yaml --cell a" */
	const char *summary;         /* "torch 2.2.2 (cu121), ..."; NULL: there is no stack */
	const struct plan *plan;     /* NULL if the stack cannot work */
	const struct diags *diags;
	struct stack_parts parts;
	struct report_files files;
	struct report_cells LIST(struct report_cell) cells; /* cells of the matrix; at least one */
	size_t cell;                                        /* index of the described cell */
};

/* Checks the record and the proof of a cell; digest: that of its recipe. */
struct report_said report_build_said(struct arena *a, const struct build_record *b,
				     const char *digest);
struct report_said report_proof_said(struct arena *a, const struct proof *p,
				     const struct build_record *b, const char *digest);

/* Returns true if a state of the cell is bad. */
bool report_trouble(const struct report_cell *c);

/*
 * report_html -- writes the page.
 *
 *   out     equal input gives equal bytes
 *   errors SB04xx if a replaced template does not work; false
 *   limits  200 cells, 500 diagnostics, 64 KiB of the recipe
 *   memory  lives in a
 */
bool report_html(struct arena *a, struct diags *ds, const struct templates *t,
		 const struct report *r, struct buf *out);

#endif
