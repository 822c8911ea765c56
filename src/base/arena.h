#ifndef ARENA_H
#define ARENA_H

#include <stdarg.h>
#include <stddef.h>

/*
 * Memory that is released all at once.  A run has one arena; everything that a
 * stage returns lives in it until the process ends, so nothing is freed one by
 * one.  Running out of memory ends the process (exit 1): no caller checks for
 * NULL. Under AddressSanitizer, every allocation has its own block, so that it detects accesses
 * past the end.
 */
struct arena;

struct arena *arena_new(void);
void arena_free(struct arena *a);

/* Returns zeroed memory.  `align` is a power of two, at most that of max_align_t. */
void *arena_alloc(struct arena *a, size_t size, size_t align);

/*
 * Grows `old` from `had` to `size` bytes: in place if nothing was allocated since, otherwise as a
 * copy. New bytes are zero.
 */
void *arena_grow(struct arena *a, void *old, size_t had, size_t size, size_t align);

/* Return copies: of `n` bytes, with a NUL after them; of a C string; of one in lower case; of printf's
 * result. */
char *arena_copy(struct arena *a, const char *bytes, size_t n);
char *arena_strdup(struct arena *a, const char *s);
char *arena_lower(struct arena *a, const char *s);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
char *arena_vprintf(struct arena *a, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));

#define arena_new_of(a, type) ((type *)arena_alloc((a), sizeof(type), _Alignof(type)))
#define arena_array_of(a, type, n) \
	((type *)arena_alloc_array((a), (n), sizeof(type), _Alignof(type)))
void *arena_alloc_array(struct arena *a, size_t n, size_t size, size_t align);

/* Returns the number of elements of an array. */
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Sets a function to call before the process ends for lack of memory; it must not allocate. */
void memory_at_exhaustion(void (*act)(void));

#endif
