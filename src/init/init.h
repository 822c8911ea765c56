#ifndef INIT_H
#define INIT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/list.h"
#include "base/map.h"
#include "facts/facts.h"
#include "recipe/recipe.h"
#include "resolve/resolve.h"

/*
 * Creates a recipe from answers, options, requirements files and Dockerfiles.
 *
 * A reader turns its input into a flat list of items: every line, instruction, command and argument
 * that affects the recipe. Each item ends as taken (with a recipe key) or omitted (with a reason).
 * The recipe is the list of taken items, and the report is the list of omitted items. An item that
 * is neither is a bug of this program. init_recipe selects the values that the items leave
 * unpinned, and writes the text. Nothing here reads a file or a terminal.
 */

enum init_fate {
	INIT_OPEN,  /* not decided yet */
	INIT_TAKEN, /* `key` has its value */
	INIT_LEFT,  /* omitted, for the reason in `why` */
	INIT_PARTS, /* its parts, or the places that use it, are separate items */
};

/* The kind of an item of a Dockerfile, for the checks of its order. */
enum init_kind { INIT_OTHER, INIT_APT, INIT_PIP, INIT_COPY };

struct init_item {
	const char *what; /* text of the input, for the report */
	struct span at;   /* src NULL: an option or an answer */
	enum init_fate fate;
	const char *key;        /* INIT_TAKEN: "torch.version", "packages" */
	const char *value;      /* text for the recipe; NULL: no value */
	const char *name;       /* normalised name of a package, name of a variable; or NULL */
	const char *spec;       /* versions: "==2.2.2" of an extension, ">=2" of torch; or "" */
	const char *comment;    /* the reason for the value, or NULL */
	const char *why, *help; /* INIT_LEFT: the reason, and the fix (or NULL) */
	enum code code;         /* INIT_LEFT: code in the report */
	uint32_t line;          /* its line in the recipe's text; 0: none */

	enum init_kind kind;
	unsigned call;             /* number of the command that installs this item */
	struct names env;          /* "NAME=value": variables of an extension's compile step */
	bool isolated;             /* INIT_PIP: without --no-build-isolation */
	bool release;              /* the project's own prebuilt wheel of an extension */
	bool linked;               /* INIT_PIP: with a page of links, which has wheels */
	bool pinned;               /* one version, a tag, a commit or a file */
	bool wide;                 /* INIT_COPY: the whole directory */
	bool weak;                 /* dropped, with a note, if the rest is not compatible with it */
	const char *index, *extra; /* index of the call: torch's tag, "" its root; or NULL */
	const char *local;         /* local version of torch, "cu121"; or NULL */
};
struct init_items LIST(struct init_item *);

/* A line of a constraints file, for a package that another line requires. */
struct init_constraint {
	struct init_item *item;
	const char *text;
};

/* A range of Python that a file requires. */
struct init_range {
	const struct init_item *item;
	const struct specifiers *range;
	const char *text;
};

/* The draft of a recipe; the caller sets the first three members. */
struct init {
	struct arena *a;
	struct diags *ds;
	const struct facts *f;
	/* Returns a file that a requirements file includes (-r, -c); NULL, without an error, if it
	 * does not exist. A NULL function reads no such files. */
	const struct source *(*open)(struct init *rd, const char *path, struct span at);
	/*
	 * Returns the JSON that templates/modal_chain.py prints for a Modal app; function: the one to
	 * read, or NULL. NULL after SB0193. A NULL function pointer reads no Modal apps.
	 */
	const struct source *(*chain)(struct init *rd, const struct source *app,
				      const char *function);
	struct names read;   /* paths of requirements files read so far */
	struct names extras; /* extras and groups of a project to read, too; "*": all */
	struct init_constraints LIST(struct init_constraint) constraints;
	struct init_ranges LIST(struct init_range) pythons;
	bool conda;         /* a note about conda's packages was added */
	const char *likely; /* the most usual Python in these ranges, or NULL */
	const char *from;   /* the source of the items, for the first line; or NULL */
	struct init_items items;
	struct map places; /* key and name -> its item */
	bool modal;        /* write a Modal app, too */
};

