#include <stdlib.h>
#include <string.h>

#include "load.h"

/* The values that Modal accepts; limits and names come from the knowledge base. */

/* Accepts names of apps, volumes and secrets, but not the id of an object. */
const struct complaint *
grammar_object(struct load *l, const char *s)
{
	bool id = strlen(s) == 25 && str_matches(s, "^[A-Za-z][A-Za-z]-[A-Za-z0-9]*$");

	if (!id && strlen(s) <= 64 && str_matches(s, "^[A-Za-z0-9_.-]+$"))
		return NULL;
	return complain_that(l, E_NAME, s, "is not a valid name for Modal",
			     id ? "choose a name that does not look like an id (two letters, a "
				  "dash, 22 characters)" :
				  "use up to 64 letters, digits, dots, dashes and underscores");
}

/* Accepts an absolute path that can be a mount point: not `/`, `/root` or `/tmp`. */
const struct complaint *
grammar_mount(struct load *l, const char *s)
{
	if (strlen(s) > 255 || !str_matches(s, "^/[A-Za-z0-9._/+@-]*$") ||
	    str_matches(s, "//|/[.]{1,2}(/|$)"))
		return complain_that(l, E_PATH, s, "is not a path to mount at",
				     "write an absolute path of letters, digits and `._+@-`");
	if (str_matches(s, "^/((root|tmp)/?)?$"))
		return complain(l, E_MODAL, "use a separate directory, such as /data",
				"Modal mounts nothing at %.*s", (int)(1 + strcspn(s + 1, "/")), s);
	return NULL;
}

/* Reads at most nine digits without a leading zero into *value. */
static bool
is_count(const char *s, unsigned long *value)
{
	*value = strtoul(s, NULL, 10);
	return strlen(s) <= 9 && str_matches(s, "^(0|[1-9][0-9]*)$");
}

static struct complaint *
within(struct load *l, const char *s, unsigned long min, unsigned long max, const char *unit)
{
	struct complaint *c;
	unsigned long n;

	if (!is_count(s, &n))
		return complain_that(
			l, E_NUMBER, s, "is not a whole number",
			arena_printf(l->a, "write %s as digits, from %lu to %lu", unit, min, max));
	if (n >= min && n <= max)
		return NULL;
	c = complain(l, E_NUMBER, NULL, "%lu %s: it must be from %lu to %lu", n, unit, min, max);
	c->fix = arena_printf(l->a, "%lu", n < min ? min : max);
	c->help = arena_printf(l->a, "use at %s %s", n < min ? "least" : "most", c->fix);
	return c;
}

const struct complaint *
grammar_timeout(struct load *l, const char *s)
{
	const struct modal_limits *m = facts_modal(l->f);
	struct complaint *c = within(l, s, m->timeout_min_s, m->timeout_max_s, "seconds");
	unsigned long n;

	if (!c || !is_count(s, &n))
		return c;
	c->code = E_TIMEOUT;
	c->what = arena_printf(l->a, "%lu seconds; Modal allows %u to %u", n, m->timeout_min_s,
			       m->timeout_max_s);
	c->source = m->source;
	if (n > m->timeout_max_s)
		c->help = arena_printf(
			l->a,
			"%lu h exceed Modal's limit of a run, %u s (%u h): write checkpoints to a "
			"volume, and resume from the last one in the next run",
			(n + 3599) / 3600, m->timeout_max_s, m->timeout_max_s / 3600);
	return c;
}

/* Defines grammar_NAME: a whole number of `unit` within limits. */
#define COUNT_GRAMMAR(name, min, max, unit) \
	const struct complaint *grammar_##name(struct load *l, const char *s) \
	{ \
		return within(l, s, min, max, unit); \
	}

COUNT_GRAMMAR(scaledown, facts_modal(l->f)->scaledown_min_s, facts_modal(l->f)->scaledown_max_s,
	      "seconds")
COUNT_GRAMMAR(memory, 1, 16 * 1024 * 1024, "MiB")
COUNT_GRAMMAR(import_timeout, 1, 3600, "seconds")

/* --- arguments of Modal's calls, see arguments.c --- */

PATTERN_GRAMMAR(whole, "^(0|[1-9][0-9]*)$", 9, E_NUMBER, "is not a whole number",
		"write digits, such as 2")
PATTERN_GRAMMAR(decimal, "^[0-9]+([.][0-9]+)?$", 19, E_NUMBER, "is not a number",
		"write a number such as 8 or 0.5")
PATTERN_GRAMMAR(word, "^.+$", TEXT_MAX, E_EMPTY, "is empty", "remove it")
/* crontab(5): minute, hour, day of the month, month, day of the week. */
PATTERN_GRAMMAR(cron, "^[0-9A-Za-z*/,-]+( +[0-9A-Za-z*/,-]+){4}$", 200, E_TEXT,
		"is not a cron schedule",
		"write five fields, minute to day of the week, such as \"0 6 * * 1-5\"")
PATTERN_GRAMMAR(method, "^[A-Za-z_][A-Za-z0-9_]*$", 200, E_NAME, "is not the name of a method",
		"write letters, digits and underscores")
PATTERN_GRAMMAR(client, "^[0-9]+[.][0-9]+[.][0-9]+$", 20, E_VERSION,
		"is not a version of Modal's client",
		"write three numbers, such as 1.6.4 (`modal --version` prints it)")

/* Accepts path ".py::" identifier. */
const struct complaint *
grammar_member(struct load *l, const char *s)
{
	if (!str_matches(s, "^[^:]+[.]py::[A-Za-z_][A-Za-z0-9_]*$"))
		return complain_that(l, E_NAME, s, "does not name an object of a file",
				     "write FILE.py::NAME");
	return grammar_path(l, arena_copy(l->a, s, (size_t)(strstr(s, "::") - s)));
}

/* Accepts digits [ "." digits ], above 0. */
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
	const struct names *builders = &facts_modal(l->f)->builders;

	return names_have(builders, s) ?
		       NULL :
		       complain_words(l, E_MODAL, s, "is not an image builder", *builders);
}

/* Accepts one word. */
static const struct complaint *
only(struct load *l, const char *s, const char *word, const char *wrong)
{
	return !strcmp(s, word) ?
		       NULL :
		       complain_words(l, E_WORD, s, wrong, (struct names){ &word, 1, 0 });
}

const struct complaint *
grammar_build(struct load *l, const char *s)
{
	return only(l, s, "heavy", "is not a way to build");
}

const struct complaint *
grammar_launcher(struct load *l, const char *s)
{
	return only(l, s, "torchrun", "is not a launcher");
}

/* Accepts name [ ":" count ]. */
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
		c = complain_words(l, E_MODAL, name, "", names);
		c->what = arena_printf(l->a, "Modal has no GPU %s", shown(l->a, name));
		if (c->fix && colon)
			c->fix = arena_printf(l->a, "%s%s", c->fix, colon);
		c->source = n ? all[0].source : NULL;
		return c;
	}
	if (colon && (!is_count(colon + 1, &count) || !count))
		return complain_that(l, E_NUMBER, colon + 1, "is not a number of GPUs",
				     "write for example H100:2");
	if (gpu->count_max && count > gpu->count_max) {
		c = complain(l, E_MODAL, NULL, "%lu of %s; Modal provides at most %u", count,
			     gpu->name, gpu->count_max);
		c->source = gpu->source;
		c->fix = arena_printf(l->a, "%s:%u", gpu->name, gpu->count_max);
		c->help = arena_printf(l->a, "use at most %s", c->fix);
		return c;
	}
	return NULL;
}
