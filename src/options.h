#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/list.h"

/*
 * The command line. Parsing, --help, the man page and shell completion all come from two tables:
 * verbs and options.
 */

enum verb {
#define VERB(name, ...) VERB_##name,
#include "verbs.def"
	VERB_COUNT
};

struct verb_row {
	const char *name, *args, *what, *example;
	int args_min, args_max; /* -1: any number */
};

extern const struct verb_row verb_table[VERB_COUNT];

enum diagnostics_format { DIAG_TEXT, DIAG_JSON, DIAG_SARIF, DIAG_GITHUB };
enum output_format { FORMAT_TEXT, FORMAT_JSON, FORMAT_DOT, FORMAT_MERMAID, FORMAT_MARKDOWN };
enum colour_when { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };

/* A field for each row of options.def; a CHOICE is an enum, the index of its word. */
struct options {
	enum verb verb;
	struct names args;  /* arguments that are not options, without the verb */
	struct names words; /* the whole command line, without the program */
	size_t options_end; /* index of `--` in words, or words.n */
	bool format_given;
	const bool *given;   /* which rows of options.def the command line has */
	struct diags *found; /* the errors and warnings of configuration files; or NULL */
	struct names set;    /* "--jobs 4, from stackbuild.toml:1": what files and variables set */
	const char *assumed; /* the recipe if no argument names one; or NULL */
#define FIELD_FLAG bool
#define FIELD_TEXT const char *
#define FIELD_LIST struct names
#define FIELD_CHOICE unsigned
#define OPTION(name, letter, arg, verbs, kind, field, ...) FIELD_##kind field;
#include "options.def"
};

/*
 * options_parse -- parses argv into options.
 *
 *   out     *o
 *   errors  false, and *why has the error with its fix (exit status 2)
 *   memory  lives in a; borrows from argv
 */
bool options_parse(struct arena *a, int argc, char **argv, struct options *o, const char **why);

/*
 * options_config -- sets options that the command line does not have, from the environment (STACKBUILD_JOBS),
 * the project's file and the user's file, in this order (docs/configuration.md).
 *
 *   in      o: after find_recipe
 *   out     its options; o->found, o->set
 *   errors  SB0134, SB0144 in o->found
 *   memory  lives in a
 */
void options_config(struct arena *a, struct options *o);

/* Finds the command of that name; false: *why suggests another. */
bool verb_find(struct arena *a, const char *name, enum verb *v, const char **why);
/* Returns whether a command takes an option of the table. */
bool verb_takes(enum verb v, const char *option);

/* Writes --help of the program (verb VERB_COUNT) or of one verb; brief: the commands alone. */
void options_help(enum verb verb, bool brief, struct buf *out);
/* Writes the man page of the program (verb VERB_COUNT) or of one verb in roff. */
void options_man(const char *version, enum verb verb, struct buf *out);
/* Writes the completion for "bash", "zsh" or "fish"; false: another shell. */
bool options_completion(const char *shell, struct buf *out);
/* Writes the values of a kind, one a line: "commands", "targets" or "engines"; false: another. */
bool options_values(const char *kind, struct buf *out);

#endif
