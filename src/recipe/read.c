#include <string.h>
#include <strings.h>

#include "base/edit.h"
#include "load.h"

/* Returns the member at `offset` of the struct that is being filled. */
#define MEMBER(type, base, offset) ((type *)(void *)((base) + (offset)))

bool
value_kind(struct load *l, const struct key *k, const char *path, const struct node *n,
	   const char *wanted)
{
	struct diag *d =
		fault(l, E_TYPE, n->at, "`%s` takes %s, not %s", path, wanted, node_kind_name(n));

	/* Suggests a list of one for a single text. */
	if (starts_with(wanted, "a list") && n->kind == NODE_SCALAR && !node_is_null(n) && *n->s)
		offer_text(d, node_text(n),
			   arena_printf(l->a, "[%s]", edit_scalar(l->a, n->at, n->s)),
			   "write a list, in brackets");
	else if (!strcmp(path, k->path) && *k->example)
		diag_help(d, "write for example `%s: %s`", key_name(k), k->example);
	return false;
}

bool
key_unknown(struct load *l, const struct key *k, const char *name, struct span at)
{
	const char *of = *k->path ? arena_printf(l->a, "`%s`", k->path) : "a recipe", *nearest;
	struct diag *d = fault(l, E_KEY_UNKNOWN, at, "%s has no key %s", of, shown(l->a, name));
	struct names known = key_children(l, k);

	nearest = str_nearest(name, known.at, known.n);
	if (nearest)
		offer(l, d, (struct text){ name, at }, nearest,
		      arena_printf(l->a, "did you mean `%s`?", nearest));
	else if (known.n)
		diag_help(d, "%s %s", *k->path ? "it has" : "the keys are",
			  names_words(l->a, &known, "and"));
	return false;
}

static bool
value_empty(struct load *l, const char *path, const struct node *n)
{
	return reject(l, E_EMPTY, n->at, "add a value, or remove the key", "`%s` has no value",
		      path);
}

bool
key_missing(struct load *l, const struct key *k, const char *name, struct span at)
{
	return reject(l, E_KEY_MISSING, at, arena_printf(l->a, "add `%s:`", name),
		      "`%s` without `%s`", k->path, name);
}

static bool
read_text(struct load *l, const struct key *k, const char *path, const struct node *n,
	  struct text *out)
{
	if (n->kind != NODE_SCALAR)
		return value_kind(l, k, path, n, "text");
	if (node_is_null(n))
		return value_empty(l, path, n);
	*out = node_text(n);
	return text_holds(l, k->check, path, *out);
}

static bool
read_word(struct load *l, const struct key *k, const struct node *n, char *base)
{
	struct names words = names_split(l->a, k->more, '|');
	struct text t;

	if (!read_text(l, k, k->path, n, &t))
		return false;
	*MEMBER(struct span, base, k->second.at) = t.at;
	for (size_t i = 0; i < words.n; i++)
		if (!strcmp(words.at[i], t.s)) {
			*MEMBER(unsigned, base, k->first.at) = (unsigned)i;
			return true;
		}
	const char *nearest = str_nearest(t.s, words.at, words.n);
	struct diag *d = fault(l, E_WORD, t.at, "`%s`: %s is not an allowed value", k->path,
			       shown(l->a, t.s));

	if (nearest)
		offer(l, d, t, nearest, arena_printf(l->a, "did you mean `%s`?", nearest));
	else
		diag_help(d, "use %s", names_words(l->a, &words, "or"));
	return false;
}

static bool
read_bool(struct load *l, const struct key *k, const struct node *n, char *base)
{
	struct text *t = MEMBER(struct text, base, k->first.at);
	const char *small, *meant;
	struct diag *d;

	if (!read_text(l, k, k->path, n, t))
		return false;
	small = arena_lower(l->a, t->s);
	/* Other YAML readers read these words as true or false. */
	meant = str_matches(small, "^(true|yes|on|y|1)$")  ? "true" :
		str_matches(small, "^(false|no|off|n|0)$") ? "false" :
							     NULL;
	if (str_matches(t->s, "^(true|True|TRUE|false|False|FALSE)$")) {
		t->s = meant;
		return true;
	}
	d = fault(l, E_WORD, t->at, "`%s`: %s is neither true nor false", k->path,
		  shown(l->a, t->s));
	if (meant)
		offer_text(d, *t, meant, arena_printf(l->a, "write %s", meant));
	else
		diag_help(d, "write true or false");
	return false;
}

/* --- maps --- */

