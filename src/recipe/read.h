#ifndef RECIPE_READ_H
#define RECIPE_READ_H

#include "keys.h"

/* One top-level key of a recipe, read: its values in a recipe without others, and its canonical text. */
struct section {
	const struct key *key;
	const struct node *node;
	const struct recipe *values;
	const char *json; /* "\"torch\": {...}" */
	bool good;
};

/*
 * section_read -- the value of a top-level key.
 *
 *   errors  SB0105 .. SB0132 for everything wrong below it; good is false then
 *   memory  the same node gives the same section: cells share it
 */
const struct section *section_read(struct load *l, const struct key *k, const struct node *n);

/* Copies the values of the section into a recipe. */
void section_fill(const struct section *s, struct recipe *r);

/* The value of any key, into its member of what is at `base`; false: faults were found. */
bool read_value(struct load *l, const struct key *k, const struct node *n, char *base);
/*
 * The error for a map where a text belongs, and so on (SB0107), with the table's example;
 * path: of the value, if it is not the key itself.  False.
 */
bool value_kind(struct load *l, const struct key *k, const char *path, const struct node *n,
		const char *wanted);
/* The errors for a key without a value (SB0108) and for one that is not there (SB0106). */
bool value_empty(struct load *l, const char *path, const struct node *n);
bool key_missing(struct load *l, const struct key *k, const char *name, struct span at);

/* One item of extensions: as a short form: "name==1.4.0", "name @ URL". */
bool extension_short(struct load *l, const struct node *n, struct recipe_extension *e);
/* What must hold between the keys of one extension, and of the list. */
bool extension_holds(struct load *l, struct recipe_extension *e);
bool extensions_hold(struct load *l, const struct recipe_extensions *all);

/* "\"torch\": {...}", or NULL if the key says nothing. */
const char *canonical_section(struct arena *a, const struct key *k, const struct recipe *r);
/* The top-level keys in the order of canonical JSON. */
struct names canonical_order(struct arena *a);

#endif
