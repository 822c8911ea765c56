#include <stdlib.h>
#include <string.h>

#include "docker.h"

/*
 * A Dockerfile as items: those of the last stage, of the stages that it stands on and of those that it
 * copies from.
 */

const char *
path_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool
among(const char *s, const char *list)
{
	size_t n = strlen(s);

	for (const char *p = list; n && (p = strstr(p, s)); p += n)
		if ((p == list || p[-1] == ' ') && (!p[n] || p[n] == ' '))
			return true;
	return false;
}

size_t
docker_item(struct docker *d, const struct word *w, const char *what)
{
	return item_open(&d->rd, what ? what : w->s, docker_span(d, w->p, w->n));
}

static size_t
instruction_item(struct docker *d, const struct instruction *in)
{
	return item_open(&d->rd, docker_shown(d, in->p, strlen(in->p)),
			 docker_span(d, in->p, strlen(in->name)));
}

/* --- stages --- */

const struct stage *
docker_root(const struct docker *d, const struct stage *s)
{
	while (s->parent >= 0)
		s = &d->stages.at[s->parent];
	return s;
}

/* "[--platform=...] image [AS name]" */
static void
read_from(struct docker *d, const struct instruction *in, const struct command *c, size_t first)
{
	struct stage s = { .name = "", .image = "", .first = first, .parent = -1 };

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
		item_leave(&d->rd, item_open(&d->rd, in->flags.at[i], s.at),
			   "`platform` names the one of a recipe");
	list_push(d->rd.a, &d->stages, s);
}

static void
find_stages(struct docker *d)
{
	struct command c = { 0 };

	for (size_t i = 0; i < d->all.n && !d->rd.ds->errors; i++) {
		const struct instruction *in = &d->all.at[i];
		const char *p = in->args;
		bool from = !strcmp(in->name, "FROM");

		if (from || !d->stages.n)
			docker_words(d, &p, FORM_WORDS, &c);
		if (from)
			read_from(d, in, &c, i + 1);
		else if (!d->stages.n && !strcmp(in->name, "ARG"))
			docker_arg(d, instruction_item(d, in), &c);
		else if (!d->stages.n)
			item_unread(&d->rd, instruction_item(d, in), NULL, "it stands before FROM");
		if (d->stages.n)
			d->stages.at[d->stages.n - 1].end = i + 1;
	}
}

/* The stage that a flag names, "--from=NAME", "--from=0" or "--mount=type=bind,from=NAME"; *from: there
 * is such a flag. */
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
		name = arena_copy(d->rd.a, at + 5, strcspn(at + 5, ","));
		for (size_t k = 0; k < d->stages.n; k++)
			if (*name && (!strcasecmp(d->stages.at[k].name, name) ||
				      (strtoul(name, &end, 10) == k && !*end)))
				return &d->stages.at[k];
	}
	return NULL;
}

/* "2.4.1-cuda12.1-cudnn9-devel": what pytorch/pytorch's tags say. */
static bool
take_pytorch(struct docker *d, const struct stage *s, const struct image_name *name)
{
	const char *cuda = name->tag ? strstr(name->tag, "cuda") : NULL, *torch;
	struct init_item *before = init_get(d->rd.n, "torch.version");

	if (!name->repository || !strstr(name->repository, "pytorch/pytorch") || !cuda)
		return false;
	cuda = arena_copy(d->rd.a, cuda + 4, strspn(cuda + 4, "0123456789."));
	torch = arena_copy(d->rd.a, name->tag, strcspn(name->tag, "-"));
	item_take(&d->rd, s->item, "torch.version", before && before->pinned ? NULL : torch);
	item_set(&d->rd, s->image, s->at, "cuda", cuda);
	item_changed(
		&d->rd, s->at,
		"`%s` became torch %s on a plain image with CUDA %s: its Python and torch belong "
		"to conda, and pip must not change them",
		s->image, torch, cuda);
	return d->has_torch = true;
}

/* A runtime image has no nvcc; its devel twin has. */
static void
take_base(struct docker *d, const struct stage *s)
{
	struct image_name name = facts_image_name(d->rd.f, d->rd.a, s->image);
	bool moves = !name.digest && (!name.tag || !strcmp(name.tag, "latest"));
	const char *at, *value = s->image;

	if (moves)
		diag_help(diag_at(d->rd.ds, W_INIT_MOVES, s->at, "`%s` changes without notice",
				  s->image),
			  "name a full tag; without one the recipe gets a compatible image");
	if (take_pytorch(d, s, &name))
		return;
	if (moves) {
		item_leave(&d->rd, s->item, "an image without a full tag changes");
		return;
	}
	at = name.cuda && name.flavour && strcmp(name.flavour, "devel") != 0 && !name.digest ?
		     strstr(s->image, name.flavour) :
		     NULL;
	if (at) {
		value = arena_printf(d->rd.a, "%.*sdevel%s", (int)(at - s->image), s->image,
				     at + strlen(name.flavour));
		item_changed(&d->rd, s->at, "`%s` became its devel image: `%s` has no nvcc",
			     s->image, name.flavour);
	}
	item_take(&d->rd, s->item, "base", value);
}

