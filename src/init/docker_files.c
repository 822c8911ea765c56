#include <string.h>

#include "base/fs.h"
#include "docker.h"

/* Files of the project that commands install, and commands outside a Dockerfile. */

static void
read_file(struct init *rd, const struct source *src)
{
	if (init_is_toml(rd, src))
		read_project(rd, src);
	else if (init_is_yaml(rd, src))
		read_environment(rd, src);
	else
		read_requirements(rd, src);
}

/* Returns whether init can read a file: a pyproject.toml may have only settings of tools. */
static bool
is_readable(const struct init *rd, const struct source *src)
{
	struct diags quiet;
	struct init copy = init_copy(rd, &quiet);

	quiet = DIAGS(quiet, rd->a);
	src = *init_first_line(&copy, src) ? init_text(&copy, src) : NULL;
	if (src)
		read_file(&copy, src);
	return src && !quiet.errors;
}

bool
docker_project_file(struct docker *d, struct init_item *item, const char *path)
{
	struct init *rd = d->rd;
	const char *in = docker_source(d, path), *there;
	const struct source *src;
	unsigned before = rd->ds->errors;

	if (!in || !rd->open || !strcmp(d->src->path, "-") || starts_with(in, ".."))
		return false;
	there = fs_clean(rd->a, fs_join(rd->a, fs_dir(rd->a, d->src->path), in));
	if (names_have(&rd->read, there)) {
		item_take(rd, item, "packages", NULL);
		return true;
	}
	src = rd->open(rd, there, item->at);
	if (!src || !is_readable(rd, src))
		return rd->ds->errors != before;
	list_push(rd->a, &rd->read, there);
	list_push(rd->a, &d->files, in);
	item->fate = INIT_PARTS;
	read_file(rd, init_text(rd, src));
	d->unseen = true;
	if (!d->root)
		d->root = docker_root(d, d->stage);
	return true;
}

/* --- commands outside a Dockerfile --- */

/* Makes the one stage of a text without images, which is read like a RUN. */
static void
begin(struct docker *d, struct instruction *in)
{
	struct stage stage = { .name = "", .image = "", .parent = -1, .last = true, .dir = "." };

	list_push(d->rd->a, &d->stages, stage);
	d->stage = d->stages.at;
	d->dir = ".";
	d->in = in;
	d->unseen = true;
}

void
read_script(struct init *rd, const struct source *src)
{
	struct docker d = { .rd = rd, .src = src, .escape = '\\', .vars = MAP(rd->a) };
	struct instruction in = { .name = "RUN", .args = docker_copy_text(&d) };
	size_t from = rd->items.n;
	struct span at = { .src = src, .line = 1, .col = 1 };

	in.args += strcspn(in.args, "\n");
	in.p = in.args;
	begin(&d, &in);
	docker_commands(&d, item_open(rd, fs_name(src->path), at));
	docker_decide(&d, from);
}

void
read_commands(struct init *rd, struct init_item *item, const char *text)
{
	struct docker d = { .rd = rd, .src = item->at.src, .escape = '\\', .vars = MAP(rd->a) };
	struct instruction in = { .name = "RUN", .args = arena_strdup(rd->a, text) };
	size_t from = rd->items.n;

	in.p = d.text = in.args;
	d.fixed = item->at;
	begin(&d, &in);
	docker_commands(&d, item);
	docker_decide(&d, from);
}
