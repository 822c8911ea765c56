/* Prints standard input with its secrets masked (base/secret.h), for tests/suites/masking. */
#include <stdio.h>

#include "base/buf.h"
#include "base/diag.h"
#include "base/fs.h"

int
main(void)
{
	struct arena *a = arena_new();
	struct diags ds = DIAGS(ds, a);
	const struct source *s = fs_read(a, &ds, "-", BUF_MAX, NOWHERE);

	if (!s)
		return 1;
	fputs(mask_credentials(a, s->text), stdout);
	arena_free(a);
	return 0;
}
