#ifndef DIAGNOSE_H
#define DIAGNOSE_H

#include "base/json.h"
#include "base/list.h"
#include "base/yaml.h"
#include "facts/facts.h"

/*
 * From a log to the causes of a failure, by the signatures of the knowledge base.  A log is read
 * once, piece by piece, in constant memory: about 2 MiB whatever its size and the length of its
 * lines.  Colours and progress records of engines (JSON) are decoded on the way.
 */
struct diagnosis;

/* A line of the log: its number counts from 1. */
struct log_line {
	const char *text; /* without colours; at most LOG_LINE_MAX bytes of it */
	unsigned long long line;
};
struct log_lines LIST(struct log_line);

enum { LOG_LINE_MAX = 400 };

struct cause {
	const struct signature *of;
	const char *title, *why, *fix; /* the signature's, with the log's text for {1} */
	const char *recipe_value; /* of recipe_set or recipe_add; NULL: no change of a recipe */
	struct log_lines lines;   /* that show it: never empty */
};

struct causes {
	struct cause *at; /* best first; each category once */
	size_t n, cap;
	struct log_lines worth;   /* without a cause: the last lines that look like errors */
	unsigned long long lines; /* of the log */
};

/*
 * diagnose_new -- starts to read a log.
 *
 *   memory  lives in a, until diagnose_end
 */
struct diagnosis *diagnose_new(struct arena *a, const struct facts *f);

/*
 * diagnose_room -- returns where the next bytes of the log go, and how many fit (1 or more).
 * diagnose_added -- reads the n bytes that were put there.
 */
char *diagnose_room(struct diagnosis *d, size_t *n);
void diagnose_added(struct diagnosis *d, size_t n);

/* Returns the result for the whole log; *d must not be used afterwards. */
const struct causes *diagnose_end(struct diagnosis *d);

/*
 * diagnose_text -- writes the causes as a screen.
 *
 *   in   name: of the log, "build.log"; recipe: that --fix would change, or NULL
 */
void diagnose_text(struct arena *a, const struct causes *c, const char *name, const char *recipe,
		   struct buf *out);

/*
 * diagnose_patch -- adds the change of a recipe that the best cause with one names.
 *
 *   out     false if no cause names one
 *   errors  SB0701, with the change as edits unless only a person can make it; SB01xx: the recipe
 *           cannot be read
 *   memory  lives in a
 */
bool diagnose_patch(struct arena *a, struct diags *ds, const struct causes *causes,
		    const struct source *recipe);

/* {"causes": [{"category", "title", "lines", "why", "fix", "confidence", "source", ...}]} */
void diagnose_json(const struct causes *c, struct json *j);

#endif
