#include "map.h"

#include <stdint.h>
#include <string.h>

/* Hashes eight bytes at a time, as FNV-1a does one. Keys come from the user's own recipe, and a limit on
 * its size bounds the cost of collisions. */
static size_t
hash(const char *s)
{
	size_t n = strlen(s);
	uint64_t h = 14695981039346656037u ^ n, word;

	for (; n >= sizeof(word); s += sizeof(word), n -= sizeof(word)) {
		memcpy(&word, s, sizeof(word));
		h = (h ^ word) * 0x9e3779b97f4a7c15u;
		h ^= h >> 32;
	}
	for (word = 0; n; n--)
		word = word << 8 | (unsigned char)s[n - 1];
	h = (h ^ word) * 0x9e3779b97f4a7c15u;
	return (size_t)(h ^ h >> 32);
}

static struct map_slot *
slot_of(struct map_slot *slots, size_t cap, const char *key, size_t h)
{
	size_t i = h & (cap - 1);

	while (slots[i].key && (slots[i].hash != h || strcmp(slots[i].key, key)))
		i = (i + 1) & (cap - 1);
	return &slots[i];
}

void *
map_get(const struct map *m, const char *key)
{
	return m->cap ? slot_of(m->slots, m->cap, key, hash(key))->value : NULL;
}

void *
map_put(struct map *m, const char *key, void *value)
{
	size_t h = hash(key);
	struct map_slot *s;
	void *old;

	if (m->n * 2 >= m->cap) {
		size_t cap = m->cap ? m->cap * 2 : 16;
		struct map_slot *more = arena_array_of(m->a, struct map_slot, cap);

		for (size_t i = 0; i < m->cap; i++)
			if (m->slots[i].key)
				*slot_of(more, cap, m->slots[i].key, m->slots[i].hash) =
					m->slots[i];
		m->slots = more;
		m->cap = cap;
	}
	s = slot_of(m->slots, m->cap, key, h);
	old = s->value;
	if (!s->key)
		m->n++;
	*s = (struct map_slot){ key, value, h };
	return old;
}
