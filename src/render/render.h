#ifndef RENDER_H
#define RENDER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/list.h"
#include "plan/plan.h"
#include "quote.h"
#include "template.h"

/*
 * Renders a plan to files. Each target has one row of the table in render.c and one source file.
 * Text comes from templates/ (compiled in, or --templates DIR); every value is quoted for its
 * place. Equal plans give equal bytes.
 *
 *     OUT/Dockerfile modal_app.py setup.sh ... the targets of -t; for a matrix OUT/CELL/Dockerfile
 *     ... OUT/stackbuild/compile.py plan.json ... helpers that those files use; one copy for all
 *     cells OUT/CELL/plan.json for a matrix, if the plans differ
 *
 * OUT is the context of image builds.
 */

/* An instruction of a Dockerfile and its step; engines identify instructions by number. */
struct instruction {
	const char *stage; /* "ext-mamba-ssm" */
	unsigned stage_no; /* from 1, in file order */
	unsigned layer_no; /* BuildKit's i of [stage i/n], 0 for ENV, LABEL, ... */
	unsigned no;   /* buildah's i of STEP i/n: counts every instruction of the stage, from 1 */
	unsigned line; /* line of the Dockerfile, from 1 */
	const char *step; /* id of the plan's step, or NULL: FROM another stage, LABEL, USER */
};
struct instructions LIST(struct instruction);

struct rendered {
	const char *path; /* path below the output directory: "Dockerfile", "py310/Dockerfile" */
	const char *text;
	size_t size;
	unsigned mode;       /* 0644, 0755 */
	const char *target;  /* "dockerfile" */
	const char *summary; /* "10 steps, 4 stages" */
	/* The command to run next, with {path} for the file and {out} for the output directory; or
	 * NULL. */
	const char *next;
	bool helper;         /* another file uses it; it has no summary */
	bool lasting;        /* its text is a template, and lives as long as the templates */
	struct names forced; /* ignored errors, one line each */
	struct instructions instructions; /* instructions of a Dockerfile, in file order */
};
struct rendereds LIST(struct rendered);

/* The source of app.copy in the context of an image build; engines may replace it: docs/build.md */
#define RENDER_APP "app"
/* The directory of own code in the context of an image build: DIR/STEP/ */
#define RENDER_OWN ".stackbuild/own"
/* The same of own code that is not in the recipe's directory, for clients without named contexts */
#define RENDER_BESIDE "own"

/* The value of -t that selects every target of the recipe. */
#define RENDER_ALL "all"

/* Opens a directory's templates; dir NULL: the built-in ones. NULL after SB04xx or SB0100. */
const struct templates *templates_open(struct arena *a, struct diags *ds, const char *dir);

/*
 * Makes the plan of one cell when its files are written. The plan is released afterwards, so that a
 * matrix of thousands of cells does not need memory for all plans. Returns NULL after errors.
 */
typedef const struct plan *render_plan(void *ctx, struct arena *a, struct diags *ds,
				       const struct recipe *cell);

/* A wheel that `build` already has; it replaces the stages that would build it. */
struct render_wheel {
	const char *step; /* id of the extension's step */
	const char *file; /* path in the build context: ".stackbuild/wheels/mamba-ssm/x.whl" */
};
/*
 * Additions of `build` to the rendered Dockerfile. Both have the same layers up to the
 * application's, and share an engine's cache:
 *   src-NAME   the source of an extension that is compiled, fetched; ext-NAME starts from it
 *   inputs     FROM scratch: /NAME.json with the inputs of each wheel
 *              (templates/inputs.py, docs/store.md); in file order before anything compiles
 *   wheels FROM scratch: /NAME/x.whl, compiled or downloaded wheels; before final in the file A
 *   build without compiles has no inputs, and one without extensions has no wheels.
 */
struct render_build {
	struct render_wheels LIST(struct render_wheel) wheels;
};

struct render_input {
	const struct recipes *recipes; /* the recipes; each cell of a matrix gets a directory */
	const struct facts *facts;
	render_plan *plan;
	void *ctx;
	const struct templates *templates;
	const char *const *targets; /* NULL: the default set; may have RENDER_ALL */
	size_t ntargets;
	const struct render_build *build; /* NULL: not for `build` */
	bool force;                       /* skips even a target that the recipe requests */
	const char *app_file;             /* name of the Modal app; NULL: modal_app.py */
};

/*
 * render -- renders the files of every target and cell. Forced errors (diag_force) become comments
 * at the top of each file of that cell.
 *
 *   out     files in a stable order; a target that cannot express the recipe does not stop the
 *           others: of the default ones or of RENDER_ALL, it is skipped with a warning; one that the
 *           user names is an error, after which the result is still true. modal for a recipe with
 *           `modal` stops the others, too
 *   errors  SB04xx and those of `plan`; false: write nothing
 *   memory  lives in a; plans do not
 */
bool render(struct arena *a, struct diags *ds, const struct render_input *in,
	    struct rendereds *out);

/*
 * render_judge -- reports the diagnostics of render() for a plan without a target: it checks the
 * Modal app of a recipe with `modal`.
 *
 *   errors  SB042x
 */
void render_judge(struct arena *a, struct diags *ds, const struct plan *p);

/*
 * render_manifest -- makes "stackbuild.json": the digests of the recipes and of all files, and the
 * program's version.
 *
 *   in      dir: its directory; entries of earlier calls there stay
 */
struct rendered render_manifest(struct arena *a, const struct render_input *in,
				const struct rendereds *files, const char *dir);

/*
 * render_may_write -- returns whether the files overwrite only generated files in dir: each one is
 * new, has the same content, or has its digest in the manifest of dir.
 *
 *   in      stack: the name of the stack of the files
 *   errors  SB0411 for each other file, and if the manifest is of another stack; false
 */
bool render_may_write(struct arena *a, struct diags *ds, const char *dir, const char *stack,
		      const struct rendereds *files);

/*
 * render_provenance -- returns the provenance of a built image: an in-toto statement with the predicate
 * of SLSA.  Equal input gives equal bytes.
 *
 *   in      texts of build.json, or NULL; digest: of the image's manifest, "sha256:..."
 *   memory  lives in a
 *   source  slsa.dev/spec/v1.1/provenance; github.com/in-toto/attestation, spec/v1/statement.md,
 *           resource_descriptor.md and digest_set.md
 */
#define PROVENANCE_TYPE "https://slsa.dev/provenance/v1"
struct provenance {
	const struct plan *plan;
	const char *image, *digest; /* "ghcr.io/me/stack" */
	const char *base_digest, *lock_digest, *platform, *engine, *engine_version, *started;
};
const char *render_provenance(struct arena *a, const struct provenance *b);

/* Returns the names of all targets, and RENDER_ALL. */
struct names render_targets(struct arena *a);

/* Returns the shell commands of an operation that has no places, one on each line. */
const char *render_commands(struct arena *a, struct diags *ds, const struct operation *op);

#endif
