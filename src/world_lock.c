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

/* Runs `lock --why NAME`. */
static void
explain_package(struct locking *l)
{
	const char *name = l->r->o->why;

	if (lock_beside(l->r->a, &l->r->ds, l->recipe, again(l), true, &l->old) &&
	    !lock_why(l->old, name, &l->r->out))
		diag_help(diag_at(&l->r->ds, E_LOCK_NAME, (struct span){ 0 },
				  "`%s` has no package `%s`", l->path, name),
			  "check the spelling; the lock lists every package");
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
		.packages = answer.packages,
	};
	return world_pin(l->r, l->stack, &pin, &answer.sdists, out);
}

/* Returns the step that installs a changed package; NULL: the plan has none. */
static const struct step *
step_of(const struct plan *p, const struct lock_change *c)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct step *s = &p->steps[i];

		if (c->extension ?
			    s->extension && !strcmp(s->extension->name, c->name) :
			    !strcmp(s->id, !strcmp(c->root, "build") ? "build-deps" : c->root))
			return s;
	}
	return NULL;
}

/* Prints how many steps rebuild after a change of this step, and their time. */
static void
print_cost(struct locking *l, const struct lock_changes *changes)
{
	const struct plan *p = plan_make(l->r->a, &l->r->ds, l->stack, NULL);
	size_t first = p ? p->n : 0, n = first;
	double cost_s = 0;
	bool unknown = false;

	for (size_t i = 0; i < changes->n && p; i++) {
		const struct step *s = step_of(p, &changes->at[i]);

		if (s && (size_t)(s - p->steps) < first)
			first = (size_t)(s - p->steps);
	}
	for (size_t i = first; i < n; i++) {
		cost_s += p->steps[i].cost_s;
		unknown |= p->steps[i].cost_s <= 0;
	}
	if (first < n)
		buf_printf(&l->r->out,
			   "  %zu of %zu layers rebuild from `%s` on, %sabout %.0f min\n",
			   n - first, n, p->steps[first].id, unknown ? "at least " : "",
			   cost_s < 60 ? 1 : cost_s / 60);
}

static void
print_changes(struct locking *l, const struct lock_changes *changes)
{
	struct buf *out = &l->r->out;

	for (size_t i = 0; i < changes->n; i++) {
		const struct lock_change *c = &changes->at[i];

		if (!c->before)
			buf_printf(out, "  + %s %s\n", c->name, c->after);
		else if (!c->after)
			buf_printf(out, "  - %s %s\n", c->name, c->before);
		else
			buf_printf(out, "  %s %s -> %s\n", c->name, c->before, c->after);
	}
	if (changes->n)
		print_cost(l, changes);
}

/* Returns an edited or merged lock, of which only the versions are preferred. */
static const struct source *
edited_lock(struct locking *l)
{
	const struct source *src = fs_read_quiet(l->r->a, l->path, LOCK_MAX);
	struct lock_packages unused = { 0 };
	struct diags own;

	diags_init(&own, l->r->a);
	return src && lock_read_packages(l->r->a, &own, src, &unused) ? src : NULL;
}

static void
lock_cell(struct locking *l)
{
	struct diags ignored;
	struct lock new = { 0 };
	struct buf text = BUF(l->r->a);
	struct lock_changes changes = { 0 };
	bool changed = true;

	diags_init(&ignored, l->r->a);
	/* Replaces a lock that cannot be read. */
	lock_beside(l->r->a, &ignored, l->recipe, again(l), false, &l->old);
	l->how.preferences = l->old ? l->old->src : edited_lock(l);
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
	print_changes(l, &changes);
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
			continue;
		}
		good = false;
		diag_help(diag_at(&r->ds, E_SECRET_MISSING, (struct span){ 0 },
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

static void
lock_one(struct run *r, const struct recipe *recipe, struct uv *uv, struct uv_how how)
{
	struct locking l = { .r = r, .recipe = recipe, .uv = uv, .how = how };

	struct diag **found = r->ds.tail;
	const bool reads = r->o->check || r->o->why;

	l.path = lock_path(r->a, recipe);
	l.stack = resolve(r->a, &r->ds, r->facts, recipe, NULL);
	if (l.stack && r->o->check)
		check_lock(&l);
	else if (l.stack && r->o->why)
		explain_package(&l);
	else if (!reads && world_snapshot(r, recipe) &&
		 world_index_secrets(r, recipe, &l.how.secrets)) {
		world_hide_secrets(r, recipe);
		if (l.stack)
			lock_cell(&l);
		else
			lock_try_helps(&l, *found);
	}
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
	const char *why = bad_usage(o);

	if (why)
		return usage_error(why);
	if (!option_timeout(o, &how.timeout_s))
		return EXIT_USAGE;
	for (size_t i = 1; i < o->args.n; i++)
		list_push(r->a, &how.upgraded, name_normalize(r->a, o->args.at[i]));
	rs = pipeline_load(r, &r->ds, o->args.at[0], NULL, NULL);
	how.uv = &uv;
	proc_signals();
	for (size_t i = 0; rs && i < rs->n && !proc_interrupted(); i++)
		lock_one(r, rs->at[i], &uv, how);
	return r->ds.errors ? EXIT_DIAGNOSED : EXIT_DONE;
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

	diags_init(&ignored, r->a);
	l.path = lock_path(r->a, changed);
	if (!lock_beside(r->a, &ignored, changed, "", true, &l.old) ||
	    !uv_find(r->a, &ignored, &uv))
		return false;
	o.unpinned = l.old->unpinned.n ? names_join(r->a, &l.old->unpinned, ",") : NULL;
	o.changes = !write;
	of.o = &o;
	l.how = (struct uv_how){ .uv = &uv, .timeout_s = UV_TIMEOUT_S };
	proc_signals();
	diags_init(&of.ds, r->a);
	l.stack = resolve(r->a, &ignored, r->facts, changed, NULL);
	if (l.stack && world_index_secrets(&of, changed, &l.how.secrets)) {
		world_hide_secrets(r, changed);
		lock_cell(&l);
	}
	diags_append(&r->ds, &of.ds);
	r->out = of.out;
	return true;
}
