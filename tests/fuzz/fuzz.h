#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"

/* Shared by the targets: assertions of properties, and inputs as files. */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void __attribute__((unused)) must(bool holds, const char *what)
{
	if (!holds) {
		fprintf(stderr, "does not hold: %s\n", what);
		abort();
	}
}

/* Checks that a text has no control characters except those in `allowed`, so that a terminal shows it unchanged. */
static inline void __attribute__((unused)) must_be_inert(const char *text, const char *allowed)
{
	for (; text && *text; text++)
		must(((unsigned char)*text >= ' ' && *text != 0x7f) || strchr(allowed, *text),
		     "no control characters in a text");
}

/* Returns the printed diagnostics. */
static inline const char *__attribute__((unused)) printed(struct arena *a, const struct diags *ds)
{
	const char *copy;
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);

	must(out && diags_print(ds, out, false), "diagnostics are printed");
	fclose(out);
	must(n <= DIAG_BYTES_MAX, "at most so many bytes of them");
	copy = arena_copy(a, text, n);
	free(text);
	must_be_inert(copy, "\n\t");
	return copy;
}

/* Returns a directory of this process in TMPDIR, which ci/fuzz sets and removes. */
static inline const char *__attribute__((unused)) scratch(void)
{
	static char path[4096];
	const char *parent = getenv("TMPDIR");

	if (!*path) {
		snprintf(path, sizeof(path), "%s/stackbuild-fuzz-XXXXXX",
			 parent ? parent : "/dev/shm");
		must(mkdtemp(path) != NULL, "a directory of our own");
	}
	return path;
}

/* Writes a file below scratch() and returns its path; data NULL removes it. */
static inline const char *__attribute__((unused))
scratch_file(struct arena *a, const char *name, const char *data, size_t n)
{
	const char *path = arena_printf(a, "%s/%s", scratch(), name);
	FILE *f = data ? fopen(path, "wb") : NULL;

	if (!data)
		remove(path);
	else
		must(f && fwrite(data, 1, n, f) == n && !fclose(f), "a file of our own");
	return path;
}

#endif
