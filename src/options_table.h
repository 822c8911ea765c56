#ifndef OPTIONS_TABLE_H
#define OPTIONS_TABLE_H

#include "options.h"

/* The rows of options.def, for parsing and for help.  Private to options*.c. */

enum option_kind { OPTION_FLAG, OPTION_TEXT, OPTION_LIST, OPTION_CHOICE };

struct option_row {
	const char *name;
	char letter;
	const char *arg, *verbs; /* verbs "" for every verb */
	enum option_kind kind;
	size_t offset; /* offset in struct options */
	const char *choices, *what;
};

enum {
#define OPTION(name, letter, arg, verbs, kind, field, ...) OPTION_AT_##field,
#include "options.def"
	OPTION_ROWS
};

extern const struct option_row option_rows[OPTION_ROWS];

/* A line below a title in the help of a command, such as an engine of `build`. */
struct verb_item {
	enum verb verb;
	const char *title, *name, *what;
};
extern const struct verb_item verb_items[];
extern const size_t verb_items_n;

/* Returns the names of the items below a title: "Targets" or "Engines". */
struct names verb_item_names(struct arena *a, const char *title);

/* Describes an option for a command, with its choices, and whether it may be repeated. */
const char *option_description(struct arena *a, const struct option_row *r, enum verb verb);

/* Returns true if a list of verbs names v, or is empty; always true for VERB_COUNT. */
bool verb_among(const char *verbs, enum verb v);

#endif
