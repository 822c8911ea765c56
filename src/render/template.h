#ifndef TEMPLATE_H
#define TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/list.h"
#include "quote.h"
#include "recipe/recipe.h"

/*
 * The template language: text with values, sections and lists; no logic, and every value is
 * inserted with its quoting.
 *
 *     template := { text | tag }
 *     tag      := "{{" name "|" quoting "}}"        a value, quoted for this place
 *               | "{{" name "|code}}"               text that the target made from quoted parts
 *               | "{{#" name "}}" template "{{/" name "}}"
 *                                                   if it has a value; for each item of a list
 *               | "{{^" name "}}" template "{{/" name "}}"
 *                                                   if it has no value; if the list is empty
 *               | "{{@" WORD "}}"                   WORD, whose position is recorded
 *               | "{{!" text "}}"                   a remark, which is omitted
 *     name     := letter { letter | digit | "_" } | "."
 *     quoting  := "sh" | "text" | "dockerfile" | "copy" | "json" | "python"
 *               | "comment" | "word" | "requirement" | "html" | "plain"
 *
 * In the body of a list a name is looked up in the item first, then outwards.  "."
 * is the item of a list of plain texts. Every item has `first` and `last`. A line with only a
 * section tag or a remark leaves no empty line. Each line of code that is alone on its line gets
 * the indentation of its tag. "{{{{" is a literal "{{".
 *
 * A target declares which names its template may use (struct shape), so that the whole template is
 * checked, including sections that this recipe does not use.
 */

enum value_kind {
	VALUE_FLAG, /* true or false, for sections only */
	VALUE_TEXT, /* any text, which needs a quoting */
	VALUE_CODE, /* made by the target from quoted parts, in the template's language */
	VALUE_LIST  /* items with their own names, or plain texts, "." */
};

/* A name that a template may use; a table ends with a row without a name. */
struct shape {
	const char *name;
	enum value_kind kind;
	const char *what;          /* description for authors of templates, one line */
	const struct shape *items; /* VALUE_LIST: names of its items; NULL: plain texts */
};

/* The value of a name in a shape. */
struct value {
	const char *text; /* NULL: no value */
	struct span at;
	bool on;
	struct scopes LIST(struct scope *) items;
};

/* The values for one shape. A name that is not set has no value. */
struct scope {
	struct arena *a;
	const struct shape *shape; /* NULL: an item that is a plain text */
	struct value *values;      /* one for each row of shape; or the only plain text */
	/* The owner of the recorded words, except in inner items with their own owner. */
	const char *mark;
};

struct scope *scope_new(struct arena *a, const struct shape *shape);
/* Sets a text, or no value for NULL; at: its place in the recipe, for errors in quoting. */
void scope_text(struct scope *s, const char *name, const char *text, struct span at);
void scope_flag(struct scope *s, const char *name, bool on);
void scope_code(struct scope *s, const char *name, const char *code);
/* Adds an item to a list: one with its own names, or a plain text. */
struct scope *scope_item(struct scope *s, const char *name);
void scope_item_text(struct scope *s, const char *name, const char *text, struct span at);
void scope_texts(struct scope *s, const char *name, const struct texts *all);

struct templates; /* the source of template texts: see templates_open */

/* Returns the text of a template or helper file, from the directory of --templates or built in. */
const struct source *templates_text(const struct templates *t, const char *name);
/* Returns the sha256 of all templates and their names, for the manifest. */
const char *templates_digest(struct arena *a, const struct templates *t);

/* A {{@WORD}} in the result; the list is in their order. */
struct template_mark {
	const char *word;
	const char *what; /* owner: that of the innermost item that has one; or NULL */
	size_t at;        /* offset in out, in bytes */
};
struct template_marks LIST(struct template_mark);

/*
 * template_expand -- adds a template with its values to out.
 *
 *   in      language: the language of the result, which decides what quotings are allowed and what
 *           `sh` means
 *   out     marks: may be NULL
 *   errors  SB0401 syntax, SB0402 unknown name, SB0403 no quoting or a wrong one, SB0404 a value
 *           that cannot be written there (at the recipe's line); false: out is not valid
 *   limits  TEMPLATE_BYTES_MAX, TEMPLATE_DEPTH_MAX sections inside each other
 */
bool template_expand(struct diags *ds, const struct source *src, enum language language,
		     const struct scope *values, struct buf *out, struct template_marks *marks);

enum { TEMPLATE_BYTES_MAX = 256 * 1024, TEMPLATE_DEPTH_MAX = 16 };

#endif
