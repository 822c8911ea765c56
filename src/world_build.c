/* stackbuild build: build the cells of a recipe with an engine. */
#include "verbs.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/proc.h"
#include "base/str.h"
#include "build/build.h"
#include "render/render.h"
#include "world.h"

/* Opens the stores of --store, or the default one; none with --no-store. */
static bool
open_stores(struct run *r, struct stores *stores)
{
	const struct names *named = &r->o->stores;

	for (size_t i = 0; !r->o->no_store && i < (named->n ? named->n : 1); i++) {
		struct store *s = store_open(r->a, &r->ds, named->n ? named->at[i] : NULL);

		if (!s)
			return false;
		list_push(r->a, stores, s);
	}
	return true;
}

static bool
secrets_well_formed(const struct names *secrets)
{
	/* Does not print the text, which may be the secret itself. */
	for (size_t i = 0; i < secrets->n; i++)
		if (!str_matches(secrets->at[i], "^[^=]+=."))
			return usage_error("write --secret NAME=FILE") == EXIT_DONE;
	return true;
}

/* Returns the variables that may hold a recipe's secrets. */
static struct names
secret_names(struct arena *a, const struct recipe *of)
{
	struct names all = { 0 }, found = { 0 };

	list_push(a, &all, of->index.secret.s ? of->index.secret.s : "");
	for (size_t i = 0; i < of->extras.n; i++)
		if (of->extras.at[i].secret.s)
			list_push(a, &all, of->extras.at[i].secret.s);
	for (size_t i = 0; i < of->secrets.n; i++)
		list_push(a, &all, of->secrets.at[i].s);
	for (size_t i = 0; i < all.n; i++)
		if (strcmp(all.at[i], "PATH") != 0 && strcmp(all.at[i], "HOME") != 0)
			list_push(a, &found, all.at[i]);
	return found;
}

void
world_hide_secrets(struct run *r, const struct recipe *of)
{
	const struct names all = secret_names(r->a, of);

	for (size_t i = 0; i < all.n; i++)
		proc_hide(r->a, all.at[i]);
}

/*
 * Returns the variables with their values, for a stackbuild that builds a unit: "NAME=value", then
 * NULL.
 */
static struct names
secret_values(struct run *r, const struct recipes *rs)
{
	struct names env = { 0 };

	for (size_t i = 0; i < rs->n; i++) {
		const struct names all = secret_names(r->a, rs->at[i]);

		for (size_t k = 0; k < all.n; k++)
			if (getenv(all.at[k]))
				names_once(
					r->a, &env,
					arena_printf(r->a, "%s=%s", all.at[k], getenv(all.at[k])));
	}
	list_push(r->a, &env, NULL);
	return env;
}

const char *
world_recipe(struct arena *a, const struct options *o, const char *cell)
{
	struct buf b = BUF(a);

	buf_puts(&b, recipe_words(a, o, o->args.at[0], cell));
	add_word(&b, "--tag", o->tag);
	add_word(&b, "-o", o->verb == VERB_report ? o->records : o->out);
	return buf_text(&b);
}

/*
 *   built torch211   5.40 GB   14:32   2 compiled, 0 from the store
 *   digest: sha256:9f2c0d...
 *   record: out/torch211/build.json
 *   next: stackbuild verify recipes/torch211.yaml
 */
