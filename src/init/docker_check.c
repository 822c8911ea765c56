#include <string.h>

#include "base/buf.h"
#include "docker.h"

/* Decisions that need the whole Dockerfile: its images, and the order of its items. */

/* Takes the Python that apt installs, unless the file or the image has another one. */
static void
take_system_python(struct docker *d, const struct image_name *image)
{
	const struct os_release *os = image->os ? facts_os(d->rd->f, image->os) : NULL;

	if (!d->python || image->python || !os || !os->python || init_get(d->rd, "python"))
		return;
	d->python->weak = true;
	d->python->comment =
		arena_printf(d->rd->a, "%s's own, which the Dockerfile installs", image->os);
	item_take(d->rd, d->python, "python", os->python);
}

/* Uses the devel image instead of a runtime image, which has no nvcc. */
static void
take_base(struct docker *d, const struct stage *s)
{
	struct image_name name = facts_image_name(d->rd->f, s->image);
	bool moves = !name.digest && (!name.tag || !strcmp(name.tag, "latest"));
	const char *at, *value = s->image;

	if (moves)
		diag_help(diag_at(d->rd->ds, W_INIT_MOVES, s->at, "`%s` changes without notice",
				  s->image),
			  "name a full tag; without one the recipe gets a compatible image");
	if (moves) {
		item_leave(d->rd, s->item, "an image without a full tag changes");
		return;
	}
	at = name.cuda && name.flavour && strcmp(name.flavour, "devel") != 0 && !name.digest ?
		     strstr(s->image, name.flavour) :
		     NULL;
	if (at) {
		value = arena_printf(d->rd->a, "%.*sdevel%s", (int)(at - s->image), s->image,
				     at + strlen(name.flavour));
		item_changed(d->rd, s->at, "`%s` became its devel image: `%s` has no nvcc",
			     s->image, name.flavour);
	}
	item_take(d->rd, s->item, "base", value);
	take_system_python(d, &name);
	/* Files that init reads later may replace this torch. */
	d->has_torch = image_has_torch(&name);
	if (d->has_torch)
		item_set(d->rd, s->image, s->at, "torch.from", "base")->comment =
			name.torch ?
				arena_printf(d->rd->a, "torch %s, which pip keeps", name.torch) :
				NULL;
}

void
docker_images(struct docker *d)
{
	const struct stage *last = docker_root(d, &d->stages.at[d->stages.n - 1]);

	d->root = d->root ? d->root : last;
	list_each (s, &d->stages)
		if (!s->seen)
			item_leave(d->rd, s->item, "the last stage does not use this stage");
		else if (s->parent >= 0)
			item_take(d->rd, s->item, "base", NULL);
		else if (s != d->root && s != last)
			item_leave(d->rd, s->item, "a recipe has one base image");
		else if (s == d->stages.at && d->no_image)
			item_leave(d->rd, s->item, "%s", d->no_image);
		else if (s->unknown || !*s->image || !strcmp(s->image, "scratch"))
			item_unread(d->rd, s->item, "name it with --base",
				    "this image is not in the knowledge base");
		else if (s == d->root)
			take_base(d, s);
		else
			item_take(d->rd, s->item, "runtime.base", s->image);
}

/*
 * Problems with the order of a Dockerfile's items: a table of checks, each with a condition on an
 * item and a text.  R004 to R008, R036, R060 to R065, R070, R082.
 */

struct order {
	struct docker *d;
	const struct init_item *first, *end;
	const struct init_item *torch, *ext; /* the first item of each, or NULL */
	const struct init_item *other;       /* set by a condition: the other item of the problem */
	const char *detail;                  /* set by a condition: the second %s of the text */
};

static bool
is(const struct init_item *e, const char *key)
{
	return e->kind == INIT_PIP && e->key && !strcmp(e->key, key);
}

