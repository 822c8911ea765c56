/* Recipe files that a command edits. */
#include "edited.h"

#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "lock/lock.h"

static const char *
real_path(struct arena *a, const char *path)
{
	return strcmp(path, "-") != 0 ? fs_real(a, path) : path;
}

static struct edited_file *
file_at(struct edited *e, struct arena *a, struct diags *ds, const char *path, struct span at)
{
	const char *real = real_path(a, path);
	struct edited_file *file;
	const struct source *src;

	for (size_t i = 0; i < e->files.n; i++)
		if (!strcmp(e->files.at[i]->real, real))
			return e->files.at[i];
	if (!(src = fs_read(a, ds, path, FS_READ_MAX, at)))
		return NULL;
	file = arena_new_of(a, struct edited_file);
	*file = (struct edited_file){ src->path, real, src, .report = BUF(a) };
	file->now = (struct fix_file){ NULL, src->text, src->size };
	for (size_t i = 0; i < EDITED_ROUNDS_MAX; i++)
		file->rounds[i] = (struct edited_moment){ src->text, src->size, 0 };
	for (size_t i = 0; i < e->r->o->args.n; i++)
		file->named |= !strcmp(real_path(a, e->r->o->args.at[i]), real);
	list_push(a, &e->files, file);
	return file;
}

const struct source *
edited_open(void *ctx, struct arena *a, struct diags *ds, const char *path, struct span at)
{
	struct edited_file *file = file_at(ctx, a, ds, path, at);
	struct source *src;

	if (!file || file->now.src)
		return file ? file->now.src : NULL;
	src = arena_new_of(a, struct source);
	*src = (struct source){ file->path, file->now.text, file->now.size };
	return file->now.src = src;
}

void
edited_reread(struct edited *e)
{
	for (size_t i = 0; i < e->files.n; i++)
		e->files.at[i]->now.src = NULL;
}

struct fix_files
edited_sources(const struct edited *e)
{
	struct fix_files sources = { 0 };

	for (size_t i = 0; i < e->files.n; i++)
		if (e->files.at[i]->now.src)
			list_push(e->r->a, &sources, e->files.at[i]->now);
	return sources;
}

void
edited_take(struct edited *e, const struct fix_files *sources)
{
	for (size_t i = 0, k = 0; i < e->files.n; i++)
		if (e->files.at[i]->now.src)
			e->files.at[i]->now = sources->at[k++];
}

bool
edited_holds(const struct edited_file *file, const char *text, size_t size)
{
	return file->now.size == size && !memcmp(file->now.text, text, size);
}

const char *
edited_apply(struct edited *e, struct edit *edits)
{
	struct fix_files sources = edited_sources(e);
	const char *why = fix_apply(e->r->a, edits, &sources);

	if (!why)
		edited_take(e, &sources);
	edited_reread(e);
	return why;
}

void
edited_restore(struct edited *e)
{
	for (size_t i = 0; i < e->files.n; i++) {
		const struct source *was = e->files.at[i]->on_disk;

		e->files.at[i]->now = (struct fix_file){ NULL, was->text, was->size };
	}
}

void
edited_diff(struct run *r, const struct edited *e)
{
	bool colour = option_colour(r->o, STDOUT_FILENO);

	for (size_t i = 0; i < e->files.n; i++) {
		const struct edited_file *file = e->files.at[i];
		struct buf diff = BUF(r->a);

		fix_diff(file->path, file->on_disk->text, file->on_disk->size, file->now.text,
			 file->now.size, colour ? &diff : &r->out);
		diff_colour(buf_text(&diff), &r->out);
	}
}

/* Writes one file if it was changed, and reports its changes. */
static void
write_file(struct run *r, struct edited_file *file)
{
	const struct source *was = file->on_disk;
	struct source *written = arena_new_of(r->a, struct source);

	*written = (struct source){ file->path, file->now.text, file->now.size };
	if (!strcmp(file->real, "-") || edited_holds(file, was->text, was->size))
		return;
	if (fs_replace(&r->ds, file->path, was->text, was->size, written->text, written->size)) {
		file->on_disk = written;
		buf_add(&r->out, buf_text(&file->report), file->report.n);
		if (!file->named)
			buf_printf(&r->out,
				   "  %s was not named on the command line; a recipe there extends "
				   "it\n",
				   file->path);
	} else {
		file->now = (struct fix_file){ NULL, was->text, was->size };
	}
	file->report.n = 0;
}

void
edited_write(struct edited *e)
{
	for (size_t i = 0; i < e->files.n; i++)
		write_file(e->r, e->files.at[i]);
}

void
edited_lock(const struct edited *e, const struct recipe *r)
{
	const struct options *o = e->r->o;
	const char *path = lock_path(e->r->a, r);

	if (strcmp(r->path, "-") != 0 && fs_exists(path))
		buf_printf(&e->r->out, "%s %s stale: renew it with `stackbuild lock %s`\n", path,
			   o->write || (o->verb == VERB_add && !o->dry_run) ? "is" : "becomes",
			   recipe_words(e->r->a, o, r->path, NULL));
}
