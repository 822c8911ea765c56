#include "schema.h"

#include <string.h>

#include "base/fs.h"
#include "base/map.h"
#include "base/str.h"
#include "python/python.h"

/* Writes knowledge in the format of schema.h. */

enum { ROW_WORDS = sizeof(struct fact_row) / sizeof(uint32_t) };

struct packer {
	struct arena *a;
	struct {
		struct words LIST(uint32_t) words;
		struct buf texts;
	} out;
	struct places LIST(size_t) texts; /* words that hold the offset of a text */
	struct map text_at;               /* text -> its offset + 1, as a pointer */
	struct map value_at; /* text of a value of this file -> the place of its claim + 1 */
	struct map paired;   /* names in the index */
	bool releases_file;
	const struct node *releases, *ranges; /* for the file of an extension */
};

/* A map or list, and its parent. */
struct level {
	const struct node *n;
	const struct level *up;
};

/* --- sources of claims --- */

static const struct node *
innermost(const struct level *claim, const char *key)
{
	const struct node *found = NULL;

	for (; claim && !found; claim = claim->up)
		found = node_get(claim->n, key);
	return found;
}

/* Separates consecutive texts until facts_pack() replaces it by a NUL; no text of YAML contains
 * it. */
enum { BETWEEN = '\1' };

/* Writes " (FIRST, and 2 more; not verified: WHY)" for the first `shown` of n sources. */
static void
put_list(struct buf *b, const struct level *claim, const struct node *all, size_t n, size_t shown)
{
	const struct node *table = innermost(claim, "sources");
	const char *why = node_text(innermost(claim, "unverified")).s;

	buf_puts(b, " (");
	for (size_t i = 0; i < shown; i++) {
		const struct node *one = all->kind == NODE_LIST ? all->items[i] : all;
		const char *whole = node_text(node_get(table, one->s)).s;

		buf_printf(b, "%s%s", i ? "; " : "", whole ? whole : one->s);
	}
	if (shown < n)
		buf_printf(b, ", and %zu more", n - shown);
	if (why && strcmp(why, "false") != 0)
		buf_puts(b, "; not verified");
	if (why && strcmp(why, "false") != 0 && strcmp(why, "true") != 0)
		buf_printf(b, ": %s", why);
	buf_putc(b, ')');
}

/* Writes the texts of a source, as schema.h describes them. */
static void
put_sources(struct buf *b, const struct level *claim)
{
	const struct node *all = innermost(claim, "source");
	size_t n = !all ? 0 : all->kind == NODE_LIST ? all->n : 1;

	buf_printf(b, "%s:%c", claim->n->at.src->path, BETWEEN);
	put_list(b, claim, all, n, n ? 1 : 0);
	buf_putc(b, BETWEEN);
	put_list(b, claim, all, n, n);
}

/* --- the words --- */

static size_t
put_word(struct packer *p, size_t w)
{
	list_push(p->a, &p->out.words, (uint32_t)w);
	return p->out.words.n - 1;
}

/* Sets a word to the offset of a text. */
static void
put_text(struct packer *p, size_t word, const char *s)
{
	uintptr_t at = (uintptr_t)map_get(&p->text_at, s);

	if (!at) {
		at = p->out.texts.n + 1;
		map_put(&p->text_at, s, (void *)at);
		buf_add(&p->out.texts, s, strlen(s) + 1);
	}
	p->out.words.at[word] = (uint32_t)(at - 1);
	list_push(p->a, &p->texts, word);
}

static void
put_source(struct packer *p, const struct level *claim)
{
	struct buf b = BUF(p->a);

	put_sources(&b, claim);
	put_text(p, put_word(p, 0), buf_text(&b));
}

