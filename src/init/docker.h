#ifndef INIT_DOCKER_H
#define INIT_DOCKER_H

#include "wish.h"

/* Inside init/: a Dockerfile, from its lines to what it installs in which order. */

/* --- instructions --- */

/* From byte `at` of an instruction's text on, until the next mark: this place of the file. */
struct docker_mark {
	size_t at;
	uint32_t line, col;
};
struct docker_marks LIST(struct docker_mark);

struct instruction {
	const char *name; /* "RUN", in capitals */
	const char *text; /* its arguments: lines joined, comments gone; of a heredoc that is a
			     shell's, its lines */
	struct span at;   /* the keyword */
	struct docker_marks marks;
};
struct instructions LIST(struct instruction);

/*
 * docker_read -- a Dockerfile as instructions.
 *
 *   source  https://docs.docker.com/reference/dockerfile/ (escape directive, continuation
 *           lines, comments between them, heredocs)
 */
struct instructions docker_read(struct arena *a, const struct source *src);

/* The place of n bytes of its text from `from` on, as far as they stand on one line. */
struct span instruction_span(const struct instruction *i, size_t from, size_t n);

/* --- words --- */

struct docker_word {
	const char *s;  /* quotes gone, variables in their places */
	size_t from, n; /* bytes of the instruction's text */
	bool unknown;   /* holds a variable or command whose value nobody knows */
	bool redirect;  /* holds a bare < or >, which a shell takes for itself */
};
struct docker_words LIST(struct docker_word);
struct docker_command {
	struct docker_words words; /* settings before the command are in it: "A=b" */
};
struct docker_commands LIST(struct docker_command);

/* A shell's text as simple commands, in order; what decides between them is not looked at. */
struct docker_commands docker_commands(struct arena *a, const char *text,
				       const struct settings *vars);
/* "${CUDA}-devel" with its variables; *unknown if one has no value. */
const char *docker_expand(struct arena *a, const char *text, const struct settings *vars,
			  bool *unknown);

/* --- what happens, in order --- */

enum event_kind { EVENT_APT, EVENT_PIP, EVENT_COPY };

/* One thing that is installed or copied. */
struct event {
	enum event_kind kind;
	const struct instruction *in;
	struct span at;
	const char *name;          /* package or requirement's name */
	struct wish wish;          /* of EVENT_PIP */
	unsigned call;             /* which command: one call of pip installs many */
	bool isolated;             /* of EVENT_PIP: without --no-build-isolation */
	const char *index, *extra; /* of its call: the torch index's tag, "" its root; or NULL */
	bool all;                  /* of EVENT_COPY: the whole folder */
};
struct events LIST(struct event);

struct clone {
	const char *dir, *url, *ref;
	struct span at;
};
struct clones LIST(struct clone);

struct docker {
	struct reader rd;
	const struct source *src;
	const struct names *read; /* requirements files that are read elsewhere */
	struct instructions all;
	struct settings vars;
	struct events events;
	struct clones clones;
	const char *folder; /* where a RUN's cd has got to */
	struct text image;
	const struct instruction *in; /* the one being looked at */
	unsigned calls;
	bool cache_off, cache_mount; /* pip's cache */
	bool unseen; /* a list of requirements, or another tool, may have installed anything */
	struct span cached, lists; /* the first call that leaves its cache; line 0: none */
};

/* What one RUN does. */
void docker_run(struct docker *d, const struct instruction *in);
/* pip's arguments, from the word after `install` on. */
void docker_pip(struct docker *d, const struct docker_command *c, size_t from);
/* What is wrong with the order of it all. */
void docker_judge(struct docker *d);

#endif
