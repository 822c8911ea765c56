#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "cuda/cuda.h"
#include "docker.h"

/*
 * Reads a Dockerfile into items: those of the last stage, of its base stages and of the stages that
 * it copies from.
 */

struct init_item *
docker_item(struct docker *d, const struct word *w, const char *what)
{
	return item_open(d->rd, what ? what : w->s, docker_span(d, w->p, w->n));
}

static struct init_item *
instruction_item(struct docker *d, const struct instruction *in)
{
	const struct word w = { .p = in->p, .n = strlen(in->name) };
	const char *what = docker_origin_what(d, in->p);

	return docker_item(d, &w, what ? what : docker_shown(d, in->p, strlen(in->p)));
}

/* --- stages --- */

const struct stage *
docker_root(const struct docker *d, const struct stage *s)
{
	while (s->parent >= 0)
		s = &d->stages.at[s->parent];
	return s;
}

/* Reads "[--platform=...] image [AS name]". */
static void
read_from(struct docker *d, const struct instruction *in, const struct command *c, size_t first)
{
	struct stage s = { .name = "", .image = "", .first = first, .end = first, .parent = -1 };

	if (c->n) {
		s.image = c->at[0].s;
		s.unknown = c->at[0].unknown;
		s.at = docker_span(d, c->at[0].p, c->at[0].n);
	}
	if (c->n > 2 && !strcasecmp(c->at[1].s, "AS"))
		s.name = c->at[2].s;
	for (size_t i = 0; i < d->stages.n; i++)
		if (*s.image && !strcasecmp(d->stages.at[i].name, s.image))
			s.parent = (int)i;
	s.item = instruction_item(d, in);
	for (size_t i = 0; i < in->flags.n; i++)
		item_leave(d->rd, item_open(d->rd, in->flags.at[i], s.at),
			   "`platform` names the one of a recipe");
	list_push(d->rd->a, &d->stages, s);
}

static void
find_stages(struct docker *d)
{
	struct command c = { 0 };

	for (size_t i = 0; i < d->all.n && !d->rd->ds->errors; i++) {
		const struct instruction *in = &d->all.at[i];
		const char *p = in->args;
		bool from = !strcmp(in->name, "FROM");

		if (!from && d->stages.n) {
			d->stages.at[d->stages.n - 1].end = i + 1;
			continue;
		}
		docker_words(d, &p, FORM_WORDS, &c);
		if (from)
			read_from(d, in, &c, i + 1);
		else if (!strcmp(in->name, "ARG"))
			docker_arg(d, instruction_item(d, in), &c);
		else
			item_unread(d->rd, instruction_item(d, in), NULL, "it is before FROM");
	}
}

/* Returns the stage that a flag names, "--from=NAME", "--from=0" or "--mount=type=bind,from=NAME";
 * *from: the flag exists. */
static struct stage *
stage_of(struct docker *d, const struct instruction *in, bool *from)
{
	*from = false;
	for (size_t i = 0; i < in->flags.n && !*from; i++) {
		const char *at = strstr(in->flags.at[i], "from="), *name;
		char *end;

		if (!at || !strchr("-,", at[-1]))
			continue;
		*from = true;
		name = arena_copy(d->rd->a, at + 5, strcspn(at + 5, ","));
		for (size_t k = 0; k < d->stages.n; k++)
			if (*name && (!strcasecmp(d->stages.at[k].name, name) ||
				      (strtoul(name, &end, 10) == k && !*end)))
				return &d->stages.at[k];
	}
	return NULL;
}

/* --- other instructions --- */

/* Handles COPY; a requirements file is decided at the end. */
static void
take_copy(struct docker *d, struct init_item *item, const struct command *c)
{
	bool from;

	item->at = docker_span(d, c->at[0].p, c->at[0].n);
	if (stage_of(d, d->in, &from))
		item_take(d->rd, item, "runtime.base", NULL);
	else if (from && str_matches(c->at[0].s, "^/(usr/local/bin/|bin/)?uvx?$"))
		item_leave(d->rd, item, "builds from the recipe do not need uv");
	else
		docker_take_copy(d, item, c, from);
}

/* Decides a COPY of a file of requirements, which a command installs. */
static void
decide_copy(struct docker *d, struct init_item *item)
{
	const char *app = init_value(d->rd, "app.requirements");

	if (names_have(&d->read, item->name))
		item_take(d->rd, item, "packages", NULL);
	else if (app && !strcmp(app, item->name))
		item_take(d->rd, item, "app.requirements", NULL);
}

/* Returns whether a COPY only brings files that commands install, which init read. */
static bool
brings_file(const struct docker *d, const struct copied *x)
{
	size_t n = strlen(x->source);

	return list_any(f, &d->files,
			!strcmp(*f, x->source) ||
				(x->item->fate == INIT_LEFT &&
				 (!strcmp(x->source, ".") ||
				  (!strncmp(*f, x->source, n) && (*f)[n] == '/'))));
}

