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

/* --- ARG, ENV and the settings of commands --- */

static void
set_variable(struct docker *d, const char *name, const char *value)
{
	struct variable *v = arena_new_of(d->rd->a, struct variable);

	v->value = value;
	map_put(&d->vars, name, v);
}

/* Adds an item for each value of "7.0 8.6+PTX", which may have semicolons. */
static void
take_architectures(struct docker *d, struct init_item *item, const char *value)
{
	struct init *rd = d->rd;
	struct span at = item->at;

	item->fate = INIT_PARTS;
	for (const char *p = value + strspn(value, " ;,"); *p; p += strspn(p, " ;,")) {
		const char *text = arena_copy(rd->a, p, strcspn(p, " ;,"));
		struct init_item *part = item_open(rd, text, at);
		struct capability c;

		p += strlen(text);
		if (!capability_parse(text, &c)) {
			item_leave(rd, part, "it is not a compute capability");
			continue;
		}
		if (c.ptx)
			item_changed(rd, at, "`%s` became `gpus` without PTX", text);
		c.ptx = false;
		text = capability_text(rd->a, &c);
		if (facts_cc(rd->f, text))
			item_take(rd, part, "gpus", text);
		else
			item_leave(rd, part,
				   "the knowledge base does not list this compute capability");
	}
}

static void
take_setting(struct docker *d, struct init_item *item, const char *name, const char *value,
	     bool unknown, bool inlined)
{
	struct init *rd = d->rd;
	const char *why;
	/* The plan sets these variables itself, or they only affect the build of the old file. */
	bool own = among(name, "PATH LD_LIBRARY_PATH LIBRARY_PATH CPATH CUDA_HOME CUDA_PATH "
			       "MAX_JOBS FORCE_CUDA DEBIAN_FRONTEND CONDA_DIR TORCH_NVCC_FLAGS "
			       "VIRTUAL_ENV") ||
		   str_matches(name, "^(PIP|UV|NVIDIA)_|_FORCE_BUILD|_(SKIP|KEEP)_CUDA_BUILD");

	if (!unknown)
		set_variable(d, name, value);
	item->name = name;
	if (strstr(name, "_FORCE_BUILD") && strcmp(value, "TRUE") != 0)
		diag_help(diag_at(rd->ds, W_INIT_ORDER, item->at,
				  "`%s=%s` does not force a compile", name, value),
			  "only TRUE has an effect; builds from the recipe set it");
	why = own     ? "builds from the recipe set it where it is needed" :
	      unknown ? "its variables have no value here" :
	      inlined ? "it is set for one command; `extensions` have an `env` of their own" :
			NULL;
	if (!strcmp(name, "TORCH_CUDA_ARCH_LIST") && !unknown)
		take_architectures(d, item, value);
	else if (why)
		item_leave(rd, item, "%s", why);
	else
		item_take(rd, item, "env", value);
}

void
docker_setting(struct docker *d, const struct word *w, bool inlined)
{
	const char *name = arena_copy(d->rd->a, w->s, strcspn(w->s, "="));

	take_setting(d, docker_item(d, w, name), name,
		     w->s + strlen(name) + (w->s[strlen(name)] == '='), w->unknown, inlined);
}

/* Reads "A=b C=d", or the old form "A b c". */
static void
take_env(struct docker *d, struct init_item *item, const struct command *c)
{
	bool old = !strchr(c->at[0].s, '='), unknown = false;
	const char *value = "";

	item->fate = INIT_PARTS;
	for (size_t k = old; k < c->n; k++)
		if (old) {
			value = arena_printf(d->rd->a, "%s%s%s", value, k > 1 ? " " : "",
					     c->at[k].s);
			unknown |= c->at[k].unknown;
		} else {
			docker_setting(d, &c->at[k], false);
		}
	if (old)
		take_setting(d, item, c->at[0].s, value, unknown, false);
}

/* Reads "NAME=value"; without a value, takes the one before FROM, if any. */
static void
take_arg(struct docker *d, struct init_item *item, const struct command *c)
{
	for (size_t k = 0; k < c->n; k++) {
		const struct word *w = &c->at[k];
		const char *name = arena_copy(d->rd->a, w->s, strcspn(w->s, "="));
		struct init_item *part = k ? docker_item(d, w, name) : item;

		if (w->s[strlen(name)] && !w->unknown)
			set_variable(d, name, w->s + strlen(name) + 1);
		/* A variable that nothing uses is omitted at the end. */
		part->name = name;
		if (!map_get(&d->vars, name))
			item_leave(d->rd, part, "it has no value here");
	}
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
			take_arg(d, instruction_item(d, in), &c);
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
	for (size_t i = from; i < d->rd->items.n; i++) {
		struct init_item *item = d->rd->items.at[i];
		struct variable *v = NULL;

		if (item->fate == INIT_OPEN && item->name)
			v = map_get(&d->vars, item->name);
		if (v && v->used)
			item->fate = INIT_PARTS;
		else if (v)
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
		take_env(d, item, &c);
	else if (!strcmp(in->name, "ARG"))
		take_arg(d, item, &c);
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
