#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "grammar.h"

/* What Modal takes; limits and names are facts. */

/* Names of apps, volumes, secrets; not like an object's id. */
const struct complaint *
grammar_object(struct load *l, const char *s)
{
	bool id = strlen(s) == 25 && str_matches(s, "^[A-Za-z][A-Za-z]-[A-Za-z0-9]*$");

	if (!id && strlen(s) <= 64 && str_matches(s, "^[A-Za-z0-9_.-]+$"))
		return NULL;
	return complain_that(l, E_NAME, s, "is not a name that Modal takes",
			     id ? "choose a name that does not look like an id (two letters, a "
				  "dash, 22 characters)" :
				  "use up to 64 letters, digits, dots, dashes and underscores");
}

/* An absolute path that may be a mount point: not `/`, `/root` or `/tmp`. */
const struct complaint *
grammar_mount(struct load *l, const char *s)
{
	if (strlen(s) > 255 || !str_matches(s, "^/[A-Za-z0-9._/+@-]*$") ||
	    str_matches(s, "//|/[.]{1,2}(/|$)"))
		return complain_that(l, E_PATH, s, "is not a path to mount at",
				     "write an absolute path of letters, digits and `._+@-`");
	if (str_matches(s, "^/((root|tmp)/?)?$"))
		return complain_help(complain(l, E_MODAL, "Modal mounts nothing at %.*s",
					      (int)(1 + strcspn(s + 1, "/")), s),
				     "choose a directory of its own, such as /data");
	return NULL;
}

/* Digits without a leading zero, at most nine: *value. */
static bool
is_count(const char *s, unsigned long *value)
{
	*value = strtoul(s, NULL, 10);
	return strlen(s) <= 9 && str_matches(s, "^(0|[1-9][0-9]*)$");
}

static const struct complaint *
within(struct load *l, const char *s, unsigned long min, unsigned long max, const char *unit)
{
	unsigned long n;

	if (!is_count(s, &n))
		return complain_that(
			l, E_NUMBER, s, "is not a whole number",
			arena_printf(l->a, "write %s as digits, from %lu to %lu", unit, min, max));
	if (n < min || n > max)
		return complain_fix(complain(l, E_NUMBER, "%lu %s: it must be from %lu to %lu", n,
					     unit, min, max),
				    arena_printf(l->a, "%lu", n < min ? min : max),
				    arena_printf(l->a, "use %s %lu",
						 n < min ? "at least" : "at most",
						 n < min ? min : max));
	return NULL;
}

const struct complaint *
grammar_timeout(struct load *l, const char *s)
{
	const struct modal_limits *m = facts_modal(l->f);
	struct complaint *c;
	unsigned long n;

	if (!is_count(s, &n))
		return within(l, s, m->timeout_min_s, m->timeout_max_s, "seconds");
	if (n >= m->timeout_min_s && n <= m->timeout_max_s)
		return NULL;
	c = complain(l, E_TIMEOUT, "%lu seconds; Modal takes %u to %u", n, m->timeout_min_s,
		     m->timeout_max_s);
	c->source = m->source;
	if (n < m->timeout_min_s)
		return complain_fix(c, arena_printf(l->a, "%u", m->timeout_min_s),
				    arena_printf(l->a, "use at least %u", m->timeout_min_s));
	c->fix = arena_printf(l->a, "%u", m->timeout_max_s);
	return complain_help(
		c, arena_printf(l->a,
				"%lu h is longer than one run may take: use %u (%u h), "
				"write checkpoints to a volume, and resume from the last "
				"one in the next run",
				(n + 3599) / 3600, m->timeout_max_s, m->timeout_max_s / 3600));
}

const struct complaint *
grammar_scaledown(struct load *l, const char *s)
{
	const struct modal_limits *m = facts_modal(l->f);

	return within(l, s, m->scaledown_min_s, m->scaledown_max_s, "seconds");
}

const struct complaint *
grammar_memory(struct load *l, const char *s)
{
	return within(l, s, 1, 16 * 1024 * 1024, "MiB");
}

const struct complaint *
grammar_import_timeout(struct load *l, const char *s)
{
	return within(l, s, 1, 3600, "seconds");
}

/* digits [ "." digits ], more than nothing */
const struct complaint *
grammar_cpu(struct load *l, const char *s)
{
	if (str_matches(s, "^[0-9]{1,4}([.][0-9]{1,3})?$") && strtod(s, NULL) > 0)
		return NULL;
	return complain_that(l, E_NUMBER, s, "is not a number of CPU cores",
			     "write a number such as 8 or 0.5");
}

const struct complaint *
grammar_builder(struct load *l, const char *s)
{
	const struct modal_limits *m = facts_modal(l->f);
	struct complaint *c;

	if (names_have(&m->builders, s))
		return NULL;
	c = complain(l, E_MODAL, "%s is not an image builder", shown(l->a, s));
	return complain_words(l, c, s, m->builders);
}

const struct complaint *
grammar_build(struct load *l, const char *s)
{
	struct names words = { 0 };

	if (!strcmp(s, "heavy"))
		return NULL;
	list_push(l->a, &words, "heavy");
	return complain_words(l, complain(l, E_WORD, "%s is not a way to build", shown(l->a, s)), s,
			      words);
}

/* name [ ":" count ] */
const struct complaint *
grammar_modal_gpu(struct load *l, const char *s)
{
	const char *colon = strrchr(s, ':');
	const char *name = colon ? arena_copy(l->a, s, (size_t)(colon - s)) : s;
	const struct modal_gpu *gpu = facts_modal_gpu(l->f, name);
	struct names names = { 0 };
	const struct modal_gpu *all;
	unsigned long count = 1;
	struct complaint *c;
	size_t n;

	if (!gpu) {
		all = facts_modal_gpus(l->f, &n);
		for (size_t i = 0; i < n; i++)
			list_push(l->a, &names, all[i].name);
		c = complain_words(l,
				   complain(l, E_MODAL, "Modal has no GPU %s", shown(l->a, name)),
				   name, names);
		if (c->fix && colon)
			c->fix = arena_printf(l->a, "%s%s", c->fix, colon);
		c->source = n ? all[0].source : NULL;
		return c;
	}
	if (colon && (!is_count(colon + 1, &count) || !count))
		return complain_help(
			complain(l, E_NUMBER, "%s is not a number of GPUs", shown(l->a, colon + 1)),
			"write for example H100:2");
	if (gpu->count_max && count > gpu->count_max) {
		c = complain(l, E_MODAL, "%lu of %s; Modal provides at most %u", count, gpu->name,
			     gpu->count_max);
		c->source = gpu->source;
		return complain_fix(
			c, arena_printf(l->a, "%s:%u", gpu->name, gpu->count_max),
			arena_printf(l->a, "use at most %s:%u", gpu->name, gpu->count_max));
	}
	return NULL;
}