/* Returns true if an earlier command installs it. */
static bool
before(const struct order *o, const struct init_item *limit, enum init_kind kind, const char *name)
{
	for (const struct init_item *e = o->first; e < limit; e++)
		if (e->kind == kind && e->name && !strcmp(e->name, name) &&
		    (kind != INIT_PIP || e->call != limit->call))
			return true;
	return false;
}

/* Returns build requirements that no earlier item installs; "" for none. */
static const char *
needs_missing(const struct order *o, const struct init_item *e)
{
	static const char *const needs[] = { "packaging", "wheel", "ninja" };
	struct names missing = { 0 };

	for (size_t i = 0; i < 3; i++)
		if (!before(o, e, INIT_PIP, needs[i]) &&
		    !(i == 2 && before(o, e, INIT_APT, "ninja-build")))
			list_push(o->d->rd->a, &missing, needs[i]);
	return names_words(o->d->rd->a, &missing, "and");
}

static bool
needs_numpy1(const struct order *o)
{
	const char *version = init_value(o->d->rd, "torch.version");
	const struct torch_release *t = version ? facts_torch(o->d->rd->f, version) : NULL;

	for (const struct init_item *e = o->first; e < o->end; e++)
		if (e->kind == INIT_PIP && e->name && !strcmp(e->name, "numpy") && *e->spec)
			return false;
	return t && t->numpy2 == TRI_NO;
}

/* pip builds nothing of a wheel. */
static bool
is_wheel(const struct init_item *e)
{
	const char *url = e->value ? strstr(e->value, " @ ") : NULL;

	return url && recipe_names_wheel(url + 3);
}

enum problem {
	TORCH_LATE,
	NEEDS_MISSING,
	TOOL_LATE,
	APT_LATE,
	ISOLATED,
	COPY_EARLY,
	TWO_INDEXES,
	ROOT_INDEX,
	TORCH_INDEX,
	UNPINNED,
	NUMPY_OPEN,
};

static bool
has(struct order *o, const struct init_item *e, enum problem problem)
{
	const struct init_item *torch = o->torch, *ext = o->ext;
	bool pip = e->kind == INIT_PIP, apt = e->kind == INIT_APT,
	     git = strstr(e->what, "git+") || (e->value && strstr(e->value, "git+"));
	bool is_torch = is(e, "torch.version"), is_ext = is(e, "extensions");

	o->other = torch;
	o->detail = "";
	switch (problem) {
	case TORCH_LATE:
		return e == ext && !o->d->has_torch &&
		       (torch ? torch > e || torch->call == e->call : !o->d->unseen);
	case NEEDS_MISSING:
		return e == ext && !e->isolated && !o->d->unseen && !o->d->has_torch &&
		       *(o->detail = needs_missing(o, e));
	case TOOL_LATE:
		o->other = ext;
		return apt && ext && e > ext && !before(o, ext, INIT_APT, e->name) &&
		       among(e->name, "build-essential gcc g++ git ninja-build cmake python3-dev");
	case APT_LATE: return apt && torch && e > torch;
	case ISOLATED: return is_ext && e->isolated && !e->linked && !is_wheel(e);
	case COPY_EARLY:
		if (!torch || torch < e || (ext && ext > e && ext < torch))
			o->other = ext;
		return e->kind == INIT_COPY && e->wide && o->other && o->other > e;
	case TWO_INDEXES: return is_torch && e->extra && !e->index && !e->local;
	case ROOT_INDEX: return is_torch && e->index && !*e->index;
	case TORCH_INDEX:
		return pip && e->index && e->fate == INIT_TAKEN && !is_torch &&
		       !among(e->name, "numpy pillow triton packaging wheel setuptools ninja sympy "
				       "networkx torchvision torchaudio");
	case UNPINNED:
		o->detail = git      ? "it comes from a repository without tag or commit" :
			    *e->spec ? "a range selects another release tomorrow" :
				       "pip installs the newest release of the day";
		return pip && !e->pinned && (git || is_ext || (is_torch && !o->d->has_torch));
	case NUMPY_OPEN: return e == torch && needs_numpy1(o);
	}
	return false;
}