/* Writes the words before a release. */
static void
put_ranges(struct packer *p, const struct pair *release)
{
	const struct version *v = version_parse(p->a, release->key);
	uint64_t held = 0;

	for (size_t i = 0; i < release->value->n; i++)
		if (facts_is_release_field(release->value->pairs[i].key) &&
		    strcmp(release->value->pairs[i].key, "says") != 0)
			held |= (uint64_t)1 << FACT_RANGES_MAX;
	for (size_t i = 0; p->ranges && i < p->ranges->n; i++) {
		const char *versions = node_text(node_get(p->ranges->items[i], "versions")).s;

		if (specifiers_match(specifiers_parse(p->a, versions), v))
			held |= (uint64_t)1 << i;
	}
	put_word(p, (uint32_t)held);
	put_word(p, held >> 32);
}

static void put_claim(struct packer *p, const struct node *n, const struct level *up);

static const char *
value_text(struct arena *a, const struct node *n)
{
	struct buf b = BUF(a);

	if (n->kind == NODE_SCALAR)
		return n->s;
	buf_putc(&b, BETWEEN);
	for (size_t i = 0; n->kind == NODE_LIST && i < n->n; i++) {
		if (n->items[i]->kind != NODE_SCALAR)
			return NULL;
		buf_printf(&b, "%s%c", n->items[i]->s, BETWEEN);
	}
	return n->kind == NODE_LIST ? buf_text(&b) : NULL;
}

/*
 * Writes the claim that the word at `value` leads to. Many releases have the same values: equal
 * values of a file are stored once, with the line of the first one.
 */
static void
put_value(struct packer *p, size_t value, const struct node *n, const struct level *up)
{
	const char *text = value_text(p->a, n);
	uintptr_t at = text ? (uintptr_t)map_get(&p->value_at, text) : 0;

	if (text && !at)
		map_put(&p->value_at, text, (void *)(uintptr_t)(p->out.words.n + 1));
	p->out.words.at[value] = (uint32_t)((at ? at - 1 : p->out.words.n) - value);
	if (!at)
		put_claim(p, n, up);
}

/* Returns true for the date of a release without requirements, which package_span() needs. */
static bool
is_needless(const struct packer *p, const struct node *n, size_t i)
{
	return p->releases_file && n->kind == NODE_MAP && !strcmp(n->pairs[i].key, "date") &&
	       !node_get(n, "requires");
}

static void
put_claim(struct packer *p, const struct node *n, const struct level *up)
{
	struct level here = { n, up };
	size_t count, at;

	put_word(p, n->kind | n->at.line << 2);
	if (n->kind == NODE_SCALAR) {
		put_text(p, put_word(p, 0), n->s);
		return;
	}
	count = put_word(p, 0);
	if (n->kind == NODE_MAP)
		put_source(p, &here);
	at = p->out.words.n;
	/* Omits null values, which an overlay removed. */
	for (size_t i = 0; i < n->n; i++) {
		if (node_is_null(n->kind == NODE_MAP ? n->pairs[i].value : n->items[i]) ||
		    is_needless(p, n, i))
			continue;
		if (n->kind == NODE_MAP) {
			put_word(p, fact_hash(n->pairs[i].key));
			put_text(p, put_word(p, 0), n->pairs[i].key);
		}
		put_word(p, i);
		p->out.words.at[count]++;
	}
	for (size_t k = 0; k < p->out.words.at[count]; k++) {
		size_t value = n->kind == NODE_MAP ? at + PAIR_WORDS * k + 2 : at + k;
		size_t i = p->out.words.at[value];

		if (n == p->releases)
			put_ranges(p, &n->pairs[i]);
		put_value(p, value, n->kind == NODE_MAP ? n->pairs[i].value : n->items[i], &here);
	}
}

/* --- the rows --- */

/* Returns the names that no earlier file has, and keeps them. */
static const char *
new_names(struct packer *p, const struct names *names)
{
	struct names out = { 0 };

	list_each (name, names)
		if (!map_get(&p->paired, *name)) {
			map_put(&p->paired, *name, p);
			list_push(p->a, &out, *name);
		}
	return names_join(p->a, &out, " ");
}

