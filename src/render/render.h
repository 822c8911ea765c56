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
 * Renders a plan to files.  Each target has one row of the table in render.c and one source file.
 * Text comes from templates/ (compiled in, or --templates DIR); every value is quoted for its
 * place. Equal plans give equal bytes.
 *
 *     OUT/Dockerfile modal_app.py setup.sh ... the targets of -t; of a matrix OUT/CELL/Dockerfile
 *     ... OUT/stackbuild/compile.py plan.json ... helpers that those files use; one copy for all
 *     cells OUT/CELL/plan.json of a matrix, where the plans differ
 *
 * OUT is the context of image builds.
 */

/* The step that an instruction of a Dockerfile belongs to; engines name instructions by number. */
struct instruction {
	const char *stage; /* "ext-mamba-ssm" */
	unsigned stage_no; /* from 1, in file order */
	unsigned layer_no; /* BuildKit's [stage i/n]: FROM, RUN, COPY, ADD, WORKDIR count; else 0 */
	unsigned no;       /* buildah's STEP i/n: every instruction of the stage counts; from 1 */
	unsigned line;     /* of the Dockerfile, from 1 */
	const char *step;  /* id of the plan's step, or NULL: FROM another stage, LABEL, USER */
};
struct instructions LIST(struct instruction);

struct rendered {
	const char *path; /* below the output directory: "Dockerfile", "py310/Dockerfile" */
	const char *text;
	size_t size;
	unsigned mode;       /* 0644, 0755 */
	const char *target;  /* "dockerfile" */
	const char *summary; /* "10 steps, 4 stages" */
	/* The command to run next; {path} is the file's, {out} the output directory.  Or NULL. */
	const char *next;
	bool helper;         /* another file uses it: it comes with that one, and has no summary */
	bool lasting;        /* its text is a template's, and lives as long as those */
	struct names forced; /* ignored errors, a line each */
	struct instructions instructions; /* of a Dockerfile, in file order */
};
struct rendereds LIST(struct rendered);

/* The source of app.copy in the context of an image build; engines may replace it: docs/build.md */
#define RENDER_APP "app"

/* dir NULL: the compiled-in ones.  Errors SB04xx, SB0100: NULL. */
const struct templates *templates_open(struct arena *a, struct diags *ds, const char *dir);

/*
 * The plan of one cell, made when its files are written and forgotten after it, so that
 * a matrix of thousands needs no memory for thousands of plans.  NULL: errors were added.
 */
typedef const struct plan *render_plan(void *ctx, struct arena *a, struct diags *ds,
				       const struct recipe *cell);

/* A wheel that `build` has at hand: it takes the place of the stages that would make it. */
struct render_wheel {
	const char *step; /* id of the extension's step */
	const char *file; /* in the build context: ".stackbuild/wheels/mamba-ssm/x.whl" */
};
/*
 * Additions of `build` to the rendered Dockerfile.  The layers of both are the same up to the
 * application's, so both share an engine's cache:
 *   src-NAME   the source of an extension that is compiled, fetched; ext-NAME starts from it
 *   inputs     FROM scratch: /NAME.json with the inputs of each wheel
 *              (templates/inputs.py, docs/store.md); in file order before anything compiles
 *   wheels     FROM scratch: /NAME/x.whl, compiled or downloaded wheels; before final in the file
 * A build without compiles has no inputs, and one without extensions has no wheels.
 */
struct render_build {
	struct render_wheels LIST(struct render_wheel) wheels;
};

struct render_input {
	const struct recipes *recipes; /* their cells; those of a matrix get a directory each */
	const struct facts *facts;
	render_plan *plan;
	void *ctx;
	const struct templates *templates;
	const char *const *targets; /* NULL: the default set */
	size_t ntargets;
	const struct render_build *build; /* NULL: for people */
	bool force; /* a target that a recipe requests is skipped like any other */
};

/*
 * render -- renders the files of every target and cell. Forced errors (diag_force) become comments
 * at the top of each file of that cell.
 *
 *   out     files in a stable order; a default target that cannot express the recipe is skipped
 *           with a warning; one named by the user, or modal where the recipe has a modal: section,
 *           is an error
 *   errors  SB04xx and those of `plan`; false: write nothing
 *   memory  lives in a; plans do not
 */
bool render(struct arena *a, struct diags *ds, const struct render_input *in,
	    struct rendereds *out);

/*
 * render_judge -- reports the diagnostics of render() for a plan without a target: whether the Modal
 * app of the recipe's modal: is possible.
 *
 *   errors  SB042x
 */
void render_judge(struct arena *a, struct diags *ds, const struct plan *p);

/*
 * render_manifest -- "stackbuild.json": the digests of the recipes and of all files, the program's
 * version.
 *
 *   in      dir: where it goes; files that an earlier call has recorded there stay recorded
 */
struct rendered render_manifest(struct arena *a, const struct render_input *in,
				const struct rendereds *files, const char *dir);

/*
 * render_may_write -- whether the files overwrite nothing in dir but what was generated: each is
 * not there, holds the same, or has the digest that the manifest in dir records.
 *
 *   in      stack: the name of the stack that the files are of
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

/* Returns the names of all targets. */
struct names render_targets(struct arena *a);

#endif
