#ifndef DIAGNOSE_H
#define DIAGNOSE_H

#include "base/json.h"
#include "base/list.h"
#include "base/yaml.h"
#include "facts/facts.h"

/*
 * Finds the causes of a failure in a log, with the signatures of the knowledge base. A log is read
 * once, piece by piece, in constant memory: about 2 MiB for any size and length of lines. It
 * decodes colours and the JSON progress records of engines.
 */
struct diagnosis;

/* A line of the log: its number counts from 1. */
struct log_line {
	const char *text; /* text without colours, at most LOG_LINE_MAX bytes */
	unsigned long long line;
};
struct log_lines LIST(struct log_line);

enum { LOG_LINE_MAX = 400 };

struct cause {
	const struct signature *of;
	enum confidence confidence; /* below that of the signature where the log contradicts it */
	const char *title, *why, *fix;     /* texts of the signature, with the log's text for {1} */
	const struct signature *recipe_of; /* the signature with the change of a recipe, or NULL */
	const char *recipe_value;          /* value for its recipe_set or recipe_add */
	const struct extension *extension; /* its wheel is for another torch: compile it; or NULL */
	const char *torch;      /* of that wheel: "built for torch 2.3 or later"; or NULL */
	struct log_lines lines; /* lines that show the cause; never empty */
};

struct causes {
	struct cause *at; /* the best one first; each category once */
	size_t n, cap;
	struct log_lines worth;   /* without causes: last lines that look like errors */
	unsigned long long lines; /* number of lines in the log */
};

/*
 * diagnose_new -- starts to read a log.
 *
 *   memory  lives in a, until diagnose_end
 */
struct diagnosis *diagnose_new(struct arena *a, const struct facts *f);

/*
 * diagnose_room -- returns a buffer for the next bytes of the log, and its size (at least 1).
 * diagnose_added -- reads n bytes in that buffer.
 */
char *diagnose_room(struct diagnosis *d, size_t *n);
void diagnose_added(struct diagnosis *d, size_t n);

/* Returns the result for the whole log; *d must not be used afterwards. */
const struct causes *diagnose_end(struct diagnosis *d);

/*
 * diagnose_text -- writes the causes as a screen.
 *
 *   in   name: name of the log, "build.log"; recipe: the one that --fix would change, or NULL
 */
void diagnose_text(struct arena *a, const struct causes *c, const char *name, const char *recipe,
		   struct buf *out);

/*
 * diagnose_patch -- adds the change to the recipe from the best cause that has one.
 *
 *   out     false if no cause has one
 *   errors  SB0701, with edits unless the user must make the change; SB01xx: the recipe cannot be
 *           read
 *   memory  lives in a
 */
bool diagnose_patch(struct arena *a, struct diags *ds, const struct causes *causes,
		    const struct source *recipe);

/* Writes the causes as JSON: {"causes": [{"category", "title", "lines", "why", "fix", "confidence", "source", ...}]} */
void diagnose_json(const struct causes *c, struct json *j);

#endif
