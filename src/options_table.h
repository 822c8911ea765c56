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

/* An option that files and variables may set. */
enum config_scope { CONFIG_ANY, CONFIG_TRUSTED, CONFIG_USER };
struct config_row {
	const char *name;
	enum config_scope scope;
};
extern const struct config_row config_rows[];
extern const size_t config_rows_n;

/* Returns the row of an option; of several rows with that name, the one of the command. NULL: none */
const struct option_row *option_row(const char *name, enum verb v);

/* Sets an option to a value; false: *why has the error. */
bool option_set(struct arena *a, struct options *o, const struct option_row *r, const char *value,
		const char **why);

/* Describes an option for a command, with its choices, and whether it may be repeated. */
const char *option_description(struct arena *a, const struct option_row *r, enum verb verb);

/* Returns true if a list of verbs names v, or is empty; always true for VERB_COUNT. */
bool verb_among(const char *verbs, enum verb v);

#endif
