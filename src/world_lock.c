/* stackbuild lock: pin a stack in a file next to its recipe. */
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/proc.h"
#include "base/str.h"
#include "world_lock.h"

static const char *
again(struct locking *l)
{
	return arena_printf(l->r->a, "stackbuild lock %s",
			    world_recipe(l->r->a, l->r->o, l->recipe->cell));
}

/* Returns "34 packages, 1 extension". */
static const char *
content(struct arena *a, const struct lock *l)
{
	return arena_printf(a, "%zu package%s, %zu extension%s", l->packages.n,
			    l->packages.n == 1 ? "" : "s", l->sources.n,
			    l->sources.n == 1 ? "" : "s");
}

/* Runs `lock --check`. */
static void
check_lock(struct locking *l)
{
	if (lock_current(l->r->a, &l->r->ds, l->stack, again(l), true, &l->old))
		buf_printf(&l->r->out, "%s is current: %s\n", l->path, content(l->r->a, l->old));
}

/* Writes what requires a package of the old lock; false after an error. */
static bool
find_package(struct locking *l, const char *name, struct buf *out)
{
	if (lock_why(l->old, name, out))
		return true;
	diag_help(
		diag_at(&l->r->ds, E_LOCK_NAME, NOWHERE, "`%s` has no package `%s`", l->path, name),
		"check the spelling; the lock lists every package");
	return false;
}

/* Returns true if the old lock has the packages of --upgrade; the cells of a matrix may differ. */
static bool
has_upgraded(struct locking *l)
{
	struct buf unused = BUF(l->r->a);
	bool good = true;

	for (size_t i = 0; l->old && !l->recipe->cell && i < l->how.upgraded.n; i++)
		if (!among(l->how.upgraded.at[i], "base git"))
			good = find_package(l, l->how.upgraded.at[i], &unused) && good;
	return good;
}

/* --- a new lock --- */

const char *
lock_obstacle(struct arena *a, const struct stack *s, struct span *at)
{
	const struct recipe_needs *needs = s->recipe->app.needs;

	if (s->torch_base) {
		*at = s->torch.at;
		return "it uses the torch of the base image, and uv cannot see the packages of an "
		       "image";
	}
	if (!s->python.value) {
		*at = s->base.at;
		return "the Python of its base image is unknown";
	}
	if (!needs || !needs->lines.n)
		return NULL;
	*at = needs->lines.at[0].text.at;
	return arena_printf(a, "`%s` in the requirements of the application: %s",
			    needs->lines.at[0].text.s, needs->lines.at[0].why);
}

static bool
can_be_locked(struct locking *l)
{
	struct span at = { .src = l->recipe->src };
	const char *why = lock_obstacle(l->r->a, l->stack, &at);

	if (!why)
		return true;
	diag_why(diag_at(&l->r->ds, E_LOCK_UNSUPPORTED, at, "this stack cannot be locked"), "%s",
		 why);
	return false;
}

static bool
resolved(struct locking *l, struct uv_answer *answer)
{
	const struct lock_request *q = lock_asks(l, l->stack);

	switch (uv_resolve(l->r->a, &l->r->ds, q, &l->how, answer)) {
	case UV_DONE: return true;
	case UV_CONFLICT: lock_conflict(l, q, answer); return false;
	default: return false;
	}
}

static bool
make_lock(struct locking *l, struct lock *out)
{
	struct uv_answer answer;
	const struct options *o = l->r->o;
	const bool all = o->upgrade && o->args.n == 1;
	const struct world_pin_how pin = {
		.old = l->old,
		.new_base = all || names_have(&l->how.upgraded, "base"),
		.new_git = all || names_have(&l->how.upgraded, "git"),
		.unpinned = names_split(l->r->a, o->unpinned ? o->unpinned : "", ','),
	};

	if (!can_be_locked(l) || (!l->uv->version && !uv_find(l->r->a, &l->r->ds, l->uv)) ||
	    !resolved(l, &answer))
		return false;
	*out = (struct lock){
		.stack = l->recipe->stack.s,
		.variant = l->recipe->variant,
		.cell = l->recipe->cell,
		.recipe = l->recipe->digest,
		.stackbuild = STACKBUILD_VERSION,
		.uv = l->how.uv->version,
		.knowledge = facts_date(l->r->facts),
		.inputs = lock_inputs(l->r->a, l->stack),
		.python = l->stack->python.value,
		.debs = l->old ? l->old->debs : NULL,
		.packages = answer.packages,
	};
	return world_pin(l->r, l->stack, &pin, &answer.sdists, out);
}

