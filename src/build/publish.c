#include "publish.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/embed.h"
#include "base/fs.h"
#include "base/proc.h"
#include "engine_parts.h"
#include "fetch/fetch.h"

struct publishing {
	struct arena *a;
	struct diags *ds;
	const struct publish_options *o;
	struct image_about about; /* the local image; its id is NULL without one */
	const char *config;       /* digest of the config in the last pushed manifest */
	bool attach;              /* pushes the proof, too */
	bool ours;                /* the record describes this image, its recipe and its lock */
};

/* --- checks before the push --- */

static bool
same(const char *x, const char *y)
{
	return x && y && !strcmp(x, y);
}

/* An image that was built without a lock is not one of the lock. */
static bool
same_lock(const char *lock, const char *of)
{
	return (!lock && !of) || same(lock, of);
}

/* Adds an error, or a warning with --force, which continues. */
static bool
another(struct publishing *w, const char *why, const char *because)
{
	struct diag *d = diag_at(w->ds, E_PUBLISH_OTHER, w->o->at, "%s", why);

	w->ours = false;
	if (because)
		diag_why(d, "%s", because);
	diag_help(d, "run `stackbuild build %s`, then publish again", w->o->recipe_words);
	if (w->o->force)
		diag_force(d);
	return w->o->force;
}

static bool
is_of_recipe(struct publishing *w)
{
	const struct build_record *b = w->o->record;
	const char *image = w->o->image, *lock = w->o->lock_digest;
	const char *recipe = w->o->plan->stack->recipe->digest;

	if (!b)
		return another(w, arena_printf(w->a, "`%s` was not built on this host", image),
			       arena_printf(w->a, "`%s` has no record of a finished build",
					    fs_join(w->a, w->o->out, "build.json")));
	if (!same(b->recipe_digest, recipe))
		return another(w, arena_printf(w->a, "`%s` was built from another recipe", image),
			       arena_printf(w->a, "the recipe has the digest %s, build.json has %s",
					    recipe, b->recipe_digest ? b->recipe_digest : "none"));
	if (!same_lock(lock, b->lock_digest))
		return another(w, arena_printf(w->a, "`%s` was built from another lock", image),
			       arena_printf(w->a, "the lock has the digest %s, build.json has %s",
					    lock ? lock : "none",
					    b->lock_digest ? b->lock_digest : "none"));
	w->ours = w->o->engine->push ? b->image_id : b->digest;
	return true;
}

static bool
is_here(struct publishing *w)
{
	const struct publish_options *o = w->o;
	const struct build_record *b = o->record;
	struct diag *d;

	if (!o->engine->push)
		return true;
	if (!engine_image(w->a, o->engine, &o->state->at, o->image, &w->about)) {
		d = diag_at(w->ds, E_PUSH, o->at, "%s has no image `%s`", o->engine->name,
			    o->image);
		if (b && b->engine && strcmp(b->engine, o->engine->name) != 0)
			diag_help(d, "it was built with --engine %s", b->engine);
		diag_help(d, "run `stackbuild build %s --engine %s`", o->recipe_words,
			  o->engine->name);
		return false;
	}
	if (b && b->image_id && !same(b->image_id, w->about.id))
		return another(w,
			       arena_printf(w->a,
					    "`%s` now refers to another image than at the build",
					    o->image),
			       arena_printf(w->a, "the image is %s now; build.json has %s",
					    w->about.id, b->image_id));
	return true;
}

/* Returns what is wrong with the proof, or NULL. */
static const char *
proof_trouble(struct publishing *w)
{
	const struct publish_proof *p = &w->o->proof;
	const struct build_record *b = w->o->record;
	const char *is = p->image_digest;
	/* Only the record describes an image that a remote daemon pushed. */
	bool of_image = w->o->engine->push ? same(is, w->about.id) || same(is, w->about.digest) :
					     b && (same(is, b->image_id) || same(is, b->digest));

	if (!p->source)
		return arena_printf(w->a, "`%s` has no proof", p->path);
	if (!of_image)
		return arena_printf(w->a, "`%s` belongs to another image, %s", p->path,
				    is ? is : "which it does not name");
	if (!same(p->recipe_digest, w->o->plan->stack->recipe->digest))
		return arena_printf(w->a, "`%s` belongs to another recipe", p->path);
	if (!same_lock(w->o->lock_digest, p->lock_digest))
		return arena_printf(w->a, "`%s` belongs to another lock", p->path);
	return NULL;
}

