/*
 * libFuzzer: wheels.  The first byte selects the input: "z" a wheel, "r" a RECORD, "m" METADATA,
 * a NUL, WHEEL.  An accepted RECORD names each path once.
 */
#include "fuzz.h"

#include "inspect/inspect.h"
#include "inspect/wheel_parts.h"

/* Every process has a separate file. */
static void
fuzz_wheel(struct arena *a, struct diags *ds, const uint8_t *data, size_t size)
{
	const char *path = scratch_file(a, "x-1.0-py3-none-any.whl", (const char *)data, size);

	if (!wheel_read(a, ds, path, size % 2) != (ds->errors != 0))
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new();
	struct diags ds;
	struct zip z = { .a = a, .ds = &ds, .path = "x-1.0-py2.py3-none-any.whl" };
	struct record record = { 0 };
	struct wheel w = { 0 };
	char *text = arena_copy(a, (const char *)data, size);

	ds = DIAGS(ds, a);
	if (size && *data == 'z')
		fuzz_wheel(a, &ds, data + 1, size - 1);
	else if (size && *data == 'r' && record_parse(&z, text + 1, &record)) {
		for (size_t i = 0; i < record.rows.n; i++)
			if (map_get(&record.by_path, record.rows.at[i]->path) != record.rows.at[i])
				abort();
	} else if (size && *data == 'm') {
		if (wheel_metadata(&z, "x-1.0.dist-info", text + 1,
				   strlen(text) < size ? text + strlen(text) + 1 : "",
				   &w) != (ds.errors == 0))
			abort();
	}
	arena_free(a);
	return 0;
}
