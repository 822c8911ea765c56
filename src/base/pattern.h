#ifndef PATTERN_H
#define PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#include "str.h"

/* Regular expressions (PCRE2) over bytes, with groups, for patterns that are data. */
struct pattern;

enum { PATTERN_GROUPS = 5 }; /* the whole match and four groups */

/*
 * pattern_compile -- compiles a pattern; `^` and `$` match at line ends, `.` is any byte but a line
 * end.
 *
 *   out NULL if the text is no valid pattern, or has more than PATTERN_GROUPS - 1 groups
 *   memory  pattern_free() releases it
 *   source  pcre2pattern(3), PCRE2 10.42
 */
struct pattern *pattern_compile(const char *text);
void pattern_free(struct pattern *p);
/* Tells whether pattern_compile accepts the text. */
bool pattern_is_valid(const char *text);

/*
 * pattern_find -- finds the first match in s.
 *
 *   out     groups (may be NULL): [0] the match, [1..] its groups, { NULL, 0 } for a group without
 *           a match; false also if 100,000 steps do not suffice
 */
bool pattern_find(struct pattern *p, struct str s, struct str groups[PATTERN_GROUPS]);

#endif
