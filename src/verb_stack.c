/* The commands that stop at a plan or at rendered files: plan, render. */
#include "verbs.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/str.h"
#include "render/render.h"

/* --- plan --- */

enum { RECORD_BYTES_MAX = 1024 * 1024, JOBS_MAX = 4096 };

/* Returns the machine of the estimates: with --jobs or MAX_JOBS that many jobs, else this machine. */
static struct compile_machine
this_machine(const struct options *o)
{
	const char *jobs = o->jobs ? o->jobs : getenv("MAX_JOBS");
	long cpus = sysconf(_SC_NPROCESSORS_ONLN), pages = sysconf(_SC_PHYS_PAGES);
	double n = jobs ? strtod(jobs, NULL) : 0;

	if (n > 0 && n <= JOBS_MAX)
		return (struct compile_machine){ .jobs = n < 1 ? 1 : (unsigned)n };
	return (struct compile_machine){
		.cpus = cpus > 0 ? (unsigned)cpus : 0,
		.mib = pages > 0 ? (size_t)pages / 1024 * (size_t)sysconf(_SC_PAGESIZE) / 1024 : 0,
	};
}

const struct plan *
plan_here(struct run *r, const struct plan *p, const char *cell)
{
	const char *dir = fs_join(r->a, "out", p->name), *path;
	struct compile_machine machine = this_machine(r->o);
	const struct source *record = NULL;
	struct diags ignored = DIAGS(ignored, r->a);

	path = fs_join(r->a, cell ? fs_join(r->a, dir, cell) : dir, "build.json");
	if (fs_exists(path))
		record = fs_read(r->a, &ignored, path, RECORD_BYTES_MAX, NOWHERE);
	return plan_on_machine(r->a, record ? plan_measured(r->a, p, record) : p, &machine);
}

/* Returns the plan of a recipe's only cell, or of the first cell if several are allowed. */
static const struct plan *
first_plan(struct run *r, const struct recipes *rs)
{
	const struct plan *p = rs ? pipeline_plan(r, r->a, &r->ds, rs->at[0], NULL) : NULL;

	return p ? plan_here(r, p, rs->matrix ? rs->at[0]->cell : NULL) : NULL;
}

static int
plan_difference(struct run *r, const struct recipes *after)
{
	const char *path = r->o->args.at[0];
	const struct plan *one, *other = NULL;
	const struct recipes *before;
	recipe_open *open = NULL;
	void *ctx = NULL;

	if (fs_exists(r->o->diff))
		path = r->o->diff;
	else if (!world_at_revision(r->a, &r->ds, path, r->o->diff, &open, &ctx))
		return EXIT_DIAGNOSED;
	before = pipeline_load(r, &r->ds, path, open, ctx);
	if (ctx)
		world_close_revision(ctx);
	r->unlocked = ctx; /* only recipes in files have locks */
	if ((before && before->n != 1) || (after && after->n != 1))
		return usage_error("--diff compares one stack: name a cell with --cell");
	one = first_plan(r, after);
	other = first_plan(r, before);
	if (!one || !other)
		return EXIT_DIAGNOSED;
	plan_diff(other, one, r->o->diff, &r->out, r->o->format == FORMAT_JSON);
	return EXIT_DONE;
}

static int
plan_matrix(struct run *r, const struct recipes *rs)
{
	const struct matrix *m = rs ? pipeline_matrix(r, rs, false) : NULL;

	if (!m)
		return EXIT_DIAGNOSED;
	if (r->o->format == FORMAT_JSON)
		matrix_json(m, &r->out);
	else if (r->o->format == FORMAT_TEXT)
		matrix_text(m, &r->out);
	else
		return usage_error("plan --matrix has two formats: text and json");
	return EXIT_DONE;
}

