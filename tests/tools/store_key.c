/*
 * Prints the key of a wheel's inputs (docs/store.md): JSON on standard input, 64 hex digits on
 * standard output.  -c prints the canonical form instead.  Exit status 1: see the diagnostics.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "store/store.h"

int
main(int argc, char **argv)
{
	struct arena *a = arena_new();
	const char *canonical = NULL, *key = NULL;
	const struct source *text;
	struct diags ds;

	ds = DIAGS(ds, a);
	text = fs_read(a, &ds, "-", 16 * FS_READ_MAX, (struct span){ 0 });
	if (text)
		key = store_key(a, &ds, text->text, text->size, &canonical);
	if (key)
		puts(argc > 1 && !strcmp(argv[1], "-c") ? canonical : key);
	diags_print(&ds, stderr, false);
	arena_free(a);
	return key && !fflush(stdout) ? EXIT_SUCCESS : EXIT_FAILURE;
}
