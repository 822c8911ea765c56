#include <string.h>

#include "base/str.h"
#include "docker.h"

/*
 * What is wrong with a Dockerfile's order.  Every rule is one function over the events;
 * each says a thing once, at the first line that shows it.
 */

static const struct event *
first_of(const struct docker *d, enum wish_kind kind)
{
	for (size_t i = 0; i < d->events.n; i++)
		if (d->events.at[i].kind == EVENT_PIP && d->events.at[i].wish.kind == kind)
			return &d->events.at[i];
	return NULL;
}

static bool
pip_before(const struct docker *d, const struct event *limit, const char *key)
{
	for (const struct event *e = d->events.at; e < limit; e++)
		if (e->kind == EVENT_PIP && e->name && e->call != limit->call &&
		    !strcmp(e->name, key))
			return true;
	return false;
}

static bool
apt_before(const struct docker *d, const struct event *limit, const char *name)
{
	for (const struct event *e = d->events.at; e < limit; e++)
		if (e->kind == EVENT_APT && !strcmp(e->name, name))
			return true;
	return false;
}

/* R065: what compiles is installed after what is compiled. */
static void
tools_late(struct docker *d, const struct event *compiled)
{
	static const char *const tools[] = { "build-essential", "gcc",   "g++",        "git",
					     "ninja-build",     "cmake", "python3-dev" };

	for (const struct event *e = compiled; e < d->events.at + d->events.n; e++)
		for (size_t i = 0; e->kind == EVENT_APT && i < sizeof(tools) / sizeof(*tools);
		     i++) {
			if (strcmp(e->name, tools[i]) != 0 || apt_before(d, compiled, tools[i]))
				continue;
			diag_help(diag_note(diag_at(d->rd.ds, W_INIT_ORDER, e->at,
						    "`%s` comes after what it is needed for",
						    e->name),
					    compiled->at, "compiled here"),
				  "apt first, then torch, then build requirements, then compiles");
			return;
		}
}

/* An apt layer below torch: each change of it installs torch again. */
static void
apt_late(struct docker *d, const struct event *torch)
{
	for (const struct event *e = torch; e < d->events.at + d->events.n; e++)
		if (e->kind == EVENT_APT) {
			diag_help(diag_note(diag_at(d->rd.ds, W_INIT_ORDER, e->at,
						    "the system's packages come after torch"),
					    torch->at, "torch is installed here"),
				  "put them into one RUN before it: they change less often");
			return;
		}
}

/* R060: an extension before torch, or in the same call. */
static void
torch_late(struct docker *d, const struct event *ext)
{
	const struct event *torch = first_of(d, WISH_TORCH);
	struct diag *w;

	if (d->rd.n->cuda.s && !d->rd.n->base.s)
		return; /* the image has torch */
	if (torch && torch < ext && torch->call != ext->call)
		return;
	if (!torch && d->unseen)
		return;
	w = diag_at(d->rd.ds, W_INIT_ORDER, ext->at,
		    torch && torch->call == ext->call ?
			    "`%s` is built in the call that installs torch" :
			    "`%s` is built before torch is there",
		    ext->name);
	diag_why(w, "its setup imports torch: ModuleNotFoundError: No module named 'torch'");
	if (torch)
		diag_note(w, torch->at, "torch comes here");
	diag_help(w, "install torch in a call of its own, before it");
}

/* R060: build isolation. */
static void
isolated(struct docker *d)
{
	for (size_t i = 0; i < d->events.n; i++) {
		const struct event *e = &d->events.at[i];
		struct diag *w;

		if (e->kind != EVENT_PIP || e->wish.kind != WISH_EXTENSION || !e->isolated)
			continue;
		w = diag_at(d->rd.ds, W_INIT_ISOLATION, e->at,
			    "`%s` is built in isolation, where there is no torch", e->name);
		diag_why(w, "or another torch than the image's, for which its wheel is then made");
		diag_help(w, "add --no-build-isolation, and what it needs to build before it");
	}
}

/* R061, R062, R063: without isolation a build finds what is installed, nothing else. */
static void
needs_missing(struct docker *d, const struct event *ext)
{
	static const char *const needs[] = { "packaging", "wheel", "ninja" };
	struct buf missing = BUF(d->rd.a);

	if (ext->isolated || d->unseen || (d->rd.n->cuda.s && !d->rd.n->base.s))
		return;
	for (size_t i = 0; i < sizeof(needs) / sizeof(*needs); i++)
		if (!pip_before(d, ext, needs[i]) && !(i == 2 && apt_before(d, ext, "ninja-build")))
			buf_printf(&missing, "%s%s", missing.n ? ", " : "", needs[i]);
	if (missing.n)
		diag_help(diag_at(d->rd.ds, W_INIT_ORDER, ext->at,
				  "`%s` is built without isolation, and nothing before it installs "
				  "%s",
				  ext->name, buf_text(&missing)),
			  "pip install %s in an earlier call", buf_text(&missing));
}

