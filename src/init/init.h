#ifndef INIT_H
#define INIT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/list.h"
#include "facts/facts.h"
#include "recipe/recipe.h"
#include "resolve/resolve.h"

/*
 * A first recipe, out of what there is already: answers, options, a requirements file,
 * a Dockerfile.  Readers fill a `struct init`; init_recipe chooses what they leave open
 * and writes the text.  Reads no file and asks nobody: it gets texts.
 */

/* One line of packages, torch.with or extensions. */
struct init_item {
	const char *key;       /* normalised name */
	const char *text;      /* as the recipe will hold it: "einops==0.8.0"; of an extension its
				 name, or its name and URL */
	const char *spec;      /* of an extension: "==2.2.2", ">=2", "" */
	const char *git, *ref; /* of an extension: its repository and what of it, or NULL */
	const char *comment;   /* why it is what it is, or NULL */
	struct span at;        /* where it was asked for; src NULL: on the command line */
};
struct init_items LIST(struct init_item);

/* What is not in the recipe and is named in a comment. */
struct init_left {
	const char *what, *why;
};
struct init_lefts LIST(struct init_left);

struct init {
	const char *from; /* what it was read from, for the first line; or NULL */
	struct text name; /* of the stack */
	struct text base, cuda, python, index;
	struct text torch;      /* version without +cu121 */
	struct text torch_spec; /* a range of them, "" for any; NULL: torch is not asked for */
	struct texts gpus, apt;
	struct init_items with, packages, extensions;
	struct settings env;
	struct text package_index; /* URL for ordinary packages */
	struct texts copy, command;
	struct text app_requirements;
	bool app_unsure; /* what of the files belongs to the application is not certain */
	bool modal;
	struct init_lefts left;
};

/*
 * init_text -- a file's bytes as a text that can be read.
 *
 *   out     UTF-8; UTF-16 with a byte order mark is converted (PowerShell's `>`)
 *   errors  SB0193, NULL: NUL bytes, other control characters, other encodings, a line
 *           that no tool writes
 *   memory  lives in a, or is src
 */
const struct source *init_text(struct arena *a, struct diags *ds, const struct source *src);

/* True if name or first lines are those of a Dockerfile. */
bool init_is_dockerfile(const struct source *src);

/*
 * init_requirements, init_dockerfile -- add what a file asks for.
 *
 *   in      read: base names of requirements files that are read as well, so that a
 *           Dockerfile's `-r` of one of them is no surprise
 *   out     *n: what was there before stays, and is overridden where both say something
 *   errors  SB0193, false; what is left out or changed is a note, what is wrong with the
 *           Dockerfile a warning
 *   memory  lives in a; borrows from src
 */
bool init_requirements(struct arena *a, struct diags *ds, const struct facts *f,
		       const struct source *src, struct init *n);
bool init_dockerfile(struct arena *a, struct diags *ds, const struct facts *f,
		     const struct source *src, const struct names *read, struct init *n);

/*
 * init_requirement -- add one requirement, wherever it belongs: torch, an extension, a
 * package.  compiled: it goes to the extensions even if nobody knows it.
 *
 *   errors  SB0193, false: it is none
 */
bool init_requirement(struct arena *a, struct diags *ds, const struct facts *f, struct init *n,
		      const char *text, struct span at, bool compiled);

/*
 * init_recipe -- the text of the recipe.
 *
 *   in      path: the name that it will have, for show
 *   out     a text that recipes_load takes and resolve completes without an error; *s is
 *           what it came to (lives in a)
 *   errors  of the recipe and of resolve, at the line of the text that was tried, NULL
 *   memory  lives in a
 */
const char *init_recipe(struct arena *a, struct diags *ds, const struct facts *f,
			const struct init *n, const char *path, const struct stack **s,
			unsigned *warnings);

/* --- questions --- */

enum init_question { ASK_GPUS, ASK_EXTENSIONS, ASK_TORCH, ASK_PYTHON, ASK_MODAL, ASK_COUNT };

/*
 * init_ask -- the question as one line, with what Enter means in brackets; it depends on
 * the answers given so far.
 */
const char *init_ask(struct arena *a, const struct facts *f, const struct init *n,
		     enum init_question q);

/* The answer (without its line end) goes into n; or NULL's opposite: why it cannot. */
const char *init_answer(struct arena *a, const struct facts *f, struct init *n,
			enum init_question q, const char *answer);

#endif
