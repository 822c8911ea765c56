/* check --fix: applies mechanical fixes to the recipe files. */
#include <string.h>

#include "base/fix.h"
#include "base/fs.h"
#include "base/report.h"
#include "verbs.h"

enum { ROUNDS_MAX = 20 };

/* The content of a file at the start of a round, and the length of `report` then. */
struct moment {
	const char *text;
	size_t size, report;
};

/* A file that was read, kept in memory until all that can be fixed is. */
struct open_file {
	const char *path, *real;      /* as it is shown; where its links lead */
	const struct source *on_disk; /* what it held when it was read */
	const char *text;             /* what it holds now */
	size_t size;
	struct moment rounds[ROUNDS_MAX];
	struct buf report; /* what was changed, a line each */
	bool named;        /* on the command line */
};

struct open_files LIST(struct open_file *);

/* One recipe being fixed; the files are those of all recipes of the run. */
struct fixing {
	struct run *r;
	struct open_files *files;
	struct fix_files sources; /* of the round: what it was given to read */
	struct open_files owners; /* of the sources */
	struct names skip;        /* fixes that undo each other */
};

static const char *
real_path(struct arena *a, const char *path)
{
	return strcmp(path, "-") != 0 ? fs_real(a, path) : path;
}

static struct open_file *
file_at(struct fixing *f, struct arena *a, struct diags *ds, const char *path, struct span at)
{
	const char *real = real_path(a, path);
	struct open_file *file;
	const struct source *src;

	for (size_t i = 0; i < f->files->n; i++)
		if (!strcmp(f->files->at[i]->real, real))
			return f->files->at[i];
	if (!(src = fs_read(a, ds, path, FS_READ_MAX, at)))
		return NULL;
	file = arena_new_of(a, struct open_file);
	*file = (struct open_file){ .path = src->path,
				    .real = real,
				    .on_disk = src,
				    .text = src->text,
				    .size = src->size,
				    .report = BUF(a) };
	for (size_t i = 0; i < ROUNDS_MAX; i++)
		file->rounds[i] = (struct moment){ src->text, src->size, 0 };
	for (size_t i = 0; i < f->r->o->args.n; i++)
		file->named |= !strcmp(real_path(a, f->r->o->args.at[i]), real);
	list_push(a, f->files, file);
	return file;
}

/* A recipe_open that returns the files as the rounds so far left them. */
static const struct source *
open_now(void *ctx, struct arena *a, struct diags *ds, const char *path, struct span at)
{
	struct fixing *f = ctx;
	struct open_file *file = file_at(f, a, ds, path, at);
	struct source *src;

	if (!file)
		return NULL;
	src = arena_new_of(a, struct source);
	*src = (struct source){ file->path, file->text, file->size };
	list_push(a, &f->sources, (struct fix_file){ src, src->text, src->size });
	list_push(a, &f->owners, file);
	return src;
}

/* Two cells of a matrix have the same fix. */
static bool
reported_before(const struct fixes *fixes, size_t n, const struct edit *e)
{
	for (size_t i = 0; i < n; i++) {
		if (fixes->at[i].state != FIX_DONE)
			continue;
		for (const struct edit *k = fixes->at[i].help->edits; k; k = k->next)
			if (k->at.src == e->at.src && k->at.line == e->at.line &&
			    k->at.col == e->at.col && k->at.width == e->at.width &&
			    !strcmp(k->replacement, e->replacement))
				return true;
	}
	return false;
}

static void
report_fixes(struct fixing *f, const struct fixes *fixes)
{
	for (size_t i = 0; i < fixes->n; i++) {
		if (fixes->at[i].state != FIX_DONE)
			continue;
		for (const struct edit *e = fixes->at[i].help->edits; e; e = e->next)
			for (size_t k = 0; k < f->sources.n; k++)
				if (f->sources.at[k].src == e->at.src &&
				    !reported_before(fixes, i, e))
					fix_print(e, &f->owners.at[k]->report);
	}
}

/* Checks once and applies the fixes to the files; the diagnostics are those before the fixes. */
static struct fixes
one_round(struct fixing *f, const char *path, struct diags *ds, const char **fine)
{
	struct fixes fixes;

	f->sources = (struct fix_files){ 0 };
	f->owners = (struct open_files){ 0 };
	diags_init(ds, f->r->a);
	*fine = check_recipe(f->r, ds, path, open_now, f);
	diags_fold(ds);
	fixes = fix_round(f->r->a, ds, &f->skip, &f->sources);
	return fixes;
}

static bool
any_done(const struct fixes *fixes)
{
	for (size_t i = 0; i < fixes->n; i++)
		if (fixes->at[i].state == FIX_DONE)
			return true;
	return false;
}

static struct names
names_of_done(struct arena *a, const struct fixes *fixes)
{
	struct names names = { 0 };

	for (size_t i = 0; i < fixes->n; i++)
		if (fixes->at[i].state == FIX_DONE)
			list_push(a, &names, fix_name(a, &fixes->at[i]));
	return names;
}

static void
remember(struct fixing *f, size_t round)
{
	for (size_t i = 0; i < f->files->n; i++) {
		struct open_file *file = f->files->at[i];

		file->rounds[round] = (struct moment){ file->text, file->size, file->report.n };
	}
}

