#include "internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

/* A node of a file of knowledge. */
struct claim {
	struct node node;
	const struct claim *up; /* the map or list round it; NULL: it is the file */
};

/* --- files as nodes --- */

struct unpacker {
	struct arena *a;
	const struct source *src; /* nodes of one file share it */
	const uint32_t *w;        /* the next word */
	struct claim *next;       /* room for the next node */
};

static const struct node *
unpack(struct unpacker *u, const struct claim *up)
{
	struct claim *c = u->next++;
	struct node *n = &c->node;
	uint32_t head = *u->w++;

	c->up = up;
	n->kind = head & 3;
	n->at = (struct span){ u->src, head >> 2, 1, 1 };
	n->n = *u->w++;
	if (n->kind == NODE_SCALAR) {
		n->s = packed_facts.texts + n->n;
		n->n = strlen(n->s);
	} else if (n->kind == NODE_MAP) {
		n->pairs = arena_array_of(u->a, struct pair, n->n);
		for (size_t i = 0; i < n->n; i++) {
			struct pair *p = &n->pairs[i];

			p->key = packed_facts.texts + *u->w++;
			p->value = unpack(u, c);
			p->key_at = p->value->at;
		}
	} else {
		n->items = arena_array_of(u->a, const struct node *, n->n);
		for (size_t i = 0; i < n->n; i++)
			n->items[i] = unpack(u, c);
	}
	return n;
}

const struct node *
fact_unpack(struct arena *a, const uint32_t *at)
{
	struct source *src = arena_new_of(a, struct source);
	struct unpacker u = { a, src, at + 3, arena_array_of(a, struct claim, at[2]) };

	src->path = arena_printf(a, "knowledge/%s", packed_facts.texts + *at);
	src->text = "";
	return unpack(&u, NULL);
}

static const struct node *
adopt(struct arena *a, const struct node *x, const struct claim *up)
{
	struct claim *c = arena_new_of(a, struct claim);
	struct node *n = &c->node;

	*c = (struct claim){ *x, up };
	if (x->kind == NODE_SCALAR)
		return n;
	n->n = 0;
	n->pairs = arena_array_of(a, struct pair, x->kind == NODE_MAP ? x->n : 0);
	n->items = arena_array_of(a, const struct node *, x->kind == NODE_LIST ? x->n : 0);
	for (size_t i = 0; i < x->n; i++) {
		const struct node *value = fact_at(x, i);

		if (node_is_null(value))
			continue;
		value = adopt(a, value, c);
		if (x->kind == NODE_LIST)
			n->items[n->n++] = value;
		else
			n->pairs[n->n++] = (struct pair){ x->pairs[i].key, value->at, value };
	}
	return n;
}

const struct node *
fact_adopt(struct arena *a, const struct node *root)
{
	return adopt(a, root, NULL);
}

const struct node *
fact_round(const struct node *x)
{
	return &((const struct claim *)x)->up->node;
}

/* --- where a claim comes from --- */

static const struct node *
innermost(const struct node *claim, const char *key)
{
	const struct node *found = NULL;

	for (const struct claim *c = (const struct claim *)claim; c && !found; c = c->up)
		found = node_get(&c->node, key);
	return found;
}

static const char *
sources_text(const struct facts *f, const struct node *claim, size_t most)
{
	const struct node *sources = innermost(claim, "sources");
	struct names all = fact_items(f->a, innermost(claim, "source"));
	const char *why = fact_text(innermost(claim, "unverified"));
	struct buf b = BUF(f->a);

	/* Put together without printf: every claim that is read passes here. */
	buf_puts(&b, claim->at.src->path);
	buf_putc(&b, ':');
	buf_uint(&b, claim->at.line);
	buf_puts(&b, " (");
	for (size_t i = 0; i < all.n && i < most; i++) {
		const char *whole = fact_text_of(sources, all.at[i]);

		buf_puts(&b, i ? "; " : "");
		buf_puts(&b, whole ? whole : all.at[i]);
	}
	if (all.n > most) {
		buf_puts(&b, ", and ");
		buf_uint(&b, all.n - most);
		buf_puts(&b, " more");
	}
	if (why && strcmp(why, "false") != 0) {
		buf_puts(&b, "; not verified");
		buf_puts(&b, strcmp(why, "true") ? ": " : "");
		buf_puts(&b, strcmp(why, "true") ? why : "");
	}
	buf_putc(&b, ')');
	return buf_text(&b);
}