static const struct check {
	enum code code;
	bool each;                            /* report every item, not only the first */
	const char *text, *why, *note, *help; /* text: a format for the item's name and o->detail */
} checks[] = {
	[TORCH_LATE] = { W_INIT_ORDER, false, "`%s` is built before torch is installed",
			 "its setup imports torch: ModuleNotFoundError: No module named 'torch'",
			 "torch is installed here",
			 "install torch with a separate command before it" },
	[NEEDS_MISSING] = { W_INIT_ORDER, false,
			    "`%s` is built without isolation, and nothing before it installs %s",
			    NULL, NULL, "install its build requirements by a command before it" },
	[TOOL_LATE] = { W_INIT_ORDER, false, "`%s` is installed too late", NULL,
			"this compile needs it",
			"install apt's packages, torch, build requirements and extensions in this "
			"order" },
	[APT_LATE] = { W_INIT_ORDER, false, "`%s` of the system is installed after torch", NULL,
		       "torch is installed here",
		       "install the system's packages by one RUN before it: they change less "
		       "often" },
	[ISOLATED] = { W_INIT_ISOLATION, true,
		       "`%s` is built in isolation, without the image's torch",
		       "the isolated environment has no torch, or another one, for which the wheel "
		       "is then made",
		       NULL,
		       "add --no-build-isolation, and install its build requirements before it" },
	[COPY_EARLY] = { W_INIT_ORDER, false,
			 "the whole directory is copied before `%s` is installed", NULL,
			 "every edit of a file repeats this",
			 "copy it last: in the recipe that is `app`" },
	[TWO_INDEXES] = { W_INIT_INDEX, false,
			  "with --extra-index-url pip chooses between two builds of `%s`", NULL,
			  NULL, "use --index-url with torch's index, in a separate command" },
	[ROOT_INDEX] = { W_INIT_INDEX, false,
			 "the root of the index does not list older builds of `%s`", NULL, NULL,
			 "name the build: .../whl/cu121" },
	[TORCH_INDEX] = { W_INIT_INDEX, false, "pip searches only torch's index for `%s`", NULL,
			  NULL, "install it with a separate command, without --index-url" },
	[UNPINNED] = { W_INIT_MOVES, true, "`%s` is not pinned: %s", NULL, NULL, "pin it" },
	[NUMPY_OPEN] = { W_INIT_MOVES, false,
			 "numpy has no bound: pip installs numpy 2, and this `%s` was built "
			 "against numpy 1",
			 NULL, NULL, "add `numpy<2` to the command that installs torch" },
};

static void
run_check(struct order *o, enum problem problem)
{
	const struct check *c = &checks[problem];

	for (const struct init_item *e = o->first; e < o->end; e++) {
		struct diag *d;

		if (!has(o, e, problem))
			continue;
		d = diag_at(o->d->rd->ds, c->code, e->at, c->text,
			    e->kind == INIT_COPY ? o->other->name : e->name, o->detail);
		if (c->why)
			diag_why(d, "%s", c->why);
		if (c->note && o->other)
			diag_note(d, o->other->at, "%s", c->note);
		diag_help(d, "%s", c->help);
		if (!c->each)
			return;
	}
}

void
docker_check(struct docker *d, size_t from)
{
	struct init_item *items = arena_array_of(d->rd->a, struct init_item, d->rd->items.n);
	struct order o = { .d = d, .first = items + from, .end = items + d->rd->items.n };

	for (size_t i = 0; i < d->rd->items.n; i++)
		items[i] = *d->rd->items.at[i];
	for (const struct init_item *e = o.end; e-- > o.first;) {
		o.torch = is(e, "torch.version") ? e : o.torch;
		o.ext = is(e, "extensions") ? e : o.ext;
	}
	for (enum problem i = TORCH_LATE; i <= NUMPY_OPEN; i++)
		run_check(&o, i);
}
