/* Shared by the tests of facts/: the built-in knowledge base, and names as one text. */
#ifndef FACTS_HELP_H
#define FACTS_HELP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/str.h"
#include "facts/facts.h"

static struct arena *a;
static struct diags ds;
static const struct facts *f;

static inline int
setup(void **state)
{
	(void)state;
	a = arena_new();
	ds = DIAGS(ds, a);
	f = facts_load(a, &ds, NULL);
	assert_non_null(f);
	return 0;
}

static inline int
teardown(void **state)
{
	(void)state;
	arena_free(a);
	return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

/* Returns the names with blanks between them: "3.8 3.9". */
static inline const char *
joined(struct names names)
{
	struct buf b = BUF(a);

	for (size_t i = 0; i < names.n; i++)
		buf_printf(&b, "%s%s", i ? " " : "", names.at[i]);
	return buf_text(&b);
}

static inline bool
has(struct names names, const char *name)
{
	for (size_t i = 0; i < names.n; i++)
		if (!strcmp(names.at[i], name))
			return true;
	return false;
}

#endif
