#ifndef MODAL_H
#define MODAL_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/map.h"
#include "command.h"
#include "plan/plan.h"
#include "target.h"

/*
 * The Modal target in parts: what Modal refuses (modal_check.c), which GPU
 * (modal_gpu.c), one layer a step (modal_layers.c), pip and shell commands as calls
 * (modal_commands.c), the functions (modal_function.c), Python text (modal_python.c).
 * modal.c puts them into templates/modal_app.py.
 */
struct modal {
	struct arena *a;
	struct diags *ds;
	const struct plan *plan;
	const struct stack *stack;
	const struct recipe *recipe;
	const struct recipe_modal *asked; /* the recipe's modal: section; empty if it has none */
	const struct templates *templates;
	const char *builder; /* "2025.06" */
	const char *python;  /* series for add_python; NULL: the base image's own */
	bool heavy;          /* extensions compile in a build function */
	struct texts gpus;   /* "A100-80GB:2", fallbacks in order; empty: no GPU */
	const char *gpu_why; /* why these, if the recipe does not say; or NULL */
	struct scope *values;
	size_t layers;      /* so far */
	struct map written; /* files by path: their last text */
};

extern const struct places modal_places;

/* Where the recipe says a thing; its modal: section, or the file, if it does not. */
struct span modal_place(const struct modal *m, struct span at);

/* What Modal refuses, at the recipe's lines.  False: SB0420 to SB0429. */
bool modal_allows(struct modal *m);

/* Fills gpus.  False: SB0424, no GPU of Modal's runs the kernels, or this one does not. */
bool modal_choose_gpus(struct modal *m);

/* The names that templates/modal_app.py may use for a layer and for a function. */
extern const struct shape modal_layer_shape[], modal_function_shape[];

/* The layers, into the list `layers` of the template's values. */
void modal_add_layers(struct modal *m);

/* One layer: what it is, why it stands here, the call that makes it. */
void modal_add_layer(struct modal *m, const char *title, const char *why, struct buf *code);

/*
 * A step's files, and its commands from the first-th on: pip calls as pip_install (if
 * `pip`), the others as run_commands.
 */
void modal_add_commands(struct modal *m, const struct step *s, size_t first, bool pip);

/* One pip call as a layer; with a secret it is a line of sh. */
void modal_add_pip(struct modal *m, const struct step *s, const struct command *c, const char *why);

/* An extension as a layer. */
void modal_add_extension(struct modal *m, const struct step *s);

/* "src/train.py" of the entry point "src/train.py::main"; NULL: none. */
const char *modal_entry_file(const struct modal *m);
/* Whether app.copy copies a file, by itself or in a folder. */
bool modal_copies(const struct modal *m, const char *file);

/* Its secrets, as what a call's `secrets` takes; NULL: none. */
const char *modal_secrets(struct modal *m, const struct command *c);

/* The functions, into the list `functions`, and what is said of them. */
void modal_add_functions(struct modal *m);

/* A text as lines of a list, none longer than a line of the file should be. */
void modal_lines(struct modal *m, struct scope *s, const char *list, const char *text);

/* --- Python calls, one argument a line --- */

/*
 *     py_open(&b, "image = image", "pip_install");
 *     py_text(&b, NULL, "torch==2.2.2");
 *     py_text(&b, "index_url", url);
 *     py_close(&b);
 *
 * gives
 *
 *     image = image.pip_install(
 *         "torch==2.2.2",
 *         index_url="https://...",
 *     )
 */
void py_open(struct buf *b, const char *object, const char *method);
void py_text(struct buf *b, const char *key, const char *text);
void py_code(struct buf *b, const char *key, const char *code);
void py_list(struct buf *b, const char *key, const struct texts *texts);
void py_dict(struct buf *b, const char *key, const struct variables *variables);
void py_close(struct buf *b);

/* A Python string literal; of a text of several lines """...""" where that can be. */
void py_string(struct buf *b, const char *text);
void py_block(struct buf *b, const char *text);

#endif
