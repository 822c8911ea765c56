#include "make.h"

/* Commands as data. */

void
plan_word(const struct maker *m, struct command *c, const char *s)
{
	list_push(m->a, &c->argv, (struct word){ s, false });
}

void
plan_verbatim(const struct maker *m, struct command *c, const char *s)
{
	list_push(m->a, &c->argv, (struct word){ s, true });
}

void
plan_words(const struct maker *m, struct command *c, ...)
{
	const char *s;
	va_list ap;

	va_start(ap, c);
	while ((s = va_arg(ap, const char *)))
		plan_word(m, c, s);
	va_end(ap);
}

struct command
plan_command(const struct maker *m, enum phase phase, const char *comment, ...)
{
	struct command c = { .phase = phase, .comment = comment };
	const char *s;
	va_list ap;

	va_start(ap, comment);
	while ((s = va_arg(ap, const char *)))
		plan_word(m, &c, s);
	va_end(ap);
	return c;
}

void
plan_env(const struct maker *m, struct command *c, const char *name, const char *value,
	 bool verbatim)
{
	list_push(m->a, &c->env, (struct variable){ name, value, verbatim });
}

void
plan_cache(const struct maker *m, struct command *c, const char *id, const char *target,
	   bool locked)
{
	list_push(m->a, &c->mounts, (struct mount){ MOUNT_CACHE, id, target, locked });
}

void
plan_apt_caches(const struct maker *m, struct command *c)
{
	/* One lock keeps two apts apart; of two in one RUN, older podmans give back one. */
	plan_cache(m, c, "apt-lists", "/var/lib/apt", false);
	plan_cache(m, c, "apt", "/var/cache/apt", true);
}

void
plan_pip_cache(const struct maker *m, struct command *c)
{
	plan_cache(m, c, "pip", "/root/.cache/pip", false);
}

void
plan_index(const struct maker *m, struct command *c, const char *url, const char *secret)
{
	const char *file;

	if (url) {
		plan_word(m, c, "--index-url");
		plan_verbatim(m, c, url);
	}
	if (!url || !secret)
		return;
	file = arena_printf(m->a, "/run/secrets/%s", secret);
	list_push(m->a, &c->mounts, (struct mount){ MOUNT_SECRET, secret, file, false });
	plan_env(m, c, "NETRC", file, true);
}

void
plan_push(const struct maker *m, struct step *st, struct command c)
{
	list_push(m->a, &st->commands, c);
}

void
plan_file(const struct maker *m, struct step *st, const char *path, const char *template,
	  const char *text)
{
	list_push(m->a, &st->files, (struct step_file){ path, template, text, false });
}

void
plan_program(const struct maker *m, struct step *st, const char *name)
{
	const char *path = arena_printf(m->a, "{share}/%s", name);

	list_push(m->a, &st->files, (struct step_file){ path, name, NULL, true });
}

void
plan_constraints(const struct maker *m, struct step *st, const struct names *lines)
{
	struct buf b = BUF(m->a);

	for (size_t i = 0; i < lines->n; i++)
		buf_printf(&b, "%s\n", lines->at[i]);
	if (lines->n)
		plan_file(m, st, CONSTRAINTS, NULL, buf_text(&b));
}
