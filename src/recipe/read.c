#include "read.h"

#include <stdlib.h>
#include <string.h>

#include "base/edit.h"
#include "base/str.h"
#include "grammar.h"
#include "merge.h"

/* The member at `offset` of what is being filled. */
#define MEMBER(type, base, offset) ((type *)(void *)((base) + (offset)))

bool
value_kind(struct load *l, const struct key *k, const char *path, const struct node *n,
	   const char *wanted)
{
	struct diag *d =
		fault(l, E_TYPE, n->at, "`%s` takes %s, not %s", path, wanted, node_kind_name(n));

	/* One where a list is wanted: the list of that one. */
	if (starts_with(wanted, "a list") && n->kind == NODE_SCALAR && !node_is_null(n) && *n->s)
		offer_text(d, node_text(n),
			   arena_printf(l->a, "[%s]", edit_scalar(l->a, n->at, n->s)),
			   "write a list, in brackets");
	else if (!strcmp(path, k->path))
		diag_help(d, "write for example `%s: %s`", key_name(k), k->example);
	return false;
}

bool
value_empty(struct load *l, const char *path, const struct node *n)
{
	diag_help(fault(l, E_EMPTY, n->at, "`%s` has no value", path),
		  "give it one, or remove the key");
	return false;
}

/* A text that holds against its grammar. */
static bool
read_text(struct load *l, const struct key *k, const char *path, const struct node *n,
	  struct text *out)
{
	if (n->kind != NODE_SCALAR)
		return value_kind(l, k, path, n, "text");
	if (node_is_null(n))
		return value_empty(l, path, n);
	*out = node_text(n);
	return text_holds(l, path, *out, k->check == grammar_env_value ? VALUE_MAX : TEXT_MAX) &&
	       grammar_holds(l, k->check, path, *out);
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

/* What other readers of YAML take for true or false; NULL: neither do they. */
static const char *
word_meant(struct arena *a, const char *s)
{
	static const char *const yes[] = { "true", "yes", "on", "y", "1" };
	static const char *const no[] = { "false", "no", "off", "n", "0" };
	const char *small = lower_case(a, s);

	for (size_t i = 0; i < sizeof(yes) / sizeof(*yes); i++) {
		if (!strcmp(small, yes[i]))
			return "true";
		if (!strcmp(small, no[i]))
			return "false";
	}
	return NULL;
}

static bool
read_bool(struct load *l, const struct key *k, const struct node *n, char *base)
{
	static const char *const words[] = { "true", "True", "TRUE", "false", "False", "FALSE" };
	struct text *t = MEMBER(struct text, base, k->first.at);

	if (!read_text(l, k, k->path, n, t))
		return false;
	for (size_t i = 0; i < 6; i++)
		if (!strcmp(words[i], t->s)) {
			t->s = i < 3 ? "true" : "false";
			*MEMBER(bool, base, k->second.at) = i < 3;
			return true;
		}
	struct diag *d = fault(l, E_WORD, t->at, "`%s`: %s is neither true nor false", k->path,
			       shown(l->a, t->s));
	const char *meant = word_meant(l->a, t->s);

	if (meant)
		offer_text(d, *t, meant, arena_printf(l->a, "write %s", meant));
	else
		diag_help(d, "write true or false");
	return false;
}

static bool
read_number(struct load *l, const struct key *k, const struct node *n, char *base)
{
	struct text *t = MEMBER(struct text, base, k->first.at);

	if (!read_text(l, k, k->path, n, t))
		return false;
	if (k->type == KEY_COUNT)
		*MEMBER(unsigned, base, k->second.at) = (unsigned)strtoul(t->s, NULL, 10);
	else
		*MEMBER(double, base, k->second.at) = strtod(t->s, NULL);
	return true;
}

/* --- lists --- */

struct items {
	const struct node *const *at;
	size_t n;
};

/* A list's items, or the one text that stands for a list of one. */
static bool
items_of(struct load *l, const struct key *k, const struct node *n, struct items *out)
{
	if (n->kind == NODE_MAP)
		return value_kind(l, k, k->path, n, "a list");
	if (n->kind == NODE_LIST) {
		*out = (struct items){ n->items, n->n };
		return within_limit(l, n->at, n->n,
				    k->type == KEY_EXTENSIONS ? EXTENSIONS_MAX : ITEMS_MAX,
				    k->path);
	}
	*out = (struct items){ list_of_one(l, n), 1 };
	return true;
}

static bool
read_texts(struct load *l, const struct key *k, const struct node *n, struct texts *out)
{
	struct items items;
	bool good = true;

	/* A command in one text would be one word, which nobody means. */
	if (k->check == grammar_argument && n->kind == NODE_SCALAR)
		return value_kind(l, k, k->path, n, "a list of words");
	if (!items_of(l, k, n, &items))
		return false;
	for (size_t i = 0; i < items.n && !load_full(l); i++) {
		struct text t = { 0 };

		good &= read_text(l, k, k->path, items.at[i], &t);
		list_push(l->a, out, t);
	}
	return good;
}

static bool
read_requirements(struct load *l, const struct key *k, const struct node *n, char *base)
{
	struct recipe_requirements *out = MEMBER(struct recipe_requirements, base, k->first.at);
	struct texts texts = { 0 };
	bool read = read_texts(l, k, n, &texts), good = read;

	for (size_t i = 0; i < texts.n && read; i++)
		good &= text_has_no_blank_ends(l, k->path, texts.at[i]);
	for (size_t i = 0; i < texts.n && good; i++)
		list_push(l->a, out,
			  (struct recipe_requirement){ texts.at[i],
						       requirement_of(l, texts.at[i].s) });
	return good;
}

static bool
read_gpus(struct load *l, const struct key *k, const struct node *n, char *base)
{
	struct recipe_gpus *out = MEMBER(struct recipe_gpus, base, k->first.at);
	struct texts texts = { 0 };
	bool good = read_texts(l, k, n, &texts);

	for (size_t i = 0; i < texts.n && good; i++) {
		struct recipe_gpu g = { .text = texts.at[i] };

		g.gpu = facts_cc(l->f, g.text.s) ? NULL : facts_gpu(l->f, g.text.s);
		g.cc = g.gpu ? g.gpu->cc : g.text.s;
		list_push(l->a, out, g);
	}
	return good;
}

static bool
read_modal_gpus(struct load *l, const struct key *k, const struct node *n, char *base)
{
	struct texts *all = MEMBER(struct texts, base, k->second.at);

	if (!read_texts(l, k, n, all))
		return false;
	if (!all->n)
		return value_empty(l, k->path, n);
	*MEMBER(struct text, base, k->first.at) = all->at[0];
	if (n->kind != NODE_LIST)
		*all = (struct texts){ 0 };
	return true;
}

/* --- maps --- */

/* /data and /data/ are one place, and a volume can be mounted once. */
static bool
mounts_hold(struct load *l, const struct settings *all)
{
	struct map paths = MAP(l->a), names = MAP(l->a);
	bool good = true;

	for (size_t i = 0; i < all->n; i++) {
		struct setting *s = &all->at[i], *other;
		size_t n = strlen(s->name.s);
		const char *path = arena_copy(l->a, s->name.s, s->name.s[n - 1] == '/' ? n - 1 : n);

		if ((other = map_put(&paths, path, s))) {
			diag_help(diag_note(fault(l, E_TWICE, s->name.at, "two volumes at `%s`",
						  path),
					    other->name.at, "the other one"),
				  "mount one of them elsewhere");
			good = false;
		}
		if ((other = map_put(&names, s->value.s, s))) {
			diag_help(diag_note(fault(l, E_MODAL, s->value.at,
						  "the volume `%s` at two places; Modal takes it "
						  "once",
						  s->value.s),
					    other->value.at, "the other one"),
				  "remove one of the two, or use a second volume");
			good = false;
		}
	}
	return good;
}

static bool
read_settings(struct load *l, const struct key *k, const struct node *n, char *base)
{
	struct settings *out = MEMBER(struct settings, base, k->first.at);
	grammar *names = k->type == KEY_MOUNTS ? grammar_mount : grammar_env_name;
	bool good = true;

	if (n->kind != NODE_MAP)
		return value_kind(l, k, k->path, n, "a map");
	if (!within_limit(l, n->at, n->n, ITEMS_MAX, k->path))
		return false;
	for (size_t i = 0; i < n->n && !load_full(l); i++) {
		struct setting s = { .name = { n->pairs[i].key, n->pairs[i].key_at } };

		if (!text_holds(l, k->path, s.name, TEXT_MAX) ||
		    !grammar_holds(l, names, k->path, s.name)) {
			good = false;
			continue;
		}
		const char *path = arena_printf(l->a, "%s.%s", k->path, s.name.s);

		good &= read_text(l, k, path, n->pairs[i].value, &s.value);
		list_push(l->a, out, s);
	}
	return good && (k->type != KEY_MOUNTS || mounts_hold(l, out));
}

/* The keys of a map, each into its member. */
static bool
read_keys(struct load *l, const struct key *k, const struct node *n, char *base)
{
	bool good = true;

	for (size_t i = 0; i < n->n && !load_full(l); i++) {
		const struct pair *p = &n->pairs[i];
		const struct key *child = key_child(k, p->key);

		if (child) {
			good &= read_value(l, child, p->value, base);
		} else {
			key_unknown(l, k, p->key, p->key_at);
			good = false;
		}
	}
	return good;
}

static bool
read_map(struct load *l, const struct key *k, const struct node *n, char *base)
{
	if (k->type == KEY_SECTION)
		*MEMBER(struct span, base, k->first.at) = n->at;
	if (n->kind == NODE_MAP)
		return read_keys(l, k, n, base);
	if (n->kind == NODE_SCALAR && k->more)
		return read_value(l, key_child(k, k->more), n, base);
	return value_kind(l, k, k->path, n, k->more ? "text or a map" : "a map");
}

bool
key_missing(struct load *l, const struct key *k, const char *name, struct span at)
{
	diag_help(fault(l, E_KEY_MISSING, at, "`%s` without `%s`", k->path, name), "add `%s:`",
		  name);
	return false;
}

/* The keys that each item of a list must have. */
static bool
has_required(struct load *l, const struct key *k, const struct node *n)
{
	bool good = true;

	for (const struct key *child = NULL; (child = key_next(k, child));)
		if (child->required && !node_get(n, key_name(child)))
			good = key_missing(l, k, key_name(child), n->at);
	return good;
}

/* The long form of one item. */
static bool
read_item(struct load *l, const struct key *k, const struct node *n, char *base)
{
	bool good = read_keys(l, k, n, base);

	return has_required(l, k, n) && good;
}

static bool
read_extension(struct load *l, const struct key *k, const struct node *n,
	       struct recipe_extension *e)
{
	e->at = n->at;
	if (n->kind == NODE_LIST || node_is_null(n))
		return value_kind(l, k, k->path, n, "texts and maps");
	if (n->kind == NODE_SCALAR ? !extension_short(l, n, e) : !read_item(l, k, n, (char *)e))
		return false;
	return extension_holds(l, e);
}

static bool
read_extensions(struct load *l, const struct key *k, const struct node *n, char *base)
{
	struct recipe_extensions *out = MEMBER(struct recipe_extensions, base, k->first.at);
	struct items items;
	bool good = true;

	if (!items_of(l, k, n, &items))
		return false;
	for (size_t i = 0; i < items.n && !load_full(l); i++) {
		struct recipe_extension e = { 0 };

		if (read_extension(l, k, items.at[i], &e))
			list_push(l->a, out, e);
		else
			good = false;
	}
	return extensions_hold(l, out) && good;
}

static bool
read_indexes(struct load *l, const struct key *k, const struct node *n, char *base)
{
	struct recipe_indexes *out = MEMBER(struct recipe_indexes, base, k->first.at);
	bool good = true;

	if (n->kind != NODE_LIST)
		return value_kind(l, k, k->path, n, "a list");
	if (!within_limit(l, n->at, n->n, EXTENSIONS_MAX, k->path))
		return false;
	for (size_t i = 0; i < n->n && !load_full(l); i++) {
		struct recipe_index index = { 0 };

		if (n->items[i]->kind != NODE_MAP)
			good = value_kind(l, k, k->path, n->items[i], "maps");
		else
			good &= read_item(l, k, n->items[i], (char *)&index);
		list_push(l->a, out, index);
	}
	return good;
}

/* A list or a map of names may be there without anything in it. */
static bool
may_be_empty(const struct key *k)
{
	switch (k->type) {
	case KEY_TEXTS:
	case KEY_REQUIREMENTS:
	case KEY_GPUS:
	case KEY_SETTINGS:
	case KEY_MOUNTS:
	case KEY_EXTENSIONS:
	case KEY_INDEXES: return true;
	default: return false;
	}
}

bool
read_value(struct load *l, const struct key *k, const struct node *n, char *base)
{
	if (node_is_null(n))
		return may_be_empty(k) || value_empty(l, k->path, n);
	switch (k->type) {
	case KEY_TEXT: return read_text(l, k, k->path, n, MEMBER(struct text, base, k->first.at));
	case KEY_WORD: return read_word(l, k, n, base);
	case KEY_COUNT:
	case KEY_NUMBER: return read_number(l, k, n, base);
	case KEY_BOOL: return read_bool(l, k, n, base);
	case KEY_TEXTS: return read_texts(l, k, n, MEMBER(struct texts, base, k->first.at));
	case KEY_REQUIREMENTS: return read_requirements(l, k, n, base);
	case KEY_GPUS: return read_gpus(l, k, n, base);
	case KEY_MODAL_GPUS: return read_modal_gpus(l, k, n, base);
	case KEY_SETTINGS:
	case KEY_MOUNTS: return read_settings(l, k, n, base);
	case KEY_MAP:
	case KEY_SECTION: return read_map(l, k, n, base);
	case KEY_EXTENSIONS: return read_extensions(l, k, n, base);
	case KEY_INDEXES: return read_indexes(l, k, n, base);
	case KEY_EXTENDS:
	case KEY_VARIANTS:
	case KEY_MATRIX:
	case KEY_CELLS: break;
	}
	BUG("the key %s is not read here", k->path);
}
