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
 *     runtime: what final installed, on a base without compilers (if the recipe has one)
 *
 * For `build` (render.h) the source of what compiles has a stage of its own, src-NAME, which
 * ext-NAME starts from; its inputs are read in inputs-NAME.  buildah 1.28 builds all that stands
 * before the stage it is asked for: hence all inputs come before anything that compiles.
 */
struct docker_steps LIST(const struct step *);

struct docker_gather { /* COPY --from=from source target */
	const char *from, *source, *target;
};

struct docker_stage {
	const char *name;
	const char *from;          /* an image or an earlier stage */
	const struct step *base;   /* the step that FROM an image stands for, or NULL */
	const struct step *builds; /* an extension that is fetched or compiled here, or NULL */
	bool fetches, compiles;    /* of builds: what of it is done here */
	const struct step *reads;  /* an extension whose inputs are read here, or NULL */
	const struct step *holds;  /* an extension whose wheel is all that is in it, or NULL */
	const char *file; /* of holds: the wheel, in the context; NULL: another stage has it */
	bool context;     /* its files are the application's, in the context */
	struct docker_gathers LIST(struct docker_gather) gathers;
	struct docker_steps steps;
	bool runtime; /* takes over what the stage before it installed */
	bool result;  /* the last one: what `docker build` gives */
};

struct docker_stages LIST(struct docker_stage);

/* build NULL: for people. */
struct docker_stages docker_stages(struct arena *a, const struct plan *p,
				   const struct render_build *build);
/* Whether an extension is compiled: not if it is a wheel by URL, or one that is at hand. */
bool docker_compiles(const struct step *s, const struct render_build *build);

/* What the image may be called: NAME, or NAME:CELL in a matrix. */
const char *docker_image_tag(struct arena *a, const struct plan *p);

/* Where things lie in the image. */
#define DOCKER_VENV "/opt/venv"
#define DOCKER_PREFIX "/opt/python"
#define DOCKER_SHARE "/opt/stackbuild"
#define DOCKER_APP "/app"
#define DOCKER_INPUTS "/inputs"

/* What is the same for all steps of a Dockerfile while it is written. */
struct docker_writer {
	struct arena *a;
	struct diags *ds;
	const struct plan *plan;
	const struct templates *templates;
	const struct render_build *build; /* NULL: for people */
	struct rendereds *out;            /* helpers go here */
	struct map *texts;                /* what the files of the trunk hold: path -> text */
	bool share;                       /* the trunk has made DOCKER_SHARE */
	bool good;
};

/* The names for the comments at the top. */
void docker_head(struct docker_writer *w, struct scope *top);
/*
 * docker_build_command -- "docker build -t x ... CONTEXT".
 *
 *   in      dockerfile: its path, NULL: that of the context; app: the directory that app: copies
 *           from; context: the directory of the helpers
 */
const char *docker_build_command(struct docker_writer *w, const char *dockerfile, const char *app,
				 const char *context);
/* The names that templates/Dockerfile may use for a step; docker_step fills them in. */
extern const struct shape docker_step_shape[];
void docker_step(struct docker_writer *w, const struct docker_stage *stage, const struct step *s,
		 struct scope *out);
/*
 * What COPY is given: flags ("--from=x ", or ""), then sources and the target; as a list in
 * brackets if they are the user's, or odd.
 */
const char *docker_copy(struct docker_writer *w, const char *flags, const struct names *paths,
			struct span at);

#endif
