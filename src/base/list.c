#include "list.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "str.h"

void *
list_room(struct arena *a, void *at, size_t n, size_t *cap, size_t size)
{
	size_t had = *cap;

	if (n < had)
		return at;
	*cap = had ? had * 2 : 8;
	return arena_grow(a, at, had * size, *cap * size, alignof(max_align_t));
}

bool
names_have(const struct names *all, const char *text)
{
	for (size_t i = 0; i < all->n; i++)
		if (*all->at[i] == *text && !strcmp(all->at[i], text))
			return true;
	return false;
}

void
names_once(struct arena *a, struct names *all, const char *text)
{
	if (!names_have(all, text))
		list_push(a, all, text);
}

struct names
names_nearest(struct arena *a, const char *word, const struct names *all, size_t max)
{
	struct names rest = { 0 }, found = { 0 };
	const char *near;

	list_each (text, all)
		list_push(a, &rest, *text);
	while (found.n < max && (near = str_nearest(word, rest.at, rest.n))) {
		size_t k = 0;

		list_push(a, &found, near);
		while (rest.at[k] != near)
			k++;
		rest.at[k] = rest.at[--rest.n];
	}
	return found;
}

static int
by_bytes(const void *x, const void *y)
{
	return strcmp(*(const char *const *)x, *(const char *const *)y);
}

void
names_sort(struct names *all)
{
	if (all->n)
		qsort(all->at, all->n, sizeof(*all->at), by_bytes);
}

static const char *
joined(struct arena *a, const struct names *all, const char *between, const char *last)
{
	struct buf b = BUF(a);

	for (size_t i = 0; i < all->n; i++) {
		buf_puts(&b, !i ? "" : i + 1 < all->n ? between : last);
		buf_puts(&b, all->at[i]);
	}
	return buf_text(&b);
}

const char *
names_join(struct arena *a, const struct names *all, const char *between)
{
	return joined(a, all, between, between);
}

const char *
names_words(struct arena *a, const struct names *all, const char *last)
{
	return joined(a, all, ", ", arena_printf(a, " %s ", last));
}

struct names
names_split(struct arena *a, const char *text, char between)
{
	struct names all = { 0 };

	while (*text) {
		const char *end = strchr(text, between);
		size_t n = end ? (size_t)(end - text) : strlen(text);

		if (n || between != ' ')
			list_push(a, &all, arena_copy(a, text, n));
		text += n + (end != NULL);
	}
	return all;
}