static void
take_images(struct docker *d)
{
	const struct stage *last = docker_root(d, &d->stages.at[d->stages.n - 1]);

	d->root = d->root ? d->root : last;
	for (size_t i = 0; i < d->stages.n; i++) {
		const struct stage *s = &d->stages.at[i];

		if (!s->seen)
			item_leave(&d->rd, s->item, "the last stage does not use this stage");
		else if (s->parent >= 0)
			item_take(&d->rd, s->item, "base", NULL);
		else if (s != d->root && s != last)
			item_leave(&d->rd, s->item, "a recipe has one base image");
		else if (s->unknown || !*s->image || !strcmp(s->image, "scratch"))
			item_unread(&d->rd, s->item, "name it with --base",
				    "init does not know this image");
		else if (s == d->root)
			take_base(d, s);
		else
			item_take(&d->rd, s->item, "runtime.base", s->image);
	}
}

/* --- other instructions --- */

/* A file of requirements is decided at the end. */
static void
take_copy(struct docker *d, size_t i, const struct instruction *in, const struct command *c)
{
	struct init_item *item = item_at(&d->rd, i);
	bool from;

	item->at = docker_span(d, c->at[0].p, c->at[0].n);
	if (stage_of(d, in, &from)) {
		item_take(&d->rd, i, "runtime.base", NULL);
		return;
	}
	item->kind = from ? INIT_OTHER : INIT_COPY;
	for (size_t k = 0; k + 1 < c->n; k++)
		item->wide |= among(c->at[k].s, ". ./") || strpbrk(c->at[k].s, "*?[");
	if (from || in->bodies.n)
		item_leave(&d->rd, i, "init does not read other images and inline files");
	else if (c->n == 2 && strstr(c->at[0].s, "requirements"))
		item->name = path_name(c->at[0].s);
	else
		item_leave(&d->rd, i, "`app: {copy: [...]}` holds the files of the application");
	d->rd.n->app_unsure |= item->fate == INIT_LEFT && item->kind == INIT_COPY;
}

/* Only the last of its kind in the last stage counts; take_lasts decides it. */
static void
take_last(struct docker *d, size_t i, const struct instruction *in, struct last *slot)
{
	if (!d->stage->last) {
		item_leave(&d->rd, i, "only the one of the last stage counts");
		return;
	}
	if (slot->in)
		item_leave(&d->rd, slot->item, "a later %s replaces it", in->name);
	*slot = (struct last){ in, i };
}

static void
take_command(struct docker *d, const struct last *l, bool ignored)
{
	enum docker_form form = l->in ? docker_form(l->in) : FORM_ARRAY;
	const char *p = l->in ? l->in->args : "";
	struct command c = { 0 }, more = { 0 };
	struct span at;

	if (!l->in)
		return;
	if (ignored || !docker_words(d, &p, form == FORM_ARRAY ? form : FORM_SHELL, &c)) {
		item_leave(&d->rd, l->item,
			   ignored ? "ENTRYPOINT in shell form ignores it" : "it runs nothing");
		return;
	}
	at = item_at(&d->rd, l->item)->at;
	item_at(&d->rd, l->item)->fate = INIT_PARTS;
	if (form != FORM_ARRAY &&
	    (strchr(l->in->args, '$') || docker_words(d, &p, FORM_SHELL, &more))) {
		item_set(&d->rd, "sh", at, "app.command", "/bin/sh");
		item_set(&d->rd, "-c", at, "app.command", "-c");
		p = docker_shown(d, l->in->args, strlen(l->in->args));
		item_set(&d->rd, p, at, "app.command", p);
		return;
	}
	for (size_t k = 0; k < c.n; k++)
		item_take(&d->rd, docker_item(d, &c.at[k], NULL), "app.command", c.at[k].s);
}

