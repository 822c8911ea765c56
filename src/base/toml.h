#ifndef TOML_H
#define TOML_H

#include "buf.h"
#include "yaml.h"

/* Limits for TOML: the lock file of a large project has twice as many values as any recipe; a
 * pylock.toml has a key or a value for every 30 bytes. */
#define TOML_LIMITS(size) \
	((struct yaml_limits){ (size) / 24 > 200 * 1000 ? (size) / 24 : 200 * 1000, 48 })

/*
 * toml_read -- reads a TOML document as a tree of nodes with their places (base/yaml.h).
 *
 *   out     a map. A string is a scalar that is not plain; a number, a boolean, a date or a time is
 *           a plain scalar with the text that the document has. An array, also one of tables, is a
 *           list. A table that is written in several parts has the place of the first
 *   errors  SB0133 (syntax, or a string with the character NUL), SB0103 (limits), SB0104 (a key or
 *           table that is defined twice); NULL
 *   memory  lives in a; borrows from src
 *   source  TOML 1.0.0; compared with Python's tomllib
 */
const struct node *toml_read(struct arena *a, struct diags *ds, const struct source *src,
			     struct yaml_limits limits);

/* Writes a basic string of TOML. */
void toml_quote(struct buf *out, const char *s);

#endif
