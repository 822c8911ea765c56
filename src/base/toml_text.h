#ifndef TOML_TEXT_H
#define TOML_TEXT_H

#include "str.h"
#include "toml.h"

/* Private to the TOML reader: places, blanks, strings and plain values. */

struct toml_reader {
	struct arena *a;
	struct diags *ds;
	const struct source *src;
	struct yaml_limits limits;
	const char *p, *end;
	const char *marked; /* line and col are those of this byte */
	uint32_t line, col;
	size_t nodes;
	unsigned depth;
	unsigned section,
		sections; /* number of the current header or inline table; number of all so far */
};

/* Returns the place of [p, to), or of one character (NULL).  Call it in the order of the text. */
struct span toml_place(struct toml_reader *r, const char *p, const char *to);
/* Reports the text at the reader's place; returns false. */
bool toml_wrong(struct toml_reader *r, const char *what);
/* Counts one more value at that depth; false: too many, or too deep. */
bool toml_count(struct toml_reader *r, unsigned depth);
/* Returns whether the whole text is UTF-8 without control characters but tab and line ends. */
bool toml_text_holds(struct toml_reader *r);

bool toml_next_is(const struct toml_reader *r, const char *what);
/* Skips the given text, if it is next. */
bool toml_take(struct toml_reader *r, const char *what);
void toml_skip_blanks(struct toml_reader *r);
/* Skips blanks, a comment and the end of the line.  False: other text follows. */
bool toml_take_line_end(struct toml_reader *r);

/* Returns a string, whose first quote is next; NULL: an error was reported. */
const char *toml_string(struct toml_reader *r, bool may_have_lines);
/* Returns a bare key, or NULL if there is none. */
const char *toml_bare_key(struct toml_reader *r);
/* Returns the text of a boolean, a number, a date or a time; NULL: an error was reported. */
const char *toml_plain(struct toml_reader *r);

#endif