static bool
is_proven(struct publishing *w)
{
	const struct publish_options *o = w->o;
	const char *why = proof_trouble(w);
	struct diag *d;

	w->attach = !why;
	if (!why && w->o->proof.failed)
		why = arena_printf(w->a, "`%s` contains a failed check", w->o->proof.path);
	if (!why && o->require && !o->proof.enough)
		why = arena_printf(w->a, "what `%s` proves: %s", o->proof.path, o->proof.proven);
	if (!why)
		return true;
	if (o->require)
		d = diag_at(w->ds, E_UNPROVEN, o->at, "`%s` is not proven up to %s", o->image,
			    o->require);
	else
		d = diag_at(w->ds, W_UNPROVEN, o->at, "`%s` is not proven", o->image);
	diag_why(d, "%s", why);
	diag_help(d, "run `stackbuild verify %s --engine %s`, then publish again", o->recipe_words,
		  o->engine->name);
	return !o->require;
}

/* --- pushing --- */

static bool
engine_does(struct publishing *w, struct engine_command c, const char *what, const char *ref)
{
	struct proc_spec spec = { .keep = 16 * 1024, .terminal = w->o->terminal };
	const struct engine *e = w->o->engine;
	struct proc_result r;
	struct diag *d;

	engine_spec(w->a, &c, &spec);
	if (proc_run(w->a, &spec, &r))
		return true;
	d = diag_at(w->ds, E_PUSH, w->o->at, "%s could not %s `%s`: %s", e->name, what, ref,
		    r.interrupted ? "interrupted" :
		    !r.started    ? strerror(r.error) :
				    arena_printf(w->a, "exit status %d", r.status));
	if (r.started && !w->o->terminal)
		diag_why(d, "%s", engine_said(w->a, &r));
	if (!r.interrupted && e->push)
		diag_help(d, "run %s login %s if you are not logged in", e->name,
			  arena_copy(w->a, ref, strcspn(ref, "/")));
	return false;
}

/*
 * Only a script can build and name an image on Modal: templates/modal_publish.py imports the
 * rendered app. Modal's client runs the script with its own Python.
 */
bool
publish_modal(struct arena *a, struct diags *ds, const struct engine *e,
	      const struct engine_state *state, const char *out, const char *name)
{
	const struct source *script = embedded_template("modal_publish.py");
	const char *path = fs_join(a, out, "modal_publish.py");
	const struct publish_options o = { .engine = e, .state = state };
	struct publishing w = { .a = a, .ds = ds, .o = &o };
	struct engine_command c = { 0 };

	if (!fs_write(ds, path, script->text, script->size, 0644, false, NULL))
		return false;
	ADD(&c, state->at.client, "run", path, "--name", name);
	diag_tell("building and naming %s with modal", name);
	return engine_does(&w, c, "build and name", name);
}

/* Checks that the manifest belongs to the pushed image: its config must be the image's id. */
static bool
is_ours(struct publishing *w, const struct oci_manifest *m, const char *written)
{
	json_auto_t *root = json_loadb(m->text, m->size, 0, NULL);

	w->config = json_at_text(w->a, root, "config.digest");
	return same(written, m->digest) || same(m->digest, w->about.id) ||
	       same(w->config, w->about.id);
}

