#include <string.h>

#include "base/buf.h"
#include "docker.h"

/* What is wrong with a Dockerfile's order: each problem is reported once, at the first item that shows it. */

struct order {
	struct docker *d;
	const struct init_item *first, *end;
	const struct init_item *torch, *ext; /* the first of each, or NULL */
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

static struct diag *
warn(const struct order *o, enum code code, const struct init_item *e, const char *text)
{
	return diag_at(o->d->rd.ds, code, e->at, text, e->name);
}

/* R060 to R063, R065: an extension needs torch, its build requirements and a compiler before it. */
static void
check_extension(const struct order *o, const struct init_item *ext)
{
	static const char *const tools[] = { "build-essential", "gcc",   "g++",        "git",
					     "ninja-build",     "cmake", "python3-dev" };
	static const char *const needs[] = { "packaging", "wheel", "ninja" };
	bool together = o->torch && o->torch->call == ext->call;
	struct buf missing = BUF(o->d->rd.a);

	if (!o->d->has_torch && (o->torch ? together || o->torch > ext : !o->d->unseen)) {
		struct diag *d =
			warn(o, W_INIT_ORDER, ext,
			     together ? "`%s` is built by the command that installs torch" :
					"`%s` is built before torch is installed");

		diag_why(d,
			 "its setup imports torch: ModuleNotFoundError: No module named 'torch'");
		if (o->torch)
			diag_note(d, o->torch->at, "torch is installed here");
		diag_help(d, "install torch by a command of its own, before it");
	}
	for (size_t i = 0; i < 3 && !ext->isolated && !o->d->unseen && !o->d->has_torch; i++)
		if (!before(o, ext, INIT_PIP, needs[i]) &&
		    !(i == 2 && before(o, ext, INIT_APT, "ninja-build")))
			buf_printf(&missing, "%s%s", missing.n ? ", " : "", needs[i]);
	if (missing.n)
		diag_help(diag_at(o->d->rd.ds, W_INIT_ORDER, ext->at,
				  "`%s` is built without isolation, and nothing before it installs "
				  "%s",
				  ext->name, buf_text(&missing)),
			  "install them by a command before it");
	for (const struct init_item *e = ext; e < o->end; e++)
		for (size_t i = 0; e->kind == INIT_APT && i < sizeof(tools) / sizeof(*tools); i++) {
			if (strcmp(e->name, tools[i]) != 0 || before(o, ext, INIT_APT, tools[i]))
				continue;
			diag_help(
				diag_note(warn(o, W_INIT_ORDER, e, "`%s` is installed too late"),
					  ext->at, "this compile needs it"),
				"install apt's packages, torch, build requirements and extensions "
				"in this order");
			return;
		}
}

/* R060: build isolation hides torch. */
static void
check_isolation(const struct order *o, const struct init_item *e)
{
	struct diag *d;

	if (!is(e, "extensions") || !e->isolated)
		return;
	d = warn(o, W_INIT_ISOLATION, e, "`%s` is built in isolation, without the image's torch");
	diag_why(d, "the isolated environment has no torch, or another one, for which the wheel is "
		    "then made");
	diag_help(d, "add --no-build-isolation, and install its build requirements before it");
}

/* R004, R005, R007; *told: the command that was reported last. */
static void
check_index(const struct order *o, const struct init_item *e, unsigned *told)
{
	static const char there[] = " numpy pillow triton packaging wheel setuptools ninja sympy "
				    "networkx torchvision torchaudio pip ";
	bool torch = is(e, "torch.version");
	char name[64];

	if (torch && e->extra && !e->index && !e->local)
		diag_help(warn(o, W_INIT_INDEX, e,
			       "with --extra-index-url pip chooses between two builds of `%s`"),
			  "use --index-url with torch's index, in a command of its own");
	if (torch && e->index && !*e->index)
		diag_help(warn(o, W_INIT_INDEX, e,
			       "the root of the index does not list older builds of `%s`"),
			  "name the build: .../whl/cu121");
	snprintf(name, sizeof(name), " %s ", e->name ? e->name : "");
	if (!e->index || torch || *told == e->call || e->fate == INIT_LEFT || strstr(there, name))
		return;
	*told = e->call;
	diag_help(warn(o, W_INIT_INDEX, e, "pip searches only torch's index for `%s`"),
		  "install it by a command of its own, without --index-url");
}

/* R008, R036, R070, R082. */
static void
check_pins(const struct order *o)
{
	const char *version = init_value(o->d->rd.n, "torch.version");
	const struct torch_release *t = version ? facts_torch(o->d->rd.f, version) : NULL;
	bool numpy = false;

	for (const struct init_item *e = o->first; e < o->end; e++) {
		numpy |= e->kind == INIT_PIP && e->name && !strcmp(e->name, "numpy") && *e->spec;
		if (e->kind != INIT_PIP || e->pinned ||
		    (!is(e, "torch.version") && !is(e, "extensions") && !strstr(e->what, "git+")))
			continue;
		diag_help(warn(o, W_INIT_MOVES, e,
			       strstr(e->what, "git+") ?
				       "`%s` comes from a repository without tag or "
				       "commit" :
			       *e->spec ? "`%s` has a range: another release tomorrow" :
					  "`%s` has no version: the newest one of the day"),
			  "pin it");
	}
	if (o->torch && t && t->numpy2 == TRI_NO && !numpy)
		diag_help(
			diag_at(o->d->rd.ds, W_INIT_MOVES, o->torch->at,
				"numpy has no bound: pip installs numpy 2, and torch %s was built "
				"against numpy 1",
				t->version),
			"add `numpy<2` to the command that installs torch");
}

static void
check_waste(const struct docker *d)
{
	if (d->cached.line)
		diag_help(diag_at(d->rd.ds, W_INIT_WASTE, d->cached,
				  "pip's cache stays in the layer"),
			  "add --no-cache-dir, or --mount=type=cache,target=/root/.cache/pip");
	if (d->lists.line)
		diag_help(
			diag_at(d->rd.ds, W_INIT_WASTE, d->lists, "apt's lists stay in the layer"),
			"add `rm -rf /var/lib/apt/lists/*` to the same RUN");
}

void
docker_check(struct docker *d, size_t from)
{
	const struct init_items *items = &d->rd.n->items;
	struct order o = { .d = d, .first = items->at + from, .end = items->at + items->n };
	const struct init_item *copy = NULL;
	bool copied = false, late = false;
	unsigned told = 0;

	for (const struct init_item *e = o.end; e-- > o.first;) {
		o.torch = is(e, "torch.version") ? e : o.torch;
		o.ext = is(e, "extensions") ? e : o.ext;
	}
	if (o.ext)
		check_extension(&o, o.ext);
	for (const struct init_item *e = o.first; e < o.end; e++) {
		if (e->kind == INIT_APT && o.torch && e > o.torch && !late) {
			late = true;
			diag_help(diag_note(warn(&o, W_INIT_ORDER, e,
						 "`%s` of the system is installed after torch"),
					    o.torch->at, "torch is installed here"),
				  "install the system's packages by one RUN before it: they change "
				  "less "
				  "often");
		}
		if (e->kind == INIT_COPY && e->wide && !copy)
			copy = e;
		if (copy && !copied && (e == o.torch || e == o.ext)) {
			diag_help(diag_note(diag_at(d->rd.ds, W_INIT_ORDER, copy->at,
						    "the whole directory is copied before `%s` is "
						    "installed",
						    e->name),
					    e->at, "every edit of a file repeats this"),
				  "copy it last: in the recipe that is `app`");
			copied = true;
		}
		if (e->kind == INIT_PIP) {
			check_isolation(&o, e);
			check_index(&o, e, &told);
		}
	}
	check_pins(&o);
	check_waste(d);
}
