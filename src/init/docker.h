#ifndef INIT_DOCKER_H
#define INIT_DOCKER_H

#include "reader.h"

/* Private to init/: a Dockerfile, from its lines to the items of its last stage. */

struct instruction {
	const char *name, *p; /* "RUN" in capitals; its start in d->text */
	char *args;           /* the rest after its flags */
	struct names flags;   /* "--mount=..." */
	struct names bodies;  /* heredocs */
};
struct instructions LIST(struct instruction);

struct word {
	const char *s; /* text without quotes and with replaced variables */
	const char *p; /* its place in d->text */
	size_t n;
	bool unknown;  /* contains a variable or command with an unknown value */
	bool redirect; /* contains an unquoted < or >, which a shell interprets */
};
struct command LIST(struct word);

/* A value of ARG or ENV; `used`: a later word contains it. */
struct variable {
	const char *value;
	bool used;
};

/* A variable that steers a build; command: the number of the only command that has it, or 0. */
struct build_setting {
	const char *name, *value;
	struct init_item *item;
	unsigned command;
};

struct stage {
	const char *name, *image; /* image: with replaced variables */
	struct span at;           /* place of the image */
	size_t first, end;        /* range of its instructions, without FROM */
	struct init_item *item;
	int parent;      /* the stage that `image` refers to, or -1 */
	bool unknown;    /* image contains a variable without a value */
	bool last;       /* the last stage, or one of its base stages */
	bool seen;       /* its instructions were read */
	const char *dir; /* the absolute path of WORKDIR so far */
};
struct stages LIST(struct stage);

/* A repository that a RUN clones; items: the commands that belong to it. */
struct clone {
	const char *dir, *url, *ref;
	struct init_items items;
	const struct init_item *by; /* the pip command that installs it, or NULL */
};
struct clones LIST(struct clone);

/* An instruction of which only the last one counts. `in` is NULL if there is none. */
struct last {
	const struct instruction *in;
	struct init_item *item;
	struct word word; /* its first word */
};

/* A source of COPY or ADD, relative to the context, and its absolute place in the image. */
struct copied {
	struct init_item *item;
	const char *source, *target;
	bool dir;
};

/* A user that a RUN creates, and its number as text, or "". */
struct docker_user {
	const char *name, *number;
};

/* A call of pip. */
struct call {
	unsigned number;
	bool isolated, links;      /* links: with a page of links, which has wheels */
	const char *index, *extra; /* indexes for torch */
};

/* The place of the text from `at` on in another file; what: a text for the report, or NULL. A span
 * without a line is the same place of its source. */
struct origin {
	size_t at;
	struct span in;
	const char *what;
};
struct origins LIST(struct origin);

struct docker {
	struct init *rd;
	const struct source *src;
	const struct origins *origins; /* the places of a text that no file has; or NULL */
	const char *no_image;          /* why the first FROM names no image; or NULL */
	bool has_python;               /* the file chooses the Python itself */
	struct names read;             /* names of requirements files that other code reads */
	const char *text;              /* text of the file, see docker_read.c */
	struct span
		fixed; /* the place of every word, if the text is not that of a file; or src NULL */
	struct offsets LIST(size_t) lines;
	struct docker_place {
		size_t at, columns;
	} last_place; /* an offset, and the columns before it on its line */
	char escape;  /* escape character: a backslash, or a backtick */
	struct instructions all;
	struct stages stages;
	struct map vars; /* name -> struct variable */
	size_t expanded; /* bytes of replaced variables */

	const struct stage *stage;    /* the current stage */
	const struct instruction *in; /* the current instruction */
	const struct stage *root;     /* the stage that contains the stack */
	struct clones clones;
	struct build_settings LIST(struct build_setting) settings;
	unsigned command;   /* number of the current command of a RUN */
	struct names files; /* files of the project that were read, relative to the context */
	struct copies LIST(struct copied) copied;
	struct users LIST(struct docker_user) users;
	struct last cmd, entrypoint, user, workdir;
	struct init_item *python; /* the system's Python, which apt installs; or NULL */
	const char *dir;          /* current directory after WORKDIR and cd */
	bool has_torch;           /* the base image has torch */
	bool unseen; /* a requirements file or another tool may install other packages */
	struct call call;
};

