#include "internal.h"

#include <stdlib.h>
#include <string.h>

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