/* COPY . before what takes long. */
static void
copy_early(struct docker *d)
{
	const struct event *copy = NULL;

	for (size_t i = 0; i < d->events.n; i++) {
		const struct event *e = &d->events.at[i];

		if (e->kind == EVENT_COPY && e->all && !copy)
			copy = e;
		if (!copy || e->kind != EVENT_PIP ||
		    (e->wish.kind != WISH_TORCH && e->wish.kind != WISH_EXTENSION))
			continue;
		diag_help(diag_note(diag_at(d->rd.ds, W_INIT_ORDER, copy->at,
					    "the whole folder is copied before `%s` is installed",
					    e->name),
				    e->at, "every edit of a file does this again"),
			  "copy it last: in the recipe that is `app`");
		return;
	}
}

/* R004, R005, R007. */
static void
indexes(struct docker *d)
{
	static const char *const there[] = { "numpy",      "pillow", "triton", "packaging", "wheel",
					     "setuptools", "ninja",  "sympy",  "networkx" };
	unsigned told = 0;

	for (size_t i = 0; i < d->events.n; i++) {
		const struct event *e = &d->events.at[i];
		bool listed = e->kind != EVENT_PIP || e->wish.kind == WISH_TORCH ||
			      e->wish.kind == WISH_WITH || e->wish.kind == WISH_LEFT;

		if (e->kind != EVENT_PIP)
			continue;
		if (e->wish.kind == WISH_TORCH && e->extra && !e->index && !e->wish.local)
			diag_help(
				diag_at(d->rd.ds, W_INIT_INDEX, e->at,
					"with --extra-index-url pip chooses between two builds of "
					"torch"),
				"--index-url of torch's index, in a call of its own");
		if (e->wish.kind == WISH_TORCH && e->index && !*e->index)
			diag_help(
				diag_at(d->rd.ds, W_INIT_INDEX, e->at,
					"the root of torch's index does not list its older builds"),
				"name the build: .../whl/cu121");
		for (size_t k = 0; k < sizeof(there) / sizeof(*there); k++)
			listed |= e->name && !strcmp(e->name, there[k]);
		if (!e->index || listed || told == e->call)
			continue;
		told = e->call;
		diag_help(diag_at(d->rd.ds, W_INIT_INDEX, e->at,
				  "`%s` is looked for in torch's index alone", e->name),
			  "a call of its own, without --index-url");
	}
}

/* R008, R036, R070, R082. */
static void
moving(struct docker *d)
{
	const struct torch_release *t =
		d->rd.n->torch.s ? facts_torch(d->rd.f, d->rd.n->torch.s) : NULL;
	const struct event *torch = first_of(d, WISH_TORCH);
	bool numpy = false;

	for (size_t i = 0; i < d->events.n; i++) {
		const struct event *e = &d->events.at[i];

		if (e->kind != EVENT_PIP)
			continue;
		numpy |= e->name && !strcmp(e->name, "numpy") && *e->wish.spec;
		if (e->wish.pinned ||
		    (e->wish.kind != WISH_TORCH && e->wish.kind != WISH_EXTENSION && !e->wish.git))
			continue;
		diag_help(diag_at(d->rd.ds, W_INIT_MOVES, e->at, "`%s` is %s", e->name,
				  e->wish.git   ? "a repository without tag or commit" :
				  *e->wish.spec ? "a range: another release tomorrow" :
						  "whatever is newest that day"),
			  "pin it");
	}
	if (torch && t && t->numpy2 == TRI_NO && !numpy)
		diag_help(diag_at(d->rd.ds, W_INIT_MOVES, torch->at,
				  "numpy is not bounded: pip takes numpy 2, and torch %s was built "
				  "against numpy 1",
				  t->version),
			  "numpy<2 in the call that installs torch");
}

static void
waste(struct docker *d)
{
	if (d->cached.line)
		diag_help(diag_at(d->rd.ds, W_INIT_WASTE, d->cached,
				  "pip's cache stays in the layer"),
			  "--no-cache-dir, or --mount=type=cache,target=/root/.cache/pip");
	if (d->lists.line)
		diag_help(
			diag_at(d->rd.ds, W_INIT_WASTE, d->lists, "apt's lists stay in the layer"),
			"rm -rf /var/lib/apt/lists/* in the same RUN");
}

void
docker_judge(struct docker *d)
{
	const struct event *ext = first_of(d, WISH_EXTENSION), *torch = first_of(d, WISH_TORCH);

	if (ext) {
		torch_late(d, ext);
		needs_missing(d, ext);
		tools_late(d, ext);
	}
	if (torch)
		apt_late(d, torch);
	isolated(d);
	copy_early(d);
	indexes(d);
	moving(d);
	waste(d);
}
