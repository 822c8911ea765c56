#ifndef JSON_H
#define JSON_H

#include <stdbool.h>
#include <stddef.h>

#include "buf.h"
#include "list.h"

/*
 * Writes JSON (RFC 8259), ASCII only: other code points are escaped, bytes that are
 * not UTF-8 become U+FFFD.  Two-space indentation, one line for each item, or everything
 * on one line when `flat`.  Keys come in the order given.
 *
 * `key` is NULL inside a list and for the root.  A NULL text is written as null.
 */
struct json {
	struct buf *out;
	bool flat;
	unsigned depth;
	bool any[32]; /* per depth: the container has an element */
	char close[32];
	unsigned row; /* depth of the map that is written on one line; 0: none */
};

enum { JSON_DEPTH_MAX = 32 };

struct json json_to(struct buf *out);
struct json json_flat_to(struct buf *out);

void json_map(struct json *j, const char *key);
void json_list(struct json *j, const char *key);
/* Ends the innermost map or list. */
void json_end(struct json *j);

void json_text(struct json *j, const char *key, const char *value);
/* Writes a number in its shortest form, with at most 6 decimals. */
void json_number(struct json *j, const char *key, double value);
void json_int(struct json *j, const char *key, long long value);
void json_bool(struct json *j, const char *key, bool value);
void json_nil(struct json *j, const char *key);
/* Adds a value that is JSON already. */
void json_raw(struct json *j, const char *key, const char *value);
/* Writes a list of texts. */
void json_names(struct json *j, const char *key, const struct names *all);

/*
 * json_put -- combines several calls, written as the JSON that they make:
 *
 *     json_put(&j, "{'id': %s, 'needs': ['apt'], 'cost': %d, 'files': {", id, 3);
 *
 *   in texts are in single quotes, without escapes; %s takes a text (as a key or a value), %o
 *        one that is left out with its key if it is NULL, %d an int, %b a bool, %f a double and %n
 *        a pointer to names; (...) is a map on one line;
 *        brackets may stay open for calls that follow, or close earlier ones
 */
void json_put(struct json *j, const char *fmt, ...);

/* Writes a text as a JSON string. */
void json_quote(struct buf *out, const char *s);

#endif
