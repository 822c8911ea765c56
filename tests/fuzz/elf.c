/* libFuzzer: a shared object.  The result contains only text and no pointer into the input. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/inspect.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t total; /* so that no compiler omits the read */

static void
read_symbols(const struct elf_symbols *all)
{
	for (size_t i = 0; i < all->n; i++)
		total += strlen(all->at[i].name) +
			 (all->at[i].version ? strlen(all->at[i].version) : 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new();
	struct diags ds;
	/* At an aligned address, like a file, and released before the result. */
	unsigned char *copy = aligned_alloc(16, (size + 16) / 16 * 16);
	const struct elf *e;

	memcpy(copy, data, size);
	ds = DIAGS(ds, a);
	e = elf_read(a, &ds, "x.so", copy, size);
	free(copy);
	if (!e != (ds.errors != 0))
		abort();
	if (e) {
		read_symbols(&e->undefined);
		read_symbols(&e->defined);
		for (size_t i = 0; i < e->needed.n; i++)
			total += strlen(e->needed.at[i]);
		for (size_t i = 0; i < e->runpath.n; i++)
			total += strlen(e->runpath.at[i]);
		total += e->glibc ? strlen(e->glibc) : 0;
	}
	arena_free(a);
	return 0;
}
