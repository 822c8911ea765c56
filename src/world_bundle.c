/* stackbuild bundle: write mirror, recipe, lock and proof to one archive. */
#include <string.h>

#include "base/fs.h"
#include "base/proc.h"
#include "base/str.h"
#include "mirror/mirror.h"
#include "world.h"

/* The files read while a recipe is loaded. */
struct reading {
	struct names paths;
};

static const struct source *
open_recipe(void *ctx, struct arena *a, struct diags *ds, const char *path, struct span at)
{
	struct reading *reading = ctx;

	names_once(a, &reading->paths, path);
	return fs_read(a, ds, path, fs_input_max(path), at);
}

/* Adds a file that is beside the recipe or below its directory. */
static bool
add_beside(struct run *r, struct bundle_files *files, const char *path)
{
	const char *recipe = r->o->args.at[0];
	const char *dir = fs_real(r->a, fs_dir(r->a, recipe));
	const char *real = fs_real(r->a, path);
	size_t n = strlen(dir);

	if (!starts_with(real, dir) || real[n] != '/') {
		diag_at(&r->ds, E_BUNDLE, NOWHERE,
			"a bundle cannot have `%s`: it is outside of the recipe's directory", path);
		return false;
	}
	list_push(r->a, files,
		  (struct bundle_file){ arena_printf(r->a, "recipe%s", real + n), path });
	return true;
}

/* Adds the records of a build and its proof, if they exist. */
static void
add_records(struct run *r, const struct recipe *cell, struct bundle_files *files)
{
	static const char *const names[] = { "build.json", "proof.json" };
	const char *dir = r->o->records ? r->o->records : fs_join(r->a, "out", cell->stack.s);
	const char *to = "proof";

	if (cell->cell) {
		dir = fs_join(r->a, dir, cell->cell);
		to = fs_join(r->a, to, cell->cell);
	}
	for (size_t i = 0; i < COUNT(names); i++)
		if (fs_exists(fs_join(r->a, dir, names[i])))
			list_push(r->a, files,
				  (struct bundle_file){ fs_join(r->a, to, names[i]),
							fs_join(r->a, dir, names[i]) });
}

static int
pack(struct run *r)
{
	const char *mirror = r->o->mirror;
	double timeout_s = 0;
	struct bundle_files files = { 0 };
	struct reading reading = { 0 };
	const struct recipes *rs;

	if (!option_timeout(r->o, &timeout_s))
		return EXIT_USAGE;
	rs = pipeline_load(r, &r->ds, r->o->args.at[0], open_recipe, &reading);
	if (!rs || !world_mirror(r, rs, mirror, timeout_s))
		return EXIT_DIAGNOSED;
	for (size_t i = 0; i < rs->n; i++) {
		names_once(r->a, &reading.paths, lock_path(r->a, rs->at[i]));
		add_records(r, rs->at[i], &files);
	}
	for (size_t i = 0; i < reading.paths.n; i++)
		if (!add_beside(r, &files, reading.paths.at[i]))
			return EXIT_DIAGNOSED;
	if (!bundle_add(r->a, &r->ds, &files, mirror, "mirror") ||
	    !bundle_write(r->a, &r->ds, &files, r->o->out))
		return EXIT_DIAGNOSED;
	buf_printf(&r->out, "%s: %zu files\n", r->o->out, files.n);
	return EXIT_DONE;
}

static int
unpack(struct run *r)
{
	size_t n;

	if (!bundle_read(r->a, &r->ds, r->o->args.at[0], r->o->out, &n))
		return EXIT_DIAGNOSED;
	buf_printf(&r->out, "%s: %zu files, all with the size and digest of the list\n", r->o->out,
		   n);
	return EXIT_DONE;
}

int
verb_bundle(struct run *r)
{
	const struct options *o = r->o;

	if (o->unpack && !o->args.n)
		return usage_error("name the bundle: stackbuild bundle --unpack FILE -o DIR");
	if (!o->out)
		return usage_error("%s", o->unpack ? "name the directory to make: -o DIR" :
						     "name the bundle to write: -o FILE.tar.zst");
	if (!o->unpack && !o->mirror)
		return usage_error("name the mirror to pack: --mirror DIR");
	if (!o->unpack && !strcmp(o->args.at[0], "-"))
		return usage_error("a bundle has a recipe with its lock: name a file");
	proc_signals();
	return o->unpack ? unpack(r) : pack(r);
}
