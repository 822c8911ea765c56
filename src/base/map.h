#ifndef MAP_H
#define MAP_H

#include <stddef.h>

#include "arena.h"

/* Maps names to pointers by hash; borrows the keys. To iterate, keep a list next to it. */
struct map {
	struct arena *a;
	struct map_slot {
		const char *key;
		void *value;
		size_t hash; /* of the key */
	} * slots;
	size_t n, cap;
};

#define MAP(arena) ((struct map){ .a = (arena) })

/* Returns the value of a key; NULL if the map does not have it. */
void *map_get(const struct map *m, const char *key);
/* Sets the value of a key, and returns its earlier value or NULL. */
void *map_put(struct map *m, const char *key, void *value);

#endif