static void
print_result(struct run *r, const struct build_record *b, const struct build_options *o,
	     const char *cell)
{
	struct buf next = BUF(r->a);
	size_t compiled = 0, stored = 0;

	for (size_t i = 0; i < b->steps.n; i++) {
		compiled += !strcmp(b->steps.at[i].from, "compiled");
		stored += !strcmp(b->steps.at[i].from, "store");
	}
	if (o->wheel) {
		buf_printf(&r->out, "wheel %s, %s\n", b->wheels.at[0],
			   stored ? "from the store" : "compiled");
		return;
	}
	buf_printf(&r->out, "built %s", b->image);
	if (b->size_bytes)
		buf_printf(&r->out, "   %.2f GB", (double)b->size_bytes / 1e9);
	buf_printf(&r->out, "   %u:%02u", (unsigned)b->seconds / 60, (unsigned)b->seconds % 60);
	if (compiled || stored)
		buf_printf(&r->out, "   %zu compiled, %zu from the store", compiled, stored);
	if (o->engine->build && !o->engine->push && !o->push)
		buf_puts(&r->out, "\nthe image is neither on this host nor in a registry: pass "
				  "--push to push it");
	if (b->digest)
		buf_printf(&r->out, "\ndigest: %s", b->digest);
	buf_printf(&r->out, "\nrecord: %s\n", fs_join(r->a, o->out, "build.json"));
	buf_printf(&next, "next: stackbuild verify %s", world_recipe(r->a, r->o, cell));
	/* Modal tests its images itself. */
	if (o->engine->run)
		add_word(&next, "--engine", r->o->engine);
	else if (!strcmp(o->engine->name, "venv"))
		buf_puts(&next, " --host");
	else
		return;
	buf_printf(&r->out, "%s\n", buf_text(&next));
}

/* "x" and "python-3.10,torch.version-2.2.2" -> "x:python-3.10-torch.version-2.2.2", as in the
 * rendered file; a tag has at most 128 characters. */
static const char *
image_tag_of_cell(struct arena *a, const char *name, const char *cell)
{
	const char *slash = strrchr(name, '/'), *colon = strchr(slash ? slash : name, ':');
	size_t used = colon ? strlen(colon) : 0;
	char *tag = arena_printf(a, "%s%c%.*s", name, colon ? '-' : ':',
				 (int)(used < 127 ? 128 - used : 1), cell);

	for (char *p = tag + strlen(name) + 1; *p; p++)
		if (!is_alnum(*p) && !strchr("._-", *p))
			*p = '-';
	return tag;
}

/* Returns the name of a stack's image; for a cell of a matrix "x:python-3.10". */
static const char *
image_name(struct arena *a, const char *tag, const char *stack, const char *cell)
{
	const char *name = tag ? tag : arena_lower(a, stack);

	return cell ? image_tag_of_cell(a, name, cell) : name;
}

const char *
world_image(struct arena *a, const char *tag, const struct plan *p)
{
	return image_name(a, tag, p->name, p->stack->recipe->cell);
}

/* Sets o->mirror if --mirror is given. */
static bool
open_mirror(struct run *r, const struct plan *p, struct build_options *o, struct mirror_use *use)
{
	const struct recipe *cell = p->stack->recipe;
	const char *again = arena_printf(r->a, "stackbuild lock %s",
					 recipe_words(r->a, r->o, cell->path, cell->cell));
	const struct lock *l = p->lock;
	enum mirror_for user = !o->engine->build                     ? MIRROR_SCRIPT :
			       o->engine->dialect == DIALECT_BUILDAH ? MIRROR_LAYOUTS :
								       MIRROR_LOADS;

	if (!r->o->mirror)
		return true;
	o->mirror = use;
	return (l || lock_beside(r->a, &r->ds, cell, again, true, &l)) &&
	       mirror_use(r->a, &r->ds, l, p, r->o->mirror, user, build_mirror_place(r->a, o->out),
			  use);
}

static bool
build_cell(struct run *r, const struct recipe *cell, const struct templates *t,
	   struct build_options o)
{
	const struct plan *p = pipeline_plan(r, r->a, &r->ds, cell, NULL);
	struct build_record record = { 0 };
	struct mirror_use use;