const char *
fact_source(const struct facts *f, const struct node *claim)
{
	return sources_text(f, claim, 1);
}

const char *
fact_sources(const struct facts *f, const struct node *claim)
{
	return sources_text(f, claim, SIZE_MAX);
}

/* --- small readers --- */

const char *
fact_text_of(const struct node *map, const char *key)
{
	return fact_text(node_get(map, key));
}

unsigned
fact_uint_of(const struct node *map, const char *key)
{
	const char *s = fact_text_of(map, key);

	return s ? (unsigned)strtoul(s, NULL, 10) : 0;
}

double
fact_number_of(const struct node *map, const char *key)
{
	const char *s = fact_text_of(map, key);

	return s ? strtod(s, NULL) : 0;
}

enum tri
fact_tri(const struct node *x)
{
	const char *s = fact_text(x);

	return !s ? TRI_UNKNOWN : !strcmp(s, "true") ? TRI_YES : TRI_NO;
}

bool
fact_true_of(const struct node *map, const char *key)
{
	return fact_tri(node_get(map, key)) == TRI_YES;
}

struct names
fact_keys(struct arena *a, const struct node *map)
{
	struct names keys = { 0 };

	for (size_t i = 0; i < fact_count(map); i++)
		list_push(a, &keys, fact_key(map, i));
	return keys;
}

struct names
fact_items(struct arena *a, const struct node *x)
{
	struct names names = { 0 };

	if (fact_text(x))
		list_push(a, &names, fact_text(x));
	for (size_t i = 0; i < fact_count(x); i++)
		if (fact_text(fact_at(x, i)))
			list_push(a, &names, fact_text(fact_at(x, i)));
	return names;
}

struct names
fact_words(struct arena *a, const struct node *x)
{
	struct names words = { 0 };
	const char *s = fact_text(x);

	if (!s)
		return fact_items(a, x);
	while (*(s += strspn(s, " "))) {
		size_t n = strcspn(s, " ");

		list_push(a, &words, arena_copy(a, s, n));
		s += n;
	}
	return words;
}

const struct node *
fact_version(const struct facts *f, const struct node *map, const char *version, const char **key)
{
	const struct node *exact = node_get(map, version);
	const struct version *want = exact ? NULL : facts_version(f, version);

	*key = version;
	for (size_t i = 0; want && !exact && i < fact_count(map); i++) {
		const struct version *v = facts_version(f, fact_key(map, i));

		if (v && !version_cmp(v, want)) {
			*key = fact_key(map, i);
			exact = fact_at(map, i);
		}
	}
	return exact;
}

const struct version *
facts_version(const struct facts *f, const char *text)
{
	const struct version *v = map_get(&f->read->versions, text);

	if (!v && (v = version_parse(f->a, text)))
		map_put(&f->read->versions, arena_strdup(f->a, text), (void *)(uintptr_t)v);
	return v;
}

const struct specifiers *
facts_specifiers(const struct facts *f, const char *text)
{
	const struct specifiers *s = map_get(&f->read->specifiers, text);

	if (!s && (s = specifiers_parse(f->a, text)))
		map_put(&f->read->specifiers, arena_strdup(f->a, text), (void *)(uintptr_t)s);
	return s;
}

bool
fact_in_range(const struct facts *f, const char *spec, const char *version)
{
	const struct specifiers *s = spec ? facts_specifiers(f, spec) : NULL;
	const struct version *v =
		s ? facts_version(f, arena_copy(f->a, version, strcspn(version, "+"))) : NULL;

	return v && specifiers_match(s, v, PRE_YES);
}
