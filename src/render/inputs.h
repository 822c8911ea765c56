#ifndef INPUTS_H
#define INPUTS_H

#include "command.h"

/*
 * How the inputs of an extension's wheel are read where it is compiled: templates/inputs.py is
 * given what the plan knows as a file, and looks for the rest (docs/store.md).
 */

/* The command that compiles an extension; NULL: nothing is compiled in that step. */
const struct command *compile_of(const struct step *s);

/*
 * inputs_step -- writes {share}/inputs.py and {share}/ID.plan.json, and runs the one on the
 * other with the environment of the compile: {inputs}/ID.json.
 */
struct step inputs_step(struct arena *a, const struct plan *p, const struct step *s);

#endif
