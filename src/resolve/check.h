#ifndef RESOLVE_CHECK_H
#define RESOLVE_CHECK_H

#include "internal.h"

/* The check table: see checks.def. */
#define CHECK(name, rules) void check_##name(struct workspace *w);
#include "checks.def"
#undef CHECK

/*
 * A variable where it is given: env of the recipe, then env of each extension.
 *
 *   in   at: 0 for the first, then what was left in it
 *   out  the setting, and the extension that it is for (NULL: all); NULL: no more
 */
const struct setting *check_setting(const struct workspace *w, const char *name, size_t *at,
				    const struct stack_extension **extension);

#endif
