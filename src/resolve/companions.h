#ifndef RESOLVE_COMPANIONS_H
#define RESOLVE_COMPANIONS_H

#include "internal.h"

/* companions.c: the packages that belong to torch, in its step and in the constraints. */

/* Adds torchvision and torchaudio to the torch step, if `packages` or a package requires them. */
void resolve_companions(struct workspace *w);
/* Does so for the packages of the stack whose selected release is not read, or which pip selects. */
void companions_of_packages(struct workspace *w);
/* Returns true if the torch step installs a requirement, because torch's index serves it. */
bool companion_is_with_torch(const struct workspace *w, const struct requirement *req);
/* Returns an item of torch.with, or a companion in packages:, as the torch step installs it. */
struct stack_package companion_given(struct workspace *w, const struct recipe_requirement *q);
/* Adds a requirement of an extension to the torch step, unless torch brings it; false: it is no
 * companion of torch. */
bool companion_add(struct workspace *w, const struct requirement *req, struct stack_package p);
/* Returns constraints that pin the companions of the torch step whose requirement does not. */
struct names companion_versions(struct workspace *w);
/* Returns constraints that make pip fail instead of installing another build of a companion. */
struct names companion_guards(struct workspace *w);
/* Returns the recipe's own requirement on a package for this Python, or NULL. */
const struct recipe_requirement *package_asked(struct workspace *w, const char *key);

#endif
