#ifndef PATTERN_H
#define PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#include "str.h"

/* Regular expressions (PCRE2) over bytes, with groups, for patterns that are data. */
struct pattern;

enum { PATTERN_GROUPS = 5 }; /* the whole match and four groups */

/*
 * pattern_compile -- compiles a pattern; `^` and `$` match at line ends, `.` is any byte but a line end.
 *
 *   out     NULL if it is not a pattern, or has more groups than PATTERN_GROUPS - 1
 *   memory  pattern_free() releases it
 *   source  pcre2pattern(3), PCRE2 10.42
 */
struct pattern *pattern_compile(const char *text);
void pattern_free(struct pattern *p);

/*
 * pattern_find -- finds the first match in s.
 *
 *   out     groups (may be NULL): [0] the match, [1..] its groups, { NULL, 0 } for one that took
 *           no part; false also where 100,000 steps do not decide it
 */
bool pattern_find(struct pattern *p, struct str s, struct str groups[PATTERN_GROUPS]);

#endif
