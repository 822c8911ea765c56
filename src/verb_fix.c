/* check --fix: applies mechanical fixes to the recipe files. */
#include <string.h>

#include "base/fix.h"
#include "base/fs.h"
#include "verbs.h"

enum { ROUNDS_MAX = 20 };

/* A file that was read, kept in memory until all that can be fixed is. */
struct open_file {
	const char *path, *real;      /* as it is shown; where its links lead */
	const struct source *on_disk; /* its content when it was read */
	struct fix_file now;          /* its source in this round, and its content */
	struct buf report;            /* the changes, a line each */
	struct moment {
		const char *text;
		size_t size, report; /* bytes */
	} rounds[ROUNDS_MAX];        /* at the start of each */
	bool named;                  /* on the command line */
};

struct open_files LIST(struct open_file *);

/* One recipe being fixed; the files are those of all recipes of the run. */
struct fixing {
	struct run *r;
	struct open_files files;
	struct names skip; /* fixes that undo each other */
	bool complete;     /* the last verdict: compatible, and everything was checked */
	bool incomplete;   /* that of a recipe is not */
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

	for (size_t i = 0; i < f->files.n; i++)
		if (!strcmp(f->files.at[i]->real, real))
			return f->files.at[i];
	if (!(src = fs_read(a, ds, path, FS_READ_MAX, at)))
		return NULL;
	file = arena_new_of(a, struct open_file);
	*file = (struct open_file){ src->path, real, src, .report = BUF(a) };
	file->now = (struct fix_file){ NULL, src->text, src->size };
	for (size_t i = 0; i < ROUNDS_MAX; i++)
		file->rounds[i] = (struct moment){ src->text, src->size, 0 };
	for (size_t i = 0; i < f->r->o->args.n; i++)
		file->named |= !strcmp(real_path(a, f->r->o->args.at[i]), real);
	list_push(a, &f->files, file);
	return file;
}

/* A recipe_open that returns the files as the rounds so far left them. */
static const struct source *
open_now(void *ctx, struct arena *a, struct diags *ds, const char *path, struct span at)
{
	struct open_file *file = file_at(ctx, a, ds, path, at);
	struct source *src;

	if (!file || file->now.src)
		return file ? file->now.src : NULL;
	src = arena_new_of(a, struct source);
	*src = (struct source){ file->path, file->now.text, file->now.size };
	return file->now.src = src;
}

/*
 * Checks once and finds the fixes; the diagnostics are those before the fixes.  take: the files
 * hold the fixed texts from now on.
 */
static struct fixes
one_round(struct fixing *f, const char *path, bool take, struct diags *ds, const char **verdict)
{
	struct fix_files sources = { 0 };
	struct fixes fixes;

	for (size_t i = 0; i < f->files.n; i++)
		f->files.at[i]->now.src = NULL;
	diags_init(ds, f->r->a);
	*verdict = check_recipe(f->r, ds, path, open_now, f, &f->complete);
	diags_fold(ds);
	for (size_t i = 0; i < f->files.n; i++)
		if (f->files.at[i]->now.src)
			list_push(f->r->a, &sources, f->files.at[i]->now);
	fixes = fix_round(f->r->a, ds, &f->skip, &sources);
	for (size_t i = 0, k = 0; i < f->files.n && take; i++)
		if (f->files.at[i]->now.src)
			f->files.at[i]->now = sources.at[k++];
	return fixes;
}

/* Two cells of a matrix have the same fix. */
static bool
reported_before(const struct fixes *fixes, size_t n, const struct edit *e)
{
	for (size_t i = 0; i < n; i++)
		if (fixes->at[i].state == FIX_DONE)
			for (const struct edit *k = fixes->at[i].help->edits; k; k = k->next)
				if (edit_same(k, e))
					return true;
	return false;
}

/* Reports the changes of a round; returns the names of the fixes that were done. */
static struct names
report_fixes(struct fixing *f, const struct fixes *fixes)
{
	struct names done = { 0 };

	for (size_t i = 0; i < fixes->n; i++) {
		if (fixes->at[i].state != FIX_DONE)
			continue;
		list_push(f->r->a, &done, fix_name(f->r->a, &fixes->at[i]));
		for (const struct edit *e = fixes->at[i].help->edits; e; e = e->next)
			for (size_t k = 0; k < f->files.n; k++)
				if (f->files.at[k]->now.src == e->at.src &&
				    !reported_before(fixes, i, e))
					fix_print(e, &f->files.at[k]->report);
	}
	return done;
}

