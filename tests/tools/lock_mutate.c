/*
 * lock_mutate FILE TIMES SEED: changes one byte of a lock, TIMES times, and reads it; prints a line
 * for each change that lock_read() accepts, "OFFSET OLD NEW", and last the number of rejected ones.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "lock/lock.h"

static bool
accepted(const char *text, size_t n)
{
	struct arena *a = arena_new();
	struct source src = { "lock", text, n };
	struct diags ds;
	bool good;

	ds = DIAGS(ds, a);
	good = lock_read(a, &ds, &src) != NULL;
	arena_free(a);
	return good;
}

int
main(int argc, char **argv)
{
	struct arena *a = arena_new();
	const struct source *src = argc == 4 ? fs_read_quiet(a, argv[1], LOCK_MAX) : NULL;
	size_t rejected = 0;
	unsigned short state[3];
	char *text;

	if (!src || !accepted(src->text, src->size))
		return 1;
	memset(state, (int)strtoul(argv[3], NULL, 10), sizeof(state));
	text = memcpy(arena_alloc(a, src->size + 1, 1), src->text, src->size);
	text[src->size] = '\0';
	for (unsigned long i = 0; i < strtoul(argv[2], NULL, 10); i++) {
		/* Changes each place in turn, then again with other bytes. */
		size_t at = i % src->size;
		char old = text[at];

		text[at] = (char)(old ^ (1 + nrand48(state) % 255));
		if (accepted(text, src->size))
			printf("%zu %d %d\n", at, old, text[at]);
		else
			rejected++;
		text[at] = old;
	}
	printf("%zu rejected\n", rejected);
	arena_free(a);
	return 0;
}
