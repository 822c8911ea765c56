/* stackbuild mirror: download the files in the locks of a recipe to a directory. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/proc.h"
#include "mirror/mirror.h"
#include "render/render.h"
#include "world_lock.h"

/* Fills the mirror for one cell. */
static bool
mirror_cell(struct run *r, const struct recipe *recipe, struct mirror_how *how,
	    struct mirror_done *done)
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
	return mirror_fill(r->a, &r->ds, l, s, how, done);
}

bool
world_mirror(struct run *r, const struct recipes *rs, const char *dir, double timeout_s)
{
	struct mirror_how how = { .dir = dir,
				  .timeout_s = timeout_s,
				  .no_images = r->o->no_images,
				  .quiet = r->o->quiet };
	struct mirror_done done = { 0 };
	int lock = fs_lock_dir(r->a, dir);
	bool good = true;

	if (lock < 0) {
		diag_at(&r->ds, E_MIRROR, (struct span){ 0 }, "cannot make or read `%s`: %s", dir,
			strerror(errno));
		return false;
	}
	for (size_t i = 0; i < rs->n && !proc_interrupted(); i++)
		good = mirror_cell(r, rs->at[i], &how, &done) && good;
	good = good && mirror_index(r->a, &r->ds, dir);
	close(lock);
	if (good)
		buf_printf(&r->out, "%s: %zu parts fetched (%.1f MB), %zu there already\n", dir,
			   done.fetched, done.bytes / 1e6, done.had);
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
	buf_printf(&r->out, "next: stackbuild build %s --engine venv --mirror ",
		   recipe_words(r->a, o, o->args.at[0], o->cell));
	quote(&r->out, QUOTE_SH, LANG_SH, dir, &why);
	buf_putc(&r->out, '\n');
	return EXIT_DONE;
}
