/* check --fix: applies mechanical fixes to the recipe files. */
#include <string.h>

#include "edited.h"

/* The state of `check --fix` for one recipe; the files are those of all recipes of the run. */
struct fixing {
	struct run *r;
	struct edited all;
	struct names skip; /* fixes that undo each other */
	bool complete;     /* last verdict: compatible, and everything was checked */
	bool incomplete;   /* the last verdict of a recipe is not complete */
};

/*
 * Checks once and finds the fixes; the diagnostics are those before the fixes. take: keep the fixed
 * texts of the files.
 */
static struct fixes
one_round(struct fixing *f, const char *path, bool take, struct diags *ds, const char **verdict)
{
	struct fix_files sources;
	struct fixes fixes;

	edited_reread(&f->all);
	*ds = DIAGS(*ds, f->r->a);
	*verdict = check_recipe(f->r, ds, path, edited_open, &f->all, &f->complete);
	diags_fold(ds);
	sources = edited_sources(&f->all);
	fixes = fix_round(f->r->a, ds, &f->skip, &sources);
	if (take)
		edited_take(&f->all, &sources);
	return fixes;
}

/* Returns true for a fix that another cell of the matrix has already reported. */
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
			for (size_t k = 0; k < f->all.files.n; k++)
				if (f->all.files.at[k]->now.src == e->at.src &&
				    !reported_before(fixes, i, e))
					fix_print(e, &f->all.files.at[k]->report);
	}
	return done;
}

/* Returns the round, of the first `n`, that began with the current texts; n: none. */
static size_t
seen_before(const struct fixing *f, size_t n)
{
	for (size_t round = 0; round < n; round++) {
		bool same = true;

		for (size_t i = 0; i < f->all.files.n && same; i++) {
			const struct edited_moment *then = &f->all.files.at[i]->rounds[round];

			same = edited_holds(f->all.files.at[i], then->text, then->size);
		}
		if (same)
			return round;
	}
	return n;
}

/*
 * Applies fixes in rounds; returns why errors remain. Fixes that undo each other are reverted and
 * skipped, so that a second run changes nothing.
 */
static const char *
fix_texts(struct fixing *f, const char *path)
{
	struct names done[EDITED_ROUNDS_MAX];

	f->skip = (struct names){ 0 };
	for (size_t round = 0, tries = 0; tries < EDITED_ROUNDS_MAX; tries++) {
		const char *verdict;
		struct diags ds;
		struct fixes fixes;
		size_t same;

		for (size_t i = 0; i < f->all.files.n; i++) {
			struct edited_file *file = f->all.files.at[i];

			file->rounds[round] =
				(struct edited_moment){ file->now.text, file->now.size,
							file->report.n };
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
		for (size_t i = 0; i < f->all.files.n; i++) {
			struct edited_file *file = f->all.files.at[i];

			file->now.text = file->rounds[same].text;
			file->now.size = file->rounds[same].size;
			file->report.n = file->rounds[same].report;
		}
	}
	return "run it once more";
}

static void
fix_recipe(struct fixing *f, const char *path)
{
	struct run *r = f->r;
	const char *all, *verdict;
	struct diags ds;
	struct fixes left;

	all = fix_texts(f, path);
	if (!r->o->dry_run)
		edited_write(&f->all);
	left = one_round(f, path, false, &ds, &verdict);
	for (size_t i = 0; i < left.n; i++) {
		const char *why = left.at[i].state == FIX_REFUSED ? left.at[i].why : all;

		if (why)
			diag_note(left.at[i].diag, NOWHERE, "not fixed: %s", why);
	}
	diags_append(&r->ds, &ds);
	f->incomplete |= !f->complete;
	if (!r->o->dry_run && strcmp(path, "-") != 0)
		buf_puts(&r->out, verdict);
}

int
check_fix(struct run *r)
{
	struct fixing f = { .r = r, .all = { .r = r } };
	const struct names *args = &r->o->args;

	for (size_t i = 0; i < args->n; i++)
		if (!strcmp(args->at[i], "-") && args->n > 1 && !r->o->dry_run)
			return usage_error("--fix - prints the fixed recipe: name no other file");
	r->unlocked = true; /* a fixed recipe has a stale lock */
	for (size_t i = 0; i < args->n; i++)
		fix_recipe(&f, args->at[i]);
	if (r->o->dry_run)
		edited_diff(r, &f.all);
	for (size_t i = 0; i < f.all.files.n && !r->o->dry_run; i++) {
		struct edited_file *file = f.all.files.at[i];

		if (!strcmp(file->real, "-")) {
			/* The recipe goes to standard output, so its changes go to standard error. */
			buf_add(&r->out, file->now.text, file->now.size);
			if (r->o->diagnostics == DIAG_TEXT)
				fwrite(buf_text(&file->report), 1, file->report.n, stderr);
		}
	}
	return check_status(r, !f.incomplete);
}
