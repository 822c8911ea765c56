#ifndef INIT_READER_H
#define INIT_READER_H

#include "base/str.h"
#include "init.h"

/* Private to init/: functions that all readers share, and the draft of a recipe. */

enum { INIT_ITEMS_MAX = 4000 };

/* The help of an error about a file that init does not read. */
#define INIT_READS \
	"pass a requirements file, the output of `pip freeze`, pyproject.toml, environment.yml, " \
	"cog.yaml or a Dockerfile"

/* Returns the first line that is not a comment, without blanks around it; "": there is none. */
const char *init_first_line(struct init *rd, const struct source *src);

/*
 * Adds an item without a fate and returns it.  With INIT_ITEMS_MAX items it adds an error (SB0193)
 * instead and returns the last one.
 */
struct init_item *item_open(struct init *rd, const char *what, struct span at);

/*
 * Takes an item into the recipe. It replaces an earlier item of the same key (and name), which is omitted
 * and which `item` points to afterwards. value NULL: the key covers the item without its text. Returns
 * the item of the key.
 */
struct init_item *item_take(struct init *rd, struct init_item *item, const char *key,
			    const char *value);
/* Decide that an item is omitted: with a note, or (with help or NULL) with a warning that it was
 * not read. */
#define item_leave(rd, item, ...) item_drop(rd, item, N_INIT_LEFT, NULL, __VA_ARGS__)
#define item_unread(rd, item, ...) item_drop(rd, item, W_INIT_NOT_READ, __VA_ARGS__)
/* The same for a directory or a file of the project, such as `-e .`. */
#define item_local(rd, item) \
	item_unread(rd, item, \
		    "list code that compiles for torch as `extensions: [{name: NAME, path: " \
		    "./DIRECTORY}]`, and copy other code with `app: {copy: [...]}`", \
		    "it is local code")
void item_drop(struct init *rd, struct init_item *item, enum code code, const char *help,
	       const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* Opens an item and decides it. */
struct init_item *item_set(struct init *rd, const char *what, struct span at, const char *key,
			   const char *value);

/* Reports the items from place `from` on; BUG if one of them is not decided. */
void items_report(struct init *rd, size_t from);
void item_report(struct init *rd, const struct init_item *item);
/* Adds a note (SB0191): the recipe differs from the input at this place. */
#define item_changed(rd, at, ...) diag_at((rd)->ds, N_INIT_CHANGED, at, __VA_ARGS__)

/* Returns the item of a key (with a name), or NULL. */
struct init_item *init_find(const struct init *rd, const char *key, const char *name);
#define init_get(rd, key) init_find(rd, key, NULL)
/* Returns the item of `packages` with the range of torch, "torch>=2,<2.3"; or NULL. */
#define torch_range(rd) init_find(rd, "packages", "torch")
/* Returns the value of a key, or NULL. */
const char *init_value(const struct init *rd, const char *key);
/* Returns true if an item has the key with a value. */
bool item_has(const struct init_item *item, const char *key);

/* --- files and commands, without a report --- */

/* Read a file like the functions of init.h; their items are not reported. */
void read_requirements(struct init *rd, const struct source *src);
void read_project(struct init *rd, const struct source *src);
void read_environment(struct init *rd, const struct source *src);
/* Reads a script of a shell. */
void read_script(struct init *rd, const struct source *src);
/* Decides an item by the commands in a text. */
void read_commands(struct init *rd, struct init_item *item, const char *text);

/* Read [tool.poetry] of a pyproject.toml, and pixi.toml or [tool.pixi]. */
struct node;
void read_poetry(struct init *rd, const struct node *poetry);
void read_pixi(struct init *rd, const struct node *pixi);

/* --- requirements --- */

/*
 * Decides an item by its requirement: PEP 508, the URL of a wheel, an sdist or a repository, or a path.
 * compiled: an unknown package goes to `extensions`.
 */
void place_requirement(struct init *rd, struct init_item *item, const char *text, bool compiled);
/* The reason for omitting a channel of conda. */
#define NO_CHANNEL "the packages come from PyPI, and not from a channel of conda"
/* Does the same for a package of conda, "pytorch=2.2.2=py3.11_cuda12.1", that PyPI has, too. */
void place_conda(struct init *rd, struct init_item *item, const char *text);
/* Returns "cu121" for torch's own index, "" for its root, NULL for another one. */
const char *torch_index_tag(struct init *rd, const char *url);

/* Returns true for a path: a directory or a file of this machine that pip builds. */
bool is_local_path(const char *s);

/* Decides an item that is an option of pip; an editable requirement is not one. */
void place_option(struct init *rd, struct init_item *item, enum pip_option o, const char *value);

/* --- Python --- */

/* Decides an item by the range of Python that a file requires: ">=3.10,<3.13". */
void python_range(struct init *rd, struct init_item *item, const char *spec);
/* Returns the Python of the items so far, or the most usual one in their ranges: for markers. */
const char *python_likely(struct init *rd);
/*
 * Sets the Python of the draft if it is not the resolver's own choice: one inside all ranges, or the
 * system's where the rest is compatible with it.
 * errors  SB0193, false: the given Python, or every one that works, is outside a range
 */
bool python_choose(struct init *rd, const char *path);

/* --- the draft --- */

/* A key of the recipe, in the order of the text. */
struct init_key {
	const char *key;
	enum {
		KEY_VALUE,
		KEY_ONE, /* KEY_LINES, but KEY_VALUE if there is one item */
		KEY_LINES,
		KEY_SETTINGS
	} form;
	bool needed; /* its items cannot be omitted if resolve rejects them */
	bool gap;    /* an empty line before it */
	const char *comment;
};
const struct init_key *init_key(const char *key);

/* Returns a copy that can be changed and adds diagnostics to ds. */
struct init init_copy(const struct init *rd, struct diags *ds);
/* Returns whether an image has torch, maybe of a release that is not in the knowledge base. */
bool image_has_torch(const struct image_name *image);
/* Returns the item at a place of the text, or NULL. */
struct init_item *draft_item(const struct init *rd, struct span at);
/*
 * Puts the fix of an error first that moves the versions of the files least.
 * Returns false if each one moves a version that the user pinned by more than a patch release.
 */
bool smallest_fix(const struct init *rd, struct diag *d);
/* Returns the recipe's text, and sets the line of each item. Equal items give equal bytes. */
const char *draft_write(struct init *rd);

/*
 * Selects open values, repairs rejected ones, and writes every selected value back as items.
 * errors  those of the recipe and of resolve for the last text that was tried; false
 */
bool draft_complete(struct init *rd, const char *path);
/* The same for a draft whose Python is chosen. */
bool draft_select(struct init *rd, const char *path);
/* Writes the stack to the draft: each value with its reason, and a note if it differs from the
 * input. */
void draft_pin(struct init *rd, const struct stack *s, bool quiet);

#endif