static bool
holds(const struct open_file *file, const char *text, size_t size)
{
	return file->now.size == size && !memcmp(file->now.text, text, size);
}

/* The round of the first `n` at whose beginning the files were as now; n: none. */
static size_t
seen_before(const struct fixing *f, size_t n)
{
	for (size_t round = 0; round < n; round++) {
		bool same = true;

		for (size_t i = 0; i < f->files.n && same; i++) {
			const struct moment *then = &f->files.at[i]->rounds[round];

			same = holds(f->files.at[i], then->text, then->size);
		}
		if (same)
			return round;
	}
	return n;
}

/*
 * Fixes as long as there is something to fix; returns why there still is.  Fixes that
 * undo each other are taken back and left out, so that a second run changes nothing.
 */
static const char *
fix_texts(struct fixing *f, const char *path)
{
	struct names done[ROUNDS_MAX];

	f->skip = (struct names){ 0 };
	for (size_t round = 0, tries = 0; tries < ROUNDS_MAX; tries++) {
		const char *verdict;
		struct diags ds;
		struct fixes fixes;
		size_t same;

		for (size_t i = 0; i < f->files.n; i++) {
			struct open_file *file = f->files.at[i];

			file->rounds[round] =
				(struct moment){ file->now.text, file->now.size, file->report.n };
		}
		fixes = one_round(f, path, true, &ds, &verdict);
		done[round] = report_fixes(f, &fixes);
		if (!done[round++].n)
			return NULL;
		if ((same = seen_before(f, round)) == round)
			continue;
		while (round > same) {
			round--;
			for (size_t k = 0; k < done[round].n; k++)
				list_push(f->r->a, &f->skip, done[round].at[k]);
		}
		for (size_t i = 0; i < f->files.n; i++) {
			struct open_file *file = f->files.at[i];

			file->now.text = file->rounds[same].text;
			file->now.size = file->rounds[same].size;
			file->report.n = file->rounds[same].report;
		}
	}
	return "run it once more";
}

/* Writes one file if it was changed, and reports its changes. */
static void
write_file(struct run *r, struct open_file *file)
{
	const struct source *was = file->on_disk;
	struct source *written = arena_new_of(r->a, struct source);

	*written = (struct source){ file->path, file->now.text, file->now.size };
	if (!strcmp(file->real, "-") || holds(file, was->text, was->size))
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

static void
fix_recipe(struct fixing *f, const char *path)
{
	struct run *r = f->r;
	const char *all, *verdict;
	struct diags ds;
	struct fixes left;

	all = fix_texts(f, path);
	for (size_t i = 0; i < f->files.n && !r->o->dry_run; i++)
		write_file(r, f->files.at[i]);
	left = one_round(f, path, false, &ds, &verdict);
	for (size_t i = 0; i < left.n; i++) {
		const char *why = left.at[i].state == FIX_REFUSED ? left.at[i].why : all;

		if (why)
			diag_note(left.at[i].diag, (struct span){ 0 }, "not fixed: %s", why);
	}
	diags_append(&r->ds, &ds);
	f->incomplete |= !f->complete;
	if (!r->o->dry_run && strcmp(path, "-") != 0)
		buf_puts(&r->out, verdict);
}

int
check_fix(struct run *r)
{
	struct fixing f = { .r = r };
	const struct names *args = &r->o->args;

	for (size_t i = 0; i < args->n; i++)
		if (!strcmp(args->at[i], "-") && args->n > 1 && !r->o->dry_run)
			return usage_error("--fix - prints the fixed recipe: name no other file");
	r->unlocked = true; /* a fix of the recipe makes its lock stale */
	for (size_t i = 0; i < args->n; i++)
		fix_recipe(&f, args->at[i]);
	for (size_t i = 0; i < f.files.n; i++) {
		struct open_file *file = f.files.at[i];

		if (r->o->dry_run) {
			fix_diff(file->path, file->on_disk->text, file->on_disk->size,
				 file->now.text, file->now.size, &r->out);
		} else if (!strcmp(file->real, "-")) {
			/* The recipe goes to standard output, so its changes go to standard error. */
			buf_add(&r->out, file->now.text, file->now.size);
			if (r->o->diagnostics == DIAG_TEXT)
				fwrite(buf_text(&file->report), 1, file->report.n, stderr);
		}
	}
	return check_status(r, !f.incomplete);
}