/* Returns the package of the first condition that the recipe alone does not decide, or "-". */
static const char *
package_of_rule(struct packer *p, const struct node *when)
{
	struct rule_condition c;

	for (size_t i = 0; when && i < when->n; i++) {
		const char *why = rule_condition_parse(p->a, when->pairs[i].key,
						       node_text(when->pairs[i].value).s, &c);

		if (!why && !c.given)
			return c.variable == VAR_PACKAGE ? c.name : "-";
	}
	return "-";
}

/* Writes the first four words of a row at `row`. */
static void
put_index(struct packer *p, const struct fact_file *file, size_t row)
{
	const struct node *root = file->root, *aliases = node_get(root, "aliases"),
			  *rules = node_get(root, "rules"), *pairings = node_get(root, "pairings");
	struct names names = { 0 }, on = { 0 }, paired = { 0 };

	if (aliases && aliases->kind == NODE_SCALAR)
		list_push(p->a, &names, aliases->s);
	for (size_t i = 0; aliases && aliases->kind == NODE_LIST && i < aliases->n; i++)
		list_push(p->a, &names, aliases->items[i]->s);
	for (size_t i = 0; rules && i < rules->n; i++) {
		const struct node *rule = rules->pairs[i].value;

		if (!node_is_null(rule))
			list_push(p->a, &on, package_of_rule(p, node_get(rule, "when")));
	}
	for (size_t i = 0; pairings && i < pairings->n; i++)
		list_push(p->a, &paired, node_text(node_get(pairings->items[i], "other")).s);
	if (file->paired && *file->paired) {
		struct names more = names_split(p->a, file->paired, ' ');

		list_each (name, &more)
			list_push(p->a, &paired, *name);
	}
	put_text(p, row++, file->name);
	put_text(p, row++, names_join(p->a, &names, " "));
	put_text(p, row++, names_join(p->a, &on, " "));
	put_text(p, row, new_names(p, &paired));
}

static void
put_file(struct packer *p, const struct fact_file *file, size_t row)
{
	bool extension = starts_with(file->name, "extensions/");
	size_t root = row + ROW_WORDS - 1;

	p->value_at = MAP(p->a);
	p->releases_file = starts_with(file->name, "releases/");
	p->releases = extension ? node_get(file->root, "releases") : NULL;
	p->ranges = extension ? node_get(file->root, "ranges") : NULL;
	p->out.words.at[root] = (uint32_t)(p->out.words.n - root);
	put_claim(p, file->root, NULL);
}

struct fact_block
facts_pack(struct arena *a, const struct fact_files *files)
{
	struct packer p = { .a = a, .out.texts = BUF(a), .text_at = MAP(a), .paired = MAP(a) };
	struct fact_block block = { 0 };
	uint32_t *words;
	size_t size;

	if (!files->n)
		return block;
	for (size_t i = 0; i < files->n * ROW_WORDS; i++)
		put_word(&p, 0);
	/* The texts of all rows follow one another: a search reads few pages of the program. */
	for (size_t i = 0; i < files->n; i++)
		put_index(&p, &files->at[i], i * ROW_WORDS);
	for (size_t i = 0; i < files->n; i++)
		put_file(&p, &files->at[i], i * ROW_WORDS);
	for (size_t i = 0; i < p.out.texts.n; i++)
		if (p.out.texts.p[i] == BETWEEN)
			p.out.texts.p[i] = '\0';
	list_each (text, &p.texts)
		p.out.words.at[*text] += (uint32_t)((p.out.words.n - *text) * sizeof(uint32_t));
	size = p.out.words.n * sizeof(uint32_t);
	words = arena_alloc(a, size + p.out.texts.n, _Alignof(uint32_t));
	block.words = words;
	block.n_words = p.out.words.n;
	block.texts = (const char *)(words + block.n_words);
	block.n_texts = p.out.texts.n;
	memcpy(words, p.out.words.at, size);
	memcpy(words + block.n_words, p.out.texts.p, p.out.texts.n);
	return block;
}
