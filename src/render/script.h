#ifndef SCRIPT_H
#define SCRIPT_H

#include "base/map.h"
#include "command.h"
#include "target.h"

/* What is the same for all steps of a script while it is written. */
struct script_writer {
	struct arena *a;
	struct diags *ds;
	const struct plan *plan;
	const struct templates *templates;
	struct map secrets; /* named so far */
	struct scope *top;
	bool good;
};

/* The names that templates/setup.sh may use for a file and for a command. */
extern const struct shape script_file_shape[], script_command_shape[];
/* A file, as an item of `list`. */
struct scope *script_file(struct script_writer *w, const struct step *s, const char *path,
			  struct str text, const char *list, struct scope *out);
/* One command, as an item of `list`; the names of its secrets go to out. */
void script_command(struct script_writer *w, const struct step *s, const struct command *from,
		    const char *list, struct scope *out);
/* A text with places as a word of the shell. */
const char *script_word(struct script_writer *w, const struct step *s, const char *text);
const char *script_key(struct script_writer *w, const struct step *s);
struct str script_template(struct script_writer *w, const char *name);

/*
 * An extension that is compiled: its source, and what its wheel depends on, are functions, for
 * they may be wanted without the compile.
 */
extern const struct shape script_source_shape[];
void script_source(struct script_writer *w, const struct step *s);
/* What compiles and installs it, into its step. */
void script_compile(struct script_writer *w, const struct step *s, struct scope *out);

#endif