/*
 * Returns a file's bytes as UTF-8 text.
 *
 *   in      text that ends with a NUL, as fs_read returns it
 *   out     UTF-8; UTF-16 with a byte order mark is converted (PowerShell's `>`)
 *   errors  SB0193, NULL: NUL bytes, other control characters, another format, a line longer than
 *           64 KiB
 */
const struct source *init_text(struct init *rd, const struct source *src);

/*
 * Return whether a file is a Dockerfile, TOML or YAML, by its name or first line; otherwise it is a
 * requirements file.
 */
bool init_is_dockerfile(struct init *rd, const struct source *src);
bool init_is_toml(struct init *rd, const struct source *src);
bool init_is_yaml(struct init *rd, const struct source *src);

/*
 * init_requirements, init_dockerfile, init_project, init_environment -- add the items of a file. The
 * formats are a list of requirements, a Dockerfile, TOML (pyproject.toml, uv.lock, pylock.toml) and YAML
 * (environment.yml, cog.yaml).
 *
 *   in read: paths of other requirements files in this run, which a Dockerfile may install; a
 *      requirements file may include others (-r, -c) if rd->open is set and its path is not "-"
 *   out     a later item replaces an earlier one of the same key and name
 *   errors  SB0193, false; each omitted item is a note (SB0190) or a warning (SB0192); problems of
 *           the Dockerfile are warnings limits 4000 items; a Dockerfile's variables expand to at
 *           most 1 MiB
 *   memory  borrows from src source PEP 621, PEP 735, PEP 751; uv's documentation of [tool.uv];
 *           conda's and Cog's of theirs
 */
bool init_project(struct init *rd, const struct source *src);
bool init_environment(struct init *rd, const struct source *src);
bool init_requirements(struct init *rd, const struct source *src);
bool init_dockerfile(struct init *rd, const struct source *src, const struct names *read);

/*
 * Return whether a file is a Modal app: Python by its name, or (standard input) by an import of modal.
 * `path` may end with "::FUNCTION"; *function is then FUNCTION, else NULL, and the result the path.
 */
bool init_is_modal(const struct source *src);
const char *init_modal_path(struct init *rd, const char *path, const char **function);
/* Returns whether the text of a Python file imports modal. */
bool init_imports_modal(const struct source *src);

/*
 * init_modal -- adds the items of a Modal app: the image of a function, and the function's arguments.
 *
 *   in      function: NULL: the first one with a GPU; read: as for init_dockerfile
 *   out     calls and functions that the recipe does not contain are omitted items
 *   errors  SB0193, false: no image, or a file that Python cannot parse
 */
bool init_modal(struct init *rd, const struct source *src, const char *function,
		const struct names *read);

/* Adds one requirement of the command line.  errors SB0193, false if it is not valid */
bool init_requirement(struct init *rd, const char *text);

/* Sets a key from the command line; value NULL removes the value of a file. */
void init_set(struct init *rd, const char *key, const char *value);

/*
 * Selects open values, pins all of them, and returns the text of the recipe.
 *
 *   in      path: the name that the file will have, for diagnostics
 *   out     a text that recipes_load and resolve accept; *s is its stack; *warnings: how many
 *           warnings resolve adds
 *   errors those of the recipe and of resolve, with lines of the last text; NULL
 */
const char *init_recipe(const struct init *rd, const char *path, const struct stack **s,
			unsigned *warnings);

/* --- questions --- */

enum init_question { ASK_GPUS, ASK_EXTENSIONS, ASK_TORCH, ASK_PYTHON, ASK_MODAL, ASK_COUNT };

/* Returns the question as one line, with the default in brackets; it depends on earlier answers. */
const char *init_ask(const struct init *rd, enum init_question q);

/* Adds the answer (without its line end); returns NULL, or why it is rejected. */
const char *init_answer(struct init *rd, enum init_question q, const char *answer);

#endif