/* Prints the steps that rebuild; `upgrade` prints those of the changed recipe. */
static void
print_rebuilds(struct locking *l, const struct lock *new)
{
	struct arena *a = l->r->a;
	struct diags ignored = DIAGS(ignored, a);
	const struct stack *was = lock_apply(a, &ignored, l->stack, l->old);
	const struct stack *is = lock_apply(a, &ignored, l->stack, new);
	const struct plan *before = was ? plan_make(a, &ignored, was, l->old) : NULL;
	const struct plan *after = is ? plan_make(a, &ignored, is, new) : NULL;

	if (before && after)
		plan_diff(before, after, NULL, &l->r->out, false);
}

static void
print_changes(struct locking *l, const struct lock *new, const struct lock_changes *changes)
{
	struct buf *out = &l->r->out;

	list_each (c, changes) {
		if (!c->before)
			buf_printf(out, "  + %s %s\n", c->name, c->after);
		else if (!c->after)
			buf_printf(out, "  - %s %s\n", c->name, c->before);
		else
			buf_printf(out, "  %s %s -> %s\n", c->name, c->before, c->after);
	}
	if (changes->n && l->r->o->verb == VERB_lock)
		print_rebuilds(l, new);
}

/* Returns an edited or merged lock, of which only the versions are preferred. */
static const struct source *
edited_lock(struct locking *l)
{
	const struct source *src = fs_read_quiet(l->r->a, l->path, LOCK_MAX);
	struct lock_packages unused = { 0 };
	struct diags own = DIAGS(own, l->r->a);

	return src && lock_read_packages(l->r->a, &own, src, &unused) ? src : NULL;
}

static void
lock_cell(struct locking *l)
{
	struct diags ignored = DIAGS(ignored, l->r->a);
	struct lock new = { 0 };
	struct buf text = BUF(l->r->a);
	struct lock_changes changes = { 0 };
	bool changed = true;

	/* Replaces a lock that cannot be read. */
	lock_beside(l->r->a, &ignored, l->recipe, again(l), false, &l->old);
	l->how.preferences = l->old ? l->old->src : edited_lock(l);
	if (!has_upgraded(l))
		return;
	if (!make_lock(l, &new)) {
		if (l->old && proc_interrupted())
			buf_printf(&l->r->out, "%s is unchanged\n", l->path);
		return;
	}
	if (l->old)
		changes = lock_compare(l->r->a, l->old, &new);
	lock_write(&new, &text);
	if (!l->r->o->changes &&
	    !fs_write(&l->r->ds, l->path, buf_text(&text), text.n, 0644, true, &changed))
		return;
	lock_warn(l->r->a, &l->r->ds, l->recipe, &new, again(l));
	buf_printf(&l->r->out, "%s: %s%s\n", l->path, content(l->r->a, &new),
		   l->old && !changes.n ? ", nothing moves" :
		   l->r->o->changes     ? "; not written" :
		   changed              ? "" :
					  ", unchanged");
	print_changes(l, &new, &changes);
}

/* --- the command --- */

bool
world_index_secrets(struct run *r, const struct recipe *of, struct names *texts)
{
	struct names needed = { 0 };
	bool good = true;

	if (of->index.secret.s)
		list_push(r->a, &needed, of->index.secret.s);
	for (size_t i = 0; i < of->extras.n; i++)
		if (of->extras.at[i].secret.s)
			names_once(r->a, &needed, of->extras.at[i].secret.s);
	for (size_t i = 0; i < needed.n; i++) {
		const char *name = needed.at[i], *value = getenv(name);

		if (value) {
			list_push(r->a, texts, arena_strdup(r->a, value));
			good = recipe_secret_fits(&r->ds, of, name, value) && good;
			continue;
		}
		good = false;
		diag_help(diag_at(&r->ds, E_SECRET_MISSING, NOWHERE,
				  "the packages need the secret %s of an index", name),
			  "set the variable %s to lines of a netrc", name);
	}
	return good;
}

