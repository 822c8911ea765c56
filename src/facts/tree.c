#include "tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/str.h"

enum { KIND_BITS = 2, FILE_BITS = 8 };

/* --- reading --- */

static uint32_t
word(struct fact x, size_t i)
{
	return x.t->words[x.at + i];
}

static enum node_kind
kind(struct fact x)
{
	return (enum node_kind)(word(x, 0) & ((1u << KIND_BITS) - 1));
}

bool
fact_is_map(struct fact x)
{
	return x.at && kind(x) == NODE_MAP;
}

struct fact
fact_root(const struct fact_tree *t)
{
	return (struct fact){ t, t->root };
}

size_t
fact_count(struct fact x)
{
	return x.at && kind(x) != NODE_SCALAR ? word(x, 1) : 0;
}

struct fact
fact_at(struct fact x, size_t i)
{
	if (i >= fact_count(x))
		return (struct fact){ x.t, 0 };
	return (struct fact){ x.t, kind(x) == NODE_MAP ? word(x, 3 + 2 * i) : word(x, 2 + i) };
}

const char *
fact_key(struct fact map, size_t i)
{
	if (i >= fact_count(map) || kind(map) != NODE_MAP)
		return NULL;
	return map.t->texts + word(map, 2 + 2 * i);
}

struct fact
fact_get(struct fact map, const char *key)
{
	size_t n = fact_count(map);

	if (n && kind(map) == NODE_MAP)
		for (size_t i = 0; i < n; i++) {
			const char *k = map.t->texts + word(map, 2 + 2 * i);

			if (*k == *key && !strcmp(k, key))
				return fact_at(map, i);
		}
	return (struct fact){ map.t, 0 };
}

const char *
fact_text(struct fact x)
{
	return x.at && kind(x) == NODE_SCALAR ? x.t->texts + word(x, 1) : NULL;
}

uint32_t
fact_line(struct fact x)
{
	return x.at ? word(x, 0) >> (KIND_BITS + FILE_BITS) : 0;
}

const char *
fact_path(struct fact x)
{
	struct fact files = { x.t, x.t ? x.t->files : 0 };

	return x.at ? fact_text(fact_at(files, word(x, 0) >> KIND_BITS & FACT_FILES_MAX)) : NULL;
}

const char *
fact_text_of(struct fact map, const char *key)
{
	return fact_text(fact_get(map, key));
}

unsigned
fact_uint_of(struct fact map, const char *key)
{
	const char *s = fact_text_of(map, key);

	return s ? (unsigned)strtoul(s, NULL, 10) : 0;
}

double
fact_number_of(struct fact map, const char *key)
{
	const char *s = fact_text_of(map, key);

	return s ? strtod(s, NULL) : 0;
}

bool
fact_true_of(struct fact map, const char *key)
{
	const char *s = fact_text_of(map, key);

	return s && !strcmp(s, "true");
}

struct names
fact_words(struct arena *a, struct fact x)
{
	struct names words = { 0 };
	const char *s = fact_text(x);

	for (size_t i = 0; i < fact_count(x); i++)
		if (fact_text(fact_at(x, i)))
			list_push(a, &words, fact_text(fact_at(x, i)));
	while (s && *(s += strspn(s, " "))) {
		size_t n = strcspn(s, " ");

		list_push(a, &words, arena_copy(a, s, n));
		s += n;
	}
	return words;
}

/* --- packing --- */

struct packer {
	struct arena *a;
	struct words LIST(uint32_t) words;
	struct buf texts;
	struct map text_at; /* text -> its offset + 1, as a pointer */
	struct names paths; /* of the sources met so far: their place is their number */
};

static uint32_t
pack_text(struct packer *p, const char *s)
{
	uintptr_t at = (uintptr_t)map_get(&p->text_at, s);

	if (!at) {
		at = p->texts.n + 1;
		map_put(&p->text_at, s, (void *)at);
		buf_add(&p->texts, s, strlen(s) + 1);
	}
	return (uint32_t)(at - 1);
}

static uint32_t
file_number(struct packer *p, const struct source *src)
{
	const char *path = src ? src->path : "";
	size_t i = p->paths.n;

	/* The last one is the likeliest: a file is packed in one go. */
	while (i && strcmp(p->paths.at[i - 1], path))
		i--;
	if (!i) {
		list_push(p->a, &p->paths, path);
		i = p->paths.n;
	}
	return (uint32_t)(i - 1 < FACT_FILES_MAX ? i - 1 : FACT_FILES_MAX - 1);
}