	if (!p || r->ds.errors || (!r->o->dry_run && !world_snapshot(r, cell)))
		return false;
	o.out = r->o->out ? r->o->out : fs_join(r->a, "out", p->name);
	/* Not for a wheel: a comma in the path breaks `-Wl,-rpath,PATH` when it compiles. */
	if (cell->cell && !o.wheel)
		o.out = fs_join(r->a, o.out, cell->cell);
	o.tag = world_image(r->a, r->o->tag, p);
	if (r->o->dry_run)
		return build_preview(r->a, &r->ds, p, &o, &r->out);
	if (!open_mirror(r, p, &o, &use))
		return false;
	if (!build_stack(r->a, &r->ds, p, t, &o, &record)) {
		diagnose_build(r, fs_join(r->a, o.out, "build.log"));
		return false;
	}
	print_result(r, &record, &o, cell->cell);
	return true;
}

/* Splits "tcp://a:1234,tcp://b:1234". */
static struct names
builders(struct arena *a, const char *addr)
{
	struct names parts = names_split(a, addr ? addr : "", ','), found = { 0 };

	for (size_t i = 0; i < parts.n; i++)
		if (*parts.at[i])
			list_push(a, &found, parts.at[i]);
	return found;
}

/* Reads "2/8", part 2 of 8; false after a usage error. */
static bool
option_shard(const char *text, size_t *i, size_t *n)
{
	char *end;

	*i = *n = 1;
	if (!text)
		return true;
	if (is_digit(*text)) {
		*i = strtoul(text, &end, 10);
		if (*end == '/' && is_digit(end[1])) {
			*n = strtoul(end + 1, &end, 10);
			if (!*end && *i >= 1 && *i <= *n && *n <= 1024)
				return true;
		}
	}
	diag_tell("stackbuild: --shard takes I/N, such as 2/8, not `%s`", text);
	return false;
}

/* Writes the command of a unit: the options of this process, except those for the matrix. */
static void
unit_words(struct run *r, struct matrix_build *b, const struct engine *engine)
{
	static const char *const ours[] = { "--shard", "--keep-going", "--resume", "--parallel" };
	const struct names *words = &r->o->words;

	list_push(r->a, &b->words, "/proc/self/exe");
	for (size_t i = 0; i < words->n; i++) {
		const char *word = words->at[i];
		bool mine = false;

		for (size_t k = 0; k < COUNT(ours) && i < r->o->options_end; k++)
			if (starts_with(word, ours[k]) && strchr("=", word[strlen(ours[k])]))
				mine = true;
		/* The value is the next word, unless it follows a `=`. */
		if (mine)
			i += !strchr(word, '=') &&
			     (!strcmp(word, ours[0]) || !strcmp(word, ours[3]));
		else
			list_push(r->a, i < r->o->options_end ? &b->words : &b->after, word);
	}
	list_push(r->a, &b->words, b->raw ? "--progress=quiet" : "--progress=plain");
	list_printf(r->a, &b->words, "--engine=%s", engine->name);
}

/* Builds a matrix: its wheels and cells, each with a separate stackbuild process. */
static int
build_matrix(struct run *r, const struct recipes *rs, const struct build_options *o,
	     struct names addrs, unsigned at_once)
{
	/* Separate units for wheels make sense only if the cells can find the wheels. */
	bool stored = o->stores.n && !o->no_cache && o->engine->dialect != DIALECT_MODAL;
	struct matrix *m = pipeline_matrix(r, rs, !o->engine->build);
	struct matrix_build b = { .m = m,
				  .addrs = addrs,
				  .env = secret_values(r, rs),
				  .at_once = at_once,
				  .machine = build_machine(r->a, o),
				  .progress = o->progress,
				  .colour = o->colour,
				  .raw = r->o->diagnostics != DIAG_TEXT,
				  .keep_going = r->o->keep_going,
				  .resume = r->o->resume };
	size_t part, parts;

