#include <string.h>

#include "docker.h"

/* One call of pip in a Dockerfile. */

struct call {
	struct docker *d;
	bool isolated, cached;
	const char *index, *extra; /* torch's */
};

/* "-r requirements.txt": read elsewhere, or the application's. */
static void
requirements(struct docker *d, size_t i, const char *file)
{
	const char *name = path_name(file);

	for (size_t k = 0; k < d->read->n; k++)
		if (!strcmp(path_name(d->read->at[k]), name)) {
			item_take(&d->rd, i, "packages", NULL);
			return;
		}
	d->unseen = true;
	if (init_get(d->rd.n, "app.requirements")) {
		place_option(&d->rd, i, PIP_REQUIREMENTS, name);
		return;
	}
	item_take(&d->rd, i, "app.requirements", name);
	diag_help(diag_at(d->rd.ds, W_INIT_NOT_READ, item_at(&d->rd, i)->at,
			  "`%s` was not read: it became `app: {requirements: %s}`", file, name),
		  "add `--from %s` if it names the stack's packages", name);
}

static void
requirement(struct call *k, const struct word *w, const char *text, const char *what)
{
	struct reader *rd = &k->d->rd;
	size_t i = docker_item(k->d, w, what);
	struct init_item *item = item_at(rd, i);
	struct clone *clone;

	item->kind = INIT_PIP;
	item->call = k->d->calls;
	item->isolated = k->isolated;
	item->index = k->index;
	item->extra = k->extra;
	if (w->redirect)
		diag_help(diag_at(rd->ds, W_INIT_MOVES, item->at,
				  "the shell reads `%s` as a redirection: pip gets only a name",
				  text),
			  "put it in quotes");
	clone = is_local_path(text) ?
			docker_clone(k->d, arena_copy(rd->a, text, strcspn(text, "["))) :
			NULL;
	if (clone) {
		clone->installed = true;
		text = arena_printf(rd->a, "git+%s%s%s", clone->url, clone->ref ? "@" : "",
				    clone->ref ? clone->ref : "");
	}
	item->name = name_normalize(rd->a, text);
	/* What builds need, and nothing else: the plan installs it. */
	if (among(item->name, "setuptools wheel ninja packaging uv"))
		item_take(rd, i, "packages", NULL);
	else if (w->unknown)
		item_unread(rd, i, NULL, "its variables have no value here");
	else
		place_requirement(rd, i, text, !k->isolated);
	item = item_at(rd, i);
	if (item->key && (!k->d->root || !strcmp(item->key, "torch.version")))
		k->d->root = docker_root(k->d, k->d->stage);
}

static void
option(struct call *k, const struct word *w, enum pip_option o, const char *value)
{
	struct reader *rd = &k->d->rd;
	bool inside = strstr(w->s, value) != NULL;
	const char *what = inside ? w->s : arena_printf(rd->a, "%s %s", w->s, value);
	size_t i;

	if (o == PIP_EDITABLE) {
		requirement(k, inside ? w : w + 1, value, what);
		return;
	}
	i = docker_item(k->d, w, what);
	if (o == PIP_REQUIREMENTS)
		requirements(k->d, i, value);
	else
		place_option(rd, i, o, value);
}

/* Options are read first: they hold for the whole call, wherever they stand. */
static void
read_words(struct call *k, const struct command *c, size_t from, bool second)
{
	for (size_t i = from; i < c->n; i++) {
		const struct word *w = &c->at[i];
		struct str in_word;
		enum pip_option o = pip_option(w->s, &in_word);
		const char *value = in_word.p ? in_word.p : "", *tag;

		if (!in_word.p && pip_takes_value(o) && i + 1 < c->n)
			value = c->at[++i].s;
		if (second && o == PIP_NONE)
			requirement(k, w, w->s, NULL);
		else if (second && o != PIP_QUIET)
			option(k, w, o, value);
		if (second)
			continue;
		k->isolated &= o != PIP_NO_ISOLATION;
		k->cached &= o != PIP_NO_CACHE;
		tag = o == PIP_INDEX || o == PIP_EXTRA_INDEX ? torch_index_tag(&k->d->rd, value) :
							       NULL;
		if (tag)
			*(o == PIP_INDEX ? &k->index : &k->extra) = tag;
	}
}

void
docker_pip(struct docker *d, const struct command *c, size_t from)
{
	struct call k = { .d = d, .isolated = true, .cached = !d->cache_off };

	d->calls++;
	for (size_t i = 0; i < d->in->flags.n; i++)
		k.cached &= !strstr(d->in->flags.at[i], "target=/root/.cache");
	read_words(&k, c, from, false);
	if (k.cached && !d->cached.line)
		d->cached = docker_span(d, c->at[from - 1].p, c->at[from - 1].n);
	read_words(&k, c, from, true);
}
