#ifndef QUOTE_H
#define QUOTE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/str.h"

/*
 * Quotes text for a place in a file, so that a parser of the language gets the same bytes. A word
 * that needs no quotes gets none. Each function returns false, and adds nothing, if the place
 * cannot contain the text (a newline in a requirement); *why is then the reason, as a phrase. Texts
 * are UTF-8 without NUL.
 */

/* The language of a file. */
enum language { LANG_DOCKERFILE, LANG_SH, LANG_PYTHON, LANG_PIP, LANG_YAML, LANG_HCL, LANG_HTML };

enum quoting {
	QUOTE_SH,          /* one word of POSIX sh; in a Dockerfile: inside a RUN */
	QUOTE_TEXT,        /* the same, always in quotes: a line of a file */
	QUOTE_DOCKERFILE,  /* a value in ENV or LABEL: no expansion of $ */
	QUOTE_COPY,        /* a path in COPY's JSON form, where $ and \ are expanded too */
	QUOTE_JSON,        /* a JSON string with its quotes: exec forms, YAML, HCL */
	QUOTE_PYTHON,      /* a Python string literal with its quotes */
	QUOTE_COMMENT,     /* a part of a comment line: never the end of the line */
	QUOTE_WORD,        /* one word of a command for sh, in a comment */
	QUOTE_REQUIREMENT, /* a line of a requirements file, verbatim or not at all */
	QUOTE_HTML,        /* text of an HTML element, or of an attribute in double quotes */
	QUOTE_PLAIN,       /* a bare word, verbatim or not at all: [A-Za-z0-9._:/@+-]+ */
	QUOTINGS
};

/* Returns the name in a template ("sh"); and the reverse, QUOTINGS if there is none. */
const char *quoting_name(enum quoting q);
enum quoting quoting_named(struct str name);
/* Returns whether a file in that language may use it. */
bool quoting_fits(enum quoting q, enum language l);

bool quote(struct buf *out, enum quoting q, enum language l, const char *text, const char **why);

#endif
