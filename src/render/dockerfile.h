#ifndef DOCKERFILE_H
#define DOCKERFILE_H

#include "base/map.h"
#include "target.h"

/* Places in the image. */
#define DOCKER_VENV "/opt/venv"
#define DOCKER_PREFIX "/opt/python"
#define DOCKER_SHARE "/opt/stackbuild"
#define DOCKER_APP "/app"
#define DOCKER_INPUTS "/inputs"

/* A Dockerfile while it is written. */
struct docker {
	struct target *t;
	struct map texts; /* contents of the trunk's files: path -> text */
	bool share;       /* the trunk has made DOCKER_SHARE */
};

/* Adds all stages. */
void docker_stages(struct docker *d);

/* The parts of an extension's step in a stage; other steps are in one stage. */
enum { DOCKER_FETCH = 1, DOCKER_COMPILE = 2, DOCKER_INPUT = 4, DOCKER_INSTALL = 8 };

/* The names that templates/Dockerfile may use for a step. */
extern const struct shape docker_step_shape[];
/* Adds a step to a stage. */
void docker_step(struct docker *d, struct scope *stage, const struct step *s, unsigned parts);

/*
 * Returns the arguments of COPY: flags ("--from=x ", or ""), a source and the target; in JSON form
 * if they come from the user or have special characters.
 */
const char *docker_copy(struct target *t, const char *flags, const char *from, const char *to,
			struct span at);

#endif
