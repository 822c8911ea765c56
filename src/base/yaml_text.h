#ifndef YAML_TEXT_H
#define YAML_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "diag.h"

/*
 * yaml_text_holds -- whether a text is one that every reader of YAML takes for the
 * same: UTF-8, without control characters, without line ends that only some know.
 *
 *   in      from: bytes of a byte order mark
 *   errors  SB0101 (not UTF-8), SB0102 (a character that is refused), SB0103 (so many
 *           directives that the reader would be slow); false
 *   source  RFC 3629; YAML 1.2.2, 5.1 and 5.4 (1.1 has more line breaks)
 */
bool yaml_text_holds(struct diags *ds, const struct source *src, size_t from);

/* Whether a scalar, its escapes resolved, holds a control character (beside \n and \t). */
bool yaml_has_control(const char *s, size_t n);

/* The tags of the core schema; NULL is none. */
bool yaml_tag_allowed(const char *tag);

/* The rest of a text, from a line on. */
struct yaml_rest {
	struct source text;
	uint32_t line;
};
/* Line `n` as source_line gives it; for rising numbers a text is gone through once. */
bool yaml_next_line(struct yaml_rest *rest, const struct source *src, uint32_t n, const char **line,
		    size_t *size);

/* Moves the start of a span past an anchor and a tag on its line, to what they belong to. */
void yaml_skip_properties(struct span *at, const char *line, size_t size);

#endif
