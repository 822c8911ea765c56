/* stackbuild publish: push the image of `build` to registries, with the proof of `verify`. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/proc.h"
#include "base/str.h"
#include "build/build.h"
#include "verbs.h"
#include "verify/verify.h"
#include "world.h"

static const struct plan *
plan_cell(void *ctx, struct arena *a, struct diags *ds, const struct recipe *cell)
{
	const struct run *r = ctx;

	return pipeline_plan(r, a, ds, cell, NULL);
}

/* Returns whether a text is [ENVIRONMENT/]NAME[:TAG]; an id (im-...) is not a name. */
static bool
is_modal_name(const char *text)
{
	return str_matches(text,
			   "^([[:alnum:]_.][[:alnum:]_.-]*/)?[[:alnum:]_.][[:alnum:]_.-]{0,63}"
			   "(:[[:alnum:]_.-]{1,64})?$") &&
	       !str_matches(text, "^([^/]*/)?im-");
}

/* Renders files that are not for the user's directory. */
static bool
render_own(struct run *r, const struct recipes *rs, const char *const *targets, size_t n,
	   struct rendereds *files)
{
	struct render_input in = { .facts = r->facts,
				   .plan = plan_cell,
				   .ctx = r,
				   .targets = targets,
				   .ntargets = n,
				   .recipes = rs };

	in.templates = templates_open(r->a, &r->ds, NULL);
	return in.templates && render(r->a, &r->ds, &in, files) && !r->ds.errors;
}

static bool
to_modal(struct run *r, const struct recipes *rs, const struct engine *e,
	 const struct engine_state *state, const char *out)
{
	static const char *const target[] = { "modal" };
	const struct names *args = &r->o->args;
	struct rendereds files = { 0 };

	if (!render_own(r, rs, target, 1, &files))
		return false;
	for (size_t i = 0; i < files.n; i++)
		if (!fs_write(&r->ds,
			      fs_join(r->a, rs->matrix ? fs_dir(r->a, out) : out, files.at[i].path),
			      files.at[i].text, files.at[i].size, files.at[i].mode, false, NULL))
			return false;
	for (size_t i = 1; i < args->n; i++) {
		if (!publish_modal(r->a, &r->ds, e, state, out, args->at[i]))
			return false;
		buf_printf(&r->out, "published %s\n", args->at[i]);
	}
	return true;
}

/* Reads proof.json of a directory; an unreadable one counts as missing. */
static struct publish_proof
read_proof(struct run *r, const struct plan *plan, const char *out)
{
	static const char *const levels[] = { "nothing", "import", "compile", "gpu" };
	struct publish_proof p = { .path = fs_join(r->a, out, "proof.json") };
	enum proof_level require = (enum proof_level)r->o->require;
	const struct source *src = fs_read_quiet(r->a, p.path, FS_READ_MAX);
	struct proof proof;

	if (!src || !proof_read(r->a, plan, src->text, src->size, &proof))
		return p;
	p.source = src;
	p.image_digest = proof.image_digest;
	p.recipe_digest = proof.recipe_digest;
	p.lock_digest = proof.lock_digest;
	p.failed = proof.result == PROOF_FAILED;
	p.proven = levels[proof_proven(&proof)];
	p.enough = proof_proven(&proof) != PROOF_NONE && proof_status(&proof, require) == 0;
	return p;
}

static bool
to_registry(struct run *r, const struct recipes *rs, const struct plan *p,
	    const struct build_record *record, const struct engine *e,
	    const struct engine_state *state, const char *out)
{
	static const char *const require[] = { NULL, "import", "compile", "gpu" };
	static const char *const bills[] = { "cyclonedx", "spdx" };
	const struct names *args = &r->o->args;
	struct publish_options o = { .engine = e,
				     .state = state,
				     .record = record,
				     .recipe_words = world_recipe(r->a, r->o, rs->at[0]->cell),
				     .plan = p,
				     .lock_digest = lock_digest(r->a, p->lock),
				     .at = rs->at[0]->stack.at,
				     .image = record && record->image ? record->image : p->name,
				     .out = out,
				     .proof = read_proof(r, p, out),
				     .require = require[r->o->require],
				     .force = r->o->force,
				     .terminal = isatty(1) && isatty(2) };
	struct names published = { 0 };
	struct buf html = BUF(r->a);
	struct diags ignored = DIAGS(ignored, r->a);
	const char *page;
	bool good;

	/* The recipe was checked above. */
	if (o.proof.source && world_report(r, &ignored, r->o->out, &page, &html))
		o.report = buf_text(&html);

	if (p->lock && !render_own(r, rs, bills, 2, &o.bills))
		return false;
	for (size_t i = 1; i < args->n; i++)
		list_push(r->a, &o.refs, args->at[i]);
	good = publish(r->a, &r->ds, &o, &published);
	for (size_t i = 0; i < published.n; i++)
		buf_printf(&r->out, "%s\n", published.at[i]);
	return good;
}

int
verb_publish(struct run *r)
{
	const struct options *o = r->o;
	const struct recipes *rs = pipeline_load(r, &r->ds, o->args.at[0], NULL, NULL);
	const struct engine_at at = world_engine_at(o);
	struct build_record record = { 0 };
	struct engine_state state;
	const struct engine *e;
	const struct plan *p;
	const char *out, *name;
	bool known;

	if (!rs)
		return EXIT_DIAGNOSED;
	world_hide_secrets(r, rs->at[0]);
	if (rs->n != 1)
		return usage_error("publish takes one stack: name a cell with --cell");
	if (!(p = pipeline_plan(r, r->a, &r->ds, rs->at[0], NULL)))
		return EXIT_DIAGNOSED;
	out = o->out ? o->out : fs_join(r->a, "out", p->name);
	if (rs->matrix)
		out = fs_join(r->a, out, rs->at[0]->cell);
	known = build_record_read(r->a, fs_join(r->a, out, "build.json"), &record) && !record.code;
	name = o->engine ? o->engine : known ? record.engine : NULL;
	for (size_t i = 1; name && !strcmp(name, "modal") && i < o->args.n; i++)
		if (!is_modal_name(o->args.at[i]))
			return usage_error("modal takes [ENVIRONMENT/]NAME[:TAG], not `%s`",
					   o->args.at[i]);
	if (!(e = engine_choose(r->a, &r->ds, name, &at, &state)))
		return EXIT_DIAGNOSED;
	proc_signals();
	if (!strcmp(e->name, "modal")) {
		if (o->require)
			return usage_error("modal cannot store a proof: publish without --require");
		return to_modal(r, rs, e, &state, out) ? EXIT_DONE : EXIT_DIAGNOSED;
	}
	if (!e->build)
		return usage_error("%s builds no image that can be published", e->name);
	return to_registry(r, rs, p, known ? &record : NULL, e, &state, out) ? EXIT_DONE :
									       EXIT_DIAGNOSED;
}