/* Adds a tag in the registry to an image that a remote daemon pushed during the build. */
static const char *
tag_there(struct publishing *w, struct oci_registry *r, const struct oci_name *n, const char *ref)
{
	const struct build_record *b = w->o->record;
	struct oci_manifest m;
	bool missing = true;
	struct diag *d;

	if (b && b->digest && oci_manifest(r, w->a, w->ds, b->digest, &m, &missing)) {
		is_ours(w, &m, b->digest);
		return oci_push_manifest(r, w->a, w->ds, m.media_type, m.text, m.size, n->tag);
	}
	if (!missing)
		return NULL;
	d = diag_at(w->ds, E_PUSH, w->o->at,
		    "%s stores no image on this host, and %s/%s has no image of this build",
		    w->o->engine->name, n->registry, n->repository);
	diag_help(d, "run `stackbuild build %s --engine %s` --push --tag %s", w->o->recipe_words,
		  w->o->engine->name, ref);
	return NULL;
}

static const char *
push(struct publishing *w, struct oci_registry *r, const struct oci_name *n)
{
	const struct publish_options *o = w->o;
	const struct engine_at *at = &o->state->at;
	const char *ref = oci_name_text(w->a, n), *written;
	const char *dir, *file;
	struct oci_manifest m;
	bool missing;

	if (!o->engine->push)
		return tag_there(w, r, n, ref);
	if (!(dir = proc_temp(w->a, NULL, "stackbuild-publish"))) {
		diag_at(w->ds, E_WRITE, o->at, "cannot make a temporary directory: %s",
			strerror(errno));
		return NULL;
	}
	file = fs_join(w->a, dir, "digest");
	diag_tell("pushing %s", ref);
	if (!engine_does(w, engine_call(w->a, at, o->engine->tag, o->image, ref), "name the image",
			 ref) ||
	    !engine_does(w, engine_push(w->a, o->engine, at, ref, file), "push", ref)) {
		fs_remove(dir);
		return NULL;
	}
	written = engine_pushed(w->a, file);
	fs_remove(dir);
	if (!oci_manifest(r, w->a, w->ds, written ? written : n->tag, &m, &missing)) {
		if (missing)
			diag_at(w->ds, E_CONTENT, o->at,
				"%s was pushed, but the registry does not have it", ref);
		return NULL;
	}
	if (is_ours(w, &m, written))
		return m.digest;
	diag_help(diag_at(w->ds, E_CONTENT, o->at,
			  "%s refers to another image than the pushed one: %s", ref, m.digest),
		  "another user pushes to that tag: publish to a tag of your own");
	return NULL;
}

/* annotation: "key=value" of the artifact; or NULL */
static bool
attach_one(struct publishing *w, struct oci_registry *r, const char *digest, const char *type,
	   struct oci_blob blob, const char *annotation)
{
	struct oci_artifact art = { .type = type, .subject = digest };

	if (annotation)
		list_push(w->a, &art.annotations, annotation);
	list_push(w->a, &art.layers, blob);
	return oci_push_artifact(r, w->a, w->ds, &art) != NULL;
}

/* Rejects a proof of another image, even with --force. A proof names the image by the digest of its
 * manifest or of its config, which is the local image's id. */
static bool
attach_proof(struct publishing *w, struct oci_registry *r, const char *digest)
{
	const char *is = w->o->proof.image_digest, *report = w->o->report;

	if (!same(is, digest) && !same(is, w->config) &&
	    !(same(is, w->about.digest) && same(w->config, w->about.id))) {
		diag_help(diag_at(w->ds, E_PUBLISH_OTHER, w->o->at,
				  "`%s` is the proof of the image %s, but %s was pushed: the proof "
				  "is not attached",
				  w->o->proof.path, is, digest),
			  "run `stackbuild verify %s`, then publish again", w->o->recipe_words);
		return false;
	}
	return attach_one(w, r, digest, PUBLISH_PROOF_TYPE,
			  (struct oci_blob){ .media_type = PUBLISH_PROOF_TYPE,
					     .bytes = w->o->proof.source->text,
					     .size = w->o->proof.source->size,
					     .title = "proof.json" },
			  NULL) &&
	       (!report || attach_one(w, r, digest, PUBLISH_REPORT_TYPE,
				      (struct oci_blob){ .media_type = "text/html",
							 .bytes = report,
							 .size = strlen(report),
							 .title = "report.html" },
				      NULL));
}

