#ifndef LIST_H
#define LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "arena.h"

/*
 * A growing array in an arena:
 *
 *     struct names LIST(const char *);
 *     struct names n = { 0 };
 *     list_push(a, &n, "torch");
 *     for (size_t i = 0; i < n.n; i++) puts(n.at[i]);
 */
#define LIST(type) \
	{ \
		type *at; \
		size_t n, cap; \
	}

#define list_push(a, list, ...) \
	((list)->at = list_room((a), (list)->at, (list)->n, &(list)->cap, sizeof(*(list)->at)), \
	 (list)->at[(list)->n++] = (__VA_ARGS__))

/* Adds a formatted text to a list of texts. */
#define list_printf(a, list, ...) list_push((a), (list), arena_printf((a), __VA_ARGS__))

/* Visits each element of a list, which does not change meanwhile: list_each (s, &p->steps) show(s->id); */
#define list_each(x, list) \
	for (const __typeof__((list)->at[0]) *x = (list)->at, \
					     *x##_end = (list)->n ? x + (list)->n : x; \
	     x < x##_end; x++)

/* Returns whether a condition holds for an element of a list: list_any (s, &p->steps, s->at.line). */
#define list_any(x, list, condition) \
	__extension__({ \
		bool x##_any = false; \
		list_each (x, list) \
			if (condition) { \
				x##_any = true; \
				break; \
			} \
		x##_any; \
	})

/* Returns the first element of a list for which a condition holds, or NULL. */
#define list_find(x, list, condition) \
	__extension__({ \
		__typeof__((list)->at + 0) x##_found = NULL; \
		list_each (x, list) \
			if (condition) { \
				x##_found = (list)->at + (x - (list)->at); \
				break; \
			} \
		x##_found; \
	})

/* Returns a text of each element of a list, as names: list_names(a, s, &p->steps, s->id). */
#define list_names(a, x, list, text) \
	__extension__({ \
		struct names x##_names = { 0 }; \
		list_each (x, list) \
			list_push(a, &x##_names, text); \
		x##_names; \
	})

/* Returns the array with room for one more element after `n` of `size` bytes; a full array
 * moves. */
void *list_room(struct arena *a, void *at, size_t n, size_t *cap, size_t size);

struct names LIST(const char *);

bool names_have(const struct names *all, const char *text);

/* Adds a text, unless the list has it. */
void names_once(struct arena *a, struct names *all, const char *text);

/* Returns at most `max` of the texts that the user most likely meant (str_nearest), the nearest first. */
struct names names_nearest(struct arena *a, const char *word, const struct names *all, size_t max);

/* Sorts the texts by their bytes. */
void names_sort(struct names *all);
/* Returns the texts with `between` between each two; "" if there are none. */
const char *names_join(struct arena *a, const struct names *all, const char *between);
/* Returns "a, b and c" for `last` "and"; "" if there are none. */
const char *names_words(struct arena *a, const struct names *all, const char *last);
/* Returns the parts of "a|b|c" for `between` '|'; an empty text has none; with ' ', no part is
 * empty. */
struct names names_split(struct arena *a, const char *text, char between);

#endif
