/*
 * libFuzzer: the inputs of init: lists of requirements, Dockerfiles, TOML and YAML (by the first line).
 *
 * Properties: a reader that fails reports the reason; places are in the text; the items
 * of a part of the inputs become a recipe, or an error has the reason.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "init/init.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
must(bool holds)
{
	if (!holds)
		abort();
}

static void
check_places(const struct diags *ds, const struct source *src)
{
	const char *line;
	size_t n;

	for (const struct diag *d = ds->head; d; d = d->next)
		if (d->at.src == src && d->at.line)
			must(source_line(src, d->at.line, &line, &n));
}

/*
 * Selects one in 16 inputs by their content. The resolver takes a hundred times as long as a reader, and
 * would leave the readers a few inputs per second.
 */
static bool
is_resolved(const uint8_t *data, size_t size)
{
	uint32_t hash = 2166136261U; /* FNV-1a */

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ data[i]) * 16777619U;
	return (hash >> 16) % 16 == 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct arena *forever;
	static const struct facts *facts;
	struct arena *a = arena_new();
	struct source raw = { "fuzz", arena_copy(a, (const char *)data, size), size };
	const struct source *src;
	const struct stack *s;
	struct names read = { 0 };
	unsigned warnings;
	struct diags ds;
	struct init n = { .a = a, .ds = &ds };
	bool fine;

	if (!forever) {
		forever = arena_new();
		ds = DIAGS(ds, forever);
		facts = facts_load(forever, &ds, NULL);
		must(facts != NULL);
	}
	ds = DIAGS(ds, a);
	n.f = facts;
	src = init_text(&n, &raw);
	must((src != NULL) == !ds.errors);
	if (src) {
		fine = init_is_dockerfile(&n, src) ? init_dockerfile(&n, src, &read) :
		       init_is_toml(&n, src)       ? init_project(&n, src) :
		       init_is_yaml(&n, src)       ? init_environment(&n, src) :
						     init_requirements(&n, src);
		must(fine == !ds.errors);
		check_places(&ds, src);
		if (fine && size < 400 && is_resolved(data, size))
			must((init_recipe(&n, "stack.yaml", &s, &warnings) != NULL) == !ds.errors);
	}
	arena_free(a);
	return 0;
}