int
verb_plan(struct run *r)
{
	const struct recipes *rs;
	const struct plan *p;
	struct names cells = { 0 };
	double jobs;

	if (!option_number("jobs", r->o->jobs, JOBS_MAX, &jobs))
		return EXIT_USAGE;
	if (r->o->jobs && r->o->matrix)
		return usage_error("--jobs does not work with --matrix");
	if (r->o->format == FORMAT_MARKDOWN)
		return usage_error(
			"plan has no format markdown; it has text, json, dot and mermaid");
	rs = pipeline_load(r, &r->ds, r->o->args.at[0], NULL, NULL);
	if (r->o->matrix)
		return plan_matrix(r, rs);
	if (r->o->diff)
		return plan_difference(r, rs);
	if (!(p = first_plan(r, rs)))
		return EXIT_DIAGNOSED;
	for (size_t i = 0; i < rs->n && rs->matrix; i++)
		list_push(r->a, &cells, rs->at[i]->cell);
	switch (r->o->format) {
	case FORMAT_JSON: plan_json(p, cells, &r->out); return EXIT_DONE;
	case FORMAT_DOT: plan_dot(p, &r->out); return EXIT_DONE;
	case FORMAT_MERMAID: plan_mermaid(p, &r->out); return EXIT_DONE;
	default: break;
	}
	if (r->o->explain && !plan_step(p, r->o->explain))
		return usage_error("the plan has no step `%s`", r->o->explain);
	plan_text(p, r->o->explain, &r->out);
	if (rs->n > 1)
		buf_printf(&r->out,
			   "\nthis is cell %s, the first of %zu; --cell NAME shows another\n",
			   rs->at[0]->cell, rs->n);
	return EXIT_DONE;
}

/* --- render --- */

static const char *
unknown_target(struct run *r)
{
	const struct names known = render_targets(r->a);

	for (size_t i = 0; i < r->o->targets.n; i++) {
		const char *t = r->o->targets.at[i], *near = str_nearest(t, known.at, known.n);

		if (!names_have(&known, t))
			return arena_printf(r->a, "there is no target `%s`%s%s%s; targets: %s", t,
					    near ? "; did you mean `" : "", near ? near : "",
					    near ? "`?" : "", names_join(r->a, &known, " "));
	}
	return NULL;
}

enum { FILES_SHOWN = 24 };

/* Returns a text with its {name} replaced. */
static const char *
filled(struct arena *a, const char *text, const char *name, const char *with)
{
	const char *at = strstr(text, name);

	return at ? arena_printf(a, "%.*s%s%s", (int)(at - text), text, with,
				 filled(a, at + strlen(name), name, with)) :
		    text;
}

/* Returns the text as one word of a shell's command; unchanged if no shell can represent it. */
static const char *
shell_word(struct arena *a, const char *text)
{
	struct buf b = BUF(a);
	const char *why;

	return quote(&b, QUOTE_SH, LANG_SH, text, &why) ? buf_text(&b) : text;
}

/* A line of the output, for a file. */
struct written {
	const char *path, *summary, *state, *next;
};
struct writtens LIST(struct written);

/* Returns the command to run next with a file, or "". */
static const char *
next_command(struct run *r, const char *dir, const char *path, const struct rendered *f)
{
	const char *next = f->next ? f->next : "";

	next = filled(r->a, next, "{out}", shell_word(r->a, dir));
	return filled(r->a, next, "{path}", shell_word(r->a, path));
}

/* Writes a file, or only compares it with --dry-run. Returns what becomes of it; NULL: an error. */
static const char *
write_file(struct run *r, const char *path, const struct rendered *f)
{
	bool changed;

	if (r->o->dry_run)
		return !fs_exists(path)                 ? "new" :
		       fs_holds(path, f->text, f->size) ? "unchanged" :
							  "changed";
	if (!fs_write(&r->ds, path, f->text, f->size, f->mode, false, &changed))
		return NULL;
	return changed ? "" : "unchanged";
}

static size_t
wider(size_t width, const char *text)
{
	return strlen(text) > width ? strlen(text) : width;
}

/* Prints the lines as a table, without columns that are empty. */
static void
print_written(struct run *r, const struct writtens *lines)
{
	size_t path = 0, summary = 0, state = 0;

	list_each (w, lines) {
		path = wider(path, w->path);
		summary = wider(summary, w->summary);
		state = wider(state, w->state);
	}
	list_each (w, lines) {
		buf_printf(&r->out, "%-*s", (int)path, w->path);
		if (summary)
			buf_printf(&r->out, "   %-*s", (int)summary, w->summary);
		if (state)
			buf_printf(&r->out, "   %-*s", (int)state, w->state);
		if (*w->next)
			buf_printf(&r->out, "   %s", w->next);
		while (r->out.n && r->out.p[r->out.n - 1] == ' ')
			r->out.n--;
		buf_putc(&r->out, '\n');
	}
}

/*
 *   out/torch222-cu121/Dockerfile     10 steps, 4 stages               docker build -t ...
 *   out/torch222-cu121/modal_app.py   10 layers            unchanged   modal deploy ...
 */
