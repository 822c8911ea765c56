#ifndef INPUTS_H
#define INPUTS_H

#include "command.h"

/*
 * How what an extension's wheel depends on is read where it is compiled (docs/store.md): the
 * program templates/inputs.py is given a file with what the plan knows, and finds the rest.
 */
struct inputs {
	struct operations files; /* {share}/inputs.py and {share}/ID.plan.json */
	struct command
		command; /* writes {inputs}/ID.json; runs in the environment of the compile */
};

/* Returns the inputs of a step that has an OP_COMPILE. */
struct inputs inputs_of(struct arena *a, const struct plan *p, const struct step *s);

#endif