static uint32_t
put(struct packer *p, uint32_t w)
{
	list_push(p->a, &p->words, w);
	return (uint32_t)p->words.n - 1;
}

static uint32_t
head(struct packer *p, const struct node *n)
{
	uint32_t line = n->at.line < FACT_LINES_MAX ? n->at.line : FACT_LINES_MAX;

	return (uint32_t)n->kind | file_number(p, n->at.src) << KIND_BITS |
	       line << (KIND_BITS + FILE_BITS);
}

static bool
skipped(const struct node *n)
{
	return node_is_null(n);
}

static uint32_t
pack_node(struct packer *p, const struct node *n)
{
	bool map = n->kind == NODE_MAP;
	uint32_t at = put(p, head(p, n)), count = 0, next;

	if (n->kind == NODE_SCALAR) {
		put(p, pack_text(p, n->s));
		return at;
	}
	put(p, 0);
	for (size_t i = 0; i < n->n; i++)
		count += !skipped(map ? n->pairs[i].value : n->items[i]);
	p->words.at[at + 1] = count;
	next = (uint32_t)p->words.n;
	for (uint32_t i = 0; i < count * (map ? 2 : 1); i++)
		put(p, 0);
	for (size_t i = 0; i < n->n; i++) {
		const struct node *value = map ? n->pairs[i].value : n->items[i];
		uint32_t child;

		if (skipped(value))
			continue;
		if (map)
			p->words.at[next++] = pack_text(p, n->pairs[i].key);
		/* pack_node may move the words: the index is taken after it. */
		child = pack_node(p, value);
		p->words.at[next++] = child;
	}
	return at;
}

static uint32_t
pack_paths(struct packer *p)
{
	size_t n = p->paths.n < FACT_FILES_MAX ? p->paths.n : FACT_FILES_MAX;
	uint32_t at = put(p, NODE_LIST);

	put(p, (uint32_t)n);
	for (size_t i = 0; i < n; i++)
		put(p, (uint32_t)(at + 2 + n + 2 * i));
	for (size_t i = 0; i < n; i++) {
		put(p, NODE_SCALAR);
		put(p, pack_text(p, p->paths.at[i]));
	}
	return at;
}

struct fact_tree *
fact_pack(struct arena *a, const struct fact_files *files, const char *date, size_t *nwords,
	  size_t *ntexts)
{
	struct packer p = { .a = a, .texts = BUF(a), .text_at = MAP(a) };
	struct fact_tree *t = arena_new_of(a, struct fact_tree);
	struct pair *pairs = arena_array_of(a, struct pair, files->n + 1);
	struct node root = { .kind = NODE_MAP, .pairs = pairs };

	for (size_t i = 0; i < files->n; i++)
		if (files->at[i].root->kind == NODE_MAP)
			pairs[root.n++] = (struct pair){ .key = files->at[i].name,
							 .value = files->at[i].root };
	put(&p, 0);
	pack_text(&p, "");
	t->root = pack_node(&p, &root);
	t->files = pack_paths(&p);
	t->date = date ? pack_text(&p, date) : 0;
	t->words = p.words.at;
	t->texts = buf_text(&p.texts);
	*nwords = p.words.n;
	*ntexts = p.texts.n;
	return t;
}

/* --- unpacking --- */

struct unpacker {
	struct arena *a;
	const struct source *last; /* nodes of one file share its source */
};

static const struct node *
unpack(struct unpacker *u, struct fact x)
{
	struct node *n = arena_new_of(u->a, struct node);
	const char *path = fact_path(x);

	if (!u->last || strcmp(u->last->path, path)) {
		struct source *src = arena_new_of(u->a, struct source);

		*src = (struct source){ path, "", 0 };
		u->last = src;
	}
	*n = (struct node){ .kind = kind(x), .at = { u->last, fact_line(x), 1, 1 } };
	if (n->kind == NODE_SCALAR) {
		n->s = fact_text(x);
		n->n = strlen(n->s);
		return n;
	}
	n->n = fact_count(x);
	if (n->kind == NODE_MAP)
		n->pairs = arena_array_of(u->a, struct pair, n->n);
	else
		n->items = arena_array_of(u->a, const struct node *, n->n);
	for (size_t i = 0; i < n->n; i++) {
		const struct node *value = unpack(u, fact_at(x, i));

		if (n->kind == NODE_MAP)
			n->pairs[i] = (struct pair){ fact_key(x, i), value->at, value };
		else
			n->items[i] = value;
	}
	return n;
}

const struct node *
fact_unpack(struct arena *a, struct fact x)
{
	struct unpacker u = { .a = a };

	return unpack(&u, x);
}
