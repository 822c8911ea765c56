#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum node_kind
fact_kind(const struct claim *x)
{
	return x->head & 3;
}

size_t
fact_count(const struct claim *x)
{
	return x && fact_kind(x) != NODE_SCALAR ? x->rest[0] : 0;
}

/* Returns the word of the i-th value; its key is before it. */
static const uint32_t *
value_word(const struct claim *x, size_t i)
{
	return &x->rest[fact_kind(x) == NODE_MAP ? PAIRS_AT + PAIR_WORDS * i + 2 : 1 + i];
}

const struct claim *
fact_at(const struct claim *x, size_t i)
{
	const uint32_t *word = i < fact_count(x) ? value_word(x, i) : NULL;

	return word ? (const struct claim *)(word + (int32_t)*word) : NULL;
}

const char *
fact_key(const struct claim *x, size_t i)
{
	return i < fact_count(x) && fact_kind(x) == NODE_MAP ? text_at(value_word(x, i) - 1) : NULL;
}

const struct claim *
fact_find(const struct claim *map, const char *key, uint32_t hash)
{
	size_t n = map && fact_kind(map) == NODE_MAP ? map->rest[0] : 0;

	for (const uint32_t *w = map ? map->rest + PAIRS_AT : NULL; n--; w += PAIR_WORDS)
		if (*w == hash && !strcmp(text_at(w + 1), key))
			return (const struct claim *)(w + 2 + (int32_t)w[2]);
	return NULL;
}

const char *
fact_text(const struct claim *x)
{
	return x && fact_kind(x) == NODE_SCALAR ? text_at(x->rest) : NULL;
}

/* Returns the n-th of the texts of a source: see schema.h. A recipe needs hundreds of them, and printf
 * would take a twentieth of the time of a render. */
static const char *
place_and(struct arena *a, const struct claim *map, int n)
{
	const char *path = text_at(&map->rest[1]), *note = path;
	char digits[10], *line = digits + sizeof(digits), *s;
	size_t before = strlen(path), after;
	uint32_t rest = map->head >> 2;

	while (n--)
		note += strlen(note) + 1;
	after = strlen(note) + 1;
	do
		*--line = (char)('0' + rest % 10);
	while (rest /= 10);
	n = (int)(digits + sizeof(digits) - line);
	s = arena_alloc(a, before + (size_t)n + after, 1);
	memcpy(s, path, before);
	memcpy(s + before, line, (size_t)n);
	memcpy(s + before + n, note, after);
	return s;
}

const char *
fact_source(struct arena *a, const struct claim *map)
{
	return place_and(a, map, 1);
}

const char *
fact_sources(struct arena *a, const struct claim *map)
{
	return place_and(a, map, 2);
}

unsigned
fact_uint_of(const struct claim *map, const char *key)
{
	const char *s = fact_text_of(map, key);

	return s ? (unsigned)strtoul(s, NULL, 10) : 0;
}

double
fact_number_of(const struct claim *map, const char *key)
{
	const char *s = fact_text_of(map, key);

	return s ? strtod(s, NULL) : 0;
}

long
fact_day(const char *date)
{
	long part[3] = { 0 };

	/* The schema allows only YYYY-MM-DD. */
	for (int i = 0; date && *date; date++) {
		i += *date == '-';
		if (*date != '-')
			part[i] = part[i] * 10 + (*date - '0');
	}
	return (part[0] * 12 + part[1]) * 31 + part[2];
}

enum tri
fact_tri(const struct claim *x)
{
	const char *s = fact_text(x);

	return !s ? TRI_UNKNOWN : !strcmp(s, "true") ? TRI_YES : TRI_NO;
}

struct names
fact_keys(struct arena *a, const struct claim *map)
{
	struct names keys = { 0 };

	for (size_t i = 0; i < fact_count(map); i++)
		list_push(a, &keys, fact_key(map, i));
	return keys;
}

struct names
fact_items(struct arena *a, const struct claim *x)
{
	size_t n = fact_text(x) ? 1 : fact_count(x);
	struct names names = { n ? arena_array_of(a, const char *, n) : NULL, 0, n };

	for (size_t i = 0; i < n; i++) {
		names.at[names.n] = fact_text(fact_text(x) ? x : fact_at(x, i));
		names.n += names.at[names.n] != NULL;
	}
	return names;
}

/* Stores each text once, because most of them occur in many releases. */
struct names
fact_words(const struct facts *f, const struct claim *x)
{
	const char *s = fact_text(x);
	struct split_text *known = &f->read->split[(uintptr_t)s / 4 % SPLIT_TEXTS];

	if (!s)
		return fact_items(f->a, x);
	if (known->text != s)
		*known = (struct split_text){ s, names_split(f->a, s, ' ') };
	known->words.cap = known->words.n; /* adding to a copy makes a new array */
	return known->words;
}

const struct claim *
fact_version(const struct facts *f, const struct claim *map, const char *version, const char **key)
{
	const struct claim *exact = fact_get(map, version);
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

const struct requirement *
facts_requirement(const struct facts *f, const char *text)
{
	const struct requirement *r = map_get(&f->read->requirements, text);

	if (!r && (r = requirement_parse(f->a, text, NULL, NULL)))
		map_put(&f->read->requirements, arena_strdup(f->a, text), (void *)(uintptr_t)r);
	return r;
}

bool
fact_in_range(const struct facts *f, const char *spec, const char *version)
{
	const struct specifiers *s = spec ? facts_specifiers(f, spec) : NULL;
	const struct version *v =
		s ? facts_version(f, arena_copy(f->a, version, strcspn(version, "+"))) : NULL;

	return v && specifiers_match(s, v);
}
