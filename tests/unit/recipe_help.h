#ifndef RECIPE_HELP_H
#define RECIPE_HELP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "recipe/recipe.h"
#include "recipe_canonical.h"

/* Makes recipes from texts, for the tests of src/recipe/. */

/* Files: alternately name and text, "r.yaml" first, NULL at the end. */
struct files {
	const char *const *at;
};

static struct arena *a;
static const struct facts *facts;
static struct diags ds;

static inline int __attribute__((unused)) setup(void **state)
{
	(void)state;
	a = arena_new();
	ds = DIAGS(ds, a);
	facts = facts_load(a, &ds, NULL);
	return facts ? 0 : -1;
}

static inline int __attribute__((unused)) teardown(void **state)
{
	(void)state;
	arena_free(a);
	return 0;
}

static inline const struct source *
open_text(void *ctx, struct arena *arena, struct diags *diags, const char *path, struct span at)
{
	const struct files *files = ctx;
	struct source *src = arena_new_of(arena, struct source);

	for (const char *const *f = files->at; *f; f += 2)
		if (!strcmp(f[0], path)) {
			*src = (struct source){ f[0], f[1], strlen(f[1]) };
			return src;
		}
	diag_at(diags, E_FILE, at, "no file `%s`", path);
	return NULL;
}

static inline const struct recipes *
load(const char *const *files, const struct recipe_options *o)
{
	struct files ctx = { files };
	struct recipe_options all = *o;

	all.path = files[0];
	ds = DIAGS(ds, a);
	return recipes_load_from(a, &ds, facts, &all, open_text, &ctx);
}

static inline const struct recipes *
load_text(const char *text)
{
	const char *const files[] = { "r.yaml", text, NULL };
	const struct recipe_options o = { 0 };

	return load(files, &o);
}

static inline void
print_errors(void)
{
	for (const struct diag *d = ds.head; d; d = d->next)
		print_error("%u:%u: %s: %s\n", d->at.line, d->at.col, code_table[d->code].id,
			    d->text);
}

/* Returns the only recipe of a text. */
static inline const struct recipe *
one(const char *text)
{
	const struct recipes *all = load_text(text);

	if (!all)
		print_errors();
	assert_non_null(all);
	assert_int_equal(all->n, 1);
	return all->at[0];
}

static inline const char *
canonical(const char *text)
{
	return canonical_of(a, one(text));
}

static inline void
same(const char *x, const char *y)
{
	const char *first = one(x)->digest, *second = one(y)->digest;

	if (strcmp(first, second) != 0)
		print_error("%s\n%s\n", canonical(x), canonical(y));
	assert_string_equal(first, second);
}

/* Checks that a text is rejected, and its first error: "LINE:COL SBnnnn". */
static inline void
refused(const char *text, const char *where)
{
	assert_null(load_text(text));
	assert_non_null(ds.head);
	assert_string_equal(where, arena_printf(a, "%u:%u %s", ds.head->at.line, ds.head->at.col,
						code_table[ds.head->code].id));
}

static inline void
assert_place(struct text t, const char *s, uint32_t line, uint32_t col, uint32_t width)
{
	assert_string_equal(t.s, s);
	assert_int_equal(t.at.line, line);
	assert_int_equal(t.at.col, col);
	assert_int_equal(t.at.width, width);
}

#endif