/* Rejects a mount path that is there twice, also as /data and /data/. */
static bool
mounts_hold(struct load *l, const struct settings *all)
{
	struct map paths = MAP(l->a), names = MAP(l->a);
	bool good = true;

	for (size_t i = 0; i < all->n; i++) {
		struct setting *s = &all->at[i], *other;
		size_t n = strlen(s->name.s);
		const char *path = arena_copy(l->a, s->name.s, s->name.s[n - 1] == '/' ? n - 1 : n);

		struct diag *d = NULL;

		if ((other = map_put(&paths, path, s)))
			d = diag_help(diag_note(fault(l, E_TWICE, s->name.at, "two volumes at `%s`",
						      path),
						other->name.at, "the other one"),
				      "mount one of them elsewhere");
		if ((other = map_put(&names, s->value.s, s)))
			d = diag_help(diag_note(fault(l, E_MODAL, s->value.at,
						      "the volume `%s` at two places; Modal mounts "
						      "a volume once",
						      s->value.s),
						other->value.at, "the other one"),
				      "remove one of the two, or use a second volume");
		good &= !d;
	}
	return good;
}

bool
value_map(struct load *l, const struct key *k, const struct node *n)
{
	return n->kind == NODE_MAP ? within_limit(l, n->at, n->n, ITEMS_MAX, k->path) :
				     value_kind(l, k, k->path, n, "a map");
}

static bool
read_settings(struct load *l, const struct key *k, const struct node *n, char *base)
{
	struct settings *out = MEMBER(struct settings, base, k->first.at);
	grammar *names = key_names(k);
	bool good = true;

	if (!value_map(l, k, n))
		return false;
	for (size_t i = 0; i < n->n && !load_full(l); i++) {
		struct setting s = { .name = { n->pairs[i].key, n->pairs[i].key_at } };

		if (!text_holds(l, names, k->path, s.name)) {
			good = false;
			continue;
		}
		good &= read_text(l, k, arena_printf(l->a, "%s.%s", k->path, s.name.s),
				  n->pairs[i].value, &s.value);
		list_push(l->a, out, s);
	}
	return good && (names != grammar_mount || mounts_hold(l, out));
}

/* Reads the keys of a map, each into its member. */
static bool
read_keys(struct load *l, const struct key *k, const struct node *n, char *base)
{
	bool good = true;

	for (size_t i = 0; i < n->n && !load_full(l); i++) {
		const struct pair *p = &n->pairs[i];
		const struct key *child = key_child(k, p->key);

		good &= child ? read_value(l, child, p->value, base) :
				key_unknown(l, k, p->key, p->key_at);
	}
	for (const struct key *child = NULL; (child = key_next(k, child));)
		if (child->required && !node_get(n, key_name(child)))
			good = key_missing(l, k, key_name(child), n->at);
	return good;
}

static bool
map_holds(struct load *l, const struct key *k, const struct node *n, const char *base)
{
	const struct recipe *r = (const void *)base;

	if (!strcmp(k->path, "torch") && !r->torch.version.s && !r->torch.index.s &&
	    !r->torch.with.n && !r->torch.from_at.line)
		return value_empty(l, "torch", n);
	if (!strcmp(k->path, "index") && r->index.secret.s && !r->index.url.s)
		return key_missing(l, k, "url", r->index.secret.at);
	return strcmp(k->path, "modal") != 0 || modal_holds(l, &r->modal);
}

/* Returns whether a text is among words with blanks between them; case does not count. */
static bool
is_word_of(struct load *l, const char *s, const char *words)
{
	const struct names all = names_split(l->a, words, ' ');

	return list_any(word, &all, !strcasecmp(*word, s));
}

/* Rejects `runtime: auto` and `modal: true`: an empty map requests the section with all its defaults. */
static bool
is_switch(struct load *l, const struct key *k, const struct node *n)
{
	bool runtime = !strcmp(k->path, "runtime"), on, off;
	struct diag *d;

	if (n->kind != NODE_SCALAR || (!runtime && strcmp(k->path, "modal") != 0))
		return false;
	on = is_word_of(l, n->s, "auto true yes on default");
	off = is_word_of(l, n->s, "false no off none");
	if (!on && !off)
		return false;
	d = fault(l, E_TYPE, n->at, "`%s` takes %s, not `%s`", k->path,
		  runtime ? "a map, or an image" : "a map", n->s);
	if (on)
		offer_text(d, node_text(n), "{}",
			   runtime ? "write an empty map: stackbuild selects the image" :
				     "write an empty map: stackbuild selects the rest");
	else
		diag_help(d, "remove the key");
	return true;
}

static bool
read_map(struct load *l, const struct key *k, const struct node *n, char *base)
{
	if (is_switch(l, k, n))
		return false;
	if (k->first.size)
		*MEMBER(struct span, base, k->first.at) = n->at;
	if (n->kind == NODE_MAP)
		return read_keys(l, k, n, base) && map_holds(l, k, n, base);
	if ((n->kind == NODE_SCALAR && k->more) || key_short_list(k))
		return read_value(l, key_child(k, k->more), n, base);
	return value_kind(l, k, k->path, n, k->more ? "text or a map" : "a map");
}

