/* stackbuild mirror: download the files in the locks of a recipe to a directory. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/proc.h"
#include "base/str.h"
#include "build/build.h"
#include "mirror/mirror.h"
#include "render/render.h"
#include "world_lock.h"

/* --- system packages --- */

enum { SAID_BYTES = 4096, DEBS_TIMEOUT_S = 1800 };

/* The engine of --debs, and the packages that this run has downloaded or compared. */
struct container {
	const struct engine *engine;
	struct engine_state state;
	struct debs_sets LIST(struct debs) seen;
};

/* Returns an image without the tag before its digest, which older releases of podman reject. */
static const char *
by_digest(struct arena *a, const char *image)
{
	const char *at = strchr(image, '@'), *slash = strrchr(image, '/');
	const char *colon = strchr(slash ? slash : image, ':');

	return at && colon && colon < at ?
		       arena_printf(a, "%.*s%s", (int)(colon - image), image, at) :
		       image;
}

/* Runs a script in a container that can write to the mirror; returns the last line of its output, or NULL. */
static const char *
fetch_debs(struct run *r, const struct container *in, const char *image, const char *script,
	   const struct mirror_how *how)
{
	struct engine_run run = {
		.image = by_digest(r->a, image),
		/* The time, because a container of a killed process may still have the name with its PID. */
		.name = arena_printf(r->a, "stackbuild-mirror-%ld-%.0f", (long)getpid(),
				     proc_clock_s() * 1000),
		.volume = arena_printf(r->a, "%s:" MIRROR_PLACE, fs_real(r->a, how->dir)),
	};
	struct proc_spec spec = { .keep = SAID_BYTES,
				  .timeout_s =
					  how->timeout_s > 0 ? how->timeout_s : DEBS_TIMEOUT_S };
	struct engine_command c;
	struct proc_result done;
	struct names lines;

	list_push(r->a, &run.argv, "sh");
	list_push(r->a, &run.argv, "-c");
	list_push(r->a, &run.argv, script);
	if (!how->quiet)
		diag_tell("stackbuild: fetching the system packages of %s", image);
	c = in->engine->run(r->a, &in->state.at, &run);
	engine_spec(r->a, &c, &spec);
	if (proc_run(r->a, &spec, &done)) {
		lines = names_split(r->a, buf_text(&done.out), '\n');
		while (lines.n && !*lines.at[lines.n - 1])
			lines.n--;
		return lines.n ? lines.at[lines.n - 1] : "";
	}
	diag_why(diag_at(&r->ds, E_MIRROR, NOWHERE, "cannot mirror the system packages of %s: %s",
			 image,
			 done.interrupted ? "interrupted" :
			 done.timed_out   ? "the time limit ended it (--timeout SECONDS)" :
					    "the commands failed in a container"),
		 "%s", buf_text(&done.err));
	engine_quietly(r->a, &in->state.at, in->engine->kill, run.name, NULL);
	return NULL;
}

/* Downloads the packages in a container of each image, and sets d->sums. */
static bool
fetch_sets(struct run *r, const struct container *in, struct debs *d, const struct mirror_how *how,
	   struct mirror_done *done)
{
	const char *said = NULL;

	/* Otherwise, a container of docker makes it for root. */
	if (!fs_make_parents(r->a, arena_printf(r->a, "%s/%s/x", how->dir, d->path))) {
		diag_at(&r->ds, E_MIRROR, NOWHERE, "cannot make `%s/%s`: %s", how->dir, d->path,
			strerror(errno));
		return false;
	}
	for (size_t i = 0; i < d->n; i++) {
		if (!(said = fetch_debs(r, in, d->images[i], debs_script(r->a, d, i), how)))
			return false;
		done->fetched++;
	}
	d->sums = said;
	if (str_matches(said, "^[0-9a-f]{64}$") && debs_ready(r->a, how->dir, d))
		return true;
	diag_at(&r->ds, E_MIRROR, NOWHERE,
		"cannot mirror the system packages of %s: `%s/%s` differs from the output of the "
		"container",
		d->images[0], how->dir, d->path);
	return false;
}

/* Writes the digest of the system packages into a lock. */
static bool
pin_debs(struct run *r, const struct recipe *recipe, const struct lock *l, const struct debs *d)
{
	const char *path = lock_path(r->a, recipe),
		   *sums = arena_printf(r->a, "sha256:%s", d->sums);
	struct buf text = BUF(r->a);
	struct lock new = *l;

	if (l->debs && !strcmp(l->debs, sums))
		return true;
	new.debs = sums;
	lock_write(&new, &text);
	if (!fs_write(&r->ds, path, buf_text(&text), text.n, 0644, true, NULL))
		return false;
	buf_printf(&r->out, "%s: the digest of the system packages is %.19s\n", path, sums);
	return true;
}

