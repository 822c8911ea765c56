#include "arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "str.h"

/* Under ASan, shared blocks would hide overruns inside a block. */
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

/* Block sizes grow: a small arena is cheap to make, and a large one has few blocks. */
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

_Noreturn static void
exhausted(void)
{
	static const char said[] = "stackbuild: out of memory\n";
	void (*act)(void) = last_act;

	last_act = NULL; /* last_act does not allocate, but a library that it calls might */
	if (act)
		act();
	(void)!write(STDERR_FILENO, said, sizeof(said) - 1);
	_exit(EXIT_FAILURE); /* not exit: a library may hold a lock that its cleanup waits for */
}

void
memory_at_exhaustion(void (*act)(void))
{
	last_act = act;
}

/*
 * The allocator of the whole process, as "Replacing malloc" in glibc's manual describes: without
 * memory glibc's regexec answers "no match", libyaml frees twice, libcrypto crashes and libarchive
 * aborts. A sanitizer's own allocator also ends the process. musl has internal functions with the
 * same three names, which a static program can call.
 */
#if ARENA_SHARED
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *old, size_t size);

void *
malloc(size_t size)
{
	void *p = __libc_malloc(size);

	if (!p)
		exhausted();
	return p;
}

void *
calloc(size_t n, size_t size)
{
	void *p = __libc_calloc(n, size);

	if (!p)
		exhausted();
	return p;
}

void *
realloc(void *old, size_t size)
{
	void *p = __libc_realloc(old, size);

	if (!p && size) /* a size of 0 frees */
		exhausted();
	return p;
}
#endif

struct arena *
arena_new(void)
{
	return calloc(1, sizeof(struct arena));
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

/* Doubles the size. */
static size_t
next_size(const struct arena *a)
{
	if (!ARENA_SHARED || a->size < BLOCK_FIRST)
		return BLOCK_FIRST;
	return a->size < BLOCK_MOST ? a->size : BLOCK_MOST;
}

/* Allocates like arena_alloc(), but does not fill the bytes with zeros. */
static void *
take(struct arena *a, size_t size, size_t align)
{
	struct block *b = a->head;
	size_t at = b ? (b->used + align - 1) & ~(align - 1) : 0;

	if (!b || at > b->size || size > b->size - at) {
		size_t usual = next_size(a);
		size_t want = size > usual / 4 ? size : usual;

		if (want > SIZE_MAX - sizeof(*b))
			exhausted();
		b = malloc(sizeof(*b) + want);
		b->used = 0;
		b->size = want;
		a->size += want;
		at = 0;
		/* A block for one large allocation goes behind the head, which still has room. */
		if (ARENA_SHARED && want == size && a->head) {
			b->next = a->head->next;
			a->head->next = b;
		} else {
			b->next = a->head;
			a->head = b;
		}
	}
	b->used = at + size;
	return b->data + at;
}

void *
arena_alloc(struct arena *a, size_t size, size_t align)
{
	/* This clears only the returned bytes: the last part of a block is often never used, nor
	 * paged in. */
	return memset(take(a, size, align), 0, size);
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
		exhausted();
	return arena_alloc(a, n * size, align);
}

char *
arena_copy(struct arena *a, const char *bytes, size_t n)
{
	char *s = take(a, n + 1, 1);

	if (n)
		memcpy(s, bytes, n);
	s[n] = '\0';
	return s;
}

char *
arena_strdup(struct arena *a, const char *s)
{
	return arena_copy(a, s, strlen(s));
}

char *
arena_lower(struct arena *a, const char *s)
{
	char *copy = arena_strdup(a, s);

	for (char *p = copy; *p; p++)
		*p = to_lower(*p);
	return copy;
}

char *
arena_vprintf(struct arena *a, const char *fmt, va_list ap)
{
	char small[256]; /* most texts fit, and are formatted only once */
	va_list again;
	int n;
	char *s;

	va_copy(again, ap);
	n = vsnprintf(small, sizeof(small), fmt, again);
	va_end(again);
	if (n < 0)
		exhausted();
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