/* Reads a Dockerfile into d->all: https://docs.docker.com/reference/dockerfile/ (escape directive,
 * continuation lines, comments between them, heredocs). */
void docker_read(struct docker *d);

/* Copies the text of d->src to d->text, and finds its lines. */
char *docker_copy_text(struct docker *d);

/*
 * Reads the words of an instruction, of a JSON array, or of a shell's next command.  It ignores the
 * operators between commands.  Returns false at the end.
 */
enum docker_form { FORM_WORDS, FORM_ARRAY, FORM_SHELL };
bool docker_words(struct docker *d, const char **p, enum docker_form form, struct command *out);
/* Returns FORM_ARRAY for a JSON array, else `other`. */
enum docker_form docker_form(const struct instruction *in, enum docker_form other);

/* Returns the place of n bytes of d->text, cut at the end of the line. */
struct span docker_span(struct docker *d, const char *p, size_t n);
/* Returns the bytes on one line, for the report. */
const char *docker_shown(struct docker *d, const char *p, size_t n);
/* Opens an item for a word; what NULL: the word itself. */
struct init_item *docker_item(struct docker *d, const struct word *w, const char *what);

/* Returns the text for the report of an instruction of a text with origins, or NULL. */
const char *docker_origin_what(const struct docker *d, const char *p);

/* Reads d->src to decided items. errors SB0193, false */
bool docker_items(struct docker *d, size_t from);

/* Returns the stage that is the base of a stage. */
const struct stage *docker_root(const struct docker *d, const struct stage *s);
/* Decides `export A=b` and `A=b command`; inlined: it applies only to the command. */
void docker_setting(struct docker *d, const struct word *w, bool inlined);
/* Decide the items of ENV and ARG. */
void docker_env(struct docker *d, struct init_item *item, const struct command *c);
void docker_arg(struct docker *d, struct init_item *item, const struct command *c);
/* Lets the settings of the current command apply to later ones, too: `export A=b`. */
void docker_keep_settings(struct docker *d);
/* Adds the settings of the build so far to an extension. */
void docker_add_settings(struct docker *d, struct init_item *extension);
/* Returns the clone whose directory a path names, "." the current one; or NULL. */
struct clone *docker_clone_in(struct docker *d, const char *path);
/* Returns a word of a command, "" after its end. */
const char *docker_word(const struct command *c, size_t i);
/* Reports an unsupported installer: its packages are unknown. */
void docker_unread(struct docker *d, struct init_item *item);
/* Decide the item of a command of Python or pip or uv, of conda, and of `poetry install` or `pixi
 * install`; k: the number of the word after the program. */
void docker_run_python(struct docker *d, struct init_item *item, const struct command *c, size_t k);
void docker_run_conda(struct docker *d, struct init_item *item, const struct command *c, size_t k);
void docker_run_project(struct docker *d, struct init_item *item, const struct command *c,
			size_t k);
void docker_run_pixi(struct docker *d, struct init_item *item);
/* Records the sources of COPY or ADD; from: it copies from another image. */
void docker_take_copy(struct docker *d, struct init_item *item, const struct command *c, bool from);
/* Returns the path in the context of a file of the image; the path itself if it is relative and no
 * COPY brings it, else NULL. */
const char *docker_source(struct docker *d, const char *path);
/* Keeps an instruction of which only the last one counts, and its item. */
void docker_last(struct docker *d, struct init_item *item, const struct command *c);
/* Decides the items of the application: its files, commands, user and variables. */
void docker_finish_app(struct docker *d, size_t from);
/* Decides the item of a RUN, d->in, by its commands. */
void docker_commands(struct docker *d, struct init_item *item);
/* Decides the items of the stages, and d->root. */
void docker_images(struct docker *d);
/* Decides the items of clones and variables from `from` on, at the end of a file. */
void docker_decide(struct docker *d, size_t from);
/* Reads a project file next to the Dockerfile instead of `item`; path: its path in the image. Returns
 * false if the file does not exist. */
bool docker_project_file(struct docker *d, struct init_item *item, const char *path);
/* Warns about the order of the items from `from` on, and about unpinned items (SB0195 to SB0199). */
void docker_check(struct docker *d, size_t from);

#endif
