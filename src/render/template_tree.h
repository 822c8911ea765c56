#ifndef TEMPLATE_TREE_H
#define TEMPLATE_TREE_H

#include "base/str.h"
#include "template.h"

/*
 * A template as a tree in which every name is already a place in a shape: `up` lists
 * outwards, row `row` of that list's items.  template_parse.c makes it, template.c
 * fills it in.
 */
enum piece_kind { PIECE_TEXT, PIECE_WORD, PIECE_VALUE, PIECE_CODE, PIECE_SECTION, PIECE_INVERTED };

/* Rows that no shape holds: the item itself, and what every item knows. */
enum { ROW_ITEM = -1, ROW_FIRST = -2, ROW_LAST = -3 };

struct piece {
	enum piece_kind kind;
	struct str text;  /* PIECE_TEXT; PIECE_CODE: what to indent its lines with */
	const char *name; /* PIECE_WORD: the word */
	struct span at;   /* of the name in the template */
	unsigned up;
	int row;
	enum value_kind value; /* what the name is */
	enum quoting quoting;
	const struct piece *body; /* of a section */
	size_t nbody;
};

struct template
{
	const struct source *src;
	const struct piece *pieces;
	size_t n;
};

/* Errors SB0401 .. SB0403: NULL. */
const struct template *template_parse(struct arena *a, struct diags *ds, const struct source *src,
				      enum language language, const struct shape *shape);

/* template_expand's second half: errors SB0402 (not given), SB0404: false.  marks may be NULL. */
bool template_fill(struct diags *ds, const struct template *t, enum language language,
		   const struct scope *values, struct buf *out, struct template_marks *marks);

/* What is remembered lives as long as the templates do, not as the file that is being made. */
struct arena *templates_arena(const struct templates *t);

/* The parsed template if it was parsed before, else NULL; and for the next time. */
const struct template *templates_parsed(const struct templates *t, const char *name);
void templates_remember(const struct templates *t, const char *name, const struct template *tree);

#endif
