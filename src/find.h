#ifndef FIND_H
#define FIND_H

#include "options.h"

/*
 * find_recipe -- puts the recipe of a command before its other arguments.
 *
 * The recipe is the argument that ends in .yaml or .yml, or is an existing file, at any place
 * beside names; without one, stack.yaml or the only recipe of this directory, else of the nearest
 * parent directory up to the repository's root. A directory of `check` becomes the recipes in it.
 *
 *   in      o: parsed by options_parse
 *   out     o->args; o->assumed: the recipe that no argument names
 *   errors  false, and *why has the error with its fix (exit status 2)
 *   memory  lives in a
 */
bool find_recipe(struct arena *a, struct options *o, const char **why);

#endif