/* --- lists --- */

static bool
read_item(struct load *l, const struct key *k, const struct node *n, char *list)
{
	struct recipe_extension e = { .at = n->at };
	struct recipe_index index = { 0 };
	struct recipe_gpu g = { 0 };
	struct text t = { 0 };
	bool good;

	switch (k->type) {
	case KEY_EXTENSIONS:
		if (n->kind == NODE_LIST || node_is_null(n))
			return value_kind(l, k, k->path, n, "texts and maps");
		good = n->kind == NODE_SCALAR ? extension_short(l, n, &e) :
						read_keys(l, k, n, (char *)&e);
		if (!good || !extension_holds(l, &e))
			return false;
		list_push(l->a, MEMBER(struct recipe_extensions, list, 0), e);
		return true;
	case KEY_INDEXES:
		if (n->kind != NODE_MAP)
			return value_kind(l, k, k->path, n, "maps");
		good = read_keys(l, k, n, (char *)&index);
		list_push(l->a, MEMBER(struct recipe_indexes, list, 0), index);
		return good;
	default: good = read_text(l, k, k->path, n, &t);
	}
	if (!good)
		return false;
	if (k->type == KEY_REQUIREMENTS) {
		good = text_has_no_blank_ends(l, k->path, t);
		list_push(
			l->a, MEMBER(struct recipe_requirements, list, 0),
			(struct recipe_requirement){ t, requirement_parse(l->a, t.s, NULL, NULL) });
	} else if (k->type == KEY_GPUS) {
		g.text = t;
		g.cc = facts_cc(l->f, t.s);
		g.gpu = g.cc ? NULL : facts_gpu(l->f, t.s);
		g.cc = g.gpu ? g.gpu->cc : g.cc ? g.cc : t.s;
		list_push(l->a, MEMBER(struct recipe_gpus, list, 0), g);
	} else {
		list_push(l->a, MEMBER(struct texts, list, 0), t);
	}
	return good;
}

/* Reads a list, or a text that stands for a list of one. */
static bool
read_list(struct load *l, const struct key *k, const struct node *n, char *list)
{
	bool maps = k->type == KEY_EXTENSIONS || k->type == KEY_INDEXES, good = true;
	const struct node *all = n->kind == NODE_LIST ? n : list_of_one(l, n);

	/* Rejects a command as one text, which would be a single word. */
	if (k->check == grammar_argument && n->kind == NODE_SCALAR)
		return value_kind(l, k, k->path, n, "a list of words");
	if (n->kind == NODE_MAP || (k->type == KEY_INDEXES && n->kind == NODE_SCALAR))
		return value_kind(l, k, k->path, n, "a list");
	if (!within_limit(l, n->at, all->n, maps ? EXTENSIONS_MAX : ITEMS_MAX, k->path))
		return false;
	for (size_t i = 0; i < all->n && !load_full(l); i++)
		good &= read_item(l, k, all->items[i], list);
	if (k->type == KEY_EXTENSIONS)
		good &= extensions_hold(l, MEMBER(struct recipe_extensions, list, 0));
	return good;
}

static bool
read_modal_gpus(struct load *l, const struct key *k, const struct node *n, char *base)
{
	struct texts *all = MEMBER(struct texts, base, k->second.at);

	if (!read_list(l, k, n, (char *)all))
		return false;
	if (!all->n)
		return value_empty(l, k->path, n);
	*MEMBER(struct text, base, k->first.at) = all->at[0];
	if (n->kind != NODE_LIST)
		*all = (struct texts){ 0 };
	return true;
}

bool
read_value(struct load *l, const struct key *k, const struct node *n, char *base)
{
	/* A list or a map of names may be empty. */
	if (node_is_null(n))
		return k->first.item || key_short_list(k) || value_empty(l, k->path, n);
	switch (k->type) {
	case KEY_TEXT:
	case KEY_NUMBER: return read_text(l, k, k->path, n, MEMBER(struct text, base, k->first.at));
	case KEY_WORD: return read_word(l, k, n, base);
	case KEY_BOOL: return read_bool(l, k, n, base);
	case KEY_MODAL_GPUS: return read_modal_gpus(l, k, n, base);
	case KEY_SETTINGS: return read_settings(l, k, n, base);
	case KEY_MAP: return read_map(l, k, n, base);
	case KEY_ARGUMENTS: return read_arguments(l, k, n, base);
	case KEY_BUCKETS: return read_buckets(l, k, n, base);
	default: break;
	}
	if (!k->first.item)
		BUG("the key %s is not read here", k->path);
	return read_list(l, k, n, base + k->first.at);
}