static bool
write_files(struct run *r, const char *dir, const struct rendereds *files)
{
	struct writtens lines = { 0 };
	size_t pages = 0;

	list_each (f, files) {
		const char *path = fs_join(r->a, dir, f->path), *state = write_file(r, path, f);
		struct written line = { path, f->summary ? f->summary : "", state, "" };

		if (!state)
			return false;
		if (r->o->dry_run) {
			list_push(r->a, &lines, line);
		} else if (!f->helper && pages++ < FILES_SHOWN) {
			line.next = next_command(r, dir, path, f);
			list_push(r->a, &lines, line);
		}
	}
	print_written(r, &lines);
	if (pages > FILES_SHOWN)
		buf_printf(&r->out, "... and %zu more files in %s\n", pages - FILES_SHOWN, dir);
	if (r->o->dry_run)
		buf_puts(&r->out, "dry run: nothing was written\n");
	return true;
}

static const struct plan *
plan_cell(void *ctx, struct arena *a, struct diags *ds, const struct recipe *cell)
{
	const struct run *r = ctx;
	struct resolve_options o = { .force = r->o->force };
	const struct plan *p = pipeline_plan(r, a, ds, cell, &o);
	unsigned before = ds->errors;

	/* Rejects what `check` rejects, even if the requested target can express it. */
	if (p && !o.force && r->o->targets.n && !names_have(&r->o->targets, "modal") &&
	    !names_have(&r->o->targets, RENDER_ALL))
		render_judge(a, ds, p);
	return ds->errors == before ? p : NULL;
}

/*
 * Splits "-o deploy/modal/app.py" into *dir and the name of the Modal app.  Returns why the file cannot
 * be written, or NULL.
 */
static const char *
app_file(struct run *r, const char **dir, const char **file)
{
	const char *name = fs_name(r->o->out), *why = NULL;

	if (r->o->targets.n != 1 || strcmp(r->o->targets.at[0], "modal") != 0)
		why = "-o FILE.py names a Modal app: use it with -t modal alone";
	else if (!str_matches(name, "^[A-Za-z_][A-Za-z0-9_]*[.]py$"))
		why = "Modal cannot import a file of this name: use letters, digits and "
		      "underscores";
	else if (!strcmp(name, "modal.py") || !strcmp(name, "modal_entry.py"))
		why = "the app imports a module of this name: choose another one";
	*dir = fs_dir(r->a, r->o->out);
	*file = name;
	return why;
}

int
verb_render(struct run *r)
{
	const char *dir = r->o->out, *why = unknown_target(r);
	struct render_input in = { .facts = r->facts,
				   .plan = plan_cell,
				   .ctx = r,
				   .targets = r->o->targets.n ? r->o->targets.at : NULL,
				   .ntargets = r->o->targets.n,
				   .force = r->o->force };
	struct rendereds files = { 0 };
	const struct rendered *page = NULL;
	struct rendered manifest;
	size_t pages = 0;

	if (!why && dir && ends_with(dir, ".py"))
		why = app_file(r, &dir, &in.app_file);
	if (why)
		return usage_error("%s", why);
	in.templates = templates_open(r->a, &r->ds, r->o->templates);
	in.recipes = pipeline_load(r, &r->ds, r->o->args.at[0], NULL, NULL);
	if (in.app_file && in.recipes && in.recipes->matrix)
		return usage_error("-o FILE.py writes one app, and a matrix has one for each cell");
	if (!in.recipes || !in.templates || !render(r->a, &r->ds, &in, &files))
		return EXIT_DIAGNOSED;
	if (dir && !strcmp(dir, "-")) {
		for (size_t i = 0; i < files.n; i++) {
			page = files.at[i].helper ? page : &files.at[i];
			pages += !files.at[i].helper;
		}
		if (pages != 1)
			return usage_error(
				"-o - prints one file: name one target with -t, and one cell "
				"with --cell if there is a matrix");
		buf_add(&r->out, page->text, page->size);
		return EXIT_DONE;
	}
	if (!dir)
		dir = fs_join(r->a, "out", in.recipes->at[0]->stack.s);
	/* Keeps the lock until the process ends, so that two renders of one directory run one after
	 * the other. */
	if (!r->o->dry_run)
		fs_lock_dir(r->a, dir);
	manifest = render_manifest(r->a, &in, &files, dir);
	list_push(r->a, &files, manifest);
	if (!r->o->force &&
	    !render_may_write(r->a, &r->ds, dir, in.recipes->at[0]->stack.s, &files))
		return EXIT_DIAGNOSED;
	return write_files(r, dir, &files) ? EXIT_DONE : EXIT_DIAGNOSED;
}
