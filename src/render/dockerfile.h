#ifndef DOCKERFILE_H
#define DOCKERFILE_H

#include "base/list.h"
#include "base/map.h"
#include "command.h"
#include "target.h"

/*
 * A plan as stages.  The trunk is the chain without extensions; it is cut where an
 * extension starts, so that what stands after the cut does not recompile it:
 *
 *     stack: base, apt, python, torch, build-deps
 *       ext-NAME: compiles one extension     wheel-NAME: FROM scratch, its wheel alone
 *     final: packages, the wheels, check, app
 *     runtime: what final installed, on a base without compilers (if asked for)
 */
struct docker_stage {
	const char *name;
	const char *from;          /* an image or an earlier stage */
	const struct step *base;   /* the step that FROM an image stands for, or NULL */
	const struct step *builds; /* an extension that is compiled here, or NULL */
	const struct step *holds;  /* an extension whose wheel is all that is in it, or NULL */
	struct docker_steps LIST(const struct step *) steps;
	bool runtime; /* takes over what the stage before it installed */
	bool result;  /* the last one: what `docker build` gives */
};

struct docker_stages LIST(struct docker_stage);

struct docker_stages docker_stages(struct arena *a, const struct plan *p);

/* Where things lie in the image. */
#define DOCKER_VENV "/opt/venv"
#define DOCKER_PREFIX "/opt/python"
#define DOCKER_SHARE "/opt/stackbuild"
#define DOCKER_APP "/app"

/* What is the same for all steps of a Dockerfile while it is written. */
struct docker_writer {
	struct arena *a;
	struct diags *ds;
	const struct plan *plan;
	const struct templates *templates;
	unsigned builds;     /* extensions that compile beside each other */
	struct map *folders; /* that exist already in the stages of the trunk */
	struct map *files;   /* and what files hold there: path -> text */
	bool good;
};

/* The names that templates/Dockerfile may use for a step; docker_step fills them in. */
extern const struct shape docker_step_shape[], docker_run_shape[];
void docker_step(struct docker_writer *w, const struct docker_stage *stage, const struct step *s,
		 struct scope *out);
/* A step's commands alone; of an extension: those of its own stage, or to install it. */
void docker_runs(struct docker_writer *w, const struct step *s, bool install, struct scope *out);
/* A text as lines of the list `remarks`. */
void docker_remarks(struct docker_writer *w, struct scope *out, const char *text);

/* The runtime stage's steps. */
void docker_runtime(struct docker_writer *w, const struct docker_stage *stage, struct scope *out);

#endif
