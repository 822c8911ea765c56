#include <string.h>

#include "base/str.h"
#include "docker.h"
#include "pip.h"

/* One call of pip in a Dockerfile. */

struct call {
	struct docker *d;
	const struct docker_command *c;
	bool isolated, cached;
	const char *index, *extra; /* torch's */
	unsigned number;
};

static struct span
place_of(const struct docker *d, const struct docker_word *w)
{
	return instruction_span(d->in, w->from, w->n);
}

static const char *
base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* "-r requirements.txt": read elsewhere, or the application's. */
static void
requirements(struct call *k, const char *file, struct span at)
{
	struct init *n = k->d->rd.n;
	struct diag *d;

	for (size_t i = 0; i < k->d->read->n; i++)
		if (!strcmp(base_name(k->d->read->at[i]), base_name(file)))
			return;
	k->d->unseen = true;
	d = diag_at(k->d->rd.ds, W_INIT_NOT_READ, at, "`%s` was not read", file);
	diag_help(d, "--from may be repeated: --from %s", base_name(file));
	if (n->app_requirements.s)
		return;
	n->app_requirements = (struct text){ base_name(file), at };
	diag_note(d, (struct span){ 0 }, "it is the application's: app: {requirements: %s}",
		  base_name(file));
}

/* "./mamba/", or "." after a cd. */
static const struct clone *
clone_of(const struct docker *d, const char *path)
{
	size_t n;

	if (!strcmp(path, ".") || !strcmp(path, "./"))
		path = d->folder ? d->folder : "";
	n = strlen(path);
	while (n && path[n - 1] == '/')
		n--;
	path = base_name(arena_copy(d->rd.a, path, n));
	for (size_t i = d->clones.n; i-- > 0;)
		if (!strcmp(d->clones.at[i].dir, path))
			return &d->clones.at[i];
	return NULL;
}

/* What pip is told is a folder: a clone made before, or the application's own code. */
static const char *
folder(struct call *k, const char *path, struct span at)
{
	const struct clone *c = clone_of(k->d, arena_copy(k->d->rd.a, path, strcspn(path, "[")));

	if (c)
		return arena_printf(k->d->rd.a, "git+%s%s%s", c->url, c->ref ? "@" : "",
				    c->ref ? c->ref : "");
	wish_left(&k->d->rd, path, at, "local code belongs to the application: app: {copy: [...]}");
	return NULL;
}

static bool
is_folder(const char *s)
{
	return *s == '.' || *s == '/' || (!strstr(s, "://") && !strchr(s, '@') && strchr(s, '/'));
}

static void
add_event(struct call *k, const struct docker_word *w, struct wish wish)
{
	list_push(k->d->rd.a, &k->d->events,
		  (struct event){ .kind = EVENT_PIP,
				  .in = k->d->in,
				  .at = place_of(k->d, w),
				  .name = wish.key,
				  .wish = wish,
				  .call = k->number,
				  .isolated = k->isolated,
				  .index = k->index,
				  .extra = k->extra });
}

/* What builds need, and nothing else: the plan brings it. */
static bool
is_tool(const char *key)
{
	static const char *const tools[] = { "setuptools", "wheel", "ninja",
					     "packaging",  "pip",   "uv" };

	for (size_t i = 0; i < sizeof(tools) / sizeof(*tools); i++)
		if (!strcmp(key, tools[i]))
			return true;
	return false;
}

static void
requirement(struct call *k, const struct docker_word *w)
{
	struct reader *rd = &k->d->rd;
	struct span at = place_of(k->d, w);
	const char *text = w->s, *why = NULL;
	const struct requirement *r;
	struct wish wish;

	if (w->redirect)
		diag_help(diag_at(rd->ds, W_INIT_MOVES, at,
				  "the shell takes `%s` for a redirection: pip sees only a name",
				  text),
			  "put it in quotes");
	if (is_folder(text) && !(text = folder(k, text, at)))
		return;
	r = requirement_parse(rd->a, text, NULL, NULL);
	if (r && is_tool(r->key) && !*specifiers_text(rd->a, r->spec) && !r->url) {
		add_event(k, w, (struct wish){ WISH_LEFT, r->key, "", NULL, false, false });
		return;
	}
	wish = w->unknown ? (struct wish){ WISH_NONE, NULL, "", NULL, false, false } :
			    wish_add(rd, text, at, !k->isolated, &why);
	if (wish.kind != WISH_NONE)
		add_event(k, w, wish);
	else
		diag_at(rd->ds, W_INIT_NOT_READ, at, "`%s` is not a requirement%s%s", text,
			w->unknown || why ? ": " : "",
			w->unknown ? "its variables have no value here" :
			why        ? why :
				     "");
}

/* Options are read first: they hold for the whole call, wherever they stand. */
static void
options(struct call *k, size_t from, bool second)
{
	const struct docker_words *ws = &k->c->words;

	for (size_t i = from; i < ws->n; i++) {
		const struct docker_word *w = &ws->at[i];
		struct str in_word;
		enum pip_option o = pip_option(w->s, &in_word);
		const char *value = in_word.p ? in_word.p : i + 1 < ws->n ? ws->at[i + 1].s : "";
		const char *tag;

		if (o == PIP_NONE && second)
			requirement(k, w);
		if (pip_takes_value(o) && !in_word.p)
			i++;
		if (second && o == PIP_REQUIREMENTS)
			requirements(k, value, place_of(k->d, w));
		else if (second && o == PIP_EDITABLE && is_folder(value) && i < ws->n)
			folder(k, value, place_of(k->d, &ws->at[i]));
		else if (second && o == PIP_EDITABLE && i < ws->n)
			requirement(k, &ws->at[i]);
		if (second)
			continue;
		k->isolated &= o != PIP_NO_ISOLATION;
		k->cached &= o != PIP_NO_CACHE;
		if (o != PIP_INDEX && o != PIP_EXTRA_INDEX)
			continue;
		tag = wish_torch_tag(&k->d->rd, value);
		if (tag && o == PIP_INDEX)
			k->index = tag;
		else if (tag)
			k->extra = tag;
		wish_index(&k->d->rd, value, o == PIP_EXTRA_INDEX, place_of(k->d, w));
	}
}

void
docker_pip(struct docker *d, const struct docker_command *c, size_t from)
{
	struct call k = { d, c, true, true, NULL, NULL, ++d->calls };

	options(&k, from, false);
	if (k.cached && !d->cache_off && !d->cache_mount && !d->cached.line && from < c->words.n)
		d->cached = place_of(d, &c->words.at[from - 1]);
	options(&k, from, true);
}