void
docker_decide(struct docker *d, size_t from)
{
	list_each (x, &d->clones)
		for (size_t k = 0; k < x->items.n; k++)
			if (x->by && x->by->fate != INIT_LEFT)
				item_take(d->rd, x->items.at[k], "extensions", NULL);
			else
				item_leave(
					d->rd, x->items.at[k],
					x->by ? "the command that installs the clone was omitted" :
						"init finds no command that installs the clone");
	list_each (x, &d->copied)
		if (brings_file(d, x))
			item_take(d->rd, x->item, "packages", NULL);
	list_each (x, &d->settings)
		if (x->item->fate == INIT_OPEN)
			item_leave(d->rd, x->item, "no extension is built after it");
	for (size_t i = from; i < d->rd->items.n; i++) {
		struct init_item *item = d->rd->items.at[i];
		struct variable *v = NULL;

		if (item->fate == INIT_OPEN && item->name)
			v = map_get(&d->vars, item->name);
		if (v && v->used)
			item->fate = INIT_PARTS;
		else if (item->fate == INIT_OPEN && item->name && item->kind == INIT_OTHER)
			item_leave(d->rd, item, "no instruction that init reads uses it");
		if (item->fate == INIT_OPEN && item->kind == INIT_COPY && item->name)
			decide_copy(d, item);
	}
}

static void
take_instruction(struct docker *d, const struct instruction *in)
{
	struct init_item *item = instruction_item(d, in);
	const char *p = in->args;
	struct command c = { 0 };

	d->in = in;
	if (!docker_words(d, &p, docker_form(in, FORM_WORDS), &c) &&
	    (!in->bodies.n || strcmp(in->name, "RUN") != 0))
		item_leave(d->rd, item, "it has no arguments");
	else if (!strcmp(in->name, "RUN"))
		docker_commands(d, item);
	else if (!strcmp(in->name, "ENV"))
		docker_env(d, item, &c);
	else if (!strcmp(in->name, "ARG"))
		docker_arg(d, item, &c);
	else if (among(in->name, "COPY ADD"))
		take_copy(d, item, &c);
	else if (among(in->name, "CMD ENTRYPOINT USER WORKDIR"))
		docker_last(d, item, &c);
	else if (among(in->name, "LABEL EXPOSE VOLUME SHELL STOPSIGNAL HEALTHCHECK ONBUILD "
				 "MAINTAINER"))
		item_leave(d->rd, item, "a recipe has no key for it");
	else
		item_unread(d->rd, item, NULL, "`%s` is not an instruction", in->name);
	if (c.n && !strcmp(in->name, "WORKDIR"))
		d->stages.at[d->stage - d->stages.at].dir = d->dir =
			fs_clean(d->rd->a, fs_join(d->rd->a, d->dir, c.at[0].s));
}

/* Reads a stage: first the stages that it copies from, then its base stage, then its own lines. */
static void
walk(struct docker *d, struct stage *s)
{
	bool from;

	if (s->seen)
		return;
	s->seen = true;
	for (size_t k = s->first; k < s->end; k++) {
		struct stage *other = stage_of(d, &d->all.at[k], &from);

		if (other && other < s)
			walk(d, other);
	}
	if (s->parent >= 0)
		walk(d, &d->stages.at[s->parent]);
	d->stage = s;
	s->dir = s->parent >= 0 ? d->stages.at[s->parent].dir : "/";
	for (size_t k = s->first; k < s->end && !d->rd->ds->errors; k++) {
		d->dir = s->dir;
		take_instruction(d, &d->all.at[k]);
	}
}

bool
docker_items(struct docker *d, size_t from)
{
	struct init *rd = d->rd;
	unsigned before = rd->ds->errors;

	docker_read(d);
	find_stages(d);
	if (rd->ds->errors != before)
		return false;
	if (!d->stages.n) {
		diag_at(rd->ds, E_INIT_INPUT, (struct span){ .src = d->src },
			"a Dockerfile without FROM");
		return false;
	}
	for (int i = (int)d->stages.n - 1; i >= 0; i = d->stages.at[i].parent)
		d->stages.at[i].last = true;
	walk(d, &d->stages.at[d->stages.n - 1]);
	if (rd->ds->errors != before)
		return false;
	docker_images(d);
	docker_decide(d, from);
	docker_finish_app(d, from);
	return true;
}

bool
init_dockerfile(struct init *rd, const struct source *src, const struct names *read)
{
	struct docker d = { .rd = rd, .src = src, .escape = '\\', .vars = MAP(rd->a) };
	unsigned before = rd->ds->errors;
	size_t from = rd->items.n;

	for (size_t i = 0; i < read->n; i++)
		list_push(rd->a, &d.read, fs_name(read->at[i]));
	if (!docker_items(&d, from))
		return false;
	items_report(rd, from);
	if (rd->ds->errors == before)
		docker_check(&d, from);
	return rd->ds->errors == before;
}
