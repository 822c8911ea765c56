#ifndef PUBLISH_H
#define PUBLISH_H

#include "engine.h"
#include "progress.h"
#include "render/render.h"

/*
 * Pushes the image of `build` under its names in registries, and attaches the proof of `verify`.
 * The order ensures that publish never pushes an image that it would reject later:
 *   1. parse every reference; check that the record (build.json) belongs to this recipe and image
 *   2. check that the proof (proof.json) belongs to this image, and reaches the required level
 *   3. let the engine push with its own login; read the digest from the registry
 *   4. upload the proof, the report, the bills of materials and the provenance to the same
 *      repository, as referrers of that digest
 */
struct publish_proof {
	const char *path;
	const struct source *source;                            /* NULL if there is none */
	const char *image_digest, *recipe_digest, *lock_digest; /* or NULL */
	bool failed;                                            /* a check of it */
	bool enough;                                            /* it reaches the demanded level */
	const char *proven;                                     /* "compile": how far it got */
};

struct publish_options {
	const struct engine *engine;
	const struct engine_state *state;
	const struct build_record *record; /* NULL if there is none */
	const char *recipe_words;          /* "x.yaml --cell python-3.10": as a command names it */
	const struct plan *plan;
	const char *lock_digest; /* NULL: there is no lock */
	struct span at;          /* place in the recipe, for messages */
	const char *image;       /* its name here */
	const char *out;         /* directory for temporary files */
	struct publish_proof proof;
	const char *report;     /* HTML page to upload with the proof; NULL: none */
	struct rendereds bills; /* bills of materials; none without a lock */
	struct names refs;
	const char *require; /* required level, "gpu"; NULL: none */
	bool force;
	bool terminal; /* the engine shows its own progress on the terminal */
};

/*
 * publish -- pushes the image and attaches the proof.
 *
 *   out     *published: "REF@sha256:..." for each reference
 *   errors  SB0550 to SB0557, false
 *   source  distribution-spec 1.1, image-spec 1.1 (manifest.md, "subject")
 */
bool publish(struct arena *a, struct diags *ds, const struct publish_options *o,
	     struct names *published);

#define PUBLISH_PROOF_TYPE "application/vnd.stackbuild.proof.v1+json"
#define PUBLISH_REPORT_TYPE "application/vnd.stackbuild.report.v1+html"
/* in-toto/attestation, spec/v1/envelope.md: a statement */
#define PUBLISH_PROVENANCE_TYPE "application/vnd.in-toto+json"

/*
 * publish_modal -- builds with the user's own Modal client and names the image.
 *
 *   in      out: the directory of the rendered modal_app.py; the script that names the image is
 *           written there, too
 *   errors  SB0557, SB0406, false
 */
bool publish_modal(struct arena *a, struct diags *ds, const struct engine *e,
		   const struct engine_state *state, const char *out, const char *name);

#endif
