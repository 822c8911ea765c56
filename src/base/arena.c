#include "arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Under ASan a shared block would hide an overrun inside it. */
#if defined(__SANITIZE_ADDRESS__)
#define ARENA_SHARED 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_SHARED 0
#endif
#endif
#ifndef ARENA_SHARED
#define ARENA_SHARED 1
#endif

/* Blocks grow, so that a small arena is cheap to make and a large one has few of them. */
enum { BLOCK_FIRST = ARENA_SHARED ? 4 * 1024 : 0, BLOCK_MOST = 256 * 1024 };

struct block {
	struct block *next;
	size_t used, size;
	alignas(max_align_t) unsigned char data[];
};

struct arena {
	struct block *head;
	size_t size; /* bytes of all blocks */
};

static void (*last_act)(void);

void
memory_exhausted(void)
{
	if (last_act)
		last_act();
	fputs("stackbuild: out of memory\n", stderr);
	_exit(70); /* not exit: a library may hold a lock that its cleanup waits for */
}

void
memory_at_exhaustion(void (*act)(void))
{
	last_act = act;
}

static void *
must(void *p)
{
	if (!p)
		memory_exhausted();
	return p;
}

struct arena *
arena_new(void)
{
	return must(calloc(1, sizeof(struct arena)));
}

void
arena_free(struct arena *a)
{
	struct block *next;

	for (struct block *b = a->head; b; b = next) {
		next = b->next;
		free(b);
	}
	free(a);
}

/* As much again as there is already. */
static size_t
next_size(const struct arena *a)
{
	if (!ARENA_SHARED || a->size < BLOCK_FIRST)
		return BLOCK_FIRST;
	return a->size < BLOCK_MOST ? a->size : BLOCK_MOST;
}

void *
arena_alloc(struct arena *a, size_t size, size_t align)
{
	struct block *b = a->head;
	size_t at = b ? (b->used + align - 1) & ~(align - 1) : 0;

	if (!b || at > b->size || size > b->size - at) {
		size_t usual = next_size(a);
		size_t want = size > usual / 4 ? size : usual;

		if (want > SIZE_MAX - sizeof(*b))
			memory_exhausted();
		b = must(malloc(sizeof(*b) + want));
		b->used = 0;
		b->size = want;
		a->size += want;
		at = 0;
		/* A block made for one large thing goes behind the head, which has room left. */
		if (ARENA_SHARED && want == size && a->head) {
			b->next = a->head->next;
			a->head->next = b;
		} else {
			b->next = a->head;
			a->head = b;
		}
	}
	b->used = at + size;
	/* Not the whole block by calloc: its last part is often never used, nor paged in. */
	return memset(b->data + at, 0, size);
}

void *
arena_grow(struct arena *a, void *old, size_t had, size_t size, size_t align)
{
	struct block *b = a->head;
	unsigned char *end = b ? b->data + b->used : NULL, *p = old;

	if (ARENA_SHARED && p && p + had == end && size - had <= b->size - b->used) {
		b->used += size - had;
		memset(end, 0, size - had);
		return p;
	}
	p = arena_alloc(a, size, align);
	if (had)
		memcpy(p, old, had);
	return p;
}

void *
arena_alloc_array(struct arena *a, size_t n, size_t size, size_t align)
{
	if (size && n > SIZE_MAX / size)
		memory_exhausted();
	return arena_alloc(a, n * size, align);
}

char *
arena_copy(struct arena *a, const char *bytes, size_t n)
{
	char *s = arena_alloc(a, n + 1, 1);

	if (n)
		memcpy(s, bytes, n);
	return s;
}

char *
arena_strdup(struct arena *a, const char *s)
{
	return arena_copy(a, s, strlen(s));
}

char *
arena_vprintf(struct arena *a, const char *fmt, va_list ap)
{
	char small[256]; /* most texts fit, and are then formatted once */
	va_list again;
	int n;
	char *s;

	va_copy(again, ap);
	n = vsnprintf(small, sizeof(small), fmt, again);
	va_end(again);
	if (n < 0)
		memory_exhausted();
	if ((size_t)n < sizeof(small))
		return arena_copy(a, small, (size_t)n);
	s = arena_alloc(a, (size_t)n + 1, 1);
	vsnprintf(s, (size_t)n + 1, fmt, ap);
	return s;
}

char *
arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	s = arena_vprintf(a, fmt, ap);
	va_end(ap);
	return s;
}

void *
memory_alloc(size_t size)
{
	return must(malloc(size ? size : 1));
}

void *
memory_realloc(void *p, size_t size)
{
	return must(realloc(p, size ? size : 1));
}

void
memory_free(void *p)
{
	free(p);
}