/*
 * Downloads the system packages of a stack's images, as root of a container of each, unless the mirror has
 * those of the lock. A lock never gets the digest of packages that this run found in the mirror.
 */
static bool
mirror_debs(struct run *r, const struct stack *s, const struct lock *l, struct container *in,
	    const struct mirror_how *how, struct mirror_done *done)
{
	const struct stack *pinned = lock_apply(r->a, &r->ds, s, l);
	const struct plan *p = pinned ? plan_make(r->a, &r->ds, pinned, l) : NULL;
	const struct debs *seen;
	struct debs debs;

	if (!p || !debs_of(r->a, &r->ds, p, l, &debs))
		return false;
	if (!debs.n)
		return true;
	if (debs_ready(r->a, how->dir, &debs))
		done->had += debs.n;
	else if ((seen = list_find(x, &in->seen, !strcmp(x->path, debs.path))))
		debs.sums = seen->sums;
	else if (!fetch_sets(r, in, &debs, how, done))
		return false;
	list_push(r->a, &in->seen, debs);
	return pin_debs(r, s->recipe, l, &debs);
}

/* Chooses the engine of --debs; false after a diagnostic. */
static bool
open_container(struct run *r, struct container *in)
{
	const struct engine_at asked = world_engine_at(r->o);

	in->engine = engine_choose(r->a, &r->ds, r->o->engine, &asked, &in->state);
	if (!in->engine || (in->engine->run && !in->engine->prepare))
		return in->engine;
	diag_help(diag_at(&r->ds, E_MIRROR, NOWHERE, "%s cannot run a command in an image",
			  in->engine->name),
		  "use --engine podman or --engine docker");
	return false;
}

/* --- mirrors --- */

/* Fills the mirror for one cell. */
static bool
mirror_cell(struct run *r, const struct recipe *recipe, struct container *in,
	    struct mirror_how *how, struct mirror_done *done)
{
	const struct stack *s = resolve(r->a, &r->ds, r->facts, recipe, NULL);
	const char *again = arena_printf(r->a, "stackbuild lock %s",
					 recipe_words(r->a, r->o, recipe->path, recipe->cell));
	const struct lock *l;

	how->secrets = (struct names){ 0 };
	if (!s || !lock_current(r->a, &r->ds, s, again, true, &l) ||
	    !world_index_secrets(r, recipe, &how->secrets))
		return false;
	world_hide_secrets(r, recipe);
	return mirror_fill(r->a, &r->ds, l, s, how, done) &&
	       (!in->engine || mirror_debs(r, s, l, in, how, done));
}

bool
world_mirror(struct run *r, const struct recipes *rs, const char *dir, double timeout_s)
{
	struct mirror_how how = { .dir = dir,
				  .timeout_s = timeout_s,
				  .no_images = r->o->no_images,
				  .quiet = r->o->quiet };
	struct mirror_done done = { 0 };
	struct container in = { 0 };
	int lock = fs_lock_dir(r->a, dir);
	bool good = true;

	if (lock < 0) {
		diag_at(&r->ds, E_MIRROR, NOWHERE, "cannot make or read `%s`: %s", dir,
			strerror(errno));
		return false;
	}
	if (r->o->debs && !open_container(r, &in)) {
		close(lock);
		return false;
	}
	for (size_t i = 0; i < rs->n && (good || !proc_interrupted()); i++)
		good = mirror_cell(r, rs->at[i], &in, &how, &done) && good;
	good = good && mirror_index(r->a, &r->ds, dir);
	close(lock);
	if (good)
		buf_printf(&r->out, "%s: %zu part%s fetched (%s), %zu there already\n", dir,
			   done.fetched, done.fetched == 1 ? "" : "s",
			   bytes_words(r->a, done.bytes), done.had);
	return good;
}

int
verb_mirror(struct run *r)
{
	const struct options *o = r->o;
	const char *dir = o->args.at[1], *why;
	const struct recipes *rs;
	double timeout_s = 0;

	if (!option_timeout(o, &timeout_s))
		return EXIT_USAGE;
	rs = pipeline_load(r, &r->ds, o->args.at[0], NULL, NULL);
	proc_signals();
	if (!rs || !world_mirror(r, rs, dir, timeout_s))
		return EXIT_DIAGNOSED;
	buf_printf(&r->out, "next: stackbuild build %s --engine %s --mirror ",
		   recipe_words(r->a, o, o->args.at[0], o->cell),
		   !o->debs  ? "venv" :
		   o->engine ? o->engine :
			       "podman");
	quote(&r->out, QUOTE_SH, LANG_SH, dir, &why);
	buf_putc(&r->out, '\n');
	return EXIT_DONE;
}