	if (at_once > 1) {
		b.machine.cpus =
			b.machine.cpus > at_once ? b.machine.cpus / at_once : b.machine.cpus > 0;
		b.machine.mib /= at_once;
	}
	if (!option_shard(r->o->shard, &part, &parts))
		return EXIT_USAGE;
	if (!strcmp(r->o->args.at[0], "-"))
		return usage_error(
			"a matrix is built by several processes that read the recipe: name a "
			"file, or build one cell with --cell");
	if (!m)
		return EXIT_DIAGNOSED;
	if (!stored)
		matrix_forget_wheels(m);
	b.cells = matrix_shard(r->a, m, part, parts);
	b.out = r->o->out ? r->o->out : fs_join(r->a, "out", m->name);
	for (size_t i = 0; i < m->cells.n; i++)
		list_push(r->a, &b.images,
			  o->engine->build ?
				  image_name(r->a, r->o->tag, m->name, m->cells.at[i].name) :
				  NULL);
	unit_words(r, &b, o->engine);
	b.head = arena_printf(r->a, "%s: %zu of %zu cells, %zu distinct wheels, %u at once",
			      m->name, b.cells.n, m->cells.n, m->wheels.n, at_once);
	if (r->o->dry_run) {
		buf_printf(&r->out, "%s\n", b.head);
		matrix_text(m, &r->out);
		buf_puts(&r->out, "\ndry run: nothing was built or written; name a cell with "
				  "--cell to see its steps\n");
		return EXIT_DONE;
	}
	proc_signals();
	return matrix_build(r->a, &r->ds, &b, &r->out) ? EXIT_DONE : EXIT_DIAGNOSED;
}

int
verb_build(struct run *r)
{
	const struct options *o = r->o;
	struct engine_state state;
	struct engine_at at = world_engine_at(o);
	struct build_options b = { .secrets = o->secrets,
				   .progress = (enum progress_mode)o->progress,
				   .no_cache = o->no_cache,
				   .no_apt = o->no_apt,
				   .push = o->push,
				   .cache_from = o->cache_from,
				   .cache_to = o->cache_to,
				   .keep_context = o->keep_context,
				   .wheel = o->wheel,
				   .state = &state };
	const struct recipes *rs;
	const struct templates *t = templates_open(r->a, &r->ds, o->templates);
	struct names addrs = builders(r->a, o->addr);
	double jobs, parallel;

	if (!option_number("jobs", o->jobs, 4096, &jobs) ||
	    !option_number("parallel", o->parallel, 1024, &parallel) ||
	    !option_number("timeout", o->timeout, 1e9, &b.timeout_s) ||
	    !secrets_well_formed(&o->secrets))
		return EXIT_USAGE;
	b.jobs = (unsigned)jobs;
	b.colour = option_colour(o, STDERR_FILENO);
	rs = pipeline_load(r, &r->ds, o->args.at[0], NULL, NULL);
	for (size_t i = 0; rs && i < rs->n; i++)
		world_hide_secrets(r, rs->at[i]);
	at.addr = addrs.n ? addrs.at[0] : NULL;
	at.python = rs ? rs->at[0]->python.s : NULL;
	if (!rs || !t || !open_stores(r, &b.stores) ||
	    !(b.engine = engine_choose(r->a, &r->ds, o->engine, &at, &state)))
		return EXIT_DIAGNOSED;
	if (o->mirror && o->no_lock)
		return usage_error("--mirror has the files of the lock: without --no-lock");
	if (o->mirror && (b.engine->dialect == DIALECT_BUILDAH ?
				  state.at.remote :
				  !b.engine->load && strcmp(b.engine->name, "venv")))
		return usage_error(
			"--mirror works with --engine docker, with podman and buildah of "
			"this host, and with venv");
	if (rs->n > 1 && o->wheel)
		return usage_error("--wheel compiles for one cell: name it with --cell");
	if (rs->n > 1)
		return build_matrix(r, rs, &b, addrs,
				    parallel >= 1 ? (unsigned)parallel :
				    addrs.n       ? (unsigned)addrs.n :
						    1);
	proc_signals();
	return build_cell(r, rs->at[0], t, b) ? EXIT_DONE : EXIT_DIAGNOSED;
}