static void
go_back_to(struct fixing *f, size_t round)
{
	for (size_t i = 0; i < f->files->n; i++) {
		struct open_file *file = f->files->at[i];

		file->text = file->rounds[round].text;
		file->size = file->rounds[round].size;
		file->report.n = file->rounds[round].report;
	}
}

static void
take_texts(struct fixing *f)
{
	for (size_t i = 0; i < f->sources.n; i++) {
		f->owners.at[i]->text = f->sources.at[i].text;
		f->owners.at[i]->size = f->sources.at[i].size;
	}
}

/* The round of the first `n` at whose beginning the files were as now; ROUNDS_MAX: none. */
static size_t
seen_before(const struct fixing *f, size_t n)
{
	for (size_t round = 0; round < n; round++) {
		bool same = true;

		for (size_t i = 0; i < f->files->n && same; i++) {
			const struct open_file *file = f->files->at[i];
			const struct moment *then = &file->rounds[round];

			same = then->size == file->size &&
			       !memcmp(then->text, file->text, file->size);
		}
		if (same)
			return round;
	}
	return ROUNDS_MAX;
}

/*
 * Fixes as long as there is something to fix; returns why there still is.  Fixes that
 * undo each other are taken back and left out, so that a second run changes nothing.
 */
static const char *
fix_texts(struct fixing *f, const char *path)
{
	struct names done[ROUNDS_MAX] = { { 0 } };

	f->skip = (struct names){ 0 };
	for (size_t round = 0, tries = 0; tries < ROUNDS_MAX; round++, tries++) {
		struct diags ds;
		const char *fine;
		struct fixes fixes = one_round(f, path, &ds, &fine);
		size_t same;

		remember(f, round);
		if (!any_done(&fixes))
			return NULL;
		take_texts(f);
		report_fixes(f, &fixes);
		done[round] = names_of_done(f->r->a, &fixes);
		if ((same = seen_before(f, round + 1)) == ROUNDS_MAX)
			continue;
		for (size_t i = same; i <= round; i++)
			for (size_t k = 0; k < done[i].n; k++)
				list_push(f->r->a, &f->skip, done[i].at[k]);
		go_back_to(f, same);
		round = same - 1; /* begun again, without them */
	}
	return "run it once more";
}

static bool
is_changed(const struct open_file *file)
{
	return file->size != file->on_disk->size ||
	       memcmp(file->text, file->on_disk->text, file->size) != 0;
}

/* Writes one file if it was changed, and reports its changes. */
static void
write_file(struct run *r, struct open_file *file)
{
	struct source *written = arena_new_of(r->a, struct source);

	if (!strcmp(file->real, "-") || !is_changed(file))
		return;
	if (!fs_replace(&r->ds, file->path, file->on_disk->text, file->on_disk->size, file->text,
			file->size)) {
		file->text = file->on_disk->text;
		file->size = file->on_disk->size;
		file->report.n = 0;
		return;
	}
	*written = (struct source){ file->path, file->text, file->size };
	file->on_disk = written;
	buf_add(&r->out, buf_text(&file->report), file->report.n);
	if (!file->named)
		buf_printf(&r->out,
			   "  %s was not named on the command line; a recipe there extends it\n",
			   file->path);
	file->report.n = 0;
}

/* Adds the reason to each diagnostic whose fix was not applied. */
static void
give_reasons(const struct fixes *fixes, const char *all)
{
	for (size_t i = 0; i < fixes->n; i++) {
		const struct fix *x = &fixes->at[i];
		const char *why = x->state == FIX_REFUSED ? x->why : all;

		if (why)
			diag_note(x->diag, (struct span){ 0 }, "not fixed: %s", why);
	}
}

static void
fix_recipe(struct fixing *f, const char *path)
{
	struct run *r = f->r;
	const char *why, *fine;
	struct diags ds;
	struct fixes left;

	why = fix_texts(f, path);
	for (size_t i = 0; i < f->files->n && !r->o->dry_run; i++)
		write_file(r, f->files->at[i]);
	left = one_round(f, path, &ds, &fine);
	give_reasons(&left, why);
	diags_append(&r->ds, &ds);
	if (fine && !r->o->dry_run && strcmp(path, "-") != 0)
		buf_printf(&r->out, "%s\n", fine);
}

/* A recipe from standard input goes to standard output, so its changes go to standard error. */
static void
print_stdin(struct run *r, struct open_file *file)
{
	buf_add(&r->out, file->text, file->size);
	if (r->o->diagnostics == DIAG_TEXT)
		fwrite(buf_text(&file->report), 1, file->report.n, stderr);
}

int
check_fix(struct run *r)
{
	struct open_files files = { 0 };
	struct fixing f = { .r = r, .files = &files };
	const struct names *args = &r->o->args;

	for (size_t i = 0; i < args->n; i++)
		if (!strcmp(args->at[i], "-") && args->n > 1 && !r->o->dry_run)
			return usage_error("--fix - prints the fixed recipe: name no other file");
	for (size_t i = 0; i < args->n; i++)
		fix_recipe(&f, args->at[i]);
	for (size_t i = 0; i < files.n; i++) {
		struct open_file *file = files.at[i];

		if (r->o->dry_run)
			fix_diff(file->path, file->on_disk->text, file->on_disk->size, file->text,
				 file->size, &r->out);
		else if (!strcmp(file->real, "-"))
			print_stdin(r, file);
	}
	return EXIT_DONE;
}
