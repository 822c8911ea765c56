#ifndef FIX_COMMENT_H
#define FIX_COMMENT_H

#include "buf.h"
#include "str.h"

/*
 * fix_comment -- returns the length of the text after a changed value that is replaced, too: the
 * blanks before a comment at the end of its line, so that the comment keeps its column; and the
 * comment itself, if it names the old value.
 *
 *   in      old, replacement: the value; rest: the text of the file after the old value
 *   out     adds the new blanks to b
 */
size_t fix_comment(struct str old, const char *replacement, struct str rest, struct buf *b);

/*
 * fix_comment_above -- returns where the line above a value begins, if it is a comment of one line
 * that names the old value; else `line`. A comment of several lines may be about more.
 *
 *   in      text: the file; line: offset of the value's line in bytes; not before `from`
 */
size_t fix_comment_above(const char *text, size_t from, size_t line, struct str old);

#endif