static const char *
bad_usage(const struct options *o)
{
	if (o->args.n > 1 && !o->upgrade)
		return "package names require --upgrade: stackbuild lock RECIPE --upgrade numpy";
	if (o->unpinned && !str_matches(o->unpinned, "^(base|git)(,(base|git))*$"))
		return "--unpinned takes base, git or base,git";
	if (o->check + o->changes + !!o->why > 1)
		return "--check, --diff and --why exclude each other";
	return NULL;
}

/* Returns true in the process of a worker, which has locked its cell. */
static bool
lock_one(struct run *r, const struct recipe *recipe, struct uv *uv, struct uv_how how,
	 struct lock_workers *apart)
{
	struct locking l = { .r = r, .recipe = recipe, .uv = uv, .how = how };
	struct diag **found = r->ds.tail;
	const bool reads = r->o->check || r->o->why;
	pid_t worker = -1;

	l.path = lock_path(r->a, recipe);
	l.stack = resolve(r->a, &r->ds, r->facts, recipe, NULL);
	if (l.stack && r->o->check)
		check_lock(&l);
	else if (l.stack && r->o->why) {
		if (lock_beside(r->a, &r->ds, recipe, again(&l), true, &l.old))
			find_package(&l, r->o->why, &r->out);
	} else if (!reads && world_snapshot(r, recipe) &&
		   world_index_secrets(r, recipe, &l.how.secrets)) {
		world_hide_secrets(r, recipe);
		if (!l.stack)
			lock_try_helps(&l, *found);
		else if (!apart || (worker = lock_fork(r, apart)) <= 0)
			lock_cell(&l);
	}
	return !worker;
}

int
verb_lock(struct run *r)
{
	const struct options *o = r->o;
	const struct recipes *rs;
	struct uv_how how = { .upgrade = o->upgrade && o->args.n == 1,
			      .builds = o->builds,
			      .timeout_s = UV_TIMEOUT_S };
	struct uv uv = { 0 };
	struct lock_workers workers = { 0 };
	/* A program gets the diagnostics of all cells in one document. */
	const bool text = o->diagnostics != DIAG_JSON && o->diagnostics != DIAG_SARIF;
	const char *why = bad_usage(o);

	if (why)
		return usage_error("%s", why);
	if (!option_timeout(o, &how.timeout_s))
		return EXIT_USAGE;
	for (size_t i = 1; i < o->args.n; i++)
		list_push(r->a, &how.upgraded, name_normalize(r->a, o->args.at[i]));
	rs = pipeline_load(r, &r->ds, o->args.at[0], NULL, NULL);
	how.uv = &uv;
	proc_signals();
	for (size_t i = 0; rs && i < rs->n && !proc_interrupted(); i++)
		if (lock_one(r, rs->at[i], &uv, how, rs->n > 1 && text ? &workers : NULL)) {
			r->facts = NULL; /* the parent prints the notes on its files */
			return r->ds.errors ? EXIT_DIAGNOSED : EXIT_DONE;
		}
	return lock_join(r, &workers) && !r->ds.errors ? EXIT_DONE : EXIT_DIAGNOSED;
}

/* --- the lock of a recipe changed by `upgrade` --- */

bool
world_lock_changed(struct run *r, const struct recipe *changed, bool write)
{
	struct options o = *r->o;
	struct run of = *r;
	struct uv uv = { 0 };
	struct locking l = { .r = &of, .recipe = changed, .uv = &uv };
	struct diags ignored;

	ignored = DIAGS(ignored, r->a);
	l.path = lock_path(r->a, changed);
	if (!lock_beside(r->a, &ignored, changed, "", true, &l.old) ||
	    !uv_find(r->a, &ignored, &uv))
		return false;
	o.unpinned = l.old->unpinned.n ? names_join(r->a, &l.old->unpinned, ",") : NULL;
	o.changes = !write;
	of.o = &o;
	l.how = (struct uv_how){ .uv = &uv, .timeout_s = UV_TIMEOUT_S };
	proc_signals();
	of.ds = DIAGS(of.ds, r->a);
	l.stack = resolve(r->a, &ignored, r->facts, changed, NULL);
	if (l.stack && world_index_secrets(&of, changed, &l.how.secrets)) {
		world_hide_secrets(r, changed);
		lock_cell(&l);
	}
	diags_append(&r->ds, &of.ds);
	r->out = of.out;
	return true;
}
