/* stackbuild verify: test an image or an environment. */
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/str.h"
#include "verbs.h"
#include "verify/verify.h"
#include "world.h"

enum { EXIT_NOT_PROVEN = 3 };

/* Returns true for a file, false for the name of an image. */
static bool
is_recipe(const char *arg)
{
	return !strcmp(arg, "-") || ends_with(arg, ".yaml") || ends_with(arg, ".yml") ||
	       (fs_exists(arg) && !fs_is_dir(arg));
}

struct plans LIST(const struct plan *);

/* Verifies each cell of a matrix, or only that of --cell. */
static bool
plans_of(struct run *r, const char *path, struct plans *plans)
{
	const struct recipes *rs = pipeline_load(r, &r->ds, path, NULL, NULL);

	for (size_t i = 0; rs && i < rs->n; i++) {
		const struct plan *p = pipeline_plan(r, r->a, &r->ds, rs->at[i], NULL);

		if (!p)
			return false;
		list_push(r->a, plans, p);
		world_hide_secrets(r, rs->at[i]);
	}
	return plans->n;
}

static bool
write_proof(struct run *r, const struct proof *p, const char *dir)
{
	struct buf json = BUF(r->a), junit = BUF(r->a);

	proof_json(p, &json);
	proof_junit(p, &junit);
	return fs_write(&r->ds, fs_join(r->a, dir, "proof.json"), json.p, json.n, 0644, true,
			NULL) &&
	       fs_write(&r->ds, fs_join(r->a, dir, "junit.xml"), junit.p, junit.n, 0644, true,
			NULL);
}

/* Returns the last part of an image's name: "stack" of "ghcr.io/me/stack:1". */
static const char *
name_of_image(struct arena *a, const char *image)
{
	const char *slash = strrchr(image, '/');

	image = slash ? slash + 1 : image;
	return arena_copy(a, image, strcspn(image, ":@"));
}

static const char *
folder_of(struct run *r, const struct plan *p, const struct verify_options *vo)
{
	const char *dir = r->o->out, *cell = p ? p->stack->recipe->cell : NULL;

	if (!dir)
		dir = fs_join(r->a, "out", p ? p->name : name_of_image(r->a, vo->image));
	return cell ? fs_join(r->a, dir, cell) : dir;
}

static bool
choose_engine(struct run *r, struct verify_options *vo, struct engine_state *state)
{
	const struct engine_at at = world_engine_at(r->o);

	vo->engine = engine_choose(r->a, &r->ds, r->o->engine, &at, state);
	vo->state = state;
	if (vo->engine && !vo->engine->run) {
		diag_help(diag_at(&r->ds, E_ENGINE, NOWHERE,
				  "%s stores no image that can run on this host", vo->engine->name),
			  "use docker, podman or buildah; or --venv DIR");
		vo->engine = NULL;
	}
	return vo->engine;
}

static int
report(struct run *r, const struct plan *p, const struct verify_options *vo,
       const struct proof *proof)
{
	const char *dir = folder_of(r, p, vo), *app = fs_join(r->a, dir, "modal_app.py");
	enum proof_level require = (enum proof_level)r->o->require;
	int status = proof_status(proof, require);

	if (!write_proof(r, proof, dir))
		return EXIT_DIAGNOSED;
	if (r->o->format == FORMAT_JSON)
		proof_json(proof, &r->out);
	else
		proof_table(proof, p ? world_recipe(r->a, r->o, p->stack->recipe->cell) : vo->image,
			    fs_join(r->a, dir, "proof.json"), fs_exists(app) ? app : NULL, &r->out);
	if (status == EXIT_NOT_PROVEN && require)
		diag_at(&r->ds, E_REQUIRED, NOWHERE,
			"--require %s: not every required check could run on this host",
			proof_level_words[require]);
	return status;
}

static const char *
bad_usage(const struct options *o)
{
	if (o->format != FORMAT_TEXT && o->format != FORMAT_JSON)
		return "verify has two formats: text and json";
	if (o->venv && o->host)
		return "--host is the environment of build --engine venv; --venv names another one";
	if ((o->venv || o->host) && !is_recipe(o->args.at[0]))
		return "with --venv and --host, name the recipe of the environment";
	return NULL;
}

/* Returns true if --engine venv selects an environment instead of an image. */
static bool
on_this_host(const struct options *o)
{
	return o->host ||
	       (o->engine && !strcmp(o->engine, "venv") && !o->venv && is_recipe(o->args.at[0]));
}

/* Verifies one image or environment; p NULL: an image that contains its plan. */
static int
verify_one(struct run *r, const struct plan *p, struct verify_options vo)
{
	const struct options *o = r->o;
	const struct proof *proof;

	vo.venv = o->venv;
	if (on_this_host(o))
		vo.venv = fs_join(r->a, folder_of(r, p, &vo), "venv");
	if (!vo.venv)
		vo.image = p ? world_image(r->a, o->tag, p) : o->args.at[0];
	else if (!verify_venv(r->a, &r->ds, vo.venv))
		return EXIT_DIAGNOSED;
	proof = verify_stack(r->a, &r->ds, p, &vo);
	return proof ? report(r, p, &vo, proof) : EXIT_DIAGNOSED;
}

int
verb_verify(struct run *r)
{
	const struct options *o = r->o;
	struct verify_options vo = { .recipe_path = o->args.at[0] };
	struct engine_state state = { 0 };
	struct plans plans = { 0 };
	const char *why;
	int status = EXIT_DONE;

	if ((why = bad_usage(o)))
		return usage_error("%s", why);
	if (!option_timeout(o, &vo.timeout_s))
		return EXIT_USAGE;
	if (is_recipe(o->args.at[0]) && !plans_of(r, o->args.at[0], &plans))
		return EXIT_DIAGNOSED;
	if (plans.n > 1 && (o->venv || o->format == FORMAT_JSON))
		return usage_error(
			"--venv and --format json are for one stack: name a cell with --cell");
	if (!o->venv && !on_this_host(o) && !choose_engine(r, &vo, &state))
		return EXIT_DIAGNOSED;
	proc_signals();
	if (!plans.n)
		return verify_one(r, NULL, vo);
	for (size_t i = 0; i < plans.n; i++) {
		int one;

		if (proc_interrupted()) {
			diag_at(&r->ds, E_VERIFY_STOPPED, NOWHERE,
				"interrupted: `%s` and later cells were not verified",
				plans.at[i]->stack->recipe->cell);
			return EXIT_DIAGNOSED;
		}
		if (i && r->out.n)
			buf_putc(&r->out, '\n');
		one = verify_one(r, plans.at[i], vo);
		/* Of two cells, a failure counts more than `not run`. */
		if (status != EXIT_DIAGNOSED && one != EXIT_DONE)
			status = one;
	}
	return status;
}
