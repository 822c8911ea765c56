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
 * pattern_compile_counted -- compiles a pattern whose work can be limited, for texts that an attacker
 * may have written: pattern_find_within().
 */
struct pattern *pattern_compile_counted(const char *text);

/* Translates a pattern to machine code, if the system allows it: worthwhile from about 50 searches on. */
void pattern_hasten(struct pattern *p);

/*
 * pattern_find -- finds the first match in s.
 *
 *   out     groups (may be NULL): [0] the match, [1..] its groups, { NULL, 0 } for a group without
 *           a match; false also if 100,000 steps at one place do not suffice
 */
bool pattern_find(struct pattern *p, struct str s, struct str groups[PATTERN_GROUPS]);

/*
 * pattern_find_within -- the same for a counted pattern, within a number of steps.
 *
 *   in      *steps: the maximum; a step is one end of a repetition such as `.*`, of which a search may
 *           try the square of the text's length, and takes about 20 ns
 *   out     *steps: the number of steps taken; false also if the maximum does not suffice
 */
bool pattern_find_within(struct pattern *p, struct str s, struct str groups[PATTERN_GROUPS],
			 unsigned long long *steps);

#endif
