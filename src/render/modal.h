#ifndef MODAL_H
#define MODAL_H

#include "base/map.h"
#include "target.h"

/*
 * The Modal target in parts: the checks for Modal and its GPU (modal_check.c), operations as layers
 * (modal_layers.c), calls of pip and other Python (modal_pip.c).  modal.c puts them into
 * templates/modal_app.py.
 */
struct modal {
	struct target *t;
	struct arena *a;
	const struct stack *stack;
	const struct recipe *recipe;
	const struct recipe_modal *asked; /* the recipe's `modal`; empty if it has none */
	const char *builder;              /* "2025.06" */
	const char *python;               /* series for add_python; NULL: the base image's own */
	const char *entry;   /* "src/train.py" of the entry point "src/train.py::main"; or NULL */
	const char *worker;  /* the function of the app file that runs the entry point; or NULL */
	bool copied;         /* app.copy copies the entry point */
	bool alone;          /* only the image, for an app of the user: -t modal-image */
	bool heavy;          /* extensions compile in a build function, for more resources */
	struct texts gpus;   /* "A100-80GB:2", fallbacks in order; empty: no GPU */
	const char *gpu_why; /* the reason for the GPUs, if the recipe does not set them; or NULL */
	const char *list;    /* the list for layers: "layers", or "app_layers" after them */
	const char *comment; /* comment of the step for its next layer; or NULL */
	size_t layers;       /* number of layers so far */
	struct map written;  /* last text of each short file, by path */
};

extern const struct places modal_places;

/*
 * Fills in gpus, and reports values that Modal rejects at the recipe's lines: SB0420 to SB0429;
 * SB0424: the GPU, or every GPU of Modal, cannot run the kernels.
 */
void modal_check(struct modal *m);

/* --- functions (modal_function.c) --- */

struct py_call;
/* What a decorator is for: the smoke test, the entry point or command, or another callee. */
enum modal_callee { MODAL_SMOKE, MODAL_PROGRAM, MODAL_WEB, MODAL_SERVER, MODAL_CLASS };

/* Adds the arguments of @app.function, @app.cls or @app.server. */
void modal_decorator(struct modal *m, enum modal_callee callee, struct py_call *c);
/* Adds those that the recipe requests: resources, volumes, buckets, secrets, modal.function. */
void modal_work_options(struct modal *m, enum modal_callee callee, struct py_call *c);

/* The names that templates/modal_app.py may use for the web function and the class. */
extern const struct shape modal_web_shape[], modal_class_shape[];

/* Adds the web function and the class of the recipe to the template's values. */
void modal_add_members(struct modal *m);
/* Returns their files, except the entry point's and those that app.copy copies. */
struct texts modal_member_files(const struct modal *m);
/* Returns the oldest client that has all that the app uses; NULL: every client. */
const char *modal_client(const struct modal *m);

/* --- prices and times (modal_cost.c) --- */

/*
 * Returns ", about $60 for the GPU and $43 for processors and memory" for a function's work, or
 * "" if nothing has a price; price unknown: ", price unknown".
 */
const char *modal_cost(const struct modal *m, enum modal_callee callee, double seconds);
/* Returns how long the extensions compile, and what they cost in functions; NULL: none compile. */
const char *modal_compile_note(const struct modal *m);

/* The names that templates/modal_app.py may use for a layer. */
extern const struct shape modal_layer_shape[];

/* Adds the layers to the template's values, and the helpers that they copy. */
void modal_add_layers(struct modal *m);

/* Adds a layer: the call of a method of the image.  why: its comment, or NULL. */
void modal_layer(struct modal *m, const char *why, const char *method, const struct py_call *c);

/* --- the recipe's program (modal_entry.c) --- */

/* Fills in entry, worker and copied. */
void modal_entry_read(struct modal *m);
/* Returns whether a name is a keyword of Python, or a name in the app file. */
bool modal_entry_taken(const char *name);
/* Reports a launcher without anything to start: SB0431. */
void modal_entry_check(struct modal *m);
/* Returns the call of templates/modal_entry.py that runs the entry point; words NULL: or a command. */
const char *modal_entry_call(struct modal *m, const struct texts *words);
/* Sets the names of the template for the program that `modal run FILE` starts: one of `function`. */
void modal_entry_launch(struct modal *m, const char *function);
/* Mounts modal_entry.py next to the app file. */
void modal_entry_mount(struct modal *m);

/* --- pip (modal_pip.c) --- */

/* Adds a layer that installs packages. */
void modal_add_packages(struct modal *m, const struct step *s, const struct operation *op);
/* Returns the directory of own code in the image. */
const char *modal_own_code(struct arena *a, const struct step *s);
/* Adds the layer of an extension: one pip call that fetches, compiles and installs it. */
void modal_add_extension(struct modal *m, const struct step *s);
/* Returns a command with its secrets as files; Modal passes them as variables. */
const char *modal_with_secrets(struct modal *m, const struct names *secrets, const char *command);
/* Adds the argument `secrets` of a call; nothing if there are none. */
void modal_secrets(const struct names *secrets, struct py_call *c);

/* --- Python calls --- */

/*
 * A Python call, on one line if it fits, otherwise with each argument on its own line:
 *
 *     .pip_install(
 *         "torch==2.2.2",
 *         index_url="https://...",
 *     )
 */
struct py_argument {
	const char *flat;        /* the argument on one line */
	const char *start, *end; /* brackets of a list or dict: "env={", "}" */
	struct names parts;      /* its items; or the literals of a long text */
};
struct py_call {
	struct arena *a;
	struct py_arguments LIST(struct py_argument) args;
};

/* Adds an argument; key NULL: a positional one. */
void py_text(struct py_call *c, const char *key, const char *text);
void py_code(struct py_call *c, const char *key, const char *code);
/* Adds items, which are code, in "[]", "()" or "{}"; nothing if there are none. */
void py_list(struct py_call *c, const char *key, const char *brackets, const struct names *items);
void py_dict(struct py_call *c, const char *key, const struct variables *variables);
/* Returns the call of `callee`. */
const char *py_call(const struct py_call *c, const char *callee);

/* Returns a Python string literal. */
const char *py_quoted(struct arena *a, const char *text);

#endif