/* Attaches the bills of materials and the provenance. */
static bool
attach_origin(struct publishing *w, struct oci_registry *r, const struct oci_name *n,
	      const char *digest)
{
	const struct build_record *b = w->o->record;
	const struct provenance p = { .plan = w->o->plan,
				      .image = arena_printf(w->a, "%s/%s", n->registry,
							    n->repository),
				      .digest = digest,
				      .base_digest = b->base_digest,
				      .lock_digest = b->lock_digest,
				      .platform = b->platform,
				      .engine = b->engine,
				      .engine_version = b->engine_version,
				      .started = b->started };
	const char *text = render_provenance(w->a, &p);

	list_each (bill, &w->o->bills) {
		/* Both types are registered with IANA. */
		const char *type = !strcmp(bill->target, "spdx") ? "application/spdx+json" :
								   "application/vnd.cyclonedx+json";

		if (!attach_one(w, r, digest, type,
				(struct oci_blob){ .media_type = type,
						   .bytes = bill->text,
						   .size = bill->size,
						   .title = fs_name(bill->path) },
				NULL))
			return false;
	}
	return attach_one(w, r, digest, PUBLISH_PROVENANCE_TYPE,
			  (struct oci_blob){ .media_type = PUBLISH_PROVENANCE_TYPE,
					     .bytes = text,
					     .size = strlen(text),
					     .title = "provenance.json" },
			  "in-toto.io/predicate-type=" PROVENANCE_TYPE);
}

static bool
read_refs(struct publishing *w, struct oci_name *names)
{
	bool good = true;

	for (size_t i = 0; i < w->o->refs.n; i++) {
		const char *ref = w->o->refs.at[i];

		if (!oci_name_parse(w->a, w->ds, ref, NOWHERE, &names[i])) {
			good = false;
		} else if (names[i].digest) {
			diag_help(diag_at(w->ds, E_REFERENCE, NOWHERE,
					  "`%s` has a digest; `publish` needs a tag", ref),
				  "leave `@%s` out", names[i].digest);
			good = false;
		} else if (!names[i].tag) {
			names[i].tag = "latest";
		}
	}
	return good;
}

/* Pushes the image under one name, with its artifacts; text: its result, REF@DIGEST. */
static bool
publish_one(struct publishing *w, const struct oci_name *n, const char **text)
{
	struct oci_registry *r = oci_open(w->a, n, 0);
	const char *digest = push(w, r, n);

	*text = digest ? arena_printf(w->a, "%s@%s", oci_name_text(w->a, n), digest) : NULL;
	return digest && (!w->attach || attach_proof(w, r, digest)) &&
	       (!w->ours || attach_origin(w, r, n, digest));
}

bool
publish(struct arena *a, struct diags *ds, const struct publish_options *o, struct names *published)
{
	struct oci_name *names = arena_array_of(a, struct oci_name, o->refs.n);
	struct publishing w = { .a = a, .ds = ds, .o = o };
	const char *text = NULL;
	struct diags own = DIAGS(own, a);
	struct diag *d;

	if (!read_refs(&w, names) || !is_of_recipe(&w) || !is_here(&w) || !is_proven(&w))
		return false;
	w.ds = &own;
	while (published->n < o->refs.n && publish_one(&w, &names[published->n], &text))
		list_push(a, published, text);
	if (published->n < o->refs.n && proc_interrupted()) {
		/* One diagnostic replaces that of the request that the signal ended. */
		d = diag_at(ds, E_PUSH, o->at, "interrupted: `%s` is not published",
			    oci_name_text(a, &names[published->n]));
		if (text)
			diag_note(d, NOWHERE, "kept: %s, without its proof", text);
		diag_help(d, "run the command again: the registry keeps what was pushed");
	} else {
		diags_append(ds, &own);
	}
	return published->n == o->refs.n;
}
