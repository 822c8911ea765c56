#ifndef FACTS_SHOW_H
#define FACTS_SHOW_H

#include "base/buf.h"
#include "internal.h"

/*
 * The layout of `stackbuild facts`: at most SHOW_WIDTH columns, the answer first, and the
 * sources as numbered notes at the end.
 */
enum { SHOW_WIDTH = 100, SHOW_COLUMNS = 12 };

struct show {
	const struct facts *f;
	struct arena *a;
	struct buf *out;
	struct names notes; /* sources, in the order in which they were first needed */
	struct names seen;  /* identifies a note: its text without the line number */
};

/* Prints "key text" with a hanging indent; mark: "[2]", or NULL. */
void show_line(struct show *v, unsigned indent, size_t width, const char *key, const char *text,
	       const char *mark);

/* Prints "source: ..." and the numbered notes. */
void show_notes(struct show *v);

/*
 * Shows a map with all its values, each with the mark of its source.
 *
 *   in   width: columns of the keys, 0: as they need
 *        but: keys to leave out
 */
void show_map(struct show *v, const struct claim *map, unsigned indent, size_t width,
	      const struct names *but);

/* --- tables --- */

struct table {
	const char *heads[SHOW_COLUMNS];
	size_t columns;
	struct rows LIST(const char **) rows; /* each of `columns` cells and a mark; NULL: empty */
};

/* Returns a table with these columns: "CUDA|driver|gcc". */
struct table table_of(struct arena *a, const char *heads);
/* Returns a row of empty cells to fill. */
const char **table_row(struct show *v, struct table *t);
/* Adds a row with a text for each column (NULL: an empty cell), and returns its cells. */
const char **table_add(struct show *v, struct table *t, ...);
/* Prints a table without its empty columns. The last column wraps; a long row stays long. */
void table_print(struct show *v, const struct table *t, unsigned indent);

/* --- the result --- */

/* Maps with facts about an entry; the later of two equal keys has precedence. */
struct found {
	const char *title;
	const char *name; /* the knowledge base's spelling; NULL: the user's */
	struct parts LIST(const struct claim *) parts;
	const char *without;        /* a key of the parts that was not requested, or NULL */
	const struct claim *compat; /* for a CUDA toolkit: minimum driver of its major version */
	const char *major;
	const struct gpu *gpu;
	const struct extension_release *release;
};

void found_text(const struct facts *f, struct arena *a, const struct found *x, struct buf *out);
void found_json(struct arena *a, const struct found *x, struct buf *out);

#endif
