/* libFuzzer: GPU code.  The entries together are no larger than the file. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/inspect.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new();
	struct diags ds;
	struct gpu_codes codes;
	unsigned char *copy = aligned_alloc(16, (size + 16) / 16 * 16);
	bool good;

	memcpy(copy, data, size);
	ds = DIAGS(ds, a);
	good = gpu_codes_read(a, &ds, "x.so", copy, size, &codes);
	free(copy);
	if (good != (ds.errors == 0) || (!good && codes.n))
		abort();
	for (size_t i = 0; i < codes.n; i++)
		if (codes.at[i].size > size || !*gpu_code_name(a, &codes.at[i]))
			abort();
	arena_free(a);
	return 0;
}
