#include <string.h>

#include "base/str.h"
#include "cells.h"

/* All options as one text, one line each, so that errors have a line to show. */
static const char *
all_lines(struct load *l)
{
	struct buf b = BUF(l->a);

	for (size_t i = 0; i < l->o->nsets; i++)
		buf_printf(&b, "%s%s", i ? "\n" : "", l->o->sets[i]);
	return buf_text(&b);
}

/* Blank up to the value, so that the reader finds it at its own line and column. */
static const char *
blank_before(struct load *l, size_t line, size_t column, const char *value)
{
	struct buf b = BUF(l->a);

	for (size_t i = 0; i < line; i++)
		buf_putc(&b, '\n');
	for (size_t i = 0; i < column; i++)
		buf_putc(&b, ' ');
	buf_puts(&b, value);
	return buf_text(&b);
}

static bool
one_line(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < ' ')
			return false;
	return true;
}

static bool
read_set(struct load *l, size_t i, const char *lines, struct override *o)
{
	struct source *src = arena_new_of(l->a, struct source);
	const char *set = l->o->sets[i], *equals = strchr(set, '=');
	size_t n = equals ? (size_t)(equals - set) : 0;
	struct span at = { src, (uint32_t)i + 1, 1, n ? (uint32_t)n : 1 };
	const char *key = arena_copy(l->a, set, n);

	*src = (struct source){ "<command line>", lines, strlen(lines) };
	if (!n || !one_line(set)) {
		diag_help(fault(l, E_SET, at, "--set %s: %s", shown(l->a, set),
				n ? "more than one line" : "it is not key=value"),
			  "write for example --set torch.version=2.5.1");
		return false;
	}
	if (!strcmp(key, "extends")) {
		fault(l, E_SET, at, "--set cannot change what the recipe extends");
		return false;
	}
	if (!override_key(l, key, at, o))
		return false;
	src->text = blank_before(l, i, n + 1, equals + 1);
	src->size = strlen(src->text);
	o->value = yaml_read(l->a, l->ds, src, YAML_LIMITS_DEFAULT);
	src->text = lines;
	src->size = strlen(lines);
	return o->value != NULL;
}

bool
sets_read(struct load *l, struct overrides *out)
{
	const char *lines = all_lines(l);
	bool good = true;

	for (size_t i = 0; i < l->o->nsets; i++) {
		struct override o = { 0 };

		if (read_set(l, i, lines, &o))
			list_push(l->a, out, o);
		else
			good = false;
	}
	return good;
}