static void
take_lasts(struct docker *d)
{
	const char *p = d->user.in ? d->user.in->args : "", *name;
	struct command c = { 0 };

	take_command(d, &d->entrypoint, false);
	take_command(d, &d->cmd, d->entrypoint.in && docker_form(d->entrypoint.in) != FORM_ARRAY);
	if (!d->user.in)
		return;
	docker_words(d, &p, FORM_WORDS, &c);
	name = arena_copy(d->rd.a, c.at[0].s, strcspn(c.at[0].s, ":"));
	if (among(name, "root 0"))
		item_leave(&d->rd, d->user.item, "an image without `user` belongs to root");
	else if (c.at[0].unknown || is_digit(*name))
		item_leave(&d->rd, d->user.item, "`user` takes the name of a user");
	else
		item_take(&d->rd, d->user.item, "user", name);
}

/* Items that depend on the whole file. */
static void
finish(struct docker *d, size_t from)
{
	const char *app = init_value(d->rd.n, "app.requirements");

	take_images(d);
	take_lasts(d);
	for (size_t i = 0; i < d->clones.n; i++)
		for (size_t k = 0; k < d->clones.at[i].items.n; k++)
			if (d->clones.at[i].installed)
				item_take(&d->rd, d->clones.at[i].items.at[k], "extensions", NULL);
			else
				item_leave(&d->rd, d->clones.at[i].items.at[k],
					   "init finds no command that installs the clone");
	for (size_t i = from; i < d->rd.n->items.n; i++) {
		struct init_item *item = item_at(&d->rd, i);
		const struct variable *v = item->fate == INIT_OPEN && item->name ?
						   map_get(&d->vars, item->name) :
						   NULL;
		bool read = false;

		if (v && v->used)
			item->fate = INIT_PARTS;
		else if (v)
			item_leave(&d->rd, i, "nothing that init reads uses it");
		if (item->fate != INIT_OPEN || item->kind != INIT_COPY)
			continue;
		for (size_t k = 0; k < d->read->n; k++)
			read |= !strcmp(path_name(d->read->at[k]), item->name);
		if (read || (app && !strcmp(app, item->name)))
			item_take(&d->rd, i, read ? "packages" : "app.requirements", NULL);
		else
			item_leave(&d->rd, i, "init finds no command that installs it");
	}
}

static void
take_instruction(struct docker *d, const struct instruction *in)
{
	size_t i = instruction_item(d, in);
	const char *p = in->args;
	struct command c = { 0 };

	d->in = in;
	if (!docker_words(d, &p, docker_form(in), &c) && !in->bodies.n)
		item_leave(&d->rd, i, "it has no arguments");
	else if (!strcmp(in->name, "RUN"))
		docker_run(d, i);
	else if (!strcmp(in->name, "ENV"))
		docker_env(d, i, &c);
	else if (!strcmp(in->name, "ARG"))
		docker_arg(d, i, &c);
	else if (among(in->name, "COPY ADD"))
		take_copy(d, i, in, &c);
	else if (among(in->name, "CMD ENTRYPOINT USER"))
		take_last(d, i, in,
			  *in->name == 'C' ? &d->cmd :
			  *in->name == 'E' ? &d->entrypoint :
					     &d->user);
	else if (among(in->name, "LABEL EXPOSE VOLUME SHELL STOPSIGNAL HEALTHCHECK ONBUILD "
				 "MAINTAINER WORKDIR"))
		item_leave(&d->rd, i, "a recipe has no key for it");
	else
		item_unread(&d->rd, i, NULL, "`%s` is not an instruction", in->name);
	if (c.n && !strcmp(in->name, "WORKDIR"))
		d->dir = c.at[0].s;
}

/* The stages that it copies from, then what it stands on, then its own lines. */
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
	d->dir = NULL;
	for (size_t k = s->first; k < s->end && !d->rd.ds->errors; k++)
		take_instruction(d, &d->all.at[k]);
}

bool
init_dockerfile(struct arena *a, struct diags *ds, const struct facts *f, const struct source *src,
		const struct names *read, struct init *n)
{
	struct docker d = { .rd = { a, ds, f, n }, .src = src, .read = read, .escape = '\\' };
	size_t from = n->items.n;
	unsigned before = ds->errors;

	d.vars = MAP(a);
	docker_read(&d);
	find_stages(&d);
	if (!d.stages.n && ds->errors == before)
		diag_at(ds, E_INIT_INPUT, (struct span){ .src = src }, "a Dockerfile without FROM");
	if (ds->errors != before)
		return false;
	for (int i = (int)d.stages.n - 1; i >= 0; i = d.stages.at[i].parent)
		d.stages.at[i].last = true;
	walk(&d, &d.stages.at[d.stages.n - 1]);
	if (ds->errors != before)
		return false;
	finish(&d, from);
	items_report(&d.rd, from);
	if (ds->errors == before)
		docker_check(&d, from);
	return ds->errors == before;
}
