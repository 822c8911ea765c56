#ifndef INIT_PIP_H
#define INIT_PIP_H

#include <stdbool.h>

#include "base/str.h"

/* Options of pip and of requirements files, as far as they say what is installed from where. */
enum pip_option {
	PIP_NONE,    /* no option of pip's */
	PIP_SWITCH,  /* takes nothing, says nothing here */
	PIP_SETTING, /* takes a value, says nothing here */
	PIP_INDEX,
	PIP_EXTRA_INDEX,
	PIP_LINKS,
	PIP_REQUIREMENTS,
	PIP_CONSTRAINTS,
	PIP_EDITABLE,
	PIP_NO_ISOLATION,
	PIP_NO_CACHE,
};

/*
 * pip_option -- which option a word is.
 *
 *   in   "--index-url", "--index-url=https://...", "-i", "-rreq.txt"
 *   out  *value: what stands in the same word; p NULL: nothing, the next word is it
 */
enum pip_option pip_option(const char *word, struct str *value);

/* True if the option is followed by a value. */
bool pip_takes_value(enum pip_option o);

#endif
