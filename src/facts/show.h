#ifndef FACTS_SHOW_H
#define FACTS_SHOW_H

#include "base/buf.h"
#include "internal.h"

/*
 * How what is known is laid out for `stackbuild facts`: at most SHOW_WIDTH columns, the
 * answer first, and where each claim comes from as numbered notes at the end.
 */
enum { SHOW_WIDTH = 100, SHOW_COLUMNS = 12 };

struct show {
	const struct facts *f;
	struct arena *a;
	struct buf *out;
	struct names notes; /* sources, in the order in which they were first needed */
	struct names seen;  /* what tells them apart: the same without the line */
};

struct show show_to(const struct facts *f, struct arena *a, struct buf *out);

/* "key  text", wrapped under itself; mark: "[2]", or NULL. */
void show_line(struct show *v, unsigned indent, size_t width, const char *key, const char *text,
	       const char *mark);

/* "[2]": the note for what the innermost map of the trail says; NULL: the first one asked
 * for, which needs no number. */
const char *show_mark(struct show *v, struct trail t);
/* "source: ..." and the numbered ones. */
void show_notes(struct show *v);

/* Keys that say where a claim comes from, or that only the program needs. */
bool show_is_value(const char *key);

/*
 * A map with all that is in it, each value by the source that it rests on.
 *
 *   in   width: columns of the keys, 0: as they need
 *        but: keys to leave out, ended by NULL; or NULL
 */
void show_map(struct show *v, struct trail t, unsigned indent, size_t width,
	      const char *const *but);

/* How wide the keys of a map are that stand on one line. */
size_t show_key_width(struct arena *a, struct fact map, const char *const *but);

/* --- tables --- */

struct table {
	const char *heads[SHOW_COLUMNS];
	size_t columns;
	struct rows LIST(const char **) rows; /* each of `columns` cells and a mark; NULL: empty */
};

void table_head(struct table *t, const char *head);
/* A table with these columns: "CUDA|driver|gcc". */
struct table table_of(struct arena *a, const char *heads);
/* A row with a text for each column; NULL: an empty cell. */
void table_add(struct show *v, struct table *t, ...);
/* A row of empty cells to fill. */
const char **table_row(struct show *v, struct table *t);
/* Empty columns are left out; the last one wraps.  False, and nothing printed: too wide. */
bool table_print(struct show *v, const struct table *t, unsigned indent);

#endif
